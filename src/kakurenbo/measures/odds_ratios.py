"""How far the odds ratios of a regression moved (pwscup2021's ``OR``)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.tables.regression import Regression


def odds_ratio_difference(before: Regression | None, after: Regression | None, *, count_absent: bool = True) -> Score:
    """The largest |odds ratio before - after|; mean, and the same of coefficients and p values, are told beside it.

    Parameters
    ----------
    before, after : Regression or None
        None where there is no regression: no odds ratio is known, and the difference is infinite.
    count_absent : bool
        Whether a level that one table alone has makes the difference infinite; else it is passed over.
    """
    if before is None or after is None:
        return Score(math.inf, higher_is_better=False, limit={"reason": "separated"})
    absent = sorted(before.coefficients.keys() ^ after.coefficients.keys())
    if absent and count_absent:
        return Score(math.inf, higher_is_better=False, limit={"reason": "absent", "coefficient": absent[0]})
    names = [name for name in before.coefficients if name in after.coefficients]
    ratios = _differences(names, before.odds_ratios, after.odds_ratios)
    coefficients = _differences(names, before.coefficients, after.coefficients)
    p_values = _differences(names, before.p_values, after.p_values)
    parts = {"mean": float(ratios.mean()), "max_coefficient": float(coefficients.max()), "max_p": float(p_values.max())}
    worst = int(ratios.argmax())
    limit = {"coefficient": names[worst]} if ratios[worst] else {}
    return Score(float(ratios[worst]), higher_is_better=False, limit=limit, parts=parts)


def _differences(names: Iterable[str], before: Mapping[str, float], after: Mapping[str, float]) -> NDArray[np.float64]:
    moved: NDArray[np.float64] = np.abs(np.array([before[name] - after[name] for name in names]))
    return moved
