"""Every statistic by a worked example."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kakurenbo.audit.statistics import (
    conformal,
    discoveries,
    excess,
    fisher,
    found_beyond,
    holm,
    rate,
    threshold,
    wilson,
)


def test_clopper_and_pearson_of_none_and_all_have_closed_forms() -> None:
    assert rate(0, 10).high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert rate(10, 10).low == pytest.approx(0.025 ** (1 / 10))
    assert (rate(0, 10).low, rate(10, 10).high) == (0, 1)


def test_of_no_tries_nothing_is_known() -> None:
    assert (rate(0, 0).low, rate(0, 0).high) == (0, 1)
    assert (excess(rate(0, 0), rate(1, 2)).low, excess(rate(0, 0), rate(1, 2)).high) == (-1, 1)


def test_newcombe_gives_the_interval_of_his_own_example() -> None:
    # Newcombe (1998), table II: 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    found = excess(rate(56, 70), rate(48, 80))
    assert (found.low, found.high) == (
        pytest.approx(0.0524, abs=1e-4),
        pytest.approx(0.3339, abs=1e-4),
    )


def test_wilson_stays_within_0_and_1() -> None:
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == 1


def test_fisher_counts_the_tables_that_are_as_extreme() -> None:
    # 3 of 4 against 1 of 4: (C(4,3) C(4,1) + C(4,4) C(4,0)) / C(8,4) = 17 / 70.
    assert fisher(rate(3, 4), rate(1, 4)) == pytest.approx(17 / 70)


def test_holm_multiplies_the_least_by_all_and_never_goes_down() -> None:
    assert holm({"a": 0.2, "b": 0.01, "c": 0.04}) == {"b": 0.03, "c": 0.08, "a": 0.2}


def test_a_conformal_p_value_counts_the_controls_that_score_as_high() -> None:
    assert conformal(np.array([5.0, 2.0, 0.0]), np.array([1.0, 2.0, 3.0])).tolist() == [
        0.25,
        0.75,
        1.0,
    ]


def test_benjamini_and_hochberg_take_all_up_to_the_last_within_its_line() -> None:
    # 0.04 is above its own line of 2 * 0.05 / 3, but 0.045 is within 3 * 0.05 / 3.
    assert discoveries(np.array([0.045, 0.001, 0.04]), 0.05).tolist() == [0, 1, 2]
    assert discoveries(np.array([0.5, 0.9]), 0.05).tolist() == []


def test_at_a_rate_of_false_positives_so_many_controls_lie_above_the_threshold() -> None:
    controls = np.arange(100.0)
    assert threshold(controls, 0.01) == 98
    assert found_beyond(np.array([99.5, 98.5, 98.0]), controls, 0.01) == pytest.approx(2 / 3)
    assert threshold(controls, 1.0) == -math.inf
