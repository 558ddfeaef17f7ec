"""From scores of all pairs of a month to three ranked pseudonyms per customer, freely or one to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.attacks.reidentification.monthly import Month
from kakurenbo.attacks.sinkhorn import balanced

Scores = NDArray[np.float32]
_ROUNDS = 20  # of balancing rows against columns
_LARGEST_EXACT = (
    4000  # customers of a month: the time of an assignment grows with their third power
)


def best_three(scores: Scores) -> NDArray[np.int64]:
    """Columns with the highest scores of each row, best first, ties by column; -1 where there are fewer, shape (n, 3)."""
    left = scores.copy()
    found = np.full((len(scores), GUESSES), NOBODY, dtype=np.int64)
    rows = np.arange(len(scores))
    for place in range(min(GUESSES, scores.shape[1])):
        found[:, place] = left.argmax(axis=1)
        left[rows, found[:, place]] = -np.inf
    return found


def assigned_three(scores: Scores) -> NDArray[np.int64]:
    """First the one-to-one assignment with the highest total, then the likeliest others, shape (n, 3).

    The likelihood of a pair in a random matching with these scores is approximated by balancing exp(scores) until rows and
    columns sum alike. It ranks alone where a month is too large for an exact assignment.
    """
    chance = balanced(scores, _ROUNDS)
    if min(scores.shape) > _LARGEST_EXACT:
        return best_three(chance)
    from scipy.optimize import (
        linear_sum_assignment,
    )  # takes half a second to load, which a baseline need not wait for

    customers, pseudonyms = linear_sum_assignment(scores, maximize=True)
    # Unassigned rows keep their likeliest first: nothing else is known of them.
    chance[customers, pseudonyms] = np.inf
    return best_three(chance)


def write_month(guess: ReidentificationGuess, month: Month, places: NDArray[np.int64]) -> None:
    """Put the ranked pseudonyms of a month's customers into the guess matrix."""
    named = np.where(places == NOBODY, NOBODY, month.released.owners[places])
    guess.cells[month.original.owners, month.number, :] = named
