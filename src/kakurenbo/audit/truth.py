"""Whom a pseudonym stands for: by a key, by the order of the rows, or by names that nobody changed."""

from __future__ import annotations

import numpy as np
import polars as pl

from kakurenbo.audit.clock import NEVER, Clock
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.persons import Ints, Persons, Rows
from kakurenbo.core import InputError
from kakurenbo.core.problems import ProblemCollector, Severity

PSEUDONYM = "pseudonym"
"""The column of a key that holds pseudonyms; its other one has the name of the person column."""
_FEWEST_GROUPS = (
    20  # pseudonyms of several rows that must show whether rows stand in the original's order
)
_PURE = 0.99  # share of them whose rows are one person's
_SIGNIFICANT = 6.0  # standard deviations
_SAME_ROWS = 0.5  # share of released rows that stand in the original under the same name, where names were not changed


def truth_of(persons: Persons, original: Rows, release: Rows, clock: Clock | None) -> Ints | None:
    """Person, period and pseudonym that belong together, shape (k, 3); None where nothing tells."""
    if persons.key is not None:
        return _by_key(persons, persons.key, original, release, clock)
    told = _by_order(original, release)
    return told if told is not None else _by_name(original, release)


def _by_key(
    persons: Persons, key: Frame, original: Rows, release: Rows, clock: Clock | None
) -> Ints:
    found = ProblemCollector(key.name)
    for name in (persons.column, PSEUDONYM):
        if name not in key.columns:
            found.add(
                "audit.key_column",
                row=1,
                column=name,
                severity=Severity.MALFORMED,
                columns=list(key.columns),
            )
    found.check()
    people, pseudonyms = (
        {name: code for code, name in enumerate(rows.names)} for rows in (original, release)
    )
    who = key.cells[persons.column].replace_strict(people, default=-1, return_dtype=pl.Int64)
    for line in (who < 0).arg_true().to_list():
        value = key.cells[persons.column][line]
        found.add(
            "audit.key_person",
            row=line + 2,
            column=persons.column,
            value=value,
            severity=Severity.MALFORMED,
        )
    found.check()
    shown = (
        key.cells[PSEUDONYM]
        .replace_strict(pseudonyms, default=-1, return_dtype=pl.Int64)
        .to_numpy()
    )
    if (shown < 0).all():
        raise InputError.of(
            "audit.key_pseudonym",
            key.name,
            column=PSEUDONYM,
            severity=Severity.MALFORMED,
            release=release.frame.name,
        )
    pairs = np.column_stack([who.to_numpy(), shown])
    cells = _cells(release.owner, release.period)
    if clock is not None and persons.time in key.columns:
        return _timed(persons, key, pairs, cells, original, clock)
    starts = np.searchsorted(cells[:, 0], pairs[:, 1])
    counts = np.where(
        pairs[:, 1] < 0, 0, np.searchsorted(cells[:, 0], pairs[:, 1], side="right") - starts
    )
    row = np.repeat(np.arange(len(pairs)), counts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + starts[row]
    return np.unique(np.column_stack([pairs[row, 0], cells[place, 1], pairs[row, 1]]), axis=0)


def _timed(
    persons: Persons, key: Frame, pairs: Ints, cells: Ints, original: Rows, clock: Clock
) -> Ints:
    """The same where the key says when: any time of the period."""
    period = clock.periods(clock.times(key.cells[persons.time]), persons.period)
    if (wrong := np.flatnonzero(period == NEVER)).size:
        row = int(wrong[0])
        value = key.cells[persons.time][row]
        raise InputError.of(
            "audit.time",
            key.name,
            row=row + 2,
            column=persons.time,
            value=value,
            severity=Severity.MALFORMED,
        )
    # Periods are numbered by now: the original says which is which.
    known, number = np.unique(clock.periods(original.time, persons.period), return_index=True)
    numbers = original.period[number]
    place = np.minimum(np.searchsorted(known, period), len(known) - 1)
    told = (known[place] == period) & (pairs[:, 1] >= 0)
    triples = np.column_stack([pairs[:, 0], numbers[place], pairs[:, 1]])[told]
    there = np.isin(
        triples[:, 2] * (1 + numbers.max()) + triples[:, 1],
        cells[:, 0] * (1 + numbers.max()) + cells[:, 1],
    )
    return np.unique(triples[there], axis=0)


def _by_order(original: Rows, release: Rows) -> Ints | None:
    """By rows that stand where they stood: then the rows of a pseudonym are one person's, and agree with those of no other."""
    if release.length != original.length or len(original.lines) != original.length:
        return None
    person = original.owner[release.lines]
    # A pseudonym of one period, or where it has but one row there, one that lasts.
    for cells in (np.column_stack([release.owner, release.period]), release.owner[:, None]):
        _, group, size = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        if _are_one_person_s(person, group.ravel(), size) and _agrees_best_with_itself(
            original, release, group.ravel(), size
        ):
            return np.unique(
                np.column_stack([person, release.period, release.owner])[release.period != NEVER],
                axis=0,
            )
    return None


def _are_one_person_s(person: Ints, group: Ints, size: Ints) -> bool:
    """Whether the rows of a group are one person's, in enough groups that have several."""
    _, first = np.unique(np.column_stack([group, person]), axis=0, return_index=True)
    people_of = np.bincount(group[first], minlength=len(size))
    several = size > 1
    return bool(several.sum() >= _FEWEST_GROUPS and (people_of[several] == 1).mean() >= _PURE)


def _agrees_best_with_itself(original: Rows, release: Rows, group: Ints, size: Ints) -> bool:
    """Whether rows agree with those at their place more than with those of another group of as many rows.

    Two tables that were both sorted by name, of people with as many rows each, would seem to stand in one order.
    """
    alike = np.bincount(size)[size] > 1  # groups that another one has as many rows as
    if (~alike & (size > 1)).sum() >= _FEWEST_GROUPS:
        return True  # of different sizes: they would not fall on the rows of one person each
    order = np.lexsort((release.lines, group))
    starts = np.cumsum(size) - size
    by_size = np.argsort(size, kind="stable")
    following = np.roll(by_size, -1)
    ends = np.append(np.flatnonzero(np.diff(size[by_size])), len(by_size) - 1)
    following[ends] = by_size[np.append(0, ends[:-1] + 1)]
    other = np.empty(len(size), dtype=np.int64)
    other[by_size] = following
    within = np.arange(len(order)) - starts[group[order]]
    instead = order[starts[other[group[order]]] + within]
    compared = order[alike[group[order]]], instead[alike[group[order]]]
    for name in release.frame.columns:
        if name in original.frame.columns:
            ours, theirs = (
                original.frame.cells[name].to_numpy(),
                release.frame.cells[name].to_numpy(),
            )
            own, others = (
                int((ours[release.lines[rows]] == theirs[compared[0]]).sum()) for rows in compared
            )
            if own - others > _SIGNIFICANT * np.sqrt(own + others + 1):
                return True
    return False


def _by_name(original: Rows, release: Rows) -> Ints | None:
    """By names that nobody changed: most released rows stand in the original under the same name."""
    if not set(release.names) <= set(original.names):
        return None
    shared = [name for name in original.frame.columns if name in release.frame.columns]
    ours = original.frame.cells.select(shared).unique()
    same = release.frame.cells.select(shared).join(ours, on=shared, how="semi").height
    if same < _SAME_ROWS * len(release.frame):
        return None
    code = {name: place for place, name in enumerate(original.names)}
    person = np.array([code[name] for name in release.names], dtype=np.int64)
    cells = _cells(release.owner, release.period)
    return np.column_stack([person[cells[:, 0]], cells[:, 1], cells[:, 0]])


def _cells(owner: Ints, period: Ints) -> Ints:
    """Each owner and period that has rows, sorted, shape (k, 2)."""
    return np.unique(np.column_stack([owner, period])[period != NEVER], axis=0)
