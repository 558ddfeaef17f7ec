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

from scripts.audit_cases import FIRST_SEED, TITLES, census, made_cases

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
    original, releases, holdout = made_cases(census(files), rows, cases=cases)
    for name, frame in {"original": original, "holdout": holdout, **releases}.items():
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
            str(FIRST_SEED),
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
