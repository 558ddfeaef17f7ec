"""Synthetic data from the moments of the input (amic2020's `synthetic`): no row of the input is released as such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kakurenbo.contracts import Anonymizer, Release
from kakurenbo.generators import GENERATORS
from kakurenbo.parameters import parameter
from kakurenbo.tables import Moments, Table


@dataclass(frozen=True)
class Synthetic(Anonymizer):
    """Generate records with the means, covariances and histograms of the input."""

    generator: str = parameter("moments", "how records are generated", choices=tuple(sorted(GENERATORS)))
    rows: int | None = parameter(None, "how many records, as many as the input by default", low=1)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        rows = len(table) if self.rows is None else self.rows
        return Release.of(GENERATORS[self.generator](Moments.of(table), rows, rng))
