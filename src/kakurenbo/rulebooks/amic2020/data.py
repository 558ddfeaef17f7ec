"""The questioner's work: A from the Census data, B = G(seed, A), C_i = H(i, B)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse
from kakurenbo.core import Moments, Table
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import embedded_adult
from kakurenbo.data.generators import (
    GENERATORS,
    Fidelity,
    fidelity,
    generate,
    sample_rows,
    sample_rows_at,
)
from kakurenbo.data.store import load_adult

EMBEDDED, IMPORTED = "embedded", "imported"
SOURCES = {
    EMBEDDED: Message("word.census_embedded"),
    IMPORTED: Message("word.census_imported"),
}
TRIAL_ANONYMIZER = ProportionalResponse(p=0.995)
"""What the sample release of the trial was made with."""
_PUBLIC_SEED = 0  # test.csv is public data, the same in every contest and round


@dataclass(frozen=True, eq=False)
class PersonalData:
    """A and the rows for the trees, and which of the two sources they come from."""

    personal: Table
    test: Table
    source: str

    def facts(self) -> dict[str, Any]:
        """Return the source, and digests by which others can see whether they have the same data."""
        return {
            "source": SOURCES[self.source].stored(),
            "sha256": {"train": self.personal.digest(), "test": self.test.digest()},
        }


def personal_data(data: str) -> PersonalData:
    """Return A (30,162 rows) and the test rows (15,060), imported or drawn from the embedded statistics.

    Parameters
    ----------
    data : str
        ``imported``, ``embedded``, or ``auto`` for imported files where there are some.
    """
    adult = None if data == EMBEDDED else load_adult()
    if adult is None and data == IMPORTED:
        raise UsageError("error.amic2020_import")
    source = EMBEDDED if adult is None else IMPORTED
    adult = adult or embedded_adult()
    return PersonalData(adult.train, adult.test, source)


def draw_sample(rows: int, rate: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """C_i = H(i, B): row numbers of a random share of a table, shuffled.

    In B's order a release that keeps the order of its rows would tell which row is which, however well its cells are hidden.
    """
    return rng.permutation(sample_rows_at(rate, rows, rng))


def tree_rows(test: Table, size: int) -> Table:
    """Return all rows for the trees, or at a smaller scale always the same ones."""
    if size >= len(test):
        return test
    rng = stream(_PUBLIC_SEED, "amic2020", "test rows", str(size))
    return test.take(sample_rows(len(test), size, rng))


def generate_population(
    personal: Table, rows: int, rng: np.random.Generator, *, generator: str, distinct: bool = True
) -> Table:
    """gen.py: return a table like A of any number of rows."""
    return generate(GENERATORS[generator], Moments.of(personal), rows, rng, distinct=distinct)


def fidelity_of(personal: Table, population: Table) -> Fidelity:
    """Return how close a generated table is to A."""
    return fidelity(Moments.of(personal), population)
