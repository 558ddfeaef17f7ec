"""Exact intervals and tests: Clopper and Pearson, Newcombe, Fisher, Holm, conformal p-values, Benjamini and Hochberg."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit.result import Excess, Rate

Floats = NDArray[np.float64]
LEVEL = 0.95


def rate(hits: int, of: int, level: float = LEVEL) -> Rate:
    """A share with its interval by Clopper and Pearson (1934); of no tries, nothing is known.

    Examples
    --------
    >>> rate(0, 10).high.__round__(4), rate(10, 10).low.__round__(4)
    (0.3085, 0.6915)
    """
    from scipy.stats import beta

    if of == 0:
        return Rate(0, 0, 0.0, 0.0, 1.0)
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, of - hits + 1))
    high = 1.0 if hits == of else float(beta.ppf(1 - tail, hits + 1, of - hits))
    return Rate(hits, of, hits / of, low, high)


def wilson(hits: int, of: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval (1927), which Newcombe's is made of."""
    from scipy.stats import norm

    z = float(norm.ppf((1 + level) / 2))
    share = hits / of
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    # At the ends the bounds are 0 and 1, but for rounding.
    return (0.0 if hits == 0 else (middle - half) / scale), (
        1.0 if hits == of else (middle + half) / scale
    )


def excess(one: Rate, other: Rate, level: float = LEVEL) -> Excess:
    """The difference of two independent shares, by Newcombe's tenth method (1998)."""
    if one.of == 0 or other.of == 0:
        return Excess(0.0, -1.0, 1.0)
    (low_1, high_1), (low_2, high_2) = (
        wilson(one.hits, one.of, level),
        wilson(other.hits, other.of, level),
    )
    difference = one.value - other.value
    low = difference - math.hypot(one.value - low_1, high_2 - other.value)
    high = difference + math.hypot(high_1 - one.value, other.value - low_2)
    return Excess(difference, low, high)


def excess_over(one: Rate, known: float) -> Excess:
    """What a share is over one that is known exactly."""
    return Excess(one.value - known, one.low - known, one.high - known)


def binomial(one: Rate, known: float) -> float:
    """p-value that a share is no larger than one that is known exactly (one-sided).

    Examples
    --------
    >>> binomial(rate(2, 2), 0.5), binomial(rate(0, 0), 0.5)
    (0.25, 1.0)
    """
    from scipy.stats import binom

    return float(binom.sf(one.hits - 1, one.of, known))


def fisher(one: Rate, other: Rate) -> float:
    """p-value that the first share is no larger than the second (Fisher's exact test, one-sided).

    Examples
    --------
    >>> from fractions import Fraction
    >>> fisher(rate(3, 3), rate(0, 3)) - float(Fraction(1, 20)) < 1e-12
    True
    """
    from scipy.stats import hypergeom

    hits = one.hits + other.hits
    return min(1.0, float(hypergeom.sf(one.hits - 1, one.of + other.of, hits, one.of)))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values corrected for how many there are (Holm 1979).

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected: dict[str, float] = {}
    least = 0.0
    for place, (name, value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, value * (len(p_values) - place)))
        corrected[name] = least
    return corrected


def conformal(scores: Floats, controls: Floats) -> Floats:
    """p-value of each score among those of people who are not in the original, shape (n,).

    (1 + how many controls score as high) / (1 + controls): exact where the score is the same function of everybody.
    """
    ordered = np.sort(controls)
    as_high = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return np.asarray((1 + as_high) / (1 + len(ordered)))


def discoveries(p_values: Floats, level: float) -> NDArray[np.int64]:
    """Which hypotheses are rejected with at most ``level`` false ones among them on average (Benjamini and Hochberg 1995).

    Examples
    --------
    >>> discoveries(np.array([0.5, 0.01, 0.03, 0.9]), 0.05).tolist()
    [1]
    >>> discoveries(np.array([0.5, 0.01, 0.02, 0.9]), 0.05).tolist()
    [1, 2]
    """
    order = np.argsort(p_values, kind="stable")
    within = np.flatnonzero(p_values[order] <= level * np.arange(1, len(order) + 1) / len(order))
    return np.sort(order[: within[-1] + 1]) if len(within) else np.zeros(0, dtype=np.int64)


def threshold(controls: Floats, share: float) -> float:
    """The score that at most ``share`` of the controls exceed."""
    allowed = math.floor(share * len(controls) + 1e-9)
    return float(np.sort(controls)[::-1][allowed]) if allowed < len(controls) else -math.inf


def found_beyond(scores: Floats, controls: Floats, share: float) -> float:
    """True positive rate at a false positive rate: the share of scores above what ``share`` of the controls exceed.

    Examples
    --------
    >>> found_beyond(np.array([5.0, 3, 1]), np.array([4.0, 2, 0, 0]), 0.25)
    0.6666666666666666
    """
    return float((scores > threshold(controls, share)).mean())
