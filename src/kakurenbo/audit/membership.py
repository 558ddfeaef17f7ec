"""Was this person in the original? Seven attacks on members and controls, the best chosen on half of them.

Every score is the same function of a member and of a control: under a release that knows neither, labels are exchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.copying import copy_odds, share_of
from kakurenbo.audit.density import log_densities, mutual_information
from kakurenbo.audit.encoding import Coded, CodedColumn, Codes, Floats
from kakurenbo.audit.engine import expected_makers, membership_odds, nearest_rows
from kakurenbo.audit.mechanism import Ratios, transitions
from kakurenbo.audit.result import Risk, ThreatRow
from kakurenbo.audit.rows import row_keys
from kakurenbo.audit.tracing import released_form, trace

FALSE_POSITIVES = 0.01  # at which the rate is measured
FIGURES = (0.001, 0.01)  # shares of false positives, the strictest first
EXPOSED_LEVEL = 0.05
_LEVELS = {
    "combined": 0.02,
    "copies": 0.02,
    "nearest": 0.01,
}  # of the false discoveries of each attack; together the level
REVERSED = "non_members"
"""The attack that tells who was *not* there: the count ratio, read the other way."""
RIVAL = "rehearsed"
"""The attack of somebody who knows the method."""
_DECIMALS = 9  # of scores: rounding in the last bits must not decide between equals
_COARSE = "counts"
_TOP = 100
_MEMBERS = 0.5  # share of members among those who are asked about
_WEIGHT = 2.0  # of what histograms and pairs tell beside the rows
_SAMPLED = 500  # released rows by which it is told how many were made of strangers
_KNOWN = 10_000  # people of each table from whom it is estimated how cells were changed and which values go together
_SHOWN = (
    250_000  # people who are put into the form of the release at a time, for the sake of memory
)
_PAIRS = 10_000_000_000  # of a released row and a person who is not asked about; beyond them only rows that tell are explained
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Membership:
    """What was found.

    Attributes
    ----------
    risk : Risk
        Limit and corrected p-value not yet filled in.
    scores : mapping of attack to array, shape (members + controls,)
        Members first.
    p_value : float
    """

    risk: Risk
    scores: Mapping[str, Floats]
    p_value: float

    def exposed(self, members: int) -> list[tuple[int, float, float]]:
        """Members whom hardly any control resembles: number, score and p-value of each, at ``EXPOSED_LEVEL`` false ones."""
        found: dict[int, tuple[int, float, float]] = {}
        for attack, level in _LEVELS.items():
            scores = self.scores[attack]
            p_values = statistics.conformal(scores[:members], scores[members:])
            for place in statistics.discoveries(p_values, level).tolist():
                found.setdefault(place, (place, float(scores[place]), float(p_values[place])))
        return list(found.values())

    def fewest_exposed(self, members: int) -> int:
        """How many members must stand out from all controls for any of them to be exposed."""
        controls = len(self.scores[_COARSE]) - members
        return math.ceil(members / max(_LEVELS.values()) / (1 + controls))

    def hiding(self, why: str) -> Membership:
        """The same, with the code of what the figure hides."""
        return replace(self, risk=replace(self.risk, why=why))


@dataclass(frozen=True, eq=False)
class Others:
    """People of both tables whom the attacker knows and is not asked about: without them their rows would be our targets'.

    Attributes
    ----------
    members, controls : arrays of int32, shape (n, columns), (h, columns)
        All who were not drawn, of the original and of the holdout, in the order of the lot. Both wholly: a part of one of them
        would tell who is a member.
    """

    members: Codes
    controls: Codes

    @classmethod
    def nobody(cls, columns: int) -> Others:
        """Where everybody is asked about."""
        none = np.zeros((0, columns), dtype=np.int32)
        return cls(none, none)

    def select(self, places: Sequence[int]) -> Others:
        """The same people in some columns."""
        return Others(self.members[:, places], self.controls[:, places])

    def filling(self, members: int, controls: int, size: int) -> Codes:
        """So many of each that they are ``size`` with those who are asked about, shape (k, columns)."""
        return np.concatenate(
            [self.members[: max(0, size - members)], self.controls[: max(0, size - controls)]]
        )

    @property
    def everybody(self) -> Codes:
        """Members first, shape (n + h, columns)."""
        return np.concatenate([self.members, self.controls])


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """A release that a rival made.

    Attributes
    ----------
    coded : Coded
        With that release: codes of people depend on what is released, too.
    pool : array of int32, shape (n + h, columns)
        Those who are asked about, members and then controls, in these codes.
    others : Others
        Everybody else.
    was_in : array of bool, shape (n + h,)
        Who of the pool it was made of.
    """

    coded: Coded
    pool: Codes
    others: Others
    was_in: Flags

    def select(self, places: Sequence[int]) -> Rehearsed:
        """The same in some columns."""
        return Rehearsed(
            self.coded.select(places), self.pool[:, places], self.others.select(places), self.was_in
        )


def attack_membership(
    coded: Coded,
    members: Codes,
    controls: Codes,
    rng: np.random.Generator,
    others: Others | None = None,
    rehearsed: Sequence[Rehearsed] = (),
) -> Membership:
    """All attacks on these people.

    Parameters
    ----------
    coded : Coded
        Its release is attacked.
    members, controls : arrays of int32, shape (n, columns), (h, columns)
        People of the original, and of the holdout.
    rng : Generator
        Splits people into the half that chooses the attack and the half that is reported.
    others : Others, optional
        Everybody else of both tables; by default nobody.
    rehearsed : sequence of Rehearsed
        Releases that a rival made of these people by the same method; by default there is no rival.
    """
    others = others or Others.nobody(members.shape[1])
    pool = np.concatenate([members, controls])
    is_member = np.arange(len(pool)) < len(members)
    chooses = _halves(is_member, rng)
    inner = rng.random(len(pool)) < 0.5
    sizes = len(members), len(controls)
    scores, features = _scores(coded, pool, others, sizes)
    # Everybody is scored by a model that never saw his label.
    scores["learner"] = np.where(
        chooses, *(_learned(features, is_member, half) for half in (~chooses, chooses))
    )
    # What the learner is chosen by in a half must not know the labels of the other, in which it is told how good it is.
    inside = np.zeros(len(pool))
    for half in (chooses, ~chooses):
        one, other = half & inner, half & ~inner
        inside[one] = _learned(features, is_member, other)[one]
        inside[other] = _learned(features, is_member, one)[other]
    if rehearsed:
        tried = [_scores(one.coded, one.pool, one.others, sizes)[1] for one in rehearsed]
        scores[RIVAL] = _rehearsed(features, tried, [one.was_in for one in rehearsed])
    choosing = {**scores, "learner": inside, REVERSED: scores["counts"]}
    named = {**scores, REVERSED: scores["counts"]}
    best = _best(choosing, is_member, chooses, FALSE_POSITIVES)
    rows = tuple(
        _row(coded, name, score, is_member, chooses, reported=name == best)
        for name, score in named.items()
    )
    reported = rows[list(named).index(best)]
    control = reported.control or statistics.rate(0, 0)
    risk = Risk(
        "membership",
        True,
        attack=best,
        rate=reported.rate,
        control=control,
        excess=reported.excess,
        baseline=FALSE_POSITIVES,
        chance=FALSE_POSITIVES,
        rows=rows,
        figures=_figures(choosing, named, is_member, chooses),
    )
    return Membership(risk, scores, statistics.fisher(reported.rate, control))


def _best(choosing: Mapping[str, Floats], is_member: Flags, chooses: Flags, share: float) -> str:
    """The attack that finds most at this rate of false positives, and at half of it, among the half that chooses.

    At both, because scores that many people share may by luck end right at the threshold of one; ``counts``, which has but few
    scores, is never chosen: what it tells of members the likelihood tells more finely.
    """
    found = {}
    for name, score in choosing.items():
        if name == _COARSE:
            continue
        sides = _sides(score, is_member, chooses, name)
        found[name] = sum(statistics.found_beyond(*sides, rate) for rate in (share, share / 2))
    return max(found, key=lambda name: found[name])


def _halves(is_member: Flags, rng: np.random.Generator) -> Flags:
    """Half of the members and half of the controls, shape (n,)."""
    chosen = np.zeros(len(is_member), dtype=bool)
    for group in (np.flatnonzero(is_member), np.flatnonzero(~is_member)):
        chosen[rng.permutation(group)[: len(group) // 2]] = True
    return chosen


def _scores(
    coded: Coded, pool: Codes, others: Others, sizes: tuple[int, int]
) -> tuple[dict[str, Floats], Floats]:
    """Of everybody in the pool, so many members and controls; and what learners learn from, shape (n, features)."""
    known, rest = np.concatenate([pool, others.filling(*sizes, _KNOWN)]), others.everybody
    odds = likelihood_scores(coded, pool, rest, known)
    near = nearest_scores(coded, pool)
    counted = count_scores(coded, pool, rest)
    copied = copy_odds(coded, pool, known)
    traced = trace(coded, known).first(len(pool))
    rows, copies = np.log1p((odds + copied) / _MEMBERS), np.log1p(copied / _MEMBERS)
    scores = {
        "likelihood": odds,
        "combined": rows + _WEIGHT * traced.logit,
        "nearest": near,
        "counts": counted,
        "copies": copies,
        "tracing": traced.total,
    }
    features = np.column_stack(
        [rows, near, counted, copies, traced.total, traced.logit, traced.by_column, traced.ratios]
    )
    return {name: np.round(score, _DECIMALS) for name, score in scores.items()}, features


@dataclass(frozen=True, eq=False)
class Noise:
    """How cells were changed.

    Attributes
    ----------
    transitions : list of arrays, shape (size, released)
        P(released code | original code) of each column.
    information : array, shape (columns, columns)
        What released columns tell of each other, in nats.
    """

    transitions: list[Floats]
    information: Floats

    @classmethod
    def of(cls, coded: Coded, known: Codes) -> Noise:
        """Estimated by people of whom nobody knows whether they are members."""
        return cls(transitions(coded, known), mutual_information(released_form(coded, known)))

    def select(self, places: Sequence[int]) -> Noise:
        """Of some columns."""
        return Noise(
            [self.transitions[place] for place in places], self.information[np.ix_(places, places)]
        )


def likelihood_scores(
    coded: Coded,
    pool: Codes,
    rest: Codes | None = None,
    known: Codes | None = None,
    noise: Noise | None = None,
) -> Floats:
    """The odds that each person of the pool, and nobody else, made a released row, shape (n,).

    Parameters
    ----------
    coded : Coded
    pool : array of int32, shape (n, columns)
        Who is asked about.
    rest : array of int32, shape (k, columns), optional
        Who else may have made the rows; by default strangers alone.
    known : array of int32, shape (j, columns), optional
        People like these by whom changes of cells and the density of rows are estimated; by default the pool.
    noise : Noise, optional
        How cells were changed, where that is known already.
    """
    known = pool if known is None else known
    noise = noise or Noise.of(coded, known)
    ratios, sizes = (
        Ratios.of(noise.transitions, known),
        [column.released for column in coded.columns],
    )
    shown = released_form(coded, known)
    density = ratios.relative(
        log_densities(shown, coded.release, sizes, noise.information), coded.release
    )
    everybody = pool if rest is None else np.concatenate([pool, rest])
    strangers = len(everybody) * _strangers(coded, everybody, ratios.matrices, density) * density
    if rest is None or not len(rest):
        return membership_odds(pool, coded.release, ratios.matrices, strangers)
    rows, makers = _made_by(rest, coded.release, ratios.matrices, pool)
    return membership_odds(pool, coded.release[rows], ratios.matrices, strangers[rows] + makers)


def _made_by(
    rest: Codes, release: Codes, ratios: list[Floats], pool: Codes
) -> tuple[NDArray[np.int64], Floats]:
    """Released rows, and how many of the rest are expected to make each, shapes (k,).

    All of them; where these are too many pairs, those that are likeliest for somebody of the pool, and their equals: they
    are what tells of these people, members or not, and each of them is explained by everybody. As many for each person as the
    number of pairs allows, at least one: the likeliest of each of so many parts of the release.
    """
    (keys,) = row_keys(release)
    different = np.unique(keys, return_index=True)[1]
    if len(different) * len(rest) > _PAIRS:
        costs = [-np.log(matrix) for matrix in ratios]
        count = max(1, _PAIRS // (len(pool) * len(rest)))
        parts = [different[first::count] for first in range(min(count, len(different)))]
        different = np.unique([part[nearest_rows(pool, release[part], costs)[1]] for part in parts])
    makers = np.full(int(keys.max()) + 1, np.nan)
    makers[keys[different]] = expected_makers(rest, release[different], ratios)
    rows = np.flatnonzero(~np.isnan(makers[keys]))
    return rows, makers[keys[rows]]


def _strangers(coded: Coded, pool: Codes, ratios: list[Floats], density: Floats) -> float:
    """The odds that a released row was made of nobody of the pool, by EM on some of the rows."""
    some = np.unique(np.linspace(0, len(coded.release) - 1, _SAMPLED).astype(np.int64))
    share = share_of(density[some], expected_makers(pool, coded.release[some], ratios) / len(pool))
    return share / max(1 - share, 1e-3)


def nearest_scores(coded: Coded, pool: Codes) -> Floats:
    """Minus the distance to the nearest released row: differing words count 1, numbers by their ranks, shape (n,)."""
    return -nearest_to(coded, pool)[0]


def nearest_to(coded: Coded, people: Codes) -> tuple[Floats, NDArray[np.int64]]:
    """How far the nearest released row of each person is, and which it is, shapes (n,)."""
    return nearest_rows(people, coded.release, [_costs(column) for column in coded.columns])


def _costs(column: CodedColumn) -> Floats:
    """How far each original value is from what a released one may stand for, shape (size, released)."""
    if not column.numeric:
        return np.where(column.covers, 0.0, 1.0)
    weights = column.covers[:-1].astype(np.float64)
    middle = (column.positions[:-1] @ weights) / np.maximum(weights.sum(axis=0), 1)
    apart = np.abs(column.positions[:, None] - middle[None, :])
    return np.where(column.covers, 0.0, np.where(np.isnan(apart), 1.0, apart))


def count_scores(coded: Coded, pool: Codes, rest: Codes) -> Floats:
    """log of how often the whole row of each of the pool is released over how often pool and rest would have it, shape (n,)."""
    parts = (
        part for who in (pool, rest) for part in np.split(who, range(_SHOWN, len(who), _SHOWN))
    )
    shown = np.concatenate([released_form(coded, part) for part in parts])
    people, released = row_keys(shown, coded.release)
    seen = np.bincount(released, minlength=int(people.max()) + 1)[people]
    expected = np.bincount(people)[people] * (len(released) / len(people))
    return np.asarray(np.log((seen + 0.5) / (expected + 0.5)))[: len(pool)]


def _learned(features: Floats, is_member: Flags, train: Flags) -> Floats:
    """What a logistic regression that knows the labels of ``train`` says of everybody, shape (n,): an insider's attack."""
    scaled = _scaled(features)
    return _regressed(scaled[train], is_member[train], scaled)


def _rehearsed(features: Floats, tried: Sequence[Floats], was_in: Sequence[Flags]) -> Floats:
    """The same of somebody who knows no label here, but all of rehearsals: what was told of the same people, and who was in."""
    return _regressed(
        np.concatenate([_scaled(one) for one in tried]), np.concatenate(was_in), _scaled(features)
    )


def _scaled(features: Floats) -> Floats:
    """Standardized over everybody, so that releases can be compared."""
    return np.asarray(
        np.clip((features - features.mean(axis=0)) / (features.std(axis=0) + 1e-9), -10, 10)
    )


def _regressed(known: Floats, labels: Flags, asked: Floats) -> Floats:
    from sklearn.linear_model import LogisticRegression

    if labels.all() or not labels.any():
        return np.zeros(len(asked))  # of too few people to learn from
    model = LogisticRegression(C=0.1, max_iter=200).fit(known, labels)
    return np.asarray(np.round(model.decision_function(asked), _DECIMALS))


def _sides(score: Floats, is_member: Flags, among: Flags, name: str) -> tuple[Floats, Floats]:
    """Scores of those who are looked for, and of the others."""
    sought = ~is_member if name == REVERSED else is_member
    return score[among & sought], score[among & ~sought]


def _row(
    coded: Coded, name: str, score: Floats, is_member: Flags, chooses: Flags, *, reported: bool
) -> ThreatRow:
    """Threshold from the half that chooses, rates from the other."""
    line = statistics.threshold(_sides(score, is_member, chooses, name)[1], FALSE_POSITIVES)
    sought, others = _sides(score, is_member, ~chooses, name)
    rate = statistics.rate(int((sought > line).sum()), len(sought))
    control = statistics.rate(int((others > line).sum()), len(others))
    threat = {"learner": "insider", RIVAL: "rival"}.get(name, "data_holder")
    above = statistics.excess(rate, control)
    return ThreatRow(
        threat,
        coded.names,
        (),
        name,
        rate,
        control,
        above,
        FALSE_POSITIVES,
        FALSE_POSITIVES,
        reported,
    )


def _figures(
    choosing: Mapping[str, Floats], named: Mapping[str, Floats], is_member: Flags, chooses: Flags
) -> dict[str, float]:
    """True positive rates, and how many of the hundred highest scores are members'.

    Each half of the people by the attack that the other half chooses for it, so that choosing flatters nothing; then both
    together. Whoever may err more often can still use the stricter attack, so a rate is never below that of fewer false
    positives. ``non_members`` is how many people who were not there can be told, at one in a hundred members mistaken.
    Of fewer controls than a share of one false positive takes, that rate is not told.
    ``top100_by_chance`` is how many members a hundred people drawn by lot would be, of those who are asked about.
    """
    figures = dict.fromkeys(
        (*(f"tpr_at_{share:g}" for share in FIGURES), "top100", REVERSED, "top100_in_release"), 0.0
    )
    for told_by, half in ((chooses, ~chooses), (~chooses, chooses)):
        found = 0.0
        for share in FIGURES:
            best = _best(choosing, is_member, told_by, share)
            found = max(
                found, statistics.found_beyond(*_sides(named[best], is_member, half, best), share)
            )
            figures[f"tpr_at_{share:g}"] += found / 2
        likeliest = {
            name: _top(score, is_member, told_by)
            for name, score in choosing.items()
            if name != REVERSED
        }
        figures["top100"] += _top(
            named[max(likeliest, key=lambda name: likeliest[name])], is_member, half
        )
        sought, others = _sides(named[REVERSED], is_member, half, REVERSED)
        figures[REVERSED] += statistics.found_beyond(sought, others, FALSE_POSITIVES) / 2
        figures["top100_in_release"] += _top(named[REVERSED], is_member, half)
    controls = int((~is_member).sum())
    figures = {name: value for name, value in figures.items() if name not in _beyond(controls)}
    figures["top100_by_chance"] = min(_TOP, len(is_member)) * float(is_member.mean())
    return {name: round(value, _DECIMALS) for name, value in figures.items()}


def _beyond(controls: int) -> list[str]:
    """Rates of fewer false positives than one of so many controls."""
    return [f"tpr_at_{share:g}" for share in FIGURES if share * controls < 1]


def _top(score: Floats, is_member: Flags, half: Flags) -> float:
    return top_members(score[half], is_member[half], _TOP // 2)


def top_members(score: Floats, is_member: Flags, top: int = _TOP) -> float:
    """Members among the highest scores; of equals at the end, the share that chance would take.

    Examples
    --------
    >>> top_members(np.array([3.0, 2, 2, 1]), np.array([True, True, False, True]), 2)
    1.5
    """
    line = np.sort(score)[::-1][min(top, len(score)) - 1]
    above, level = score > line, score == line
    left = min(top, len(score)) - above.sum()
    return float(is_member[above].sum() + left * is_member[level].mean())
