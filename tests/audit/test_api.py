"""``kakurenbo.audit`` in Python has what the command line has: on Polars, pandas and paths."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kakurenbo
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core.errors import KakurenboError, ParameterError, UsageError


def people(seed: int, rows: int = 240) -> pl.DataFrame:
    """Made-up people: numbers, some of them missing, and words."""
    rng = np.random.default_rng(seed)
    ages = [None if rng.random() < 0.05 else int(age) for age in rng.integers(18, 90, rows)]
    return pl.DataFrame(
        {
            "age": ages,
            "town": [f"town {town}" for town in rng.integers(0, 30, rows)],
            "wage": rng.random(rows),
        }
    )


ORIGINAL, HOLDOUT, STRANGERS = people(1), people(2), people(3)


def as_pandas(table: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(table.to_dict(as_series=False))


@pytest.mark.parametrize("library", [pl.DataFrame, as_pandas])
def test_several_releases_are_candidates_by_their_names_and_the_first_is_the_planned_one(
    library: Any,
) -> None:
    tables = {"strangers": library(STRANGERS), "copy": library(ORIGINAL)}
    result = kakurenbo.audit(library(ORIGINAL), tables, holdout=library(HOLDOUT), seed=1)
    assert [candidate.name for candidate in result.candidates] == ["strangers", "copy"]
    assert [candidate.exit_code == 1 for candidate in result.candidates] == [False, True]
    assert result.verdict.exit_code == result.candidates[0].exit_code
    assert result.method.files["release"]["name"] == "strangers"


@pytest.mark.parametrize("library", [pl.DataFrame, as_pandas])
def test_a_function_gets_frames_like_the_original_and_its_copies_are_found_out(
    library: Any,
) -> None:
    original, seen, seeds = library(ORIGINAL), [], []

    def copying(frame: Any, seed: int) -> Any:
        seen.append(frame)
        seeds.append(seed)
        return frame

    result = kakurenbo.audit(original, run=copying, runs=2, seed=1)
    assert result.verdict.exit_code == 1
    assert result.risks["membership"].figures["canaries"] > 0.9
    assert len(set(seeds)) == 2
    for frame in seen:
        assert type(frame) is type(original)
        assert list(frame.columns) == list(original.columns)
        assert list(frame.dtypes) == list(original.dtypes)
        assert len(frame) == 140
    told = result.method.options
    assert (told["runs"], told["run"].rpartition(".")[2]) == (2, "copying")


def test_a_function_gets_numbers_of_a_file_and_a_command_is_run_as_on_the_command_line(
    tmp_path: Path,
) -> None:
    ORIGINAL.write_csv(tmp_path / "original.csv")
    kinds = []
    kakurenbo.audit(
        tmp_path / "original.csv", run=lambda frame: kinds.append(frame.schema) or frame, runs=1
    )
    assert kinds == [pl.Schema({"age": pl.Int64, "town": pl.String, "wage": pl.Float64})]
    script = tmp_path / "copying.py"
    script.write_text("import sys, shutil; shutil.copy(*sys.argv[1:])")
    result = kakurenbo.audit(ORIGINAL, run=f"{sys.executable} {script} {{in}} {{out}}", runs=1)
    assert result.verdict.exit_code == 1
    script.write_text("sys.exit(3)")
    with pytest.raises(UsageError, match="exit code 1"):
        kakurenbo.audit(ORIGINAL, run=f"{sys.executable} {script} {{in}} {{out}}", runs=1)


def test_a_baseline_is_a_result_its_json_or_its_file(tmp_path: Path) -> None:
    before = kakurenbo.audit(ORIGINAL, STRANGERS, holdout=HOLDOUT, seed=1)
    before.write_report(tmp_path / "before.json")
    for baseline in (
        before,
        before.as_json(),
        tmp_path / "before.json",
        str(tmp_path / "before.json"),
    ):
        assert (
            "membership"
            in kakurenbo.audit(
                ORIGINAL, ORIGINAL, holdout=HOLDOUT, seed=1, baseline=baseline
            ).regressions
        )
    with pytest.raises(ParameterError, match="baseline"):
        kakurenbo.audit(ORIGINAL, ORIGINAL, baseline={"risks": 3})
    with pytest.raises(UsageError, match="baseline"):
        kakurenbo.audit(ORIGINAL, ORIGINAL, baseline=tmp_path / "nothing.json")


def test_a_schema_leaves_columns_out_and_its_bounds_hold(tmp_path: Path) -> None:
    schema = infer_schema(frame_of("original", ORIGINAL)).without("wage")
    path = tmp_path / "schema.toml"
    path.write_text(schema.as_toml())
    for told in (schema, path, str(path)):
        result = kakurenbo.audit(ORIGINAL, ORIGINAL, schema=told, seed=1)
        assert set(result.utility.by_column) == {"age", "town"}
    path.write_text(schema.as_toml().replace('"town 7", ', ""))
    with pytest.raises(UsageError, match="none of the levels") as told_off:
        kakurenbo.audit(ORIGINAL, ORIGINAL, schema=path)
    assert "town 7" not in str(told_off.value)  # a cell of the original is nothing for a log


def test_a_report_is_written_by_its_ending_in_a_language_for_its_owner(tmp_path: Path) -> None:
    result = kakurenbo.audit(ORIGINAL, STRANGERS, seed=1)
    for name, language, words in (
        ("r.md", "ja", "監査"),
        ("r.md", "en", "# Audit of release"),
        ("r.html", "ja", "<html"),
        ("r.json", "ja", "{"),
    ):
        result.write_report(tmp_path / name, language=language)
        assert words in (tmp_path / name).read_text("utf-8")
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == json.loads(
        json.dumps(result.as_json())
    )
    with pytest.raises(UsageError, match=r"\.html, \.md or \.json"):
        result.write_report(tmp_path / "r.xlsx")
    with pytest.raises(ParameterError, match="language"):
        result.write_report(tmp_path / "r.md", language="fr")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"release": {}},
        {"release": ORIGINAL, "run": len},
        {"holdout": HOLDOUT, "run": len},
        {"person": "town", "run": len},
        {"method": "rr", "run": len},
        {"run": 3},
        {"release": {"a": ORIGINAL, "b": ORIGINAL}, "holdout": HOLDOUT, "method": "rr"},
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(KakurenboError, match=r"release|run|method"):
        kakurenbo.audit(ORIGINAL, **given)


def test_numbers_with_commas_in_a_data_frame_are_told() -> None:
    tables = [table.with_columns(wage=pl.col("wage").round(2).cast(pl.String).str.replace(".", ",", literal=True))
              for table in (ORIGINAL, STRANGERS)]  # fmt: skip
    assert {notice.code for notice in kakurenbo.audit(*tables, seed=1).notices} == {
        "audit.decimal_commas"
    }


def test_commas_of_the_release_alone_are_no_words() -> None:
    """They are read as the numbers that they stand for."""
    commas = STRANGERS.with_columns(
        wage=pl.col("wage").cast(pl.String).str.replace(".", ",", literal=True)
    )
    assert kakurenbo.audit(ORIGINAL, commas, holdout=HOLDOUT, seed=1).notices == ()
    by_holdout = HOLDOUT.with_columns(commas["wage"])
    told = kakurenbo.audit(ORIGINAL, commas, holdout=by_holdout, seed=1).notices
    assert [(notice.code, notice.file) for notice in told] == [
        ("audit.decimal_commas", "holdout"),
        ("audit.decimal_commas", "release"),
    ]


def test_the_call_tells_its_parameters() -> None:
    assert {"schema", "baseline", "run", "strict"} <= set(
        inspect.signature(kakurenbo.audit).parameters
    )


def test_limits_are_a_mapping_or_the_file_of_them(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text("membership = 0.5\n")
    for limits in ({"membership": 0.5}, path, str(path)):
        result = kakurenbo.audit(ORIGINAL, STRANGERS, holdout=HOLDOUT, limits=limits, seed=1)
        assert result.risks["membership"].limit == 0.5
    path.write_text("membership = 5\n")
    for wrong in (path, tmp_path / "none.toml"):
        with pytest.raises(UsageError, match=wrong.name):
            kakurenbo.audit(ORIGINAL, STRANGERS, limits=wrong)


def test_a_data_frame_is_the_same_original_as_the_file_that_it_was_read_from(
    tmp_path: Path,
) -> None:
    ORIGINAL.write_csv(tmp_path / "original.csv")
    before = kakurenbo.audit(tmp_path / "original.csv", STRANGERS, seed=1).as_json()
    codes = {
        name: {
            caveat.code
            for caveat in kakurenbo.audit(data, STRANGERS, baseline=before, seed=1).caveats
        }
        for name, data in (
            ("same", pl.read_csv(tmp_path / "original.csv")),
            ("other", ORIGINAL[1:]),
        )
    }
    assert ["baseline_original" in codes[name] for name in ("same", "other")] == [False, True]
    del before["method"]["files"]["original"]["cells"]  # as older audits were written
    again = kakurenbo.audit(tmp_path / "original.csv", STRANGERS, baseline=before, seed=1)
    assert "baseline_original" not in {caveat.code for caveat in again.caveats}
