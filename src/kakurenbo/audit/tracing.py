"""`tracing`: who pulls the release's moments towards himself, as Homer et al. (2008) and Dwork et al. (2015) trace.

s(x) = phi(x)^T (Sigma + r I)^-1 (mean phi of the release - mean phi of the pool): needs no released row to look like a person.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.mechanism import coarsening

_FEWEST = 10  # people of the pool that a pair of values must have to be a feature
_COARSE = 24  # groups of a column in pairs; its single values are features of their own
_MOST_FEATURES = 1500
_MOST_PAIRS = 66  # pairs of columns, so that wide tables stay quick
_RIDGE = 1e-3
Labels = NDArray[np.int64]


def released_form(coded: Coded, people: Codes) -> Labels:
    """The released code that each cell would most likely have, shape (n, columns): people as the release would show them."""
    shown = []
    for place, column in enumerate(coded.columns):
        shown.append(coarsening(column, coded.release[:, place]).argmax(axis=1)[people[:, place]])
    return np.column_stack(shown).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Traces:
    """What tracing says of everybody.

    Attributes
    ----------
    total : array, shape (n,)
    by_column : array, shape (n, columns)
        The part of each column's own values.
    ratios : array, shape (n, columns)
        log of how much more common each value is in the release than in the pool.
    """

    total: Floats
    by_column: Floats
    ratios: Floats


def trace(coded: Coded, pool: Codes) -> Traces:
    """Scores of everybody in the pool, shape (n,), from histograms and pairs alone."""
    people, release = released_form(coded, pool), coded.release.astype(np.int64)
    phi, released, owner = _features(coded, people, release)
    pull = np.asarray(released.mean(axis=0) - phi.mean(axis=0)).ravel()
    mean = np.asarray(phi.mean(axis=0)).ravel()
    spread = np.asarray((phi.T @ phi).todense()) / len(people) - np.outer(mean, mean)
    weights = np.linalg.solve(spread + _RIDGE * np.eye(len(spread)), pull)
    columns = range(len(coded.columns))
    by_column = np.column_stack([phi[:, owner == place] @ weights[owner == place] for place in columns])
    return Traces(np.asarray(phi @ weights).ravel(), by_column, _ratios(coded, people, release))


def _ratios(coded: Coded, people: Labels, release: Labels) -> Floats:
    logs = []
    for place, column in enumerate(coded.columns):
        ours = np.bincount(people[:, place], minlength=column.released) * (len(release) / len(people))
        theirs = np.bincount(release[:, place], minlength=column.released)
        logs.append(np.log((theirs + 1) / (ours + 1))[people[:, place]])
    return np.column_stack(logs)


def _features(coded: Coded, people: Labels, release: Labels) -> tuple[sparse.csr_array, sparse.csr_array, Labels]:
    """One-hot values and pairs of values, of the pool and of the release, and the column that owns each (-1: a pair)."""
    width = len(coded.columns)
    coarse = [_coarse(people[:, place], release[:, place]) for place in range(width)]
    keys = [(people[:, place], release[:, place], place) for place in range(width)]
    # Numbers go with others by their products: what a release copies of them are moments, rarely joint histograms.
    texts = [place for place, column in enumerate(coded.columns) if not column.numeric]
    for i, j in itertools.islice(itertools.combinations(texts, 2), _MOST_PAIRS):
        keys.append((coarse[i][0] * _COARSE + coarse[j][0], coarse[i][1] * _COARSE + coarse[j][1], -1))
    counts = [np.bincount(ours) for ours, _, _ in keys]
    fewest = _fewest(counts)
    blocks, owners = [], []
    for (ours, theirs, place), count in zip(keys, counts, strict=True):
        number = np.full(int(max(len(count), theirs.max() + 1)), -1)
        kept = np.flatnonzero(count >= fewest)
        number[kept] = np.arange(len(kept))
        blocks.append((_one_hot(number[ours], len(kept)), _one_hot(number[theirs], len(kept))))
        owners.append(np.full(len(kept), place))
    numbers = [_moments(coded, rows, [block[side] for block in blocks[:width]]) for side, rows in enumerate((people, release))]
    ours_all, theirs_all = (
        sparse.csr_array(sparse.hstack([*(block[side] for block in blocks), *numbers[side]])) for side in (0, 1)
    )
    owners.append(np.full(ours_all.shape[1] - sum(map(len, owners)), -1))
    return ours_all, theirs_all, np.concatenate(owners)


def _moments(coded: Coded, rows: Labels, values: list[sparse.csr_array]) -> list[sparse.csr_array]:
    """Standardized numbers, their products, and their products with the values of every column of texts."""
    standard = {}
    for place, column in enumerate(coded.columns):
        if column.numeric:
            weights = column.covers / np.maximum(column.covers.sum(axis=0), 1)
            standard[place] = (column.numbers @ weights)[rows[:, place]]
    made: list[sparse.csr_array] = []
    for one, number in standard.items():
        made.append(sparse.csr_array(number[:, None]))
        made += [sparse.csr_array((number * standard[other])[:, None]) for other in standard if other >= one]
        made += [values[place].multiply(number[:, None]).tocsr() for place in range(len(values)) if place not in standard]
    return made


def _fewest(counts: list[NDArray[np.int64]]) -> int:
    """How many people a feature needs so that there are not too many features."""
    every = np.sort(np.concatenate(counts))[::-1]
    return max(_FEWEST, int(every[_MOST_FEATURES]) + 1 if len(every) > _MOST_FEATURES else 0)


def _coarse(people: Labels, release: Labels) -> tuple[Labels, Labels]:
    """The same in at most ``_COARSE`` groups: the commonest values by themselves, the others together."""
    counts = np.bincount(np.concatenate([people, release]))
    if len(counts) <= _COARSE:
        return people, release
    edges = np.cumsum(counts) * _COARSE // (counts.sum() + 1)
    group = edges.astype(np.int64)
    return group[people], group[release]


def _one_hot(numbers: Labels, size: int) -> sparse.csr_array:
    rows = np.flatnonzero(numbers >= 0)
    return sparse.csr_array((np.ones(len(rows)), (rows, numbers[rows])), shape=(len(numbers), size))
