"""The table of peers is made from what is kept, runs only what is missing, and tells which tool fails on what."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from scripts import compare_audits
from scripts.compare_audits import Comparison

FAILS = "import sys; sys.exit('a long trace\\nValueError: no such column')"
FINDS = "print('so much noise'); print('{\"link\": 0.25}')"
SLEEPS = "import time; time.sleep(60)"


@pytest.fixture
def comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """Of two tools on two releases, a program of one line for each; nothing is installed."""
    frame = pl.DataFrame({"age": ["30", "40"]})
    programs = {"anonymeter": FINDS, "SDMetrics": FAILS}

    def installed(tool: str, _: Path, seed: int) -> tuple[compare_audits.Call, str] | str:
        if tool not in programs:
            return "no space left"

        def call(tables: Sequence[str]) -> list[str]:
            return [sys.executable, "-c", programs[tool], *tables, str(seed)]

        return call, "1.2"

    monkeypatch.setattr(compare_audits, "census", lambda files: files)
    monkeypatch.setattr(
        compare_audits, "made_cases", lambda *_: (frame, {"a": frame, "z": frame}, frame)
    )
    monkeypatch.setattr(compare_audits, "_installed", installed)
    return Comparison(
        files=[],
        tools=["anonymeter", "SDMetrics"],
        cases=["a", "z"],
        kept=tmp_path / "kept",
        environments=tmp_path,
        rows=2,
    )


def test_a_tool_that_fails_is_told_with_its_error_and_kept(comparison: Comparison) -> None:
    assert comparison.run_missing() == []
    lines = comparison.lines()
    assert lines[:4] == [
        "| release | anonymeter | SDMetrics |",
        "| --- | --- | --- |",
        "| a identity | link 0.250 | – |",
        "| z fresh sample (control) | link 0.250 | – |",
    ]
    assert "anonymeter 1.2, SDMetrics 1.2" in lines[5]
    assert "anonymeter" in lines[6]
    assert "SDMetrics" not in lines[6], "seconds of a tool that finishes nothing"
    assert lines[7:] == [
        f"- SDMetrics fails on release {case}: ValueError: no such column" for case in "az"
    ]
    assert len(list(comparison.kept.iterdir())) == 4


def test_kept_results_make_the_table_without_running_anything(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.run_missing()
    lines = comparison.lines()
    with monkeypatch.context() as patch:
        for name in ("census", "made_cases", "_installed", "_run"):
            patch.setattr(compare_audits, name, None)
        assert comparison.run_missing() == []
    assert comparison.lines() == lines
    assert not replace(comparison, seed=2).file("anonymeter", "a").exists(), (
        "another seed is another result"
    )
    assert not replace(comparison, rows=3).file("anonymeter", "a").exists()


def test_only_what_is_missing_is_run(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.run_missing()
    comparison.file("anonymeter", "z").unlink()
    assert "| z fresh sample (control) | not run | – |" in comparison.lines()
    ran = []
    monkeypatch.setattr(
        compare_audits,
        "_run",
        lambda tool, command, *_: ran.append((tool, command[4])) or ({"link": 0.5}, ""),
    )
    comparison.run_missing()
    assert [(tool, Path(path).name) for tool, path in ran] == [("anonymeter", "z.csv")]
    assert "| z fresh sample (control) | link 0.500 | – |" in comparison.lines()


def test_a_tool_that_cannot_be_installed_is_told_and_has_no_column(comparison: Comparison) -> None:
    both = replace(comparison, tools=["mostlyai-qa", "anonymeter"])
    assert both.run_missing() == ["mostlyai-qa could not be installed: no space left"]
    assert both.lines()[0] == "| release | anonymeter |"


def test_a_tool_is_stopped_at_its_limit(tmp_path: Path) -> None:
    assert compare_audits._run("SDMetrics", [sys.executable, "-c", SLEEPS], tmp_path, 0.2) == (
        {},
        "stopped after 0.2 s",
    )


def test_figures_of_other_releases_are_not_passed_off_as_the_same(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.run_missing()
    comparison.file("anonymeter", "a").unlink()
    other = pl.DataFrame({"age": ["50", "60"]})
    monkeypatch.setattr(
        compare_audits, "made_cases", lambda *_: (other, {"a": other, "z": other}, other)
    )
    comparison.run_missing()
    assert [line for line in comparison.lines() if "not the same" in line] == [
        "- Release a was not the same for all tools: delete what is kept of the older one."
    ]


def test_the_audit_tells_membership_gains_and_exposed_records(tmp_path: Path) -> None:
    told = (
        '{"risks": {"membership": {"tpr_at_0.001": 0.25, "top100": 99},'
        ' "singling_out": {"assessed": true, "excess": {"value": 0.5}},'
        ' "linkability": {"assessed": false, "excess": null},'
        ' "inference": {"assessed": true, "excess": {"value": -0.01}}}, "records": {"flagged": 7}}'
    )
    figures, error = compare_audits._run(
        "kakurenbo", [sys.executable, "-c", f"print({told!r})"], tmp_path, 60
    )
    assert error == ""
    assert (
        compare_audits._cell(figures)
        == "TPR 0.2500, top 99, singling out 0.500, inference -0.010, exposed 7"
    )
