"""Utility of pwscup2021: the five figures that decide, and their limits in each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from kakurenbo.contest import Score, Utility, at_most
from kakurenbo.core import Category, Table
from kakurenbo.data import health
from kakurenbo.measures.covariance import (
    correlation_change,
    odds_ratio_difference,
    one_hot_correlations,
)
from kakurenbo.measures.crosstab import Bins, CellCounts, cell_counts, share_difference
from kakurenbo.measures.record_changes import record_change
from kakurenbo.measures.records import unique_records
from kakurenbo.measures.regression import Regression, logistic_regression
from kakurenbo.rulebooks.pwscup2021.files import MAIN, PRE
from kakurenbo.rulebooks.pwscup2021.release import COMPARED, SCRIPTS

LIMITS = ("uniqrt", "rate", "odds_ratio", "cor", "iloss")
"""The figures that decide; each is a setting of a contest."""
_COMMON = {"uniqrt": 0.5, "rate": 0.05, "odds_ratio": 0.1, "cor": 0.1}
ROUND_LIMITS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {PRE: {**_COMMON, "iloss": 6.0}, MAIN: {**_COMMON, "iloss": 4.0}}
)

_FLAG_BINS = Bins((-1.0, 0.5, 2.0), ("0", "1"))
BINS: Mapping[str, Bins] = MappingProxyType(
    {
        health.AGE: Bins.between(19, 44, 64, 80),
        health.BMI: Bins.between(15, 18.5, 25, 30, 70),
        health.DEP: _FLAG_BINS,
        health.PIR: _FLAG_BINS,
    }
)
_CELLS = tuple(name for name in health.NAMES if name not in (*health.NUMBERS, *health.UNUSED))


def measure(
    original: Table, kept: np.ndarray, released: Table, limits: Mapping[str, float], mode: str
) -> Utility:
    """Compute all figures of an entry.

    Parameters
    ----------
    original : Table
        B.
    kept : array of int64
        The rows of B that are in D.
    released : Table
        D.
    limits : mapping of figure to number
        What each figure may be at most.
    mode : str
        ``rules``: a level that one of the tables does not have counts; ``scripts``: it is passed over, and the records that
        are one of a kind are a share of 4,190, whatever B has.
    """
    remaining, count_absent = original.take(kept), mode != SCRIPTS
    rows = health.ROWS if mode == SCRIPTS else len(original)

    def compare(difference: Callable[..., Score], figure: Callable[[Table], Any]) -> Score:
        before, after = (t.derived(("pwscup2021", figure), figure) for t in (original, released))
        return difference(before, after, count_absent=count_absent)

    scores = {
        "uniqrt": unique_share(remaining, rows),
        "rate": compare(share_difference, _cells),
        "odds_ratio": compare(odds_ratio_difference, _regression),
        "cor": compare(correlation_change, one_hot_correlations),
        "iloss": record_change(remaining, released, health.NUMBERS, _CELLS),
    }
    return Utility(scores, {name: at_most(value) for name, value in limits.items()})


def unique_share(remaining: Table, rows: int) -> Score:
    """uniqrt: how many records of C are one of a kind, as a share of the rows of B."""
    exact = [name for name in COMPARED if name not in health.NUMBERS]
    count = int(unique_records(remaining, exact, health.NUMBERS).sum())
    return Score(count / rows, higher_is_better=False, parts={"count": count})


def _cells(table: Table) -> CellCounts:
    return cell_counts(table, health.DIA, COMPARED, BINS)


def _regression(table: Table) -> Regression | None:
    """Fit the regression over the rows that have an education: one that is empty is missing."""
    column = table.schema[health.EDU]
    assert isinstance(column, Category)
    if "" in column.levels:
        table = table.take(table.codes[health.EDU] != column.code(""))
    return logistic_regression(table, health.DIA, COMPARED) if len(table) else None
