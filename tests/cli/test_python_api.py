"""The Python API: data frames in and out, and contests by files."""

from __future__ import annotations

import datetime
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import kakurenbo as kb

COLUMNS: dict[str, list[Any]] = {
    "age": [31, 42, 53, 64] * 30,
    "sex": ["F", "M"] * 60,
    "day": [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)] * 60,
    "smokes": [True, False] * 60,
    "weight": [1.5, 2.25, None] * 40,
}


def test_a_polars_frame_comes_back_with_its_types() -> None:
    table = pl.DataFrame(COLUMNS)
    release = kb.anonymize(table, "rr", p=0.5, seed=1)
    assert release.frame.schema == table.schema
    assert release.frame.height == table.height
    assert not release.frame.equals(table)
    again = kb.anonymize(table, "rr", p=0.5, seed=1)
    assert release.frame.equals(again.frame)


def test_a_pandas_frame_comes_back_with_its_types() -> None:
    table = pd.DataFrame({name: COLUMNS[name] for name in ("age", "sex", "smokes", "weight")})
    release = kb.anonymize(table, "rr", p=0.5, columns=["sex"], seed=1)
    assert isinstance(release.frame, pd.DataFrame)
    assert list(release.frame.dtypes) == list(table.dtypes)
    assert release.frame["age"].tolist() == table["age"].tolist()
    assert release.frame["sex"].tolist() != table["sex"].tolist()


def test_a_release_tells_its_claims_and_can_be_audited() -> None:
    table = pl.DataFrame({name: COLUMNS[name] for name in ("age", "sex")})
    release = kb.anonymize(table, "rr", p=0.5, seed=1)
    assert 0 < release.claims["epsilon"] < 10
    assert kb.audit(table, release).verdict.exit_code in (0, 1, 3)


def test_what_a_method_does_not_take_is_refused() -> None:
    table = pl.DataFrame({"age": [1, 2] * 20})
    with pytest.raises(kb.ParameterError):
        kb.anonymize(table, "rr", q=1)
    with pytest.raises(kb.UsageError, match="rr"):
        kb.anonymize(table, "rrr")


def test_a_contest_is_played_by_files_and_as_a_tournament(tmp_path: Path) -> None:
    options = {"histogram": 0.0, "vcm": 0.0, "dta_relationship": 0.0, "dta_income": 0.0}
    contest = kb.contest("amic2020", scale="small", **options)
    prepared, release = tmp_path / "c", tmp_path / "s" / "01" / "pre_anonymizeddata_01.csv"
    contest.prepare(prepared, teams=2, seed=7)
    contest.anonymize(prepared / "teams" / "01", "rrp:p=0.9", release, seed=1)
    assert contest.measure(prepared / "teams" / "01", release).passes
    published = contest.publish(prepared, tmp_path / "s", tmp_path / "p")
    assert [record.state for record in published.records] == ["published", "missing"]
    guess = tmp_path / "g" / "02" / "inference_01_02.index"
    contest.attack(tmp_path / "p" / "targets" / "01", "nearest", guess, seed=1)
    results = contest.score(tmp_path / "p", tmp_path / "g")
    assert results.standings["anonymization"][0]["team"] == "01"
    assert "02" in results.to_frame()["attacker"].cast(pl.String).to_list()
    results.save(tmp_path / "saved")
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {
        "results.json",
        "results.csv",
        "report.html",
    }


def test_a_tournament_is_played_from_python() -> None:
    contest = kb.contest("amic2020", scale="small", thresholds="round")
    players = [kb.Player("noise", "rrp:p=0.9", "nearest"), kb.Player("more", "rr:p=0.5", "")]
    results = contest.run(players, seed=1)
    assert {line["team"] for line in results.standings["overall"]} == {"01", "02"}


def test_options_of_a_contest_are_checked() -> None:
    with pytest.raises(kb.ParameterError):
        kb.contest("amic2020", sclae="small")
    with pytest.raises(kb.UsageError, match="amic2020"):
        kb.contest("amic2021")


def test_columns_that_a_method_leaves_as_they_are_are_named() -> None:
    weights = [50.5 + 0.1 * row for row in range(100)]
    table = pl.DataFrame({"age": [30 + row % 40 for row in range(100)], "weight": weights})
    with pytest.warns(UserWarning, match="left as they are, row by row: weight"):
        release = kb.anonymize(table, "rr", p=0.2, seed=1)
    assert release.unchanged == ("weight",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kb.anonymize(table, "permute", seed=1).unchanged == ()


def test_a_group_of_methods_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(kb.ParameterError, match="one of anonymizers, attacks, rulebooks"):
        kb.load("contests", "amic2020")


def test_the_code_of_the_how_to_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs/how-to/python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks), {})
    printed = capsys.readouterr().out
    assert "('01', 'published'), ('02', 'missing')" in printed
    assert (tmp_path / "results" / "report.html").is_file()
