"""The releases on which audits are compared are what the table says of them."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from scripts.compare_audits import PLANTED, TITLES, made_cases
from tests.docs.pages import REPOSITORY

DATA = Path(os.environ.get("KAKURENBO_DATA", REPOSITORY.parent / "shared" / "data")) / "adult"
FILES = [DATA / "adult.data.gz", DATA / "adult.test.gz"]


@pytest.fixture(scope="module")
def cases() -> tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame]:
    if not all(path.exists() for path in FILES):
        pytest.skip(f"no Census files: set KAKURENBO_DATA to the folder that holds adult/ (looked in {DATA})")
    return made_cases(FILES, 800)


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
    assert shared(releases["b"], original) > shared(releases["b2"], original) > shared(releases["e"], original) == 0
    assert shared(releases["d"], original) >= PLANTED
    assert shared(releases["z"], original) < 100
    assert set(releases["g"]["age"].str.len_chars()) == {5}


def test_relabelled_values_occur_as_often_as_the_originals(
    cases: tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame],
) -> None:
    original, releases, _ = cases
    for name in original.columns:
        counts = [sorted(frame[name].value_counts()["count"].to_list()) for frame in (original, releases["f"])]
        assert counts[0] == counts[1], name
    assert original["education"].value_counts(sort=True)[0, 0] != releases["f"]["education"].value_counts(sort=True)[0, 0]
