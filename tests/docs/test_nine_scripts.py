"""Each of the nine scripts of amic2020 has a command: every row of the pages' table is run, in one folder, at a small scale."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.calling import run

from kakurenbo.core import table_bytes
from kakurenbo.data.adult import embedded_adult

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "<!-- executed: the nine scripts -->"
SCRIPTS = [
    "gen.py",
    "randomsampling.py",
    "synthetic.py",
    "rr.py",
    "rrp.py",
    "kanony.py",
    "utilityfunc.py",
    "attack.py",
    "privacymeasure.py",
]
SMALL = {"100000": "3000", "10000": "300"}
"""Rows of the contest, and of the test."""


def rows_of(page: str) -> list[tuple[str, str]]:
    """Script and command of each row of the table below the mark."""
    table = (DOCS / page).read_text().partition(MARK)[2].strip().partition("\n\n")[0]
    return re.findall(r"^\| `(\w+\.py)` \|.*\| `(kakurenbo .*)` \|$", table, re.MULTILINE)


@pytest.mark.parametrize("page", ["amic2020.md", "ja/contests.md"])
def test_every_script_has_a_command_that_does_its_work(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    adult = embedded_adult()
    Path("census_income.data.csv").write_bytes(table_bytes(adult.train))
    Path("test.csv").write_bytes(table_bytes(adult.test.take(np.arange(500))))
    rows = rows_of(page)
    assert [script for script, _ in rows] == SCRIPTS
    for script, command in rows:
        _, *words = shlex.split(command)
        inputs = [
            word for word in words if word.endswith((".csv", ".index")) and Path(word).exists()
        ]
        code, out, err = run(*(SMALL.get(word, word) for word in words))
        assert code in ((0, 1) if script == "utilityfunc.py" else (0,)), (command, err)
        assert inputs, "each script reads a file"
        if script == "utilityfunc.py":
            assert "histogram" in out
        elif script == "privacymeasure.py":
            assert "100" in out
        else:
            written = [
                Path(word)
                for word in words
                if word.endswith((".csv", ".index")) and word not in inputs
            ]
            assert all(path.stat().st_size for path in written), command
    assert len(Path("trial_syntheticdata.csv").read_text().splitlines()) == 3000
    assert len(Path("trial_samplingdata.csv").read_text().splitlines()) == 300
    assert len(Path("inference_01_02.index").read_text().splitlines()) == 100
