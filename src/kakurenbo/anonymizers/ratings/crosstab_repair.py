"""Bring the two-way tables of a release back to the original's: the poster's greedy repair, and ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.ratings.files import FileStep
from kakurenbo.anonymizers.ratings.repair_kernel import CrosstabState
from kakurenbo.anonymizers.ratings.shuffling import PermuteColumns
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class CrosstabRepair(FileStep):
    """The poster's repair: in the worst two-way table overwrite one row of the most over-represented cell, repeatedly.

    Each round takes the pair of columns with the largest absolute error, its most over-represented and its most
    under-represented cell, and writes the latter's values into one random row of the former.
    """

    iterations: int = parameter(3000, "rounds for each file", low=0, high=1_000_000)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        state = CrosstabState.of(original, current)
        for _ in range(self.iterations):
            worst = int(state.errors.argmax())
            first, second = sorted(divmod(worst, len(state.names)))
            if state.errors[first, second] == 0:
                break
            table = state.table(first, second)
            over, under = (divmod(int(cell), table.shape[1]) for cell in (table.argmax(), table.argmin()))
            rows = np.flatnonzero((state.codes[first] == over[0]) & (state.codes[second] == over[1]))
            row = int(rng.choice(rows))
            state.overwrite(first, row, under[0])
            state.overwrite(second, row, under[1])
        return state.applied_to(current)


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
    out, and without care for tables that are good enough none comes closer to the original's than it must.
    """

    per_file: bool = parameter(False, "treat each of the ten files by itself; false: the whole table, before it is split")
    utility: float = parameter(77.0, "utility of the release", low=0, high=100)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        permuted = PermuteColumns()._treat_file(original, current, rng)
        return CrosstabRepairFast(utility=self.utility, care=0.0)._treat_file(original, permuted, rng)


def largest_error(utility: float, rows: int) -> int:
    """The largest absolute error of a two-way table at which a file still has this utility."""
    return int(np.floor(2 * rows * (1 - utility / 100) + 1e-9))
