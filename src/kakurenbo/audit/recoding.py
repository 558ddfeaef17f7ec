"""Relabelled, shifted and hashed columns undone: values are matched by how common they are and what they come with.

A secret bijection of values hides nothing: the pool says how common each value is and which others it goes with, and a
released value of the same habits is the same value. What is not verified by the pairs of columns is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.mechanism import joint_shares
from kakurenbo.audit.result import RecodedColumn
from kakurenbo.audit.rows import row_keys

_SUSPECT = 0.1  # total variation of a column between release and pool, beyond that of two samples, at which it may be renamed
_FEWEST_EACH = 3  # released cells of a value, on average
_SILENT = 0.5  # share of cells that may stand for anything
_ROUNDS = 8
_SMOOTHING = 0.5  # counts added to every pair of values
_BETTER = 0.6  # of the distance of pairs that is left where a column was really renamed
_CLEARLY = 0.05  # least distance that must go
Labels = NDArray[np.int64]


def undo_recoding(coded: Coded, pool: Codes) -> tuple[Coded, tuple[RecodedColumn, ...]]:
    """The tables with released values under their true names, and which columns that took.

    Parameters
    ----------
    coded : Coded
    pool : array of int32, shape (n, columns)
        Original and holdout together: nothing here knows which is which. Without a holdout people who are not asked about.
    """
    if not len(pool) or not len(coded.release):
        return coded, ()  # of nobody it is not known how common a value is
    suspects = [place for place in range(len(coded.columns)) if _is_suspect(coded, pool, place)]
    if not suspects:
        return coded, ()
    names = _Names(coded, pool, suspects)
    names.match()
    columns = list(coded.columns)
    undone = []
    for place in suspects:
        column, found = columns[place], names.labels[place]
        before, after = (
            names.pair_distance(place, _own_names(coded, place)),
            names.pair_distance(place, found),
        )
        if after > _BETTER * before or before - after < _CLEARLY:
            continue
        covers = np.zeros_like(column.covers)
        covers[found, np.arange(column.released)] = True
        columns[place] = replace(column, covers=covers, exact=found.astype(np.int32))
        renamed = int((found != _own_names(coded, place)).sum())
        undone.append(RecodedColumn(column.name, column.released, renamed))
    return replace(coded, columns=tuple(columns)), tuple(undone)


def _own_names(coded: Coded, place: int) -> Labels:
    """The original code that each released value seems to be; the last one for a word that nobody else has."""
    column = coded.columns[place]
    return np.where(column.exact >= 0, column.exact, column.size - 1).astype(np.int64)


def _is_suspect(coded: Coded, pool: Codes, place: int) -> bool:
    column = coded.columns[place]
    if (column.covers.sum(axis=0) != 1).any() or column.released > column.size:
        return (
            False  # bands and suppressed cells are coarser, not renamed; and no value has two names
        )
    if len(coded.release) < _FEWEST_EACH * column.released:
        return False  # values that are all different can be matched with anything
    share = np.bincount(pool[:, place], minlength=column.size) / len(pool)
    own = _own_names(coded, place)[coded.release[:, place]]
    seen = np.bincount(own, minlength=column.size) / len(own)
    both = (share * len(pool) + seen * len(own)) / (len(pool) + len(own))
    # Two samples of the same people differ, too: by about the mean of |N(0, p (1/n + 1/m))| in a value of share p.
    by_chance = np.sqrt(2 / np.pi * both * (1 / len(pool) + 1 / len(own))).sum() / 2
    return bool(np.abs(share - seen).sum() / 2 > by_chance + _SUSPECT)


def _is_silent(coded: Coded, place: int) -> bool:
    """Whether most released cells of a column may stand for anything."""
    anything = np.asarray(coded.columns[place].covers.all(axis=0))
    return bool(anything[coded.release[:, place]].mean() > _SILENT)


class _Names:
    """What each released value of the suspected columns is taken for, made better column by column."""

    def __init__(self, coded: Coded, pool: Codes, suspects: list[int]) -> None:
        self._coded, self._pool, self._suspects = coded, pool, suspects
        self._sizes = [column.size for column in coded.columns]
        self.labels = {place: _own_names(coded, place) for place in range(len(coded.columns))}
        # A column of which most cells tell nothing tells nothing of others.
        self._silent = [
            place for place in self.labels if place not in suspects and _is_silent(coded, place)
        ]

    def match(self) -> None:
        """Small columns first, each by those that are settled; then all by all; in the end by rows that agree in the rest."""
        settled = [
            place
            for place in self.labels
            if place not in self._suspects and place not in self._silent
        ]
        for place in sorted(self._suspects, key=lambda one: self._sizes[one]):
            self.labels[place] = self._assigned(self._evidence(place, settled))
            settled.append(place)
        for _ in range(_ROUNDS):
            before = {place: self.labels[place].copy() for place in self._suspects}
            for place in self._suspects:
                self.labels[place] = self._assigned(self._evidence(place, settled))
            if all(np.array_equal(before[place], self.labels[place]) for place in self._suspects):
                break
        for _ in range(2):
            for place in self._suspects:
                votes = self._votes(place)
                self.labels[place] = self._assigned(
                    self._evidence(place, settled) + votes * np.log(len(self._pool))
                )

    def _released(self, place: int, labels: Labels) -> Labels:
        return labels[self._coded.release[:, place]]

    def _evidence(self, place: int, others: list[int]) -> Floats:
        """log-likelihood that the rows of a released value are those of an original one, shape (released, size)."""
        column, rows = self._coded.columns[place], len(self._coded.release)
        share = np.bincount(self._pool[:, place], minlength=column.size) + _SMOOTHING
        seen = np.bincount(self._coded.release[:, place], minlength=column.released)
        total = np.outer(seen, np.log(share / share.sum()))
        for other in others:
            if other == place:
                continue
            size = self._sizes[other]
            known = joint_shares(
                self._pool[:, place], column.size, self._pool[:, other], size
            ) * len(self._pool)
            overall = known.sum(axis=0) / known.sum() * 2
            known = (known + _SMOOTHING * overall + 1e-6) / (known.sum(axis=1, keepdims=True) + 1)
            released = self._released(other, self.labels[other])
            found = (
                joint_shares(self._coded.release[:, place], column.released, released, size) * rows
            )
            total += found @ np.log(known).T
        return np.asarray(total)

    def _votes(self, place: int) -> Floats:
        """How many pairs of a released and a pool row agree in all other columns, by their values here, (released, size)."""
        others = [other for other in self.labels if other != place and other not in self._silent]
        named = np.column_stack([self._released(other, self.labels[other]) for other in others])
        ours, theirs = row_keys(self._pool[:, others], named)
        # Keys that one pool row alone has say most, and cost least.
        counts = np.bincount(ours, minlength=int(max(ours.max(), theirs.max())) + 1)
        row_of = np.full(len(counts), -1)
        row_of[ours] = np.arange(len(ours))
        row = np.where(counts[theirs] == 1, row_of[theirs], -1)
        told = row >= 0
        column = self._coded.columns[place]
        votes = np.zeros((column.released, column.size))
        np.add.at(votes, (self._coded.release[told, place], self._pool[row[told], place]), 1)
        return votes

    @staticmethod
    def _assigned(evidence: Floats) -> Labels:
        """Each released value another original one, the most likely together; where there are too many, the likeliest."""
        released, size = evidence.shape
        if released > size:
            return np.asarray(evidence.argmax(axis=1))
        labels = np.zeros(released, dtype=np.int64)
        rows, columns = linear_sum_assignment(evidence, maximize=True)
        labels[rows] = columns
        return labels

    def pair_distance(self, place: int, labels: Labels) -> float:
        """Total variation between release and pool of the pairs with every other column, on average."""
        own = self._released(place, labels)
        distances = []
        for other in self.labels:
            if other == place or other in self._silent:
                continue
            size, other_size = self._sizes[place], self._sizes[other]
            known = joint_shares(self._pool[:, place], size, self._pool[:, other], other_size)
            found = joint_shares(own, size, self._released(other, self.labels[other]), other_size)
            distances.append(np.abs(known - found).sum() / 2)
        if not distances:  # a single column has its histogram alone
            known = np.bincount(self._pool[:, place], minlength=self._sizes[place]) / len(
                self._pool
            )
            return float(
                np.abs(known - np.bincount(own, minlength=self._sizes[place]) / len(own)).sum() / 2
            )
        return float(np.mean(distances))
