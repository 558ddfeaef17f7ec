"""Bring the two-way tables of a release back to the original's: the poster's greedy repair, and ours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.ratings.split_files import FileStep, PermuteColumns
from kakurenbo.contest import Release
from kakurenbo.core import Table
from kakurenbo.core.arrays import Bools, Ints, Rng
from kakurenbo.core.compiling import compiled
from kakurenbo.core.statistics import crosstab
from kakurenbo.data.ratings import ATTRIBUTES, FEWEST_ROWS, MOVIES, SPLIT_COLUMNS
from kakurenbo.methods.parameters import parameter

UTILITIES = (68.0, 72.0, 76.0, 80.0, 84.0, 88.0)
"""What is tried where no utility is asked for."""

_CANDIDATES = 12  # values tried for a cell of a column with more values than this
_NEAR_WEIGHT, _MARGIN = 0.3, 0.97  # weight of a table with an error above this share of its bound
_DRAWN = 500  # people on whom the price of a utility is estimated
_LEAST_RATIO = 0.02


@dataclass(eq=False)
class CrosstabState:
    """Signed errors of all two-way tables of a file, kept up to date while cells change.

    Attributes
    ----------
    codes : array of int32, shape (columns, rows)
    cells : array of int32
        freq_C - freq_B of every cell of every compared pair, one table after the other.
    offsets : array of int64, shape (columns, columns)
        Where the table of a pair begins in ``cells``; -1 for a pair that is not compared.
    strides : array of int64, shape (columns, columns)
        The cell of (x, y) in the table of (i, j) is ``offsets[i, j] + x * strides[i, j] + y * strides[j, i]``.
    errors : array of int64, shape (columns, columns)
        e of each pair, symmetric.
    scored : array of bool, shape (columns, columns)
        Pairs that the contest's utility counts.
    """

    names: tuple[str, ...]
    sizes: Ints
    codes: NDArray[np.int32]
    cells: NDArray[np.int32]
    offsets: Ints
    strides: Ints
    errors: Ints
    scored: Bools

    @classmethod
    def of(cls, original: Table, current: Table, *, attribute_pairs: bool = False) -> CrosstabState:
        """Compare two tables on the pairs of columns that the utility counts, and on the others where asked for."""
        names = current.schema.names
        sizes = np.array([current.schema[name].size for name in names], dtype=np.int64)
        codes = np.stack([current.codes[name] for name in names]).astype(np.int32)
        offsets = np.full((len(names), len(names)), -1, dtype=np.int64)
        strides, errors = np.zeros_like(offsets), np.zeros_like(offsets)
        scored, tables, begin = offsets > 0, [np.zeros(0, dtype=np.int64)], 0
        for i, j in combinations(range(len(names)), 2):
            pair = names[i], names[j]
            scored[i, j] = scored[j, i] = is_scored(*pair)
            if scored[i, j] or (attribute_pairs and {*pair} <= {*ATTRIBUTES}):
                table = crosstab(current, *pair) - crosstab(original, *pair)
                offsets[i, j] = offsets[j, i] = begin
                strides[i, j], strides[j, i] = sizes[j], 1
                errors[i, j] = errors[j, i] = np.abs(table).sum()
                tables.append(table.ravel())
                begin += table.size
        cells = np.concatenate(tables).astype(np.int32)
        return cls(names, sizes, codes, cells, offsets, strides, errors, scored)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the compiled loops change."""
        return self.codes, self.cells, self.offsets, self.strides, self.errors

    @property
    def utility(self) -> float:
        """100 (1 - max e / 2n)."""
        rows = int(self.codes.shape[1])
        return 50 * (2 * rows - self.worst_scored) / rows

    @property
    def worst_scored(self) -> int:
        """Largest error of a pair that the utility counts."""
        return int(self.errors.max(where=self.scored, initial=0))

    def table(self, first: int, second: int) -> NDArray[np.int32]:
        """Return a view of the signed errors of one pair (first < second), shape (size of first, size of second)."""
        shape = self.sizes[first], self.sizes[second]
        begin = self.offsets[first, second]
        return self.cells[begin : begin + shape[0] * shape[1]].reshape(shape)

    def applied_to(self, table: Table) -> Table:
        """Return the table with the codes of this state."""
        return table.with_codes(dict(zip(self.names, self.codes, strict=True)))


@cache
def is_scored(first: str, second: str) -> bool:
    """Whether the utility compares a pair: the columns share a file, and one of them is a movie."""
    together = any(first in columns and second in columns for columns in SPLIT_COLUMNS)
    return together and not (first in ATTRIBUTES and second in ATTRIBUTES)


def largest_error(utility: float, rows: int) -> int:
    """Return the largest absolute error of a two-way table at which a file still has this utility."""
    return int(np.floor(2 * rows * (1 - utility / 100) + 1e-9))


@dataclass(frozen=True)
class _CrosstabStep(FileStep):
    """Repair of a release, file by file, that records the utility after each iteration."""

    takes_release: ClassVar[bool] = True
    iterates: ClassVar[bool] = True

    def after(self, original: Table, release: Release, rng: Rng) -> Release:
        repaired = [self._repair_file(*each) for each in self.files(original, release, rng)]
        longest = max(len(course) for _, course in repaired)
        # A file that has stopped keeps its last utility.
        courses = [[*course, *course[-1:] * (longest - len(course))] for _, course in repaired]
        tables = tuple(table for table, _ in repaired)
        return Release(tables, trace=tuple(zip(*courses, strict=True)))

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        return self._repair_file(original, current, rng)[0]

    @abstractmethod
    def _repair_file(self, original: Table, current: Table, rng: Rng) -> tuple[Table, list[float]]:
        """Return the repaired file, and its utility before and after each iteration."""


@dataclass(frozen=True)
class CrosstabRepair(_CrosstabStep):
    """The poster's repair: in the worst two-way table overwrite a row of the most over-represented cell, repeatedly.

    Each iteration takes the pair of columns with the largest absolute error. In it, ``rows`` times, the values of the cell
    that is then most under-represented are written into one random row of the cell that is then most over-represented.

    By default it does what the poster says: one row per iteration, and "all common columns" are compared, pairs of two
    attributes included. The contest's utility does not count these: ``pairs=scored`` leaves them out. The poster's graph
    gains 15 points in 200 iterations, and a row gains at most 0.01 points: it must show at least eight rows per iteration.
    """

    iterations: int = parameter(3000, "iterations for each file", low=0, high=1_000_000)
    rows: int = parameter(1, "rows that an iteration overwrites", low=1, high=10_000)
    pairs: str = parameter(
        "all",
        "compared pairs of columns; scored: those that the utility counts, which are not both attributes",
        choices=("all", "scored"),
    )
    utility: float = parameter(
        100.0, "utility of a file at which to stop; the poster's was 72.2", low=0, high=100
    )

    def _repair_file(self, original: Table, current: Table, rng: Rng) -> tuple[Table, list[float]]:
        state = CrosstabState.of(original, current, attribute_pairs=self.pairs == "all")
        bound = largest_error(self.utility, len(current))
        course = [state.utility]
        for _ in range(self.iterations):
            if state.worst_scored <= bound:
                break
            first, second = sorted(divmod(int(state.errors.argmax()), len(state.names)))
            table, codes = state.table(first, second), state.codes
            # Each row brings two cells one closer: the error falls by 2.
            for _ in range(min(self.rows, int(state.errors[first, second]) // 2)):
                over, under = (
                    divmod(int(c), table.shape[1]) for c in (table.argmax(), table.argmin())
                )
                rows = np.flatnonzero((codes[first] == over[0]) & (codes[second] == over[1]))
                row = int(rng.choice(rows))
                overwrite_cell(state.arrays, first, row, under[0])
                overwrite_cell(state.arrays, second, row, under[1])
            course.append(state.utility)
        return state.applied_to(current), course


@dataclass(frozen=True)
class CrosstabRepairFast(_CrosstabStep):
    """Our repair: every cell in turn takes the value that helps all two-way tables it stands in, until a utility is reached.

    Tables whose error is still too large count in full, the others with ``care``: without it the release keeps no more of
    the original's tables than the utility asks for, which is the better defence. Changes that make things worse are
    accepted at a temperature that falls with every sweep (simulated annealing), which helps close to utility 100.
    """

    utility: float = parameter(85.0, "utility at which to stop", low=0, high=100)
    sweeps: int = parameter(40, "visits of every cell at most", low=1, high=10_000)
    care: float = parameter(
        0.02,
        "weight of tables that are good enough; at 0 they stay as bad as allowed",
        low=0,
        high=1,
    )
    temperature: float = parameter(
        0.0, "temperature of the first sweep, in units of one cell's error", low=0, high=10
    )

    def _repair_file(self, original: Table, current: Table, rng: Rng) -> tuple[Table, list[float]]:
        state = CrosstabState.of(original, current)
        bound = largest_error(self.utility, len(original))
        best, best_error = state.codes.copy(), state.worst_scored
        course = [state.utility]
        for sweep in range(self.sweeps):
            if best_error <= bound:
                break
            cooled = self.temperature * (1 - sweep / self.sweeps) ** 2
            order = rng.permutation(len(current))
            shifts = rng.integers(len(state.names), size=len(order))
            _sweep(state.arrays, state.sizes, order, shifts, bound, self.care, cooled, rng)
            if (error := state.worst_scored) < best_error:
                best, best_error = state.codes.copy(), error
            course.append(max(course[-1], state.utility))
        state.codes = best
        return state.applied_to(current), course


@dataclass(frozen=True)
class RepairToUtility(FileStep):
    """New rows whose two-way tables are just good enough: every column permuted, then repaired to a utility and no further.

    No row is a person. Treating the whole table shows the same tables in all files, so that their noise cannot be averaged
    out, and without care for tables that are good enough none comes closer to the original's than it must. Where no utility
    is asked for, the repair goes as far as a point of it costs less than a hit of whoever links people by these tables.
    """

    per_file: bool = parameter(
        False, "treat each of the ten files by itself; false: the whole table, before it is split"
    )
    utility: float | None = parameter(
        None, "utility of the release", low=0, high=100, none="word.utility_of_data"
    )

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        permuted = PermuteColumns()._treat_file(original, current, rng)

        def repaired(utilities: Iterable[float]) -> Iterator[tuple[float, Table]]:
            table = permuted
            for utility in utilities:
                repair = CrosstabRepairFast(utility=utility, care=0.0)
                table = repair._treat_file(original, table, rng)
                yield utility, table

        if self.utility is not None:
            return next(repaired([self.utility]))[1]
        return best_utility(original, repaired(UTILITIES), rng)


def best_utility(original: Table, releases: Iterable[tuple[float, Table]], rng: Rng) -> Table:
    """Return the release of the largest utility less expected hits; of equals the first."""
    people = rng.choice(len(original), min(_DRAWN, len(original)), replace=False)
    return max(releases, key=lambda pair: pair[0] - count_linked(original, pair[1], people))[1]


def count_linked(original: Table, release: Table, people: Ints) -> float:
    """Estimate from these rows of B how many of 50 people the tables of a release would link to their ratings.

    Whoever holds a person's attributes and ratings adds log n_C / lambda over the pairs (attribute value, rating). A row is
    found where nobody's sum is larger than the right one's.
    """
    scores = np.zeros((len(people), len(people)))  # row of ratings by person
    persons = original.take(people)
    for attribute in ATTRIBUTES:
        for movie in (name for name in MOVIES if name in release.schema):
            table = crosstab(release, attribute, movie).astype(np.float64)
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            ratios = np.divide(table, expected, out=np.ones_like(table), where=expected > 0)
            logs = np.log(np.maximum(ratios, _LEAST_RATIO))
            scores += logs[persons.codes[attribute]][:, persons.codes[movie]].T
    right = np.diag(scores)[:, None]
    ahead = (scores > right).sum(axis=1) + ((scores == right).sum(axis=1) - 1) / 2
    shares = ahead / max(len(people) - 1, 1)
    return FEWEST_ROWS * float(((1 - shares) ** (FEWEST_ROWS - 1)).mean())


@compiled
def overwrite_cell(state: Any, column: int, row: int, value: int) -> None:
    """Change one cell, and the tables and errors of its column."""
    codes, cells, offsets, strides, errors = state
    old = codes[column, row]
    for other in range(codes.shape[0]):
        offset = offsets[column, other]
        if other == column or offset < 0:
            continue
        base = offset + codes[other, row] * strides[other, column]
        left, reached = base + old * strides[column, other], base + value * strides[column, other]
        change = abs(cells[left] - 1) - abs(cells[left])
        cells[left] -= 1
        change += abs(cells[reached] + 1) - abs(cells[reached])
        cells[reached] += 1
        errors[column, other] += change
        errors[other, column] += change
    codes[column, row] = value


@compiled
def _weight(error: int, bound: int, care: float) -> float:
    if error > bound:
        return 1.0
    return _NEAR_WEIGHT if error > _MARGIN * bound else care


@compiled
def _sweep(
    state: Any,
    sizes: Any,
    order: Any,
    shifts: Any,
    bound: int,
    care: float,
    temperature: float,
    rng: Any,
) -> None:
    """Visit every cell once; stop when all errors are within the bound."""
    codes, cells, offsets, strides, errors = state
    columns = codes.shape[0]
    weights = np.zeros(columns)
    bases = np.zeros(columns, dtype=np.int64)
    for step in range(len(order)):
        row = order[step]
        for position in range(columns):
            column = (position + shifts[step]) % columns
            old = codes[column, row]
            # What leaving the old value is worth, over all tables of this column.
            leaving = 0.0
            for other in range(columns):
                if other == column or offsets[column, other] < 0:
                    weights[other] = 0.0
                    continue
                weights[other] = _weight(errors[column, other], bound, care)
                bases[other] = offsets[column, other] + codes[other, row] * strides[other, column]
                left = cells[bases[other] + old * strides[column, other]]
                leaving += weights[other] * (abs(left - 1) - abs(left))
            best, best_change = old, np.inf
            tried = min(sizes[column], _CANDIDATES)
            for candidate in range(tried):
                value = candidate if sizes[column] == tried else int(rng.random() * sizes[column])
                if value == old:
                    continue
                change = leaving
                for other in range(columns):
                    if weights[other] > 0.0:
                        reached = cells[bases[other] + value * strides[column, other]]
                        change += weights[other] * (abs(reached + 1) - abs(reached))
                if change < best_change:
                    best, best_change = value, change
            if best_change < 0.0 or (
                temperature > 0.0 and rng.random() < np.exp(-best_change / temperature)
            ):
                overwrite_cell(state, column, row, best)
        if errors.max() <= bound:
            return
