"""How much utility pays: a point of utility against the people whom the two-way tables would give away for it.

Whoever holds a person's attributes and ratings adds log n_C / lambda over the pairs (attribute value, rating). Of 50 people
a row is found where nobody's sum is larger than the right one's.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kakurenbo.datasets.ratings import ATTRIBUTES, FEWEST_ROWS, MOVIES
from kakurenbo.tables import Table
from kakurenbo.tables.crosstabs import crosstab

UTILITIES = tuple(float(utility) for utility in range(68, 89, 4))
"""What is tried where no utility is asked for."""

_DRAWN = 500
_LEAST_RATIO = 0.02


def best_utility(original: Table, releases: Iterable[tuple[float, Table]], rng: np.random.Generator) -> Table:
    """The release of the largest utility less expected hits; of equals the first."""
    people = rng.choice(len(original), min(_DRAWN, len(original)), replace=False)
    scored = [(utility - linked(original, release, people), release) for utility, release in releases]
    return max(scored, key=lambda pair: pair[0])[1]


def linked(original: Table, release: Table, people: NDArray[np.int64]) -> float:
    """How many of 50 people the tables of ``release`` would link to their ratings, estimated from these rows of B."""
    scores = np.zeros((len(people), len(people)))  # row of ratings by person
    persons = original.take(people)
    for attribute in ATTRIBUTES:
        given = persons.codes[attribute]
        for movie in (name for name in MOVIES if name in release.schema):
            table = crosstab(release, attribute, movie).astype(np.float64)
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            ratios = np.divide(table, expected, out=np.ones_like(table), where=expected > 0)
            scores += np.log(np.maximum(ratios, _LEAST_RATIO))[given][:, persons.codes[movie]].T
    own = np.diag(scores)[:, None]
    ahead = ((scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2) / max(len(people) - 1, 1)
    return FEWEST_ROWS * float(((1 - ahead) ** (FEWEST_ROWS - 1)).mean())
