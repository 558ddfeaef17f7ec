"""What a neighbour learns of a secret column who knows the others, by two attacks.

`row_model`: the released rows that fit the person vote for its value. `boosting`: trees that learned from the released rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.boosting import MOST_VALUES, boosted_guesses, inputs, learned_from
from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.engine import Sought, votes_on
from kakurenbo.audit.mechanism import shown_as
from kakurenbo.audit.people import Asked, RowModel, row_models
from kakurenbo.audit.result import Rate, Risk, ThreatRow
from kakurenbo.audit.tracing import released_form

ASKED = 1500  # people of each kind
_LEAST = 1e-300
_FEWEST_CONTROLS = 40  # beside whom the worst secret is chosen
_FEWEST_OTHERS = 2  # values that a secret must have


def attack_inference(
    coded: Coded,
    holdout: Codes,
    rng: np.random.Generator,
    know: Sequence[int],
    secrets: Sequence[int],
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
    asked = Asked.of(coded, holdout, ASKED, rng, apart=True)
    groups = [asked.choosing, asked.reported, asked.controls, asked.choosing_controls]
    forms = {place: shown_as(coded.columns[place], coded.release[:, place]) for place in secrets}
    attacks: dict[str, _Guessing] = {
        "row_model": _RowModels(asked, row_models(asked, coded, holdout), groups, know, forms),
        "boosting": _Boosting(asked, coded, groups, know, forms),
    }
    tried = []
    for secret in secrets:
        known = [place for place in know if place != secret]
        truths = [forms[secret][group[:, secret]] for group in groups]
        others = forms[secret][asked.others[:, secret]]
        row = ThreatRow(
            "neighbour",
            tuple(coded.names[place] for place in known),
            (coded.names[secret],),
            "",
            statistics.rate(0, 0),
            chance=_majority(others, truths[1]),
        )
        found = {
            name: guesses
            for name, attack in attacks.items()
            if (guesses := attack.guesses(secret)) is not None
        }
        # The same attacks with other people in the place of the release, their secret as coarse as it is released, and the
        # commonest value: who does without the release takes what is best without it.
        instead = [_hits(attacks[name].without(secret), truths[:2]) for name in found]
        common = np.bincount(others).argmax()
        instead.append(_hits([np.full(len(truth), common) for truth in truths[:2]], truths[:2]))
        without = [max(rates, key=lambda rate: rate.value) for rates in zip(*instead, strict=True)]
        for name, guesses in found.items():
            tried.append(_Tried.of(replace(row, attack=name), _hits(guesses, truths), without))
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
    def of(cls, row: ThreatRow, hits: Sequence[Rate], without: Sequence[Rate]) -> _Tried:
        """By the hits among those who choose, those who are reported, and the controls of either.

        ``without`` are those among the first two of who never looks at the release.
        """
        choosing, reported, controls, choosing_controls = hits
        control = controls if controls.of else None
        compared = control or without[1]
        # By others than those who are reported: the worst of many secrets would look worse than it is.
        gain = (
            choosing.value
            - (choosing_controls if choosing_controls.of >= _FEWEST_CONTROLS else without[0]).value
        )
        above = statistics.excess(reported, compared)
        told = replace(row, rate=reported, control=control, excess=above, baseline=without[1].value)
        return cls(told, compared, gain)


def _hits(
    guesses: Sequence[NDArray[np.integer]], truths: Sequence[NDArray[np.integer]]
) -> list[Rate]:
    return [
        statistics.rate(int((guess == truth).sum()), len(truth))
        for guess, truth in zip(guesses, truths, strict=True)
    ]


def askable(coded: Coded) -> list[int]:
    """Columns that have something to guess, and a released value for it."""
    return [
        place
        for place, column in enumerate(coded.columns)
        if len(np.unique(coded.original[:, place])) >= _FEWEST_OTHERS
        and column.released >= _FEWEST_OTHERS
    ]


class _Guessing(Protocol):
    """An attack on secrets: released codes of theirs, group by group."""

    def guesses(self, secret: int) -> Sequence[NDArray[np.integer]] | None:
        """By the release; None where the secret is none for this attack."""

    def without(self, secret: int) -> Sequence[NDArray[np.integer]]:
        """Of those who choose and who are reported, the first two groups, where others' secrets are all that is known."""


Forms = Mapping[int, NDArray[np.int64]]
"""By secret, the released code that each original code would most likely have, shape (size,)."""


class _RowModels:
    """Votes of the released rows, and of other people in their place; on all secrets at once."""

    def __init__(
        self,
        asked: Asked,
        models: tuple[RowModel, RowModel],
        groups: Sequence[Codes],
        know: Sequence[int],
        forms: Forms,
    ) -> None:
        model, instead = models
        shown = {secret: model.release[:, secret] for secret in forms}
        values = {
            secret: max(int(shown[secret].max()), int(form.max())) + 1
            for secret, form in forms.items()
        }
        told = _voted(model, np.concatenate(groups), know, shown, values, forms)
        ends = np.cumsum([len(group) for group in groups])[:-1]
        self._guesses = {secret: np.split(found, ends) for secret, found in told.items()}
        others = {secret: form[asked.others[:, secret]] for secret, form in forms.items()}
        values = {secret: int(theirs.max()) + 1 for secret, theirs in others.items()}
        first = np.concatenate(groups[:2])
        found = _voted(instead, first, know, others, values, forms)
        self._without = {secret: np.split(one, [len(groups[0])]) for secret, one in found.items()}

    def guesses(self, secret: int) -> list[Codes]:
        return self._guesses[secret]

    def without(self, secret: int) -> list[Codes]:
        return self._without[secret]


def _voted(
    model: RowModel,
    people: Codes,
    know: Sequence[int],
    shown: Mapping[int, NDArray[np.integer]],
    values: Mapping[int, int],
    forms: Forms,
) -> dict[int, Codes]:
    """By secret, the value with most votes of those who show it, shape (n,)."""
    own = list(know)
    sought = []
    for secret in shown:
        weights = model.evidence([place for place in own if place != secret])
        sought.append(
            Sought(
                own.index(secret) if secret in own else -1, weights, shown[secret], values[secret]
            )
        )
    counted = votes_on(
        people[:, own], model.release[:, own], model.ratios.select(own).matrices, sought
    )
    return {
        secret: _elected(votes, shown[secret], forms[secret])
        for secret, votes in zip(shown, counted, strict=True)
    }


def _elected(votes: Floats, shown: NDArray[np.integer], form: NDArray[np.int64]) -> Codes:
    """The value with most votes, shape (n,); where no row fits better than another, the commonest.

    Of values that tell something: a star is no guess.
    """
    telling = np.isin(np.arange(votes.shape[1]), form)
    votes, common = (
        votes * telling,
        np.bincount(shown, minlength=votes.shape[1]) * telling / len(shown),
    )
    shares = votes / np.maximum(votes.sum(axis=1, keepdims=True), _LEAST) + 1e-9 * common
    return np.asarray(np.round(shares, 12).argmax(axis=1), dtype=np.int32)


class _Boosting:
    """Trees that learned from the released rows, and from other people in their place; of secrets of few values."""

    def __init__(
        self, asked: Asked, coded: Coded, groups: Sequence[Codes], know: Sequence[int], forms: Forms
    ) -> None:
        self._know, self._forms = know, forms
        self._shown = learned_from(asked.attacked.release)
        self._others = learned_from(asked.others)
        self._rows, self._instead = (
            inputs(coded, rows) for rows in (self._shown, released_form(coded, self._others))
        )
        self._groups = [inputs(coded, released_form(coded, group)) for group in groups]

    def guesses(self, secret: int) -> list[NDArray[np.int64]] | None:
        telling = np.isin(
            self._shown[:, secret], self._forms[secret]
        )  # of a star nothing is learned
        labels = self._shown[telling, secret]
        if not len(labels) or len(np.unique(labels)) > MOST_VALUES:
            return None
        own = self._known(secret)
        return boosted_guesses(
            self._rows[telling][:, own], labels, [group[:, own] for group in self._groups]
        )

    def without(self, secret: int) -> list[NDArray[np.int64]]:
        own, theirs = self._known(secret), self._forms[secret][self._others[:, secret]]
        return boosted_guesses(
            self._instead[:, own], theirs, [group[:, own] for group in self._groups[:2]]
        )

    def _known(self, secret: int) -> list[int]:
        return [place for place in self._know if place != secret]


def _majority(before: NDArray[np.int64], asked: NDArray[np.int64]) -> float:
    """How often the commonest value is right."""
    return float((asked == np.bincount(before).argmax()).mean())
