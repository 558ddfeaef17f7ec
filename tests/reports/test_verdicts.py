"""Verdicts on releases and tournaments, and ranks that noise could reverse: small enough to check by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

from kakurenbo.contest import (
    AnyRulebook,
    Chance,
    Credit,
    Figure,
    Measurement,
    RoundResults,
    Standing,
    Standings,
    Unit,
    rank_scores,
)
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.reports import Document, PlayerEntry, document_without, make_document
from kakurenbo.reports.rankings import combined

PLAYERS = [
    PlayerEntry("01", "plain", "rr:p=0.9", "nearest"),
    PlayerEntry("02", "careful", "rr:p=0.1", "tracing"),
    PlayerEntry("03", "late", "", "blind"),
]
CHANCE = Chance(1, 0, 3)


def rulebook(**more: object) -> AnyRulebook:
    standings = Standings((), (), ())
    known = {
        "name": "toy",
        "title": "a toy",
        "version": "1",
        "rounds": ("only",),
        "utility_score": "",
        "figures": {},
        "only_shown": frozenset(),
    }
    rules = SimpleNamespace(**{**known, "standings": lambda _: standings, **more})
    rules.defaulting = lambda _: rules
    return cast(AnyRulebook, rules)


def played(
    hits: Mapping[str, Mapping[str, int]],
    records: Sequence[ReleaseRecord],
    constant: float | None = None,
    excluded: frozenset[str] = frozenset(),
    manifest: Mapping[str, object] | None = None,
    **more: object,
) -> Document:
    credits = {
        target: {name: Credit(found, 10, CHANCE, constant) for name, found in row.items()}
        for target, row in hits.items()
    }
    attackers = tuple(dict.fromkeys(name for row in hits.values() for name in row))
    results = RoundResults(
        credits,
        tuple(hits),
        attackers,
        unranked=frozenset({"sample"} & set(attackers)),
        excluded=excluded,
    )
    return make_document(
        rulebook(**more),
        {"only": [results]},
        {"only": [records]},
        players=PLAYERS,
        manifest=manifest,
    )


def record(
    target: str, state: str = PUBLISHED, *measurements: Measurement, cause: str = ""
) -> ReleaseRecord:
    return ReleaseRecord(target, target, state, cause, measurements)


PASSES = Measurement("histogram", 0.97, minimum=0.95, passes=True)
FAILS = Measurement("histogram", 0.94996, minimum=0.95, passes=False)


def test_a_verdict_says_how_many_times_chance_the_best_attack_found_and_whether_the_thresholds_hold() -> (
    None
):
    beyond = (
        played({"01": {"02": 6, "03": 1}}, [record("01", PUBLISHED, PASSES)])
        .rounds[0]
        .releases["01"]
        .verdicts
    )
    assert beyond == {
        "en": "Found 6.0 times as often as by chance by 02 with `tracing` (60.0 %; chance 10.0 %); passes all thresholds.",
        "ja": "02（`tracing`）に偶然の6.0倍見破られた（正答率60.0 %、偶然は10.0 %）。すべてのしきい値を満たす。",
    }


def test_a_find_within_the_band_of_blind_guessing_is_no_find() -> None:
    verdict = played({"01": {"02": 2}}, [record("01")]).rounds[0].releases["01"].verdicts["en"]
    assert (
        verdict
        == "Found no more often than by chance (best attack: 02 with `tracing`, 20.0 %; chance 10.0 %)."
    )


def test_a_release_below_a_threshold_says_which_one_it_misses_and_by_how_much() -> None:
    document = played(
        {"01": {"02": 6}},
        [record("01", "disqualified", FAILS)],
        figures={"histogram": Figure(Unit.SIMILARITY)},
    )
    verdict = document.rounds[0].releases["01"].verdicts["en"]
    assert verdict.endswith("; below threshold: histogram is 0.94996, must be ≥ 0.95000."), (
        "rounding does not lift it over"
    )
    assert (
        "0 of 1 release passed the thresholds; below threshold: 01 with `rr:p=0.9` by histogram."
        in document.verdicts["en"]
    )


def test_disqualified_is_said_of_a_decision_of_the_organizers_alone() -> None:
    records = [record("01", "disqualified", FAILS), record("02", PUBLISHED, PASSES), record("03")]
    document = played({"01": {"02": 6}, "02": {"01": 2}, "03": {}}, records)
    taken_out = document_without(rulebook(), document, ["02"]).rounds[0].releases
    assert [taken_out[name].standing for name in ("01", "02")] == [
        "below_threshold",
        "disqualified",
    ]
    assert "disqualified" not in taken_out["01"].verdicts["en"]
    assert taken_out["02"].verdicts["en"].endswith("; disqualified.")
    assert taken_out["02"].verdicts["ja"].endswith("。失格。")
    by_name = record("01", "disqualified", FAILS, cause="copied from 02")
    told = played({"01": {"02": 6}}, [by_name]).rounds[0].releases["01"].verdicts["en"]
    assert told.endswith("; disqualified: copied from 02.")


def test_the_constant_answer_stands_beside_chance_under_its_general_name() -> None:
    document = played({"01": {"02": 6, "03": 2}}, [record("01")], constant=4)
    assert "; a constant answer earns 40.0 %" in document.rounds[0].releases["01"].verdicts["en"]
    assert (
        "1 of 2 attacks earned no more than a constant answer earns on the same release."
        in document.verdicts["en"]
    )
    assert document.attackers["02"].constant == 0.4


def test_a_rulebook_says_in_its_own_words_what_its_constant_answer_is() -> None:
    figures = {"constant": Figure(code="pwscup2024.figure.constant")}
    document = played({"01": {"02": 6, "03": 2}}, [record("01")], constant=4, figures=figures)
    verdicts = document.rounds[0].releases["01"].verdicts
    assert (
        "; always 0 earns 40.0 %" in verdicts["en"],
        "「常に0」の正答率は40.0 %" in verdicts["ja"],
    ) == (True, True)
    assert (
        "1 of 2 attacks earned no more than always 0 earns on the same release."
        in document.verdicts["en"]
    )
    assert (
        "2件の攻撃のうち1は、同じ匿名加工データに対する「常に0」の正答率を超えなかった。"
        in document.verdicts["ja"]
    )


def test_chance_and_the_constant_answer_beside_an_attacker_are_those_on_the_releases_it_attacked() -> (
    None
):
    # The constant answer earns 4 of 10 on 01 and 2 on 02, blind guessing 1 and 3: nobody attacks their own.
    credits = {
        "01": {"02": Credit(5, 10, Chance(1, 0, 3), 4), "03": Credit(3, 10, Chance(1, 0, 3), 4)},
        "02": {"01": Credit(3, 10, Chance(3, 1, 5), 2), "03": Credit(3, 10, Chance(3, 1, 5), 2)},
    }
    results = RoundResults(credits, ("01", "02"), ("01", "02", "03"))
    document = make_document(
        rulebook(), {"only": [results]}, {"only": [[record("01"), record("02")]]}, players=PLAYERS
    )
    for attackers in (document.attackers, document.rounds[0].attackers):
        found = {name: (one.chance, one.constant) for name, one in attackers.items()}
        assert found == {
            "01": (0.3, 0.2),
            "02": (0.1, 0.4),
            "03": (pytest.approx(0.2), pytest.approx(0.3)),
        }
    # 3 of 10 are less than always 0 earns on 01, though not less than it earns on average.
    assert lessons(document, "on the same release") == [
        "1 of 4 attacks earned no more than a constant answer earns on the same release."
    ]


def test_over_repeats_a_verdict_says_in_in_how_many_a_release_was_below_threshold_gives_the_mean_of_what_failed() -> (
    None
):
    # 0.97, 0.90 and 0.98 have the mean 0.95, half 4.303 * 0.0436 / sqrt(3) = 0.108, and a similarity is 1 at most.
    values = (0.97, 0.90, 0.98)
    measured = [
        Measurement("histogram", value, minimum=0.95, passes=value >= 0.95, limit={"by": value})
        for value in values
    ]
    states = (PUBLISHED, "disqualified", PUBLISHED)
    records = [[record("01", state, one)] for state, one in zip(states, measured, strict=True)]
    results = played({"01": {"02": 6}}, []).rounds[0].repeats[0]
    figures = {"histogram": Figure(Unit.SIMILARITY, 1)}
    document = make_document(
        rulebook(figures=figures), {"only": [results] * 3}, {"only": records}, players=PLAYERS
    )
    release = document.rounds[0].releases["01"]
    assert release.verdicts["en"].endswith(
        "; below threshold in 1 of 3 repeats: histogram 0.95 (0.84–1.00), must be ≥ 0.950."
    )
    assert release.verdicts["ja"].endswith(
        "。3回の反復のうち1回でしきい値未満：histogramは平均0.95（0.84～1.00）（しきい値は≥ 0.950）。"
    )
    assert lessons(document, "thresholds") == [
        "0 of 1 release passed the thresholds; below threshold: 01 with `rr:p=0.9` by histogram in 1 of 3 repeats."
    ]
    assert (release.in_repeats, release.of_repeats, release.told_repeat) == (1, 3, 1)


def test_a_measure_that_is_infinite_in_any_repeat_is_shown_as_infinite_and_has_no_interval() -> (
    None
):
    records = [[record("01", PUBLISHED, Measurement("vcm", value))] for value in (2.0, "inf", 3.0)]
    results = played({"01": {"02": 6}}, []).rounds[0].repeats[0]
    document = make_document(
        rulebook(), {"only": [results] * 3}, {"only": records}, players=PLAYERS
    )
    assert document.rounds[0].releases["01"].measurements[0].value == "inf"
    assert not document.rounds[0].releases["01"].estimates


def test_releases_that_hid_equally_well_are_all_named() -> None:
    hits = {"01": {"02": 4}, "02": {"01": 9}, "03": {"01": 4}}
    document = played(hits, [record(target) for target in hits])
    assert lessons(document, "hid best") == [
        "01 with `rr:p=0.9`, 03 hid best of 3 releases in play, all alike: 40.0 % found (chance 10.0 %)."
    ]
    assert lessons(document, "最もよく隠れた", "ja")


def test_a_line_without_a_score_says_how_many_repeats_there_were() -> None:
    one = Standings(rank_scores({"a": Fraction(1), "b": Fraction(2)}), (), ())
    none = Standings(rank_scores({"a": Fraction(1), "b": None}), (), ())
    lines = combined([one, none, one])[0]["anonymization"].lines
    assert [(line.team, line.score, line.n) for line in lines] == [("a", 1, 3), ("b", None, 3)]


def test_a_score_says_its_direction_and_what_it_is_out_of() -> None:
    measured = Measurement("U", 0.517, higher_is_better=False)
    figures = {"U": Figure(Unit.DISTANCE, 1)}
    verdict = played(
        {"01": {}}, [record("01", PUBLISHED, measured)], utility_score="U", figures=figures
    )
    found = verdict.rounds[0].releases["01"].verdicts
    assert found["en"] == "Attacked by nobody; U is 0.517 of 1 (lower is better)."


def test_a_tournament_says_what_it_taught() -> None:
    hits = {"01": {"02": 9, "03": 1}, "02": {"01": 5, "03": 2}}
    document = played(hits, [record("01", PUBLISHED, PASSES), record("02", PUBLISHED, PASSES)])
    assert document.verdicts["en"] == (
        "02 with `rr:p=0.1` hid best of 2 releases in play: "
        "its best attack, 01 with `nearest`, found 50.0 %, 5.0 times chance.",
        "01 with `rr:p=0.9` hid least: 02 with `tracing` found 90.0 %.",
        "The strongest attacker on all releases was 02 with `tracing`: 90.0 % on average, 9.0 times chance.",
        "All of 2 releases passed the thresholds.",
    )
    assert len(document.verdicts["ja"]) == 4
    assert not any(
        re.search(r"\{|verdict\.|lesson\.", text)
        for lessons in document.verdicts.values()
        for text in lessons
    )


def lessons(document: Document, about: str, language: str = "en") -> list[str]:
    return [lesson for lesson in document.verdicts[language] if about in lesson]


def test_only_releases_that_were_measured_are_counted_against_the_thresholds() -> None:
    # Of three teams one passes, one handed in nothing and one was refused: nobody missed a threshold.
    records = [
        record("01", PUBLISHED, PASSES),
        record("02", "missing"),
        record("03", "refused", cause="no header"),
    ]
    document = played({"01": {"02": 6}}, records)
    assert (document.rounds[0].passing, document.rounds[0].judged) == (1, 1)
    assert lessons(document, "thresholds") == ["All of 1 release passed the thresholds."]
    assert lessons(document, "handed in") == [
        "Nothing was handed in by 02 with `rr:p=0.1`; refused: 03."
    ]
    assert lessons(document, "未提出", "ja") == ["02（`rr:p=0.1`）は未提出。受理されず：03。"]


def test_those_who_missed_a_threshold_are_named_and_the_others_are_not_counted_among_them() -> None:
    records = [
        record("01", PUBLISHED, PASSES),
        record("02", "disqualified", FAILS),
        record("03", "missing"),
    ]
    document = played({"01": {"02": 6}}, records)
    (told,) = lessons(document, "thresholds")
    assert (
        told
        == "1 of 2 releases passed the thresholds; below threshold: 02 with `rr:p=0.1` by histogram."
    )
    assert lessons(document, "しきい値未満", "ja") == [
        "2件の匿名加工データのうち1がしきい値を満たした。しきい値未満：02（`rr:p=0.1`）（histogram）。"
    ]


def test_without_thresholds_nothing_is_said_of_them() -> None:
    plain = Measurement("U", 0.5)
    for records in (
        [record("01", PUBLISHED, plain), record("02", "refused")],
        [record("01", "missing"), record("02", "failed")],
    ):
        document = played({}, records)
        assert document.rounds[0].judged == 0
        assert not lessons(document, "threshold")
        assert not lessons(document, "しきい値", "ja")


def test_an_unranked_team_that_handed_in_nothing_is_not_missed() -> None:
    document = played(
        {"01": {"02": 6}}, [record("01"), record("03", "missing")], excluded=frozenset({"03"})
    )
    assert not lessons(document, "handed in")


def test_attackers_are_compared_over_all_releases_they_could_attack() -> None:
    # 03 found 9 of 10 in one of the three releases, (0.9 + 0 + 0) / 3; 01 found 6 and 6 in both that are not its own.
    hits = {"01": {"03": 9}, "02": {"01": 6}, "04": {"01": 6}}
    document = played(hits, [record(target) for target in hits])
    entry = document.rounds[0]
    assert entry.attackers["03"].accuracy == pytest.approx(0.3)
    assert entry.attackers["01"].accuracy == pytest.approx(0.6)
    assert document.attackers["03"].accuracy == pytest.approx(0.3)
    (told,) = lessons(document, "strongest")
    assert (
        told
        == "The strongest attacker on all releases was 01 with `nearest`: 60.0 % on average, 6.0 times chance."
    )


def test_a_guess_that_is_missing_in_one_repeat_counts_0_there() -> None:
    both = [
        played({"01": {"02": found}, "02": {"01": 1}}, []).rounds[0].repeats[0] for found in (8, 4)
    ]
    none = replace(both[0], credits={"01": {}, "02": both[0].credits["02"]})
    records = [record("01"), record("02")]
    document = make_document(
        rulebook(), {"only": [*both, none]}, {"only": [records] * 3}, players=PLAYERS
    )
    assert document.attackers["02"].accuracy == pytest.approx((0.8 + 0.4 + 0) / 3)


def test_who_attacks_nothing_earns_0_and_who_is_not_ranked_and_attacks_nothing_has_no_mean() -> (
    None
):
    results = played({"01": {"02": 6}}, [], excluded=frozenset({"04"})).rounds[0].repeats[0]
    results = replace(results, attackers=("02", "03", "04"))
    document = make_document(
        rulebook(), {"only": [results]}, {"only": [[record("01")]]}, players=PLAYERS
    )
    assert {name: entry.accuracy for name, entry in document.attackers.items()} == {
        "02": 0.6,
        "03": 0,
        "04": None,
    }


def test_neither_the_strongest_attacker_nor_the_best_release_is_that_of_an_unranked_team() -> None:
    hits = {"01": {"02": 5, "03": 9}, "02": {"01": 4, "03": 9}, "03": {"01": 0, "02": 0}}
    document = played(hits, [record(target) for target in hits], excluded=frozenset({"03"}))
    assert [told.split(":")[0] for told in lessons(document, "strongest")] == [
        "The strongest attacker on all releases was 02 with `tracing`"
    ]
    (told,) = lessons(document, "hid best")
    assert told.startswith(
        "01 with `rr:p=0.9`, 02 with `rr:p=0.1` hid best of 2 ranked releases in play"
    )


def repeated(**scores: Sequence[float]) -> dict[str, tuple[str, ...]]:
    """The ties of a ranking by these scores, one for each repeat."""
    repeats = zip(*scores.values(), strict=True)
    standings = [
        Standings(
            rank_scores(dict(zip(scores, map(Fraction, map(str, repeat)), strict=True))), (), ()
        )
        for repeat in repeats
    ]
    return {line.team: line.tied_with for line in combined(standings)[0]["anonymization"].lines}


def test_ranks_that_noise_could_reverse_are_ties_within_the_interval() -> None:
    # a - c is 0.3, -0.1, 0.1: mean 0.1, standard deviation 0.2, t(0.975, 2) = 4.30, so 0.1 +- 0.50 includes 0.
    assert repeated(a=(0.8, 0.6, 0.7), c=(0.5, 0.7, 0.6)) == {"a": ("c",), "c": ("a",)}


def test_a_lead_that_every_repeat_shows_is_no_tie_though_the_intervals_overlap() -> None:
    # Each repeat is as hard for a as for b: b is 0.1 behind in all of them.
    assert repeated(a=(0.9, 0.5, 0.7), b=(0.8, 0.4, 0.6)) == {"a": (), "b": ()}


def test_without_repeats_nothing_is_known_of_ties() -> None:
    assert repeated(a=(0.5,), b=(0.5,)) == {"a": (), "b": ()}


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (
            5,
            ["One play: the first places in attack differ"],
        ),  # by 1 of 10, and blind guesses get 0 to 3
        (8, []),
        (4, []),  # equals have no order that noise could reverse
    ],
)
def test_one_play_says_where_noise_could_have_made_the_order(second: int, told: list[str]) -> None:
    hits = {"03": {"01": 4, "02": second}}
    ranking = rank_scores({"01": Fraction(4, 10), "02": Fraction(second, 10)})
    standings = {"standings": lambda _: Standings((), ranking, ())}
    document = played(hits, [record("03")], manifest={"plan": {}}, **standings)
    found = lessons(document, "One play")
    assert [lesson[: len(words)] for lesson, words in zip(found, told, strict=True)] == told
    assert len(lessons(document, "1 回だけの対戦", "ja")) == len(told)
    held = played(hits, [record("03")], **standings)
    assert not lessons(held, "One play"), "a contest that was held is not played again"


def first(team: str) -> tuple[Standing, ...]:
    others = [one for one in ("01", "02", "03") if one != team]
    return rank_scores({team: Fraction(2), **dict.fromkeys(others, Fraction(1))})


def test_where_there_is_an_overall_ranking_its_winner_is_named_before_that_of_anonymization() -> (
    None
):
    both = Standings(first("01"), (), first("02"))
    told = played({"01": {"02": 6}}, [record("01")], standings=lambda _: both).verdicts
    assert told["en"][:2] == (
        "02 won the contest: first overall.",
        "01 with `rr:p=0.9` won in anonymization.",
    )
    assert told["ja"][:2] == ("優勝（総合一位）は02。", "匿名化の一位は01（`rr:p=0.9`）。")
    one = Standings(first("01"), (), first("01"), overall_is="anonymization")
    assert lessons(played({"01": {"02": 6}}, [record("01")], standings=lambda _: one), "won") == [
        "01 with `rr:p=0.9` won in anonymization."
    ]


@pytest.mark.parametrize("found", [0, 1])
def test_where_nobody_found_more_than_chance_nobody_is_called_the_strongest_attacker(
    found: int,
) -> None:
    document = played({"01": {"02": found}}, [record("01")])
    assert not lessons(document, "strongest")
    assert lessons(document, "No attacker") == [
        "No attacker found more on average than blind guessing does (10.0 %)."
    ]
    assert lessons(document, "超えた攻撃者はいなかった", "ja")


def test_releases_that_are_compared_and_those_held_against_thresholds_are_told_apart_where_they_are_not_the_same() -> (
    None
):
    hits = {"01": {"02": 5}, "02": {"01": 4}, "03": {"01": 0}}
    records = [record(target, PUBLISHED, PASSES) for target in hits]
    (told,) = lessons(played(hits, records, excluded=frozenset({"03"})), "hid best")
    assert "hid best of 2 ranked releases in play" in told
    (told,) = lessons(played({**hits, "03": {}}, records), "hid best")
    assert "hid best of 2 attacked releases in play" in told
    assert lessons(played({**hits, "03": {}}, records), "攻撃を受けた2件", "ja")
