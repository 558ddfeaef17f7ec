"""Bring the two-way tables of a release back to the original's: the poster's greedy repair, and ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.ratings.choosing import UTILITIES, best_utility
from kakurenbo.anonymizers.ratings.files import FileStep
from kakurenbo.anonymizers.ratings.repair_kernel import CrosstabState
from kakurenbo.anonymizers.ratings.shuffling import PermuteColumns
from kakurenbo.contracts import Release
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class CrosstabRepair(FileStep):
    """The poster's repair: in the worst two-way table overwrite rows of the most over-represented cell, repeatedly.

    Each round takes the pair of columns with the largest absolute error. In it, ``rows`` times, the values of the cell that is
    then most under-represented are written into one random row of the cell that is then most over-represented. The poster
    names one row a round; its graph gains 15 points in 200 rounds, and a row gains at most 0.01 points, so that at least
    eight rows must have been overwritten in each.
    """

    iterations: int = parameter(3000, "rounds for each file", low=0, high=1_000_000)
    rows: int = parameter(10, "rows that a round overwrites", low=1, high=10_000)
    utility: float = parameter(100.0, "utility of a file at which to stop; the poster's was 72.2", low=0, high=100)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        state = CrosstabState.of(original, current)
        for _ in self.rounds(state, rng):
            pass
        return state.applied_to(current)

    def rounds(self, state: CrosstabState, rng: np.random.Generator) -> Iterator[float]:
        """Repair a file round by round, giving its utility after each."""
        bound = largest_error(self.utility, state.codes.shape[1])
        for _ in range(self.iterations):
            worst = int(state.errors.argmax())
            first, second = sorted(divmod(worst, len(state.names)))
            if state.errors[first, second] <= bound:
                break
            for _ in range(min(self.rows, int(state.errors[first, second]) // 2)):
                _overwrite_one_row(state, first, second, rng)
            yield state.utility


def _overwrite_one_row(state: CrosstabState, first: int, second: int, rng: np.random.Generator) -> None:
    """Bring two cells of a two-way table one row closer each: its error, which must not be 0, falls by 2."""
    table = state.table(first, second)
    over, under = (divmod(int(cell), table.shape[1]) for cell in (table.argmax(), table.argmin()))
    row = int(rng.choice(np.flatnonzero((state.codes[first] == over[0]) & (state.codes[second] == over[1]))))
    state.overwrite(first, row, under[0])
    state.overwrite(second, row, under[1])


def repair_trace(
    repair: CrosstabRepair, original: Table, release: Release, rng: np.random.Generator
) -> list[tuple[int, tuple[float, ...]]]:
    """The graph of a repair: (round, utility of each file after it), round 0 being what ``release`` has.

    It is the repair that ``repair.after(original, release, rng)`` does, step by step; a file that has stopped keeps its last
    utility.
    """
    courses = []
    for before, now, stream in repair.files(original, release, rng):
        state = CrosstabState.of(before, now)
        courses.append([state.utility, *repair.rounds(state, stream)])
    longest = max(map(len, courses))
    return [(round_, tuple(course[min(round_, len(course) - 1)] for course in courses)) for round_ in range(longest)]


@dataclass(frozen=True)
class CrosstabRepairFast(FileStep):
    """Our repair: every cell in turn takes the value that helps all two-way tables it stands in, until a utility is reached.

    Tables whose error is still too large count in full, the others with ``care``: without it the release keeps no more of
    the original's tables than the utility asks for, which is the better defence. Changes that make things worse are
    accepted at a temperature that falls with every sweep (simulated annealing), which helps close to utility 100.
    """

    utility: float = parameter(85.0, "utility at which to stop", low=0, high=100)
    sweeps: int = parameter(40, "visits of every cell at most", low=1, high=10_000)
    care: float = parameter(0.02, "weight of tables that are good enough; at 0 they stay as bad as allowed", low=0, high=1)
    temperature: float = parameter(0.0, "temperature of the first sweep, in units of one cell's error", low=0, high=10)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        state = CrosstabState.of(original, current)
        bound = largest_error(self.utility, len(original))
        best, best_error = state.codes.copy(), int(state.errors.max())
        for sweep in range(self.sweeps):
            if best_error <= bound:
                break
            cooled = self.temperature * (1 - sweep / self.sweeps) ** 2
            state.sweep(bound, self.care, cooled, rng)
            if (error := int(state.errors.max())) < best_error:
                best, best_error = state.codes.copy(), error
        state.codes = best
        return state.applied_to(current)


@dataclass(frozen=True)
class JustEnough(FileStep):
    """New rows whose two-way tables are just good enough: every column permuted, then repaired to a utility and no further.

    No row is a person. Treating the whole table shows the same tables in all files, so that their noise cannot be averaged
    out, and without care for tables that are good enough none comes closer to the original's than it must. Where no utility
    is asked for, the repair goes as far as a point of it costs less than a hit of whoever links people by these tables.
    """

    per_file: bool = parameter(False, "treat each of the ten files by itself; false: the whole table, before it is split")
    utility: float | None = parameter(None, "utility of the release", low=0, high=100, none="the one that suits the data")

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        permuted = PermuteColumns()._treat_file(original, current, rng)
        if self.utility is not None:
            return _repaired(original, permuted, self.utility, rng)
        return best_utility(original, _ever_better(original, permuted, rng), rng)


def _repaired(original: Table, current: Table, utility: float, rng: np.random.Generator) -> Table:
    return CrosstabRepairFast(utility=utility, care=0.0)._treat_file(original, current, rng)


def _ever_better(original: Table, current: Table, rng: np.random.Generator) -> Iterator[tuple[float, Table]]:
    """Releases of more and more utility, each made from the one before."""
    for utility in UTILITIES:
        current = _repaired(original, current, utility, rng)
        yield utility, current


def largest_error(utility: float, rows: int) -> int:
    """The largest absolute error of a two-way table at which a file still has this utility."""
    return int(np.floor(2 * rows * (1 - utility / 100) + 1e-9))
