"""How close a generated table is to its source: distances of the histograms and of the covariance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo.errors import ParameterError
from kakurenbo.tables import Moments, Table, dummy_names


@dataclass(frozen=True)
class Fidelity:
    """Distances between a source and a generated table.

    Attributes
    ----------
    total_variation : mapping of column name to float
        Half the sum of |difference of relative frequencies|: 0 for equal histograms, 1 for disjoint ones.
    covariance_sum, covariance_max : float
        Sum and largest of |covariance difference| over all pairs (l, l') of numeric columns (ddof 1).
    covariance_pair : pair of str
        Where the largest is, as ``age`` or ``sex=Male``.
    """

    total_variation: Mapping[str, float]
    covariance_sum: float
    covariance_max: float
    covariance_pair: tuple[str, str]

    @property
    def largest_total_variation(self) -> float:
        return max(self.total_variation.values())

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "total_variation": dict(self.total_variation),
            "covariance_sum": self.covariance_sum,
            "covariance_max": self.covariance_max,
            "covariance_pair": list(self.covariance_pair),
        }


def fidelity(source: Moments, table: Table) -> Fidelity:
    """Compare a generated table with the source of its generator."""
    if source.schema != table.schema:
        raise ParameterError("table", f"of the source's columns {', '.join(source.schema.names)}", table.schema.names)
    for name, count in (("source", source.count), ("table", len(table))):
        if count == 0:
            raise ParameterError(name, "at least one row", count)
    reached = Moments.of(table)
    total_variation = {
        name: float(np.abs(ours / reached.count - theirs / source.count).sum() / 2)
        for name, ours, theirs in zip(source.schema.names, reached.histograms, source.histograms, strict=True)
    }
    difference = np.abs(reached.covariance - source.covariance)
    first, second = np.unravel_index(int(difference.argmax()), difference.shape)
    labels = [name if level is None else f"{name}={level}" for name, level in dummy_names(source.schema)]
    return Fidelity(total_variation, float(difference.sum()), float(difference.max()), (labels[first], labels[second]))
