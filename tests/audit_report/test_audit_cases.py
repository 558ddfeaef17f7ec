"""The releases on which audits are measured are what the tables say of them, and so are the harmless ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scripts.audit_cases import PLANTED, TITLES, alarms, census, figures, frame, made_cases, private
from tests.docs.pages import REPOSITORY

pytestmark = pytest.mark.slow

DATA = Path(os.environ.get("KAKURENBO_DATA", REPOSITORY.parent / "shared" / "data")) / "adult"
FILES = [DATA / "adult.data.gz", DATA / "adult.test.gz"]


@pytest.fixture(scope="module")
def cases() -> tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame]:
    if not all(path.exists() for path in FILES):
        pytest.skip(
            f"no Census files: set KAKURENBO_DATA to the folder that holds adult/ (looked in {DATA})"
        )
    return made_cases(census(FILES), 800)


def shared(one: pl.DataFrame, other: pl.DataFrame) -> int:
    """Rows of one table that are in the other."""
    return one.join(other.unique(), on=one.columns, how="semi").height


def test_each_release_has_the_fault_that_its_name_tells(
    cases: tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame],
) -> None:
    original, releases, holdout = cases
    assert set(releases) == set(TITLES)
    assert {frame.height for frame in releases.values()} == {holdout.height} == {800}
    assert shared(releases["a"], original) == 800
    assert (
        shared(releases["b"], original)
        > shared(releases["b2"], original)
        > shared(releases["e"], original)
        == 0
    )
    assert shared(releases["d"], original) >= PLANTED
    assert shared(releases["z"], original) < 100
    assert set(releases["g"]["age"].str.len_chars()) == {5}


def test_relabelled_values_occur_as_often_as_the_originals(
    cases: tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame],
) -> None:
    original, releases, _ = cases
    for name in original.columns:
        counts = [
            sorted(frame[name].value_counts()["count"].to_list())
            for frame in (original, releases["f"])
        ]
        assert counts[0] == counts[1], name
    assert (
        original["education"].value_counts(sort=True)[0, 0]
        != releases["f"]["education"].value_counts(sort=True)[0, 0]
    )


def test_planted_records_are_found_and_harmless_releases_are_not_called_exposed(
    cases: tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame],
) -> None:
    """The short version of what scripts/audit_cases.py measures on tables of ten thousand, and over a hundred draws."""
    original, releases, holdout = cases
    found = {case: figures(original, releases[case], holdout, seed=7) for case in ("b", "d", "z")}
    assert found["d"]["planted"] > PLANTED / 2
    assert found["z"]["flagged"] == 0
    assert found["b"]["top"] > 90 > 70 > found["z"]["top"]
    assert found["b"]["linked"] > 5 * found["b"]["control"]
    counted = alarms(census(FILES), rows=200, draws=2)
    assert {hits for risks in counted.values() for hits in risks.values()} == {0}


def test_the_private_synthesis_knows_nothing_but_noisy_histograms() -> None:
    if not all(path.exists() for path in FILES):
        pytest.skip(
            f"no Census files: set KAKURENBO_DATA to the folder that holds adult/ (looked in {DATA})"
        )
    people = census(FILES).take(np.arange(2000))
    release = private(people, np.random.default_rng(1))
    assert len(release) == len(people)
    kept = (frame(release).to_numpy() == frame(people).to_numpy()).all(axis=1)
    assert kept.mean() < 0.01
