"""What a neighbour learns of a secret column who knows the others, by two attacks.

`row_model`: the released rows that fit the person vote for its value. `boosting`: trees that learned from the released rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.boosting import MOST_VALUES, boosted_guesses, inputs
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.engine import votes_for
from kakurenbo.audit.mechanism import coarsening
from kakurenbo.audit.people import Asked, RowModel
from kakurenbo.audit.result import Rate, Risk, ThreatRow
from kakurenbo.audit.tracing import released_form

ASKED = 1500  # people of each kind
_LEAST = 1e-300
_FEWEST_CONTROLS = 40  # beside whom the worst secret is chosen
_FEWEST_OTHERS = 2  # values that a secret must have


def attack_inference(
    coded: Coded, holdout: Codes, rng: np.random.Generator, know: Sequence[int], secrets: Sequence[int]
) -> tuple[Risk, float]:
    """Guess each secret of members, and of people of the holdout as a control; the worst secret is chosen by other members.

    Without a holdout the gain is that over what the rest of the original tells.

    Parameters
    ----------
    know : sequence of int
        Columns that the attacker may know; all but the secret are used.
    secrets : sequence of int
        Columns that are guessed, one at a time.

    Returns
    -------
    Risk, and the p-value that members are told no better than others.
    """
    asked = Asked.of(coded, holdout, ASKED, rng)
    groups = [asked.choosing, asked.reported, asked.controls, asked.choosing_controls]
    pool = np.concatenate([coded.original, holdout])
    attacks: dict[str, _Guessing] = {
        "row_model": _RowModels(asked, coded, pool, groups),
        "boosting": _Boosting(asked, coded, groups),
    }
    tried = []
    for secret in secrets:
        known = [place for place in know if place != secret]
        form = coarsening(coded.columns[secret], coded.release[:, secret]).argmax(axis=1).astype(np.int32)
        truths = [form[group[:, secret]] for group in groups]
        others = form[asked.others[:, secret]]
        row = ThreatRow(
            "neighbour",
            tuple(coded.names[place] for place in known),
            (coded.names[secret],),
            "",
            statistics.rate(0, 0),
            chance=_majority(others, truths[1]),
        )
        for name, attack in attacks.items():
            guesses = attack.guesses(known, secret, form)
            if guesses is not None:
                # The same attack with other people in the place of the release, their secret as coarse as it is released.
                hits, without = _hits(guesses, truths), _hits([attack.without(known, secret, others)], [truths[1]])[0]
                tried.append(_Tried.of(replace(row, attack=name), hits, without))
    best = max(range(len(tried)), key=lambda place: tried[place].gain)
    risk = Risk.reporting("inference", [one.row for one in tried], best)
    return risk, statistics.fisher(tried[best].row.rate, tried[best].compared)


@dataclass(frozen=True)
class _Tried:
    """An attack on a secret: its row, what its rate is compared with, and what it gains with people who are not reported."""

    row: ThreatRow
    compared: Rate
    gain: float

    @classmethod
    def of(cls, row: ThreatRow, hits: Sequence[Rate], without: Rate) -> _Tried:
        """By the hits among those who choose, those who are reported, and the controls of either."""
        choosing, reported, controls, choosing_controls = hits
        control = controls if controls.of else None
        compared = control or without
        # Where there are too few others of the holdout, by the same: those who choose may not tell it without the release.
        gain = choosing.value - (choosing_controls if choosing_controls.of >= _FEWEST_CONTROLS else compared).value
        above = statistics.excess(reported, compared)
        told = replace(row, rate=reported, control=control, excess=above, baseline=without.value)
        return cls(told, compared, gain)


def _hits(guesses: Sequence[NDArray[np.integer]], truths: Sequence[Codes]) -> list[Rate]:
    return [statistics.rate(int((guess == truth).sum()), len(truth)) for guess, truth in zip(guesses, truths, strict=True)]


def askable(coded: Coded) -> list[int]:
    """Columns that have something to guess, and a released value for it."""
    return [
        place
        for place, column in enumerate(coded.columns)
        if len(np.unique(coded.original[:, place])) >= _FEWEST_OTHERS and column.released >= _FEWEST_OTHERS
    ]


class _Guessing(Protocol):
    """An attack on secrets: released codes of theirs, group by group."""

    def guesses(self, known: Sequence[int], secret: int, form: Codes) -> Sequence[NDArray[np.integer]] | None:
        """By the release; None where the secret is none for this attack."""

    def without(self, known: Sequence[int], secret: int, others: Codes) -> NDArray[np.integer]:
        """Of those who are reported, the second group, where others' secrets are all that is known."""


class _RowModels:
    """Votes of the released rows, and of other people in their place."""

    def __init__(self, asked: Asked, coded: Coded, pool: Codes, groups: Sequence[Codes]) -> None:
        self._model = RowModel.of(asked.attacked, pool)
        self._by_others = RowModel.of_others(coded, asked.others)
        self._groups = groups

    def guesses(self, known: Sequence[int], secret: int, form: Codes) -> list[Codes]:
        shown = np.ascontiguousarray(self._model.release[:, secret])
        found = _voted(self._model, np.concatenate(self._groups), known, shown, int(form.max()) + 1)
        return np.split(found, np.cumsum([len(group) for group in self._groups])[:-1])

    def without(self, known: Sequence[int], secret: int, others: Codes) -> Codes:
        return _voted(self._by_others, self._groups[1], known, others, 1)


def _voted(model: RowModel, people: Codes, known: Sequence[int], shown: Codes, least: int) -> Codes:
    """The value with most votes, of at least so many values, shape (n,)."""
    own, values = list(known), max(int(shown.max()) + 1, least)
    matrices = [model.matrices[place] for place in own]
    votes = votes_for(people[:, own], model.release[:, own], matrices, model.evidence(own), shown, values)
    # Where no row fits better than another, the commonest value.
    common = np.bincount(shown, minlength=values) / len(shown)
    shares = votes / np.maximum(votes.sum(axis=0), _LEAST) + 1e-9 * common[:, None]
    return np.asarray(np.round(shares, 12).argmax(axis=0), dtype=np.int32)


class _Boosting:
    """Trees that learned from the released rows, and from other people in their place; of secrets of few values."""

    def __init__(self, asked: Asked, coded: Coded, groups: Sequence[Codes]) -> None:
        self._shown = asked.attacked.release
        self._rows = inputs(coded, self._shown.astype(np.int64))
        self._others = inputs(coded, released_form(coded, asked.others))
        self._groups = [inputs(coded, released_form(coded, group)) for group in groups]

    def guesses(self, known: Sequence[int], secret: int, form: Codes) -> list[NDArray[np.int64]] | None:
        labels = self._shown[:, secret]
        if len(np.unique(labels)) > MOST_VALUES:
            return None
        own = list(known)
        return boosted_guesses(self._rows[:, own], labels, [group[:, own] for group in self._groups])

    def without(self, known: Sequence[int], secret: int, others: Codes) -> NDArray[np.int64]:
        own = list(known)
        return boosted_guesses(self._others[:, own], others, [self._groups[1][:, own]])[0]


def _majority(before: Codes, asked: Codes) -> float:
    """How often the commonest value is right."""
    return float((asked == np.bincount(before).argmax()).mean())
