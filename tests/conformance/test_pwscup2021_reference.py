"""A second implementation of pwscup2021, written from the rules alone in plain loops, against the first on made-up tables."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from kakurenbo.attacks.linkage import LinkageGuess
from kakurenbo.contest import Credit, RoundResults
from kakurenbo.core import Table
from kakurenbo.data.health import LEVELS, NAMES, SCHEMA
from kakurenbo.rulebooks.pwscup2021 import Answer, Handout, Pwscup2021, Submission
from kakurenbo.rulebooks.pwscup2021.scores import RoundScores

Record = tuple[str, float, str, str, str, float, int, int, int, int, str, int]


@st.composite
def records(draw: st.DrawFn, least: int = 30, most: int = 60) -> list[Record]:
    """People of few kinds, so that some are alike and some levels are missing."""
    seed, count = draw(st.integers(0, 10_000)), draw(st.integers(least, most))
    rng = np.random.default_rng(seed)
    pick = lambda name: str(rng.choice(LEVELS[name][: 2 + seed % 3]))  # noqa: E731
    return [
        (
            pick("gen"), float(rng.integers(18, 84)), pick("race"), pick("edu"), pick("mar"),
            round(float(rng.uniform(14.5, 40)), 1), int(rng.integers(2)), int(rng.integers(2)), 0, 0, pick("qm"),
            int(rng.random() < 0.4),
        )
        for _ in range(count)
    ]  # fmt: skip


def rate_cells(rows: Sequence[Record]) -> dict[tuple[object, ...], Fraction]:
    """Shares of cells, by position of the column, level and diabetes."""

    def level(place: int, value: object) -> object:
        if place in (6, 7):
            return float(str(value)) > 0.5
        edges = {1: (19, 44, 64, 80), 5: (15, 18.5, 25, 30, 70)}.get(place)
        if edges is None:
            return value
        number = min(max(float(str(value)), edges[0]), edges[-1])
        return next((high for low, high in itertools.pairwise(edges) if low < number <= high), None)

    counts = Counter(
        (place, level(place, row[place]), row[11])
        for row in rows
        for place in (0, 1, 2, 3, 4, 5, 6, 7, 10)
    )
    return {
        cell: Fraction(count, len(rows)) for cell, count in counts.items() if cell[1] is not None
    }


def naive_rate(before: Sequence[Record], after: Sequence[Record]) -> float:
    first, second = rate_cells(before), rate_cells(after)
    return max(
        float(abs(first.get(cell, Fraction(0)) - second.get(cell, Fraction(0))))
        for cell in {*first, *second}
    )


def naive_correlation(before: Sequence[Record], after: Sequence[Record]) -> float:
    def column(rows: Sequence[Record], place: int, level: object) -> list[float]:
        return [
            float(str(row[place])) if level is None else float(row[place] == level) for row in rows
        ]

    def pearson(x: list[float], y: list[float]) -> float:
        if len(set(x)) < 2 or len(set(y)) < 2:
            return math.nan
        mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
        product = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        return product / math.sqrt(
            math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y)
        )

    words = (0, 2, 3, 4, 10)
    names = [
        (place, level)
        for place in words
        for level in sorted({row[place] for row in (*before, *after)})
    ]
    names += [(place, None) for place in range(12) if place not in words]  # type: ignore[misc]
    worst = 0.0
    for one in range(len(names)):
        for other in range(one):
            pairs = [
                pearson(column(rows, *names[one]), column(rows, *names[other]))
                for rows in (before, after)
            ]
            if not all(map(math.isnan, pairs)):
                worst = max(
                    worst,
                    abs(
                        (pairs[0] if pairs[0] == pairs[0] else 0)
                        - (pairs[1] if pairs[1] == pairs[1] else 0)
                    ),
                )
    return worst


def naive_change(before: Sequence[Record], after: Sequence[Record]) -> float:
    worst = 0.0
    for old, new in zip(before, after, strict=True):
        cells = sum(old[place] != new[place] for place in (0, 2, 3, 4, 6, 7, 10, 11))
        worst = max(worst, abs(old[1] - new[1]), abs(old[5] - new[5]), cells)
    return worst


def naive_unique(rows: Sequence[Record]) -> int:
    keys = [
        (*row[:1], round(row[1] / 10), *row[2:5], round(row[5] / 10), *row[6:8], row[10])
        for row in rows
    ]
    return sum(count == 1 for count in Counter(keys).values())


def table(rows: Sequence[Record]) -> Table:
    return Table.from_rows(SCHEMA, list(rows))


@settings(max_examples=15)
@given(records(), st.integers(0, 1000))
def test_rate_correlation_change_and_unique_records_are_those_of_plain_loops(
    rows: list[Record], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    kept = sorted(rng.permutation(len(rows))[: len(rows) * 2 // 3].tolist())
    remaining = [rows[row] for row in kept]
    order = rng.permutation(len(kept))
    released = [
        remaining[row] if rng.random() < 0.5 else remaining[order[place]]
        for place, row in enumerate(range(len(kept)))
    ]
    submission = Submission(
        table(released), np.array(kept), np.setdiff1d(np.arange(len(rows)), kept)
    )
    scores = Pwscup2021(round="main").measure(Handout("01", table(rows)), submission).scores
    assert scores["rate"].value == pytest.approx(naive_rate(rows, released))
    assert scores["cor"].value == pytest.approx(naive_correlation(rows, released), abs=1e-9)
    assert scores["iloss"].value == pytest.approx(naive_change(remaining, released))
    assert scores["uniqrt"].value == naive_unique(remaining) / len(rows)


def test_odds_ratios_are_those_of_another_solver() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (
            str(rng.choice(LEVELS["gen"])), float(rng.integers(20, 80)), "White", str(rng.choice(LEVELS["edu"])), "Married",
            round(float(rng.uniform(18, 40)), 1), int(rng.integers(2)), int(rng.integers(2)), 0, 0, "Q1", int(rng.integers(2)),
        )
        for _ in range(400)
    ]  # fmt: skip
    from kakurenbo.measures.regression import logistic_regression

    ours = logistic_regression(table(rows), "dia", ("gen", "age", "edu", "bmi", "dep", "pir"))
    assert ours is not None
    view = np.array(
        [
            [
                row[0] == "Male",
                row[1],
                *(row[3] == level for level in sorted(LEVELS["edu"])[1:]),
                *row[5:8],
            ]
            for row in rows
        ],
        dtype=float,
    )
    other = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(
        view, [row[11] for row in rows]
    )
    assert list(ours.coefficients.values())[1:] == pytest.approx(other.coef_[0].tolist(), abs=1e-7)
    assert ours.coefficients["Intercept"] == pytest.approx(float(other.intercept_[0]), abs=1e-6)


@settings(max_examples=40)
@given(
    st.lists(st.integers(-1, 5), min_size=2, max_size=12),
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.01]),
)
def test_danger_is_that_of_sets_of_people(answer: list[int], seed: int, d: float) -> None:
    guess = np.random.default_rng(seed).integers(-1, 6, (len(answer), 3))
    there = {person for person, row in enumerate(answer) if row >= 0}
    named = {person for person in range(len(answer)) if guess[person, 0] >= 0}
    recall = len(there & named) / len(there) if there else 0
    precision = len(there & named) / len(named) if named else 0
    topk = sum(answer[person] in guess[person] for person in there) / len(there) if there else 0
    credit = Pwscup2021(round="main", d=d).score_guess(
        Answer(np.array(answer), 6), LinkageGuess(guess)
    )
    assert credit.hits == pytest.approx((recall + d) * (precision + d) * (topk + d))
    assert credit.least <= credit.hits <= credit.of


@settings(max_examples=30)
@given(st.integers(2, 7), st.integers(0, 1000))
def test_scores_and_ranks_are_those_of_plain_loops(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    teams = [f"{number:02d}" for number in range(1, count + 1)]
    danger = {
        one: {other: round(float(rng.random()), 2) for other in teams if other != one}
        for one in teams
    }
    credits = {
        one: {other: Credit(value, 1) for other, value in row.items()}
        for one, row in danger.items()
    }
    out = teams[0] if seed % 2 else ""
    results = RoundResults(credits, tuple(teams), tuple(teams))
    results = results.without([out]) if out else results
    worst = {team: 1.0 if team == out else max(row.values()) for team, row in danger.items()}
    assert {
        team: float(value) for team, value in RoundScores.of(results).anonymization.items()
    } == worst
    playing = sorted((value, team) for team, value in worst.items() if team != out)
    first = [team for value, team in playing if value <= playing[min(2, len(playing) - 1)][0]]
    standings = Pwscup2021().standings({"main": results})
    attack = {}
    for attacker in teams:
        found = [danger[team][attacker] for team in first if team != attacker]
        attack[attacker] = sum(found) / len(found) if found else 0.0
    assert {line.team: float(line.score or 0) for line in standings.attack} == pytest.approx(attack)
    ranks = {team: 1 + sum(other < worst[team] for other in worst.values()) for team in teams}
    assert {line.team: line.rank for line in standings.anonymization} == ranks


def test_the_columns_are_those_of_the_rules() -> None:
    assert NAMES == (
        "gen",
        "age",
        "race",
        "edu",
        "mar",
        "bmi",
        "dep",
        "pir",
        "gh",
        "mets",
        "qm",
        "dia",
    )
