"""``report`` takes what ``score`` wrote for each round of a contest that was held by files, as well as the folder of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.reports.pages import table

from kakurenbo.cli import main
from kakurenbo.contest import Credit, RoundResults
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.methods.registry import load
from kakurenbo.reports import PlayerEntry, html_report, joined, make_document


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["report", *map(str, arguments)])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


def anonymization(page: str) -> list[list[str]]:
    """Rank, team with note, and score of every line of the ranking."""
    return [row[:3] for row in table(page, "standings-anonymization-en")]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two rounds of amic2020 in which 02 finds 30 and 50 of a hundred in 01's release, and one of darc2019."""
    rulebook = load("rulebooks", "amic2020")()
    for name, found in (("pre", 30), ("main", 50)):
        credits = {"01": {"02": Credit(found, 100)}, "02": {"01": Credit(10, 100)}}
        results = RoundResults(credits, ("01", "02"), ("01", "02"))
        document = make_document(
            rulebook, {name: [results]}, {}, players=[PlayerEntry("01"), PlayerEntry("02")]
        )
        (tmp_path / f"{name}.json").write_bytes(document.as_bytes())
    other = RoundResults({"01-1": {}}, ("01-1",), (), {"01-1": 0.2})
    (tmp_path / "shop.json").write_bytes(
        make_document(load("rulebooks", "darc2019")(), {"main": [other]}, {}).as_bytes()
    )
    return tmp_path


def test_one_results_file_gives_a_page_beside_it_without_times(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    code, out, _ = said(capsys, files / "pre.json")
    assert (code, out.strip()) == (0, str(files / "report.html"))
    assert "seconds of work" not in (files / "report.html").read_text()


def test_the_files_of_several_rounds_are_ranked_together(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    code, _, _ = said(
        capsys,
        files / "main.json",
        files / "pre.json",
        "--figures",
        files / "pictures",
    )
    page = (files / "report.html").read_text()
    assert code == 0
    # 01: 0.1 x 700 + 0.9 x 500 points; 02: 900 in both.
    assert anonymization(page) == [["1", "02", "900"], ["2", "01", "520"]]
    assert page.index('id="matrix-pre-en"') < page.index('id="matrix-main-en"'), (
        "in the order of the contest, whatever that of the files"
    )
    assert "seconds of work" not in page
    assert {path.name for path in (files / "pictures").iterdir()} >= {
        "heatmap-pre.svg",
        "heatmap-main.svg",
    }


def test_a_release_that_is_disqualified_leaves_the_report_as_it_leaves_the_standings(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    code, _, _ = said(
        capsys,
        files / "pre.json",
        files / "main.json",
        "--disqualified",
        "main:02",
    )
    page = (files / "report.html").read_text()
    assert code == 0
    # 02 has 900 points in pre alone: 0.1 x 900; 01 keeps its 520.
    assert anonymization(page) == [["1", "01", "520"], ["2", "02 disqualified in main", "90"]]
    assert said(capsys, files / "pre.json", "--disqualified", "03")[0] == 2
    assert said(capsys, files / "pre.json", "--disqualified", "final:02")[0] == 2


def test_a_folder_with_the_results_that_score_wrote_is_enough(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    (files / "pre.json").rename(files / "results.json")
    assert said(capsys, files)[0] == 0
    assert (files / "report.html").exists()


@pytest.mark.parametrize(
    ("spoken", "advice"),
    [
        ("en", "the results file that score wrote for each round"),
        ("ja", "score がラウンドごとに書いた結果のファイル"),
    ],
)
@pytest.mark.parametrize("given", ["", "nowhere"])
def test_where_there_is_nothing_to_report_the_message_says_what_to_give(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: Path,
    given: str,
    spoken: str,
    advice: str,
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", spoken)
    code, _, err = said(capsys, files / given)
    assert code == 2
    assert advice in err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("pre.json", "pre.json"), "the round 'pre' was given already"),
        (("pre.json", "shop.json"), "these are results of darc2019; give results of amic2020"),
        (("guess.index",), "this holds no results; give the JSON file that score wrote"),
    ],
)
def test_files_that_make_no_contest_together_are_told(
    capsys: pytest.CaptureFixture[str], files: Path, given: tuple[str, ...], told: str
) -> None:
    (files / "guess.index").write_text("1\n2\n")
    code, _, err = said(capsys, *(files / name for name in given))
    assert code == 2
    assert told in err


def test_of_a_refusal_whose_cause_is_not_public_the_report_says_that_it_was_one() -> None:
    out = RoundResults(
        {"01": {"02": Credit(1, 10)}}, ("01", "02"), ("01", "02"), out={"02": "refused"}
    )
    records = [ReleaseRecord("01", "01", "published"), ReleaseRecord("02", "02", "refused")]
    document = make_document(load("rulebooks", "amic2020")(), {"pre": [out]}, {"pre": [records]})
    assert document.rounds[0].releases["02"].verdicts == {"en": "Refused.", "ja": "受理されず。"}


def test_the_commitments_of_every_round_stand_in_the_joined_document() -> None:
    rulebook = load("rulebooks", "amic2020")()
    results = RoundResults({"01": {"02": Credit(1, 10)}}, ("01",), ("02",))
    parts = [
        (
            name,
            make_document(
                rulebook, {name: [results]}, {}, manifest={"commitments": {name: {"seed": name}}}
            ),
        )
        for name in ("pre", "main")
    ]
    document = joined(rulebook, parts)
    assert document.manifest["commitments"] == {"pre": {"seed": "pre"}, "main": {"seed": "main"}}
    assert json.dumps({"seed": "main"}, separators=(",", ":")) in html_report(document, {})
