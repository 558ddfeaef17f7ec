"""Made-up names: put together from syllables, so that they are nobody's."""

from __future__ import annotations

from itertools import product

import numpy as np

from kakurenbo.errors import ParameterError

_SYLLABLES = (
    "Ba Ce Dro Eli Fa Gwi Ho Iska Jo Kel Lu Mi Nor Oda Pe Quo Ri Sa Tov Una Ve Wy Xa Yo Za",
    "bri den fal gar lin mor nel pra quil ras sev tam vor wen zim",
    "a an by con dal el eth ia is o on or ra ric us",
)


def made_up_names(count: int, rng: np.random.Generator) -> list[str]:
    """Different names of a given and a family part.

    Examples
    --------
    >>> names = made_up_names(10_000, np.random.default_rng(1))
    >>> len(set(names)), len(names[0].split())
    (10000, 2)
    """
    words = ["".join(parts) for parts in product(*(part.split() for part in _SYLLABLES))]
    if count > len(words) ** 2:
        raise ParameterError("count", f"at most {len(words) ** 2:,}", count)
    numbers: np.ndarray = np.zeros(0, dtype=np.int64)
    while len(numbers) < count:  # a repeated draw is drawn again; order of first appearance keeps it random
        drawn = np.concatenate((numbers, rng.integers(len(words) ** 2, size=count)))
        numbers = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return [f"{words[number // len(words)]} {words[number % len(words)]}" for number in numbers[:count].tolist()]
