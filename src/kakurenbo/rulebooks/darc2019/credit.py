"""Rule 12 of darc2019: what a guess matrix earns against F, in both modes, and what blind guessing would earn."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.contest import Chance, Credit
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import CONTEST
from kakurenbo.rulebooks.darc2019.matrices import Answer

THIRDS = np.array([3, 2, 1])  # worth of a guess by its position, mode aicrowd

Cells = NDArray[np.int32]


def count_credit(answer: Answer, guess: ReidentificationGuess, mode: str) -> Credit:
    """Credit of a guess matrix in cells, with both figures of rule 12: per cell that is not DEL (b) and per cell (a)."""
    thirds, cells = _thirds(answer, guess, mode)
    details = {
        "reid": _rate(thirds, cells, mode),
        "reid_of_all_cells": thirds / 3 / max(1, answer.cells.size),
    }
    return Credit(thirds / 3, cells, blind_guessing(answer, mode), details=details)


def reid(answer: Answer, guess: ReidentificationGuess, mode: str) -> float:
    """Credit over the cells of F that are not DEL (rule 12b)."""
    return _rate(*_thirds(answer, guess, mode), mode)


def counts_in(mode: str, baseline: str) -> bool:
    """Whether a baseline counts in reid(S): the seventh is the evaluator's, and only shown by the rules."""
    return mode == "aicrowd" or baseline != "S7"


def counted_months(months: int, mode: str) -> int:
    """How many months are compared: all, but in mode ``aicrowd`` the contest's last of thirteen (December 2011) is not.

    A shop with another number of months has no such column that the evaluator would have left out.
    """
    return months - 1 if mode == "aicrowd" and months == CONTEST.months else months


def blind_guessing(answer: Answer, mode: str) -> Chance:
    """Credit of different pseudonyms of the month, drawn for each cell; the band is that of a normal sum, in whole cells.

    One pseudonym per cell by the rules, three in mode ``aicrowd``. The band is rounded outward: nobody hits a part of a cell.
    """
    mean = variance = 0.0
    for column in answer.cells[:, : counted_months(answer.calendar.months, mode)].T:
        there = column[column != NOBODY]
        pseudonyms = len(np.unique(there))
        if pseudonyms:
            worth = THIRDS[: min(_guesses(mode), pseudonyms)] / 3
            once, squared = float(worth.sum()) / pseudonyms, float((worth**2).sum()) / pseudonyms
            mean += len(there) * once
            variance += len(there) * (squared - once**2)
    spread = 1.96 * math.sqrt(variance)
    low, high = (
        math.floor(round(mean - spread, 6)),
        math.ceil(round(mean + spread, 6)),
    )  # the last bits are no cell
    return Chance(round(mean, 2), float(max(0, low)), float(high))


def _guesses(mode: str) -> int:
    return 1 if mode == "rules" else GUESSES


def _rate(thirds: int, cells: int, mode: str) -> float:
    rate = thirds / 3 / cells if cells else 0.0
    return round(rate, 6) if mode == "aicrowd" else rate


def _thirds(answer: Answer, guess: ReidentificationGuess, mode: str) -> tuple[int, int]:
    """Thirds of a cell that were earned, and how many cells count."""
    if guess.customers != answer.customers or guess.calendar != answer.calendar:
        raise ParameterError(
            "guess",
            "a matrix of the customers and months of T",
            (len(guess.customers), guess.calendar.names),
        )
    counted = counted_months(answer.calendar.months, mode)
    truth, guessed = answer.cells[:, :counted], guess.cells[:, :counted, : _guesses(mode)]
    there = truth != NOBODY
    if mode == "rules" or _equally_long(answer, guess):
        hits = _equal(answer, guess, truth, guessed)
    else:
        hits = _contained(answer, guess, truth, guessed)
    earned = np.where(hits & there[:, :, None] & (guessed != NOBODY), THIRDS[: guessed.shape[2]], 0)
    # The evaluator lets a later match overwrite an earlier one: the smallest worth that is not 0.
    best = np.where(earned > 0, earned, len(THIRDS) + 1).min(axis=2) % (len(THIRDS) + 1)
    return int(best.sum()), int(there.sum())


def _equal(
    answer: Answer, guess: ReidentificationGuess, truth: Cells, guessed: Cells
) -> NDArray[np.bool_]:
    """Whether a guess is the true pseudonym, letter for letter; shape of ``guessed``."""
    if guess.pseudonyms == answer.pseudonyms:
        return np.asarray(guessed == truth[:, :, None])
    position = {name: code for code, name in enumerate(answer.pseudonyms)}
    lookup = np.array([*(position.get(name, NOBODY) for name in guess.pseudonyms), NOBODY])
    return np.asarray(lookup[guessed] == truth[:, :, None])


def _contained(
    answer: Answer, guess: ReidentificationGuess, truth: Cells, guessed: Cells
) -> NDArray[np.bool_]:
    """Whether the true pseudonym is a part of the guess, which was enough for the evaluator."""
    hits = np.zeros(guessed.shape, dtype=bool)
    places = np.nonzero((truth != NOBODY)[:, :, None] & (guessed != NOBODY))
    true, told = truth[places[:2]].tolist(), guessed[places].tolist()
    hits[places] = [
        answer.pseudonyms[a] in guess.pseudonyms[b] for a, b in zip(true, told, strict=True)
    ]
    return hits


def _equally_long(answer: Answer, guess: ReidentificationGuess) -> bool:
    """Whether a pseudonym can be part of another only by being equal to it."""
    return len({len(name) for name in {*answer.pseudonyms, *guess.pseudonyms}}) <= 1
