"""A rival knows the method: she rehearses it on people of her own choice, and learns from that who was in the real release."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.audit.census import parts

import kakurenbo
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.membership import RIVAL
from kakurenbo.audit.options import Options
from kakurenbo.audit.result import AuditResult, ThreatRow
from kakurenbo.audit.rivals import REHEARSALS, rehearsals
from kakurenbo.audit.running import run_audit, with_rival
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core import json_bytes
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.methods.registry import build

pytestmark = pytest.mark.slow

ROWS = 600
Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


@pytest.fixture(scope="module")
def tables() -> Tables:
    """Original, holdout, and people whom nobody asks about."""
    return parts(ROWS)


def rows_of(result: AuditResult) -> dict[str, ThreatRow]:
    return {row.attack: row for row in result.risks["membership"].rows}


def test_half_of_everybody_is_released_by_the_same_method_and_she_knows_who(tables: Tables) -> None:
    original, holdout, _ = tables
    frames = (
        frame_of("original", original),
        frame_of("release", original[:, :5]),
        frame_of("holdout", holdout),
    )
    made = rehearsals(build("anonymizers", "rr:p=1"), frames, infer_schema(frames[0], frames[2]), 3)
    assert len(made) == REHEARSALS
    everybody = pl.concat([original, holdout])[:, :5]
    for one in made:
        assert one.members.sum() == ROWS
        # Of a method that changes nothing the release is the half itself.
        kept = everybody.filter(pl.Series(one.members))
        assert sorted(one.release.cells.rows()) == sorted(
            kept.select(pl.all().cast(pl.String)).rows()
        )
    asked, controls = np.array([0, 5]), np.array([1])
    expected = [made[0].members[0], made[0].members[5], made[0].members[ROWS + 1]]
    assert made[0].of(asked, controls, ROWS).tolist() == expected


def test_what_she_learned_from_rehearsals_finds_members_of_the_release(tables: Tables) -> None:
    original, holdout, fresh = tables
    noisy = kakurenbo.audit(original, _noisy(original), holdout=holdout, method="rr:p=0.7", seed=2)
    row = rows_of(noisy)[RIVAL]
    assert row.threat == "rival"
    assert row.rate.value > 0.15
    assert row.excess is not None
    assert row.excess.low > 0
    harmless = rows_of(
        kakurenbo.audit(original, fresh, holdout=holdout, method="rr:p=0.7", seed=2)
    )[RIVAL]
    assert harmless.excess is not None
    assert harmless.excess.low < 0.01


def _noisy(original: pl.DataFrame) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    columns = []
    for column in original:
        redrawn = column.unique().sort().gather(rng.integers(0, column.n_unique(), len(column)))
        columns.append(column.zip_with(pl.Series(rng.random(len(column)) < 0.7), redrawn))
    return pl.DataFrame(columns)


def test_a_rival_knows_columns_by_whatever_name_they_were_released(tables: Tables) -> None:
    original, holdout, fresh = tables
    renamed = fresh.rename({"age": "AGE", "education": "Education"})
    row = rows_of(kakurenbo.audit(original, renamed, holdout=holdout, method="rr:p=0.7", seed=2))[
        RIVAL
    ]
    assert set(row.knows) == set(original.columns)


def test_nobody_is_a_rival_who_was_told_no_method(tables: Tables) -> None:
    original, holdout, fresh = tables
    assert RIVAL not in rows_of(kakurenbo.audit(original, fresh, holdout=holdout, seed=2))


def test_a_method_takes_a_holdout_one_file_and_a_table_that_it_fits(tables: Tables) -> None:
    original, holdout, fresh = tables
    with pytest.raises(ParameterError, match="holdout"):
        kakurenbo.audit(original, fresh, method="rr:p=0.7")
    with pytest.raises(ParameterError, match="one row per person"):
        kakurenbo.audit(original, fresh, holdout=holdout, earlier=[fresh], method="rr:p=0.7")
    with pytest.raises(UsageError):
        kakurenbo.audit(original, fresh, holdout=holdout, method="nobody_knows_it")
    with pytest.raises(UsageError, match="made for the data of darc2019"):
        kakurenbo.audit(original, fresh, holdout=holdout, method="monthly_pseudonyms")


def test_the_same_seed_rehearses_the_same_bytes_and_the_report_says_by_which_method(
    tables: Tables,
) -> None:
    original, holdout, fresh = (
        frame_of(name, table) for name, table in zip("ohr", tables, strict=True)
    )
    results = []
    for _ in range(2):
        options = with_rival(Options(seed=4, targets=100), "rr:p=0.5", (original, fresh, holdout))
        results.append(json_bytes(run_audit(original, fresh, holdout, options).as_json()))
    assert results[0] == results[1]
    assert b'"method": "rr:p=0.5"' in results[0]
