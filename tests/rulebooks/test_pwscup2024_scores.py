"""Scores of pwscup2024: worked examples and the published main round."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.contracts import Credit, RoundResults
from kakurenbo.rulebooks.pwscup2024 import Answer, Pwscup2024
from kakurenbo.rulebooks.pwscup2024.scores import total_score
from kakurenbo.tables import Problems, Source

BOOK = Pwscup2024()


@pytest.mark.parametrize(
    ("anonymity", "utility", "total"),
    [(72, "72.2", "144.2"), (31, "91.02", "84.02"), (46, "29.38", "26.14"), (11, "70.27", "3.27"), (0, "40", "0")],
)
def test_total_is_a_plus_u_less_twice_what_either_falls_short_of_50(anonymity: int, utility: str, total: str) -> None:
    assert total_score(Fraction(anonymity), Fraction(utility)) == Fraction(total)


def test_hits_are_equal_cells_of_both_columns() -> None:
    answer = Answer(np.array([1, 0, 2]), np.array([5, 0, 3]))
    credit = BOOK.credit(answer, RatingsGuess(np.array([1, 2, 2]), np.array([5, 0, 0])))
    assert (credit.hits, credit.of) == (4, 6)
    assert credit.details == {"identification": 2, "reconstruction": 2}


def results(hits: dict[str, dict[str, int]], utility: dict[str, float]) -> RoundResults:
    credits = {target: {attacker: Credit(n, 100) for attacker, n in row.items()} for target, row in hits.items()}
    return RoundResults(credits, tuple(hits), tuple(hits), utility=utility)


def test_an_attacker_is_scored_on_the_five_best_and_its_own_entry_counts_100_less_its_anonymity() -> None:
    teams = ["01", "02", "03", "04", "05", "06"]
    hits = {target: {attacker: 10 for attacker in teams if attacker != target} for target in teams}
    hits["01"]["02"] = 30  # A of team 01 is 70: with the least total it is not among the five
    standings = BOOK.standings({"main": results(hits, dict.fromkeys(teams, 80.0))})
    attack = {line.team: line.score for line in standings.attack}
    assert attack["01"] == 50  # five targets
    assert attack["02"] == 50  # four targets and 100 - 90 for itself; its 30 hits on team 01 do not count
    assert [line.team for line in standings.anonymization] == ["02", "03", "04", "05", "06", "01"]


def test_overall_is_a_tenth_of_the_preliminary_and_nine_tenths_of_the_main_round() -> None:
    first = results({"01": {"02": 20}, "02": {"01": 10}}, {"01": 70.0, "02": 60.0})
    second = results({"01": {"02": 10}, "02": {"01": 30}}, {"01": 70.0, "02": 60.0})
    standings = BOOK.standings({"pre": first, "main": second})
    totals = {line.team: line.score for line in standings.overall}
    assert totals == {"01": Fraction(150, 10) + Fraction(9, 10) * 160, "02": Fraction(150, 10) + Fraction(9, 10) * 130}
    assert {line.team: line.score for line in standings.attack}["02"] == Fraction(20 + 10, 10) + Fraction(9 * (10 + 30), 10)


def test_the_published_main_round_comes_out_in_every_total_rank_and_attack_score(reference_data: Path) -> None:
    path = reference_data / "published" / "pwscup2024-main.csv"
    read = BOOK.read_results(Source.of(path))
    assert not isinstance(read, Problems), read
    standings = BOOK.standings({"main": read})
    published = {row["anonymizer"]: row for row in csv.DictReader(path.read_text().splitlines())}
    in_play = [line for line in standings.anonymization if line.team != "13"]
    assert {line.team: line.score for line in in_play} == {
        team: Fraction(row["published_total"]) for team, row in published.items() if team != "13"
    }
    assert {line.team: str(line.rank) for line in in_play} == {
        team: row["published_rank"] for team, row in published.items() if team != "13"
    }
    anonymity = {team: entry["anonymity"] for team, entry in standings.details["rounds"]["main"].items()}
    assert anonymity == {team: float(row["published_anonymity"]) for team, row in published.items() if team != "13"}
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
    table = [[row["anonymizer"], *hits, row["utility"]] for row, hits in zip(rows, both, strict=True)]
    lines = [",".join(cells) for cells in (["anonymizer", *teams, "utility"], *table)]
    summed = BOOK.read_results(Source("summed.csv", "\n".join(lines).encode()))
    split = BOOK.read_results(Source.of(path))
    assert not isinstance(summed, Problems)
    assert not isinstance(split, Problems)
    assert BOOK.standings({"main": summed}).as_json() == BOOK.standings({"main": split}).as_json()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("anonymizer,01i,01d,utility\n02,51,0,70\n", (2, "01i")),
        ("anonymizer,01i,01d,utility\n02,1.5,0,70\n", (2, "01i")),
        ("anonymizer,01,utility\n02,101,70\n", (2, "01")),
        ("anonymizer,01,utility\n02,100,100.5\n", (2, "utility")),
        ("anonymizer,01,utility\n02,1\n", (2, None)),
        ("anonymizer,01,01,utility\n02,1,1,70\n", (1, None)),
        ("team,hits\n", (1, None)),
        ("", (1, None)),
        ("{}", (None, None)),
        ('{"anonymizers": ["01"], "attackers": [], "credits": {}}', (None, None)),
    ],
)
def test_a_bad_results_file_is_refused_with_row_and_column(text: str, place: tuple[int | None, str | None]) -> None:
    found = BOOK.read_results(Source("results.csv", text.encode()))
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].column) == place
