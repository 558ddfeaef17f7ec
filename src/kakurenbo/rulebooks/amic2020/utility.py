"""Utility of amic2020: the thresholds of the preliminary and of the main round, and every figure beside them."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Threshold, Utility
from kakurenbo.core import Moments, Table
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.histogram import histogram_error, histogram_utility
from kakurenbo.measures.trees import TreeTask, tree_utility

RELATIONSHIP = TreeTask("relationship", "Husband", max_depth=3)
INCOME_DEPTH = 5
INCOME_CLASSES = {"<=50K": "dta_income_le50k", ">50K": "dta_income_gt50k"}

_AT_LEAST = ("histogram", "vcm", "dta_relationship", "dta_income")
AT_MOST = ("max_histogram_error", "max_correlation_difference")
THRESHOLDS = (*_AT_LEAST, *AT_MOST)
"""The figures that can decide; each is a setting of a contest."""

PRELIMINARY = {"histogram": 0.99, "vcm": 0.4, "dta_relationship": 0.85, "dta_income": 0.85}
ROUND_THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    "pre": PRELIMINARY,
    "main": {
        "dta_relationship": 0.95,
        "dta_income": 0.95,
        "max_histogram_error": 0.03,
        "max_correlation_difference": 0.10,
    },
    "trial": PRELIMINARY,
}
RULES_2020 = "rules2020"
OFF = "off"
"""The value of a threshold that is switched off."""


def measure(
    sample: Table,
    released: Table,
    test: Table,
    *,
    thresholds: Mapping[str, float | None],
    edition: int,
    positive: str,
) -> Utility:
    """Compute all figures of a release D_i against C_i; those with a threshold decide.

    Parameters
    ----------
    sample, released, test : Table
        C_i, D_i and the rows of ``test.csv``.
    thresholds : mapping of figure to number or None
        Keys are ``THRESHOLDS``; a figure with None does not decide.
    edition : int
        Which of the two covariance figures is called ``vcm`` and decides.
    positive : str
        Which income class the tree's F-measure is about.
    """
    before, after = Moments.of(sample), Moments.of(released)
    editions = {number: covariance_utility(before, after, number) for number in (1, 2)}
    # Each class has trees of its own: where a leaf is split evenly, a tree decides for the class that it calls 0.
    income = {
        level: tree_utility(TreeTask("income", level, INCOME_DEPTH), sample, released, test)
        for level in INCOME_CLASSES
    }
    scores = {
        "histogram": histogram_utility(sample, released),
        "vcm": editions[edition],
        "vcm_edition1": editions[1],
        "vcm_edition2": editions[2],
        "dta_relationship": tree_utility(RELATIONSHIP, sample, released, test),
        "dta_income": income[positive],
        **{name: income[level] for level, name in INCOME_CLASSES.items()},
        "max_histogram_error": histogram_error(sample, released),
        "max_correlation_difference": correlation_difference(before, after),
    }
    deciding = {
        name: Threshold(value, minimum=name in _AT_LEAST)
        for name, value in thresholds.items()
        if value is not None
    }
    return Utility(scores, deciding)
