"""Our defence: new rows for two-way tables that were first blurred as far as the utility allows.

A table that is flattened to what independent columns would give tells nothing, and many tables may be flattened completely
before the utility falls below a bound; the others are mixed with the flat one just as far. Rows are then made for the
blurred tables, starting from permuted columns, so no row is a person and nothing but the blurred tables can leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.crosstab_repair import largest_error
from kakurenbo.anonymizers.files import FileStep
from kakurenbo.anonymizers.repair_kernel import CrosstabState
from kakurenbo.datasets.ratings import ATTRIBUTES
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table
from kakurenbo.tables.crosstabs import crosstab_errors


@dataclass(frozen=True)
class CrosstabBlur(FileStep):
    """New rows whose two-way tables are as flat as a utility allows."""

    utility: float = parameter(77.0, "utility that the release is to have", low=0, high=100)
    sweeps: int = parameter(40, "visits of every cell at most", low=1, high=10_000)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        bound = largest_error(self.utility, len(original))
        permuted = current.with_codes({name: rng.permutation(current.codes[name]) for name in current.schema.names})
        state = CrosstabState.of(original, permuted, ATTRIBUTES, lambda table: blurred(table, _SHARE * bound))
        for _ in range(self.sweeps):
            if _error(original, state.applied_to(current)) <= bound:
                break
            state.sweep(int((1 - _SHARE) * bound), 0.0, rng)
        return state.applied_to(current)


_SHARE = 0.96  # of the permitted error goes into the blur, the rest is left for rows that do not fit exactly


def blurred(table: NDArray[np.int64], budget: float) -> NDArray[np.int64]:
    """A two-way table mixed with that of independent columns, as far as an absolute error of ``budget`` allows.

    Examples
    --------
    >>> table = np.array([[4, 0], [0, 4]])  # independent columns would have 2 in every cell: an error of 8
    >>> blurred(table, 8).tolist(), blurred(table, 4).tolist()
    ([[2, 2], [2, 2]], [[3, 1], [1, 3]])
    """
    flat = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    distance = np.abs(flat - table).sum()
    share = min(1.0, budget / distance) if distance > 0 else 0.0
    return np.asarray(np.rint(table + share * (flat - table)), dtype=np.int64)


def _error(original: Table, released: Table) -> int:
    names = original.schema.names
    pairs = [pair for pair in combinations(names, 2) if not (pair[0] in ATTRIBUTES and pair[1] in ATTRIBUTES)]
    return int(crosstab_errors(original, released, pairs).max())
