"""Figures as people read them: one table of cases, which the report's script is held to as well."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo import registry
from kakurenbo.contracts import Threshold, Unit
from kakurenbo.messages import LANGUAGES
from kakurenbo.reporting.numbers import against, apart, counted, figure

CASES = json.loads(Path(__file__).with_name("number_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["shown"])
def test_a_figure_is_shown_as_the_table_of_cases_says(case: dict[str, object]) -> None:
    assert figure(case["value"], Unit(case["unit"]), case.get("half")) == case["shown"]  # type: ignore[arg-type]


finite = st.floats(-1e9, 1e9, allow_nan=False)


@given(finite, st.sampled_from(list(Unit)), st.none() | st.floats(0, 1e6))
def test_no_figure_has_an_exponent_or_a_negative_zero(value: float, unit: Unit, half: float | None) -> None:
    shown = figure(value, unit, half)
    assert re.fullmatch(r"-?[\d,]+(\.\d+)?( ± [\d,]+(\.\d+)?)?( %)?", shown), shown
    assert not re.match(r"-0(\.0*)?( |$)", shown)


@given(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.sampled_from([Unit.SHARE, Unit.SIMILARITY, Unit.DISTANCE]))
def test_rounding_lifts_no_figure_over_its_threshold(value: float, needed: float, minimum: bool, unit: Unit) -> None:
    needed = round(needed, 2)
    threshold = Threshold(needed, minimum)
    if abs(value - needed) < 1e-8 and value != needed:
        return
    shown, written = against(value, threshold, unit)
    number = float(shown.removesuffix(" %"))
    limit = float(written[2:].removesuffix(" %"))
    assert Threshold(limit, minimum).met_by(number) == threshold.met_by(value)


@given(st.lists(st.floats(0, 1).map(lambda value: round(value, 6)), unique=True, min_size=2, max_size=8))
def test_scores_that_differ_look_different(scores: list[float]) -> None:
    assert len(set(apart(scores, Unit.DISTANCE))) == len(scores)


def test_counts_have_their_nouns_in_the_right_number() -> None:
    assert [counted(number, "team", "en") for number in (0, 1, 2)] == ["0 teams", "1 team", "2 teams"]


@pytest.mark.parametrize("name", ["amic2020", "darc2019", "pwscup2024"])
def test_every_figure_of_a_contest_says_what_it_means_in_every_language(name: str) -> None:
    for figure_name, declared in registry.load("rulebooks", name).figures.items():
        assert set(declared.definitions) == set(LANGUAGES), figure_name
        english, japanese = declared.definitions["en"], declared.definitions["ja"]
        assert english != japanese, figure_name
        assert declared.code not in (english, japanese), f"the catalogue has no words for {declared.code}"
        assert declared.of is None or math.isfinite(declared.of)
