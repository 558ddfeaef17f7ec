"""Two owners: a pseudonym that shows the purchases of one customer in the place of another.

Where baskets were swapped, items lead to the source. What the release shows that is not the
source's comes from the place, the slot: a basket that was cut to the slot's size, a date and a
price list that the whole crowd shares. F asks for the slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.attacks.reidentification.assignment import Scores, best_three, write_month
from kakurenbo.attacks.reidentification.evidence import Bag
from kakurenbo.attacks.reidentification.months import Month, months_of, unit_vectors
from kakurenbo.attacks.reidentification.purchases import shown_customers, true_purchases
from kakurenbo.attacks.reidentification.types import (
    ReidentificationAttack,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.data.transactions import months as month_of_rows
from kakurenbo.methods.parameters import parameter

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDS = 20  # of balancing slots against pseudonyms
# Shares of baskets whose size is off for another reason, and places that a basket may have moved by
# size, to choose from.
_STRAYS = (0.02, 0.1, 0.3, 0.6, 0.95)
_WIDTHS = (3, 5, 8, 12, 16, 20, 25, 32, 50, 80, 150, 300, 1000, 10000)
_POINTS = (np.arange(6) + 0.5) / 6  # of the places that baskets of one size share
_EVEN = 0.5  # what agreement is thought to be before anything is seen
_IMPOSSIBLE = -60.0
_CROWDED = 0.9  # cosine from which two pseudonyms show the same
_SHARPNESS = 20.0  # of the log of a cosine in crowds


@dataclass(frozen=True)
class SecondOwner(ReidentificationAttack):
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
        sourced = [month for month in _sourced_months(knowledge) if (month.source >= 0).any()]
        if not sourced:
            return guess
        width, stray = _fit_sizes(sourced)
        fields = [
            field
            for field in ("date", "price")
            if np.mean([month.agreement(field) for month in sourced]) < self.kept
        ]
        for month in sourced:
            scores = month.size_scores(width, stray)
            for field in fields:
                scores += month.crowd_scores(field)
            scores[month.source[month.linked], month.linked] = _IMPOSSIBLE
            write_month(guess, month.month, best_three(balanced(scores, _ROUNDS)))
        return guess


@dataclass(frozen=True, eq=False)
class SourcedMonth:
    """One month whose pseudonyms have been linked to the customers whose purchases they show.

    ``source`` holds a place in ``month.original.owners`` for each pseudonym of the month, -1 where
    nobody fits.
    """

    month: Month
    source: Ints

    @property
    def linked(self) -> Ints:
        """The pseudonyms that have a source."""
        return np.flatnonzero(self.source >= 0)

    def agreement(self, field: str) -> float:
        """Return how much of a field is the source's beyond chance, from 0 to 1."""
        return Bag.of(self.month, field).kept_share(self.source[self.linked], self.linked, _EVEN)

    def size_scores(self, width: float, stray: float) -> Scores:
        """Return log P(rows shown | slot, source), where a basket is cut to the smaller of the two;
        (customers, pseudonyms).
        """
        sizes, shown = self.month.original.sizes, self.month.released.sizes
        _, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
        source = np.where(self.source >= 0, place[self.source], 0)
        fits = np.minimum(sizes[:, None], sizes[self.source][None, :]) == shown[None, :]
        near = _nearness(counts, width)[place[:, None], source[None, :]]
        chance = near * np.where(fits, 1 - stray, stray / len(sizes))
        chance = np.where(self.source[None, :] >= 0, chance, 1.0)
        return np.log(np.maximum(chance, 1e-12)).astype(np.float32)

    def crowd_scores(self, field: str) -> Scores:
        """Score who shows the same as those that show a slot's own purchases: slots and sources of
        a crowd are the same people.

        It weighs as much as there are pseudonyms that another shows the same as; shape (customers,
        pseudonyms).
        """
        shown = unit_vectors(self.month.counts(field)[1])
        cosines = np.asarray((shown @ shown.T).toarray(), dtype=np.float32)
        np.fill_diagonal(cosines, 0)
        weight = float((cosines.max(axis=1, initial=0) > _CROWDED).mean())
        scores = np.zeros((len(self.month.original.owners), len(self.source)), dtype=np.float32)
        logs = np.log(np.maximum(cosines[self.linked], 0.05))
        scores[self.source[self.linked]] = np.float32(weight * _SHARPNESS) * logs
        return scores


def _sourced_months(knowledge: ReidentificationKnowledge) -> list[SourcedMonth]:
    """Link pseudonyms over the year or month by month, whichever explains more rows."""
    original, released = knowledge.original, knowledge.released
    ways = [shown_customers(original, released, monthly=monthly) for monthly in (False, True)]
    linked = max(ways, key=lambda way: int(true_purchases(original, released, way).sum()))
    shape = (knowledge.calendar.months, len(knowledge.pseudonyms))
    customer_of = np.full(shape, -1, dtype=np.int64)
    customer_of[month_of_rows(released), released.codes["id_user"]] = linked
    sourced = []
    for month in months_of(knowledge):
        customer, owners = customer_of[month.number, month.released.owners], month.original.owners
        place = np.minimum(np.searchsorted(owners, customer), len(owners) - 1)
        sourced.append(SourcedMonth(month, np.where(owners[place] == customer, place, -1)))
    return sourced


# -- basket sizes ------------------------------------------------------------------------------


def _nearness(counts: Ints, width: float) -> Floats:
    """Return mean max(0, 1 - distance / width) over the places that baskets of two sizes share,
    shape (sizes, sizes).

    ``counts`` tells how many baskets of a month have each size, in the order of sizes.
    """
    start = np.cumsum(counts) - counts
    places = start[:, None] + counts[:, None] * _POINTS[None, :]  # (sizes, points)
    total = np.zeros((len(start), len(start)))
    for ours in places.T:
        for theirs in places.T:
            total += np.maximum(0, 1 - np.abs(ours[:, None] - theirs[None, :]) / width)
    return total / len(_POINTS) ** 2


def _fit_sizes(months: Sequence[SourcedMonth]) -> tuple[float, float]:
    """Return how far baskets move among the sizes of a month, and how many are off: the likeliest
    of some choices.
    """
    total = np.zeros((len(_WIDTHS), len(_STRAYS)))
    for month in months:
        sizes = month.month.original.sizes
        source, shown = sizes[month.source[month.linked]], month.month.released.sizes[month.linked]
        total += [_log_likelihoods(sizes, source, shown, width) for width in _WIDTHS]
    best = np.unravel_index(total.argmax(), total.shape)
    return float(_WIDTHS[best[0]]), _STRAYS[best[1]]


def _log_likelihoods(sizes: Ints, source: Ints, shown: Ints, width: float) -> Floats:
    """Return log P(sizes shown | sizes of the sources): slots near in size, baskets cut to the
    smaller; shape (strays,).
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    chance = _nearness(counts, width) * counts[:, None]  # (slot, source)
    chance /= np.maximum(chance.sum(axis=0), 1e-12)
    place = np.searchsorted(distinct, source)
    at_least = np.cumsum(chance[::-1], axis=0)[::-1]
    equal = np.minimum(np.searchsorted(distinct, shown), len(distinct) - 1)
    is_cut = (distinct[equal] == shown) & (shown < source)
    cut = np.where(is_cut, chance[equal, place], 0.0)
    fits = np.where(shown == source, at_least[place, place], cut)
    return np.array([np.log((1 - s) * fits + s / len(distinct)).sum() for s in _STRAYS])
