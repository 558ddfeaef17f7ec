"""Nobody is accused by a comparison that is none, and nobody reassured by a figure that cannot be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kakurenbo.audit.api import audit
from kakurenbo.audit.candidates import frontier
from kakurenbo.audit.report.words import why_told
from kakurenbo.core.messages import text

pytestmark = pytest.mark.slow


def people(count: int, seed: int) -> pl.DataFrame:
    """Made-up people; two columns say the same in other units."""
    rng = np.random.default_rng(seed)
    weight = rng.normal(70, 12, count)
    return pl.DataFrame(
        {
            "kg": np.round(weight, 1),
            "lb": np.round(weight * 2.2046, 1),
            "age": rng.integers(18, 90, count),
            "sex": rng.choice(["f", "m"], count),
            "town": [f"town {town}" for town in rng.integers(0, 40, count)],
            "schooling": [f"step {step}" for step in rng.integers(0, 6, count)],
        }
    )


def test_columns_that_determine_each_other_link_nobody_without_a_holdout() -> None:
    for seed in range(4):
        found = audit(people(600, 10 * seed), people(600, 10 * seed + 1), seed=seed)
        assert found.risks["linkability"].standing != "above", seed


def test_copies_are_still_linked_without_a_holdout() -> None:
    original = people(600, 1)
    assert (
        audit(original, original.sample(fraction=1, shuffle=True, seed=1), seed=1)
        .risks["linkability"]
        .standing
        == "above"
    )


def test_a_holdout_of_other_people_accuses_nobody_and_hides_no_copy() -> None:
    original, fresh = people(600, 1), people(600, 3)
    old = people(3000, 2).filter(pl.col("age") > 60).head(600)
    harmless = audit(original, fresh, holdout=old, seed=1)
    assert harmless.verdict.exit_code == 3
    assert harmless.risks["membership"].why == "unfit_holdout"
    open_ones = [risk for risk in harmless.risks.values() if risk.why == "no_control"]
    assert open_ones
    assert {why_told(risk, harmless) for risk in open_ones} == {text("audit.why.unfit_control")}
    assert audit(original, original, holdout=old, seed=1).verdict.exit_code == 1


def test_of_a_holdout_so_small_that_nobody_can_stand_out_records_are_not_assessed() -> None:
    original = people(600, 1)
    small = audit(original, original, holdout=people(45, 2), seed=1)
    assert not small.records.assessed
    assert "tpr_at_0.001" not in small.risks["membership"].figures
    assert "tpr_at_0.01" not in small.risks["membership"].figures
    assert audit(original, original, holdout=people(600, 2), seed=1).records.assessed


def test_columns_that_are_left_out_are_not_similar_where_releases_are_compared() -> None:
    original, holdout = people(400, 1), people(400, 2)
    releases = original.select("sex"), people(400, 3).drop("town"), people(400, 3)
    one, five, six = frontier(
        [audit(original, release, holdout=holdout, seed=1) for release in releases]
    )
    assert one.utility == 0
    assert five.utility < six.utility
    whole = audit(original, releases[1], holdout=holdout, seed=1).utility.pairs
    assert five.utility == pytest.approx(
        whole * 10 / 15
    )  # of six columns there are 15 pairs, of five 10
