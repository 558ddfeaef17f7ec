"""Charts as SVG: heat map, scatter plot with frontier and thresholds, utility over iterations."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from kakurenbo.contest import Unit
from kakurenbo.core.messages import language
from kakurenbo.core.messages import text as message
from kakurenbo.reports.assets import asset, palettes, render
from kakurenbo.reports.document import Document, ReleaseEntry, RoundEntry
from kakurenbo.reports.estimates import Estimate
from kakurenbo.reports.numbers import bare_share, estimated, figure, share
from kakurenbo.reports.view import View, axes_of

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Trace = Sequence[Sequence[float]]
"""Utility of each file before the first and after each iteration, shape (iterations + 1, files)."""
WIDE, NARROW = 868, 330
"""Widths of a chart: on a screen, where its margins make it 900, and on a phone."""

# Cividis: the same order of brightness for every kind of colour vision, and in grey.
CIVIDIS = (
    *("00224e", "123570", "3b496c", "575d6d", "707173"),
    *("8a8678", "a59c74", "c3b369", "e1cc55", "fee838"),
)
_COLOURS = (
    *("#1b6ca8", "#d1495b", "#2e8b57", "#e08e00", "#6a4c93"),
    *("#00798c", "#8d5524", "#b5179e", "#5c677d", "#7a9e00"),
)  # readable on light and dark grounds
_WIDE_SIGNS = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_WIDE = re.compile(f"[{_WIDE_SIGNS}]")
# What stays together where a text is broken: a word, or a wide sign; with what closes it and the blanks behind it.
_PIECE = re.compile(rf"(?:[{_WIDE_SIGNS}]|[^\s{_WIDE_SIGNS}]+)[、。，．：；）」]*\s*|\s+")
_VAR = re.compile(r"var\(--([\w-]+)\)")
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.7), (0.8, 0.7), (-0.8, -0.7), (-0.8, 0.7))
_RADII = (9, 16, 26, 38)
LABEL_SIZE = 11.0  # pixels
_SAME = 7  # points nearer than this share a label
_MOST_POINTS = 300  # of a line


def text_width(text: str, size: float = 12) -> float:
    """Return the room that a text takes at most, whatever the font."""
    return sum(1.02 if _WIDE.match(sign) else 0.64 for sign in text) * size


def clipped(text: str, room: float, size: float = 12) -> str:
    """Shorten a text in the middle to the room, because names often differ at the end.

    Examples
    --------
    >>> clipped("uniform noise p=0.97", 84), clipped("noise", 66)
    ('unifor….97', 'noise')
    """
    if text_width(text, size) <= room:
        return text
    for length in range(len(text) - 1, 1, -1):
        head = (3 * length + 4) // 5
        short = f"{text[:head].rstrip()}…{text[len(text) - length + head :].lstrip()}"
        if text_width(short, size) <= room:
            return short
    return f"{text[:1]}…"


def wrapped(text: str, room: float, size: float = 12) -> list[str]:
    """Break a text into lines: between words, and where a script has none between signs.

    Examples
    --------
    >>> wrapped("few found, many found", 90), wrapped("行は攻撃者", 37)
    (['few found,', 'many found'], ['行は攻', '撃者'])
    """
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and text_width(lines[-1] + piece.rstrip(), size) > room:
            lines.append("")
        lines[-1] += piece
    return [clipped(line.strip(), room, size) for line in lines]


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


# -- scales, ticks and labels ----------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """From values to pixels, with round numbers on the way; what lies outside stays at the edge."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(
        cls,
        values: Iterable[float | None],
        start: float,
        end: float,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> Scale:
        """Return a scale with some air at both ends."""
        known = [value for value in values if value is not None] or [0.0]
        low, high = min(known), max(known)
        air = 0.06 * ((high - low) or abs(high) or 1)
        return cls(max(limits[0], low - air), min(limits[1], high + air), start, end)

    def __call__(self, value: float) -> float:
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return self.start + part * (self.end - self.start)

    def ticks(self, count: int, times: float = 1) -> list[tuple[float, str]]:
        """Return the places of about ``count`` round numbers, which are written so many ``times``."""
        marks = ticks(times * self.low, times * self.high, count)
        return [(self(tick.value / times), tick.text) for tick in marks]


class Tick(NamedTuple):
    """A number on an axis, and how it is written."""

    value: float
    text: str


def ticks(low: float, high: float, count: int) -> list[Tick]:
    """Return round numbers from low to high, about ``count`` of them.

    Examples
    --------
    >>> [tick.text for tick in ticks(0.31, 1.02, 4)]
    ['0.4', '0.6', '0.8', '1.0']
    """
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    factor = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    step = power * factor
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (factor == 2.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [number * step for number in range(first, last + 1)]
    return [
        Tick(value, figure(value) if abs(value) >= 1e5 else f"{value:.{digits}f}")
        for value in values
    ]


class Place(NamedTuple):
    """Where a label stands by its start, middle or end."""

    x: float
    y: float
    anchor: str


def placed_labels(
    points: Sequence[tuple[float, float, str]],
    box: Box,
    rooms: Sequence[Box] = (),
) -> list[Place | None]:
    """Place labels beside their points so that none covers another, a point or the edge; None where no room is left."""
    taken = [*rooms, *((x - 6, y - 6, x + 6, y + 6) for x, y, _ in points)]
    places: list[Place | None] = []
    for x, y, text in points:
        width, height = text_width(text, LABEL_SIZE), LABEL_SIZE + 3
        place = None
        for radius, (right, down) in itertools.product(_RADII, _DIRECTIONS):
            side = (right > 0) - (right < 0)
            left = x + right * radius - width * (1 - side) / 2
            top = y + down * (radius + height / 2) - height / 2
            room = (left, top, left + width, top + height)
            is_inside = box[0] <= left and box[1] <= top and room[2] <= box[2] and room[3] <= box[3]
            if is_inside and not any(overlap(room, other) for other in taken):
                anchor = ("middle", "start", "end")[side]
                place = Place(x + right * radius, top + height / 2 + LABEL_SIZE * 0.36, anchor)
                taken.append(room)
                break
        places.append(place)
    return places


def overlap(box: Box, other: Box) -> bool:
    """Return whether two boxes share room."""
    return box[0] < other[2] and box[2] > other[0] and box[1] < other[3] and box[3] > other[1]


# -- drawings and files ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing:
    """Markup of a chart and the room it takes."""

    width: float
    height: float
    content: str

    def inline(self, title: str) -> str:
        """Return an element of a page, which brings the style."""
        return render("inline.svg", drawing=self, title=title, content=Markup(self.content))

    def picture(self, title: str, notes: Sequence[str]) -> str:
        """Return a file that stands alone, with title and notes; light or dark as the reader's screen is."""
        style = asset("figure.css")  # with colours in it: programs that draw SVG know no variables
        styles = []
        for colours in palettes().values():
            parts = _VAR.split(style)
            parts[1::2] = [colours[name] for name in parts[1::2]]
            styles.append(Markup("".join(parts)))
        return render(
            "picture.svg",
            drawing=self,
            title=title,
            heading=clipped(title, self.width, 17),
            lines=[line for note in notes for line in wrapped(note, self.width, 11)],
            styles=styles,
            content=Markup(self.content),
        )


def figures(document: Document, spoken: str | None = None) -> dict[str, str]:
    """Return the charts as SVG files by name; the same document, the same bytes."""
    files = {}
    for entry in document.rounds:
        view, repeats = View(document, entry, spoken or language()), len(entry.repeats)
        axes = axes_of(document).get(entry.name)
        charts = []
        if view.targets:
            notes = [view.text("heat_axes"), view.heat_note]
            charts.append(("heatmap", "heatmap", "heat_repeats", heatmap(view), notes))
        if axes is not None:
            notes = [f"{view.text('privacy_' + axes[1])} · {axes[0].name}"]
            charts.append(("scatter", "frontier", "scatter_repeats", scatter(view), notes))
        for name, title, note, drawing, notes in charts:
            notes += [view.text(note, count=repeats)] if repeats > 1 else []
            heading = f"{document.rulebook.name}: {view.text(title)}"
            files[file_name(document, name, entry)] = drawing.picture(heading, notes)
    return files


def file_name(document: Document, chart: str, entry: RoundEntry) -> str:
    """Return the name of a chart's file, with the round where there are several."""
    suffix = re.sub(r"[^A-Za-z0-9_-]", "_", entry.name)
    return f"{chart}-{suffix}.svg" if len(document.rounds) > 1 else f"{chart}.svg"


def heatmap(view: View) -> Drawing:
    """Draw attackers down, releases across, bright where many guesses were right."""
    attackers = list(view.entry.attackers)
    side = min(210.0, max(40.0, *(text_width(view.label(name)) + 14 for name in attackers)))
    width = min(180.0, max(28.0, (WIDE - side - 2) / len(view.targets)))
    height = min(34.0, width)
    across, down = width * len(view.targets), 36 + height * len(attackers)
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


# -- scatter plot ----------------------------------------------------------------------------------


class _Point(NamedTuple):
    """A release in a plot; ``whiskers`` are the 95 % intervals of its means."""

    release: ReleaseEntry
    x: float
    y: float
    title: list[str]
    whiskers: list[Box]


def scatter(view: View, width: float = WIDE) -> Drawing:
    """Draw releases by utility and privacy as numbered points, with frontier, sweeps, thresholds and a legend."""
    measure, kind = axes_of(view.document)[view.entry.name]
    is_wide = width >= WIDE
    height, columns = (480.0, 4) if is_wide else (400.0, 2)
    box = left, top, right, bottom = 48.0, 30.0, width - 12.0, height - 46.0
    means = {
        release.target: (release, release.estimates[measure.name], release.privacy[kind])
        for release in view.releases
        if measure.name in release.estimates and kind in release.privacy
    }
    marks = measure.threshold, view.entry.chance_privacy
    across = Scale.around([*(x.mean for _, x, _ in means.values()), marks[0]], left, right)
    up = Scale.around([*(y.mean for *_, y in means.values()), marks[1]], bottom, top, (-0.02, 1.02))
    axis_names = measure.name, view.text(f"privacy_{kind}")
    unit = view.document.figure(measure.name).unit
    points = {}
    for target, (release, x, y) in means.items():
        at = across(x.mean), up(y.mean)
        texts = estimated(x, unit, view.language), estimated(y, Unit.SHARE, view.language)
        figures = (f"{name}: {text}" for name, text in zip(axis_names, texts, strict=True))
        ends = [(across(low), at[1], across(high), at[1]) for low, high in _bounds(x)]
        ends += [(at[0], up(high), at[0], up(low)) for low, high in _bounds(y)]
        points[target] = _Point(release, *at, [view.label(target), *figures], ends)
    frontier = [points[name] for name in view.entry.frontiers[measure.name][kind] if name in points]
    sweeps = _sweeps(view, points)
    legend = _legend(view, points, has_frontier=len(frontier) > 1, sweeps=list(sweeps))
    rows = sum(math.ceil(len(items) / columns) for items, _ in legend)
    lines = list(_marks(view, box, across, up, *marks, unit))
    better = view.text("better_right" if measure.higher_is_better else "better_left")
    content = render(
        "scatter.svg",
        box=box,
        across=across.ticks(8 if is_wide else 4),
        up=up.ticks(6, 100),
        names=(
            clipped(f"{measure.name} {better}", right - left),
            clipped(f"↑ {axis_names[1]}", right - 4),
        ),
        marks=lines,
        points=points.values(),
        look=_look,
        frontier=frontier[1:] and frontier,
        goes_up_first=measure.higher_is_better,
        sweeps=sweeps.values(),
        labels=_numbers(points.values(), box, [room for *_, room in lines]),
        legend=legend,
        columns=columns,
        column=(right - left) / columns,
        clipped=clipped,
        height=height,
    )
    return Drawing(width, height + 8 + 20 * rows, content)


def _marks(
    view: View,
    box: Box,
    across: Scale,
    up: Scale,
    threshold: float | None,
    blind: float | None,
    unit: Unit,
) -> Iterator[tuple[Box, str, Box]]:
    """Yield the lines of blind guessing and the threshold, each with its name and the room that it takes."""
    left, top, right, bottom = box
    if blind is not None:
        text, y = view.text("blind"), up(blind)
        yield (left, y, right, y), text, (right - text_width(text, 11), y - 16, right, y - 3)
    if threshold is not None:
        text, x = f"{view.text('threshold')} {figure(threshold, unit)}", across(threshold)
        room = text_width(text, 11)
        start = x + 5 if x + 5 + room <= right else x - 5 - room
        yield (x, top, x, bottom), text, (start, bottom - 17, start + room, bottom - 4)


def _sweeps(view: View, points: Mapping[str, _Point]) -> dict[str, list[_Point]]:
    """Return the points of each player that has several, from left to right, by the name of the line."""
    sweeps: dict[str, list[_Point]] = {}
    for target, point in points.items():
        sweeps.setdefault(view.player(target).sweep, []).append(point)
    return {
        view.text("sweep", name=name): sorted(listed, key=lambda point: point.x)
        for name, listed in sweeps.items()
        if name and len(listed) > 1
    }


def _legend(
    view: View, points: Mapping[str, _Point], *, has_frontier: bool, sweeps: Sequence[str]
) -> list[tuple[list[tuple[str, str]], int]]:
    """Return what shapes mean and whom numbers name, each with the look of its sign; and the room of the sign."""
    standings = {point.release.standing: point for point in points.values()}
    signs = [(view.word(name or "target"), _look(point)) for name, point in standings.items()]
    signs += [(view.text("frontier_line"), "frontier")] if has_frontier else []
    signs += [(name, f"sweep sweep-{at % 4}") for at, name in enumerate(sweeps)]
    names = [(view.label(target), "") for target in points if view.player(target).name]
    return [(signs, 24), (names, 0)]


def _bounds(mean: Estimate) -> list[tuple[float, float]]:
    if mean.low is None or mean.high is None or mean.low >= mean.high:
        return []
    return [(mean.low, mean.high)]


def _look(point: _Point) -> str:
    return "good" if point.release.verdict in ("", "passes") else "bad"


def _numbers(points: Iterable[_Point], box: Box, rooms: Sequence[Box]) -> list[tuple[str, Place]]:
    """Place a number beside each point; points that lie on one another share one label."""
    groups: list[tuple[float, float, list[str]]] = []
    for point in points:
        near = (names for x, y, names in groups if math.hypot(x - point.x, y - point.y) < _SAME)
        if (names := next(near, None)) is None:
            groups.append((point.x, point.y, names := []))
        names.append(point.release.target)
    labels = [
        (x, y, ", ".join(names) if len(names) <= 3 else f"{names[0]} +{len(names) - 1}")
        for x, y, names in groups
    ]
    left, top, right, bottom = box
    places = placed_labels(labels, (left + 2, top - 8, right + 8, bottom - 2), rooms)
    return [(text, place) for (*_, text), place in zip(labels, places, strict=True) if place]


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
    up = Scale.around([value for utilities in trace for value in utilities], bottom, top, (0, 100))
    iterations = sorted({round(last * part / _MOST_POINTS) for part in range(_MOST_POINTS + 1)})
    content = render(
        "utility.svg",
        box=(left, top, right, bottom),
        across=across.ticks(6),
        up=up.ticks(6),
        name=message("chart.iterations"),
        files=[
            (
                f"U_{number} {utility:.2f}" if len(trace[0]) > 1 else f"U {utility:.2f}",
                _COLOURS[number % len(_COLOURS)],
                [(across(at), up(trace[at][number])) for at in iterations if at < len(trace)],
            )
            for number, utility in enumerate(trace[-1])
        ],
    )
    return Drawing(WIDE, 440, content).picture(title, [])
