"""What a neighbour learns of a secret column who knows the others: the released rows that fit the person vote for its value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.engine import votes_for
from kakurenbo.audit.mechanism import coarsening
from kakurenbo.audit.people import Asked, RowModel
from kakurenbo.audit.result import Risk, ThreatRow

ASKED = 1500  # people of each kind
_LEAST = 1e-300
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
    choosing, reported, controls, count = asked.choosing, asked.reported, asked.controls, len(asked.reported)
    model = RowModel.of(asked.attacked, np.concatenate([coded.original, holdout]))
    by_others = RowModel.of_others(coded, asked.others)
    rows, gains, compared = [], [], []
    for secret in secrets:
        known = [place for place in know if place != secret]
        form = coarsening(coded.columns[secret], coded.release[:, secret]).argmax(axis=1).astype(np.int32)
        hits = _hits(model, [choosing, reported, controls], known, secret, form)
        rate = statistics.rate(int(hits[1].sum()), count)
        control = statistics.rate(int(hits[2].sum()), count) if len(controls) else None
        majority = _majority(form[asked.others[:, secret]], form[reported[:, secret]])
        # The same attack with other people in the place of the release, their secret as coarse as it is released.
        instead = by_others.showing(secret, form[asked.others[:, secret]])
        without = statistics.rate(int(_hits(instead, [reported], known, secret, form)[0].sum()), count)
        above, baseline = statistics.excess(rate, control or without), without.value
        compared.append(control or without)
        names = tuple(coded.names[place] for place in known)
        row = ThreatRow("neighbour", names, (coded.names[secret],), "row_model", rate, control, above, baseline, majority)
        rows.append(row)
        gains.append(hits[0].mean() - compared[-1].value)
    best = int(np.argmax(gains))
    risk, worst = Risk.reporting("inference", rows, best), rows[best]
    return risk, statistics.fisher(worst.rate, compared[best])


def askable(coded: Coded) -> list[int]:
    """Columns that have something to guess, and a released value for it."""
    return [
        place
        for place, column in enumerate(coded.columns)
        if len(np.unique(coded.original[:, place])) >= _FEWEST_OTHERS and column.released >= _FEWEST_OTHERS
    ]


def _hits(model: RowModel, groups: Sequence[Codes], known: Sequence[int], secret: int, form: Codes) -> list[NDArray[np.bool_]]:
    """Which people of each group are guessed right: the released form of the secret, where the release has coarsened it."""
    people, own = np.concatenate(list(groups)), list(known)
    matrices = [model.matrices[place] for place in own]
    shown = np.ascontiguousarray(model.release[:, secret])
    released = int(max(shown.max(), form.max())) + 1
    votes = votes_for(people[:, own], model.release[:, own], matrices, shown, released)
    # Where no row fits better than another, the commonest value.
    common = np.bincount(shown, minlength=released) / len(shown)
    shares = votes / np.maximum(votes.sum(axis=0), _LEAST) + 1e-9 * common[:, None]
    guess = np.round(shares, 12).argmax(axis=0)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    return list(np.split(guess == form[people[:, secret]], ends))


def _majority(before: Codes, asked: Codes) -> float:
    """How often the commonest value is right."""
    return float((asked == np.bincount(before).argmax()).mean())
