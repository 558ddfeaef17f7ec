"""pwscup2024: utility of ten files, the sample attack and the repair, against plain loops on the same data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from benchmarks.common import Row, best_of, reference_data, row
from kakurenbo.anonymizers.ratings.crosstab_repair import CrosstabRepair, CrosstabRepairFast
from kakurenbo.anonymizers.ratings.olh import PseudoOLH
from kakurenbo.attacks.reconstruction.hamming import Sample, side_by_side
from kakurenbo.attacks.reconstruction.types import RatingsKnowledge
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.data.ratings import RatingsGenerator
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, rehearse
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores

BOOK = Pwscup2024()
SLICE = 20  # table rows of the row-by-row loop, of 10,000
ROUNDS = 300  # of the greedy repair's 3,000


def run() -> list[Row]:
    handout = Handout("01", (_original(),))
    noisy = PseudoOLH(epsilon=2)(handout.table, stream(1, "bench", "release"))
    knowledge, _ = rehearse(handout.table, noisy.tables, 1)

    def measure() -> None:
        crosstab_scores(handout.table, noisy.tables)

    def attack() -> None:
        Sample()(knowledge, stream(1, "bench", "attack"))

    def repair() -> None:
        CrosstabRepairFast(utility=85).after(handout.table, noisy, stream(1, "bench", "repair"))

    def greedy() -> None:
        CrosstabRepair(iterations=ROUNDS, rows=10, pairs="scored").after(
            handout.table, noisy, stream(1, "bench", "repair")
        )

    for warm_up in (measure, attack, repair):
        warm_up()
    frames = [
        [_frame(table) for table in tables]
        for tables in (ratings.split(handout.table), noisy.tables)
    ]
    loop = best_of(1, lambda: _value_counts(*frames))
    rows_loop = best_of(1, lambda: _row_by_row(knowledge)) * len(noisy.tables[0]) / SLICE
    return [
        row(
            "pwscup2024: utility of ten files",
            best_of(7, measure),
            "pandas value_counts loop",
            loop,
            "≤ 100 ms",
        ),
        row(
            "pwscup2024: sample attack",
            best_of(5, attack),
            "row by row, from a slice",
            rows_loop,
            "≤ 1 s",
        ),
        row(
            "pwscup2024: crosstab_repair_fast to utility 85",
            best_of(3, repair),
            "3,000 rounds of crosstab_repair, from 300",
            best_of(1, greedy) * 3000 / ROUNDS,
            "≤ 10 s",
        ),
    ]


def _original() -> Table:
    """The contest's sample table where it is there, else one from the embedded statistics."""
    folder = reference_data()
    if folder is not None and (folder / "pwscup2024" / "sampleBi.csv").exists():
        return BOOK.read_handout(folder / "pwscup2024" / "sampleBi.csv").table
    return RatingsGenerator(stream(1, "bench", "calibration"))(
        1, 10_000, stream(1, "bench", "original")
    )[0]


def _frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame({name: table.values(name) for name in table.schema.names})


def _value_counts(before: list[pd.DataFrame], after: list[pd.DataFrame]) -> float:
    """U the plain way: one value_counts per pair of columns and table."""
    least = 100.0
    for original, released in zip(before, after, strict=True):
        for pair in combinations(original.columns, 2):
            if not set(pair) <= set(ratings.ATTRIBUTES):
                first, second = (frame.value_counts(list(pair)) for frame in (original, released))
                error = first.sub(second, fill_value=0).abs().sum()
                least = min(least, 100 * (1 - error / (2 * len(original))))
    return least


def _row_by_row(knowledge: RatingsKnowledge) -> int:
    """The sample attack the plain way on the first rows of the table: every (a, b) pair against every row."""
    codes = side_by_side(knowledge.files)
    table = np.stack([codes[name] for name in ratings.ATTRIBUTES + ratings.MOVIES], axis=1)[
        :SLICE
    ].tolist()
    nearest = 99
    for b in knowledge.rating_codes.tolist():
        for a in knowledge.attribute_codes.tolist():
            pair = a + b
            for released in table:
                nearest = min(nearest, sum(x != y for x, y in zip(pair, released, strict=True)))
    return nearest
