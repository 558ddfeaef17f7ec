"""The two pictures of an audit: how far each risk stands from its control, and candidates by risk and utility.

Each is drawn for a width: what fits a slide does not fit a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kakurenbo.audit.report.markup import moved, printable, tag, words
from kakurenbo.audit.report.words import (
    LOOKS,
    candidate_look,
    candidate_standing,
    interval,
    limited,
    listing,
    named,
    percent,
    said,
    verdict_sentence,
    why_told,
)
from kakurenbo.audit.result import AuditResult, Candidate, Rate, Risk
from kakurenbo.reports.assets import pixels
from kakurenbo.reports.charts import (
    WIDE,
    Box,
    Drawing,
    Scale,
    clipped,
    placed_labels,
    text_width,
    ticks,
    wrapped,
)

_AIR = 0.08


def audit_pictures(result: AuditResult) -> dict[str, str]:
    """SVG texts by file name, in the language of the moment; the same result, the same bytes."""
    risks = risk_picture(result, WIDE)
    pictures = {"risks.svg": risks.picture(said("risks"), [verdict_sentence(result)])}
    if result.candidates:
        frontier = frontier_picture(result, WIDE)
        pictures["frontier.svg"] = frontier.picture(said("frontier"), [said("frontier_hint")])
    return pictures


# -- risks ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """From shares to pixels."""

    left: float
    right: float

    def __call__(self, value: float) -> float:
        return self.left + min(1.0, max(0.0, value)) * (self.right - self.left)


def risk_picture(result: AuditResult, width: float) -> Drawing:
    """Every risk in a row: rate and control, each with its interval."""
    wide = width >= WIDE
    axis = _Axis(236, width - 214) if wide else _Axis(8, width - 8)
    row_height = 62 if wide else 92
    # What was undone has neither a limit nor a control to stand beside.
    risks = [
        risk
        for risk in result.risks.values()
        if (risk.assessed or risk.why) and risk.name != "recoding"
    ]
    bottom = row_height * len(risks)
    stripe: dict[str, str | float] = {
        "class_": "stripe",
        "x": 0,
        "width": width,
        "height": row_height,
        "rx": 6,
    }
    drawn = [tag("rect", y=row_height * number, **stripe) for number in range(0, len(risks), 2)]
    for tick in (0, 25, 50, 75, 100) if wide else (0, 50, 100):
        x = axis(tick / 100)
        drawn.append(tag("line", class_="grid", x1=x, x2=x, y1=0, y2=bottom))
        anchor = "middle" if wide else {0: "start", 100: "end"}.get(tick, "middle")
        drawn.append(words(f"{tick} %", class_="dim small", x=x, y=bottom + 16, text_anchor=anchor))
    for number, risk in enumerate(risks):
        drawn.append(moved(0, row_height * number, _risk_row(risk, result, axis, width, wide=wide)))
    legend, rows = _risk_legend(axis.left if wide else 4, width)
    drawn.append(moved(0, bottom + 30, legend))
    return Drawing(width, bottom + 34 + 20 * rows, "".join(drawn))


def _risk_row(
    risk: Risk, result: AuditResult, axis: _Axis, width: float, *, wide: bool
) -> list[str]:
    look = LOOKS.get(risk.standing, "unsure")
    room = axis.left - 30 if wide else width - 150
    name = words(
        clipped(named("risk", risk.name), room, 13),
        class_="number",
        x=10 if wide else 4,
        y=20 if wide else 18,
    )
    if not risk.assessed or risk.rate is None:
        return [name, *_not_assessed(risk, result, axis, width, wide=wide)]
    against = [] if risk.limit is None else [said("limit_of", limit=percent(risk.limit))]
    against += (
        [] if risk.control is None else [said("control_of", control=percent(risk.control.value))]
    )
    middle = 31 if wide else 40
    marks = [
        *_mark(risk.control, axis, middle + 8, "control"),
        *_mark(risk.rate, axis, middle - 6, look),
    ]
    value, anchor = ((axis.right + 26, 25), "start") if wide else ((width - 4, 18), "end")
    beside = (axis.right + 26, 43) if wide else (4, 84)
    return [
        name,
        *marks,
        *_lines(
            named("attack", risk.attack),
            *((10, 37, room) if wide else (4, 68, width - 8)),
            most=2 if wide else 1,
        ),
        words(limited(risk), class_="number", text_anchor=anchor, x=value[0], y=value[1]),
        words(listing(against), class_="dim small", x=beside[0], y=beside[1]),
    ]


def _lines(text: str, x: float, y: float, room: float, most: int) -> list[str]:
    """A text in small lines, the last of which may end early."""
    lines = wrapped(text, room, 11)
    shown = (
        lines[:most]
        if len(lines) <= most
        else [*lines[: most - 1], f"{lines[most - 1].rstrip()} …"]
    )
    return [
        words(line, class_="dim small", x=x, y=y + 15 * number, title=text)
        for number, line in enumerate(shown)
    ]


def _not_assessed(
    risk: Risk, result: AuditResult, axis: _Axis, width: float, *, wide: bool
) -> list[str]:
    x, y = (axis.left, 25) if wide else (4.0, 38)
    why = why_told(risk, result) if risk.why else said("standing.not_assessed")
    return _lines(why, x, y, width - x - 10, most=2)


def _mark(rate: Rate | None, axis: _Axis, y: float, look: str) -> list[str]:
    if rate is None:
        return []
    return [
        tag("line", class_=f"span span-{look}", x1=axis(rate.low), x2=axis(rate.high), y1=y, y2=y),
        _sign(look, axis(rate.value), y, interval(rate.low, rate.high)),
    ]


def _sign(look: str, x: float, y: float, title: str = "") -> str:
    """A shape for each look, so that nobody needs colours to tell them apart."""
    told = [tag("title", escape(printable(title)))] if title else []
    if look == "bad":
        return tag(
            "path",
            *told,
            class_="bad",
            d=f"M{pixels(x)} {pixels(y - 8)}L{pixels(x + 7)} {pixels(y + 6)}H{pixels(x - 7)}Z",
        )
    if look == "unsure":
        corners = f"M{pixels(x)} {pixels(y - 7)}L{pixels(x + 7)} {pixels(y)}L{pixels(x)} {pixels(y + 7)}L{pixels(x - 7)} {pixels(y)}Z"
        return tag("path", *told, class_="unsure", d=corners)
    return tag("circle", *told, class_=look, cx=x, cy=y, r=4.5 if look == "control" else 6)


def _risk_legend(left: float, width: float) -> tuple[list[str], int]:
    signs = (
        ("bad", said("standing.above")),
        ("unsure", said("standing.inconclusive")),
        ("good", said("standing.within")),
    )
    return _legend([*signs, ("control", said("control_meaning"))], left, width)


def _legend(signs: Sequence[tuple[str, str]], left: float, width: float) -> tuple[list[str], int]:
    """What the shapes mean, in rows, and how many rows there are.

    What does not fit a row goes on in the next one: words cut out of the middle may turn a meaning into its opposite.
    """
    drawn, x, row = [], left, 0
    for look, told in signs:
        lines = wrapped(told, width - left - 24, 11)
        needed = 26 + max(text_width(line, 11) for line in lines)
        if x > left and x + needed > width:
            x, row = left, row + 1
        shown = [
            words(line, class_="dim small", x=18, y=10 + 20 * number)
            for number, line in enumerate(lines)
        ]
        drawn.append(moved(x, 20 * row, [_sign(look, 8, 6), *shown]))
        x, row = x + needed + 8, row + len(lines) - 1
    return drawn, row + 1


# -- candidates ------------------------------------------------------------------------------------------------------------


def _scale(values: Sequence[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    air = max(high - low, 0.02) * _AIR
    return Scale(low - air, high + air, start, end)


def frontier_picture(result: AuditResult, width: float) -> Drawing:
    """Candidates by utility (to the right) and risk (less of it upwards), so that the best corner is the upper right one."""
    wide = width >= WIDE
    height = 420 if wide else 330
    left, top, right, bottom = 52, 26, width - 12, height - 44
    across = _scale([one.utility for one in result.candidates], left, right)
    up = _scale([0.0, *(one.risk for one in result.candidates)], top, bottom)
    points = [(one, across(one.utility), up(one.risk)) for one in result.candidates]
    best = sorted(
        ((x, y) for one, x, y in points if one.on_frontier), key=lambda point: (point[0], point[1])
    )
    drawn = [
        *_frontier_axes(across, up, (left, top, right, bottom), wide=wide),
        *_frontier_line(best),
    ]
    drawn += _candidate_names(points, (left + 2, top, right, bottom - 2))
    drawn += [_sign(candidate_look(one), x, y, _candidate_told(one)) for one, x, y in points]
    signs = dict.fromkeys(
        (candidate_look(one), candidate_standing(one)) for one in result.candidates
    )
    legend, rows = _legend(list(signs), left if wide else 4, width)
    drawn.append(moved(0, height + 6, legend))
    return Drawing(width, height + 10 + 20 * rows, "".join(drawn))


def _frontier_axes(across: Scale, up: Scale, box: Box, *, wide: bool) -> list[str]:
    left, top, right, bottom = box
    drawn = []
    for tick in ticks(max(0.0, across.low), min(1.0, across.high), 8 if wide else 3):
        x = across(tick.value)
        drawn.append(tag("line", class_="grid", x1=x, x2=x, y1=top, y2=bottom))
        drawn.append(words(tick.text, class_="dim small", x=x, y=bottom + 16, text_anchor="middle"))
    for tick in ticks(100 * max(0.0, up.low), 100 * min(1.0, up.high), 6 if wide else 4):
        y = up(tick.value / 100)
        drawn.append(tag("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        drawn.append(
            words(f"{tick.text} %", class_="dim small", x=left - 6, y=y + 4, text_anchor="end")
        )
    return [
        *drawn,
        tag("line", class_="axis", x1=left, x2=right, y1=bottom, y2=bottom),
        tag("line", class_="axis", x1=left, x2=left, y1=top, y2=bottom),
        words(
            clipped(said("utility_axis"), right - left),
            x=(left + right) / 2,
            y=bottom + 36,
            text_anchor="middle",
        ),
        words(clipped(said("risk_axis"), right - 4), x=4, y=13),
    ]


def _frontier_line(best: Sequence[tuple[float, float]]) -> list[str]:
    if len(best) < 2:
        return []
    steps = "".join(f"V{pixels(y)}H{pixels(x)}" for x, y in best[1:])
    return [tag("path", class_="frontier", d=f"M{pixels(best[0][0])} {pixels(best[0][1])}{steps}")]


def _candidate_names(points: Sequence[tuple[Candidate, float, float]], box: Box) -> list[str]:
    labels = [(x, y, clipped(one.name, 150, 11)) for one, x, y in points]
    return [
        words(name, class_="small point-name", x=place.x, y=place.y, text_anchor=place.anchor)
        for place, (_, _, name) in zip(placed_labels(labels, box), labels, strict=True)
        if place is not None
    ]


def _candidate_told(one: Candidate) -> str:
    return f"{one.name}: {said('risk_axis_short')} {percent(one.risk)}, {said('utility_axis_short')} {one.utility:.3f}"
