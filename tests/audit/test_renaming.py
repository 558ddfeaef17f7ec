"""Columns under other names are put back where names or values leave no doubt, and never guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.audit.test_audit_cli import run

import kakurenbo
from kakurenbo.audit.frames import Frame, frame_of
from kakurenbo.audit.renaming import renamed
from kakurenbo.audit.result import AuditResult
from kakurenbo.audit.schema import infer_schema


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An original and a holdout of the hospital that does not exist."""
    folder = tmp_path_factory.mktemp("hospital")
    out, held = (str(folder / name) for name in ("original.csv", "holdout.csv"))
    assert (
        run(
            "generate",
            "table",
            "hospital",
            "--rows",
            "600",
            "--seed",
            "1",
            "-o",
            out,
            "--holdout",
            held,
        )[0]
        == 0
    )
    one, other = (pl.read_csv(path, infer_schema_length=0).fill_null("") for path in (out, held))
    return one, other


def taken(
    original: pl.DataFrame, release: pl.DataFrame, holdout: pl.DataFrame | None = None
) -> dict[str, str]:
    """Which column was taken for which."""
    ours = frame_of("original", original)
    held = None if holdout is None else frame_of("holdout", holdout)
    frame, caveats = renamed(infer_schema(ours), ours, frame_of("release", release), held)
    pairs = {str(caveat.parameters["column"]): str(caveat.parameters["like"]) for caveat in caveats}
    assert list(frame.columns) == [pairs.get(name, name) for name in release.columns]
    assert not any(caveat.blocks for caveat in caveats)
    return pairs


def numbered(table: pl.DataFrame) -> dict[str, str]:
    return {name: f"c{place + 1}" for place, name in enumerate(table.columns)}


def banded(table: pl.DataFrame) -> pl.DataFrame:
    decade = pl.col("age").cast(pl.Int64) // 10 * 10
    return table.with_columns(pl.format("{}-{}", decade, decade + 9).alias("age"))


def test_every_column_of_the_hospital_is_found_under_a_number_and_in_another_order(
    hospital: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    original, holdout = hospital
    shuffled = original.sample(fraction=1, shuffle=True, seed=1)
    wanted = {new: old for old, new in numbered(original).items()}
    for release in (shuffled, shuffled.select(original.columns[::-1]), banded(shuffled), holdout):
        assert taken(original, release.rename(numbered(original)), holdout) == wanted
        assert taken(original, release.rename(numbered(original))) == wanted


def test_a_release_with_other_headers_is_attacked(
    hospital: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    original, holdout = hospital
    release = original.sample(fraction=1, shuffle=True, seed=1).rename(
        {"age": "AGE_YEARS", "sex": "c2", "ward": "Ward "}
    )
    result = kakurenbo.audit(original, release, holdout=holdout, seed=1)
    assert isinstance(result, AuditResult)
    assert {
        caveat.parameters["like"] for caveat in result.caveats if caveat.code == "column_renamed"
    } == {"age", "sex", "ward"}
    assert result.utility.columns_kept == len(original.columns)
    assert result.verdict.code == "leaks"
    assert result.method.files["release"]["columns"] == list(release.columns)
    assert result.risks["membership"].rate is not None
    assert result.risks["membership"].rate.value > 0.9


def people(seed: int, count: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, count).astype(str),
            "smoker": rng.choice(["yes", "no"], count),
            "insured": rng.choice(["yes", "no"], count, p=[0.9, 0.1]),
            "job": rng.choice(["farmer", "teacher", "nurse", "clerk"], count),
            "job of the mother": rng.choice(["farmer", "teacher", "nurse", "clerk"], count),
            "patient": [str(number) for number in range(count)],
        }
    )


def test_columns_that_could_be_two_are_not_guessed() -> None:
    original, release = people(1), people(2)
    assert taken(original, release.rename({"job": "c1", "job of the mother": "c2"})) == {}
    assert taken(original, release.rename({"job": "c1"})) == {}
    assert taken(original, release.rename({"smoker": "c1", "insured": "c2"})) == {}
    assert taken(original, release.rename({"insured": "c1"})) == {}


def test_names_tell_what_values_do_not() -> None:
    original, release = people(1), people(2)
    assert taken(original, release.rename({"smoker": "is_smoker", "insured": "INSURED"})) == {
        "is_smoker": "smoker",
        "INSURED": "insured",
    }
    assert taken(original, release.rename({"job of the mother": "Job_of-the Mother"})) == {
        "Job_of-the Mother": "job of the mother"
    }
    both = release.rename({"age": "AGE"}).with_columns(pl.col("AGE").reverse().alias("Age"))
    assert taken(original, both) == {}


def test_a_column_of_something_else_is_taken_for_nothing() -> None:
    original = people(1)
    rng = np.random.default_rng(3)
    release = (
        people(2)
        .drop("age", "patient", "job")
        .with_columns(
            pl.Series("age of the dog", rng.integers(18, 50, 500).astype(str)),
            pl.Series("score", rng.integers(0, 1000, 500).astype(str)),
            pl.Series("line", [str(number) for number in range(500)]),
            pl.Series("colour", rng.choice(["red", "green", "blue"], 500)),
            pl.Series("hidden", ["*"] * 500),
        )
    )
    assert taken(original, release) == {}


def test_an_identifier_under_another_name_is_found_out() -> None:
    codes = [f"P{number:05d}" for number in np.random.default_rng(1).permutation(500)]
    original = people(1).with_columns(pl.Series("pid", codes)).drop("patient")
    release = original.sample(fraction=1, shuffle=True, seed=1).rename({"pid": "key"})
    result = kakurenbo.audit(original, release, identifiers=("pid",), seed=1)
    assert isinstance(result, AuditResult)
    assert [caveat.code for caveat in result.caveats][:2] == [
        "column_renamed",
        "identifier_released",
    ]
    assert result.verdict.exit_code == 1


def test_files_of_a_folder_are_read_each_for_itself() -> None:
    original, release = people(1).drop("patient"), people(2).drop("patient")
    parts = (
        frame_of("one", release.select("age", "job").rename({"age": "AGE"})),
        frame_of("two", release.select("smoker", "insured").rename({"smoker": "Smoker"})),
    )
    ours = frame_of("original", original)
    frame, caveats = renamed(
        infer_schema(ours), ours, Frame("folder", parts[0].cells, "", parts), None
    )
    assert [part.columns for part in frame.parts] == [("age", "job"), ("smoker", "insured")]
    assert frame.columns == ("age", "job")
    assert len(caveats) == 2


def test_a_command_that_writes_other_headers_is_attacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people(1).drop("patient").write_csv("original.csv")
    Path("tool.py").write_text(
        "import sys, pathlib\n"
        "text = pathlib.Path(sys.argv[1]).read_text()\n"
        "pathlib.Path(sys.argv[2]).write_text(text.replace('age,smoker', 'c1,SMOKER', 1))\n"
    )
    code, out, err = run(
        "audit", "original.csv", "--run", "python3 tool.py {in} {out}", "--runs", "1", "--seed", "1"
    )
    assert code == 1, err
    assert "c1: taken for the original's column age" in " ".join(out.split())
