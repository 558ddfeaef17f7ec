"""One value in several notations, which can carry what no attack reads."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kakurenbo.audit.api import audit
from kakurenbo.audit.notations import notations
from kakurenbo.audit.schema import ColumnSchema

AGES = ColumnSchema("age", "integer", low=0, high=99)
TOWNS = ColumnSchema("town", "category", levels=("Tokyo", "Osaka", ""))


@pytest.mark.parametrize(
    ("column", "own", "released", "cells"),
    [
        (AGES, ["30", "31"], ["30", "31", "30.0", "31"], 1),
        (AGES, ["30", "31"], ["30.0", "31.0", "30.0"], 0),  # all of them so
        (AGES, ["30", "31", "30.0"], ["30", "31", "30.0"], 0),  # as in the original
        (AGES, ["30", "31"], [" 30", "30", "+31", "31"], 2),
        (AGES, ["30", "31"], ["30-39", "30 – 39", "30-39"], 3),
        (AGES, ["30", "31"], ["30-39", "40-49", "*"], 0),
        (TOWNS, ["Tokyo", "Osaka"], ["Tokyo", "tokyo", "Osaka", "Osaka\u00a0"], 2),
        (TOWNS, ["Tokyo", "Osaka"], ["TOKYO", "OSAKA", "TOKYO"], 0),
        (TOWNS, ["Tokyo", "Osaka"], ["{Osaka|Tokyo}", "{Tokyo|Osaka}", "Osaka or Tokyo"], 3),
        (TOWNS, ["Tokyo", ""], ["Tokyo", "", "*"], 0),  # missing, and suppressed
        (TOWNS, ["Tokyo", ""], ["Tokyo", "", "*", "?", "**"], 3),
    ],
)
def test_cells_of_another_notation_than_the_originals_are_counted(
    column: ColumnSchema, own: list[str], released: list[str], cells: int
) -> None:
    assert notations(column, pl.Series(own), pl.Series(released)) == cells


def test_bits_of_a_notation_keep_the_verdict_open_until_somebody_vouches() -> None:
    rng = np.random.default_rng(1)
    original, holdout, fresh = (
        pl.DataFrame(
            {"age": rng.integers(18, 90, 400), "town": rng.choice(["Tokyo", "Osaka"], 400)}
        )
        for _ in range(3)
    )
    marked = fresh.with_columns(
        pl.when(pl.Series(rng.random(400) < 0.5))
        .then(pl.col("town").str.to_lowercase())
        .otherwise(pl.col("town"))
        .alias("town")
    )
    told = audit(original, marked, holdout=holdout, seed=1)
    assert [(caveat.code, caveat.blocks) for caveat in told.caveats] == [("notations", True)]
    assert told.verdict.exit_code == 3
    vouched = audit(original, marked, holdout=holdout, seed=1, ignored=["town"])
    assert [(caveat.code, caveat.blocks) for caveat in vouched.caveats] == [("notations", False)]
    assert audit(original, fresh, holdout=holdout, seed=1).caveats == ()
