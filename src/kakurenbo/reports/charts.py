"""Charts as SVG: heat map, scatter plot with frontier and thresholds, utility over iterations."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from kakurenbo.contest import Unit
from kakurenbo.core.messages import language
from kakurenbo.core.messages import text as message
from kakurenbo.reports.assets import asset, macros, palettes, pixels, render
from kakurenbo.reports.document import Document
from kakurenbo.reports.estimates import Estimate
from kakurenbo.reports.numbers import bare_share, estimated, figure, share
from kakurenbo.reports.view import View

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
SMALL = 11.0  # pixels of a label
_NEAR = 7  # points nearer than this share a label
_MAX_POINTS = 300  # of a line


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
    short, length = text, len(text)
    while text_width(short, size) > room and length > 1:
        length -= 1
        head = (3 * length + 4) // 5
        short = f"{text[:head].rstrip()}…{text[len(text) - length + head :].lstrip()}"
    return short


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


@dataclass(frozen=True)
class Drawing:
    """Markup of a chart and the room it takes."""

    width: float
    height: float
    content: str

    def above(self, other: Drawing) -> Drawing:
        """Return both, one below the other."""
        moved = f'<g transform="translate(0,{pixels(self.height)})">{other.content}</g>'
        return Drawing(self.width, self.height + other.height, self.content + moved)

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
            lines=[line for note in notes for line in wrapped(note, self.width, SMALL)],
            styles=styles,
            content=Markup(self.content),
        )


def sign(look: str, x: float, y: float, title: str = "") -> str:
    """Return the shape of a look, so that nobody needs colours to tell them apart."""
    return str(macros().sign(look, x, y, [title] if title else []))


def legend(signs: Iterable[tuple[str, str]], left: float, width: float) -> Drawing:
    """Draw what looks mean, in rows and columns; a text that does not fit a row goes on in the next one."""
    items = []
    column = (width - left) / (4 if width >= WIDE else 2)
    x, row = left, 0
    for look, text in signs:
        indent = 18 if look else 0
        lines = wrapped(text, width - left - indent - 6, SMALL)
        room = indent + max(text_width(line, SMALL) for line in lines) + 8
        if x > left and x + room > width:
            x, row = left, row + 1
        items.append((look, text, lines, x, 20 * row))
        x, row = x + column * math.ceil(room / column), row + len(lines) - 1
    return Drawing(width, 20 * (row + 1) if items else 0, render("legend.svg", items=items))


# -- plots -----------------------------------------------------------------------------------------


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
        values: Sequence[float],
        start: float,
        end: float,
        limits: tuple[float, float] = (-math.inf, math.inf),
    ) -> Scale:
        """Return a scale with some air at both ends."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        air = 0.06 * ((high - low) or abs(high) or 1)
        return cls(max(limits[0], low - air), min(limits[1], high + air), start, end)

    def __call__(self, value: float) -> float:
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return self.start + part * (self.end - self.start)

    def ticks(self, count: int, times: float = 1) -> list[tuple[float, str]]:
        """Return the places of about ``count`` round numbers, which are written so many ``times``.

        Examples
        --------
        >>> [text for _, text in Scale(0.31, 1.02, 0, 100).ticks(4)]
        ['0.4', '0.6', '0.8', '1.0']
        """
        low, high = times * self.low, times * self.high
        raw = (high - low) / count
        power = 10.0 ** math.floor(math.log10(raw))
        factor = next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
        step = power * factor
        digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (factor == 2.5)
        ticks = []
        for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
            value = number * step
            text = figure(value) if abs(value) >= 1e5 else f"{value:.{digits}f}"
            ticks.append((self(value / times), text))
        return ticks


class Place(NamedTuple):
    """Where a label stands by its start, middle or end."""

    x: float
    y: float
    anchor: str


def placed_labels(
    points: Sequence[tuple[float, float, str]], box: Box, rooms: Sequence[Box] = ()
) -> list[Place | None]:
    """Place labels beside their points so that none covers another, a point or the edge; None where no room is left."""
    taken = [*rooms, *((x - 6, y - 6, x + 6, y + 6) for x, y, _ in points)]
    places: list[Place | None] = []
    for x, y, text in points:
        width, height = text_width(text, SMALL), SMALL + 3
        place = None
        for radius, (right, down) in itertools.product(_RADII, _DIRECTIONS):
            side = (right > 0) - (right < 0)
            left = x + right * radius - width * (1 - side) / 2
            top = y + down * (radius + height / 2) - height / 2
            room = (left, top, left + width, top + height)
            is_inside = box[0] <= left and box[1] <= top and room[2] <= box[2] and room[3] <= box[3]
            if is_inside and not any(overlap(room, other) for other in taken):
                anchor = ("middle", "start", "end")[side]
                place = Place(x + right * radius, top + height / 2 + SMALL * 0.36, anchor)
                taken.append(room)
                break
        places.append(place)
    return places


def overlap(box: Box, other: Box) -> bool:
    """Return whether two boxes share room."""
    return box[0] < other[2] and box[2] > other[0] and box[1] < other[3] and box[3] > other[1]


@dataclass(frozen=True)
class Point:
    """A point of a plot, with its name beside it and lines that show under the pointer."""

    name: str
    x: Estimate
    y: Estimate
    look: str
    title: Sequence[str] = ()


Mark = tuple[float, str]
"""A value on an axis, and what its line is called."""


@dataclass(frozen=True)
class Plot:
    """Points by two figures, the second of which is a share.

    Attributes
    ----------
    axes : tuple of str
        What the figures are called.
    points : sequence of Point
    frontier : sequence of Point
        Those that no other beats in both, from left to right.
    sweeps : sequence of sequence of Point
        Each is joined by a line.
    x_mark, y_mark : Mark or None
        Dashed lines.
    is_upside_down : bool
        Whether the second axis goes downwards, from 0.
    """

    axes: tuple[str, str]
    points: Sequence[Point]
    frontier: Sequence[Point] = ()
    sweeps: Sequence[Sequence[Point]] = ()
    x_mark: Mark | None = None
    y_mark: Mark | None = None
    is_upside_down: bool = False

    def draw(self, width: float) -> Drawing:
        is_wide = width >= WIDE
        height = 480.0 if is_wide else 400.0
        box = left, top, right, bottom = 48.0, 30.0, width - 12.0, height - 46.0
        xs, ys = ([getattr(point, axis).mean for point in self.points] for axis in "xy")
        xs += [self.x_mark[0]] if self.x_mark else []
        ys += [self.y_mark[0]] if self.y_mark else []
        ys += [0.0] if self.is_upside_down else []
        ends = (top, bottom) if self.is_upside_down else (bottom, top)
        across = Scale.around(xs, left, right)
        up = Scale.around(ys, *ends, (-0.02, 1.02))
        marks = list[tuple[Box, str, Box]]()
        if self.y_mark:
            y, text = up(self.y_mark[0]), self.y_mark[1]
            room = (right - text_width(text, SMALL), y - 16, right, y - 3)
            marks.append(((left, y, right, y), text, room))
        if self.x_mark:
            x, text = across(self.x_mark[0]), self.x_mark[1]
            size = text_width(text, SMALL)
            start = x + 5 if x + 5 + size <= right else x - 5 - size
            marks.append(
                ((x, top, x, bottom), text, (start, bottom - 17, start + size, bottom - 4))
            )
        labels = _shared_labels([(across(p.x.mean), up(p.y.mean), p.name) for p in self.points])
        edges = (left + 2, top - 8, right + 8, bottom - 2)
        places = placed_labels(labels, edges, [room for *_, room in marks])
        content = render(
            "scatter.svg",
            plot=self,
            box=box,
            across=across,
            up=up,
            ticks=across.ticks(8 if is_wide else 4),
            names=(clipped(self.axes[0], right - left), clipped(self.axes[1], right - 4)),
            marks=marks,
            labels=[
                (text, place) for (*_, text), place in zip(labels, places, strict=True) if place
            ],
        )
        return Drawing(width, height + 8, content)


def _shared_labels(points: Iterable[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Give points that lie on one another one label."""
    groups: list[tuple[float, float, list[str]]] = []
    for x, y, name in points:
        near = (names for left, top, names in groups if math.hypot(left - x, top - y) < _NEAR)
        if (names := next(near, None)) is None:
            groups.append((x, y, names := []))
        names.append(name)
    return [
        (x, y, ", ".join(names) if len(names) <= 3 else f"{names[0]} +{len(names) - 1}")
        for x, y, names in groups
    ]


# -- charts of a report ----------------------------------------------------------------------------


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
