"""The two pictures of an audit: how far each risk stands from its control, and candidates by risk and utility.

Each is drawn for a width: what fits a slide does not fit a phone.
"""

from __future__ import annotations

from dataclasses import dataclass

from kakurenbo.audit.report.markup import moved, tag, words
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
from kakurenbo.reports.drawing import (
    SMALL,
    WIDE,
    Drawing,
    Plot,
    Point,
    clipped,
    legend,
    sign,
    wrapped,
)
from kakurenbo.reports.estimates import Estimate


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
    signs = [
        ("bad", said("standing.above")),
        ("unsure", said("standing.inconclusive")),
        ("good", said("standing.within")),
        ("control", said("control_meaning")),
    ]
    rows = Drawing(width, bottom + 30, "".join(drawn))
    return rows.above(legend(signs, axis.left if wide else 4, width))


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
        sign(look, axis(rate.value), y, interval(rate.low, rate.high)),
    ]


# -- candidates ------------------------------------------------------------------------------------------------------------


def frontier_picture(result: AuditResult, width: float) -> Drawing:
    """Candidates by utility (to the right) and risk (less of it upwards), so that the best corner is the upper right one."""
    points = [
        Point(
            clipped(one.name, 150, SMALL),
            Estimate(one.utility),
            Estimate(max(0.0, one.risk)),
            candidate_look(one),
            [_candidate_title(one)],
        )
        for one in result.candidates
    ]
    best = [point for one, point in zip(result.candidates, points, strict=True) if one.on_frontier]
    best.sort(key=lambda point: (point.x.mean, point.y.mean))
    axes = said("utility_axis"), said("risk_axis")
    plot = Plot(axes, points, best, is_upside_down=True)
    signs = dict.fromkeys(
        (candidate_look(one), candidate_standing(one)) for one in result.candidates
    )
    return plot.draw(width).above(legend(signs, 52 if width >= WIDE else 4, width))


def _candidate_title(one: Candidate) -> str:
    risk, utility = percent(one.risk), f"{one.utility:.3f}"
    return f"{one.name}: {said('risk_axis_short')} {risk}, {said('utility_axis_short')} {utility}"
