"""Numbers and dates that were shifted or scaled by constants: the constants are found by which numbers fall on known ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ENDS = 12  # of the least and of the greatest numbers, which the release's may be
_NEAR = 400  # numbers on each side of the middle, which the release's middle one may be
_COMPARED = 2000  # released numbers
_FEWEST = 20  # different numbers that can be told by their place among others
_GAIN = 20.0  # nats by which a rule must explain the release better than that nothing was changed
_SURELY, _CLEARLY = (
    4.0,
    5.0,
)  # standard deviations by which it must, and nats by which it must be better than the next
_UNCHANGED = 0.95  # share of released numbers that are known ones as they are
_FEW_HITS = 0.2  # share below which hardly any is
_HITS, _MORE_HITS = (
    0.5,
    1.5,
)  # share of released numbers that must fall on known ones, and how many times as many as without
_MANY_EACH = (
    0.2  # total variation of two samples, below which values are common enough to be told by it
)
_NO_WORSE, _ON_TOP = (
    1.2,
    0.01,
)  # times that, and what may come on top of it, for a release to be as common as it is said to be
_MOST_COUNTED = 4096  # different released numbers that are all counted; of more some rows must do
_ASIDE = (
    0.0137,
    -0.0173,
    0.0291,
)  # of the range: wrong shifts, which tell what falls on known numbers anyhow
_OUTSTANDING = 6.0  # standard deviations by which the right shift is better than others
_MOST, _AS_WIDE = (
    (0.1, 0.9),
    1.5,
)  # between which quantiles numbers lie, and how much wider they may
_QUANTILES = np.linspace(0.05, 0.95, 91)
_STRAIGHT = 0.99  # share of the variance of quantiles that a line must explain
_ELSEWHERE = 0.5  # share of the released numbers outside of where nearly all known ones are, which are in other units then
_WIDER = 2.0  # by how much wider or narrower numbers in other units lie
_EQUAL, _ODD = (
    1e-6,
    0.05,
)  # factors so near to 1, and not 1, are nobody's unit, but fit rounded numbers
_TINY, _HUGE = 1e-9, 1e100  # beyond which differences of numbers are no numbers


@dataclass(frozen=True)
class Unit:
    """Released numbers are ``factor`` times the original's plus ``offset``; where that is not ``exact``, but about."""

    factor: float
    offset: float
    exact: bool = True

    @property
    def formula(self) -> str:
        """As people write it."""
        times = "x" if self.factor == 1 else f"{self.factor:.6g} x"
        whole = (
            f"{times} {'-' if self.offset < 0 else '+'} {abs(self.offset):.6g}"
            if self.offset
            else times
        )
        return whole if self.exact else f"≈ {whole}"

    def undone(self, released: Floats) -> Floats:
        """The original's numbers, shape (n,)."""
        return np.asarray((released - self.offset) / self.factor)


_NONE = Unit(1.0, 0.0)


def found_unit(known: Floats, released: Floats) -> Unit | None:
    """By which constants released numbers were changed; None where none explain them better than that nothing was changed.

    Parameters
    ----------
    known, released : arrays, shape (n,), (m,)
        Numbers of people, members or not, and of the release, without missing ones.
    """
    known, released = (numbers[np.abs(numbers) < _HUGE] for numbers in (known, released))
    if not len(known) or not len(released):
        return None
    wide = len(np.unique(released)) > _MOST_COUNTED
    some = np.sort(released)[:: -(-len(released) // _COMPARED) if wide else 1]
    there = _Known.of(known, some)
    if min(len(there.different), len(there.numbers)) < _FEWEST:
        return None
    before = there.explained(_NONE)
    if wide and before.hits > _UNCHANGED:
        return None
    shifts = [there.explained(unit) for unit in _shifts(there.different, some)]
    guesses = (
        *_factors(there.different, some),
        *_steps(there.different, some),
        *_both(there.different, some),
    )
    tried = sorted(
        [*shifts, *(there.explained(unit) for unit in guesses)], key=lambda one: -one.likelihood
    )
    best = tried[0]
    if there.is_better(best, before) and _is_right(best, before, shifts, there):
        # As good as one of many that are nearly as good: small tables tell no more.
        rivals = [one for one in tried if abs(one.unit.offset - best.unit.offset) > there.unit / 2]
        return replace(
            best.unit, exact=not rivals or best.likelihood > rivals[0].likelihood + _CLEARLY
        )
    return _by_quantiles(known, released) if before.hits < _FEW_HITS else None


@dataclass(frozen=True, eq=False)
class _Explained:
    """How well constants explain the release.

    Attributes
    ----------
    unit : Unit
    hits, overlap : float
        Shares of released numbers that fall on known ones, and that are as common among these.
    likelihood : float
        log of the probability of the released numbers, in nats.
    logs : array, shape (numbers,)
        The same of each different number.
    """

    unit: Unit
    hits: float
    overlap: float
    likelihood: float
    logs: Floats


def _is_right(
    best: _Explained, before: _Explained, shifts: list[_Explained], there: _Known
) -> bool:
    """Whether constants that explain more than none are no accident."""
    if best.hits < _HITS or not there.is_as_wide(best.unit):
        return False
    if best.hits > _MORE_HITS * max(before.hits, there.hits_anyhow(best.unit)):
        return True
    if (
        abs(best.unit.factor) != 1
        and best.hits > _UNCHANGED
        and best.overlap > _MORE_HITS * before.overlap
    ):
        return True  # whatever they were multiplied by, all of them are known numbers without it
    if there.by_chance < _MANY_EACH:
        return there.as_common(best)
    tried = np.array([one.likelihood for one in shifts])
    return bool(best.likelihood > tried.mean() + _OUTSTANDING * tried.std())


@dataclass(frozen=True, eq=False)
class _Known:
    """Different known numbers and how common they are, and the same of the release.

    ``unit`` is what released numbers are rounded to, ``by_chance`` the total variation of two samples of the same people.
    """

    different: Floats
    shares: Floats
    numbers: Floats
    counts: Floats
    unit: float
    by_chance: float

    @classmethod
    def of(cls, known: Floats, released: Floats) -> _Known:
        (different, counts), (numbers, seen) = (
            np.unique(table, return_counts=True) for table in (known, released)
        )
        shares = counts / len(known)
        apart = float(np.sqrt(2 / np.pi * shares * (1 / len(known) + 1 / len(released))).sum() / 2)
        return cls(different, shares, numbers, seen.astype(np.float64), _rounded_to(numbers), apart)

    def is_better(self, best: _Explained, before: _Explained) -> bool:
        """Whether a rule explains more than none does by more than samples differ."""
        apart = best.logs - before.logs
        gain, spread = (
            float((self.counts * apart).sum()),
            float(np.sqrt((self.counts * apart**2).sum())),
        )
        return gain > max(_GAIN, _SURELY * spread)

    def is_as_wide(self, unit: Unit) -> bool:
        """Whether released numbers lie as far apart as known ones, but for their unit: rounded ones, read as steps, do not."""
        ours = np.diff(np.interp(_MOST, np.cumsum(self.shares), self.different))[0]
        theirs = np.diff(
            np.interp(_MOST, np.cumsum(self.counts) / self.counts.sum(), self.numbers)
        )[0] / abs(unit.factor)
        return bool(ours / _AS_WIDE < theirs < ours * _AS_WIDE)

    def as_common(self, found: _Explained) -> bool:
        """Whether numbers are as common in the release as they are among the known ones, but for chance."""
        return found.overlap > 1 - _NO_WORSE * self.by_chance - _ON_TOP

    def hits_anyhow(self, unit: Unit) -> float:
        """The share of released numbers that would fall on known ones if they were changed by other constants like these."""
        reach = self.different[-1] - self.different[0]
        whole = not (self.different % 1).any()
        aside = [share * reach for share in _ASIDE]
        moved = [float(np.ceil(shift)) if whole else shift for shift in aside]
        return float(
            np.mean(
                [
                    self.explained(Unit(unit.factor, unit.offset + unit.factor * shift)).hits
                    for shift in moved
                ]
            )
        )

    def explained(self, unit: Unit) -> _Explained:
        undone = unit.undone(self.numbers)
        near = np.clip(np.searchsorted(self.different, undone), 1, len(self.different) - 1)
        near -= (undone - self.different[near - 1]) < (self.different[near] - undone)
        # As far as what was rounded after it was changed may be.
        allowed = self.unit / 2 / abs(unit.factor) + _TINY * (1 + np.abs(undone))
        hit = np.abs(undone - self.different[near]) <= allowed
        alike = np.bincount(near[hit], minlength=len(self.different))
        likely = np.where(hit, self.shares[near] / np.maximum(alike[near], 1), 0.0)
        seen = self.counts / self.counts.sum()
        logs = np.log(likely + self.shares.min() / 2)
        # A few numbers that many share, as where a column is cut off, must not speak for all.
        hits = float(min(seen[hit].sum(), hit.mean()))
        return _Explained(
            unit,
            hits,
            float(np.minimum(seen, likely).sum()),
            float((self.counts * logs).sum()),
            logs,
        )


def _rounded_to(numbers: Floats) -> float:
    """The least unit that numbers are written in, 1e-6 or more."""
    for decimals in range(6):
        if np.allclose(numbers, np.round(numbers, decimals), rtol=_TINY, atol=_TINY):
            return float(10.0**-decimals)
    return 1e-6


def _middle(known: Floats) -> list[float]:
    """Which the release's middle number may be."""
    return [
        float(value) for value in known[max(0, len(known) // 2 - _NEAR) : len(known) // 2 + _NEAR]
    ]


def _shifts(known: Floats, released: Floats) -> Iterator[Unit]:
    # The middle of the different numbers on both sides: of equals there may be many.
    different = np.unique(released)
    number = float(different[len(different) // 2])
    for value in _middle(known):
        if value != number:
            yield Unit(1.0, number - value)


def _factors(known: Floats, released: Floats) -> Iterator[Unit]:
    different = np.unique(released)
    number = float(different[len(different) // 2])
    for value in _middle(known):
        if value and number and value != number:
            yield Unit(number / value, 0.0)


def _steps(known: Floats, released: Floats) -> Iterator[Unit]:
    """Factors of whole steps: of numbers that are all multiples of something, apart from an offset."""
    different = np.unique(released)
    ours, theirs = (float(np.min(np.diff(numbers))) for numbers in (known, different))
    if not _all_steps(known, ours) or not _all_steps(different, theirs):
        return
    number = float(different[len(different) // 2])
    for factor in (theirs / ours, -theirs / ours):
        if abs(factor) != 1:
            yield from (Unit(factor, number - factor * value) for value in _middle(known))
    turned = [Unit(-1.0, number + value) for value in _middle(known)]
    yield from turned if theirs == ours else ()


def _all_steps(numbers: Floats, step: float) -> bool:
    """Whether numbers are a whole number of steps apart."""
    steps = (numbers - numbers[0]) / step
    return bool(np.abs(steps - np.round(steps)).max() < _EQUAL)


def _both(known: Floats, released: Floats) -> Iterator[Unit]:
    low, high = float(released[0]), float(released[-1])
    for least in known[:_ENDS].tolist():
        for most in known[-_ENDS:].tolist():
            for first, last in ((low, high), (high, low)):
                factor = (last - first) / (most - least) if most != least else 1.0
                if not _EQUAL < abs(abs(factor) - 1) < _ODD:
                    yield Unit(factor, first - factor * least)


def _by_quantiles(known: Floats, released: Floats) -> Unit | None:
    """By a line through the quantiles, where numbers are so far from the known ones that they must be in other units."""
    low, high = np.quantile(known, [0.01, 0.99])
    ours, theirs = np.quantile(known, _QUANTILES), np.quantile(released, _QUANTILES)
    elsewhere = float(((released < low) | (released > high)).mean())
    wider = (theirs[-1] - theirs[0]) / max(ours[-1] - ours[0], _TINY)
    if (
        (elsewhere < _ELSEWHERE and 1 / _WIDER < wider < _WIDER)
        or not ours.std()
        or not theirs.std()
    ):
        return None
    lines = []
    for turned in (theirs, theirs[::-1]):
        factor, offset = np.polyfit(ours, turned, 1)
        left = float(
            ((turned - factor * ours - offset) ** 2).sum() / ((turned - turned.mean()) ** 2).sum()
        )
        lines.append((left, Unit(float(factor), float(offset), exact=False)))
    left, unit = min(lines, key=lambda line: line[0])
    return unit if left < 1 - _STRAIGHT else None
