"""Two owners: a pseudonym that shows the purchases of one customer in the place of another.

Where baskets were swapped, items lead to the source. What the release shows that is not the source's comes from the place, the
slot: a basket that was cut to the slot's size, a date and a price list that the whole crowd shares. F asks for the slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.content import shown_customers, true_purchases
from kakurenbo.attacks.reidentification.likelihood import Bag
from kakurenbo.attacks.reidentification.matching import Scores, best_three, write_month
from kakurenbo.attacks.reidentification.monthly import Month, months_of
from kakurenbo.attacks.sinkhorn import balanced
from kakurenbo.contest import Attack
from kakurenbo.data.transactions import months as month_of_rows
from kakurenbo.methods.parameters import parameter

Ints = NDArray[np.int64]
_ROUNDS = 20  # of balancing slots against pseudonyms
_STRAYS = (
    0.02,
    0.1,
    0.3,
    0.6,
    0.95,
)  # shares of baskets whose size is off for another reason, to choose from
_WIDTHS = (
    3,
    5,
    8,
    12,
    16,
    20,
    25,
    32,
    50,
    80,
    150,
    300,
    1000,
    10000,
)  # places that a basket may have moved by size
_POINTS = (np.arange(6) + 0.5) / 6  # of the places that baskets of one size share
_EVEN = 0.5  # what agreement is thought to be before anything is seen
_IMPOSSIBLE = -60.0
_CROWDED = 0.9  # cosine from which two pseudonyms show the same
_SHARPNESS = 20.0  # of the log of a cosine in crowds


@dataclass(frozen=True)
class TwoOwners(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """Find whose purchases a pseudonym shows, and then in whose place: by what does not agree with the former."""

    knowledge: ClassVar[type] = ReidentificationKnowledge
    kept: float = parameter(
        0.5,
        "from which share of agreement on a field is the purchaser's own, and says nothing of the place",
        low=0,
        high=1,
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        guess = ReidentificationGuess.blank(knowledge)
        pairs = [pair for pair in with_sources(knowledge) if (pair.source >= 0).any()]
        if not pairs:
            return guess
        width, stray = size_model(pairs)
        fields = [
            field
            for field in ("date", "price")
            if np.mean([pair.agreement(field) for pair in pairs]) < self.kept
        ]
        for pair in pairs:
            scores = pair.size_scores(width, stray)
            for field in fields:
                scores += pair.crowd_scores(field)
            slots = np.flatnonzero(pair.source >= 0)
            scores[pair.source[slots], slots] = _IMPOSSIBLE
            write_month(guess, pair.month, best_three(balanced(scores, _ROUNDS)))
        return guess


@dataclass(frozen=True, eq=False)
class Sourced:
    """One month whose pseudonyms have been linked to the customers whose purchases they show.

    ``source`` holds a place in ``month.original.owners`` for each pseudonym of the month, -1 where nobody there fits.
    """

    month: Month
    source: Ints

    def agreement(self, field: str) -> float:
        """How much of a field is the source's beyond chance, from 0 to 1."""
        linked = np.flatnonzero(self.source >= 0)
        return Bag.of(self.month, field).kept_share(self.source[linked], linked, _EVEN)

    def size_scores(self, width: float, stray: float) -> Scores:
        """log P(rows shown | slot, source), where a basket is cut to the smaller of the two; (customers, pseudonyms)."""
        sizes, shown = self.month.original.sizes, self.month.released.sizes
        table = _SizeTable.of(sizes)
        near = table.nearness(width)
        place = np.searchsorted(table.sizes, sizes)
        source = np.where(self.source >= 0, place[self.source], 0)
        fits = np.minimum(sizes[:, None], sizes[self.source][None, :]) == shown[None, :]
        chance = near[place[:, None], source[None, :]] * np.where(
            fits, 1 - stray, stray / len(sizes)
        )
        chance = np.where(self.source[None, :] >= 0, chance, 1.0)
        return np.log(np.maximum(chance, 1e-12)).astype(np.float32)

    def crowd_scores(self, field: str) -> Scores:
        """Slots and sources of a crowd are the same people: who shows the same as those that show a slot's own purchases.

        It weighs as much as there are pseudonyms that another shows the same as; shape (customers, pseudonyms).
        """
        _, pseudonyms = self.month.counts(field)
        norms = np.sqrt(np.asarray((pseudonyms * pseudonyms).sum(axis=1)).ravel())
        pseudonyms.data = pseudonyms.data / np.repeat(norms, np.diff(pseudonyms.indptr)).astype(
            np.float32
        )
        cosines = np.asarray((pseudonyms @ pseudonyms.T).toarray(), dtype=np.float32)
        np.fill_diagonal(cosines, 0)
        weight = float((cosines.max(axis=1, initial=0) > _CROWDED).mean())
        scores = np.zeros((len(self.month.original.owners), len(self.source)), dtype=np.float32)
        linked = np.flatnonzero(self.source >= 0)
        scores[self.source[linked]] = np.float32(weight * _SHARPNESS) * np.log(
            np.maximum(cosines[linked], 0.05)
        )
        return scores


def with_sources(knowledge: ReidentificationKnowledge) -> list[Sourced]:
    """The months with the source of each pseudonym: linked over the year or month by month, whichever explains more rows."""
    ways = [
        shown_customers(knowledge.original, knowledge.released, monthly=monthly)
        for monthly in (False, True)
    ]
    explained = [true_purchases(knowledge.original, knowledge.released, way).sum() for way in ways]
    linked = ways[int(np.argmax(explained))]
    customer_of = np.full(
        (knowledge.calendar.months, len(knowledge.pseudonyms)), -1, dtype=np.int64
    )
    customer_of[month_of_rows(knowledge.released), knowledge.released.codes["id_user"]] = linked
    found = []
    for month in months_of(knowledge):
        customer = customer_of[month.number, month.released.owners]
        place = np.searchsorted(month.original.owners, customer)
        place = np.minimum(place, len(month.original.owners) - 1)
        found.append(Sourced(month, np.where(month.original.owners[place] == customer, place, -1)))
    return found


@dataclass(frozen=True, eq=False)
class _SizeTable:
    """The basket sizes of a month in order: how many baskets have each, and which places they share."""

    sizes: Ints
    counts: Ints

    @classmethod
    def of(cls, sizes: Ints) -> _SizeTable:
        return cls(*np.unique(sizes, return_counts=True))

    def nearness(self, width: float) -> NDArray[np.float64]:
        """Mean of max(0, 1 - distance / width) over the places of two sizes, shape (sizes, sizes)."""
        start = np.cumsum(self.counts) - self.counts
        places = start[:, None] + self.counts[:, None] * _POINTS[None, :]  # (sizes, points)
        total = np.zeros((len(start), len(start)))
        for ours in places.T:
            for theirs in places.T:
                total += np.maximum(0, 1 - np.abs(ours[:, None] - theirs[None, :]) / width)
        return total / len(_POINTS) ** 2

    def log_likelihoods(self, source: Ints, shown: Ints, width: float) -> NDArray[np.float64]:
        """log P(sizes shown | sizes of the sources): slots near in size, baskets cut to the smaller; shape of ``_STRAYS``."""
        chance = self.nearness(width) * self.counts[:, None]  # (slot, source)
        chance /= np.maximum(chance.sum(axis=0), 1e-12)
        place = np.searchsorted(self.sizes, source)
        at_least = np.cumsum(chance[::-1], axis=0)[::-1]
        equal = np.minimum(np.searchsorted(self.sizes, shown), len(self.sizes) - 1)
        cut = np.where((self.sizes[equal] == shown) & (shown < source), chance[equal, place], 0.0)
        fits = np.where(shown == source, at_least[place, place], cut)
        return np.array(
            [np.log((1 - stray) * fits + stray / len(self.sizes)).sum() for stray in _STRAYS]
        )


def size_model(pairs: Sequence[Sourced]) -> tuple[float, float]:
    """How far baskets move among the sizes of a month, and how many are off: the likeliest of some choices."""
    total = np.zeros((len(_WIDTHS), len(_STRAYS)))
    for pair in pairs:
        linked, sizes = pair.source >= 0, pair.month.original.sizes
        table = _SizeTable.of(sizes)
        seen = sizes[pair.source[linked]], pair.month.released.sizes[linked]
        total += [table.log_likelihoods(*seen, width) for width in _WIDTHS]
    best = np.unravel_index(total.argmax(), total.shape)
    return float(_WIDTHS[best[0]]), _STRAYS[best[1]]
