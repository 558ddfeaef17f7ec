"""What a neighbour learns of a secret column who knows the others: the released rows that fit the person vote for its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.engine import votes_for
from kakurenbo.audit.mechanism import coarsening
from kakurenbo.audit.people import RowModel, as_if_released
from kakurenbo.audit.result import Risk, ThreatRow

ASKED = 1500  # people of each kind
_LEAST = 1e-300
_FEWEST_OTHERS = 2  # values that a secret must have


def attack_inference(
    coded: Coded, holdout: Codes, rng: np.random.Generator, know: Sequence[int], secrets: Sequence[int]
) -> tuple[Risk, float]:
    """Guess each secret of members, and of people of the holdout as a control; the worst secret is chosen by other members.

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
    model = RowModel.of(coded, np.concatenate([coded.original, holdout]))
    count = min(ASKED, len(coded.original) // 2, len(holdout) or ASKED)
    drawn = rng.permutation(len(coded.original))[: 2 * count]
    choosing, reported = coded.original[drawn[:count]], coded.original[drawn[count:]]
    controls = holdout[rng.permutation(len(holdout))[:count]]
    before = holdout if len(holdout) else coded.original
    other = as_if_released(coded, holdout)
    by_others = RowModel.of(other, holdout) if len(holdout) else None
    rows, gains = [], []
    for secret in secrets:
        known = [place for place in know if place != secret]
        hits = _hits(coded, model, [choosing, reported, controls], known, secret)
        rate = statistics.rate(int(hits[1].sum()), count)
        control = statistics.rate(int(hits[2].sum()), count) if len(controls) else None
        above = None if control is None else statistics.excess(rate, control)
        majority = _majority(before[:, secret], reported[:, secret])
        baseline = majority
        if by_others is not None:  # the same attack with the holdout in the place of the release
            baseline = float(_hits(other, by_others, [reported], known, secret)[0].mean())
        names = tuple(coded.names[place] for place in known)
        row = ThreatRow("neighbour", names, (coded.names[secret],), "row_model", rate, control, above, baseline, majority)
        rows.append(row)
        gains.append(hits[0].mean() - (control.value if control is not None else max(baseline, majority)))
    best = int(np.argmax(gains))
    rows[best] = replace(rows[best], reported=True)
    worst = rows[best]
    risk = Risk(
        "inference",
        True,
        "",
        worst.attack,
        worst.rate,
        worst.control,
        worst.excess,
        worst.baseline,
        worst.chance,
        rows=tuple(rows),
    )
    compared = worst.control or statistics.rate(round((worst.baseline or 0.0) * count), count)
    return risk, statistics.fisher(worst.rate, compared)


def askable(coded: Coded) -> list[int]:
    """Columns that have something to guess, and a released value for it."""
    return [
        place
        for place, column in enumerate(coded.columns)
        if len(np.unique(coded.original[:, place])) >= _FEWEST_OTHERS and column.released >= _FEWEST_OTHERS
    ]


def _hits(coded: Coded, model: RowModel, groups: Sequence[Codes], known: Sequence[int], secret: int) -> list[NDArray[np.bool_]]:
    """Which people of each group are guessed right: the released form of the secret, where the release has coarsened it."""
    people, column = np.concatenate(list(groups)), coded.columns[secret]
    own = list(known)
    matrices = [model.matrices[place] for place in own]
    shown = np.ascontiguousarray(model.release[:, secret])
    votes = votes_for(people[:, own], model.release[:, own], matrices, shown, column.released)
    # Where no row fits better than another, the commonest value.
    common = np.bincount(coded.release[:, secret], minlength=column.released) / len(coded.release)
    shares = votes / np.maximum(votes.sum(axis=0), _LEAST) + 1e-9 * common[:, None]
    guess = np.round(shares, 12).argmax(axis=0)
    form = coarsening(column, coded.release[:, secret]).argmax(axis=1)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    return list(np.split(guess == form[people[:, secret]], ends))


def _majority(before: Codes, asked: Codes) -> float:
    """How often the commonest value is right."""
    return float((asked == np.bincount(before).argmax()).mean())
