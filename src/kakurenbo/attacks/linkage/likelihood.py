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

from kakurenbo.attacks.linkage.exchange import exchanged, traces_of_swaps
from kakurenbo.attacks.linkage.knowledge import (
    CHOICES,
    DELETED,
    LinkageGuess,
    LinkageKnowledge,
    category_names,
    number_names,
)
from kakurenbo.attacks.linkage.rlink import nearest_columns, squared_distances
from kakurenbo.contest import Attack
from kakurenbo.core import Table
from kakurenbo.measures.records import differing
from kakurenbo.methods.parameters import parameter

Matrix = NDArray[np.float64]

_ROUNDS = 8
_LEAST_SCALE, _LEAST_CHANGE = 0.1, 0.003  # of the noise: nothing is taken for certain
_FIRST_SCALE, _FIRST_CHANGE = 2.0, 0.1
_UNLIKELY = 1e-12


@dataclass(frozen=True)
class LikelihoodLink(Attack[LinkageKnowledge, LinkageGuess]):
    """Name the likeliest rows; as many people as the release has of them are taken for kept, those with the nearest rows.

    Who is taken for deleted is named rows in the second and third place all the same: they count where that was wrong.
    """

    knowledge: ClassVar[type] = LinkageKnowledge

    reach: float = parameter(4.0, "how far a number may have moved by a swap", low=0)
    cells: int = parameter(4, "how many other cells may have changed by a swap", low=0)
    unswapped: float = parameter(
        0.03,
        "chance that records were not swapped although everybody is found to the letter",
        low=0,
        high=1,
    )

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        odds, distances = learned_odds(knowledge), squared_distances(knowledge)
        kept = np.zeros(len(odds), dtype=bool)
        # Whoever has a rare value has high odds, be it that people like that were deleted: for that, distance tells more.
        kept[np.argsort(distances.min(axis=1), kind="stable")[: knowledge.kept]] = True
        traces = traces_of_swaps(knowledge)
        if traces is None:
            rows = nearest_columns(-odds)
        else:
            swapped = exchanged(knowledge, traces, self.reach, self.cells)
            rows = nearest_columns(
                -(self.unswapped * _shares(odds) + (1 - self.unswapped) * swapped)
            )
        shifted = np.concatenate([np.full((len(rows), 1), DELETED), rows[:, : CHOICES - 1]], axis=1)
        return LinkageGuess(np.where(kept[:, None], rows, shifted))


def learned_odds(knowledge: LinkageKnowledge) -> Matrix:
    """log P(row | it is the person's) - log P(row | it is anybody's), shape (people, rows).

    The noise of every column is what makes the people likeliest, half of whom are somewhere in the release.
    """
    people, release = knowledge.people, knowledge.release
    words = {name: differing(people, release, name) for name in category_names(people.schema)}
    words |= {
        name: differing(people, release, name)
        for name in number_names(people.schema)
        if _is_flag(people, name)
    }
    apart = {
        name: np.abs(people.values(name)[:, None] - release.values(name)[None, :]).astype(
            np.float64
        )
        for name in number_names(people.schema)
        if name not in words
    }
    changed, scales = dict.fromkeys(words, _FIRST_CHANGE), dict.fromkeys(apart, _FIRST_SCALE)
    background = np.zeros((len(people), len(release)))
    for unlike in words.values():
        common = np.clip((~unlike).mean(axis=1), _UNLIKELY, 1 - _UNLIKELY)[:, None]
        background += np.where(unlike, np.log(1 - common), np.log(common))
    for name in apart:
        background += np.log(_density(people, release, name))[:, None]
    prior = (
        np.log(knowledge.kept / max(1, len(people) - knowledge.kept) / len(release))
        if knowledge.kept
        else 0.0
    )
    likelihood = np.zeros_like(background)
    for _ in range(_ROUNDS):
        likelihood = np.zeros_like(background)
        for name, unlike in words.items():
            likelihood += np.where(unlike, np.log(changed[name]), np.log(1 - changed[name]))
        for name, distance in apart.items():
            likelihood -= distance / scales[name] + np.log(2 * scales[name])
        weights = _posterior(likelihood - background + prior)
        total = max(float(weights.sum()), 1.0)
        changed = {
            name: float(np.clip((weights * unlike).sum() / total, _LEAST_CHANGE, 0.5))
            for name, unlike in words.items()
        }
        scales = {
            name: max(float((weights * distance).sum() / total), _LEAST_SCALE)
            for name, distance in apart.items()
        }
    odds: Matrix = likelihood - background
    return odds


def _posterior(odds: Matrix) -> Matrix:
    """The chance of each row to be the person's, beside that of no row at all."""
    most = np.maximum(odds.max(axis=1, keepdims=True), 0)
    shares = np.exp(odds - most)
    posterior: Matrix = shares / (shares.sum(axis=1, keepdims=True) + np.exp(-most))
    return posterior


def _shares(odds: Matrix) -> Matrix:
    """The chance of each row to be the person's, where one of them is."""
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    shares: Matrix = chances / chances.sum(axis=1, keepdims=True)
    return shares


def _is_flag(table: Table, name: str) -> bool:
    return bool(np.isin(table.values(name), (0, 1)).all())


def _density(people: Table, release: Table, name: str) -> Matrix:
    """How dense the numbers of the release are around each person's, per unit."""
    values, spread = (
        release.values(name).astype(np.float64),
        float(release.values(name).std()) or 1.0,
    )
    width = spread / 4
    near = np.abs(people.values(name)[:, None] - values[None, :]) <= width
    density: Matrix = np.maximum(near.mean(axis=1), 1 / len(values)) / (2 * width)
    return density
