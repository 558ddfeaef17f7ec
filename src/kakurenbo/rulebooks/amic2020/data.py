"""The questioner's data: A and the rows for the trees, imported or drawn from the embedded statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse
from kakurenbo.core import Table
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import embedded_adult
from kakurenbo.data.generators import sample_rows
from kakurenbo.data.store import load_adult
from kakurenbo.rulebooks.sources import EMBEDDED, IMPORTED, real_data

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

    @property
    def description(self) -> Any:
        return SOURCES[self.source].stored()

    def facts(self) -> dict[str, Any]:
        """Return the source, and digests by which others can see whether they have the same data."""
        return {
            "source": self.description,
            "sha256": {"train": self.personal.digest(), "test": self.test.digest()},
        }


def personal_data(data: str) -> PersonalData:
    """Return A (30,162 rows) and the test rows (15,060), imported or drawn from the embedded statistics.

    Parameters
    ----------
    data : str
        ``imported``, ``embedded``, or ``auto`` for imported files where there are some.
    """
    source, adult = real_data("amic2020", data, load_adult) or (EMBEDDED, embedded_adult())
    return PersonalData(adult.train, adult.test, source)


def tree_rows(test: Table, size: int) -> Table:
    """Return all rows for the trees, or at a smaller scale always the same ones."""
    if size >= len(test):
        return test
    rng = stream(_PUBLIC_SEED, "amic2020", "test rows", str(size))
    return test.take(sample_rows(len(test), size, rng))
