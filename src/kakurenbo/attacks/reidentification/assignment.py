"""From scores of all pairs of a month to three ranked pseudonyms per customer, freely or one to
one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.attacks.reidentification.months import Month
from kakurenbo.attacks.reidentification.types import GUESSES, NOBODY, ReidentificationGuess

Scores = NDArray[np.float32]
_ROUNDS = 20  # of balancing rows against columns
_MAX_EXACT = 4000  # customers of a month: an assignment takes the third power of their number


def best_three(scores: Scores) -> NDArray[np.int64]:
    """Return the columns with the highest scores of each row, ties by column; -1 where there are
    fewer, shape (n, 3).
    """
    left = scores.copy()
    best = np.full((len(scores), GUESSES), NOBODY, dtype=np.int64)
    rows = np.arange(len(scores))
    for place in range(min(GUESSES, scores.shape[1])):
        best[:, place] = left.argmax(axis=1)
        left[rows, best[:, place]] = -np.inf
    return best


def assigned_three(scores: Scores) -> NDArray[np.int64]:
    """Return first the one-to-one assignment with the highest total, then the likeliest others,
    shape (n, 3).

    The likelihood of a pair in a random matching with these scores is approximated by balancing
    exp(scores) until rows and columns sum alike. It ranks alone where a month is too large for an
    exact assignment.
    """
    from scipy.optimize import linear_sum_assignment

    chance = balanced(scores, _ROUNDS)
    if min(scores.shape) <= _MAX_EXACT:
        # Unassigned rows keep their likeliest first: nothing else is known of them.
        chance[linear_sum_assignment(scores, maximize=True)] = np.inf
    return best_three(chance)


def write_month(guess: ReidentificationGuess, month: Month, places: NDArray[np.int64]) -> None:
    """Put the ranked pseudonyms of a month's customers into the guess matrix."""
    named = np.where(places == NOBODY, NOBODY, month.released.owners[places])
    guess.cells[month.original.owners, month.number, :] = named
