"""Drawings as SVG: texts that fit, scales, shapes, legends and scatter plots, for reports and audits."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from kakurenbo.reports.assets import asset, macros, palettes, pixels, render
from kakurenbo.reports.estimates import Estimate
from kakurenbo.reports.numbers import figure

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
WIDE, NARROW = 868, 330
"""Widths of a chart: on a screen, where its margins make it 900, and on a phone."""

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
