"""Guesses of the rows of least doubt; the types of membership attacks are those of ``methods.threats``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.methods.threats import MembershipGuess, MembershipKnowledge

__all__ = ["MembershipGuess", "MembershipKnowledge", "most_confident"]


def most_confident(
    doubt: NDArray[np.generic], rows: NDArray[np.int64], guesses: int
) -> NDArray[np.int64]:
    """The ``guesses`` rows of the least doubt, ties by row number; fewer where fewer are given."""
    return rows[np.lexsort((rows, doubt))[:guesses]]
