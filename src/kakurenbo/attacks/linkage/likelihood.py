"""`likelihood_link`: how likely each row comes from each person, with the noise of the release
learned from the files alone.

A row is compared with a person column by column; how much an equal or a different cell tells
follows from how often columns were changed, which expectation maximization finds, and from how rare
a value is. A release in which everybody who is kept is found to the letter has probably been
swapped: then rows are also named that could have got their record in exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage.base import LinkageAttack, category_names, number_names
from kakurenbo.attacks.linkage.nearest import nearest_columns, squared_distances
from kakurenbo.attacks.linkage.swaps import exchange_chances, find_swap_traces
from kakurenbo.measures.records import differing
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import CHOICES, DELETED, LinkageGuess, LinkageKnowledge

Matrix = NDArray[np.float64]

_ROUNDS = 8
_MIN_SCALE, _MIN_CHANGE, _MAX_CHANGE = 0.1, 0.003, 0.5  # of the noise: nothing is certain
_FIRST_SCALE, _FIRST_CHANGE = 2.0, 0.1
_UNLIKELY = 1e-12


@dataclass(frozen=True)
class LikelihoodLink(LinkageAttack):
    """Name the likeliest rows; as many people as the release has of them are taken for kept, those with the nearest rows.

    Who is taken for deleted is named rows in the second and third place all the same: they count
    where that was wrong.
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
        odds = _learned_odds(knowledge)
        # Whoever has a rare value has high odds, be it that people like that were deleted: for
        # that, distance tells more.
        distances = squared_distances(knowledge).min(axis=1)
        kept = np.zeros(len(odds), dtype=bool)
        kept[np.argsort(distances, kind="stable")[: knowledge.kept]] = True
        traces = find_swap_traces(knowledge)
        if traces is None:
            rows = nearest_columns(-odds)
        else:
            shares = np.exp(odds - odds.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            swapped = exchange_chances(knowledge, traces, self.reach, self.cells)
            rows = nearest_columns(-(self.unswapped * shares + (1 - self.unswapped) * swapped))
        shifted = np.concatenate([np.full((len(rows), 1), DELETED), rows[:, : CHOICES - 1]], axis=1)
        return LinkageGuess(np.where(kept[:, None], rows, shifted))


def _learned_odds(knowledge: LinkageKnowledge) -> Matrix:
    """Return log P(row | it is the person's) - log P(row | it is anybody's), shape (people, rows).

    The noise of every column is what makes the people likeliest, half of whom are somewhere in the
    release.
    """
    people, release = knowledge.people, knowledge.release
    numbers = number_names(people.schema)
    flags = [name for name in numbers if np.isin(people.values(name), (0, 1)).all()]
    words = [differing(people, release, name) for name in (*category_names(people.schema), *flags)]
    apart, background = [], np.zeros((len(people), len(release)))
    for unlike in words:
        common = np.clip((~unlike).mean(axis=1), _UNLIKELY, 1 - _UNLIKELY)[:, None]
        background += np.where(unlike, np.log(1 - common), np.log(common))
    for name in (name for name in numbers if name not in flags):
        values = release.values(name).astype(np.float64)
        distance = np.abs(people.values(name)[:, None] - values[None, :]).astype(np.float64)
        # How dense the numbers of the release are around each person's, per unit.
        width = (float(release.values(name).std()) or 1.0) / 4
        density = np.maximum((distance <= width).mean(axis=1), 1 / len(values)) / (2 * width)
        background += np.log(density)[:, None]
        apart.append(distance)
    prior = 0.0
    if knowledge.kept:
        prior = np.log(knowledge.kept / max(1, len(people) - knowledge.kept) / len(release))
    changes, scales = [_FIRST_CHANGE] * len(words), [_FIRST_SCALE] * len(apart)
    likelihood = np.zeros_like(background)
    for _ in range(_ROUNDS):
        likelihood = np.zeros_like(background)
        for unlike, change in zip(words, changes, strict=True):
            likelihood += np.where(unlike, np.log(change), np.log(1 - change))
        for distance, scale in zip(apart, scales, strict=True):
            likelihood -= distance / scale + np.log(2 * scale)
        weights = _posterior(likelihood - background + prior)
        total = max(float(weights.sum()), 1.0)
        changes = [
            float(np.clip((weights * unlike).sum() / total, _MIN_CHANGE, _MAX_CHANGE))
            for unlike in words
        ]
        scales = [max(float((weights * d).sum() / total), _MIN_SCALE) for d in apart]
    odds: Matrix = likelihood - background
    return odds


def _posterior(odds: Matrix) -> Matrix:
    """Return the chance of each row to be the person's, where it may be that of no row at all."""
    most = np.maximum(odds.max(axis=1, keepdims=True), 0)
    shares = np.exp(odds - most)
    posterior: Matrix = shares / (shares.sum(axis=1, keepdims=True) + np.exp(-most))
    return posterior
