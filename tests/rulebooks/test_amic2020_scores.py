"""Scores and ranks of amic2020: the rules' own arithmetic, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo.contest import Credit, RoundResults, Standing, Standings
from kakurenbo.contest.bases import blind_membership
from kakurenbo.core import Problems, Source
from kakurenbo.core.errors import UsageError
from kakurenbo.methods.threats import MembershipGuess
from kakurenbo.rulebooks.amic2020 import Amic2020, Answer
from kakurenbo.rulebooks.amic2020.scores import points


def matrix(text: str) -> RoundResults:
    read = attempt(Amic2020().read_published, Source("matrix.csv", text.encode()))
    assert not isinstance(read, Problems), read
    return read.value


def refused(text: str) -> Problems:
    read = attempt(Amic2020().read_published, Source("matrix.csv", text.encode()))
    assert isinstance(read, Problems)
    return read


def standings(rounds: dict[str, RoundResults]) -> Standings:
    return Amic2020().standings(rounds)


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
    rounded = {
        line.team: line.shown
        for line in Amic2020(rounding="round").standings({"main": three}).attack
    }
    assert first["02"] == "50"  # on 01 and 03: (10 + 0) / 200
    assert points(Fraction(2, 300)) == "6"
    assert points(Fraction(2, 300), "round") == "7"
    assert rounded["02"] == "50"


def test_equal_scores_share_a_rank() -> None:
    tied = matrix("attacker,01,02,03\n01,,20,30\n02,20,,10\n03,10,20,\n")
    assert [(line.team, line.rank) for line in standings({"pre": tied}).anonymization] == [
        ("01", 1),
        ("02", 1),
        ("03", 3),
    ]


def test_blanks_are_missing_guesses_and_count_0() -> None:
    results = matrix("attacker,01,02,03,04\n05,30,,30,30\n06,,1,,\n")
    # first three: 02 (1 - .01), then 01, 03, 04 tie at .7 and go by number: 05 has 0 + 30 + 30
    assert {line.team: line.score for line in standings({"pre": results}).attack}["05"] == Fraction(
        60, 300
    )


def test_a_release_that_nobody_attacked_scores_1() -> None:
    results = matrix("attacker,01,02,03,04\n05,30,,30,30\n")
    assert dict(results.out) == {}
    found = standings({"pre": results})
    assert lines(found.anonymization)[0] == ("02", "1000", 1)
    assert found.attack[0].score == Fraction(60, 300), (
        "02 is among the first three, and 05 has nothing there"
    )
    left_out = standings({"pre": results.without(["02"])})
    assert left_out.attack[0].score == Fraction(90, 300), (
        "without 02 the first three are 01, 03 and 04"
    )


def test_the_sample_attack_is_shown_but_neither_ranked_nor_counted() -> None:
    results = matrix(FOUR + "attack.py,99,99,99,99\n")
    found = standings({"pre": results})
    assert found.anonymization[0].shown == "900"
    sample = found.attack[-1]
    assert (sample.team, sample.rank, sample.note, sample.shown) == (
        "attack.py",
        None,
        "not ranked",
        "990",
    )
    assert "attack.py" not in {line.team for line in found.overall}


def test_disqualified_and_missing_anonymizers_stand_behind_all_others_without_a_rank() -> None:
    results = matrix("attacker,01,02,03,04\n01,,100,,5\n02,50,,,5\n03,50,100,,5\n04,50,100,,\n")
    results = results.without(["03"], "missing").without(["04"])
    found = standings({"pre": results})
    assert [(line.team, line.shown, line.rank, line.note) for line in found.anonymization] == [
        ("01", "500", 1, ""),
        ("02", "0", 2, ""),
        ("03", "", None, "missing"),
        ("04", "", None, "disqualified"),
    ]
    assert [(line.team, line.rank) for line in found.overall] == [
        ("01", 1),
        ("02", 2),
        ("03", None),
        ("04", None),
    ]
    attack = {line.team: (line.score, line.rank) for line in found.attack}
    assert attack["03"] == (Fraction(150, 200), 2), "only 01 and 02 are there to be attacked"
    assert attack["04"] == (Fraction(150, 200), 2), "as attackers they are ranked like anybody"


def test_nobody_gets_a_rank_where_all_are_disqualified() -> None:
    found = standings({"main": matrix(FOUR).without(["01", "02", "03", "04"])})
    assert {line.rank for line in (*found.anonymization, *found.overall)} == {None}
    assert {line.score for line in found.attack} == {Fraction(0)}, "nothing is left to be attacked"
    assert found.awards == {"anonymization": (), "attack": ("01", "02", "03", "04"), "overall": ()}


def test_the_first_three_of_each_ranking_are_awarded_never_the_disqualified() -> None:
    found = standings({"main": matrix(FOUR)})
    assert found.awards == {
        "anonymization": ("01", "02", "03"),
        "attack": ("01", "02", "03"),
        "overall": ("01", "02", "03"),
    }
    found = standings({"main": matrix(FOUR).without(["01"])})
    assert found.awards["anonymization"] == ("02", "03", "04")
    assert "01" in found.awards["attack"]
    assert "01" not in found.awards["overall"]


def test_the_organizers_own_release_can_be_attacked_and_is_shown_but_not_ranked_nor_among_the_first_three() -> (
    None
):
    # 09 only anonymizes and would be first; 01 to 04 are attacked on the others as if it were not there.
    own = matrix(
        FOUR.replace(",04\n", ",04,09\n").replace(",40\n", ",40,1\n").replace("30,\n", "30,,1\n")
    )
    found = standings({"pre": own.excluding(["09"])})
    without = standings({"pre": matrix(FOUR)})
    assert found.attack == without.attack
    assert found.overall[:-1] == without.overall
    assert found.overall[-1] == Standing("09", None, None, "not ranked"), (
        "shown below, without a place to make a score of"
    )
    assert found.awards == without.awards
    assert found.anonymization[:-1] == without.anonymization
    last = found.anonymization[-1]
    assert (last.team, last.shown, last.rank, last.note) == ("09", "990", None, "not ranked")


def test_an_excluded_team_that_attacks_does_not_count_against_anybody() -> None:
    found = standings({"pre": matrix(FOUR + "09,99,99,99,99\n").excluding(["09"])})
    assert lines(found.anonymization) == lines(standings({"pre": matrix(FOUR)}).anonymization)
    assert (found.attack[-1].team, found.attack[-1].rank) == ("09", None)


def test_of_who_only_attacks_no_release_is_missing() -> None:
    found = standings({"pre": matrix("attacker,01\n02,10\n")})
    assert {line.team: (line.rank, line.note) for line in found.anonymization} == {
        "01": (1, ""),
        "02": (None, "only attacks"),
    }
    attack = {line.team: (line.rank, line.note) for line in found.attack}
    assert attack == {"02": (1, ""), "01": (2, "does not attack")}, (
        "ranked by the rules, but nobody takes it for a feat"
    )


def test_preliminary_and_main_round_weigh_1_to_9() -> None:
    pre = matrix("attacker,01,02\n01,,50\n02,10,\n")
    main = matrix("attacker,01,02\n01,,20\n02,40,\n")
    found = standings({"pre": pre, "main": main})
    # 01: .1 * .9 + .9 * .6 = .63; 02: .1 * .5 + .9 * .8 = .77
    assert lines(found.anonymization) == [("02", "770", 1), ("01", "630", 2)]
    # attack: 01 hits 50 and 20, 02 hits 10 and 40: .05 + .18 = .23; .01 + .36 = .37
    assert lines(found.attack) == [("02", "370", 1), ("01", "230", 2)]
    assert lines(found.overall) == [("02", "500", 1), ("01", "250", 2)]


def test_a_team_disqualified_in_one_round_has_0_there_and_keeps_the_other() -> None:
    pre = matrix("attacker,01,02\n01,,50\n02,10,\n")
    main = matrix("attacker,01,02\n01,,20\n02,,\n").without(["01"], "missing")
    found = standings({"pre": pre, "main": main}).anonymization
    assert [(line.team, line.shown, line.note) for line in found] == [
        ("02", "770", ""),
        ("01", "90", "missing in main"),
    ]


def test_who_was_disqualified_in_either_round_takes_no_award_but_for_attack_and_the_places_go_to_the_next() -> (
    None
):
    # 01 leads both rounds; out of pre, it has 0.9 x 900 = 810 points left, more than anybody else.
    table = standings({"pre": matrix(FOUR).without(["01"]), "main": matrix(FOUR)})
    assert (table.anonymization[0].team, table.anonymization[0].rank) == ("01", 1), (
        "points and ranks stay as they are"
    )
    assert table.anonymization[0].note == "disqualified in pre"
    assert table.awards["anonymization"] == ("02", "03", "04")
    assert "01" not in table.awards["overall"]
    assert len(table.awards["overall"]) == 3
    assert table.awards["attack"][0] == "01", "as an attacker it is awarded like anybody"


def test_who_was_only_missing_in_one_round_may_win() -> None:
    table = standings({"pre": matrix(FOUR).without(["01"], "missing"), "main": matrix(FOUR)})
    assert table.awards["anonymization"] == ("01", "02", "03")


def test_other_rounds_do_not_make_an_overall_table() -> None:
    one = matrix("attacker,01,02\n01,,50\n02,10,\n")
    with pytest.raises(UsageError, match="pre and main"):
        standings({"pre": one, "trial": one})


def test_column_1_and_row_01_are_one_team() -> None:
    results = matrix(",1,2\n01,,20\n02,10,\n")
    assert results.targets == ("01", "02") == results.attackers
    assert lines(standings({"pre": results}).anonymization) == [("01", "900", 1), ("02", "800", 2)]
    assert "named 2 times" in str(refused(",1,01\n02,1,2\n")[0])


def test_a_matrix_with_windows_line_ends_and_byte_order_mark_is_read_with_a_notice() -> None:
    read = attempt(
        Amic2020().read_published,
        Source("matrix.csv", ("\ufeff" + FOUR).replace("\n", "\r\n").encode()),
    )
    assert not isinstance(read, Problems)
    assert read.value == matrix(FOUR)
    assert [notice.code for notice in read.notices] == ["text.bom", "text.line_ends"]


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
        ("attacker,01\n02,NaN\n", "0 to 100"),
        ("attacker,01\n02,Infinity\n", "0 to 100"),
        ("attacker,01\n02,1e999999999\n", "0 to 100"),
        ("attacker,01\n02,1/2\n", "0 to 100"),
        ("attacker,01,01\n02,1,1\n", "named 2 times"),
        ("attacker,01,\n02,1,1\n", "named 1 times"),
        ("attacker,01\n02,1\n02,2\n", "named 2 times"),
        ("attacker,01\n02,1,2\n", "one cell each"),
        ("attacker\n02\n", "no matrix"),
        ("attacker,01\n", "no matrix"),
        ("", "empty"),
    ],
)
def test_a_matrix_that_makes_no_sense_is_refused(text: str, word: str) -> None:
    assert word in str(refused(text)[0])


def test_hits_are_the_guesses_that_are_in_the_sample() -> None:
    answer = Answer(np.arange(0, 1000), 10_000)
    credit = Amic2020().score_guess(answer, MembershipGuess(np.arange(950, 1050)))
    assert (credit.hits, credit.of, credit.accuracy) == (50, 100, 0.5)


def test_chance_is_10_of_100_with_the_hypergeometric_band() -> None:
    chance = blind_membership(100_000, 10_000, 100)
    assert chance.mean == pytest.approx(10)
    rng = np.random.default_rng(0)
    draws = rng.hypergeometric(10_000, 90_000, 100, 20_000)
    assert np.quantile(draws, [0.025, 0.975]).tolist() == [chance.low, chance.high]


def test_a_team_without_rank_still_shows_where_it_is_missing() -> None:
    pre = matrix("attacker,01,02\n01,,20\n02,10,\n").without(["02"], "missing").excluding(["02"])
    main = matrix("attacker,01,02\n01,,20\n02,10,\n").excluding(["02"])
    found = Amic2020().standings({"pre": pre, "main": main}).anonymization
    assert [(line.team, line.rank, line.note) for line in found] == [
        ("01", 1, ""),
        ("02", None, "not ranked, missing in pre"),
    ]
