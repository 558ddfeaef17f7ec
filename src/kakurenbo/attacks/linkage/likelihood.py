"""`likelihood_link`: how likely each row comes from each person, with the noise of the release learned from the files alone.

A row is compared with a person column by column; how much an equal or a different cell tells follows from how often columns
were changed, which expectation maximization finds, and from how rare a value is. A release in which everybody who is there is
found to the letter has probably been swapped: then rows are also named that could have got their record in exchange.
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
from kakurenbo.attacks.linkage.rlink import nearest_columns
from kakurenbo.contracts import Attack
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table
from kakurenbo.tables.kinds import differing, in_reach

Matrix = NDArray[np.float64]

_ROUNDS = 15
_LEAST_SCALE, _LEAST_CHANGE = 0.1, 0.003  # of the noise: nothing is taken for certain
_FIRST_SCALE, _FIRST_CHANGE = 2.0, 0.1
_LETTER_FOR_LETTER = 0.9  # of the people who are there: so many found as they were tell of swaps
_BLOCK = 512
_UNLIKELY = 1e-12


@dataclass(frozen=True)
class LikelihoodLink(Attack[LinkageKnowledge, LinkageGuess]):
    """Name the likeliest rows; as many people as the release has of them are taken for kept, the likeliest ones.

    Who is taken for deleted is named rows in the second and third place all the same: they count where that was wrong.
    """

    knowledge: ClassVar[type] = LinkageKnowledge

    reach: float = parameter(4.0, "how far a number may have moved by a swap", low=0)
    cells: int = parameter(4, "how many other cells may have changed by a swap", low=0)

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        odds = learned_odds(knowledge)
        presence = np.logaddexp.reduce(odds, axis=1)
        kept = np.zeros(len(odds), dtype=bool)
        kept[np.argsort(-presence, kind="stable")[: knowledge.kept]] = True
        rows = nearest_columns(-odds)
        exact = in_reach(knowledge.people, knowledge.release, 0, 0)
        if exact.any(axis=1).sum() >= _LETTER_FOR_LETTER * knowledge.kept:
            rows[:, 1:] = nearest_columns(-self._exchanged(knowledge, exact))[:, : CHOICES - 1]
        shifted = np.concatenate([np.full((len(rows), 1), DELETED), rows[:, : CHOICES - 1]], axis=1)
        return LinkageGuess(np.where(kept[:, None], rows, shifted))

    def _exchanged(self, knowledge: LinkageKnowledge, exact: NDArray[np.bool_]) -> Matrix:
        """How likely each row is a person's own that got another record, where records in reach were swapped at random.

        A record that many others are near to is taken by each of them less likely.
        """
        release = knowledge.release
        near = in_reach(knowledge.people, release, self.reach, self.cells) & ~exact
        rivals = np.zeros(len(release))
        for start in range(0, len(release), _BLOCK):
            block = release.take(np.arange(start, min(start + _BLOCK, len(release))))
            rivals += in_reach(block, release, self.reach, self.cells).sum(axis=0)
        return np.where(near, 1 / np.maximum(rivals, 1), 0.0)


def learned_odds(knowledge: LinkageKnowledge) -> Matrix:
    """log P(row | it is the person's) - log P(row | it is anybody's), shape (people, rows); noise by maximum likelihood."""
    people, release = knowledge.people, knowledge.release
    words = {name: differing(people, release, name) for name in category_names(people.schema)}
    words |= {name: differing(people, release, name) for name in number_names(people.schema) if _is_flag(people, name)}
    apart = {
        name: np.abs(people.values(name)[:, None] - release.values(name)[None, :]).astype(np.float64)
        for name in number_names(people.schema)
        if name not in words
    }
    changed, scales = dict.fromkeys(words, _FIRST_CHANGE), dict.fromkeys(apart, _FIRST_SCALE)
    common = {name: np.clip((~unlike).mean(axis=1), _UNLIKELY, 1 - _UNLIKELY)[:, None] for name, unlike in words.items()}
    density = {name: _density(people, release, name)[:, None] for name in apart}
    prior = np.log(knowledge.kept / max(1, len(people) - knowledge.kept) / len(release)) if knowledge.kept else 0.0
    odds = np.zeros((len(people), len(release)))
    for _ in range(_ROUNDS):
        odds = np.zeros_like(odds)
        for name, unlike in words.items():
            odds += np.where(unlike, np.log(changed[name] / (1 - common[name])), np.log((1 - changed[name]) / common[name]))
        for name, distance in apart.items():
            odds += -distance / scales[name] - np.log(2 * scales[name]) - np.log(density[name])
        weights = _posterior(odds + prior)
        total = max(float(weights.sum()), 1.0)
        changed = {
            name: float(np.clip((weights * unlike).sum() / total, _LEAST_CHANGE, 0.5)) for name, unlike in words.items()
        }
        scales = {name: max(float((weights * distance).sum() / total), _LEAST_SCALE) for name, distance in apart.items()}
    return odds


def _posterior(odds: Matrix) -> Matrix:
    """The chance of each row to be the person's, beside that of no row at all."""
    most = np.maximum(odds.max(axis=1, keepdims=True), 0)
    shares = np.exp(odds - most)
    posterior: Matrix = shares / (shares.sum(axis=1, keepdims=True) + np.exp(-most))
    return posterior


def _is_flag(table: Table, name: str) -> bool:
    return bool(np.isin(table.values(name), (0, 1)).all())


def _density(people: Table, release: Table, name: str) -> Matrix:
    """How dense the numbers of the release are around each person's, per unit."""
    values, spread = release.values(name).astype(np.float64), float(release.values(name).std()) or 1.0
    width = spread / 4
    near = np.abs(people.values(name)[:, None] - values[None, :]) <= width
    return np.maximum(near.mean(axis=1), 1 / len(values)) / (2 * width)
