"""The questioner's work: A from the Census data, B = G(seed, A), C_i = H(i, B), and the files of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse
from kakurenbo.contest import RoundData
from kakurenbo.core import Moments, Table, table_bytes
from kakurenbo.core.errors import ParameterError, UsageError
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
from kakurenbo.rulebooks.amic2020 import files
from kakurenbo.rulebooks.amic2020.files import Scale
from kakurenbo.rulebooks.amic2020.questionnaire import blank_form

EMBEDDED, IMPORTED = "embedded", "imported"
SOURCES = {
    EMBEDDED: "embedded statistics: A and test.csv are drawn from stored moments of Census Income, not its real rows",
    IMPORTED: "Census Income, imported files",
}
TRIAL_ANONYMIZER = ProportionalResponse(p=0.995)
"""What the sample release of the trial was made with."""
_PUBLIC_SEED = 0  # test.csv is public data, the same in every contest and round

Streams = Callable[..., np.random.Generator]


@dataclass(frozen=True, eq=False)
class PersonalData:
    """A and the rows for the trees, and which of the two sources they come from."""

    personal: Table
    test: Table
    source: str

    def facts(self) -> dict[str, Any]:
        """Where the data came from, and digests by which anybody can tell whether they have the same."""
        return {
            "source": SOURCES[self.source],
            "sha256": {"train": self.personal.digest(), "test": self.test.digest()},
        }


def personal_data(data: str) -> PersonalData:
    """A (30,162 rows) and the test rows (15,060): imported where they are there, else drawn from the embedded statistics.

    Parameters
    ----------
    data : str
        ``imported``, ``embedded``, or ``auto`` for whichever there is.
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


def draw_round(
    teams: Sequence[str],
    streams: Streams,
    *,
    round_: str,
    scale: str,
    generator: str,
    data: str,
    rate: float,
    settings: Mapping[str, Any],
) -> RoundData:
    """Everything of a round; ``streams(purpose, ...)`` gives its randomness, ``settings`` are those found on the way."""
    size = files.SCALES[scale]
    if files.sample_size(size.population, rate) < 1:
        raise ParameterError(
            "rate", f"a share of {size.population:,} rows that is at least one row", rate
        )
    drawn_from = personal_data(data)
    source, test = Moments.of(drawn_from.personal), _test_rows(drawn_from.test, size)
    population = generate(
        GENERATORS[generator], source, size.population, streams("population"), distinct=True
    )
    rows = {team: draw_sample(len(population), rate, streams("sample", team)) for team in teams}
    population_bytes, test_bytes, form = table_bytes(population), table_bytes(test), blank_form()
    handouts: dict[str, dict[str, bytes]] = {}
    for team in teams:
        sample = population.take(rows[team])
        handouts[team] = {
            files.sample_file(round_, team): table_bytes(sample),
            files.TEST_FILE: test_bytes,
            files.questionnaire_file(round_, team): form,
        }
        if round_ == files.TRIAL:  # for practice: nothing is secret
            release = TRIAL_ANONYMIZER(sample, streams("release", team)).table
            handouts[team] |= {
                files.PERSONAL_FILE: table_bytes(drawn_from.personal),
                files.population_file(round_): population_bytes,
                files.answer_file(round_, team): files.rows_bytes(rows[team]),
                files.release_file(round_, team): table_bytes(release),
            }
    return RoundData(
        handouts=handouts,
        attackers={files.population_file(round_): population_bytes},
        secrets={
            team: {files.answer_file(round_, team): files.rows_bytes(rows[team])} for team in teams
        },
        data=drawn_from.facts(),
        settings={**settings, "data": drawn_from.source},
        report={"fidelity": fidelity(source, population).as_json()},
    )


def _test_rows(test: Table, size: Scale) -> Table:
    """All rows for the trees, or at a smaller scale always the same ones."""
    if size.test >= len(test):
        return test
    return test.take(
        sample_rows(
            len(test), size.test, stream(_PUBLIC_SEED, "amic2020", "test rows", str(size.test))
        )
    )


def generated(
    personal: Table, rows: int, rng: np.random.Generator, *, generator: str, distinct: bool
) -> tuple[Table, Fidelity]:
    """gen.py: return a table like A of any number of rows, and how close it is to A."""
    source = Moments.of(personal)
    table = generate(GENERATORS[generator], source, rows, rng, distinct=distinct)
    return table, fidelity(source, table)
