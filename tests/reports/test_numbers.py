"""Figures as people read them: one table of cases."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.contest import Threshold, Unit
from kakurenbo.core.messages import LANGUAGES
from kakurenbo.methods import registry
from kakurenbo.reports import Estimate, estimate
from kakurenbo.reports.estimates import SHARE, limits_of
from kakurenbo.reports.numbers import against, apart, counted, estimated, figure

CASES = json.loads(Path(__file__).with_name("number_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["shown"])
def test_a_figure_is_shown_as_the_table_of_cases_says(case: dict[str, object]) -> None:
    assert shown(case) == case["shown"]


def shown(case: dict[str, Any]) -> str:
    unit = Unit(case["unit"])
    return (
        estimated(Estimate(**case["estimate"]), unit, "en")
        if "estimate" in case
        else figure(case["value"], unit)
    )


finite = st.floats(-1e9, 1e9, allow_nan=False)


NUMBER = r"-?[\d,]+(\.\d+)?"


@given(finite, st.sampled_from(list(Unit)))
def test_no_figure_has_an_exponent_or_a_negative_zero(value: float, unit: Unit) -> None:
    text = figure(value, unit)
    assert re.fullmatch(f"{NUMBER}( %)?", text), text
    assert not re.match(r"-0(\.0*)?( |$)", text)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_an_interval_of_a_share_stays_between_0_and_100_percent_and_around_its_mean(
    values: list[float],
) -> None:
    found = estimate(values, SHARE)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1
    text = estimated(found, Unit.SHARE, "en")
    assert re.fullmatch(rf"{NUMBER}( ± {NUMBER} %| %( \({NUMBER}–{NUMBER}\)| \(\d×\)))", text), text
    assert "± 0 " not in text


def test_an_interval_is_cut_where_the_figure_cannot_go_further_but_never_before_what_was_seen() -> (
    None
):
    # Three repeats 0, 0, 1.8 of 200 points: mean 0.6, 0.6 - 2.58 is below 0.
    assert (
        estimated(estimate([0, 0, 1.8], limits_of(Unit.POINTS, 200)), Unit.POINTS, "en")
        == "0.6 (0.0–3.2)"
    )
    assert estimate([0.9, 1.2], SHARE).high == 1.2, "the range was declared too narrow"
    assert estimated(estimate([3, 5]), Unit.NUMBER, "en") == "4 ± 13", "a plain number has no range"


def test_where_all_repeats_agree_no_interval_of_nothing_is_claimed() -> None:
    assert estimated(estimate([1.0, 1.0, 1.0], SHARE), Unit.SHARE, "en") == "100.0 % (3×)"
    assert estimated(estimate([1.0, 1.0, 1.0], SHARE), Unit.SHARE, "ja") == "100.0 % (3×)"
    assert estimated(estimate([0.0, 0.0, 0.3], SHARE), Unit.SHARE, "ja") == "10 %（0～53）"


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
    st.sampled_from([Unit.SHARE, Unit.SIMILARITY, Unit.DISTANCE]),
)
def test_rounding_lifts_no_figure_over_its_threshold(
    value: float, needed: float, minimum: bool, unit: Unit
) -> None:
    needed = round(needed, 2)
    threshold = Threshold(needed, minimum)
    if abs(value - needed) < 1e-8 and value != needed:
        return
    shown, written = against(value, threshold, unit)
    number = float(shown.removesuffix(" %"))
    limit = float(written[2:].removesuffix(" %"))
    assert Threshold(limit, minimum).met_by(number) == threshold.met_by(value)


@given(
    st.lists(
        st.floats(0, 1).map(lambda value: round(value, 6)), unique=True, min_size=2, max_size=8
    )
)
def test_scores_that_differ_look_different(scores: list[float]) -> None:
    assert len(set(apart(scores, Unit.DISTANCE))) == len(scores)


def test_counts_have_their_nouns_in_the_right_number() -> None:
    assert [counted(number, "team", "en") for number in (0, 1, 2)] == [
        "0 teams",
        "1 team",
        "2 teams",
    ]


@pytest.mark.parametrize("name", ["amic2020", "darc2019", "pwscup2021", "pwscup2024"])
def test_every_figure_of_a_contest_says_what_it_means_in_every_language(name: str) -> None:
    for figure_name, declared in registry.load("rulebooks", name)().figures.items():
        assert set(declared.definitions) == set(LANGUAGES), figure_name
        english, japanese = declared.definitions["en"], declared.definitions["ja"]
        assert english != japanese, figure_name
        assert declared.code not in (english, japanese), (
            f"the catalogue has no words for {declared.code}"
        )
        assert declared.of is None or math.isfinite(declared.of)
