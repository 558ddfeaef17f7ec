"""Rounds of pwscup2024: what is prepared, committed and published, from whose data, and that it can be made again."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from tests.pwscup2024 import BOOK, small_original
from tests.reading import Read, attempt

from kakurenbo.contest import Publication, Release
from kakurenbo.contest.commitments import BROKEN, CANNOT_REPEAT, KEPT
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.preparation import PreparedRound
from kakurenbo.contest.rounds import publish_round
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import table_bytes, write_folder
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.data.store import import_dataset
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024, Submission
from kakurenbo.rulebooks.pwscup2024.release import split_files
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores, release_utility

TEAMS = ("01", "03")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """An organizer's own seven B files."""
    folder = tmp_path / "own"
    folder.mkdir()
    for number in range(7):
        (folder / f"Bi{number + 20}.csv").write_bytes(
            table_bytes(small_original(120, seed=number), header=True)
        )
    (folder / "readme.txt").write_text("not a table")
    return folder


def prepared(folder: Path, seed: int = 5, **options: str) -> PreparedRound:
    book = Pwscup2024(**options)
    write_folder(folder, prepare(book, seed, TEAMS).files(), private=("secret",))
    return PreparedRound(Pwscup2024(), folder)


def publication(round_: PreparedRound, team: str, chosen: int = 0) -> Publication:
    secrets = round_.secrets(team)
    return round_.rules.publish(
        secrets, Submission(ratings.split(secrets.handout.candidates[chosen]), chosen)
    )


def stars(publication: Publication, team: str) -> list[int]:
    lines = publication.target[f"B{team}b.csv"].decode().splitlines()[1:]
    return [line.split(",").index("*") for line in lines]


# -- handouts ------------------------------------------------------------------------------------------------------------


def test_a_handout_holds_three_candidates_and_their_ten_split_files_and_digests_are_public(
    tmp_path: Path, own: Path
) -> None:
    prepared(tmp_path / "main", data=str(own))
    for team in TEAMS:
        files = {
            path.name: path.read_bytes() for path in (tmp_path / "main" / "teams" / team).iterdir()
        }
        candidates = [f"Bi{team}-{number}.csv" for number in (1, 2, 3)]
        splits = [f"Bi{team}-{number}_{index}.csv" for number in (1, 2, 3) for index in range(10)]
        assert sorted(files) == sorted(
            [*candidates, *splits, "contest.json", "README.md", "README.ja.md"]
        )
        head = files[f"Bi{team}-1_9.csv"].decode().splitlines()[0]
        assert (
            head
            == "Gender,Age,Occupation,ZIP-code,260,1097,2628,2174,2797,1073,2100,2968,2105,2193"
        )
        digests = json.loads((tmp_path / "main" / "public" / "digests.json").read_text())["sha256"]
        assert {name: digests[name] for name in candidates} == {
            name: hashlib.sha256(files[name]).hexdigest() for name in candidates
        }
        assert len(digests) == 3 * len(TEAMS)


def test_own_b_files_are_dealt_out_none_twice_and_recorded_by_digest_not_by_path(
    tmp_path: Path, own: Path
) -> None:
    round_ = prepared(tmp_path / "main", data=str(own))
    dealt = [table.digest() for team in TEAMS for table in round_.handout(team).candidates]
    originals = {
        f"Bi{number + 20}.csv": small_original(120, seed=number).digest() for number in range(7)
    }
    assert len(set(dealt)) == 6
    assert set(dealt) <= set(originals.values())
    assert round_.facts.data == {"source": "own B files", "sha256": originals}
    assert round_.facts.settings == {
        "round": "main",
        "scale": "full",
        "masks": "common",
        "data": "own",
    }
    assert str(own).encode() not in b"".join(
        path.read_bytes() for path in (tmp_path / "main").rglob("*.json")
    )


def test_with_fewer_own_files_every_team_gets_fewer_candidates_and_one_at_least(
    tmp_path: Path, own: Path
) -> None:
    for name in ("Bi22.csv", "Bi23.csv", "Bi24.csv"):
        (own / name).unlink()
    assert len(prepared(tmp_path / "four", data=str(own)).handout("03").candidates) == 2
    for name in ("Bi20.csv", "Bi21.csv", "Bi25.csv"):
        (own / name).unlink()
    with pytest.raises(UsageError, match="1 tables B for 2 teams"):
        prepare(Pwscup2024(data=str(own)), 5, TEAMS)


def test_own_files_that_are_no_tables_b_are_told(tmp_path: Path, own: Path) -> None:
    (own / "Bi20.csv").write_text("x,y\n1,2\n")
    with pytest.raises(UsageError, match=r"Bi20\.csv"):
        prepare(Pwscup2024(data=str(own)), 5, TEAMS)
    with pytest.raises(UsageError, match="no such folder"):
        prepare(Pwscup2024(data=str(tmp_path / "nowhere")), 5, TEAMS)


def test_imported_b_files_are_taken_where_there_are_three_for_each_team_and_named_by_digest(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="data import ratings"):
        prepare(Pwscup2024(data="imported"), 5, TEAMS)
    files = sorted(own.glob("Bi*.csv"))
    assert isinstance(attempt(import_dataset, "ratings", files), Read)
    round_ = prepared(tmp_path / "auto")
    assert round_.facts.settings["data"] == "imported"
    assert list(round_.facts.data["sha256"].values()) == [
        small_original(120, seed=number).digest() for number in range(7)
    ]
    assert {
        finding.state for finding in verify_round(Pwscup2024(), tmp_path / "auto", again=True)
    } == {KEPT}
    assert isinstance(attempt(import_dataset, "ratings", files[1:]), Read)
    different = verify_round(Pwscup2024(), tmp_path / "auto", again=True)[-1]
    assert (different.state, "sha256" in different.why) == (CANNOT_REPEAT, True)
    monkeypatch.setenv("KAKURENBO_HOME", str(tmp_path / "empty"))
    missing = verify_round(Pwscup2024(), tmp_path / "auto", again=True)[-1]
    assert (missing.state, "data import ratings" in missing.why) == (CANNOT_REPEAT, True)


def test_a_small_round_takes_a_tenth_of_the_rows_of_real_tables_but_never_fewer_than_50(
    tmp_path: Path, own: Path
) -> None:
    (own / "Bi90.csv").write_bytes(table_bytes(small_original(1200), header=True))
    round_ = prepared(tmp_path / "main", data=str(own), scale="small")
    rows = {len(table) for team in TEAMS for table in round_.handout(team).candidates}
    assert rows <= {50, 120}


def test_the_embedded_data_has_1000_rows_in_a_small_round_and_its_statistics_are_told_by_digest(
    tmp_path: Path,
) -> None:
    round_ = prepared(tmp_path / "pre", data="embedded", scale="small", round="pre")
    assert [len(table) for table in round_.handout("03").candidates] == [1000] * 3
    assert round_.facts.settings == {
        "round": "pre",
        "scale": "small",
        "masks": "per_team",
        "data": "embedded",
    }
    assert len(round_.facts.data["sha256"]) == 64


# -- masks, people, orders -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"round": "main"}, True),
        ({"round": "pre"}, False),
        ({"round": "main", "masks": "per_team"}, False),
        ({"round": "pre", "masks": "common"}, True),
    ],
)
def test_the_masked_column_of_row_i_is_the_same_for_all_teams_in_main_and_differs_in_pre(
    tmp_path: Path, own: Path, options: dict[str, str], same: bool
) -> None:
    round_ = prepared(tmp_path / "round", data=str(own), **options)
    hidden = [stars(publication(round_, team), team) for team in TEAMS]
    assert (hidden[0] == hidden[1]) == same
    committed = json.loads((tmp_path / "round" / "public" / "commitments.json").read_text())[
        "commitments"
    ]
    assert ("secret/masks.csv" in committed) == same, (
        "masks that all teams share are committed to beforehand"
    )
    if same:
        lines = (tmp_path / "round" / "secret" / "masks.csv").read_text().split()
        assert [ratings.MOVIES.index(movie) for movie in lines] == hidden[0]


def test_a_and_b_are_50_people_of_b_in_different_orders_and_x_says_who_is_who(
    tmp_path: Path, own: Path
) -> None:
    round_ = prepared(tmp_path / "main", data=str(own))
    published = publication(round_, "03", chosen=1)
    original = {row[0]: row for row in round_.handout("03").candidates[1].rows()}
    people = [line.split(",") for line in published.target["B03a.csv"].decode().splitlines()]
    told = [line.split(",") for line in published.target["B03b.csv"].decode().splitlines()]
    answer = [
        tuple(map(int, line.split(",")))
        for line in published.answer["B03x.csv"].decode().splitlines()
    ]
    assert people[0] == ["Name", *ratings.ATTRIBUTES]
    assert told[0] == list(ratings.MOVIES)
    assert len(people) == len(told) == 51
    assert len({person[0] for person in people[1:]}) == len(answer) == 50
    assert [person for person, _ in answer] != list(range(50))
    for row, (person, value) in zip(told[1:], answer, strict=True):
        whole = list(map(str, original[people[1 + person][0]]))
        assert whole[:5] == people[1 + person]
        assert whole[5:] == [str(value) if cell == "*" else cell for cell in row]
        assert row.count("*") == 1


def test_people_and_orders_differ_by_round_and_team_and_are_the_same_every_time(
    tmp_path: Path, own: Path
) -> None:
    main, pre = (prepared(tmp_path / name, data=str(own), round=name) for name in ("main", "pre"))
    answers = [publication(main, team).answer[f"B{team}x.csv"] for team in TEAMS]
    assert answers[0] != answers[1]
    assert publication(main, "01").answer == {"B01x.csv": answers[0]}
    assert publication(pre, "01").answer["B01x.csv"] != answers[0]


def test_a_team_is_published_by_the_organizers_word_not_by_the_name_of_its_file(
    tmp_path: Path, own: Path
) -> None:
    """A zip of any name gets the people of the team whose folder it lies in."""
    round_ = prepared(tmp_path / "main", data=str(own))
    for team in TEAMS:
        handout = round_.handout(team)
        write_folder(
            tmp_path / "in" / team,
            BOOK.release_files(handout, Release(ratings.split(handout.table))),
        )
    published = publish_round(BOOK, tmp_path / "main", tmp_path / "in")
    assert published.complete
    assert published.files["answers/03/B03x.csv"] == publication(round_, "03").answer["B03x.csv"]


# -- made again ----------------------------------------------------------------------------------------------------------


def test_verify_again_makes_a_round_of_own_files_once_more_where_they_are_given(
    tmp_path: Path, own: Path
) -> None:
    prepared(tmp_path / "main", data=str(own))
    findings = verify_round(Pwscup2024(data=str(own)), tmp_path / "main", again=True)
    assert {finding.state for finding in findings} == {KEPT}
    assert any(finding.name.startswith("made again: teams/03/Bi03-1_0.csv") for finding in findings)


def test_verify_again_names_data_that_is_missing_or_different_instead_of_accusing(
    tmp_path: Path, own: Path
) -> None:
    prepared(tmp_path / "main", data=str(own))
    missing = verify_round(Pwscup2024(), tmp_path / "main", again=True)[-1]
    assert (missing.state, "--data" in missing.why) == (CANNOT_REPEAT, True)
    shutil.copy(own / "Bi20.csv", own / "Bi99.csv")
    different = verify_round(Pwscup2024(data=str(own)), tmp_path / "main", again=True)[-1]
    assert (different.state, "Bi99.csv" in different.why) == (CANNOT_REPEAT, True)
    assert not [
        finding
        for finding in verify_round(BOOK, tmp_path / "main", again=True)
        if finding.state == BROKEN
    ]


def test_a_round_is_made_again_in_any_language(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notices and refusals are part of what was committed to."""
    round_ = prepared(tmp_path / "main", data=str(own))
    write_folder(
        tmp_path / "in" / "01", split_files("01", ratings.split(round_.handout("01").table))
    )
    write_folder(
        tmp_path / "in" / "03", split_files("01", ratings.split(round_.handout("03").table))
    )
    monkeypatch.setenv("KAKURENBO_LANG", "en")
    published = publish_round(BOOK, tmp_path / "main", tmp_path / "in")
    assert [record.state for record in published.records] == ["published", "refused"]
    write_folder(tmp_path / "phase", published.files)
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    findings = verify_round(
        Pwscup2024(data=str(own)), tmp_path / "main", tmp_path / "phase", again=True
    )
    assert {finding.state for finding in findings} == {KEPT}


def test_options_that_were_given_stay_even_where_they_equal_the_default(
    tmp_path: Path, own: Path
) -> None:
    prepared(tmp_path / "pre", data=str(own), round="pre")
    assert PreparedRound(Pwscup2024(), tmp_path / "pre").rules.masking == "per_team"
    assert PreparedRound(Pwscup2024(round="main"), tmp_path / "pre").rules.round == "main"
    with pytest.raises(ParameterError):
        Pwscup2024(masks="none")


# -- sample anonymity ----------------------------------------------------------------------------------------------------


def test_sample_anonymity_is_100_less_the_sample_attacks_hits_on_people_that_b_and_the_release_fix() -> (
    None
):
    original = small_original()
    tables = ratings.split(original)
    utility = release_utility(original, tables)
    assert utility.scores["sample_anonymity"].value == 0, "a release that hides nothing"
    assert utility.scores["sample_anonymity"].parts == {"identification": 50, "reconstruction": 50}
    assert "50 others" in str(utility.notices[0])
    permuted = tuple(
        table.take(stream(number, "rows").permutation(len(table)))
        for number, table in enumerate(tables)
    )
    again = [release_utility(original, permuted).scores["sample_anonymity"] for _ in range(2)]
    assert again[0] == again[1]
    assert again[0].value > 50


def test_the_crosstab_figures_need_no_attack() -> None:
    original = small_original()
    assert set(crosstab_scores(original, ratings.split(original))) == {
        "U",
        *(f"U_{number}" for number in range(10)),
    }
