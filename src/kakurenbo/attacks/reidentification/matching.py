"""From scores of all pairs of a month to three ranked pseudonyms per customer, freely or one to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.attacks.reidentification.monthly import Month

Scores = NDArray[np.float32]
_ROUNDS = 20  # of balancing rows against columns
_SMALLEST = 1e-30
_FARTHEST = -30.0
_LARGEST_EXACT = 4000  # customers of a month: the time of an assignment grows with their third power


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
    chance = balanced(scores)
    if min(scores.shape) > _LARGEST_EXACT:
        return best_three(chance)
    customers, pseudonyms = linear_sum_assignment(scores, maximize=True)
    # Unassigned rows keep their likeliest first: nothing else is known of them.
    chance[customers, pseudonyms] = np.inf
    return best_three(chance)


def balanced(scores: Scores) -> Scores:
    """exp(scores) scaled so that rows sum to 1 and columns sum alike (Sinkhorn), shape as given."""
    # Far below the best of a row nothing can win any more; cut there, as denormal numbers are slow.
    pairs: Scores = scores - scores.max(axis=1, keepdims=True)
    np.maximum(pairs, np.float32(_FARTHEST), out=pairs)
    np.exp(pairs, out=pairs)
    rows, columns = np.ones(len(pairs), dtype=np.float32), np.ones(pairs.shape[1], dtype=np.float32)
    share = np.float32(len(pairs) / pairs.shape[1])
    for _ in range(_ROUNDS):
        columns = share / np.maximum(rows @ pairs, _SMALLEST)
        rows = 1 / np.maximum(pairs @ columns, _SMALLEST)
    pairs *= rows[:, None]
    pairs *= columns[None, :]
    return pairs


def write_month(guess: ReidentificationGuess, month: Month, places: NDArray[np.int64]) -> None:
    """Put the ranked pseudonyms of a month's customers into the guess matrix."""
    named = np.where(places == NOBODY, NOBODY, month.released.owners[places])
    guess.cells[month.original.owners, month.number, :] = named
