"""What an organizer reads who holds a contest by files: each thing once, in one language, and named as it lies there."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from rich.table import Table
from tests.reading import attempt

from kakurenbo.cli import main
from kakurenbo.cli.organize import print_release_notices
from kakurenbo.cli.terminal import SafeConsole
from kakurenbo.cli.verify import place_text
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import MISSING, state_note
from kakurenbo.contest.rounds import PublishedRound, publish_round, score_round
from kakurenbo.core import Integer, Problems, Source, open_archive, write_folder
from kakurenbo.core.messages import Message, render, text
from kakurenbo.rulebooks.amic2020 import Amic2020


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")


@pytest.mark.usefixtures("japanese")
def test_verify_names_in_japanese_what_was_made_again_and_that_it_is_of_the_phase() -> None:
    assert place_text("made again: phase: answers/") == "作り直し: フェーズ: answers/"
    assert place_text("phase: public/contest.json") == "フェーズ: public/contest.json"
    assert place_text("secret/01/") == "secret/01/"


@pytest.mark.usefixtures("japanese")
def test_headings_of_tables_are_japanese_and_a_missing_release_is_not_missing_twice() -> None:
    assert (text("table.of.score"), text("table.of.reid")) == ("得点", "再識別率")
    assert text("ranking.tables") != text("table.table")
    assert str(state_note(MISSING).message) != str(Message("word.nothing_handed_in"))


@pytest.mark.parametrize(
    ("cell", "message", "fix"),
    [
        ("many", '"many" is not an integer', "write digits alone, such as 12"),
        ("3.0", "3.0 is not an integer", "write 3"),
        ("", "the cell is empty", "give an integer"),
        ("11" + "0" * 18, "is not an integer from -1", "give an integer from -1"),
    ],
)
def test_bounds_that_nobody_comes_near_are_told_to_who_passes_them_alone(
    cell: str, message: str, fix: str
) -> None:
    why = Integer("qty", -(10**18), 10**18).explain(cell)
    told = render(why.code, {**why.params, "value": cell}, "en")
    assert message in told.message
    assert told.fix.startswith(fix)


def test_a_notice_of_what_a_zip_left_behind_names_the_entry_and_not_the_folder_around_it() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("03/C03_0.csv", "03/.DS_Store", "__MACOSX/03/._C03_0.csv", "03/._C03_0.csv"):
            archive.writestr(name, "a")
    read = attempt(open_archive, Source("C03.zip", packed.getvalue()))
    assert not isinstance(read, Problems)
    (notice,) = [notice for notice in read.notices if notice.code == "archive.left_behind"]
    assert notice.params["names"] == ["03/.DS_Store", "03/._C03_0.csv", "__MACOSX"]


def test_a_notice_about_many_releases_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        ReleaseRecord(team, team, "published", notices=("put right",)) for team in ("01", "02")
    ]
    print_release_notices(
        PublishedRound({}, (*records, ReleaseRecord("03", "03", "published", notices=("other",))))
    )
    assert capsys.readouterr().err.splitlines() == [
        "notice: 01, 02: put right",
        "notice: 03: other",
    ]


def test_no_line_of_a_table_in_a_pipe_ends_with_blanks() -> None:
    pipe = io.StringIO()
    table = Table("name", "why", box=None)
    table.add_row("01", "")
    table.add_row("02", "a long reason")
    SafeConsole(file=pipe, width=80).print(table)
    lines = pipe.getvalue().splitlines()
    assert len(lines) == 3
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("spoken", "told"),
    [
        ("en", "Overall: as for anonymization, by the rules"),
        ("ja", "総合: 規則により匿名化の順位と同じ"),
    ],
)
@pytest.mark.parametrize(
    ("rulebook", "published"),
    [
        ("darc2019", "table,utility,01,02,S1\n01-1,0.1,,0.2,0.1\n02-1,0.2,0.1,,0.2\n"),
        ("pwscup2024", "anonymizer,01,02,utility\n01,,50,80\n02,20,,90\n"),
    ],
)
def test_an_overall_ranking_that_is_another_by_the_rules_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    rulebook: str,
    published: str,
    spoken: str,
    told: str,
) -> None:
    (tmp_path / "results.csv").write_text(published)
    monkeypatch.setenv("KAKURENBO_LANG", spoken)
    with pytest.raises(SystemExit) as left:
        main(["standings", rulebook, str(tmp_path / "results.csv")])
    assert not left.value.code
    assert told in capsys.readouterr().out.splitlines()


def test_notices_of_score_name_the_folder_of_the_attacker_as_errors_do(tmp_path: Path) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    write_folder(tmp_path / "round", prepare(rules, 7, ("01", "02")).files())
    sample = (tmp_path / "round" / "teams" / "01" / "pre_samplingdata_01.csv").read_bytes()
    write_folder(tmp_path / "entries", {"01/D.csv": sample})
    write_folder(
        tmp_path / "phase", publish_round(rules, tmp_path / "round", tmp_path / "entries").files
    )
    rows = "".join(f"{row}\r\n" for row in range(100)).encode()
    write_folder(tmp_path / "guesses", {"02/inference_01_02.index": rows})
    scored = score_round(rules, tmp_path / "phase", tmp_path / "guesses", sample_attacks=False)
    assert [notice.file for notice in scored.notices] == ["02/inference_01_02.index"]
