"""The heat map as a picture: attackers down, releases across, bright where many were found."""

from __future__ import annotations

from kakurenbo.contracts import Unit
from kakurenbo.reporting.drawing import CIVIDIS, clipped, moved, on_ramp, picture, pixels, ramp, tag, text_width, words
from kakurenbo.reporting.estimates import Estimate
from kakurenbo.reporting.numbers import estimated, share
from kakurenbo.reporting.shown import Shown

_ROOM = 868  # with the margins of a picture 900 pixels
_LEAST_CELL, _WIDEST_CELL, _HIGHEST_CELL = 28, 180, 34
_INTERVAL = 48  # from this width on an interval stands in a cell
_TWO_LINES = 30  # from this height on a cell has room for an interval
_NOTHING = 1e-9
_FLAT = 74  # from this width on names stand level above their columns
_TENTH = 0.0995  # from this share on a cell shows whole percents


def heatmap(shown: Shown) -> str:
    """The whole picture as SVG."""
    side = _longest(shown, shown.attackers, 210)
    width = min(_WIDEST_CELL, max(_LEAST_CELL, (_ROOM - side - 2) / len(shown.targets)))
    height = min(_HIGHEST_CELL, max(width, _LEAST_CELL))
    head = 36 if width >= _FLAT else _longest(shown, shown.targets, 132)
    top = _scale_top(shown)
    cells = [
        _cell(shown, target, attacker, x * width, y * height, (width, height), top)
        for y, attacker in enumerate(shown.attackers)
        for x, target in enumerate(shown.targets)
    ]
    whole = (width * len(shown.targets), height * len(shown.attackers))
    content = [
        moved(side, 0, [_column_name(shown, name, x * width, width, head) for x, name in enumerate(shown.targets)]),
        moved(0, head, [_row_name(shown, name, y * height, side, height) for y, name in enumerate(shown.attackers)]),
        moved(side, head, cells),
        moved(side, head + whole[1] + 14, _scale(shown, top, min(300, max(160, whole[0])))),
    ]
    title = f"{shown.document.rulebook.name}: {shown.text('heatmap')}"
    notes = [
        shown.text("heat_axes"),
        _ramp_note(shown),
        *([shown.text("heat_repeats", count=str(shown.repeats))] if shown.repeats > 1 else []),
    ]
    return picture(side + max(whole[0], 160), head + whole[1] + 42, content, title, notes)


def _ramp_note(shown: Shown) -> str:
    """What dark and bright say, beside what blind guessing gets."""
    chance = shown.entry.chance
    return " ".join([shown.text("heat_ramp"), *([shown.text("heat_blind", chance=share(chance.mean))] if chance else [])])


def _longest(shown: Shown, names: list[str], most: float) -> float:
    return min(most, max(40, *(text_width(shown.label(name)) + 14 for name in names)))


def _scale_top(shown: Shown) -> float:
    found = [entry.accuracy.mean for row in shown.entry.attacks.values() for entry in row.values()]
    # Three times chance leaves room to see what is more than chance; a share is 1 at most.
    return min(1, max(3 * shown.entry.chance.mean if shown.entry.chance else 0, 0.01, *found))


def _row_name(shown: Shown, name: str, y: float, side: float, height: float) -> str:
    label, size = shown.label(name), min(12, height - 1)
    at = {"x": side - 8, "y": y + height / 2 + size * 0.36}
    return words(shown.fitted_label(name, side - 12, size), title=label, **at, text_anchor="end", font_size=size)


def _column_name(shown: Shown, name: str, x: float, width: float, head: float) -> str:
    middle, label = x + width / 2, shown.label(name)
    if width >= _FLAT and shown.player(name) is not None:
        lines = [
            words(clipped(name, width - 6), class_="number", x=middle, y=13, text_anchor="middle"),
            words(
                shown.fitted_name(name, width - 6, 11), title=label, class_="dim small", x=middle, y=29, text_anchor="middle"
            ),
        ]
        return tag("g", *lines)
    size = min(12, width - 1)
    turned = f"translate({pixels(middle + size * 0.36)},{pixels(head - 6)}) rotate(-90)"
    return words(shown.fitted_label(name, head - 10, size), title=label, transform=turned, font_size=size)


def _cell(shown: Shown, target: str, attacker: str, x: float, y: float, sides: tuple[float, float], top: float) -> str:
    width, height = sides
    box = {"x": x, "y": y, "width": width, "height": height, "rx": 3}
    entry = shown.attack(target, attacker)
    if entry is None:
        return tag("rect", class_="cell nothing", **box)
    part = entry.accuracy.mean / top
    what = f"{shown.label(attacker)} → {shown.label(target)}: {estimated(entry.accuracy, Unit.SHARE, shown.language)}"
    interval = _interval(entry.accuracy) if width >= _INTERVAL and height >= _TWO_LINES else ""
    middle, line = x + width / 2, y + height / 2
    number = words(
        _bare(entry.accuracy.mean),
        title=what,
        class_=f"small {on_ramp(part)}",
        x=middle,
        y=line - 2 if interval else line + 4,
        text_anchor="middle",
    )
    parts = [tag("rect", class_="cell", **box, fill=ramp(part)), number]
    if interval:
        parts.append(words(interval, class_=f"tiny {on_ramp(part)}", x=middle, y=line + 10, text_anchor="middle"))
    return tag("g", *parts, class_="found")


def _interval(accuracy: Estimate) -> str:
    """The 95 % interval as it stands below a mean; nothing where there is none, or all repeats agree."""
    if accuracy.low is None or accuracy.high is None or accuracy.high - accuracy.low < _NOTHING:
        return ""
    return f"{_bare(accuracy.low)}–{_bare(accuracy.high)}"


def _bare(value: float) -> str:
    """A share as it stands in a small cell: percent without the sign."""
    return f"{100 * value:.0f}" if value >= _TENTH else f"{100 * value:.1f}".removesuffix(".0")


def _scale(shown: Shown, top: float, width: float) -> list[str]:
    """From nothing found to the most, with blind guessing marked."""
    step = width / len(CIVIDIS)
    parts = [tag("rect", x=at * step, y="0", width=step + 0.5, height=10, fill=colour) for at, colour in enumerate(CIVIDIS)]
    parts.append(words(share(0), class_="dim small", x="0", y=24))
    parts.append(words(share(top), class_="dim small", x=width, y=24, text_anchor="end"))
    chance = shown.entry.chance
    mark = width * chance.mean / top if chance else 0
    if chance and 40 < mark < width - 90:
        parts.append(tag("line", class_="axis", x1=mark, x2=mark, y1=-3, y2=13))
        text = f"{shown.text('chance')} {share(chance.mean)}"
        parts.append(words(text, class_="dim small", x=mark, y=24, text_anchor="middle"))
    return parts
