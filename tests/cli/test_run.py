"""``run``, ``report`` and ``demo`` as commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEAMS = """
[options]
scale = "small"
data = "embedded"
[[players]]
name = "noise"
anonymizer = "rr:p=0.9"
attack = "nearest"
[[players]]
name = "drawn"
anonymizer = "synthetic"
attack = "blind"
"""


def kakurenbo(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "kakurenbo", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "teams.toml").write_text(TEAMS)
    done = kakurenbo("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--jobs", "1", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder, json.loads(done.stdout)


def test_run_prints_standings_and_where_the_report_is(played: tuple[Path, dict[str, Any]]) -> None:
    folder, printed = played
    assert set(printed) == {"standings", "report"}
    assert [line["team"] for line in printed["standings"]["attack"]] == ["01", "02", "sample attack"]
    assert (folder / printed["report"]).stat().st_size > 1_000_000


def test_a_second_start_keeps_the_seed_it_began_with_and_plays_nothing_again(played: tuple[Path, dict[str, Any]]) -> None:
    folder, printed = played
    again = kakurenbo("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--jobs", "1", cwd=folder)
    assert again.returncode == 0
    assert "stored before" in again.stderr
    assert "report: run/report.html" in again.stdout.replace("\\", "/")
    assert (
        kakurenbo("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--jobs", "1", "--json", cwd=folder).stdout
        == json.dumps(printed, ensure_ascii=False) + "\n"
    )


def test_report_writes_html_or_markdown(played: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = played
    made = kakurenbo("report", "run", "--format", "md", "-o", "report.md", "--json", cwd=folder)
    assert json.loads(made.stdout) == {"report": "report.md"}
    assert "## Anonymization" in (folder / "report.md").read_text()
    assert kakurenbo("report", "nowhere", cwd=folder).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cluster", "tcp://127.0.0.1:9"), "no Dask scheduler answers"),
        (("--teams", "absent.toml"), "absent.toml: cannot be read"),
        (("--rounds", "semi"), "no round 'semi'; there are pre, main"),
        (("--time-limit", "0"), "--time-limit"),
        (("--repeat", "0"), "--repeat"),
    ],
)
def test_a_call_that_cannot_work_is_told_why(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = kakurenbo("run", "amic2020", "-o", "run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_both_rounds_are_weighed_as_the_rules_say(tmp_path: Path) -> None:
    (tmp_path / "teams.toml").write_text('rounds = ["pre", "main"]\n' + TEAMS)
    done = kakurenbo("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--seed", "1", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "run" / "results.json").read_bytes())
    assert [round_["name"] for round_ in results["rounds"]] == ["pre", "main"]
    notes = {line["team"]: line.get("note", "") for line in results["standings"]["anonymization"]}
    assert "in pre" in notes["02"]
