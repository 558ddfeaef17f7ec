"""Utility of amic2020: the thresholds of the preliminary and of the main round, and every figure beside them."""

from __future__ import annotations

from kakurenbo.contracts import Threshold, Utility
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.histogram import histogram_error, histogram_utility
from kakurenbo.measures.trees import TreeTask, tree_utilities, tree_utility
from kakurenbo.tables import Moments, Table

RELATIONSHIP = TreeTask("relationship", "Husband", max_depth=3)
INCOME_DEPTH = 5
INCOME_CLASSES = {"<=50K": "dta_income_le50k", ">50K": "dta_income_gt50k"}

THRESHOLDS = {
    "pre": {
        "histogram": Threshold(0.99),
        "vcm": Threshold(0.4),
        "dta_relationship": Threshold(0.85),
        "dta_income": Threshold(0.85),
    },
    "main": {
        "max_histogram_error": Threshold(0.03, minimum=False),
        "max_correlation_difference": Threshold(0.10, minimum=False),
        "dta_relationship": Threshold(0.95),
        "dta_income": Threshold(0.95),
    },
}
THRESHOLDS["trial"] = THRESHOLDS["pre"]


def measure(sample: Table, released: Table, test: Table, *, round_: str, edition: int, positive: str) -> Utility:
    """All figures of a release D_i against C_i; the thresholds of the round decide.

    Parameters
    ----------
    sample, released, test : Table
        C_i, D_i and the rows of ``test.csv``.
    round_ : str
        ``pre``, ``main`` or ``trial``.
    edition : int
        Which of the two covariance figures is called ``vcm`` and decides.
    positive : str
        Which income class the tree's F-measure is about.
    """
    before, after = Moments.of(sample), Moments.of(released)
    editions = {number: covariance_utility(before, after, number) for number in (1, 2)}
    income = tree_utilities(TreeTask("income", positive, INCOME_DEPTH), sample, released, test)
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
    return Utility(scores, THRESHOLDS[round_])
