"""The row model of any table: how well each released row explains what is known of a person, whatever columns that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kakurenbo.audit.density import log_densities, mutual_information
from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.engine import likelihoods
from kakurenbo.audit.mechanism import Ratios, transitions

_FEWEST_ASKED = (
    500  # people of each kind, where that many are wanted, however many released rows there are
)
_FEWEST_APART = 40  # people of a holdout below which it is not split
_MOST_TELLING = 100_000  # people of each table, at least, where there are more
_MOST_PAIRS = 300_000_000  # of a released row and somebody of one kind


@dataclass(frozen=True, eq=False)
class RowModel:
    """P(released row | person) over how common the row is, column by column.

    Attributes
    ----------
    release : array of int32, shape (m, columns)
    ratios : Ratios
        Of each column.
    """

    release: Codes
    ratios: Ratios

    @classmethod
    def of(cls, coded: Coded, pool: Codes) -> RowModel:
        """The model of a release, its noise estimated by people of whom nobody knows whether they are members."""
        return cls(coded.release, Ratios.of(transitions(coded, pool), pool))

    @classmethod
    def of_others(cls, coded: Coded, others: Codes) -> RowModel:
        """The same tables with other people in the place of the released rows: what anybody learns from them.

        How far people resemble each other is told by every other one of them: nobody may be explained by himself.
        """
        whole = as_if_released(coded, others)
        return cls(
            others, Ratios.of(transitions(whole.with_release(others[::2]), others[1::2]), others)
        )

    def blocks(self, people: Codes, places: Sequence[int]) -> Iterator[Floats]:
        """P(row | what is known of each person) over what is usual, (block, n), for one block of rows after the other."""
        own = list(places)
        return likelihoods(people[:, own], self.release[:, own], self.ratios.select(own).matrices)

    def evidence(self, places: Sequence[int]) -> Floats:
        """1 / how common the cells of each released row are together, on the scale of the ratios, (m,); the mean of all is 1.

        By Bayes' rule P(person | row) is P(row | person) times this, and how many people there are of his kind: a common row
        speaks for nobody in particular.
        """
        own = list(places)
        cells, ratios = self.release[:, own], self.ratios.select(own)
        sizes = [matrix.shape[1] for matrix in ratios.matrices]
        together = log_densities(cells, cells, sizes, self._told[np.ix_(own, own)])
        weights = 1 / ratios.relative(together, cells)
        return np.asarray(weights / weights.mean())

    @cached_property
    def _told(self) -> Floats:
        return mutual_information(self.release)


@dataclass(frozen=True, eq=False)
class Asked:
    """Whom an attack is tried on, and who tells what is known without the release.

    Attributes
    ----------
    choosing, reported : arrays of int32, shape (n, columns)
        People of the original: those that the worst case is chosen by, and those that it is reported on.
    controls : array of int32, shape (n, columns)
        People of the holdout; empty where there is none.
    choosing_controls : array of int32, shape (k, columns)
        Others of the holdout, beside those of whom the worst case is chosen; few or none where it is small.
    others : array of int32, shape (k, columns)
        People like them of whom nobody asks: the holdout, or else the rest of the original.
    attacked : Coded
        The release, and without a holdout as many of its rows, drawn by lot, as there are ``others``: strangers' rows would
        then tell as much as ``others`` do, so what a release tells beyond that was made of those who are asked.
    together : bool
        Whether those who choose are among the ``others``.
    """

    choosing: Codes
    reported: Codes
    controls: Codes
    choosing_controls: Codes
    others: Codes
    attacked: Coded
    together: bool

    @classmethod
    def of(
        cls,
        coded: Coded,
        holdout: Codes,
        most: int,
        rng: np.random.Generator,
        *,
        apart: bool = False,
    ) -> Asked:
        """At most so many of each kind, and fewer where there are very many released rows.

        Where controls choose, too, half of a small holdout is left ``apart`` for it; without one, so are those who choose.
        """
        most = max(min(most, _FEWEST_ASKED), min(most, _MOST_PAIRS // len(coded.release)))
        size = len(coded.original)
        count = min(most, size // 2, len(holdout)) if len(holdout) else min(most, size // 4)
        drawn = rng.permutation(size)[: 2 * count]
        choosing, reported = coded.original[drawn[:count]], coded.original[drawn[count:]]
        if len(holdout):
            held = holdout[rng.permutation(len(holdout))]
            own = min(count, len(held) // 2) if apart and len(held) >= 2 * _FEWEST_APART else count
            return cls(
                choosing,
                reported,
                held[:own],
                held[own : own + count],
                holdout,
                coded,
                together=False,
            )
        others = as_strangers(
            coded, np.delete(coded.original, drawn if apart else drawn[count:], axis=0)
        )
        rows = np.sort(rng.permutation(len(coded.release))[: len(others)])
        return cls(
            choosing,
            reported,
            holdout,
            holdout,
            others,
            coded.with_release(coded.release[rows]),
            together=not apart,
        )


def row_models(asked: Asked, coded: Coded, holdout: Codes) -> tuple[RowModel, RowModel]:
    """The model of the release, and that of others in its place, which tells what is known without it.

    Without a holdout one is compared with the other: then the noise of both is estimated by the same people, who are in
    neither but for what the release was made of, so that the rows of strangers and of others tell as much.
    """
    if len(holdout):
        return RowModel.of(
            asked.attacked, like_members(coded.original, holdout)
        ), RowModel.of_others(coded, asked.others)
    pool = asked.reported if asked.together else np.concatenate([asked.choosing, asked.reported])
    return RowModel.of(asked.attacked, pool), RowModel.of(as_if_released(coded, asked.others), pool)


def like_members(original: Codes, holdout: Codes) -> Codes:
    """People by whom noise is estimated, of whom nobody knows whether they are members: an even share of both tables."""
    return np.concatenate(
        [table[:: max(1, len(table) // _MOST_TELLING)] for table in (original, holdout)]
    )


def as_strangers(coded: Coded, people: Codes) -> Codes:
    """The same people of the original as strangers would be read, shape (n, columns).

    A released number that nobody has is taken for the next lower one; so is that of somebody who alone has it, when nobody may
    know it from him.
    """
    read = people.copy()
    for place, column in enumerate(coded.columns):
        if column.numeric and column.size > 2:
            alone = np.bincount(coded.original[:, place], minlength=column.size) == 1
            alone[-1] = False  # a missing value
            lower = np.where(alone, np.arange(column.size) - 1, np.arange(column.size))
            lower[0] = int(alone[0])
            read[:, place] = lower[people[:, place]]
    return read


def as_if_released(coded: Coded, people: Codes) -> Coded:
    """The same tables with other people in the place of the released rows: what anybody learns from others."""
    columns = tuple(
        replace(
            column,
            covers=np.eye(column.size, dtype=bool),
            exact=np.arange(column.size, dtype=np.int32),
        )
        for column in coded.columns
    )
    return replace(coded, columns=columns, release=people)
