"""From the command to its answer: ``--help``, and ``measure`` of a full-size release once everything is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import REPOSITORY, Row, best_of, row

TIMES = 5
KAKURENBO = (sys.executable, "-m", "kakurenbo")


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        contest, release = Path(folder) / "contest", Path(folder) / "D.csv"
        handout = contest / "teams" / "01"
        _run(*KAKURENBO, "prepare", "amic2020", "-o", contest, "--teams", "1", "--seed", "1")
        _run(*KAKURENBO, "anonymize", "amic2020", "kanony", handout, release, "--seed", "1")
        measure = best_of(TIMES, lambda: _run(*KAKURENBO, "measure", "amic2020", handout, release))
    libraries = best_of(TIMES, lambda: _run(sys.executable, "-c", "import numpy, polars"))
    shown = best_of(TIMES, lambda: _run(*KAKURENBO, "--help"))
    bare = best_of(TIMES, lambda: _run(sys.executable, "-c", "pass"))
    return [
        row("kakurenbo --help", shown, "an empty Python program", bare, "≤ 0.25 s"),
        row(
            "kakurenbo measure of a full-size amic2020 release",
            measure,
            "loading NumPy and Polars alone",
            libraries,
            "≤ 1 s",
        ),
    ]


def _run(*command: object) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    subprocess.run(
        [str(part) for part in command],
        check=True,
        capture_output=True,
        cwd=REPOSITORY,
        env=environment,
    )
