"""Few people whose rows are released in part or with small changes, told by whom a released row is like."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from kakurenbo.audit.api import audit
from kakurenbo.audit.encoding import Coded, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.likeness import likest, standing_out
from kakurenbo.audit.schema import infer_schema

TOWNS, WORDS = (
    [f"town {number}" for number in range(40)],
    [f"word {number}" for number in range(25)],
)


def people(count: int, seed: int) -> pl.DataFrame:
    """Made-up people of six columns, some values of which are rare."""
    rng = np.random.default_rng(seed)
    common = 1 / np.arange(1, 41)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, count),
            "town": rng.choice(TOWNS, count, p=common / common.sum()),
            "word": rng.choice(WORDS, count),
            "day": rng.integers(1, 366, count),
            "cost": np.round(rng.lognormal(8, 1, count), 0).astype(int),
            "sex": rng.choice(["f", "m"], count),
        }
    )


ORIGINAL, HOLDOUT, FRESH = people(600, 1), people(600, 2), people(600, 3)


def coded(release: pl.DataFrame) -> Coded:
    frames = [
        frame_of(name, table)
        for name, table in (("original", ORIGINAL), ("release", release), ("holdout", HOLDOUT))
    ]
    schema = infer_schema(frames[0], frames[2])
    return encode(schema, schema.names, *frames)


def with_changed(count: int, columns: list[str], seed: int = 5) -> pl.DataFrame:
    """Fresh people, and some of the original with these columns of somebody else."""
    kept = [name for name in ORIGINAL.columns if name not in columns]
    some = (
        people(count, seed)
        .select(columns)
        .hstack(ORIGINAL.head(count).select(kept))
        .select(ORIGINAL.columns)
    )
    return pl.concat([some, FRESH.tail(600 - count)])


@pytest.mark.parametrize("columns", [["cost", "sex"], ["day", "sex"], ["age", "word"]])
def test_thirty_people_with_some_columns_of_somebody_else_are_told(columns: list[str]) -> None:
    result = audit(ORIGINAL, with_changed(30, columns), holdout=HOLDOUT, seed=1)
    assert result.verdict.exit_code == 1
    assert {caveat.code for caveat in result.caveats if caveat.leaks} <= {
        "standing_out",
        "near_copies",
    }


def test_small_changes_of_numbers_do_not_hide_twenty_people() -> None:
    moved = ORIGINAL.head(20).with_columns(
        pl.col("age") + 1, pl.col("day") + 2, (pl.col("cost") * 1.01).round(0).cast(pl.Int64)
    )
    found = audit(ORIGINAL, pl.concat([moved, FRESH.tail(580)]), holdout=HOLDOUT, seed=1)
    assert [(caveat.code, caveat.leaks) for caveat in found.caveats] == [("standing_out", True)]
    assert found.caveats[0].parameters["control"] <= 3
    assert 1 <= found.caveats[0].parameters["least"] <= 20
    allowed = audit(
        ORIGINAL,
        pl.concat([moved, FRESH.tail(580)]),
        holdout=HOLDOUT,
        seed=1,
        limits={"records": 30},
    )
    assert allowed.verdict.exit_code == 3


def test_chance_alone_is_hardly_ever_told() -> None:
    told = []
    for seed in range(100, 140):
        release = encode_fresh(seed)
        told.append(standing_out(release, release.original, release.holdout))
    assert (
        sum(one is not None for one in told) <= 4
    )  # two in a hundred are; more than 4 of 40 one time in 600


def encode_fresh(seed: int) -> Coded:
    tables = [
        frame_of(name, people(200, 3 * seed + place))
        for place, name in enumerate(("original", "release", "holdout"))
    ]
    schema = infer_schema(tables[0], tables[2])
    return encode(schema, schema.names, *tables)


def test_likeness_is_the_surprise_of_the_nearest_values_summed_over_columns() -> None:
    release = coded(FRESH.head(40))
    pool = release.original[:15]
    found = likest(release, pool)
    for person, row in itertools.product(range(15), range(40)):
        total = 0.0
        for place, column in enumerate(release.columns):
            own, shown = pool[person, place], release.release[row, place]
            share = np.bincount(pool[:, place], minlength=column.size) / len(pool)
            if column.covers[own, shown]:
                as_near = share[column.covers[:, shown]].sum()
            elif column.numeric:
                middle = column.positions[column.covers[:, shown]].mean()
                near = (
                    np.abs(column.positions[:-1] - middle)
                    <= np.abs(column.positions[own] - middle) + 1e-12
                )
                as_near = share[:-1][near].sum()
            else:
                as_near = 1.0
            total -= np.log(np.clip(as_near, 0.5 / len(pool), 1.0))
        assert total <= found[person] + 1e-6
