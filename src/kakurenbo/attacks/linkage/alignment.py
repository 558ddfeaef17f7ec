"""`index_link`: the "index attack" of the preliminary, in which B is public and a release keeps the order of its rows.

B without the deleted rows is the release row by row: which rows are missing follows from laying one beside the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage.knowledge import (
    CHOICES,
    DELETED,
    LinkageGuess,
    LinkageKnowledge,
    category_names,
    number_names,
)
from kakurenbo.attacks.linkage.likelihood import LikelihoodLink
from kakurenbo.contest import Attack
from kakurenbo.core import Table
from kakurenbo.methods.parameters import parameter

_UNIT = 4.0  # a number that is so far off counts like a word that is another


@dataclass(frozen=True)
class IndexLink(Attack[LinkageKnowledge, LinkageGuess]):
    """Lay the release beside B and see which rows are missing; where B is not known, guess as ``likelihood_link`` does."""

    knowledge: ClassVar[type] = LinkageKnowledge

    largest: int = parameter(50_000_000, "pairs of rows that are compared at most", low=1)

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        population, release = knowledge.population, knowledge.release
        deleted = 0 if population is None else len(population) - len(release)
        if population is None or deleted < 0 or (deleted + 1) * len(population) > self.largest:
            return LikelihoodLink()(knowledge, rng)
        places = aligned(population, release)
        rows = np.full((len(knowledge.people), CHOICES), DELETED)
        for person, candidates in enumerate(_same_records(knowledge.people, population)):
            found = [int(places[row]) for row in candidates]
            kept = [place for place in found if place >= 0]
            # Of people who are alike one may be there and another not: then it is even, and a row can only win.
            rows[person, : min(len(kept), CHOICES)] = kept[:CHOICES]
        return LinkageGuess(rows)


def _same_records(people: Table, population: Table) -> list[list[int]]:
    """The rows of B that hold each person's record."""
    where: dict[tuple[object, ...], list[int]] = {}
    for number, record in enumerate(population.rows()):
        where.setdefault(record, []).append(number)
    return [where.get(record, []) for record in people.rows()]


def aligned(population: Table, release: Table) -> NDArray[np.int64]:
    """The row of the release that each row of B became, -1 for deleted: the cheapest way to lay one beside the other.

    Dynamic programming over how many rows were deleted before: with k of them gone, row b of B is row b - k of the release.
    """
    first, second = _numeric(population, population), _numeric(population, release)
    deleted = len(population) - len(release)
    cost = np.full(deleted + 1, np.inf)
    cost[0] = 0.0
    dropped = np.zeros((len(population), deleted + 1), dtype=bool)
    for row in range(len(population)):
        places = row - np.arange(deleted + 1)
        there = (places >= 0) & (places < len(release))
        keep = np.where(
            there,
            cost + np.abs(first[row] - second[np.clip(places, 0, len(release) - 1)]).sum(axis=1),
            np.inf,
        )
        drop = np.concatenate([[np.inf], cost[:-1]])
        dropped[row] = drop < keep
        cost = np.minimum(keep, drop)
    found = np.full(len(population), DELETED, dtype=np.int64)
    gone = deleted
    for row in range(len(population) - 1, -1, -1):
        if dropped[row, gone]:
            gone -= 1
        else:
            found[row] = row - gone
    return found


def _numeric(known: Table, table: Table) -> NDArray[np.float32]:
    """Records as points whose distance is the sum of |differences|: a word that differs counts 1."""
    parts = [table.values(name)[:, None] / _UNIT for name in number_names(known.schema)]
    for name in category_names(known.schema):
        words = np.unique(known.values(name).astype(str))
        parts.append((table.values(name).astype(str)[:, None] == words) / 2)
    return np.hstack(parts).astype(np.float32)
