"""The one formatter of figures: terminal, reports, charts and judge call it.

Counts are counts (``1,152``), shares percents (``10.0 %``), and no figure has an exponent. A mean over repeats has as many
digits as its 95 % interval: ``0.200 ± 0.011``; ``15 % (0–53)`` where mean ± half would leave the range of the figure;
``50.0 % (3×)`` where the repeats agree, which does not mean that others would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from kakurenbo.contest import Measurement, Threshold, Unit
from kakurenbo.core.messages import StoredText, language, render, translated
from kakurenbo.reports.document import FigureEntry, RankingLine
from kakurenbo.reports.estimates import Estimate

_DECIMALS = {Unit.SHARE: 1, Unit.COUNT: 1, Unit.POINTS: 2, Unit.SIMILARITY: 3, Unit.DISTANCE: 3}
_MOST_DECIMALS = 9
_NEGLIGIBLE = 1e-9
"""Below this part of a figure differences are those of the floating point, not of the contest."""


def figure(value: float | str, unit: Unit = Unit.NUMBER, *, decimals: int | None = None) -> str:
    """Format a figure by its unit.

    Parameters
    ----------
    value : float or str
        A text, such as the ``inf`` of a document, stays as it is.
    unit : Unit
    decimals : int or None
        So many decimals instead of those of the unit.

    Examples
    --------
    >>> figure(0.1, Unit.SHARE), figure(1152.0, Unit.COUNT), figure(28 / 3, Unit.COUNT), figure(25, Unit.POINTS)
    ('10.0 %', '1,152', '9.3', '25.00')
    >>> figure(0.00002, Unit.DISTANCE), figure("inf")
    ('0.000020', 'inf')
    """
    if isinstance(value, str) or not math.isfinite(value):
        return str(value)
    scale, sign = _scale(unit)
    return _single(scale * value, unit, decimals) + sign


def estimated(mean: Estimate, unit: Unit = Unit.NUMBER, spoken: str | None = None) -> str:
    """Format a mean with its interval, by default in the current language; without repeats as a plain figure.

    Examples
    --------
    >>> estimated(Estimate(0.2, 3, 0.1887, 0.2113, 0.0113), Unit.DISTANCE), estimated(Estimate(0.2), Unit.DISTANCE)
    ('0.200 ± 0.011', '0.200')
    >>> estimated(Estimate(0.15, 3, 0, 0.53, 0.38), Unit.SHARE), estimated(Estimate(0.5, 3, 0.5, 0.5, 0), Unit.SHARE)
    ('15 % (0–53)', '50.0 % (3×)')
    """
    if mean.half is None or not math.isfinite(mean.half):
        return figure(mean.mean, unit)
    scale, sign = _scale(unit)
    value, half = scale * mean.mean, scale * mean.half
    least = _NEGLIGIBLE * max(1.0, abs(value))
    if half <= least:
        parameters = {"value": figure(mean.mean, unit), "count": mean.n}
        return render("figure.agreed", parameters, spoken or language()).message
    low = value - half if mean.low is None else scale * mean.low
    high = value + half if mean.high is None else scale * mean.high
    places = _places(half)
    text = _fixed(value, places)
    if max(low - (value - half), value + half - high) <= least:
        return f"{text} ± {_fixed(half, places)}{sign}"
    parameters = {"value": text + sign, "low": _fixed(low, places), "high": _fixed(high, places)}
    return render("figure.range", parameters, spoken or language()).message


def share(value: float | None) -> str:
    """Format a share in percent; a dash for none.

    Examples
    --------
    >>> share(0.12345), share(1.0), share(0.0004), share(None)
    ('12.3 %', '100.0 %', '0.040 %', '–')
    """
    return "–" if value is None else figure(value, Unit.SHARE)


def bare_share(value: float) -> str:
    """Format a share for a small cell: percent without the sign.

    Examples
    --------
    >>> bare_share(0.123), bare_share(0.0812), bare_share(0.05)
    ('12', '8.1', '5')
    """
    percent = 100 * value
    return _fixed(percent, 0) if percent >= 9.95 else _fixed(percent, 1).removesuffix(".0")


def count(value: float) -> str:
    """Format a count, or the mean of counts.

    Examples
    --------
    >>> count(115200), count(9.333333)
    ('115,200', '9.3')
    """
    return figure(value, Unit.COUNT)


def times(ratio: float) -> str:
    """Format a ratio: two digits, or the whole part; half is rounded up.

    Examples
    --------
    >>> times(3), times(6.54), times(0.123), times(91.25), times(2.25), times(12.5)
    ('3.0', '6.5', '0.12', '91', '2.3', '13')
    """
    if not math.isfinite(ratio):
        return str(ratio)
    if ratio >= 10:
        return f"{math.floor(ratio + 0.5):,}"
    places = 1 if ratio >= 1 else 2
    return str(Decimal(repr(float(ratio))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def counted(value: int, noun: str, language: str) -> str:
    """Format a count with its noun, the message ``count.NOUN``.

    Examples
    --------
    >>> counted(1, "team", "en"), counted(1152, "attack", "en"), counted(6, "team", "ja")
    ('1 team', '1,152 attacks', '6チーム')
    """
    return render(f"count.{noun}", {"count": value}, language).message


def against(value: float | str, threshold: Threshold, unit: Unit = Unit.NUMBER) -> tuple[str, str]:
    """Format a figure and its threshold with so many digits that rounding does not lift one over the other.

    Examples
    --------
    >>> against(0.94996, Threshold(0.95), Unit.SIMILARITY), against(0.962, Threshold(0.95), Unit.SIMILARITY)
    (('0.94996', '≥ 0.95000'), ('0.962', '≥ 0.950'))
    """
    places, shift = _DECIMALS.get(unit, 3), 2 if unit is Unit.SHARE else 0
    if not isinstance(value, str) and math.isfinite(value):
        met = threshold.met_by(value)
        while places < _MOST_DECIMALS and threshold.met_by(round(value, places + shift)) != met:
            places += 1
    needed = figure(threshold.value, unit, decimals=places)
    return figure(value, unit, decimals=places), f"{'≥' if threshold.minimum else '≤'} {needed}"


def measured_texts(
    measured: Measurement, mean: Estimate | None, unit: Unit, spoken: str
) -> tuple[str, str]:
    """Return the value of a measure, or its mean over repeats, and its threshold as texts."""
    if mean is None or mean.n == 1:
        known, text = measured.value, figure(measured.value, unit)
    else:
        known, text = mean.mean, estimated(mean, unit, spoken)
    if measured.threshold is None:
        return text, ""
    value, needed = against(known, measured.threshold, unit)
    return value if known is measured.value else text, needed


def apart(values: Sequence[float | None], unit: Unit = Unit.NUMBER) -> list[str]:
    """Format the figures of a column with the same digits, and enough of them to tell different figures apart.

    Examples
    --------
    >>> apart([0.25088, 0.25091, None], Unit.DISTANCE), apart([276, 225], Unit.COUNT), apart([99, 42.5], Unit.POINTS)
    (['0.25088', '0.25091', '–'], ['276', '225'], ['99.00', '42.50'])
    """
    known = [value for value in values if value is not None]
    different = len({round(value, _MOST_DECIMALS) for value in known})
    are_whole = unit is Unit.COUNT and all(float(value).is_integer() for value in known)
    for places in range(0 if are_whole else _DECIMALS.get(unit, 3), _MOST_DECIMALS + 1):
        if len({figure(value, unit, decimals=places) for value in known}) >= different:
            break
    return ["–" if value is None else figure(value, unit, decimals=places) for value in values]


def score_texts(
    lines: Sequence[RankingLine], declared: FigureEntry, spoken: str | None = None
) -> list[str]:
    """Return the scores of a ranking: as the contest shows them, means of repeats with their intervals.

    A score that the contest multiplies is a number of points.
    """
    unit = declared.unit if declared.shown_times == 1 else Unit.NUMBER
    texts = []
    for line, text in zip(lines, apart([line.score for line in lines], declared.unit), strict=True):
        mean = line.estimate
        if mean is not None and mean.half is not None:
            texts.append(estimated(mean.times(declared.shown_times), unit, spoken))
        else:
            texts.append(line.shown or text)
    return texts


def shown_value(value: object, spoken: str | None = None) -> str:
    """Format a value without a declared unit: whole numbers whole, lists and mappings in words of a language.

    Examples
    --------
    >>> shown_value(1152.0), shown_value(0.123456789), shown_value(["age", "sex"]), shown_value(None)
    ('1,152', '0.1235', 'age × sex', '–')
    >>> shown_value({"largest_group": "sex=Male"}, "en")
    'largest group sex=Male'
    """
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, list | tuple):
        between = " × " if isinstance(value, list) else ","
        return between.join(shown_value(item, spoken) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{word(str(key), spoken).replace('_', ' ')} {shown_value(item, spoken)}"
            for key, item in value.items()
        )
    return str(value)


def word(text: str, spoken: str | None = None) -> str:
    """Translate a stored text, or a word of a document where the catalogue has it.

    Examples
    --------
    >>> word("re-identification", "ja"), word("not ranked", "en"), word("U", "en")
    ('再識別', 'not ranked', 'U')
    """
    if isinstance(text, StoredText):
        return translated(text, spoken or language())
    code = f"word.{text.replace('-', '').replace(' ', '_')}"
    known = render(code, {}, spoken or language()).message
    return text if known == code else known


def _scale(unit: Unit) -> tuple[int, str]:
    """Return what a figure is multiplied by and followed by."""
    return (100, " %") if unit is Unit.SHARE else (1, "")


def _single(value: float, unit: Unit, decimals: int | None) -> str:
    """Format a figure with the decimals of its unit, and more where a small one would be shown as 0."""
    whole = abs(value - round(value)) <= _NEGLIGIBLE * max(1.0, abs(value)) or abs(value) >= 1000
    if decimals is not None:
        return _fixed(value, decimals)
    if unit in (Unit.COUNT, Unit.NUMBER) and whole:
        return _fixed(value, 0)
    if unit is Unit.NUMBER:
        text = _fixed(value, _places(abs(value), digits=4))
        return text.rstrip("0").rstrip(".") if "." in text else text
    least = _DECIMALS[unit]
    vanishes = _NEGLIGIBLE < abs(value) < 0.5 * 10.0**-least
    return _fixed(value, _places(abs(value)) if vanishes else least)


def _places(value: float, digits: int = 2) -> int:
    """Return the decimals that show so many digits of a figure above 0."""
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return min(_MOST_DECIMALS, max(0, digits - 1 - exponent))


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text
