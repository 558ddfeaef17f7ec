"""Utility against privacy as a picture: every release a point, on the pair of axes that tells most."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from kakurenbo.reporting.document import MeasureEntry, ReleaseEntry
from kakurenbo.reporting.drawing import (
    Box,
    around,
    clipped,
    crosses,
    moved,
    overlap,
    picture,
    pixels,
    placed_labels,
    tag,
    text_width,
    ticks,
    words,
)
from kakurenbo.reporting.layout import axes_of, threshold_of
from kakurenbo.reporting.numbers import figure
from kakurenbo.reporting.shown import Shown

_WIDTH, _HEIGHT = 868, 480  # with the margins of a picture 900 pixels wide
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 30, _WIDTH - 12, _HEIGHT - 46
_AIR = 0.06
_ENDS = ("x1", "y1", "x2", "y2")
_SAME = 7  # points nearer than this share a label
_ROW = 20  # of the legend
_NAMED = 16  # up to so many releases have their names beside them, more have numbers


@dataclass(frozen=True)
class _Scale:
    """From values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class _Point:
    release: ReleaseEntry
    x: float
    y: float


@dataclass(frozen=True)
class _Plot:
    """A round on one pair of axes."""

    shown: Shown
    measure: MeasureEntry
    kind: str
    across: _Scale
    up: _Scale
    points: tuple[_Point, ...]


def scatter(shown: Shown) -> str:
    """The whole picture as SVG."""
    plot = _plot(shown)
    lines = [*_steps(plot), *(line for listed in _sweeps(plot).values() for line in _joined(listed)), *_whisker_lines(plot)]
    marks, rooms, mark_lines = _marks(plot, lines)
    labels = _labels(plot, rooms, [*lines, *mark_lines])
    legend, rows = _legend(plot)
    content = [*_axes(plot), *marks, *_whiskers(plot), *_lines(plot), *labels, *map(_point, plot.points), *legend]
    title = f"{shown.document.rulebook.name}: {shown.text('frontier')}"
    notes = [f"{shown.text('privacy_' + plot.kind)} · {plot.measure.name}"]
    notes += [shown.text("scatter_repeats", count=str(shown.repeats))] if shown.repeats > 1 else []
    return picture(_WIDTH, _HEIGHT + 2 + _ROW * rows, content, title, notes)


def _plot(shown: Shown) -> _Plot:
    name, kind = axes_of(shown.document)[shown.document.rounds.index(shown.entry)]
    measure = next(measure for measure in shown.entry.measures if measure.name == name)
    own = [release for release in shown.releases if name in release.estimates and kind in release.privacy]
    xs = [release.estimates[name].mean for release in own]
    ys = [release.privacy[kind].mean for release in own]
    across = _scale([*xs, threshold_of(measure)], _LEFT, _RIGHT)
    up = _scale([*ys, shown.entry.chance_privacy], _BOTTOM, _TOP, limits=(-0.02, 1.02))
    points = tuple(_Point(release, across(x), up(y)) for release, x, y in zip(own, xs, ys, strict=True))
    return _Plot(shown, measure, kind, across, up, points)


def _scale(
    values: Sequence[float | None], start: float, end: float, limits: tuple[float, float] = (-math.inf, math.inf)
) -> _Scale:
    """Some air at both ends."""
    known = [value for value in values if value is not None] or [0.0]
    low, high = min(known), max(known)
    air = ((high - low) or abs(high) or 1) * _AIR
    return _Scale(max(limits[0], low - air), min(limits[1], high + air), start, end)


def _axes(plot: _Plot) -> list[str]:
    drawn = []
    for tick in ticks(plot.across.low, plot.across.high, 8):
        x = plot.across(tick.value)
        text = figure(tick.value) if abs(tick.value) >= 1e5 else tick.text
        drawn += [
            tag("line", class_="grid", x1=x, x2=x, y1=_TOP, y2=_BOTTOM),
            words(text, class_="dim small", x=x, y=_BOTTOM + 16, text_anchor="middle"),
        ]
    for tick in ticks(100 * plot.up.low, 100 * plot.up.high, 6):
        y = plot.up(tick.value / 100)
        drawn += [
            tag("line", class_="grid", x1=_LEFT, x2=_RIGHT, y1=y, y2=y),
            words(f"{tick.text}%", class_="dim small", x=_LEFT - 6, y=y + 4, text_anchor="end"),
        ]
    better = plot.shown.text("better_right" if plot.measure.higher_is_better else "better_left")
    name = clipped(f"{plot.measure.name} {better}", _RIGHT - _LEFT)
    return [
        *drawn,
        tag("line", class_="axis", x1=_LEFT, x2=_RIGHT, y1=_BOTTOM, y2=_BOTTOM),
        tag("line", class_="axis", x1=_LEFT, x2=_LEFT, y1=_TOP, y2=_BOTTOM),
        words(name, x=(_LEFT + _RIGHT) / 2, y=_BOTTOM + 36, text_anchor="middle"),
        words(clipped(f"↑ {plot.shown.text('privacy_' + plot.kind)}", _RIGHT - 4), x=4, y=14),
    ]


# -- thresholds and blind guessing ---------------------------------------------------------------------------------------


def _marks(plot: _Plot, lines: Sequence[Box]) -> tuple[list[str], list[Box], list[Box]]:
    """Dashed lines with their names where no point and no other line is, the room that the names take, and the lines."""
    drawn: list[str] = []
    rooms: list[Box] = []
    taken = [around(point.x, point.y) for point in plot.points]
    blind, threshold = plot.shown.entry.chance_privacy, threshold_of(plot.measure)
    level = [] if blind is None else [(_LEFT, plot.up(blind), _RIGHT, plot.up(blind))]
    upright = [] if threshold is None else [(plot.across(threshold), _TOP, plot.across(threshold), _BOTTOM)]
    if blind is not None:
        y = plot.up(blind)
        ends = ((_RIGHT - 4.0, True), (_LEFT + 4.0, False))
        places = [(x, height, end) for height in (y - 5, y + 14) for x, end in ends]
        drawn.append(tag("line", class_="mark-line", x1=_LEFT, x2=_RIGHT, y1=y, y2=y))
        drawn.append(_mark_name(plot.shown.text("blind"), places, taken, rooms, [*lines, *upright]))
    if threshold is not None:
        x = plot.across(threshold)
        heights = (_BOTTOM - 6, _TOP + 12, (_TOP + _BOTTOM) / 2)
        places = [(at, y, end) for y in heights for at, end in ((x + 5, False), (x - 5, True))]
        text = f"{plot.shown.text('threshold')} {figure(threshold, plot.shown.document.figure(plot.measure.name).unit)}"
        drawn.append(tag("line", class_="mark-line", x1=x, x2=x, y1=_TOP, y2=_BOTTOM))
        drawn.append(_mark_name(text, places, taken, rooms, [*lines, *level]))
    return drawn, rooms, [*level, *upright]


def _mark_name(
    text: str, places: Sequence[tuple[float, float, bool]], taken: list[Box], rooms: list[Box], lines: Sequence[Box]
) -> str:
    width = text_width(text, 11)

    def room(place: tuple[float, float, bool]) -> Box:
        x, y, end = place
        return (x - width if end else x, y - 11, x if end else x + width, y + 3)

    inside = [place for place in places if room(place)[0] >= _LEFT and room(place)[2] <= _RIGHT] or list(places)
    free = [place for place in inside if not any(overlap(room(place), other) for other in (*taken, *rooms))]
    clear = [place for place in free if not any(crosses(line, room(place)) for line in lines)]
    place = (clear or free or inside)[0]
    rooms.append(room(place))
    x, y, end = place
    return words(text, class_="dim small mark-name", x=x, y=y, text_anchor="end" if end else "start")


# -- points, lines and labels --------------------------------------------------------------------------------------------


def _lines(plot: _Plot) -> list[str]:
    """The frontier as steps, and each sweep."""
    by_target = {point.release.target: point for point in plot.points}
    best = [by_target[target] for target in _frontier(plot) if target in by_target]
    drawn = []
    if len(best) > 1:
        upright = plot.measure.higher_is_better
        steps = [f"V{pixels(one.y)}H{pixels(one.x)}" if upright else f"H{pixels(one.x)}V{pixels(one.y)}" for one in best[1:]]
        drawn.append(tag("path", class_="frontier", d=f"M{pixels(best[0].x)} {pixels(best[0].y)}{''.join(steps)}"))
    for number, listed in enumerate(_sweeps(plot).values()):
        joined = "L".join(f"{pixels(point.x)} {pixels(point.y)}" for point in sorted(listed, key=lambda point: point.x))
        drawn.append(tag("path", class_=f"sweep sweep-{number % 4}", d=f"M{joined}"))
    return drawn


def _steps(plot: _Plot) -> list[Box]:
    """The straight parts of the frontier."""
    by_target = {point.release.target: point for point in plot.points}
    best = [by_target[target] for target in _frontier(plot) if target in by_target]
    parts: list[Box] = []
    for one, other in itertools.pairwise(best):
        corner = (one.x, other.y) if plot.measure.higher_is_better else (other.x, one.y)
        parts += [(one.x, one.y, *corner), (*corner, other.x, other.y)]
    return parts


def _joined(points: Sequence[_Point]) -> list[Box]:
    """The straight parts of a sweep."""
    return [(one.x, one.y, other.x, other.y) for one, other in itertools.pairwise(sorted(points, key=lambda point: point.x))]


def _whisker_lines(plot: _Plot) -> list[Box]:
    """The 95 % interval of every mean, across and upwards, as far as it lies in the plot."""
    found: list[Box] = []
    for point in plot.points:
        across, up = point.release.estimates[plot.measure.name], point.release.privacy[plot.kind]
        if across.low is not None and across.high is not None and across.low < across.high:
            left, right = (min(_RIGHT, max(_LEFT, plot.across(bound))) for bound in (across.low, across.high))
            found.append((left, point.y, right, point.y))
        if up.low is not None and up.high is not None and up.low < up.high:
            top, bottom = (min(_BOTTOM, max(_TOP, plot.up(bound))) for bound in (up.high, up.low))
            found.append((point.x, top, point.x, bottom))
    return found


def _whiskers(plot: _Plot) -> list[str]:
    return [tag("line", class_="whisker", **dict(zip(_ENDS, line, strict=True))) for line in _whisker_lines(plot)]


def _frontier(plot: _Plot) -> tuple[str, ...]:
    return plot.shown.entry.frontiers[plot.measure.name][plot.kind]


def _sweeps(plot: _Plot) -> dict[str, list[_Point]]:
    """The points of each player that has several."""
    sweeps: dict[str, list[_Point]] = {}
    for point in plot.points:
        player = plot.shown.player(point.release.target)
        if player is not None and player.sweep:
            sweeps.setdefault(player.sweep, []).append(point)
    return {name: listed for name, listed in sweeps.items() if len(listed) > 1}


def _labels(plot: _Plot, rooms: Sequence[Box], lines: Sequence[Box]) -> list[str]:
    """A name for each point; points that lie on one another share one."""
    groups: list[tuple[float, float, list[str]]] = []
    for point in plot.points:
        near = (names for x, y, names in groups if math.hypot(x - point.x, y - point.y) < _SAME)
        names = next(near, None)
        if names is None:
            groups.append((point.x, point.y, [point.release.target]))
        else:
            names.append(point.release.target)
    named = [(x, y, _group_name(plot, names)) for x, y, names in groups]
    places = placed_labels(named, (_LEFT + 2, _TOP - 8, _RIGHT + 8, _BOTTOM - 2), rooms, lines)
    drawn = []
    for place, (_, _, text), (_, _, names) in zip(places, named, groups, strict=True):
        if place is None:
            continue
        if place.lead is not None:
            drawn.append(tag("line", class_="leader", **dict(zip(_ENDS, place.lead, strict=True))))
        title = ", ".join(map(plot.shown.label, names))
        drawn.append(words(text, title=title, class_="small point-name", x=place.x, y=place.y, text_anchor=place.anchor))
    return drawn


def _group_name(plot: _Plot, names: Sequence[str]) -> str:
    if len(names) == 1:
        several = len(plot.points) > _NAMED
        return clipped(names[0], 60, 11) if several else plot.shown.fitted_label(names[0], 150, 11)
    return f"{names[0]} +{len(names) - 1}" if len(names) > 3 else ", ".join(names)


def _point(point: _Point) -> str:
    x, y = point.x, point.y
    if _good(point):
        return tag("circle", class_="point good", cx=x, cy=y, r=6)
    corners = f"M{pixels(x)} {pixels(y - 7)}L{pixels(x + 6.5)} {pixels(y + 5)}H{pixels(x - 6.5)}Z"
    return tag("path", class_="point bad", d=corners)


def _good(point: _Point) -> bool:
    return point.release.verdict in ("", "passes")


def _legend(plot: _Plot) -> tuple[list[str], int]:
    """What points and lines mean, in rows below the axes, and how many rows there are."""
    drawn, x, row = [], float(_LEFT), 0
    for shape, text in _signs(plot):
        told = clipped(text, _RIGHT - _LEFT - 24, 11)
        width = 24 + text_width(told, 11)
        if x > _LEFT and x + width > _RIGHT:
            x, row = float(_LEFT), row + 1
        drawn.append(moved(x, _HEIGHT + 4 + _ROW * row, [shape, words(told, class_="dim small", title=text, x=24, y=11)]))
        x += width + 18
    return drawn, row + 1


def _signs(plot: _Plot) -> list[tuple[str, str]]:
    signs = []
    if any(map(_good, plot.points)):
        judged = any(point.release.verdict for point in plot.points)
        name = plot.shown.word("passes") if judged else plot.shown.text("target")
        signs.append((tag("circle", class_="good", cx=9, cy=7, r=5.5), name))
    if not all(map(_good, plot.points)):
        signs.append((tag("path", class_="bad", d="M9 1L15 12H3Z"), plot.shown.word("disqualified")))
    lines = [("frontier", plot.shown.text("frontier_line"))] if len(_frontier(plot)) > 1 else []
    lines += [(f"sweep sweep-{number % 4}", plot.shown.text("sweep", name=name)) for number, name in enumerate(_sweeps(plot))]
    return signs + [(tag("path", class_=class_, d="M1 7H17"), text) for class_, text in lines]
