"""darc2019, rules 9, 12 and 14 to 18: publishing, credit of a guess, scores, ranks and awards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.reading import Read, attempt

from kakurenbo.anonymizers.transactions.rows import Dates, Pseudonyms
from kakurenbo.contest import ContestFacts, Credit, PreparedRound, RoundResults
from kakurenbo.contest.engine import judge_release, prepare
from kakurenbo.contest.rounds import publish_round
from kakurenbo.core import Problems, Source, write_folder
from kakurenbo.core.messages import translated
from kakurenbo.core.rng import stream
from kakurenbo.reports.reading import read_matrix, results_json
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.scores import read_published, standings

# -- publish ----------------------------------------------------------------------------------------------------------

BOOK = Darc2019(scale="small", data="embedded")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedRound[Handout]:
    folder = tmp_path_factory.mktemp("darc2019") / "contest"
    write_folder(folder, prepare(BOOK, 3, ["01", "02"]).files())
    return PreparedRound(Darc2019(), folder)


def test_the_order_of_s_comes_from_seed_team_and_table_never_from_a_file_name(
    prepared: PreparedRound[Handout],
) -> None:
    handout = prepared.handout("01")
    data = BOOK.release_files(handout, BOOK.anonymize(handout, Pseudonyms(), stream(1, "a")))[
        "A_01.csv"
    ]
    other = BOOK.release_files(handout, BOOK.anonymize(handout, Pseudonyms(), stream(2, "a")))[
        "A_01.csv"
    ]

    def rows(target: str, name: str, content: bytes) -> list[bytes]:
        judged = judge_release(prepared, target, [Source(name, content)])
        assert judged.target, judged.record
        return judged.target[f"S_{target}.csv"].splitlines()

    first = rows("01", "A_01.csv", data)
    assert first == rows("01", "mine.csv", data) == rows("01-2", "A_01-2.csv", data)
    assert sorted(first) == sorted(rows("02", "A_02.csv", data))
    assert first != rows("02", "A_02.csv", data)
    assert sorted(first) != sorted(rows("01", "A_01.csv", other))
    kept = [line for line in data.splitlines() if not line.startswith(b"DEL")]
    assert sorted(first) == sorted(kept)
    assert first != kept


def test_a_table_that_names_another_team_is_refused(prepared: PreparedRound[Handout]) -> None:
    handout = prepared.handout("01")
    data = BOOK.release_files(handout, BOOK.anonymize(handout, Pseudonyms(), stream(1, "a")))[
        "A_01.csv"
    ]
    judged = judge_release(prepared, "02", [Source("A_01.csv", data)])
    assert (judged.record.state, judged.target) == ("refused", {})
    assert "the name says team 01" in judged.record.cause


def test_beside_several_tables_a_file_of_another_name_is_refused_by_its_own_and_costs_no_table(
    prepared: PreparedRound[Handout], tmp_path: Path
) -> None:
    handout = prepared.handout("01")
    data = BOOK.release_files(handout, BOOK.anonymize(handout, Pseudonyms(), stream(1, "a")))[
        "A_01.csv"
    ]
    handed_in = {
        "01/A_01.csv": data,
        "01/A_01-3.csv": data,
        "01/A_02.csv": data,
        "01/readme.txt": b"",
        "02/a": data,
        "02/b": b"",
    }
    write_folder(tmp_path / "submissions", handed_in)
    published = publish_round(Darc2019(), prepared.folder.path, tmp_path / "submissions")
    assert {record.target: record.state for record in published.records} == {
        "01": "published",
        "01-3": "published",
        "02": "refused",
    }
    assert [(file, problems[0].code) for file, problems in published.unassigned] == [
        ("01/A_02.csv", "release.other_team"),
        ("01/readme.txt", "release.unknown_name"),
        ("02/a", "release.unknown_name"),
        ("02/b", "release.unknown_name"),
    ]
    assert not published.complete


def test_a_release_that_names_customers_gets_monthly_pseudonyms(
    prepared: PreparedRound[Handout],
) -> None:
    handout = prepared.handout("01")
    release = BOOK.anonymize(handout, Dates(), stream(1, "a"))
    assert not set(release.table.vocabularies["id_user"]) & set(
        handout.original.vocabularies["id_user"]
    )
    cells = {
        (a, b)
        for a, b in zip(
            handout.original.values("id_user"), release.table.values("id_user"), strict=True
        )
    }
    assert len(cells) == len(release.table.vocabularies["id_user"])


def test_the_mode_of_the_contest_holds_unless_another_is_asked_for() -> None:
    facts = ContestFacts(rulebook="darc2019", settings={"mode": "aicrowd"})
    assert Darc2019().under(facts).mode == "aicrowd"
    assert Darc2019(mode="rules").under(facts).mode == "rules", (
        "given explicitly, though it is the default"
    )
    assert Darc2019().under(None).mode == "rules"


# -- standings --------------------------------------------------------------------------------------------------------


def results(
    utility: dict[str, float], credits: dict[str, dict[str, float]], **more: object
) -> RoundResults:
    attackers = tuple(dict.fromkeys(name for row in credits.values() for name in row))
    unranked = frozenset(name for name in attackers if name.startswith("S"))
    graded = {
        table: {name: Credit(rate, 1, details={"reid": rate}) for name, rate in row.items()}
        for table, row in credits.items()
    }
    return RoundResults(graded, tuple(credits), attackers, utility, unranked=unranked, **more)  # type: ignore[arg-type]


def test_the_score_is_the_mean_of_u_and_the_highest_reid_and_the_lowest_wins() -> None:
    given = results(
        {"01": 0.2, "02": 0.5}, {"01": {"S6": 0.3, "02": 0.1}, "02": {"S6": 0.0, "01": 0.25}}
    )
    found = standings({"main": given})
    assert [(line.team, line.rank, float(line.score or 0)) for line in found.anonymization] == [
        ("01", 1, 0.25),
        ("02", 2, 0.375),
    ]
    assert [(line.team, line.rank) for line in found.attack] == [
        ("02", 1),
        ("01", None),
        ("S6", None),
    ]
    assert found.awards == {"anonymization": ("01", "02"), "re-identification": ("02",)}
    assert found.lower_is_better == {"anonymization", "overall"}
    assert found.details["tables"]["01"] == {"U": 0.2, "reid": 0.3, "score": 0.25}


def test_the_last_three_tables_of_a_team_count_and_the_best_of_them_ranks() -> None:
    utility = {"01-1": 0.0, "01-2": 0.4, "01-3": 0.3, "01-10": 0.6, "02": 0.35}
    found = standings({"main": results(utility, {table: {"S1": 0.0} for table in utility})})
    assert [(line.team, line.score) for line in found.anonymization] == [
        ("01", Fraction(15, 100)),
        ("02", Fraction(175, 1000)),
    ]
    assert set(found.details["tables"]) == {"01-2", "01-3", "01-10", "02"}


def test_a_table_that_was_refused_takes_no_place_among_the_last_three() -> None:
    utility = {"01-1": 0.1, "01-2": 0.4, "01-4": 0.6}
    credits: dict[str, dict[str, float]] = {
        "01-1": {},
        "01-2": {},
        "01-3": {},
        "01-4": {},
        "01-5": {},
    }
    found = standings(
        {"main": results(utility, credits, out={"01-3": "refused", "01-5": "refused"})}
    )
    assert [line.score for line in found.anonymization] == [Fraction(1, 20)]
    assert list(found.details["tables"]) == ["01-1", "01-2", "01-4"]


def test_a_table_that_is_disqualified_later_brings_no_earlier_one_back() -> None:
    utility = {"01-1": 0.1, "01-2": 0.4, "01-3": 0.6, "01-4": 0.5}
    given = results(utility, {table: {} for table in utility}).without(["01-2"])
    assert list(standings({"main": given}).details["tables"]) == ["01-3", "01-4"]


def test_the_best_of_ten_attacks_of_an_attacker_counts_on_a_table() -> None:
    tries = [f"02-{number}" for number in range(1, 12)]
    text = f"table,utility,{','.join(tries)}\n01,0.1,{','.join(str(number / 100) for number in range(1, 12))}\n"
    read = attempt(read_published, Source("r.csv", text.encode()))
    assert not isinstance(read, Problems)
    assert read.value.attackers == ("02",)
    assert len(read.value.tries["01"]["02"]) == 10
    assert standings({"main": read.value}).details["tables"]["01"]["reid"] == 0.1


def test_the_seventh_baseline_counts_in_mode_aicrowd_alone() -> None:
    given = results({"01": 0.1}, {"01": {"S6": 0.2, "S7": 0.5}})
    assert standings({"main": given}, "rules").details["tables"]["01"]["reid"] == 0.2
    assert standings({"main": given}, "aicrowd").details["tables"]["01"]["reid"] == 0.5


def test_decimals_are_compared_as_decimals() -> None:
    """U + reid is .1 + .2 for one team and .15 + .15 for the other: a tie, though not in binary."""
    found = standings(
        {"main": results({"01": 0.1, "02": 0.15}, {"01": {"S1": 0.2}, "02": {"S1": 0.15}})}
    )
    assert [line.rank for line in found.anonymization] == [1, 1]


def test_the_organizers_own_team_is_shown_not_ranked_and_its_attacks_do_not_count() -> None:
    given = results(
        {"01": 0.5, "09": 0.1},
        {"01": {"S1": 0.1, "09": 0.9}, "09": {"S1": 0.0, "01": 0.2}},
        excluded={"09"},
    )
    found = standings({"main": given})
    assert [(line.team, line.rank) for line in found.anonymization] == [("01", 1), ("09", None)]
    assert [(line.team, line.rank, float(line.score or 0)) for line in found.attack] == [
        ("01", None, 0),
        ("09", None, 0.9),
        ("S1", None, 0.1),
    ]
    assert found.details["tables"]["01"]["reid"] == 0.1
    assert found.awards == {"anonymization": ("01",), "re-identification": ()}


def test_nobody_is_credited_for_an_attack_on_a_table_of_their_own() -> None:
    found = standings({"main": results({"01": 0.1}, {"01": {"01": 0.9, "02": 0.2}})})
    assert found.details["tables"]["01"]["reid"] == 0.2
    assert [(line.team, line.rank, line.note) for line in found.attack] == [
        ("02", 1, ""),
        ("01", None, "owns the table"),
    ]


def test_tied_teams_are_all_awarded() -> None:
    utility = {f"0{number}": 0.2 for number in range(1, 6)}
    found = standings(
        {"main": results(utility, {table: {"06": 0.5, "07": 0.5} for table in utility})}
    )
    assert found.awards == {
        "anonymization": ("01", "02", "03", "04", "05"),
        "re-identification": ("06", "07"),
    }


def test_where_two_tables_tie_for_the_first_rank_the_best_attack_on_either_is_awarded() -> None:
    """One team owns both: .1 + .3 and .2 + .2."""
    given = results(
        {"01-1": 0.1, "01-2": 0.2},
        {"01-1": {"02": 0.3, "03": 0.25}, "01-2": {"02": 0.1, "03": 0.2}},
    )
    found = standings({"main": given})
    assert found.awards["re-identification"] == ("02",)
    given = results(
        {"01-1": 0.1, "01-2": 0.05},
        {"01-1": {"02": 0.3, "03": 0.25}, "01-2": {"02": 0.1, "03": 0.35}},
    )
    found = standings({"main": given})
    assert [(line.team, float(line.score or 0)) for line in found.attack] == [
        ("03", 0.35),
        ("02", 0.3),
        ("01", 0),
    ]
    assert found.awards["re-identification"] == ("03",)


def test_a_refused_table_ranks_behind_all_others() -> None:
    given = results({"02": 0.9}, {"01": {}, "02": {"S1": 1.0}}, out={"01": "disqualified"})
    found = standings({"main": given})
    assert [(line.team, line.rank, line.note) for line in found.anonymization] == [
        ("02", 1, ""),
        ("01", None, "disqualified"),
    ]
    assert found.awards["anonymization"] == ("02",)


def test_results_are_read_from_a_table() -> None:
    read = attempt(
        read_published, Source("r.csv", b"table,utility,S7,2\n1-1,0.5,0.25,\n03,0.125,0.5,0.75\n")
    )
    assert not isinstance(read, Problems)
    table = read.value
    assert table.utility == {"01-1": 0.5, "03": 0.125}
    assert table.unranked == {"S7"}
    assert table.attackers == ("S7", "02"), "1 and 01 are one team"
    assert set(table.credits["01-1"]) == {"S7"}


def test_a_table_without_baselines_is_noticed() -> None:
    read = attempt(read_published, Source("r.csv", b"table,utility,02\n01,0.5,0.25\n"))
    assert not isinstance(read, Problems)
    assert [notice.code for notice in read.notices] == ["darc2019.no_baselines"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "table,utility,02\n01,2.5,\n",
        "table,utility,02\n01,-5,\n",
        "table,utility,02\n01,nan,\n",
        "table,utility\n01,0.1\n01,0.2\n",
        "table,utility\n1,0.1\n01,0.2\n",
        "table,utility,2,02\n01,0.1,0,0\n",
        "{",
    ],
)
def test_other_files_of_results_are_refused(text: str) -> None:
    assert isinstance(attempt(read_published, Source("r", text.encode())), Problems)


def test_everybody_who_takes_part_is_listed_among_the_attackers_whom_they_attacked_or_not() -> None:
    # 02 attacks the first-ranked table of 01, 03 takes part unranked and attacks 02's alone, 04 attacks nobody.
    found = results(
        {"01": 0.1, "02": 0.2, "04": 0.3},
        {"01": {"02": 0.05}, "02": {"03": 0.3}, "04": {}},
        excluded=frozenset({"03"}),
    )
    table = standings({"main": found})
    assert [(line.team, line.rank, line.note) for line in table.attack] == [
        ("02", 1, ""),
        ("01", None, "owns the table"),
        ("04", None, "missing"),
        ("03", None, "not ranked, did not attack the first-ranked table"),
    ]


def test_who_attacked_another_than_the_first_ranked_table_is_told_so_and_not_that_the_guess_is_missing() -> (
    None
):
    found = results(
        {"01": 0.1, "02": 0.2, "03": 0.3}, {"01": {"02": 0.05}, "02": {"03": 0.3}, "03": {}}
    )
    notes = {line.team: line.note for line in standings({"main": found}).attack}
    assert notes == {
        "02": "",
        "01": "owns the table",
        "03": "did not attack the first-ranked table",
    }
    assert translated(notes["03"], "ja") == "1 位の表を攻撃していない"


def test_what_is_shown_beside_a_score_stands_in_the_table_and_counts_for_nothing() -> None:
    """Two tables alike but for what their rows tell of buyers: the same rank."""
    credits = {table: {"03": Credit(0.3, 1, details={"reid": 0.3})} for table in ("01", "02")}
    shown = {"01": {"buyer": 1.0}, "02": {"buyer": 0.25}}
    results = RoundResults(credits, ("01", "02"), ("03",), {"01": 0.2, "02": 0.2}, beside=shown)
    read = attempt(read_matrix, "results.json", results_json(results))
    assert isinstance(read, Read)
    _, again = read.value
    assert again.beside == shown
    found = standings({"main": again})
    assert found.details["tables"]["02"] == {"U": 0.2, "reid": 0.3, "score": 0.25, "buyer": 0.25}
    assert {line.rank for line in found.anonymization} == {1}
