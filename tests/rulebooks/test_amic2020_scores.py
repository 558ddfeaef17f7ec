"""Scores and ranks of amic2020: the rules' own arithmetic, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kakurenbo.contracts import Credit, RoundResults, Standing
from kakurenbo.errors import UsageError
from kakurenbo.rulebooks.amic2020 import Amic2020, Answer
from kakurenbo.rulebooks.amic2020.scores import blind_guessing, count_hits, points, read_results, standings
from kakurenbo.tables import Problems, Source


def matrix(text: str) -> RoundResults:
    results = read_results(Source("matrix.csv", text.encode()))
    assert isinstance(results, RoundResults), results
    return results


def refused(text: str) -> Problems:
    results = read_results(Source("matrix.csv", text.encode()))
    assert isinstance(results, Problems)
    return results


def lines(ranking: tuple[Standing, ...]) -> list[tuple[str, str, int | None]]:
    return [(line.team, line.shown, line.rank) for line in ranking]


FOUR = """,01,02,03,04
01,,20,30,40
02,10,,30,40
03,10,25,,40
04,10,25,30,
"""


def test_an_anonymizer_scores_1_minus_the_best_accuracy_against_it() -> None:
    assert lines(standings({"pre": matrix(FOUR)}).anonymization) == [
        ("01", "900", 1),
        ("02", "750", 2),
        ("03", "700", 3),
        ("04", "600", 4),
    ]


def test_an_attacker_scores_on_the_first_three_without_itself_and_then_on_the_fourth() -> None:
    # 01: on 02, 03, 04: (20 + 30 + 40) / 300; 04: on 01, 02, 03: (10 + 25 + 30) / 300; 02: (10 + 30 + 40); 03: (10 + 25 + 40)
    attack = standings({"pre": matrix(FOUR)}).attack
    assert {line.team: line.score for line in attack} == {
        "01": Fraction(90, 300),
        "02": Fraction(80, 300),
        "03": Fraction(75, 300),
        "04": Fraction(65, 300),
    }
    assert [line.rank for line in attack] == [1, 2, 3, 4]


def test_the_team_score_is_the_inverse_of_the_sum_of_both_ranks() -> None:
    assert lines(standings({"pre": matrix(FOUR)}).overall) == [
        ("01", "500", 1),
        ("02", "250", 2),
        ("03", "166", 3),
        ("04", "125", 4),
    ]


def test_the_rules_example_of_5th_and_3rd_place_gives_an_eighth() -> None:
    assert points(Fraction(1, 5 + 3)) == "125"


def test_shown_scores_are_cut_exactly_not_by_the_whim_of_floating_point() -> None:
    assert int((1 - 0.32) * 1000) == 679, "this is how a scorer changes a ranking"
    one = matrix("attacker,01,02\n01,,0\n02,32,\n")
    assert lines(standings({"pre": one}).anonymization) == [("02", "1000", 1), ("01", "680", 2)]


def test_a_flag_rounds_as_the_published_final_table_did() -> None:
    three = matrix("attacker,01,02,03\n01,,10,10\n02,10,,\n03,0,,\n")
    first = {line.team: line.shown for line in Amic2020().standings({"main": three}).attack}
    rounded = {line.team: line.shown for line in Amic2020(rounding="round").standings({"main": three}).attack}
    assert first["02"] == "50"  # on 01 and 03: (10 + 0) / 200
    assert points(Fraction(2, 300)) == "6"
    assert points(Fraction(2, 300), "round") == "7"
    assert rounded["02"] == "50"


def test_equal_scores_share_a_rank() -> None:
    tied = matrix("attacker,01,02,03\n01,,20,30\n02,20,,10\n03,10,20,\n")
    assert [(line.team, line.rank) for line in standings({"pre": tied}).anonymization] == [("01", 1), ("02", 1), ("03", 3)]


def test_blanks_are_missing_guesses_and_count_0() -> None:
    results = matrix("attacker,01,02,03,04\n05,30,,30,30\n")
    assert standings({"pre": results}).attack[0].score == Fraction(90, 300), (
        "02 has no guess and is missing, so 01, 03, 04 count"
    )
    results = matrix("attacker,01,02,03,04\n05,30,,30,30\n06,,1,,\n")
    # first three: 02 (1 - .01), then 01, 03, 04 tie at .7 and go by number: 05 has 0 + 30 + 30
    assert {line.team: line.score for line in standings({"pre": results}).attack}["05"] == Fraction(60, 300)


def test_the_sample_attack_is_shown_but_neither_ranked_nor_counted() -> None:
    results = matrix(FOUR + "attack.py,99,99,99,99\n")
    found = standings({"pre": results})
    assert found.anonymization[0].shown == "900"
    sample = found.attack[-1]
    assert (sample.team, sample.rank, sample.note, sample.shown) == ("attack.py", None, "not ranked", "990")
    assert "attack.py" not in {line.team for line in found.overall}


def test_disqualified_and_missing_anonymizers_rank_behind_all_others() -> None:
    text = "attacker,01,02,03,04\n01,,100,,5\n02,50,,,5\n03,50,100,,5\n04,50,100,,\n"
    results = matrix(text)
    assert dict(results.out) == {"03": "missing"}
    results = RoundResults(results.credits, results.anonymizers, results.attackers, out={**results.out, "04": "disqualified"})
    found = standings({"pre": results}).anonymization
    assert [(line.team, line.shown, line.rank, line.note) for line in found] == [
        ("01", "500", 1, ""),
        ("02", "0", 2, ""),
        ("03", "", 3, "missing"),
        ("04", "", 3, "disqualified"),
    ]
    attack = {line.team: line.score for line in standings({"pre": results}).attack}
    assert attack["03"] == Fraction(150, 200), "only 01 and 02 are there to be attacked"


def test_an_attacker_without_a_release_is_missing_as_an_anonymizer() -> None:
    found = standings({"pre": matrix("attacker,01\n02,10\n")})
    assert {line.team: line.note for line in found.anonymization} == {"01": "", "02": "missing"}
    assert {line.team: line.rank for line in found.attack} == {"02": 1, "01": 2}


def test_preliminary_and_main_round_weigh_1_to_9() -> None:
    pre = matrix("attacker,01,02\n01,,50\n02,10,\n")
    main = matrix("attacker,01,02\n01,,20\n02,40,\n")
    found = standings({"pre": pre, "main": main})
    # 01: .1 * .9 + .9 * .6 = .63; 02: .1 * .5 + .9 * .8 = .77
    assert lines(found.anonymization) == [("02", "770", 1), ("01", "630", 2)]
    # attack: 01 hits 50 and 20, 02 hits 10 and 40: .05 + .18 = .23; .01 + .36 = .37
    assert lines(found.attack) == [("02", "370", 1), ("01", "230", 2)]
    assert lines(found.overall) == [("02", "500", 1), ("01", "250", 2)]


def test_a_team_disqualified_in_one_round_keeps_the_other() -> None:
    pre = matrix("attacker,01,02\n01,,50\n02,10,\n")
    main = matrix("attacker,01,02\n01,,20\n02,,\n")
    found = standings({"pre": pre, "main": main}).anonymization
    assert [(line.team, line.shown, line.note) for line in found] == [("02", "770", ""), ("01", "90", "missing in main")]


def test_other_rounds_do_not_make_an_overall_table() -> None:
    one = matrix("attacker,01,02\n01,,50\n02,10,\n")
    with pytest.raises(UsageError, match="pre and main"):
        standings({"pre": one, "trial": one})


def test_a_matrix_may_hold_accuracies() -> None:
    results = matrix("attacker,01,02\n01,,0.29\n02,1,\n")
    assert results.credits["02"]["01"] == Credit(29, 100)
    assert results.credits["01"]["02"] == Credit(100, 100)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("attacker,01\n02,101\n", "0 to 100"),
        ("attacker,01\n02,-1\n", "0 to 100"),
        ("attacker,01\n02,ten\n", "0 to 100"),
        ("attacker,01\n02,0.295\n", "0 to 100"),
        ("attacker,01,01\n02,1,1\n", "named 2 times"),
        ("attacker,01\n02,1\n02,2\n", "named 2 times"),
        ("attacker,01\n02,1,2\n", "one cell each"),
        ("", "no matrix"),
        ("{}", "not a results file"),
    ],
)
def test_a_matrix_that_makes_no_sense_is_refused(text: str, word: str) -> None:
    assert word in str(refused(text)[0])


def test_results_survive_json() -> None:
    import json

    results = matrix(FOUR + "attack.py,9,9,9,9\n")
    again = read_results(Source("results.json", json.dumps(results.as_json()).encode()))
    assert again == results


def test_hits_are_the_guesses_that_are_in_the_sample() -> None:
    answer = Answer(np.arange(0, 1000), 10_000)
    credit = count_hits(answer, np.arange(950, 1050))
    assert (credit.hits, credit.of, credit.accuracy) == (50, 100, 0.5)


def test_chance_is_10_of_100_with_the_hypergeometric_band() -> None:
    chance = blind_guessing(100_000, 10_000)
    assert chance.mean == pytest.approx(10)
    rng = np.random.default_rng(0)
    draws = rng.hypergeometric(10_000, 90_000, 100, 20_000)
    assert np.quantile(draws, [0.025, 0.975]).tolist() == [chance.low, chance.high]
