"""The made-up hospital: its columns hang together as the model says, and its two files are alike."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.calling import call

from kakurenbo.core.rng import stream
from kakurenbo.data.hospital import hospital


@pytest.fixture(scope="module")
def stays() -> pl.DataFrame:
    return hospital(20_000, stream(1, "test"))


def test_who_gives_birth_is_a_woman_on_obstetrics_or_in_intensive_care(stays: pl.DataFrame) -> None:
    births = stays.filter(pl.col("diagnosis") == "delivery")
    assert len(births) > 500
    assert set(births["sex"]) == {"female"}
    assert set(births["ward"]) == {"obstetrics", "intensive care"}


def test_from_75_on_everybody_has_the_insurance_of_the_elderly_or_assistance(
    stays: pl.DataFrame,
) -> None:
    old = stays.filter(pl.col("age") >= 75)
    assert set(old["insurance"]) == {"late-stage elderly", "public assistance"}
    assert "late-stage elderly" not in set(stays.filter(pl.col("age") < 75)["insurance"])


def test_influenza_comes_in_winter_and_heat_stroke_in_summer(stays: pl.DataFrame) -> None:
    months = stays.with_columns(month=pl.col("admitted").dt.month())
    winter = months.filter(pl.col("diagnosis") == "influenza")["month"].is_in([12, 1, 2, 3]).mean()
    summer = months.filter(pl.col("diagnosis") == "heat stroke")["month"].is_in([6, 7, 8, 9]).mean()
    assert winter > 0.6
    assert summer > 0.6


def test_hba1c_is_missing_for_many_and_high_in_diabetes(stays: pl.DataFrame) -> None:
    diabetes = pl.col("diagnosis") == "diabetes mellitus"
    assert 0.5 < stays["hba1c"].null_count() / len(stays) < 0.75
    assert stays.filter(diabetes)["hba1c"].mean() - stays.filter(~diabetes)["hba1c"].mean() > 2


def test_some_stays_are_the_only_one_of_their_diagnosis_and_prefecture(stays: pl.DataFrame) -> None:
    assert 50 < stays.select("diagnosis", "prefecture").is_unique().sum() < 500


def test_the_command_draws_two_files_of_different_people_and_the_same_again(tmp_path: Path) -> None:
    def drawn(folder: str, seed: int) -> list[bytes]:
        out, holdout = tmp_path / folder / "original.csv", tmp_path / folder / "holdout.csv"
        called = call(
            "generate",
            "table",
            "hospital",
            "--rows",
            300,
            "--seed",
            seed,
            "-o",
            out,
            "--holdout",
            holdout,
        )
        assert (called.code, called.json["rows"], called.json["seed"]) == (0, 300, str(seed))
        return [out.read_bytes(), holdout.read_bytes()]

    first = drawn("one", 1)
    assert drawn("two", 1) == first
    assert drawn("three", 2)[0] != first[0]
    lines = [data.decode().splitlines() for data in first]
    assert [len(part) for part in lines] == [301, 301]
    assert len(set(lines[0][1:]) & set(lines[1][1:])) < 5


def test_two_tables_are_not_written_to_one_place(tmp_path: Path) -> None:
    called = call(
        "generate", "table", "hospital", "-o", tmp_path / "x.csv", "--holdout", tmp_path / "x.csv"
    )
    assert called.code == 2
    assert "name another file" in called.json["error"]
