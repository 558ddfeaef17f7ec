"""`index_link`: the "index attack" of the preliminary, in which B is public and a release keeps the
order of its rows.

B without the deleted rows is the release row by row: aligning the two tells which rows are missing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage.base import LinkageAttack, category_names, number_names
from kakurenbo.attacks.linkage.likelihood import LikelihoodLink
from kakurenbo.core import Table
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import CHOICES, DELETED, LinkageGuess, LinkageKnowledge

_UNIT = 4.0  # a number that is so far off counts like a word that is another


@dataclass(frozen=True)
class IndexLink(LinkageAttack):
    """Lay the release beside B and see which rows are missing; where B is not known, guess as ``likelihood_link`` does."""

    knowledge: ClassVar[type] = LinkageKnowledge

    largest: int = parameter(50_000_000, "pairs of rows that are compared at most", low=1)

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        population, release = knowledge.population, knowledge.release
        deleted = 0 if population is None else len(population) - len(release)
        if population is None or deleted < 0 or (deleted + 1) * len(population) > self.largest:
            return LikelihoodLink()(knowledge, rng)
        places_of_record = defaultdict(list)
        for record, place in zip(population.rows(), aligned(population, release), strict=True):
            if place != DELETED:
                places_of_record[record].append(int(place))
        rows = np.full((len(knowledge.people), CHOICES), DELETED)
        for person, record in enumerate(knowledge.people.rows()):
            # Of people who are alike one may be kept and another not: then it is even, and a row
            # can only win.
            places = places_of_record[record][:CHOICES]
            rows[person, : len(places)] = places
        return LinkageGuess(rows)


def aligned(population: Table, release: Table) -> NDArray[np.int64]:
    """Return the row of the release that each row of B became at the least cost, -1 for deleted.

    Dynamic programming over how many rows were deleted before: with k of them gone, row b of B is
    row b - k of the release.
    """
    originals, released = _points(population, population), _points(population, release)
    deleted = len(population) - len(release)
    cost = np.full(deleted + 1, np.inf)
    cost[0] = 0.0
    is_dropped = np.zeros((len(population), deleted + 1), dtype=bool)
    for row in range(len(population)):
        places = row - np.arange(deleted + 1)
        exists = (places >= 0) & (places < len(release))
        nearby = released[np.clip(places, 0, len(release) - 1)]
        keep = np.where(exists, cost + np.abs(originals[row] - nearby).sum(axis=1), np.inf)
        drop = np.concatenate([[np.inf], cost[:-1]])
        is_dropped[row] = drop < keep
        cost = np.minimum(keep, drop)
    places = np.full(len(population), DELETED, dtype=np.int64)
    gone = deleted
    for row in range(len(population) - 1, -1, -1):
        if is_dropped[row, gone]:
            gone -= 1
        else:
            places[row] = row - gone
    return places


def _points(population: Table, table: Table) -> NDArray[np.float32]:
    """Return records as points whose distance is the sum of |differences|: a word that differs
    counts 1.
    """
    parts = [table.values(name)[:, None] / _UNIT for name in number_names(population.schema)]
    for name in category_names(population.schema):
        words = np.unique(population.values(name).astype(str))
        parts.append((table.values(name).astype(str)[:, None] == words) / 2)
    return np.hstack(parts).astype(np.float32)
