"""What an answer without any thought earns: the same value for every question, the best of them, or one that is named."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class ConstantAnswer(NamedTuple):
    """One value for every question, and how many of the answers it meets."""

    value: int
    hits: int


def constant_answer(answers: ArrayLike, value: int) -> ConstantAnswer:
    """What ``value`` for every question earns: in pwscup2024 "always 0" is 17 to 18 of 50 on real B files.

    Examples
    --------
    >>> constant_answer([0, 3, 0, 5], 0)
    ConstantAnswer(value=0, hits=2)
    """
    return ConstantAnswer(value, int((np.asarray(answers) == value).sum()))


def best_constant_answer(answers: ArrayLike) -> ConstantAnswer:
    """The value that earns most when it is given for every question, the smallest of several; needs at least one answer.

    Examples
    --------
    >>> best_constant_answer([4, 3, 4, 3, 5])
    ConstantAnswer(value=3, hits=2)
    """
    values, counts = np.unique(np.asarray(answers), return_counts=True)
    best = int(counts.argmax())
    return ConstantAnswer(int(values[best]), int(counts[best]))
