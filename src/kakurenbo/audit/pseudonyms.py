"""Whose pseudonym is this? The attacks of re-identification contests on any table of several rows per person.

For every person one period is drawn by lot in which the release shows him: tries are then as independent as people are.
The best attack is chosen by half of the people and reported by the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.months import Month
from kakurenbo.attacks.reidentification.pairwise import (
    fellegi_sunter_scorer,
    ranked_months,
    tf_idf_scorer,
)
from kakurenbo.audit import statistics
from kakurenbo.audit.baskets import SIZE, Fields, paired_periods
from kakurenbo.audit.persons import Ints, Rows
from kakurenbo.audit.rates import Rate, Risk, ThreatRow
from kakurenbo.audit.schema import TableSchema
from kakurenbo.audit.transactions import Transactions

FEWEST = 40  # people below whom nothing can be said
NOBODY = -1
Guess = NDArray[np.int64]
Attacks = dict[str, Callable[[], Guess]]


def attack_pseudonyms(
    tables: Transactions, schema: TableSchema, names: Sequence[str], rng: np.random.Generator
) -> tuple[Risk, float]:
    """Find the pseudonym of each person in a period.

    Parameters
    ----------
    tables : Transactions
        Its truth must be known.
    names : sequence of str
        Columns that take part: neither person nor time.

    Returns
    -------
    Risk, and the p-value that the release helps nobody. The figure ``cells`` is the share of all people and periods, which is
    what a contest of re-identification scores.
    """
    assert tables.truth is not None
    fields = Fields.of(
        schema, names, timed=bool((tables.original.time != tables.original.time[0]).any())
    )
    months = paired_periods(schema, fields, tables.original, tables.release, tables.periods)
    truth = _Truth.of(tables, months)
    tries = truth.drawn(rng)
    if len(tries) < FEWEST:
        return Risk("pseudonyms", False, "too_few"), 1.0
    half = len(tries) // 2
    choosing, reported = tries[:half], tries[half:]
    guesses = {
        name: attack()
        for name, attack in attacks_on(fields, tables.original, tables.release, months).items()
    }
    hits = {name: truth.hit(guess, choosing) for name, guess in guesses.items()}
    best = max(hits, key=lambda name: int(hits[name].sum()))
    rate = statistics.rate(int(truth.hit(guesses[best], reported).sum()), len(reported))
    control = _control(tables, schema, fields, best, reported, guesses[best], truth, rng)
    baseline = float(truth.hit(by_size(tables.original, months), reported).mean())
    chance = float(truth.chances(reported).mean())
    known = (*((tables.persons.time,) if fields.timed else ()), *names)
    rows = []
    for name, hit in hits.items():
        row = ThreatRow(
            "data_holder",
            known,
            (tables.persons.column,),
            name,
            statistics.rate(int(hit.sum()), half),
        )
        if name == best:
            above = statistics.excess(rate, control)
            row = ThreatRow(
                row.threat, known, row.wants, name, rate, control, above, baseline, chance
            )
        rows.append(row)
    risk = Risk.reporting("pseudonyms", rows, list(hits).index(best))
    share = {"cells": float(truth.hit(guesses[best], truth.cells).mean())}
    return replace(risk, figures=share), statistics.fisher(rate, control)


def attacks_on(fields: Fields, people: Rows, release: Rows, months: Sequence[Month]) -> Attacks:
    """The attacks that fit the columns, by name; each gives a pseudonym for every person and period, -1 for none."""
    shape = len(people.names), 1 + max(month.number for month in months)

    def linked(scored: Sequence[str], *, link_months: bool) -> Guess:
        return _guess(
            shape,
            ranked_months(months, fellegi_sunter_scorer(months, scored), link_months=link_months),
        )

    found: Attacks = {"fellegi_sunter": lambda: linked(fields.all, link_months=True)}
    if fields.item:
        found["tf_idf"] = lambda: _guess(shape, ranked_months(months, tf_idf_scorer()))
    if len(fields.profile) > 1:
        found["profile"] = lambda: linked(fields.profile, link_months=False)
    found["rhythm"] = lambda: linked((SIZE,), link_months=True)
    found["names"] = lambda: by_name(people, release, months)
    return found


def _guess(shape: tuple[int, int], ranked: Iterable[tuple[Month, Ints]]) -> Guess:
    guess = np.full(shape, NOBODY, dtype=np.int64)
    for month, places in ranked:
        best = places[:, 0]
        guess[month.original.owners, month.number] = np.where(
            best < 0, NOBODY, month.released.owners[best]
        )
    return guess


def by_name(people: Rows, release: Rows, months: Sequence[Month]) -> Guess:
    """The pseudonym that is the person's own name; else that which stands at the same place of the sorted list."""
    code = {name: place for place, name in enumerate(release.names)}
    same = np.array([code.get(name, NOBODY) for name in people.names], dtype=np.int64)

    def one(month: Month) -> Ints:
        ours, theirs = month.original.owners, month.released.owners
        ranked = theirs[
            np.minimum(np.arange(len(ours)) * len(theirs) // len(ours), len(theirs) - 1)
        ]
        return np.where(same[ours] >= 0, same[ours], ranked)

    return _by_period(people, months, one)


def by_size(people: Rows, months: Sequence[Month]) -> Guess:
    """The pseudonym at the same place of the list by how many rows each has: nothing in the rows is looked at."""

    def one(month: Month) -> Ints:
        places = [
            np.argsort(side.sizes, kind="stable") for side in (month.original, month.released)
        ]
        rank = np.arange(len(places[0])) * len(places[1]) // len(places[0])
        found = np.empty(len(places[0]), dtype=np.int64)
        found[places[0]] = month.released.owners[places[1][rank]]
        return found

    return _by_period(people, months, one)


def _by_period(people: Rows, months: Sequence[Month], one: Callable[[Month], Ints]) -> Guess:
    guess = np.full(
        (len(people.names), 1 + max(month.number for month in months)), NOBODY, dtype=np.int64
    )
    for month in months:
        guess[month.original.owners, month.number] = one(month)
    return guess


def _control(
    tables: Transactions,
    schema: TableSchema,
    fields: Fields,
    best: str,
    reported: Ints,
    guess: Guess,
    truth: _Truth,
    rng: np.random.Generator,
) -> Rate:
    """The same attack on people who have no pseudonym: of the holdout, or else the reported with one of another person.

    Theirs is one of the period's, drawn by lot, so nothing but chance can be hit.
    """
    if tables.holdout is None:
        return _hit_by_lot(guess, reported, truth.pseudonyms, rng, own=truth)
    months = paired_periods(schema, fields, tables.holdout, tables.release, tables.periods)
    if not months:
        return statistics.rate(0, 0)
    others = attacks_on(fields, tables.holdout, tables.release, months)[best]()
    cells = np.concatenate(
        [
            np.column_stack(
                [month.original.owners, np.full_like(month.original.owners, month.number)]
            )
            for month in months
        ]
    )
    drawn = cells[_one_each(cells[:, 0], rng)]
    return _hit_by_lot(
        others, drawn, {month.number: month.released.owners for month in months}, rng
    )


def _hit_by_lot(
    guess: Guess,
    cells: Ints,
    pseudonyms: dict[int, Ints],
    rng: np.random.Generator,
    own: _Truth | None = None,
) -> Rate:
    hits = tried = 0
    for person, period in cells.tolist():
        there = pseudonyms[period]
        if own is not None:
            there = np.setdiff1d(there, own.pseudonyms_of(person, period))
        if len(there):
            tried += 1
            hits += int(there[rng.integers(len(there))] == guess[person, period])
    return statistics.rate(hits, tried)


@dataclass(frozen=True, eq=False)
class _Truth:
    """Who is shown under which pseudonym in which period.

    Attributes
    ----------
    triples : array of int64, shape (k, 3)
        Person, period, pseudonym, sorted; of the people and periods that are asked about.
    pseudonyms : mapping of period to array
        All that the release shows in it.
    """

    triples: Ints
    pseudonyms: dict[int, Ints]

    @classmethod
    def of(cls, tables: Transactions, months: Sequence[Month]) -> _Truth:
        assert tables.truth is not None
        asked = [tables.truth[:0]]
        for month in months:
            own = tables.truth[tables.truth[:, 1] == month.number]
            there = np.isin(own[:, 0], month.original.owners) & np.isin(
                own[:, 2], month.released.owners
            )
            asked.append(own[there])
        return cls(
            np.unique(np.concatenate(asked), axis=0),
            {month.number: month.released.owners for month in months},
        )

    @cached_property
    def cells(self) -> Ints:
        """People and periods that are asked about, shape (k, 2)."""
        return np.unique(self.triples[:, :2], axis=0)

    @cached_property
    def _keys(self) -> Ints:
        return self._key(self.triples)

    def _key(self, triples: Ints) -> Ints:
        """One number per row, in the order of the rows."""
        periods, pseudonyms = (self.triples[:, 1:].max(axis=0, initial=0) + 1).tolist()
        return np.asarray((triples[:, 0] * periods + triples[:, 1]) * pseudonyms + triples[:, 2])

    def drawn(self, rng: np.random.Generator) -> Ints:
        """One period of each person, people in random order, shape (people, 2)."""
        cells = self.cells
        return rng.permutation(cells[_one_each(cells[:, 0], rng)])

    def hit(self, guess: Guess, cells: Ints) -> NDArray[np.bool_]:
        """Whether a pseudonym of the person's was guessed, shape (cells,)."""
        told = np.column_stack([cells, guess[cells[:, 0], cells[:, 1]]])
        known = (told[:, 2] >= 0) & (told[:, 2] <= self.triples[:, 2].max(initial=0))
        return np.asarray(np.isin(self._key(told), self._keys) & known)

    def chances(self, cells: Ints) -> NDArray[np.float64]:
        """What a pseudonym of the period, drawn by lot, would hit."""
        return np.array(
            [
                len(self.pseudonyms_of(*cell)) / len(self.pseudonyms[cell[1]])
                for cell in cells.tolist()
            ]
        )

    def pseudonyms_of(self, person: int, period: int) -> Ints:
        first = self._key(np.array([[person, period, 0], [person, period + 1, 0]]))
        low, high = np.searchsorted(self._keys, first)
        return self.triples[low:high, 2]


def _one_each(people: Ints, rng: np.random.Generator) -> Ints:
    """The place of one entry of each person, drawn by lot."""
    order = rng.permutation(len(people))
    _, first = np.unique(people[order], return_index=True)
    return order[first]
