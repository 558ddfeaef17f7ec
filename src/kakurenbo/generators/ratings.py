"""B of pwscup2024: ratings and attributes drawn from the stored statistics of a real B file, with made-up names."""

from __future__ import annotations

import numpy as np

from kakurenbo.datasets.names import made_up_names
from kakurenbo.datasets.ratings import NAME, ZIP_CODE, narrowed, ratings_statistics, widest_schema
from kakurenbo.generators import moments
from kakurenbo.generators.quotas import quota_codes
from kakurenbo.tables import Schema, Table, Text

_FEWEST_DRAWN = 20_000  # the generator steers its draws: the more it draws at once, the closer they come


class RatingsGenerator:
    """Draws tables B: one- and two-way tables of a real one, ZIP-codes in its proportions, a made-up name each.

    Calibrated once; then every team's tables come from a stream of its own.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._related = moments.calibrated(ratings_statistics().related, rng)

    def __call__(self, tables: int, rows: int, rng: np.random.Generator) -> list[Table]:
        """Draw ``tables`` tables of ``rows`` rows (10,000 in the contest) at once and deal them out.

        Returns
        -------
        list of Table
            Name, four attributes with the levels that occur, 46 movies. No name occurs twice in any of them.
        """
        related = self._related(max(tables * rows, _FEWEST_DRAWN), rng)
        names = Table.from_texts(Schema([Text(NAME)]), {NAME: made_up_names(tables * rows, rng)})
        dealt = []
        for start in range(0, tables * rows, rows):
            part = slice(start, start + rows)
            codes = {name: related.codes[name][part] for name in related.schema.names}
            codes[ZIP_CODE] = quota_codes(ratings_statistics().zip_codes, rows, rng)
            codes[NAME] = names.codes[NAME][part]
            dealt.append(narrowed(Table(widest_schema(), codes, names.vocabularies)))
        return dealt
