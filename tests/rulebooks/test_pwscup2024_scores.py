"""Scores of pwscup2024: worked examples and the published main round."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.reading import Read, attempt

from kakurenbo.contest import Credit, RoundResults, Standings
from kakurenbo.core import Problems, Source
from kakurenbo.core.errors import UsageError
from kakurenbo.reports import read_results
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024
from kakurenbo.rulebooks.pwscup2024.scores import total_score

BOOK = Pwscup2024()


@pytest.mark.parametrize(
    ("anonymity", "utility", "total"),
    [
        (72, "72.2", "144.2"),
        (31, "91.02", "84.02"),
        (46, "29.38", "26.14"),
        (11, "70.27", "3.27"),
        (0, "40", "0"),
    ],
)
def test_total_is_a_plus_u_less_twice_what_either_falls_short_of_50(
    anonymity: int, utility: str, total: str
) -> None:
    assert total_score(Fraction(anonymity), Fraction(utility)) == Fraction(total)


def results(hits: dict[str, dict[str, int]], utility: dict[str, float]) -> RoundResults:
    credits = {
        target: {attacker: Credit(n, 100) for attacker, n in row.items()}
        for target, row in hits.items()
    }
    return RoundResults(credits, tuple(hits), tuple(hits), utility=utility)


def test_an_attacker_is_scored_on_the_five_best_and_its_own_entry_counts_100_less_its_anonymity() -> (
    None
):
    teams = ["01", "02", "03", "04", "05", "06"]
    hits = {target: {attacker: 10 for attacker in teams if attacker != target} for target in teams}
    hits["01"]["02"] = 30  # A of team 01 is 70: with the least total it is not among the five
    standings = BOOK.standings({"main": results(hits, dict.fromkeys(teams, 80.0))})
    attack = {line.team: line.score for line in standings.attack}
    assert attack["01"] == 50  # five targets
    assert (
        attack["02"] == 50
    )  # four targets and 100 - 90 for itself; its 30 hits on team 01 do not count
    assert [line.team for line in standings.anonymization] == ["02", "03", "04", "05", "06", "01"]


def test_overall_is_a_tenth_of_the_preliminary_and_nine_tenths_of_the_main_round() -> None:
    first = results({"01": {"02": 20}, "02": {"01": 10}}, {"01": 70.0, "02": 60.0})
    second = results({"01": {"02": 10}, "02": {"01": 30}}, {"01": 70.0, "02": 60.0})
    standings = BOOK.standings({"pre": first, "main": second})
    totals = {line.team: line.score for line in standings.overall}
    assert totals == {
        "01": Fraction(150, 10) + Fraction(9, 10) * 160,
        "02": Fraction(150, 10) + Fraction(9, 10) * 130,
    }
    assert {line.team: line.score for line in standings.attack}["02"] == Fraction(
        20 + 10, 10
    ) + Fraction(9 * (10 + 30), 10)


def test_the_published_main_round_comes_out_in_every_total_rank_and_attack_score(
    reference_data: Path,
) -> None:
    path = reference_data / "published" / "pwscup2024-main.csv"
    read = attempt(BOOK.read_published, Source.of(path))
    assert isinstance(read, Read), read
    standings = BOOK.standings({"main": read.value})
    published = {row["anonymizer"]: row for row in csv.DictReader(path.read_text().splitlines())}
    in_play = [line for line in standings.anonymization if line.team != "13"]
    assert {line.team: line.score for line in in_play} == {
        team: Fraction(row["published_total"]) for team, row in published.items() if team != "13"
    }
    assert {line.team: str(line.rank) for line in in_play} == {
        team: row["published_rank"] for team, row in published.items() if team != "13"
    }
    anonymity = {
        team: entry["anonymity"] for team, entry in standings.details["rounds"]["main"].items()
    }
    assert anonymity == {
        team: float(row["published_anonymity"]) for team, row in published.items() if team != "13"
    }
    attack = {line.team: line.score for line in standings.attack}
    assert {team: attack[team] for team in ("16", "20", "02", "01", "07")} == {
        "16": 168,
        "20": 164,
        "02": 137,
        "01": 119,
        "07": 117,
    }


def test_columns_may_hold_the_sum_of_both_hits(reference_data: Path) -> None:
    path = reference_data / "published" / "pwscup2024-main.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    teams = [row["anonymizer"] for row in rows]
    both = [[str(int(row[f"{team}i"]) + int(row[f"{team}d"])) for team in teams] for row in rows]
    table = [
        [row["anonymizer"], *hits, row["utility"]] for row, hits in zip(rows, both, strict=True)
    ]
    lines = [",".join(cells) for cells in (["anonymizer", *teams, "utility"], *table)]
    summed = attempt(BOOK.read_published, Source("summed.csv", "\n".join(lines).encode()))
    split = attempt(BOOK.read_published, Source.of(path))
    assert isinstance(summed, Read)
    assert isinstance(split, Read)
    assert BOOK.standings({"main": summed.value}) == BOOK.standings({"main": split.value})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("anonymizer,01i,01d,utility\n02,51,0,70\n", (2, "01i")),
        ("anonymizer,01i,01d,utility\n02,1.5,0,70\n", (2, "01i")),
        ("anonymizer,01i,01d,utility\n02,1,NaN,70\n", (2, "01d")),
        ("anonymizer,01i,01d,utility\n02,1,-1,70\n", (2, "01d")),
        ("anonymizer,01,utility\n02,101,70\n", (2, "01")),
        ("anonymizer,01,utility\n02,-,70\n", (2, "01")),
        ("anonymizer,01,utility\n02,100,100.5\n", (2, "utility")),
        ("anonymizer,01,utility\n02,100,-5\n", (2, "utility")),
        ("anonymizer,01,utility\n02,100,nan\n", (2, "utility")),
        ("anonymizer,01,utility\n02,100,inf\n", (2, "utility")),
        ("anonymizer,01,utility\n02,100,1e1\n", (2, "utility")),
        ("anonymizer,01,utility\n02,1\n", (2, None)),
        ("anonymizer,01,utility\nx,1,70\n", (2, "anonymizer")),
        ("anonymizer,01,utility\n02,1,70\n2,1,70\n", (3, "anonymizer")),
        ("anonymizer,01,01,utility\n02,1,1,70\n", (1, None)),
        ("anonymizer,01,1,utility\n02,1,1,70\n", (1, "1")),
        ("anonymizer,01i,utility\n02,1,70\n", (1, "01i")),
        ("anonymizer,01,01i,utility\n02,1,1,70\n", (1, "01i")),
        ("anonymizer,utility\n02,70\n", (1, None)),
        ("team,hits\n", (1, None)),
        ("", (None, None)),
        ("\0", (1, None)),
        ("{}", (1, None)),
    ],
)
def test_a_bad_table_is_refused_with_row_and_column(
    text: str, place: tuple[int | None, str | None]
) -> None:
    found = attempt(BOOK.read_published, Source("results.csv", text.encode()))
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].column) == place


def test_column_1_and_row_01_are_one_team() -> None:
    read = attempt(
        BOOK.read_published,
        Source("results.csv", b"anonymizer,1,2,utility\n01,9,20,70\n02,30,7,60\n"),
    )
    assert isinstance(read, Read), read
    assert read.value.targets == read.value.attackers == ("01", "02")
    assert {
        target: {a: c.hits for a, c in row.items()} for target, row in read.value.credits.items()
    } == {
        "01": {"02": 20},
        "02": {"01": 30},
    }


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault() -> None:
    read = attempt(
        BOOK.read_published,
        Source(
            "results.csv", b"\xef\xbb\xbfanonymizer,1,2,utility\r\n01,0,20,70\r\n02,30,0,60\r\n"
        ),
    )
    assert isinstance(read, Read), read
    assert [notice.code for notice in read.notices] == ["text.bom", "text.line_ends"]


@pytest.mark.parametrize(
    "content",
    [
        '{"credits": {"01": {"02": {"hits": 101, "of": 100}}}, "utility": {"01": 70}}',
        '{"credits": {"01": {"02": {"hits": NaN, "of": 100}}}, "utility": {"01": 70}}',
        '{"credits": {"01": {"02": {"hits": null, "of": 100}}}, "utility": {"01": 70}}',
        '{"credits": {"01": {"02": {"hits": 1, "of": 100}}}, "utility": {"01": -5}}',
        '{"credits": {"01": {"02": {"hits": 1, "of": 100}}}, "utility": {"01": 100.5}}',
        '{"credits": {"01": {"02": {"hits": 1, "of": 100}}}, "utility": {"01": Infinity}}',
        '{"credits": {"01": {"02": {"hits": 1, "of": 100}}}}',
        "{}",
    ],
)
def test_results_in_json_that_no_round_can_give_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    assert isinstance(attempt(read_results, BOOK, tmp_path / "results.json"), Problems)


# -- who is ranked -------------------------------------------------------------------------------------------------------


def lines(standings: Standings, ranking: str) -> list[tuple[str, int | None, str]]:
    return [(line.team, line.rank, line.note) for line in getattr(standings, ranking)]


def even(teams: list[str], hits: int = 10) -> RoundResults:
    """Everybody attacks everybody with the same success; utility falls from team to team."""
    credits = {
        target: {attacker: hits for attacker in teams if attacker != target} for target in teams
    }
    return results(credits, {team: 90.0 - index for index, team in enumerate(teams)})


def test_a_team_whose_release_is_out_stands_behind_all_others_without_rank_or_award() -> None:
    teams = ["01", "02", "03", "04"]
    standings = BOOK.standings({"main": even(teams).without(["01"])})
    assert lines(standings, "anonymization") == [
        ("02", 1, ""),
        ("03", 2, ""),
        ("04", 3, ""),
        ("01", None, "disqualified"),
    ]
    assert standings.overall == standings.anonymization
    assert standings.awards["total"] == ("02", "03", "04")
    assert {line.team for line in standings.attack if line.rank} == set(teams), (
        "it attacked all the same"
    )


def test_nobody_is_first_when_all_fail() -> None:
    standings = BOOK.standings({"main": even(["01", "02"]).without(["01", "02"])})
    assert [line.rank for line in standings.anonymization] == [None, None]
    assert standings.awards["total"] == ()


def test_the_organizers_own_team_is_shown_without_rank_and_its_attacks_cost_nobody_anonymity() -> (
    None
):
    teams = ["01", "02", "03", "04", "05", "06"]
    played = even(teams)
    credits = {
        target: {**row, **({"01": Credit(80, 100)} if "01" in row else {})}
        for target, row in played.credits.items()
    }
    standings = BOOK.standings({"main": replace(played, credits=credits).excluding(["01"])})
    assert lines(standings, "anonymization")[-1] == ("01", None, "not ranked")
    assert lines(standings, "attack")[-1] == ("01", None, "not ranked")
    assert standings.awards == {
        "total": ("02", "03", "04"),
        "attack": ("02", "03", "04", "05", "06"),
    }
    anonymity = {
        team: entry["anonymity"] for team, entry in standings.details["rounds"]["main"].items()
    }
    assert set(anonymity.values()) == {90.0}
    assert {line.score for line in standings.attack if line.rank} == {Fraction(50)}, (
        "the five are those that are ranked"
    )


def test_the_sample_attack_is_shown_and_not_counted_once_for_both_rounds() -> None:
    played = even(["01", "02"])
    credits = {
        target: {**row, "sample attack": Credit(99, 100)} for target, row in played.credits.items()
    }
    both = replace(
        played,
        credits=credits,
        attackers=(*played.attackers, "sample attack"),
        unranked=frozenset(["sample attack"]),
    )
    standings = BOOK.standings({"pre": both, "main": both})
    assert lines(standings, "attack") == [
        ("01", 1, ""),
        ("02", 1, ""),
        ("sample attack", None, "not ranked"),
    ]
    assert standings.attack[-1].score == 198
    assert standings.anonymization[0].score == 90 + 90


def test_a_team_that_hands_in_no_guesses_has_no_attack_score() -> None:
    played = replace(even(["01", "02"]), attackers=("01",))
    assert lines(BOOK.standings({"main": played}), "attack") == [
        ("01", 1, ""),
        ("02", None, "does not attack"),
    ]


def test_a_round_without_a_release_counts_0_and_a_disqualification_in_any_round_bars_from_the_total() -> (
    None
):
    teams = ["01", "02", "03"]
    pre, main = even(teams), even(teams)
    missing = BOOK.standings({"pre": pre.without(["01"], "missing"), "main": main})
    assert {line.team: line.score for line in missing.overall}["01"] == Fraction(9, 10) * 180
    assert [line.note for line in missing.overall if line.team == "01"] == ["missing in pre"]
    barred = BOOK.standings({"pre": pre, "main": main.without(["01"])})
    assert lines(barred, "overall")[-1] == ("01", None, "disqualified in main")
    assert barred.awards["total"] == ("02", "03")


def test_one_round_is_ranked_alone_and_two_are_pre_and_main() -> None:
    with pytest.raises(UsageError, match="pre and main"):
        BOOK.standings({"main": even(["01"]), "final": even(["01"])})
