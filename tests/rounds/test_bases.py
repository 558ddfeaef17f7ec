"""Contests of one's own on `MembershipContest` and `LinkageContest`: files, checks, scores and standings of the bases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.reading import attempt

import kakurenbo as kb
from kakurenbo import testing
from kakurenbo.anonymizers.tables.randomized_response import RandomizedResponse
from kakurenbo.contest.bases import LinkageForm
from kakurenbo.core import Problems
from kakurenbo.methods.threats import LinkageGuess

PEOPLE = kb.Schema([kb.Integer("age", 0, 99), kb.Category("town", ("Aoba", "Izumi", "Taihaku"))])


@dataclass(frozen=True)
class WhichRow(kb.LinkageContest):
    """Say whose row is which."""

    name = "which-row"
    title = "say whose row is which"
    schema = PEOPLE
    utility_limits: ClassVar[Mapping[str, kb.Threshold]] = {"same": kb.at_least(0.2)}

    def draw_original(self, rng: np.random.Generator) -> kb.Table:
        return kb.Table(
            PEOPLE, {column.name: rng.integers(0, column.size, 40) for column in PEOPLE}
        )

    def utility(self, original: kb.Table, release: kb.Table) -> Mapping[str, kb.Score]:
        return {"same": kb.Score(float((original.codes["town"] == release.codes["town"]).mean()))}


def test_checks_choose_an_anonymizer_whose_release_is_valid() -> None:
    for check in testing.rulebook_checks(WhichRow()):  # `bottom` fits, too, and drops rows
        check()


@pytest.mark.parametrize(
    "check", testing.rulebook_checks(WhichRow(), RandomizedResponse()), ids=str
)
def test_a_linkage_contest_keeps_what_rulebooks_promise(check: testing.Check) -> None:
    check()


def test_a_linkage_guess_earns_the_people_whose_row_is_among_its_three(tmp_path: Path) -> None:
    rules = WhichRow()
    (tmp_path / "rows.csv").write_text("2\n0\n1\n3\n")
    (tmp_path / "size.json").write_text('{"rows": 4}')
    answer = rules.read_answer(tmp_path)
    assert rules.answer_form(answer) == LinkageForm(people=4, rows=4)
    right = rules.score_guess(answer, LinkageGuess([[0, 1, 2], [0, 1, 2], [3, 3, 3], [-1, -1, 3]]))
    assert (right.hits, right.of) == (3, 4)
    assert right.chance is not None
    assert right.chance.mean == 3


def test_a_linkage_guess_that_names_a_row_beyond_the_release_is_refused() -> None:
    source = kb.Source("guess_01_02.csv", b"0,1,2\n0,1,4\n")
    problems = attempt(WhichRow().read_guess, LinkageForm(2, 4), source)
    assert isinstance(problems, Problems)
    assert (problems[0].row, problems[0].column, problems[0].value) == (2, "third", "4")


def test_standings_of_the_bases_are_ranks_of_best_and_mean_accuracies() -> None:
    def credit(hits: int) -> kb.Credit:
        return kb.Credit(hits, 10)

    results = kb.RoundResults(
        credits={
            "01": {"02": credit(6), "03": credit(2), "sample attack": credit(9)},
            "02": {"01": credit(1), "03": credit(3)},
            "03": {"01": credit(5)},
        },
        targets=("01", "02", "03"),
        attackers=("01", "02", "03", "sample attack"),
        unranked=frozenset({"sample attack"}),
    )
    standings = WhichRow().standings({"round": results})

    def scores(lines: tuple[kb.Standing, ...]) -> list[tuple[str, Fraction | None, int | None]]:
        return [(line.team, line.score, line.rank) for line in lines]

    assert scores(standings.anonymization) == [
        ("02", Fraction(7, 10), 1),
        ("03", Fraction(5, 10), 2),
        ("01", Fraction(4, 10), 3),
    ]
    assert scores(standings.attack) == [
        ("01", Fraction(3, 10), 1),
        ("02", Fraction(3, 10), 1),
        ("03", Fraction(5, 20), 3),
        ("sample attack", Fraction(9, 30), None),
    ]
    assert scores(standings.overall) == [
        ("02", Fraction(2), 1),
        ("01", Fraction(4), 2),
        ("03", Fraction(5), 3),
    ]
    assert standings.awards["overall"] == ("02", "01", "03")
    assert standings.lower_is_better == {"overall"}
