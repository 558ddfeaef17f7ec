"""``standings`` takes whatever ``run`` and ``score`` write or print, one file per round or one for all, repeats included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.cli import main
from kakurenbo.contest import Credit, RoundResults
from kakurenbo.methods.registry import load
from kakurenbo.reports import make_document, results_json


def round_(found: int) -> RoundResults:
    """Team 02 finds so many of a hundred in 01's release, and 01 ten in 02's."""
    credits = {"01": {"02": Credit(found, 100)}, "02": {"01": Credit(10, 100)}}
    return RoundResults(credits, ("01", "02"), ("01", "02"))


def standings(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    with pytest.raises(SystemExit) as left:
        main(["standings", "amic2020", *map(str, arguments), "--json"])
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert not left.value.code, printed
    return printed


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The same two rounds in every form that is written or printed."""
    rulebook = load("rulebooks", "amic2020")()
    for name, rounds in {
        "both": {"pre": [round_(30)], "main": [round_(50)]},
        "pre": {"pre": [round_(30)]},
        "main": {"main": [round_(50)]},
        "repeated": {"main": [round_(40), round_(60)]},
    }.items():
        (tmp_path / name).mkdir()
        document = make_document(rulebook, rounds, {})
        (tmp_path / name / "results.json").write_bytes(document.as_bytes())
        (tmp_path / name / "run.json").write_text("{}")
    for name, found in (("pre", 30), ("main", 50)):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"round": name, **results_json(round_(found)), "refused": []})
        )
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        ("both",),
        ("both/results.json",),
        ("both/run.json",),
        ("pre/results.json", "main/results.json"),
        ("pre", "main.json"),
        ("--pre", "pre.json", "--main", "main/run.json"),
        ("--pre", "pre", "--main", "main/results.json"),
    ],
)
def test_every_file_gives_the_same_standings(
    capsys: pytest.CaptureFixture[str], files: Path, given: tuple[str, ...]
) -> None:
    paths = [name if name.startswith("--") else files / name for name in given]
    found = standings(capsys, *paths)
    assert found == standings(capsys, files / "both")
    # R of 01 is 1 - 30 % in the preliminary and 1 - 50 % in the main round, of which the main round weighs more.
    assert found["anonymization"][0]["team"] == "02"


def test_repeats_are_combined(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    lines = standings(capsys, files / "repeated")["anonymization"]
    line = next(line for line in lines if line["team"] == "01")
    assert line["score"] == pytest.approx(0.5)
    low, high = line["interval"]
    assert low < 0.5 < high


def test_a_round_is_given_once(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["standings", "amic2020", str(files / "pre"), str(files / "both")])
    assert left.value.code == 2
    assert "the round 'pre' was given already" in capsys.readouterr().err


def test_one_round_of_a_repeated_run_does_not_go_with_one_that_was_not(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    with pytest.raises(SystemExit) as left:
        main(
            [
                "standings",
                "amic2020",
                "--pre",
                str(files / "pre"),
                "--main",
                str(files / "repeated"),
            ]
        )
    assert left.value.code == 2
    assert "different numbers of repeats" in capsys.readouterr().err


def test_people_are_shown_means_with_their_intervals(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    with pytest.raises(SystemExit):
        main(["standings", "amic2020", str(files / "repeated")])
    said = capsys.readouterr().out
    assert "500 (0–1,000)" in said, (
        "in points, as the caption says, and in the range that points have"
    )
    assert "500 (2×)" in said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--main", "b.json"), "No such option '--main'"),
        ((), "darc2019 has one round: give its RESULTS file, such as"),
    ],
)
def test_a_contest_of_one_round_has_no_options_for_several(
    capsys: pytest.CaptureFixture[str], given: tuple[str, ...], told: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["standings", "darc2019", *given])
    assert left.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "options"), [("standings", ("--pre", "--main")), ("run", ("--rounds",))]
)
def test_the_help_of_a_contest_shows_the_rounds_that_it_has(
    capsys: pytest.CaptureFixture[str], verb: str, options: tuple[str, ...]
) -> None:
    shown = {}
    for rulebook in ("amic2020", "darc2019"):
        with pytest.raises(SystemExit):
            main([verb, rulebook, "--help"])
        shown[rulebook] = capsys.readouterr().out
    for option in options:
        assert f"{option} " in shown["amic2020"]
        assert f"{option} " not in shown["darc2019"]


def test_a_title_is_not_broken_by_a_narrow_table(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    with pytest.raises(SystemExit):
        main(["standings", "amic2020", str(files / "pre")])
    assert "Anonymization — higher is better, out of 1,000\nrank" in capsys.readouterr().out
