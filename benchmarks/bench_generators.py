"""A million rows from each generator: time against drawing the histograms alone, and peak memory."""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row, best_of, peak_memory, row
from kakurenbo.datasets.adult import adult_statistics
from kakurenbo.generators import GENERATORS
from kakurenbo.rng import stream

ROWS = 1_000_000
_CODE = """
from kakurenbo.datasets.adult import adult_statistics
from kakurenbo.generators import GENERATORS
from kakurenbo.rng import stream
GENERATORS[{name!r}](adult_statistics("train"), {rows}, stream(1, "bench"))
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
        seconds = best_of(2, lambda generator=generator: generator(source, ROWS, stream(1, "bench")))
        rows.append(row(f"generator {name}, {ROWS:,} rows", seconds, "drawing the histograms alone", alone, "≤ 10 s"))
        memory = peak_memory(_CODE.format(name=name, rows=ROWS))
        rows.append(row(f"generator {name}, peak MB", memory, "limit of 2 GB", 2048.0, "ratio ≤ 1"))
    return rows
