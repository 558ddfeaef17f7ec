"""Make the table of docs/explanation/audit-risks.md again: the audit beside other tools, on releases whose faults are known.

python -m scripts.compare_audits adult.data adult.test [--rows 2000] [--tools kakurenbo,anonymeter] [-o table.md]

Each of the other tools is installed into an environment of its own, which is thrown away; one that cannot be installed, or that
fails on a release, is named in a line and left out. Seconds are of the processor, all threads together.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kakurenbo.anonymizers.tables.synthesis import Synthetic
from kakurenbo.datasets.adult import SCHEMA, read_uci
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, Source, Table

SEED = 1
PLANTED = 100
TITLES = {
    "a": "a identity",
    "b": "b cells swapped 20 %",
    "b2": "b2 swapped 50 %",
    "c": "c `synthetic`",
    "d": f"d c + the {PLANTED} rarest originals",
    "e": "e synthetic without originals",
    "f": "f values relabelled by a secret bijection",
    "g": "g ten-year bands",
    "z": "z fresh sample (control)",
}
PEERS = {"anonymeter": "anonymeter", "mostlyai-qa": "mostlyai-qa", "SDMetrics": "sdmetrics", "SynthEval": "syntheval"}
"""What the package index calls each of the other tools."""

_READ = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import pandas as pd
original, release, holdout = (pd.read_csv(path) for path in sys.argv[1:4])
"""
_PROGRAMS = {
    "anonymeter": """
from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator
import numpy as np
np.random.seed(1)
single = SinglingOutEvaluator(ori=original, syn=release, control=holdout, n_attacks=500, n_cols=3)
single.evaluate(mode="multivariate")
names = list(original.columns)
sides = (names[:4], names[4:])
link = LinkabilityEvaluator(ori=original, syn=release, control=holdout, n_attacks=500, aux_cols=sides, n_neighbors=1)
link.evaluate(n_jobs=1)
print(json.dumps({"single-out": single.risk().value, "link": link.risk().value}))
""",
    "mostlyai-qa": """
from mostlyai import qa
_, metrics = qa.report(syn_tgt_data=release, trn_tgt_data=original, hol_tgt_data=holdout, report_path="report.html")
print(json.dumps({"DCR share": metrics.distances.dcr_share}))
""",
    "SDMetrics": """
from sdmetrics.single_table import DCROverfittingProtection
kinds = {name: {"sdtype": "numerical" if pd.api.types.is_numeric_dtype(original[name]) else "categorical"} for name in original}
found = DCROverfittingProtection.compute(original, release, holdout, {"tables": {"people": {"columns": kinds}}}, "people")
print(json.dumps({"overfitting protection": found}))
""",
    "SynthEval": """
from syntheval import SynthEval
words = [name for name in original if not pd.api.types.is_numeric_dtype(original[name])]
evaluator = SynthEval(original, holdout_dataframe=holdout, cat_cols=words, verbose=False)
found = evaluator.evaluate(release, analysis_target_var="income", mia={"num_eval_iter": 5})
print(json.dumps({"MIA precision": float(found.loc[found["metric"] == "mia_precision", "val"].iloc[0])}))
""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=2, type=Path, help="adult.data and adult.test, plain or .gz")
    parser.add_argument("--rows", type=int, default=10_000, help="of original, holdout and release")
    parser.add_argument("--tools", default=",".join(("kakurenbo", *PEERS)), help="which to run")
    parser.add_argument("--cases", default=",".join(TITLES), help="which releases")
    parser.add_argument("--environments", type=Path, help="a folder for the tools' environments, which are kept there then")
    parser.add_argument("-o", "--out", type=Path, help="the file to write; standard output by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environments = given.environments.resolve() if given.environments else Path(folder)
        lines = compared(given.files, given.rows, given.tools.split(","), given.cases.split(","), Path(folder), environments)
    written = "\n".join(lines) + "\n"
    if given.out:
        given.out.write_text(written, encoding="utf-8")
    else:
        print(written, end="")


def compared(
    files: Sequence[Path], rows: int, tools: Sequence[str], cases: Sequence[str], folder: Path, environments: Path
) -> list[str]:
    """The lines of the Markdown table, seconds and what was left out below it."""
    original, releases, holdout = made_cases(files, rows)
    for name, frame in {"original": original, "holdout": holdout, **{case: releases[case] for case in cases}}.items():
        frame.write_csv(folder / f"{name}.csv")
    told: dict[str, dict[str, str]] = {}
    seconds: dict[str, float] = {}
    left_out: list[str] = []
    for tool in tools:
        command = ["kakurenbo"] if tool == "kakurenbo" else _installed(tool, environments, left_out)
        if command:
            told[tool], seconds[tool] = _run_on_all(tool, command, cases, folder, left_out)
    lines = [f"| release | {' | '.join(told)} |", "|" + " --- |" * (1 + len(told))]
    lines += [f"| {TITLES[case]} | {' | '.join(told[tool][case] for tool in told)} |" for case in cases]
    lines += ["", f"CPU seconds per release: {', '.join(f'{tool} {seconds[tool]:.0f}' for tool in told)}."]
    return [*lines, *(f"- {line}" for line in left_out)]


# -- releases ------------------------------------------------------------------------------------------------------------


def made_cases(files: Sequence[Path], rows: int) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame]:
    """Original, releases by case, and holdout: disjoint random rows of the complete records."""
    read = [read_uci(Source.of(path)) for path in files]
    if problems := Problems.of(*read):
        sys.exit("\n".join(map(str, problems)))
    people = Table.stack([reading.value for reading in read if not isinstance(reading, Problems)])
    order = stream(SEED, "people").permutation(len(people))
    original, holdout, fresh = (people.take(order[start : start + rows]) for start in (0, rows, 2 * rows))
    if len(fresh) < rows:
        sys.exit(f"--rows {rows}: there are {len(people)} records, which must be enough for three tables")
    synthetic = Synthetic()(original, stream(SEED, "synthetic")).table
    tables = {
        "a": original,
        "b": _swapped(original, 0.2),
        "b2": _swapped(original, 0.5),
        "c": synthetic,
        "d": Table.stack([_rarest(original), synthetic.take(np.arange(len(synthetic) - PLANTED))]),
        "e": _without_originals(original, rows),
        "f": _relabelled(original),
        "z": fresh,
    }
    frames = {case: _frame(table.take(stream(SEED, "order", case).permutation(len(table)))) for case, table in tables.items()}
    decade = (pl.col("age").cast(pl.Int64) // 10 * 10).cast(pl.String)
    band = pl.concat_str([decade, (pl.col("age").cast(pl.Int64) // 10 * 10 + 9).cast(pl.String)], separator="-")
    frames["g"] = frames["a"].with_columns(band.alias("age"))
    return _frame(original), frames, _frame(holdout)


def _frame(table: Table) -> pl.DataFrame:
    return pl.DataFrame([table.texts(name) for name in SCHEMA.names])


def _swapped(table: Table, share: float) -> Table:
    """A share of the cells of each column, permuted among themselves."""
    rng, changed = stream(SEED, "swap", str(share)), {}
    for name in SCHEMA.names:
        codes = table.codes[name].copy()
        places = np.flatnonzero(rng.random(len(codes)) < share)
        codes[places] = codes[rng.permutation(places)]
        changed[name] = codes
    return table.with_codes(changed)


def _rarest(table: Table) -> Table:
    """The records whose values are the least frequent, columns taken for independent."""
    surprise = sum(-np.log(table.frequencies(name)[table.codes[name]] / len(table)) for name in SCHEMA.names)
    return table.take(np.argsort(-np.asarray(surprise), kind="stable")[:PLANTED])


def _without_originals(original: Table, rows: int) -> Table:
    """Synthetic records, none of which is an original."""
    drawn = Synthetic(rows=4 * rows)(original, stream(SEED, "near")).table
    strangers = np.flatnonzero(~np.isin(drawn.keys(), original.keys()))
    return drawn.take(strangers[:rows])


def _relabelled(table: Table) -> Table:
    rng = stream(SEED, "relabel")
    return table.with_codes({name: rng.permutation(table.schema[name].size or 1)[table.codes[name]] for name in SCHEMA.names})


# -- tools ---------------------------------------------------------------------------------------------------------------


def _installed(tool: str, environments: Path, left_out: list[str]) -> list[str]:
    """How to call Python in an environment that has a tool; empty where it cannot be installed."""
    place = environments / PEERS[tool]
    if not place.exists():
        venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    installed = subprocess.run([python, "-m", "pip", "install", "-q", PEERS[tool]], capture_output=True, text=True)
    if installed.returncode:
        left_out.append(f"{tool} could not be installed.")
        return []
    return [python, "-c", _READ + _PROGRAMS[tool]]


def _run_on_all(
    tool: str, command: Sequence[str], cases: Sequence[str], folder: Path, left_out: list[str]
) -> tuple[dict[str, str], float]:
    told, before = {}, _seconds_of_children()
    for case in cases:
        files = [str(folder / f"{name}.csv") for name in ("original", case, "holdout")]
        told[case] = " ".join(_figures(tool, command, files, folder)) or "–"
        if told[case] == "–":
            left_out.append(f"{tool} fails on release {case}.")
    return told, (_seconds_of_children() - before) / len(cases)


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _figures(tool: str, command: Sequence[str], files: Sequence[str], folder: Path) -> Iterator[str]:
    if tool == "kakurenbo":
        whole = [
            sys.executable,
            "-m",
            "kakurenbo",
            "audit",
            files[0],
            files[1],
            "--holdout",
            files[2],
            "--seed",
            str(SEED),
            "--json",
        ]
    else:
        whole = [*command, *files]
    called = subprocess.run(whole, capture_output=True, text=True, cwd=folder)
    lines = [line for line in called.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return
    found: Mapping[str, Any] = json.loads(lines[-1])
    if tool != "kakurenbo":
        yield ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    elif "risks" in found:
        yield from _own_figures(found)


def _own_figures(found: Mapping[str, Any]) -> Iterator[str]:
    """Membership as the literature reports it, then what each other risk gains, then exposed records."""
    membership = found["risks"]["membership"]
    yield f"TPR {membership['tpr_at_0.001']:.4f}, top {membership['top100']:.0f};"
    for name in ("singling_out", "linkability", "inference"):
        risk = found["risks"][name]
        if risk["assessed"] and risk["excess"]:
            yield f"{name.replace('_', ' ')} {risk['excess']['value']:.3f};"
    yield f"exposed {found['records']['flagged']}"


if __name__ == "__main__":
    main()
