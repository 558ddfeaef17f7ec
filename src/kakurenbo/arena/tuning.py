"""`tune`: a method's parameters, searched on data of one's own for what the contest ranks highest among what passes.

Thresholds come first, because they cost little: a setting is attacked only where it passes in enough of the draws. Of those
that do, a few are played in ever more draws, against attacks that are told the setting (successive halving, after Jamieson
and Talwalkar 2016). The best of many looks better than it is, so what is reported of it comes from draws that chose nothing.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.executors import ATTACKERS, Crews, Workers
from kakurenbo.arena.ranges import Point, Space
from kakurenbo.arena.rehearsing import Draw, Trial, Tried, fewer_points_win, prepare_draw, rehearse
from kakurenbo.arena.teams_file import default_teams
from kakurenbo.contest import AnyRulebook, misfit
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.reports.estimates import SHARE, Estimate, estimate

_PARENTS = 3  # settings whose neighbours are tried
_KEPT = 3  # of so many settings one goes on to more draws
_FINALISTS = 2

Listener = Callable[[int, int], None]
"""Called with how many trials of the present stage are done, and how many it has."""


@dataclass(frozen=True)
class Search:
    """How far to search.

    Attributes
    ----------
    attacks : tuple of str
    tries : int
        Settings that are tried.
    draws : int
        Draws that choose, and as many that measure what was chosen.
    passing : float
        The share of draws in which a setting must pass every threshold.
    """

    attacks: tuple[str, ...]
    tries: int
    draws: int
    passing: float = 1.0


@dataclass(frozen=True)
class TunedLine:
    """What is known of one setting.

    Attributes
    ----------
    method : str
    draws, passed : int
        In how many draws its thresholds were looked at, and held.
    attacked : int
        In how many draws it was attacked.
    rate : Estimate or None
        Share of what can be found that the best attack of each draw found.
    points : Estimate or None
        What the contest's own ranking makes of it.
    by_attack : mapping of attack to Estimate
        Shares of what each attack found.
    missed_by : float
        How far it misses thresholds on average, in units of these.
    cause : str
        Why there is no release in some draw.
    """

    method: str
    draws: int
    passed: int
    attacked: int
    rate: Estimate | None
    points: Estimate | None
    by_attack: dict[str, Estimate] = field(default_factory=dict)
    missed_by: float = 0.0
    cause: str = ""

    @classmethod
    def of(cls, method: str, tried: Sequence[Tried], attacks: Iterable[str] = ()) -> TunedLine:
        played = [one for one in tried if one.credits]
        rates = [one.rate for one in played if one.rate is not None]
        points = [one.points for one in played if one.points is not None]
        return cls(
            method,
            len(tried),
            sum(one.passes for one in tried),
            len(played),
            estimate(rates, SHARE) if rates else None,
            estimate(points) if points else None,
            {
                name: estimate([one.credits[name].accuracy for one in played], SHARE)
                for name in attacks
                if played
            },
            math.fsum(one.missed_by for one in tried) / len(tried),
            next((one.cause for one in tried if one.cause), ""),
        )

    def passes(self, share: float) -> bool:
        """Whether it holds the thresholds in enough draws."""
        return self.draws > 0 and self.passed >= share * self.draws - 1e-9


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    lines : tuple of TunedLine
        Every setting, the best first.
    chosen : TunedLine or None
        The best of those that pass, as fresh draws measure it; None where none passes.
    fewer_points_win : bool
    """

    lines: tuple[TunedLine, ...]
    chosen: TunedLine | None
    fewer_points_win: bool


def tune(
    rules: AnyRulebook,
    space: Space,
    search: Search,
    seed: int,
    workers: Workers,
    tell: Listener = lambda _done, _all: None,
) -> Tuned:
    """Search; the same for the same seed, whatever the workers.

    Raises
    ------
    UsageError
        Where a method does not play this contest, or its data cannot be drawn.
    """
    for group, texts in (
        ("anonymizers", [space.text((0.5,) * len(space.ranges))]),
        ("attacks", search.attacks),
    ):
        for text in texts:
            if reason := misfit(type(rules), registry.build(group, text)):
                raise UsageError(
                    "error.method_misfit", method=registry.name_of(text), reason=reason
                )
    with tempfile.TemporaryDirectory(prefix="kakurenbo-tune-") as folder, workers.open() as crews:
        return _Tuning(rules, space, search, seed, Path(folder), crews, tell).run()


def listed_attacks(given: str) -> tuple[str, ...]:
    """The attacks of a list such as ``nearest,champion:shadows=2``; what is no attack's name belongs to the one before it.

    Examples
    --------
    >>> listed_attacks("tfidf,fellegi_sunter:fields=date,price,rhythm")
    ('tfidf', 'fellegi_sunter:fields=date,price', 'rhythm')
    """
    found: list[str] = []
    for part in filter(None, (part.strip() for part in given.split(","))):
        if found and ":" in found[-1] and registry.name_of(part) not in registry.names("attacks"):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return tuple(found)


def default_attacks(rules: AnyRulebook) -> tuple[str, ...]:
    """The attacks of the contest's default field."""
    attacks = (
        entrant.attack_text
        for entrant in default_teams(rules).entrants
        if entrant.attack is not None
    )
    return tuple(dict.fromkeys(attacks))


@dataclass
class _Tuning:
    rules: AnyRulebook
    space: Space
    search: Search
    seed: int
    folder: Path
    crews: Crews
    tell: Listener
    tried: dict[str, dict[int, Tried]] = field(default_factory=dict)
    points: dict[str, Point] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.call = MethodCall.of("rulebooks", self.rules.name, self.rules)
        self.fewer_win = fewer_points_win(self.rules)
        self.drawn: set[int] = set()

    def run(self) -> Tuned:
        rng, half = stream(self.seed, "tune", "settings"), math.ceil(self.search.tries / 2)
        self._begin(
            self.space.spread(
                self.search.tries if self.space.count <= self.search.tries else half, rng
            )
        )
        parents = [self.points[text] for text in self._ranked(self.tried)[:_PARENTS]]
        near: dict[str, Point] = {}
        for attempt in range(
            20 * self.search.tries
        ):  # neighbours fall together where there are few settings
            if len(self.tried) + len(near) >= min(self.search.tries, self.space.count):
                break
            point = self.space.near(parents[attempt % len(parents)], rng)
            if self.space.text(point) not in self.tried:
                near.setdefault(self.space.text(point), point)
        self._begin(near.values())
        best = self._halved()
        lines = tuple(self._line(text) for text in self._ranked(self.tried))
        if best is None:
            return Tuned(lines, None, self.fewer_win)
        fresh = range(self.search.draws, 2 * self.search.draws)
        self._play([best], fresh, self.search.attacks)
        measured = TunedLine.of(
            best, [self.tried[best][number] for number in fresh], self.search.attacks
        )
        return Tuned(lines, measured, self.fewer_win)

    def _begin(self, points: Iterable[Point]) -> None:
        """Look at the thresholds of new settings in every draw, and attack those that hold them in the first."""
        fresh = {
            text: point for point in points if (text := self.space.text(point)) not in self.tried
        }
        self.points |= fresh
        self.tried |= {text: {} for text in fresh}
        self._play(list(fresh), range(1, self.search.draws), ())
        allowed = (1 - self.search.passing) * self.search.draws + 1e-9
        failed = {text: sum(not one.passes for one in self.tried[text].values()) for text in fresh}
        self._play([text for text in fresh if failed[text] <= allowed], [0], self.search.attacks)
        self._play([text for text in fresh if failed[text] > allowed], [0], ())

    def _halved(self) -> str | None:
        """The best of those that pass; it and its last rival were attacked in every draw."""
        left = [
            text
            for text in self._ranked(self.tried)
            if self._line(text).passes(self.search.passing)
        ]
        draws = 1
        while left and draws < self.search.draws:
            left = left[: max(_FINALISTS, math.ceil(len(left) / _KEPT))]
            more = range(
                draws,
                self.search.draws if len(left) <= _FINALISTS else min(2 * draws, self.search.draws),
            )
            self._play(left, more, self.search.attacks)
            left, draws = self._ranked(left), more.stop
        return left[0] if left else None

    def _ranked(self, texts: Iterable[str]) -> list[str]:
        """Those first that pass, that survived to more draws, and that the contest ranks higher."""

        def place(text: str) -> tuple[bool, float, int, float, str]:
            line = self._line(text)
            passes = line.passes(self.search.passing)
            points = (
                math.inf
                if line.points is None
                else line.points.mean
                if self.fewer_win
                else -line.points.mean
            )
            return (
                not passes,
                0.0 if passes else line.missed_by,
                -line.attacked if passes else 0,
                points,
                text,
            )

        return sorted(texts, key=place)

    def _line(self, text: str) -> TunedLine:
        """A setting by the draws that choose."""
        own = self.tried[text]
        return TunedLine.of(
            text,
            [own[number] for number in sorted(own) if number < self.search.draws],
            self.search.attacks,
        )

    def _play(self, texts: Sequence[str], numbers: Iterable[int], attacks: tuple[str, ...]) -> None:
        """Settings in draws, each pair a job; in the order they were asked for, whoever is ready first."""
        wanted = list(numbers)
        if not texts or not wanted:
            return
        draws = {
            number: Draw.numbered(self.call, self.seed, number, self.folder) for number in wanted
        }
        self._done(
            partial(prepare_draw, draw)
            for number, draw in draws.items()
            if number not in self.drawn
        )
        self.drawn |= draws.keys()
        pairs = [(text, number) for number in wanted for text in texts]
        found = self._done(
            partial(rehearse, Trial(draws[number], text, attacks)) for text, number in pairs
        )
        for (text, number), tried in zip(pairs, found, strict=True):
            assert isinstance(tried, Tried)
            self.tried[text][number] = tried

    def _done(self, calls: Iterable[Callable[[], object]]) -> list[object]:
        """What calls give, by the workers."""
        try:
            futures = [self.crews.executors[ATTACKERS].submit(call) for call in calls]
            found = []
            for done, future in enumerate(futures, start=1):
                found.append(future.result())
                self.tell(done, len(futures))
            return found
        except BrokenExecutor:
            raise KakurenboError("error.search_worker_died") from None
