"""A million rows from each generator, B chosen of them, and the candidates of a team of pwscup2024: time and peak memory."""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row, best_of, peak_memory, row
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import adult_statistics
from kakurenbo.data.generators import GENERATORS, distinct_rows
from kakurenbo.data.ratings import RatingsGenerator

ROWS = 1_000_000
DISTINCT_ROWS = 100_000
CANDIDATES, CANDIDATE_ROWS = 3, 10_000
_CODE = """
from kakurenbo.data.adult import adult_statistics
from kakurenbo.data.generators import GENERATORS, distinct_rows
from kakurenbo.core.rng import stream
distinct_rows(GENERATORS[{name!r}], adult_statistics("train"), {distinct}, {rows}, stream(1, "bench"))
"""


def run() -> list[Row]:
    source = adult_statistics("train")

    def histograms_alone() -> None:
        rng = stream(1, "bench")
        for histogram in source.histograms:
            rng.choice(len(histogram), ROWS, p=histogram / np.sum(histogram))

    alone = best_of(2, histograms_alone)
    rows = []
    for name, generator in sorted(GENERATORS.items()):
        seconds = best_of(
            2, lambda generator=generator: generator(source, ROWS, stream(1, "bench"))
        )
        rows.append(
            row(
                f"generator {name}, {ROWS:,} rows",
                seconds,
                "drawing the histograms alone",
                alone,
                "≤ 10 s",
            )
        )
        seconds = best_of(
            2,
            lambda generator=generator: distinct_rows(
                generator, source, DISTINCT_ROWS, ROWS, stream(1, "bench")
            ),
        )
        what = f"generator {name}, B: {DISTINCT_ROWS:,} distinct of {ROWS:,} rows"
        rows.append(row(what, seconds, "drawing the histograms alone", alone, "≤ 6 s"))
        memory = peak_memory(_CODE.format(name=name, distinct=DISTINCT_ROWS, rows=ROWS))
        rows.append(
            row(f"generator {name}, B, peak MB", memory, "limit of 2 GB", 2048.0, "ratio ≤ 1")
        )
    return [*rows, *_ratings()]


def _ratings() -> list[Row]:
    """The embedded B of pwscup2024: calibrated once per round, three candidates per team."""
    generators: list[RatingsGenerator] = []
    calibration = best_of(
        1, lambda: generators.append(RatingsGenerator(stream(1, "bench", "calibration")))
    )
    seconds = best_of(
        2, lambda: generators[0](CANDIDATES, CANDIDATE_ROWS, stream(1, "bench", "candidates"))
    )
    what = f"pwscup2024, {CANDIDATES} candidates of {CANDIDATE_ROWS:,} rows"
    return [row(what, seconds, "the calibration before the first", calibration, "≤ 1 s")]
