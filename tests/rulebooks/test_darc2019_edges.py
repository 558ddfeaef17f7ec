"""darc2019: what the other files leave open of figures and credits, each small enough to be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kakurenbo.attacks.reidentification import ReidentificationGuess
from kakurenbo.datasets.transactions import CONTEST, Calendar
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.darc2019.credit import count_credit, reid
from kakurenbo.rulebooks.darc2019.matrices import Answer


def test_every_figure_has_the_sentence_of_its_name_and_what_is_ranked_shares_one() -> None:
    for name, figure in Darc2019.figures.items():
        assert figure.code == f"darc2019.figure.{'anonymization' if name in ('overall', 'score') else name}"
        assert len(set(figure.definitions.values())) == 2


def one_month(*names: str) -> Answer:
    """A customer for each name, all in one month."""
    customers = tuple(f"c{row}" for row in range(len(names)))
    codes = np.array([sorted(names).index(name) for name in names], dtype=np.int32)
    return Answer(customers, tuple(sorted(names)), codes.reshape(-1, 1), Calendar(CONTEST.first_day, 1))


def told(answer: Answer, pseudonyms: tuple[str, ...], *guesses: tuple[int, int, int]) -> ReidentificationGuess:
    cells = np.array(guesses, dtype=np.int32).reshape(len(guesses), 1, 3)
    return ReidentificationGuess(answer.customers, pseudonyms, cells, answer.calendar)


def test_one_cell_is_all_cells_and_no_cell_earns_nothing() -> None:
    one = one_month("p")
    assert count_credit(one, told(one, ("p",), (0, -1, -1)), "rules").details == {"reid": 1, "reid_of_all_cells": 1}
    nobody = Answer((), (), np.zeros((0, 1), dtype=np.int32), one.calendar)
    guess = ReidentificationGuess((), (), np.zeros((0, 1, 3), dtype=np.int32), one.calendar)
    assert count_credit(nobody, guess, "rules").details == {"reid": 0, "reid_of_all_cells": 0}


def test_for_the_evaluator_a_guess_that_holds_the_pseudonym_is_enough_whatever_its_other_letters() -> None:
    """F has p, which is in "xp" and not in "xy"; by the rules it must be p itself."""
    one = one_month("p")
    for name, evaluator, rules in (("p", 1, 1), ("xp", 1, 0), ("xy", 0, 0)):
        guess = told(one, (name,), (0, -1, -1))
        assert (reid(one, guess, "aicrowd"), reid(one, guess, "rules")) == (evaluator, rules)


def test_for_the_evaluator_a_later_guess_of_the_same_is_worth_less_and_by_the_rules_there_is_one() -> None:
    one = one_month("p")
    for cells, thirds in (((0, -1, -1), 3), ((-1, 0, -1), 2), ((-1, -1, 0), 1), ((0, 0, 0), 1), ((0, 0, -1), 2)):
        assert count_credit(one, told(one, ("p",), cells), "aicrowd").hits == pytest.approx(thirds / 3)
        assert count_credit(one, told(one, ("p",), cells), "rules").hits == (cells[0] == 0)
