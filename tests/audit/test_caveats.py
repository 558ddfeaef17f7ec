"""What could not be attacked is told, and nobody is reassured by a verdict that does not cover it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kakurenbo.audit.api import audit
from kakurenbo.audit.result import AuditResult
from kakurenbo.errors import ParameterError


def people(count: int, seed: int) -> pl.DataFrame:
    """Made-up people, few of them alike."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "pid": [f"P{seed}-{number:05d}" for number in range(count)],
            "age": rng.integers(18, 90, count),
            "zip": rng.integers(70_000, 70_400, count),
            "sex": rng.choice(["f", "m"], count),
        }
    )


ORIGINAL, HOLDOUT, FRESH = people(400, 1), people(400, 2), people(400, 3)


def codes(result: AuditResult) -> dict[str, bool]:
    """Each caveat, and whether it blocks."""
    return {f"{caveat.code}:{caveat.parameters.get('column', '')}": caveat.blocks for caveat in result.caveats}


def test_a_release_of_strangers_under_the_same_names_has_no_caveat() -> None:
    result = audit(ORIGINAL.drop("pid"), FRESH.drop("pid"), holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result) == {}


def test_an_identifier_that_is_still_there_blocks_reassurance() -> None:
    result = audit(ORIGINAL, FRESH, holdout=HOLDOUT, identifiers=("pid",), seed=1)
    assert codes(result) == {"identifier_released:pid": True}
    assert result.verdict.exit_code in (1, 3)
    assert result.as_json()["caveats"][0]["code"] == "identifier_released"


def test_columns_by_another_name_are_told() -> None:
    release = FRESH.drop("pid").rename({"age": "AGE", "sex": "gender"}).with_columns(pl.lit("x").alias("note"))
    result = audit(ORIGINAL.drop("pid"), release, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result) == {"column_renamed:AGE": False, "column_renamed:gender": False, "foreign_column:note": False}
    twice = release.with_columns(pl.col("AGE").reverse().alias("Age"))
    result = audit(ORIGINAL.drop("pid"), twice, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result)["column_by_case:AGE"]
    assert result.verdict.exit_code != 0


def test_values_that_nobody_understands_are_told_and_block() -> None:
    odd = FRESH.drop("pid").with_columns(("≈" + pl.col("age").cast(pl.String)).alias("age"))
    result = audit(ORIGINAL.drop("pid"), odd, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result)["not_understood:age"]
    assert result.verdict.exit_code != 0


def test_a_holdout_of_the_originals_people_is_refused_and_a_half_of_them_told() -> None:
    release = ORIGINAL.drop("pid").sample(fraction=1, shuffle=True, seed=1)
    nearly = pl.concat([ORIGINAL, HOLDOUT[:1]]).sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(ParameterError, match="not in the original"):
        audit(ORIGINAL, release, holdout=nearly, identifiers=("pid",), seed=1)
    half = pl.concat([ORIGINAL[:200], HOLDOUT[:200]])
    result = audit(ORIGINAL, release, holdout=half, identifiers=("pid",), seed=1)
    assert codes(result) == {"holdout_overlap:": True}
    assert result.verdict.exit_code == 1
