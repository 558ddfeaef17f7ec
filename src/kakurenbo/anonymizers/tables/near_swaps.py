"""Two steps that leave every statistic of a table as it is: thin out records that stand alone, swap records that are near.

What both leave out of sight is who is who: a released record is somebody's, but not that of the row it stands in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Decimal, Integer, Schema, Table
from kakurenbo.tables.kinds import in_reach, one_of_a_kind
from kakurenbo.tables.regression import logistic_regression

_BLOCK = 512  # rows whose candidates are looked for at once
_CANDIDATES = 40  # that a row is offered at most, drawn at random
_EXCHANGES = 5000
_NOTHING = 1e-9
_PRODUCTS, _SCORES = 0.3, 2.0  # how much products and scores count beside the columns themselves


@dataclass(frozen=True)
class Thin(Anonymizer):
    """Delete records that are one of a kind until few are left, so chosen that statistics stay as they were.

    Records are compared on the chosen columns, with decimal numbers in tens. Those that go are drawn at random, and exchanged
    for others until means, correlations and the regression of the last column are nearly what they were.
    """

    unique: float = parameter(0.48, "largest share of the input's records that may be one of a kind", low=0, high=1)
    columns: tuple[str, ...] | None = parameter(None, "columns that are compared", none="all columns but the last")

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return _numbers_and_words(schema)

    def unfit(self, schema: Schema) -> str:
        return super().unfit(schema) or unknown_column(schema, self.columns)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        names = table.schema.names[:-1] if self.columns is None else self.columns
        in_tens = [name for name in names if isinstance(table.schema[name], Decimal)]
        alone = one_of_a_kind(table, [name for name in names if name not in in_tens], in_tens)
        surplus = max(0, int(alone.sum()) - math.floor(self.unique * len(table)))
        return Release.keeping(table, _without(_features(table), alone, surplus, rng))


def _features(table: Table) -> NDArray[np.float64]:
    """What is to sum up to 0 over the records that are kept, shape (n, d).

    Every column (the means), its products with the others (the correlations), and the scores of a logistic regression of the
    last column, where that is a flag: where they sum up to 0, the regression of what is kept has the same coefficients.
    """
    view = table.dummies(drop_first=True).astype(np.float64)
    view = view[:, view.min(axis=0) < view.max(axis=0)]
    columns = (view - view.mean(axis=0)) / view.std(axis=0)
    first, second = np.triu_indices(columns.shape[1], 1)
    products = columns[:, first] * columns[:, second]
    parts = [columns, _PRODUCTS * (products - products.mean(axis=0))]
    *others, last = table.schema.names
    is_flag = not isinstance(table.schema[last], Category) and bool(np.isin(table.values(last), (0, 1)).all())
    regression = logistic_regression(table, last, others) if is_flag else None
    if regression is not None:
        # Scaled so that their length is that of the change of the coefficients, in standard errors.
        spread, directions = np.linalg.eigh(regression.scores.T @ regression.scores / len(table))
        some = spread > _NOTHING * spread.max()
        parts.append(_SCORES * regression.scores @ directions[:, some] / np.sqrt(spread[some]))
    return np.hstack(parts)


def _without(
    features: NDArray[np.float64], candidates: NDArray[np.bool_], count: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which rows are kept where so many candidates, drawn at random, go; exchanged until the features sum up to almost 0."""
    places = np.flatnonzero(candidates)
    own, gone = features[places], np.zeros(len(places), dtype=bool)
    gone[rng.permutation(len(places))[:count]] = True
    lengths, total = (own**2).sum(axis=1), own[gone].sum(axis=0)
    for _ in range(_EXCHANGES if 0 < count < len(places) else 0):
        # |total - x|^2 and |total + x|^2, without the part that is the same for all
        back = int(np.argmin(np.where(gone, lengths - 2 * (own @ total), np.inf)))
        without = total - own[back]
        away = int(np.argmin(np.where(gone, np.inf, lengths + 2 * (own @ without))))
        if ((without + own[away]) ** 2).sum() >= (total**2).sum() - _NOTHING:
            break
        gone[back], gone[away] = False, True
        total = without + own[away]
    kept = np.ones(len(features), dtype=bool)
    kept[places[gone]] = False
    return kept


@dataclass(frozen=True)
class SwapNear(Anonymizer):
    """Give every row the record of another row that is near: in each number, and in the count of other cells that differ.

    The records as such stay what they are, so no count, correlation or regression changes. Each row gets the record of one
    other row, drawn at random among those in reach; rows that nobody is near to keep their own.
    """

    reach: float = parameter(4.0, "largest change of a decimal number", low=0)
    cells: int = parameter(4, "most other cells of a row that change", low=0)

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return _numbers_and_words(schema)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        order = rng.permutation(len(table))
        partners = _matched(table.take(order), self.reach, self.cells, rng)
        rows = np.empty(len(table), dtype=np.int64)
        rows[order] = order[partners]
        return Release.of(table.take(rows))


def _matched(table: Table, reach: float, cells: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A permutation of the rows in which as many as possible get another row in reach, and the rest their own."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, columns = [], []
    for start in range(0, len(table), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(table)))
        near = in_reach(table.take(block), table, reach, cells)
        near[np.arange(len(block)), block] = False
        lots = np.where(near, rng.random(near.shape), np.inf)
        drawn = np.argpartition(lots, min(_CANDIDATES, lots.shape[1] - 1), axis=1)[:, :_CANDIDATES]
        place, which = np.nonzero(np.isfinite(np.take_along_axis(lots, drawn, axis=1)))
        rows.append(block[place])
        columns.append(drawn[place, which])
    ends = (np.concatenate(rows), np.concatenate(columns))
    graph = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(len(table), len(table)))
    partners = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    return _closed(partners)


def _closed(partners: NDArray[np.int64]) -> NDArray[np.int64]:
    """The matching without the chains that begin at a row whose record nobody took: their rows keep their own records."""
    closed = partners.copy()
    taken = np.zeros(len(closed), dtype=bool)
    taken[closed[closed >= 0]] = True
    for start in np.flatnonzero(~taken).tolist():
        row = start
        while row >= 0:
            after = int(closed[row])
            closed[row] = row
            row = after
    return closed


def _numbers_and_words(schema: Schema) -> bool:
    return all(isinstance(column, Category | Integer | Decimal) for column in schema)
