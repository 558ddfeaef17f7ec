"""Make the table of docs/explanation/audit-risks.md again: the audit beside other tools, on releases whose faults are known.

python -m scripts.compare_audits adult.data adult.test [--tools kakurenbo,anonymeter] [--kept FOLDER] [-o table.md]

Each of the other tools is installed into an environment of its own, which is thrown away; one that cannot be installed, or that
fails on a release, is named in a line. With --kept, what a tool finds in a release, or how it fails, is written to a file of
that folder as soon as it is there, and a later call runs only what has no file: delete a file to run it again. The table is of
all. Seconds are of the processor, all threads together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.audit_cases import FIRST_SEED, TITLES, census, made_cases

from kakurenbo import __version__

PEERS = {
    "anonymeter": ["anonymeter"],
    # Pinned, so that pip takes a build of torch for processors where it is given one: others draw gigabytes for graphics cards.
    "mostlyai-qa": ["mostlyai-qa", "torch==2.13.0"],
    "SDMetrics": ["sdmetrics"],
    "SynthEval": ["syntheval"],
}
"""What pip is to install for each of the other tools: its own package, then what that must be limited to."""
OWN = "kakurenbo"
TOOLS = (OWN, *PEERS)

_READ = """
import json, sys, warnings
warnings.filterwarnings("ignore")
sys.excepthook = lambda kind, error, _: print(kind.__name__, str(error).partition("\\n")[0], sep=": ", file=sys.stderr)
import pandas as pd
import numpy as np
original, release, holdout = (pd.read_csv(path) for path in sys.argv[1:4])
seed = int(sys.argv[4])
np.random.seed(seed)
"""
_PROGRAMS = {
    "anonymeter": """
from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator
single = SinglingOutEvaluator(ori=original, syn=release, control=holdout, n_attacks=500, n_cols=3, seed=seed)
single.evaluate(mode="multivariate")
names = list(original.columns)
sides = (names[:4], names[4:])
link = LinkabilityEvaluator(ori=original, syn=release, control=holdout, n_attacks=500, aux_cols=sides, n_neighbors=1)
link.evaluate(n_jobs=1)
print(json.dumps({"single-out": single.risk().value, "link": link.risk().value}))
""",
    "mostlyai-qa": """
from mostlyai import qa
qa.set_random_state(seed)
_, metrics = qa.report(syn_tgt_data=release, trn_tgt_data=original, hol_tgt_data=holdout, report_path="report.html")
print(json.dumps({"DCR share": metrics.distances.dcr_share}))
""",
    "SDMetrics": """
from sdmetrics.single_table import DCROverfittingProtection
kinds = {name: {"sdtype": "numerical" if pd.api.types.is_numeric_dtype(original[name]) else "categorical"} for name in original}
about = {"tables": {"people": {"columns": kinds}}}
found = DCROverfittingProtection.compute(original, release, holdout, about, "people", num_rows_subsample=1000)
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


@dataclass(frozen=True)
class Found:
    """What a tool finds in a release; no figures, but an error, where it fails."""

    tool: str
    version: str
    case: str
    rows: int
    seed: int
    tables: str
    """A checksum of original, release and holdout: figures of other tables must not stand side by side."""
    figures: dict[str, float]
    error: str
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """Which tools see which releases, and where the results are kept."""

    files: Sequence[Path]
    tools: Sequence[str]
    cases: Sequence[str]
    kept: Path
    environments: Path
    rows: int = 10_000
    seed: int = FIRST_SEED
    limit: float = 3600

    def file(self, tool: str, case: str) -> Path:
        return self.kept / f"{tool}-{case}-{self.rows}-{self.seed}.json"

    def run_missing(self) -> list[str]:
        """Run each tool on the releases for which nothing of it is kept. Returns lines on tools that cannot be installed."""
        missing = {
            tool: [case for case in self.cases if not self.file(tool, case).exists()]
            for tool in self.tools
        }
        if not any(missing.values()):
            return []
        self.kept.mkdir(parents=True, exist_ok=True)
        left_out = []
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            original, releases, holdout = made_cases(
                census(self.files), self.rows, self.seed, self.cases
            )
            for name, frame in {"original": original, "holdout": holdout, **releases}.items():
                frame.write_csv(folder / f"{name}.csv")
            for tool in filter(missing.get, self.tools):
                installed = (
                    (_own_call(self.seed), __version__)
                    if tool == OWN
                    else _installed(tool, self.environments, self.seed)
                )
                if isinstance(installed, str):
                    left_out.append(f"{tool} could not be installed: {installed}")
                    continue
                for case in missing[tool]:
                    found = self._found(tool, case, folder, *installed)
                    self.file(tool, case).write_text(
                        json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8"
                    )
                    print(
                        f"{tool}, {case}: {found.figures or found.error}, {found.seconds:.0f} s",
                        file=sys.stderr,
                        flush=True,
                    )
        return left_out

    def _found(self, tool: str, case: str, folder: Path, call: Call, version: str) -> Found:
        tables = [folder / f"{name}.csv" for name in ("original", case, "holdout")]
        checksum = hashlib.sha256(b"".join(path.read_bytes() for path in tables)).hexdigest()[:16]
        before = _seconds_of_children()
        figures, error = _run(tool, call([str(path) for path in tables]), folder, self.limit)
        return Found(
            tool,
            version,
            case,
            self.rows,
            self.seed,
            checksum,
            figures,
            error,
            _seconds_of_children() - before,
        )

    def lines(self) -> list[str]:
        """The Markdown table of all that is kept, seconds, versions and failures below it."""
        found = {
            (tool, case): Found(**json.loads(self.file(tool, case).read_text(encoding="utf-8")))
            for tool in self.tools
            for case in self.cases
            if self.file(tool, case).exists()
        }
        told = [tool for tool in self.tools if any((tool, case) in found for case in self.cases)]
        lines = [f"| release | {' | '.join(told)} |", "|" + " --- |" * (1 + len(told))]
        for case in self.cases:
            cells = [
                _cell(found[tool, case].figures) if (tool, case) in found else "not run"
                for tool in told
            ]
            lines.append(f"| {TITLES[case]} | {' | '.join(cells)} |")
        seconds, versions = [], []
        for tool in told:
            own = [one for one in found.values() if one.tool == tool]
            versions += sorted({f"{tool} {one.version}" for one in own})
            if finished := [one.seconds for one in own if one.figures]:
                seconds.append(f"{tool} {sum(finished) / len(finished):.0f}")
        lines += [
            "",
            f"{self.rows} records each of original, holdout and release; seed {self.seed}. {', '.join(versions)}.",
        ]
        lines += [f"CPU seconds per release that a tool finishes: {', '.join(seconds)}."]
        lines += [
            f"- {one.tool} fails on release {one.case}: {one.error}"
            for one in found.values()
            if not one.figures
        ]
        for case in self.cases:
            if len({one.tables for one in found.values() if one.case == case}) > 1:
                lines.append(
                    f"- Release {case} was not the same for all tools: delete what is kept of the older one."
                )
        return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs=2, type=Path, help="adult.data and adult.test, plain or .gz")
    parser.add_argument(
        "--rows", type=int, default=Comparison.rows, help="of original, holdout and release"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=Comparison.seed,
        help="of the draw of people and releases, and of the tools",
    )
    parser.add_argument(
        "--tools", type=_some_of(TOOLS), default=TOOLS, help=f"which to run, of {','.join(TOOLS)}"
    )
    parser.add_argument(
        "--cases",
        type=_some_of(TITLES),
        default=tuple(TITLES),
        help=f"which releases, of {','.join(TITLES)}",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=Comparison.limit,
        help="seconds of the clock that a tool has for a release",
    )
    parser.add_argument(
        "--kept", type=Path, help="a folder for the results, which are not made again then"
    )
    parser.add_argument(
        "--environments",
        type=Path,
        help="a folder for the tools' environments, which are kept there then",
    )
    parser.add_argument(
        "-o", "--out", type=Path, help="the file to write; standard output by default"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(
            files=given.files,
            tools=given.tools,
            cases=given.cases,
            kept=given.kept or Path(folder) / "kept",
            environments=given.environments.resolve() if given.environments else Path(folder),
            rows=given.rows,
            seed=given.seed,
            limit=given.limit,
        )
        left_out = comparison.run_missing()
        written = "\n".join([*comparison.lines(), *(f"- {line}" for line in left_out)]) + "\n"
    if given.out:
        given.out.write_text(written, encoding="utf-8")
    else:
        print(written, end="")


def _some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        if strange := [name for name in text.split(",") if name not in known]:
            raise argparse.ArgumentTypeError(
                f"unknown: {', '.join(strange)}; there are {', '.join(known)}"
            )
        return text.split(",")

    return names


# -- tools ---------------------------------------------------------------------------------------------------------------

Call = Callable[[Sequence[str]], list[str]]
"""How a tool is called on the files of original, release and holdout."""


def _installed(tool: str, environments: Path, seed: int) -> tuple[Call, str] | str:
    """A call of a tool in an environment of its own, and its version; or why it cannot be installed."""
    place = environments / tool.lower()
    if not place.exists():
        venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    made = subprocess.run(
        [python, "-m", "pip", "install", "-q", *PEERS[tool]], capture_output=True, text=True
    )
    if made.returncode:
        return _last_line(made)
    ask = f"import importlib.metadata; print(importlib.metadata.version({PEERS[tool][0]!r}))"
    version = subprocess.run(
        [python, "-c", ask], capture_output=True, text=True, check=True
    ).stdout.strip()
    return lambda tables: [python, "-c", _READ + _PROGRAMS[tool], *tables, str(seed)], version


def _own_call(seed: int) -> Call:
    audit = [sys.executable, "-m", "kakurenbo", "audit"]
    return lambda tables: [
        *audit,
        tables[0],
        tables[1],
        "--holdout",
        tables[2],
        "--seed",
        str(seed),
        "--json",
    ]


def _run(
    tool: str, command: Sequence[str], folder: Path, limit: float
) -> tuple[dict[str, float], str]:
    """The figures that a tool tells, or its error."""
    try:
        called = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=limit)
    except subprocess.TimeoutExpired:
        return {}, f"stopped after {limit:g} s"
    lines = [line for line in called.stdout.splitlines() if line.startswith("{")]
    found: Mapping[str, Any] = json.loads(lines[-1]) if lines else {}
    if tool == OWN:
        found = dict(_own_figures(found)) if "risks" in found else {}
    return dict(found), "" if found else _last_line(called)


def _last_line(called: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in called.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"ended with {called.returncode}"


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own_figures(found: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Membership as the literature reports it, then what each other risk gains, then exposed records."""
    membership = found["risks"]["membership"]
    yield "TPR", membership.get("tpr_at_0.001", math.nan)
    yield "top", membership["top100"]
    for name in ("singling_out", "linkability", "inference"):
        risk = found["risks"][name]
        if risk["assessed"] and risk["excess"]:
            yield name.replace("_", " "), risk["excess"]["value"]
    yield "exposed", found["records"]["flagged"]


_DIGITS = {"TPR": 4, "top": 0, "exposed": 0}


def _cell(figures: Mapping[str, float]) -> str:
    return (
        ", ".join(f"{name} {value:.{_DIGITS.get(name, 3)}f}" for name, value in figures.items())
        or "–"
    )


if __name__ == "__main__":
    main()
