"""``run``, ``report`` and ``demo`` as commands."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.calling import run

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
    with contextlib.chdir(cwd):
        return subprocess.CompletedProcess(arguments, *run(*arguments))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "teams.toml").write_text(TEAMS)
    done = kakurenbo(
        "run", "amic2020", "--teams", "teams.toml", "-o", "run", "--jobs", "1", "--json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder, json.loads(done.stdout)


def test_run_prints_standings_and_where_the_report_is(played: tuple[Path, dict[str, Any]]) -> None:
    folder, printed = played
    assert set(printed) == {"standings", "report", "refused", "missing", "failed"}
    assert [line["team"] for line in printed["standings"]["attack"]] == ["01", "02", "attack.py"]
    assert printed["refused"] == printed["missing"] == printed["failed"] == []
    assert (folder / printed["report"]).read_bytes().startswith(b"<!doctype html>")


def test_a_second_start_keeps_the_seed_it_began_with_and_plays_nothing_again(
    played: tuple[Path, dict[str, Any]],
) -> None:
    folder, printed = played
    again = kakurenbo(
        "run", "amic2020", "--teams", "teams.toml", "-o", "run", "--jobs", "1", cwd=folder
    )
    assert again.returncode == 0
    assert "stored before" in again.stderr
    assert "report: run/report.html" in again.stdout.replace("\\", "/")
    assert (
        kakurenbo(
            "run",
            "amic2020",
            "--teams",
            "teams.toml",
            "-o",
            "run",
            "--jobs",
            "1",
            "--json",
            cwd=folder,
        ).stdout
        == json.dumps(printed, ensure_ascii=False) + "\n"
    )


def test_report_writes_the_page_where_it_is_told_to(played: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = played
    made = kakurenbo("report", "run", "-o", "page.html", "--json", cwd=folder)
    assert json.loads(made.stdout) == {"report": "page.html", "figures": []}
    assert "<h3>Anonymization</h3>" in (folder / "page.html").read_text()
    assert kakurenbo("report", "nowhere", cwd=folder).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cluster", "tcp://127.0.0.1:9"), "no Dask scheduler answers"),
        (("--teams", "absent.toml"), "absent.toml: there is no such file"),
        (("--rounds", "semi"), "no round 'semi'; there are pre, main"),
        (("--time-limit", "0"), "--time-limit"),
        (("--repeat", "0"), "--repeat"),
    ],
)
def test_a_call_that_cannot_work_is_told_why(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = kakurenbo("run", "amic2020", "-o", "run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("rulebook", "teams", "options", "message"),
    [
        ("darc2019", None, (), "a run of amic2020 is there"),
        ("amic2020", TEAMS, ("--seed", "5"), "results of a run with other seed are there"),
        (
            "amic2020",
            TEAMS + '[[players]]\nanonymizer = "rr:p=0.5"\n',
            (),
            "results of a run with other players are there",
        ),
    ],
)
def test_the_results_of_another_run_are_never_replaced_unasked(
    played: tuple[Path, dict[str, Any]],
    rulebook: str,
    teams: str | None,
    options: tuple[str, ...],
    message: str,
) -> None:
    folder, _ = played
    before = {path: path.read_bytes() for path in (folder / "run").glob("*.json")}
    (folder / "other.toml").write_text(teams or "")
    given = ("--teams", "other.toml") if teams else ()
    done = kakurenbo("run", rulebook, *given, "-o", "run", "--jobs", "1", *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "--replace-results" in done.stderr
    assert {path: path.read_bytes() for path in (folder / "run").glob("*.json")} == before


def test_results_are_replaced_where_that_is_asked_for(played: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = played
    shutil.copytree(folder / "run", folder / "copy")
    (folder / "alone.toml").write_text(TEAMS.partition('[[players]]\nname = "drawn"')[0])
    call = (
        "run",
        "amic2020",
        "--teams",
        "alone.toml",
        "-o",
        "copy",
        "--jobs",
        "1",
        "--replace-results",
    )
    done = kakurenbo(*call, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "stored before" in done.stderr
    assert [
        player["team"]
        for player in json.loads((folder / "copy" / "results.json").read_bytes())["players"]
    ] == ["01"]


def test_a_run_in_which_everything_fails_exits_with_1_and_lists_it(tmp_path: Path) -> None:
    (tmp_path / "teams.toml").write_text(
        '[options]\nscale = "small"\ndata = "embedded"\n[[players]]\nanonymizer = "synthetic:rows=5"\nattack = "nearest"\n'
    )
    call = (
        "run",
        "amic2020",
        "--teams",
        "teams.toml",
        "-o",
        "run",
        "--jobs",
        "1",
        "--json",
        "--time-limit",
        "0.001",
    )
    done = kakurenbo(*call, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    printed = json.loads(done.stdout)
    assert {entry["team"] for entry in [*printed["failed"], *printed["refused"]]} == {"01"}


def test_both_rounds_are_weighed_as_the_rules_say(tmp_path: Path) -> None:
    (tmp_path / "teams.toml").write_text('rounds = ["pre", "main"]\n' + TEAMS)
    done = kakurenbo(
        "run",
        "amic2020",
        "--teams",
        "teams.toml",
        "-o",
        "run",
        "--seed",
        "1",
        "--jobs",
        "1",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "run" / "results.json").read_bytes())
    assert [round_["name"] for round_ in results["rounds"]] == ["pre", "main"]
    notes = {line["team"]: line["note"] for line in results["rankings"]["anonymization"]["lines"]}
    assert "in pre" in notes["02"]
    for given in ("run", "run/results.json", "run/run.json"):
        ranked = kakurenbo("standings", "amic2020", given, "--json", cwd=tmp_path)
        assert ranked.returncode == 0, ranked.stderr
        assert json.loads(ranked.stdout)["overall"] == standings_of(results, "overall"), given


def standings_of(results: dict[str, Any], ranking: str) -> list[dict[str, Any]]:
    """The lines of a results document as the JSON of verbs has them."""
    lines = results["rankings"][ranking]["lines"]
    return [
        {key: line[key] for key in ("team", "score", "rank")}
        | {key: line[key] for key in ("shown", "note") if line[key]}
        for line in lines
    ]


def test_what_was_refused_or_failed_is_listed_and_the_exit_code_says_so(tmp_path: Path) -> None:
    players = '[options]\nscale = "small"\ndata = "embedded"\n[[players]]\nanonymizer = "rr"\n'
    (tmp_path / "teams.toml").write_text(
        players + '[[players]]\nname = "five rows"\nanonymizer = "synthetic:rows=5"\n'
    )
    call = ("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--seed", "1", "--jobs", "1")
    done = kakurenbo(*call, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    printed = json.loads(done.stdout)
    assert [(entry["team"], entry["file"]) for entry in printed["refused"]] == [
        ("02", "pre_anonymizeddata_02.csv")
    ]
    assert "the number of records is 5" in printed["refused"][0]["problem"]
    assert printed["failed"] == printed["missing"] == []
    shown = kakurenbo(*call, cwd=tmp_path)
    assert shown.returncode == 1
    assert "What did not succeed" in shown.stdout
    assert "the number of records is 5" in shown.stdout


@pytest.mark.parametrize("verb", [("report",), ("standings", "amic2020"), ("score", "amic2020")])
def test_a_path_that_is_not_there_is_told_in_one_sentence(
    tmp_path: Path, verb: tuple[str, ...]
) -> None:
    rest = ("absent", "-o", "out.json") if verb[0] == "score" else ()
    done = kakurenbo(*verb, "absent", *rest, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "absent" in done.stderr


@pytest.mark.slow
def test_a_run_stores_the_same_bytes_whatever_the_language(tmp_path: Path) -> None:
    release, guesses = tmp_path / "release", tmp_path / "guesses"
    release.mkdir()
    guesses.mkdir()
    (release / "pre_anonymizeddata_03.csv").write_text("39,Private\n")
    (guesses / "inference_01_04.index").write_text("1\n2\n")
    (guesses / "inference_02_04.index").symlink_to("nowhere")
    files = '[[players]]\nteam = "03"\nrelease = "release"\n[[players]]\nteam = "04"\nguesses = "guesses"\n'
    (tmp_path / "teams.toml").write_text(TEAMS + files)
    call = ("run", "amic2020", "--teams", "teams.toml", "--jobs", "1", "--seed", "3")
    kept: list[dict[str, bytes]] = []
    for language in ("C", "ja_JP.UTF-8"):
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("KAKURENBO_LANG", "LC_ALL")
        }
        environment |= {"LANG": language, "LC_MESSAGES": language, "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "kakurenbo", *call, "-o", f"run-{language}"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 1, done.stderr
        assert ("受理されず" in done.stdout) == (language != "C"), "people read their own language"
        folder = tmp_path / f"run-{language}"
        paths = [
            path
            for path in folder.rglob("*")
            if path.is_file() and path.name not in NOT_OF_THE_PLAN
        ]
        kept.append({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    assert {"results.json", "results.csv", "run.json"} <= kept[0].keys()
    assert len(json.loads(kept[0]["results.json"])["failures"]) >= 3
    assert [
        name for name in kept[0].keys() | kept[1].keys() if kept[0].get(name) != kept[1].get(name)
    ] == []


NOT_OF_THE_PLAN = ("timings.json", "meta.json", "report.html")
"""Files with times, and the page, which opens in the language of whoever made it."""
