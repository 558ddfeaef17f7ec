"""What the benchmarks share: timing, peak memory of a fresh process, and where the reference data is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

REPOSITORY = Path(__file__).resolve().parent.parent


class Row(TypedDict):
    """One line of the table of ratios; ``ratio`` is ours / reference, ``target`` what it should be at most."""

    what: str
    ours_s: float
    reference_s: float
    reference: str
    ratio: float
    target: str


def row(what: str, ours_s: float, reference: str, reference_s: float, target: str) -> Row:
    """A line of the table; figures in seconds unless ``what`` names another unit."""
    ratio = ours_s / reference_s
    return {
        "what": what,
        "ours_s": ours_s,
        "reference_s": reference_s,
        "reference": reference,
        "ratio": ratio,
        "target": target,
    }


def met(row: Row) -> bool:
    """Whether a line holds its target: ``ratio ≤ 1.5``, ``≤ 100 ms`` or ``≤ 300 MB``; a remark may follow in parentheses."""
    asked = re.fullmatch(r"(ratio )?≤ ([\d.]+)(?: (ms|s|MB))?(?: \(.*\))?", row["target"])
    if asked is None:
        raise ValueError(f"{row['what']}: {row['target']!r} is no target")
    ratio, bound, unit = asked.groups()
    found = row["ratio"] if ratio else row["ours_s"] * (1000 if unit == "ms" else 1)
    return found <= float(bound)


def table_line(row: Row) -> str:
    """A line of the table as Markdown; one that misses its target stands out."""
    told = "yes" if met(row) else "**no**"
    shown = (
        row["what"],
        _number(row, "ours_s"),
        row["reference"],
        _number(row, "reference_s"),
        f"{row['ratio']:.3g}",
    )
    return f"| {' | '.join(shown)} | {row['target']} | {told} |"


TABLE_HEAD = (
    "| what | ours | compared with | that | ratio | target | met |",
    "| --- | ---: | --- | ---: | ---: | --- | --- |",
)


_TELLING = (
    ("tournament of 20 x 20, 2 workers", "limit of 45 s"),
    ("darc2019: check + E1..E6 + S1..S7 of T, rules", "the limit"),
    ("the same, rules", "the competition's evaluator, as recorded"),
    ("nearest rows, 100,000 x 10,000 rows", "KDTree on one-hot columns"),
    ("pwscup2024: utility of ten files", "pandas value_counts loop"),
)
"""What a row of the README measures, and what it is compared with."""


def in_readme(lines: Sequence[str]) -> list[str]:
    """The head of the table, its most telling rows, and every row that misses its target.

    Raises
    ------
    ValueError
        A telling row is not there: its words were changed.
    """
    cells = {line: tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines}
    lost = set(_TELLING) - {(cell[0], cell[2]) for cell in cells.values()}
    if lost:
        raise ValueError(f"the table has no row {sorted(lost)}")
    kept = [
        line
        for line, cell in cells.items()
        if (cell[0], cell[2]) in _TELLING or cell[-1] == "**no**"
    ]
    return [*TABLE_HEAD, *kept]


def _number(row: Row, key: Literal["ours_s", "reference_s"]) -> str:
    value = row[key]
    if "MB" in row["what"]:
        return f"{value:,.0f} MB"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.3g} s"


def best_of(times: int, call: Callable[[], Any]) -> float:
    """Seconds of the fastest of several calls."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return min(found)


def peak_memory(code: str) -> float:
    """Peak resident memory in MB of a fresh Python process that runs ``code``."""
    # Not getrusage: Linux hands the parent's peak down to a child.
    tail = "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    done = subprocess.run(
        [sys.executable, "-c", code + tail],
        check=True,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
    )
    return int(done.stdout.split()[-1]) / 1024


def reference_data() -> Path | None:
    """The folder of real data beside the repository, where there is one."""
    folder = Path(os.environ.get("KAKURENBO_DATA") or REPOSITORY.parent / "shared" / "data")
    return folder if folder.is_dir() else None
