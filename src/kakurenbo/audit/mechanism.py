"""How cells of the original became cells of the release, estimated from the two: kept (and coarsened) or drawn anew.

Keeping cells independently shrinks the dependence of two columns by exactly p_c p_c', whatever is drawn otherwise, and
coarsening can be done to the population as well: so the p_c follow from the dependences of all pairs of columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit.density import mutual_information
from kakurenbo.audit.encoding import Coded, CodedColumn, Codes, Floats

_LEAST, _MOST = 0.01, 0.999  # a cell may always have been drawn anew, and never always is
_ROUNDS = 500
_SETTLED = 1e-9
_UNEXPLAINED = 1e-3  # share of the draws given to the release's own distribution, so that no released value is impossible
_MOST_PAIRS = 1000  # of columns, whose dependences are measured
_PAIRS_OF_EACH = 4
_MOST_REACH = 600.0  # of the log of a product, which a number just holds
_LEAST_SHARE = 1e-30  # in the place of 0
_TELLING = (
    64  # values of a column that its dependences are measured by; rarer ones are taken together
)


@dataclass(frozen=True, eq=False)
class Ratios:
    """P(released code | original code) over how common the released code is.

    Products over many columns of probabilities themselves would be less than a number can be.

    Attributes
    ----------
    matrices : list of arrays, shape (size, released)
    usual : list of arrays, shape (released,)
        log of how common each released code is, raised as the ratios are.
    power : float
        That all are raised to: 1, or less where even ratios would make products that no number can hold.
    """

    matrices: list[Floats]
    usual: list[Floats]
    power: float

    @classmethod
    def of(cls, transitions: Sequence[Floats], people: Codes) -> Ratios:
        """Of the transitions of all columns, by how common original codes are among these people."""
        usual = []
        for place, matrix in enumerate(transitions):
            share = np.bincount(people[:, place], minlength=len(matrix)) / len(people)
            usual.append(np.log(np.maximum(share @ matrix, _LEAST_SHARE)))
        logs = [
            np.log(np.maximum(matrix, _LEAST_SHARE)) - own
            for matrix, own in zip(transitions, usual, strict=True)
        ]
        reach = max(
            sum(float(np.abs(side(own)).max()) for own in logs) for side in (_above, _below)
        )
        power = min(1.0, _MOST_REACH / reach) if reach else 1.0
        return cls([np.exp(power * own) for own in logs], [power * own for own in usual], power)

    def select(self, places: Sequence[int]) -> Ratios:
        """Some columns alone."""
        return Ratios(
            [self.matrices[place] for place in places],
            [self.usual[place] for place in places],
            self.power,
        )

    def relative(self, log_density: Floats, release: Codes) -> Floats:
        """How common whole rows are, on the same scale, shape (m,)."""
        usual = np.sum([own[release[:, place]] for place, own in enumerate(self.usual)], axis=0)
        return np.asarray(
            np.exp(np.clip(self.power * log_density - usual, -_MOST_REACH, _MOST_REACH))
        )


def _above(logs: Floats) -> Floats:
    return np.maximum(logs, 0)


def _below(logs: Floats) -> Floats:
    return np.minimum(logs, 0)


def coarsening(column: CodedColumn, release: Codes) -> Floats:
    """P(released code | original code) where nothing is drawn anew, shape (size, released).

    Of several released codes that cover a value, each is as likely as it is common; a value that none covers is released
    as anything.
    """
    seen = np.bincount(release, minlength=column.released) + 1e-9
    weights = column.covers * seen
    weights[~column.covers.any(axis=1)] = seen
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def shown_as(column: CodedColumn, release: Codes) -> NDArray[np.int64]:
    """The released code that tells most of each original one, shape (size,): the narrowest that covers it, of several the
    commonest; where none does, the code after the last: the release never shows such a value."""
    seen = np.bincount(release, minlength=column.released)
    width = column.covers.sum(axis=0)
    order = np.lexsort((np.arange(column.released), -seen, width))  # what tells most first
    best = order[column.covers[:, order].argmax(axis=1)]
    return np.asarray(np.where(column.covers.any(axis=1), best, column.released))


def transitions(coded: Coded, pool: Codes) -> list[Floats]:
    """For each column P(released code | original code), shape (size, released).

    Parameters
    ----------
    coded : Coded
        Its released rows are explained.
    pool : array of int32, shape (n, columns)
        People like those of the original, members or not.
    """
    maps = [
        coarsening(column, coded.release[:, place]) for place, column in enumerate(coded.columns)
    ]
    return with_retention(coded, pool, maps, retention(coded, pool, maps))


def with_retention(coded: Coded, pool: Codes, maps: list[Floats], kept: Floats) -> list[Floats]:
    """The same where it is known how often cells were kept."""
    found = []
    for place, (matrix, p) in enumerate(zip(maps, kept.tolist(), strict=True)):
        before = np.bincount(pool[:, place], minlength=len(matrix)) / len(pool) @ matrix
        after = np.bincount(coded.release[:, place], minlength=matrix.shape[1]) / len(coded.release)
        draws = np.maximum((after - p * before) / (1 - p), 0) + _UNEXPLAINED * after
        found.append(p * matrix + (1 - p) * draws / draws.sum())
    return found


def retention(coded: Coded, pool: Codes, maps: list[Floats]) -> Floats:
    """The probability p_c that a cell was kept, shape (columns,).

    The centred joint histogram J of two columns has E[J of the release] = p_c p_c' J of the coarsened pool; the least squares
    fit of all pairs is found one p_c after the other. A column that depends on no other cannot be told.
    """
    count = len(coded.columns)
    if count == 1:
        return np.array([_MOST])
    grouped = [_grouped(coded.release[:, place], maps[place]) for place in range(count)]
    agreement, strength = np.zeros((count, count)), np.zeros((count, count))
    for i, j in _telling_pairs(pool):
        joint = joint_shares(pool[:, i], len(maps[i]), pool[:, j], len(maps[j]))
        expected = _dependence(grouped[i][1].T @ joint @ grouped[j][1])
        seen = _dependence(
            joint_shares(grouped[i][0], expected.shape[0], grouped[j][0], expected.shape[1])
        )
        agreement[i, j] = agreement[j, i] = np.vdot(seen, expected)
        strength[i, j] = strength[j, i] = np.vdot(expected, expected)
    p = np.full(count, 0.5)
    for _ in range(_ROUNDS):
        previous = p.copy()
        for i in range(count):
            if strength[i] @ p**2 > 0:
                p[i] = np.clip(agreement[i] @ p / (strength[i] @ p**2), _LEAST, _MOST)
        if np.abs(p - previous).max() < _SETTLED:
            break
    return p


def _telling_pairs(pool: Codes) -> list[tuple[int, int]]:
    """All pairs of columns; of very many those that tell most of each other, and the best of each column."""
    count = pool.shape[1]
    every = list(itertools.combinations(range(count), 2))
    if len(every) <= _MOST_PAIRS:
        return every
    told = mutual_information(pool)
    best = {
        tuple(sorted((i, int(j))))
        for i in range(count)
        for j in np.argsort(-told[i], kind="stable")[:_PAIRS_OF_EACH]
    }
    ranked = sorted(every, key=lambda pair: (pair not in best, -told[pair]))
    return ranked[:_MOST_PAIRS]


def _grouped(release: Codes, matrix: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Released codes and their columns of the map, the rarest taken together where there are many."""
    seen = np.bincount(release, minlength=matrix.shape[1])
    if len(seen) <= _TELLING:
        return release.astype(np.int64), matrix
    group = np.full(len(seen), _TELLING - 1)
    group[np.argsort(-seen, kind="stable")[: _TELLING - 1]] = np.arange(_TELLING - 1)
    together = np.zeros((len(matrix), _TELLING))
    np.add.at(together.T, group, matrix.T)
    return group[release], together


def joint_shares(one: NDArray[Any], size: int, other: NDArray[Any], other_size: int) -> Floats:
    """Joint relative frequencies of two columns of codes, shape (size, other_size)."""
    counts = np.bincount(one.astype(np.int64) * other_size + other, minlength=size * other_size)
    return np.asarray(counts.reshape(size, other_size) / len(one))


def _dependence(joint: Floats) -> Floats:
    """Joint relative frequencies less the product of their own."""
    return np.asarray(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0)))
