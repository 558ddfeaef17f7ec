"""Values in another guise hide nobody: spelling, affixes, digests, other units and other names are undone first."""

from __future__ import annotations

import base64
import datetime
import hashlib
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kakurenbo.audit.api import audit
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.masks import put_back
from kakurenbo.audit.result import RecodedColumn
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.spelling import plain_values
from kakurenbo.audit.units import found_unit

Change = Callable[[pl.DataFrame], pl.DataFrame]
NUMBERS = ("age", "pay")
WORDS = ("city", "job")


def people(count: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, count)
    born = [
        datetime.date(2024, 6, 30) - datetime.timedelta(int(days))
        for days in age * 365 + rng.integers(0, 365, count)
    ]
    job = np.where(rng.random(count) < 0.7, age // 12, rng.integers(0, 8, count))
    return pl.DataFrame(
        {
            "age": age,
            "pay": np.round(np.exp(8 + age / 50 + rng.normal(0, 0.4, count)), 2),
            "born": [str(day) for day in born],
            "city": rng.choice(
                ["Tokyo", "Osaka", "Kobe", "Nara", "Sakai"], count, p=[0.4, 0.25, 0.15, 0.12, 0.08]
            ),
            "job": [f"job {number}" for number in job],
        }
    ).cast(pl.String)


ORIGINAL, HOLDOUT, FRESH = people(600, 1), people(600, 2), people(600, 3)


def texts(change: Callable[[str], str], *names: str) -> Change:
    return lambda table: table.with_columns(
        [
            pl.col(name).map_elements(change, return_dtype=pl.String)
            for name in names or table.columns
        ]
    )


def numbers(factor: float, offset: float) -> Change:
    return lambda table: table.with_columns(
        [(pl.col(name).cast(float) * factor + offset).round(4).cast(pl.String) for name in NUMBERS]
    )


def days(shift: int) -> Change:
    return lambda table: table.with_columns(
        (pl.col("born").str.to_date() + pl.duration(days=shift))
        .dt.to_string("%Y-%m-%d")
        .alias("born")
    )


GUISES: dict[str, tuple[Change, set[str]]] = {
    "sha256": (
        texts(lambda value: hashlib.sha256(value.encode()).hexdigest()),
        set(ORIGINAL.columns),
    ),
    "beginnings of md5": (
        texts(lambda value: hashlib.md5(value.encode()).hexdigest()[:10]),
        set(ORIGINAL.columns),
    ),
    "labelled": (
        texts(lambda value: "sha1:" + hashlib.sha1(value.encode()).hexdigest().upper()),
        set(ORIGINAL.columns),
    ),
    "salted with the column": (
        texts(lambda value: hashlib.sha256(f"city:{value}".encode()).hexdigest(), "city"),
        {"city"},
    ),
    "base64": (
        texts(lambda value: base64.b64encode(value.encode()).decode()),
        set(ORIGINAL.columns),
    ),
    "affixes": (texts(lambda value: f"<{value}>!"), set(ORIGINAL.columns)),
    "zero-width spaces": (texts(lambda value: f"​{value.upper()} _", *WORDS), set(WORDS)),
    "shifted": (numbers(1, 1000), set(NUMBERS)),
    "scaled": (numbers(2.54, 0), set(NUMBERS)),
    "reflected": (numbers(-1, 100), set(NUMBERS)),
    "both": (numbers(3, 17), set(NUMBERS)),
    "days": (days(123), {"born"}),
    "day numbers": (
        lambda table: table.with_columns(
            (pl.col("born").str.to_date().to_physical() + 25_569).cast(pl.String)
        ),
        {"born"},
    ),
}


@pytest.mark.parametrize("guise", GUISES)
def test_a_guise_is_undone_to_the_cell(guise: str) -> None:
    change, columns = GUISES[guise]
    frames = [
        frame_of(name, table)
        for name, table in (("o", ORIGINAL), ("r", change(ORIGINAL)), ("h", HOLDOUT))
    ]
    shown, _, undone = put_back(infer_schema(frames[0], frames[2]), *frames)
    assert {one.column for one in undone} == columns
    for name in ORIGINAL.columns:
        numeric = name in NUMBERS
        ours, theirs = (
            table[name].cast(float) if numeric else table[name] for table in (ORIGINAL, shown.cells)
        )
        same = np.isclose(ours, theirs, atol=0.011) if numeric else (ours == theirs).to_numpy()
        assert same.mean() > 0.995, name


@pytest.mark.parametrize("guise", ["sha256", "both", "affixes"])
def test_what_is_undone_is_as_exposed_as_it_was_and_fresh_people_stay_unexposed(guise: str) -> None:
    change, columns = GUISES[guise]
    plain, told = (
        audit(ORIGINAL, table, holdout=HOLDOUT, seed=1) for table in (ORIGINAL, change(ORIGINAL))
    )
    assert {one.column for one in told.recoded} == columns
    assert told.verdict.exit_code == plain.verdict.exit_code == 1
    assert len(told.records.flagged) == len(plain.records.flagged) == len(ORIGINAL)
    fresh = audit(ORIGINAL, change(FRESH), holdout=HOLDOUT, seed=1)
    assert not fresh.records.flagged
    assert all(risk.standing != "above" for risk in fresh.risks.values())


def test_names_under_a_secret_key_are_told_by_how_common_they_are() -> None:
    """Also those of numbers, which are read as names then."""
    secret = texts(
        lambda value: hashlib.blake2b(value.encode(), key=b"secret", digest_size=8).hexdigest(),
        "age",
        "city",
        "job",
    )
    result = audit(ORIGINAL, secret(ORIGINAL), holdout=HOLDOUT, seed=1)
    assert {(one.column, one.rule) for one in result.recoded} == {
        (name, "names") for name in ("age", "city", "job")
    }
    assert result.verdict.exit_code == 1


def test_honest_releases_are_left_alone() -> None:
    rng = np.random.default_rng(5)
    noisy = ORIGINAL.with_columns(
        (pl.col("pay").cast(float) + pl.Series(rng.laplace(0, 3000, 600)))
        .round(2)
        .cast(pl.String)
        .alias("pay")
    )
    banded = ORIGINAL.with_columns(
        (pl.col("age").cast(int) // 10 * 10).cast(pl.String), pl.col("born").str.slice(0, 7)
    )
    clipped = ORIGINAL.with_columns(pl.col("pay").cast(float).clip(4000, 9000).cast(pl.String))
    starred = ORIGINAL.with_columns(pl.lit("*").alias("city"))
    for table in (ORIGINAL, FRESH, noisy, banded, clipped, starred):
        frames = [
            frame_of(name, cells) for name, cells in (("o", ORIGINAL), ("r", table), ("h", HOLDOUT))
        ]
        shown, _, undone = put_back(infer_schema(frames[0], frames[2]), *frames)
        assert undone == ()
        assert shown.cells.equals(table)


def test_most_cells_that_nobody_understands_leave_every_risk_not_assessed() -> None:
    rng = np.random.default_rng(6)
    odd = pl.DataFrame(
        {
            name: ["".join(one) for one in rng.choice(list("klmnop"), (600, 9))]
            for name in ORIGINAL.columns
        }
    )
    result = audit(ORIGINAL, odd, holdout=HOLDOUT, seed=1)
    assert {risk.standing for name, risk in result.risks.items() if name != "recoding"} == {
        "not_assessed"
    }
    assert result.risks["membership"].why == "unread"
    assert result.verdict.exit_code == 3


def test_pseudonyms_that_are_digests_of_names_give_people_away() -> None:
    rng = np.random.default_rng(7)
    shop = pl.DataFrame(
        {
            "who": [f"C{number:04d}" for number in rng.integers(0, 200, 2000)],
            "month": [f"2024-{month:02d}-03" for month in rng.integers(1, 7, 2000)],
            "goods": rng.integers(0, 50, 2000),
        }
    ).cast(pl.String)
    hashed = texts(lambda name: hashlib.md5(name.encode()).hexdigest(), "who")(shop)
    result = audit(shop, hashed, person="who", time="month", seed=1)
    assert [
        caveat.parameters["rule"] for caveat in result.caveats if caveat.code == "digests_of_names"
    ] == ["md5"]
    assert result.verdict.exit_code == 1
    # New names that look like old ones but for a letter are new names.
    renumbered = shop.with_columns("X" + pl.col("who").str.slice(1))
    told = audit(shop, renumbered, person="who", time="month", seed=1).caveats
    assert "digests_of_names" not in [caveat.code for caveat in told]


@settings(max_examples=60, deadline=None)
@given(
    factor=st.sampled_from([1.0, -1.0, 0.5, 2.0, 2.54, 10.0, -3.0, 0.0254]),
    offset=st.integers(-5000, 5000),
    seed=st.integers(0, 1000),
)
@pytest.mark.slow
def test_constants_are_found_whatever_they_are(factor: float, offset: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = np.round(np.exp(rng.normal(9, 0.6, 800)))
    released = rng.permutation(known[:400]) * factor + offset
    unit = found_unit(known, released)
    if factor == 1 and offset == 0:
        assert unit is None
    else:
        assert unit is not None
        assert np.isin(np.round(unit.undone(released)), known[:400]).mean() > 0.99


def test_spelling_that_two_values_share_is_not_guessed() -> None:
    values = ["<=50K", ">50K"]
    assert plain_values("income", ["50K"], values.__contains__, values) is None
    found = plain_values("income", ["≤50K ", " >50k"], values.__contains__, values)
    assert found is None or "≤50K " not in found.values


def test_a_recoded_column_says_how() -> None:
    assert RecodedColumn("age", 60, 60, "3 x + 17").as_json() == {
        "column": "age", "values": 60, "recovered": 60, "rule": "3 x + 17",
    }  # fmt: skip
