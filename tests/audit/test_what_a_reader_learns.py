"""Stars, bands and values that a release never shows: figures go by what a reader learns, and no choice flatters them."""

from __future__ import annotations

import numpy as np
import polars as pl

from kakurenbo.audit.checking import measure_utility
from kakurenbo.audit.encoding import Coded, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.mechanism import shown_as
from kakurenbo.audit.people import Asked
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.singling import attack_singling_out


def coded_of(
    original: pl.DataFrame, release: pl.DataFrame, holdout: pl.DataFrame | None = None
) -> Coded:
    frames = [frame_of("original", original), frame_of("release", release)]
    held = None if holdout is None else frame_of("holdout", holdout)
    return encode(infer_schema(frames[0]), original.columns, frames[0], frames[1], held)


def test_everybody_in_one_town_is_not_the_same_as_everybody_in_two() -> None:
    original = pl.DataFrame({"town": ["A"] * 6 + ["B"] * 4, "sex": ["f", "m"] * 5})
    release = original.with_columns(town=pl.lit("A"))
    utility = measure_utility(coded_of(original, release), coded_of(original, release).holdout, 2)
    assert abs(utility.by_column["town"] - 0.6) < 1e-9
    assert utility.by_column["sex"] == 1
    # A in 6 of 10 rows; with f and m alike in both towns, as many pairs agree.
    assert abs(utility.pairs - 0.6) < 1e-9


def test_a_star_says_nothing_and_is_no_copy_of_a_column() -> None:
    original = pl.DataFrame({"town": ["A"] * 9 + ["B"], "sex": ["f", "m"] * 5})
    utility = measure_utility(
        coded_of(original, original.with_columns(town=pl.lit("*"))), np.zeros((0, 2), np.int32), 2
    )
    assert utility.by_column["town"] < 0.6


def test_a_value_is_shown_as_the_narrowest_that_covers_it_and_never_as_one_that_does_not() -> None:
    original = pl.DataFrame({"town": ["A", "B", "C", "D"]})
    coded = coded_of(original, pl.DataFrame({"town": ["*", "*", "A", "B"]}))
    column = coded.columns[0]
    shown = [*column.shown, "never"]
    assert [shown[code] for code in shown_as(column, coded.release[:, 0])[:4]] == [
        "A",
        "B",
        "*",
        "*",
    ]
    without = coded_of(original, pl.DataFrame({"town": ["A", "B", "A", "B"]}))
    told = shown_as(without.columns[0], without.release[:, 0])
    assert told[:4].tolist() == [0, 1, without.columns[0].released, without.columns[0].released]


def test_a_few_stars_do_not_hide_that_people_are_singled_out() -> None:
    rng = np.random.default_rng(1)
    original, holdout = (
        pl.DataFrame({f"c{place}": rng.integers(0, 40, 300).astype(str) for place in range(4)})
        for _ in range(2)
    )
    stars = [
        pl.when(pl.Series(rng.random(300) < 0.05))
        .then(pl.lit("*"))
        .otherwise(column)
        .alias(column.name)
        for column in original
    ]
    coded = coded_of(original, pl.DataFrame(original.with_columns(stars)), holdout)
    risk, _ = attack_singling_out(coded, coded.holdout, np.random.default_rng(2))
    assert risk.excess is not None
    assert risk.excess.low > 0.5


def test_who_chooses_the_worst_secret_is_not_reported() -> None:
    """Nor are controls of a small holdout, nor others who tell what is known without the release."""
    people = np.arange(2400, dtype=np.int32)[:, None]
    coded = Coded((), people[:600], people[600:800], people[:600])
    asked = Asked.of(coded, coded.holdout, 1500, np.random.default_rng(1), apart=True)
    groups = [
        set(group[:, 0].tolist())
        for group in (asked.choosing, asked.reported, asked.controls, asked.choosing_controls)
    ]
    assert [len(group) for group in groups] == [200, 200, 100, 100]
    assert len(set.union(*groups)) == 600
    alone = Asked.of(coded, people[:0], 1500, np.random.default_rng(1), apart=True)
    others = set(alone.others[:, 0].tolist())
    assert not others & set(alone.choosing[:, 0].tolist())
    assert not others & set(alone.reported[:, 0].tolist())
