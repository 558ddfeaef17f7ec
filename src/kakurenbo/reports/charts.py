"""Charts of a document: heat map, scatter plot with frontier and thresholds; utility over iterations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from kakurenbo.contest import Unit
from kakurenbo.core.messages import language
from kakurenbo.core.messages import text as message
from kakurenbo.reports.assets import render
from kakurenbo.reports.document import Document
from kakurenbo.reports.drawing import WIDE, Drawing, Plot, Point, Scale, clipped, legend, text_width
from kakurenbo.reports.estimates import Estimate
from kakurenbo.reports.numbers import bare_share, estimated, figure, share
from kakurenbo.reports.view import View

Trace = Sequence[Sequence[float]]
"""Utility of each file before the first and after each iteration, shape (iterations + 1, files)."""
# Cividis: the same order of brightness for every kind of colour vision, and in grey.
CIVIDIS = (
    *("00224e", "123570", "3b496c", "575d6d", "707173"),
    *("8a8678", "a59c74", "c3b369", "e1cc55", "fee838"),
)
_COLOURS = (
    *("#1b6ca8", "#d1495b", "#2e8b57", "#e08e00", "#6a4c93"),
    *("#00798c", "#8d5524", "#b5179e", "#5c677d", "#7a9e00"),
)  # readable on light and dark grounds
_MAX_POINTS = 300  # of a line


def ramp(part: float) -> tuple[str, str]:
    """Return the colour of a part of the scale, from 0 to 1, and the class of a text on it.

    Examples
    --------
    >>> ramp(0), ramp(7)
    (('#00224e', 'on-dark'), ('#fee838', 'on-bright'))
    """
    place = min(1.0, max(0.0, part)) * (len(CIVIDIS) - 1)
    left = min(len(CIVIDIS) - 2, int(place))
    below, above = (bytes.fromhex(CIVIDIS[at]) for at in (left, left + 1))
    mixed = (int(a + (place - left) * (b - a) + 0.5) for a, b in zip(below, above, strict=True))
    return f"#{bytes(mixed).hex()}", "on-bright" if part > 0.55 else "on-dark"


def interval(accuracy: Estimate) -> str:
    """Return the 95 % interval for a small cell; nothing without one, or where all repeats agree."""
    if accuracy.low is None or accuracy.high is None or accuracy.high - accuracy.low < 1e-9:
        return ""
    return f"{bare_share(accuracy.low)}–{bare_share(accuracy.high)}"


def figures(document: Document, spoken: str | None = None) -> dict[str, str]:
    """Return the charts as SVG files by name; the same document, the same bytes."""
    files = {}
    for entry in document.rounds:
        view = View(document, entry, spoken or language())
        charts = []
        if entry.attacks:
            notes = [view.text("heat_axes"), view.heat_note]
            charts.append(("heatmap", "heatmap", "heat_repeats", heatmap(view), notes))
        if view.axes:
            notes = [f"{view.text('privacy_' + view.axes[1])} · {view.axes[0].name}"]
            charts.append(("scatter", "frontier", "scatter_repeats", scatter(view), notes))
        for name, title, note, drawing, notes in charts:
            count = len(entry.repeats)
            notes += [view.text(note, count=count)] if count > 1 else []
            heading = f"{document.rulebook.name}: {view.text(title)}"
            files[file_name(view, name)] = drawing.picture(heading, notes)
    return files


def file_name(view: View, chart: str) -> str:
    """Return the name of a chart's file, with the round where there are several."""
    suffix = re.sub(r"[^A-Za-z0-9_-]", "_", view.entry.name)
    return f"{chart}-{suffix}.svg" if len(view.document.rounds) > 1 else f"{chart}.svg"


def heatmap(view: View) -> Drawing:
    """Draw attackers down, releases across, bright where many guesses were right."""
    attackers = list(view.entry.attackers)
    side = min(210.0, max(40.0, *(text_width(view.label(name)) + 14 for name in attackers)))
    width = min(180.0, max(28.0, (WIDE - side - 2) / len(view.entry.attacks)))
    height = min(34.0, width)
    across, down = width * len(view.entry.attacks), 36 + height * len(attackers)
    scale_width = min(300.0, max(160.0, across))
    chance = view.entry.chance
    mark = scale_width * chance.mean / view.scale_top if chance else 0
    content = render(
        "heatmap.svg",
        view=view,
        side=side,
        width=width,
        height=height,
        down=down,
        scale_width=scale_width,
        mark=mark if 40 < mark < scale_width - 90 else 0,
        colours=CIVIDIS,
        **{each.__name__: each for each in (bare_share, clipped, estimated, interval, ramp, share)},
    )
    return Drawing(side + max(across, 160), down + 42, content)


def scatter(view: View, width: float = WIDE) -> Drawing:
    """Draw releases by utility and privacy as numbered points, with frontier, sweeps, thresholds and a legend."""
    assert view.axes is not None
    (measure, kind), entry = view.axes, view.entry
    unit, privacy = view.document.figure(measure.name).unit, view.text(f"privacy_{kind}")
    points: dict[str, Point] = {}
    sweeps: dict[str, list[Point]] = {}
    signs: dict[str, str] = {}
    for target, (x, y) in entry.points(measure.name, kind).items():
        release = entry.releases[target]
        look = "good" if release.verdict in ("", "passes") else "bad"
        texts = (
            f"{measure.name}: {estimated(x, unit, view.language)}",
            f"{privacy}: {estimated(y, Unit.SHARE, view.language)}",
        )
        points[target] = Point(target, x, y, look, (view.label(target), *texts))
        sweeps.setdefault(view.player(target).sweep, []).append(points[target])
        signs[view.word(release.standing) or view.text("target")] = look
    lines = {name: listed for name, listed in sweeps.items() if name and len(listed) > 1}
    frontier = [points[name] for name in entry.frontiers[measure.name][kind] if name in points]
    if frontier[1:]:
        signs[view.text("frontier_line")] = "frontier"
    for at, name in enumerate(lines):
        signs[view.text("sweep", name=name)] = f"sweep sweep-{at % 4}"
    better = view.text("better_right" if measure.higher_is_better else "better_left")
    threshold, blind = measure.threshold, entry.chance_privacy
    plot = Plot(
        axes=(f"{measure.name} {better}", f"↑ {privacy}"),
        points=list(points.values()),
        frontier=frontier,
        sweeps=[sorted(listed, key=lambda point: point.x.mean) for listed in lines.values()],
        x_mark=(threshold, f"{view.say('measure.threshold')} {figure(threshold, unit)}")
        if threshold is not None
        else None,
        y_mark=(blind, view.text("blind")) if blind is not None else None,
    )
    names = [("", view.label(target)) for target in points if view.player(target).name]
    signs_drawn = legend(((look, text) for text, look in signs.items()), 48, width)
    return plot.draw(width).above(signs_drawn).above(legend(names, 48, width))


# -- utility over iterations -----------------------------------------------------------------------


def trace_csv(trace: Trace) -> bytes:
    """Write a trace as CSV: iteration, utility of each file, and the smallest of them.

    Examples
    --------
    >>> print(trace_csv([(54.5, 57.25), (60, 57.25)]).decode(), end="")
    iteration,U_0,U_1,U
    0,54.5,57.25,54.5
    1,60,57.25,57.25
    """
    files = [f"U_{number}" for number in range(len(trace[0]))] if len(trace[0]) > 1 else []
    lines = [",".join(("iteration", *files, "U"))]
    for iteration, utilities in enumerate(trace):
        values = [*utilities, min(utilities)] if files else utilities
        lines.append(",".join((str(iteration), *(f"{value:.10g}" for value in values))))
    return "\n".join(lines).encode() + b"\n"


def utility_chart(trace: Trace, title: str) -> str:
    """Draw a trace as SVG, one line per file."""
    left, top, right, bottom = 48.0, 12.0, WIDE - 120.0, 440.0 - 46
    last = max(1, len(trace) - 1)
    across = Scale(0, last, left, right)
    up = Scale.around(list(itertools.chain.from_iterable(trace)), bottom, top, (0, 100))
    iterations = sorted({round(last * part / _MAX_POINTS) for part in range(_MAX_POINTS + 1)})
    files = []
    for number, utility in enumerate(trace[-1]):
        name = f"U_{number} {utility:.2f}" if len(trace[0]) > 1 else f"U {utility:.2f}"
        points = [(across(at), up(trace[at][number])) for at in iterations if at < len(trace)]
        files.append((name, _COLOURS[number % len(_COLOURS)], points))
    content = render(
        "utility.svg",
        box=(left, top, right, bottom),
        across=across.ticks(6),
        up=up.ticks(6),
        name=message("chart.iterations"),
        files=files,
    )
    return Drawing(WIDE, 440, content).picture(title, [])
