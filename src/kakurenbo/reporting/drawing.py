"""Drawings as SVG text without a browser: elements, room for texts, ticks, colours, places for labels.

``assets/figure.js`` draws by the same rules in the page; a test compares what both draw. Every text is escaped, and what XML or
the direction of writing could stumble over is replaced: names come from players.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from kakurenbo.reporting.assets import asset, palettes

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

# Cividis: the same order of brightness for every kind of colour vision, and in grey.
CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
_BRIGHT = 0.55
_WIDE_SIGNS = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_WIDE = re.compile(f"[{_WIDE_SIGNS}]")
# What stays together where a text is broken: a word, or a wide sign; with what closes it and the blanks behind it.
_PIECE = re.compile(rf"(?:[{_WIDE_SIGNS}]|[^\s{_WIDE_SIGNS}]+)[、。，．：；）」]*\s*|\s+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")
_DIRECTIONS = (
    (1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.7), (0.8, 0.7), (-0.8, -0.7), (-0.8, 0.7), (0.4, -0.95), (0.4, 0.95),
    (-0.4, -0.95), (-0.4, 0.95),
)  # fmt: skip
_RADII = (9, 16, 26, 38, 52, 70, 92, 120)
_STEPS = tuple((across, down, radius) for radius in _RADII for across, down in _DIRECTIONS)
_NEAR = 16  # a label further away is joined to its point by a line
_NOTE = 16  # the height of a line below the title
_VAR = re.compile(r"var\(--([\w-]+)\)")


def tag(name: str, *content: str, **attributes: str | float) -> str:
    """An element whose content is markup; ``text_anchor`` stands for ``text-anchor``, ``class_`` for ``class``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"' for key, value in attributes.items() if value != ""
    )
    return f"<{name}{written}>{''.join(content)}</{name}>" if content else f"<{name}{written}/>"


def words(text: str, *, title: str = "", **attributes: str | float) -> str:
    """A text element; ``title`` is shown by a browser while the pointer is on it.

    Examples
    --------
    >>> words("a < b", x=1)
    '<text x="1">a &lt; b</text>'
    """
    return tag("text", escape(printable(text)), tag("title", escape(printable(title))) if title else "", **attributes)


def moved(x: float, y: float, content: Iterable[str]) -> str:
    """Markup at another place."""
    return tag("g", *content, transform=f"translate({_attribute(x)},{_attribute(y)})")


def printable(text: str) -> str:
    """A text that XML can hold and that stays in its direction.

    Examples
    --------
    >>> printable("a\\x1b[31m") == "a\\ufffd[31m"
    True
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def pixels(value: float) -> str:
    """A coordinate: two decimals at most, rounded as a browser's script does.

    Examples
    --------
    >>> pixels(12.0), pixels(0.125), pixels(-0.001)
    ('12', '0.13', '0')
    """
    hundredths = math.floor(value * 100 + 0.5)
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def _attribute(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else pixels(value)


# -- texts and scales ----------------------------------------------------------------------------------------------------


def text_width(text: str, size: float = 12) -> float:
    """The room that a text takes at most, whatever the font."""
    return sum(1.02 if _WIDE.match(sign) else 0.64 for sign in text) * size


def clipped(text: str, room: float, size: float = 12) -> str:
    """A text that takes no more room than there is: shortened in the middle, because names often differ at the end.

    Examples
    --------
    >>> clipped("uniform noise p=0.97", 84), clipped("noise", 66)
    ('unifor….97', 'noise')
    """
    if text_width(text, size) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        head = (3 * kept + 4) // 5
        shown = f"{text[:head].rstrip()}…{text[len(text) - kept + head :].lstrip()}"
        if text_width(shown, size) <= room:
            return shown
    return f"{text[:1]}…"


def wrapped(text: str, room: float, size: float = 12) -> list[str]:
    """A text in lines that take no more room than there is: broken between words, and where a script has none between signs.

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
class Tick:
    """A number on an axis, and how it is written."""

    value: float
    text: str


def ticks(low: float, high: float, count: int) -> list[Tick]:
    """Round numbers from low to high, about ``count`` of them.

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
    return [Tick(number * step, f"{number * step:.{digits}f}") for number in range(first, last + 1)]


def ramp(part: float) -> str:
    """The colour of a part of the scale, from 0 to 1."""
    place = min(1.0, max(0.0, part)) * (len(CIVIDIS) - 1)
    left = min(len(CIVIDIS) - 2, math.floor(place))
    pairs = [(int(CIVIDIS[left][at : at + 2], 16), int(CIVIDIS[left + 1][at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{math.floor(a + (place - left) * (b - a) + 0.5):02x}" for a, b in pairs)


def on_ramp(part: float) -> str:
    """The class of a text on that colour."""
    return "on-bright" if part > _BRIGHT else "on-dark"


# -- places for labels ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a label stands by its start, middle or end, and the line that joins it to its point where it is far from it."""

    x: float
    y: float
    anchor: str
    lead: Box | None


def around(x: float, y: float) -> Box:
    """The room of a point."""
    return (x - 6, y - 6, x + 6, y + 6)


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share room."""
    return one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]


def crosses(line: Box, room: Box) -> bool:
    """Whether a straight line, from its first point to its last, runs through a box.

    Examples
    --------
    >>> crosses((0, 0, 10, 10), (4, 4, 6, 6)), crosses((0, 0, 10, 10), (6, 0, 9, 3))
    (True, False)
    """
    x, y, x_end, y_end = line
    start, end = 0.0, 1.0
    for at, change, low, high in ((x, x_end - x, room[0], room[2]), (y, y_end - y, room[1], room[3])):
        if change == 0:
            if not low < at < high:
                return False
        else:
            sides = (low - at) / change, (high - at) / change
            start, end = max(start, min(sides)), min(end, max(sides))
    return start < end


def placed_labels(
    points: Sequence[tuple[float, float, str]], box: Box, rooms: Sequence[Box], lines: Sequence[Box] = (), size: float = 11
) -> list[Place | None]:
    """Places for labels beside their points so that none covers another, a point or the edge; None where there is no room.

    Lines run through a label only where there is no other place for it.
    """
    taken = _Taken(box, [*rooms, *(around(x, y) for x, y, _ in points)], list(lines), list(rooms))
    return [taken.place(x, y, text_width(text, size), size) for x, y, text in points]


@dataclass(frozen=True)
class _Taken:
    """What stands in a box already: rooms of points and names, lines, and the rooms of names alone."""

    box: Box
    rooms: list[Box]
    lines: list[Box]
    names: list[Box]

    def place(self, x: float, y: float, width: float, size: float) -> Place | None:
        """The nearest free place beside a point, which is taken then."""
        height = size + 3
        for strict, (across, down, radius) in itertools.product((True, False), _STEPS):
            left = x + across * radius - (width if across < 0 else 0 if across > 0 else width / 2)
            middle = y + down * radius + down * height / 2
            room = (left, middle - height / 2, left + width, middle + height / 2)
            end = left + (width if across < 0 else 0 if across > 0 else width / 2)
            edge = middle - math.copysign(1, down) * height / 2 if across == 0 else middle
            lead = (x, y, end, edge) if radius > _NEAR else None
            if not self._free(room) or (strict and self._crossed(room, lead)):
                continue
            self.rooms.append(room)
            self.names.append(room)
            self.lines.extend([] if lead is None else [lead])
            anchor = "end" if across < 0 else "start" if across > 0 else "middle"
            return Place(end, middle + size * 0.36, anchor, lead)
        return None

    def _crossed(self, room: Box, lead: Box | None) -> bool:
        """Whether a line runs through a name, or the one that joins it to its point through another name."""
        through = lead is not None and any(crosses(lead, name) for name in self.names)
        return through or any(crosses(line, room) for line in self.lines)

    def _free(self, room: Box) -> bool:
        left, top, right, bottom = self.box
        inside = room[0] >= left and room[1] >= top and room[2] <= right and room[3] <= bottom
        return inside and not any(overlap(room, other) for other in self.rooms)


# -- whole pictures ------------------------------------------------------------------------------------------------------


def picture(width: float, height: float, content: Iterable[str], title: str, notes: Sequence[str]) -> str:
    """A drawing that stands alone, with title, notes below it and ground; light or dark as the reader's screen is."""
    lines = [line for note in notes for line in wrapped(note, width, 11)]
    top, margin = 42 + _NOTE * len(lines), 16
    sides = {"width": width + 2 * margin, "height": height + top + margin}
    view_box = f"0 0 {pixels(sides['width'])} {pixels(sides['height'])}"
    parts = [
        tag("title", escape(printable(title))),
        tag("style", escape(_style(), quote=False)),
        tag("rect", class_="ground", width="100%", height="100%"),
        words(clipped(title, width, 17), class_="title", x=margin, y=28),
        *(words(line, class_="dim small", x=margin, y=46 + _NOTE * number) for number, line in enumerate(lines)),
        moved(margin, top, content),
    ]
    namespace = {"xmlns": "http://www.w3.org/2000/svg"}
    drawn = tag("svg", *parts, **namespace, class_="figure", **sides, viewBox=view_box)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def _style() -> str:
    """The style with colours in it: programs that draw SVG know no variables."""
    light, dark = (_coloured(asset("figure.css"), palettes()[theme]) for theme in ("light", "dark"))
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _coloured(style: str, palette: Mapping[str, str]) -> str:
    return _VAR.sub(lambda found: palette[found[1]], style)
