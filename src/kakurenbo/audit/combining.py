"""What several files give away together, beside what each does alone: two sources linked by all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded
from kakurenbo.audit.files import Files, GroupModel, Ints, Sides, fit, single
from kakurenbo.audit.linking import LINED_UP, assigned, linked
from kakurenbo.audit.people import RowModel
from kakurenbo.audit.result import FileRisk, Rate, Risk, ThreatRow

TOGETHER, BY_COPIES = "files_together", "files_together_by_copies"
"""All files at once; noise is told in each of them, or by how copies of a column agree."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """Numbers of people, original first and then holdout, and the released rows that take part.

    Without a holdout as many rows as there are others to compare with, as in :class:`kakurenbo.audit.people.Asked`.
    """

    choosing: Ints
    reported: Ints
    controls: Ints
    others: Ints
    rows: Ints | None

    @classmethod
    def of(cls, size: int, held: int, released: int, rng: np.random.Generator) -> _Asked:
        count = min(LINED_UP, size // 2, held) if held else min(LINED_UP, size // 4)
        drawn = rng.permutation(size)[: 2 * count]
        if held:
            theirs = size + rng.permutation(held)
            return cls(drawn[:count], drawn[count:], theirs[:count], np.sort(theirs), None)
        others = np.setdiff1d(np.arange(size), drawn[count:])
        rows = np.sort(rng.permutation(released)[: len(others)])
        return cls(drawn[:count], drawn[count:], np.zeros(0, dtype=np.int64), others, rows)


def attack_files(
    files: Files, base: Coded, rng: np.random.Generator, given: Sides | None
) -> tuple[Risk, float, tuple[FileRisk, ...]]:
    """Link members by all files together, and by each alone; people of the holdout are the control.

    Parameters
    ----------
    files : Files
    base : Coded
        Original and holdout in all columns of the files.
    given : pair of sequences of str, optional
        What the two sources know. By default halves of the columns in several ways.

    Returns
    -------
    Risk, the p-value that the files help nobody, and what each file gives away alone.
    """
    released = max(len(file.coded.release) for file in files.files)
    asked = _Asked.of(len(base.original), len(base.holdout), released, rng)
    everybody = np.concatenate([base.original, base.holdout])
    alone = [fit(one, asked.rows, by_copies=False) for one in single(files)]
    known = _attackers(files, alone, asked.rows)
    tried = [(attacker, sides) for attacker in known for sides in _splits(base, given)]
    hits = [
        int(_linked(base, one.models, everybody, asked.choosing, sides).sum())
        for one, sides in tried
    ]
    best = int(np.argmax(hits))
    attacker, sides = tried[best]
    rate, control = (
        _rate(base, attacker.models, everybody, who, sides)
        for who in (asked.reported, asked.controls)
    )
    instead = RowModel.of_others(base, everybody[asked.others])
    told = linked(instead, everybody[asked.reported], _places(base, sides))
    without = statistics.rate(int(told.sum()), len(told))
    compared = control if len(asked.controls) else without
    chance = 1 / len(asked.reported)
    rows = []
    for place, (one, own) in enumerate(tried):
        found = statistics.rate(hits[place], len(asked.choosing))
        row = ThreatRow(
            one.threat,
            tuple(own[0]),
            tuple(own[1]),
            one.attack,
            found,
            chance=chance,
            files=one.files,
        )
        if place == best:
            held = control if len(asked.controls) else None
            above = statistics.excess(rate, compared)
            row = replace(row, rate=rate, control=held, excess=above, baseline=without.value)
        rows.append(row)
    rates = [_rate(base, models, everybody, asked.reported, sides) for models in alone]
    return (
        Risk.reporting("linkability", rows, best),
        statistics.fisher(rate, compared),
        _told(files, rates),
    )


@dataclass(frozen=True, eq=False)
class _Attacker:
    """Who looks at which files, and how."""

    threat: str
    attack: str
    files: tuple[str, ...]
    models: Sequence[GroupModel]


def _attackers(
    files: Files, alone: Sequence[Sequence[GroupModel]], rows: Ints | None
) -> list[_Attacker]:
    """Each file of the release by itself, all together, and together with earlier ones; noise is told in two ways."""
    found = [
        _Attacker("two_sources", "row_model", (file.frame.name,), models)
        for file, models in zip(files.files, alone, strict=True)
        if not file.earlier
    ]
    own = files.of_release()
    for threat, part in (("two_sources", own), ("archivist", files)):
        if len(part.files) > 1 and (threat == "two_sources" or len(own.files) < len(files.files)):
            names = tuple(file.frame.name for file in part.files)
            found += [
                _Attacker(threat, way, names, fit(part, rows, by_copies=way == BY_COPIES))
                for way in (TOGETHER, BY_COPIES)
            ]
    return found


def _splits(base: Coded, given: Sides | None) -> list[Sides]:
    if given is not None:
        return [given]
    names = list(base.names)
    telling = sorted(names, key=lambda name: -len(np.unique(base.original[:, names.index(name)])))
    half = len(names) // 2
    ways: list[Sides] = [(names[:half], names[half:]), (telling[::2], telling[1::2])]
    return (
        ways
        if {frozenset(side) for side in ways[0]} != {frozenset(side) for side in ways[1]}
        else ways[:1]
    )


def _places(base: Coded, sides: Sides) -> tuple[tuple[int, ...], tuple[int, ...]]:
    one, other = (tuple(base.names.index(name) for name in side) for side in sides)
    return one, other


def _linked(
    base: Coded, models: Sequence[GroupModel], everybody: NDArray[np.int32], who: Ints, sides: Sides
) -> NDArray[np.bool_]:
    """Which of these people are linked to themselves, shape (n,); nobody where the files have columns of one source alone."""
    scores = [found for model in models if (found := model.scores(who, sides)) is not None]
    if not scores or not len(who):
        return np.zeros(len(who), dtype=bool)
    return assigned(np.sum(scores, axis=0), everybody[who], _places(base, sides))


def _rate(
    base: Coded, models: Sequence[GroupModel], everybody: NDArray[np.int32], who: Ints, sides: Sides
) -> Rate:
    return statistics.rate(int(_linked(base, models, everybody, who, sides).sum()), len(who))


def _told(files: Files, rates: Sequence[Rate]) -> tuple[FileRisk, ...]:
    order = {number: place + 1 for place, group in enumerate(files.groups) for number in group}
    return tuple(
        FileRisk(
            file.frame.name, len(file.frame), file.coded.names, order[number], file.earlier, rate
        )
        for number, (file, rate) in enumerate(zip(files.files, rates, strict=True))
    )
