"""One round of a document: what became of its releases, what attackers found, and what is on the frontier between the two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kakurenbo.contracts import AnyRulebook, Chance, Credit, Figure, Measurement, RoundResults, team_of
from kakurenbo.contracts.results import DISQUALIFIED
from kakurenbo.reporting.document import AttackEntry, AttackerEntry, MeasureEntry, ReleaseEntry, RoundEntry
from kakurenbo.reporting.estimates import SHARE, Estimate, estimate, limits_of
from kakurenbo.rounds import ReleaseRecord
from kakurenbo.rounds.publishing import PUBLISHED

WORST, MEAN, SAMPLE = "worst", "mean", "sample"
"""Kinds of privacy: against the best attack, against all in the mean, against the organizers' own."""

_Baselines = Mapping[tuple[str, str], tuple[float | None, float | None]]
"""Accuracy of blind guessing and of the constant answer by round and target."""


def round_entry(
    name: str,
    repeats: Sequence[RoundResults],
    records: Sequence[Sequence[ReleaseRecord]],
    report: Mapping[str, Any],
    claims: Mapping[str, Mapping[str, float | str]],
    rulebook: AnyRulebook,
) -> RoundEntry:
    """A round over all its repeats."""
    attacked = attacked_round(name, repeats, rulebook.only_shown)
    releases = {
        release.target: with_attacks(release, attacked, rulebook.only_shown)
        for release in _releases(records, claims, rulebook.figures).values()
    }
    measures = _measures(releases.values())
    return replace(
        attacked,
        report=report,
        releases=releases,
        measures=measures,
        leading_measure=_leading(rulebook.utility_score, measures),
        frontiers={measure.name: _frontiers(measure, releases.values()) for measure in measures},
        passing=sum(entry.verdict == "passes" for entry in releases.values()),
        judged=sum(was_judged(entry) for entry in releases.values()),
    )


def attacked_round(name: str, repeats: Sequence[RoundResults], only_shown: Iterable[str] = ()) -> RoundEntry:
    """What the repeats of a round tell by themselves: what every attacker found, beside chance and the constant answer.

    The organizers' attacks that are ``only_shown`` have a row of their own, but nothing is compared with them.
    """
    every = [credit for results in repeats for row in results.credits.values() for credit in row.values()]
    chance = _mean_chance({_shares(credit, credit.chance) for credit in every if credit.chance is not None})
    attacks = _attacks(repeats, chance)
    most = {entry.of for row in attacks.values() for entry in row.values()}
    entry = RoundEntry(
        name=name,
        attacks=attacks,
        of=next(iter(most)) if len(most) == 1 else None,
        chance=chance,
        chance_privacy=None if chance is None else 1 - chance.mean,
        chance_hits=_mean_chance({credit.chance for credit in every if credit.chance is not None}) if len(most) == 1 else None,
        constant=_mean([credit.share(credit.constant) for credit in every if credit.constant is not None]),
        repeats=tuple(repeats),
    )
    attackers = dict.fromkeys(attacker for results in repeats for attacker in results.attackers)
    baselines, counting = _all_baselines([entry]), _samples(repeats).difference(only_shown)
    return replace(entry, attackers={attacker: _attacker(attacker, [entry], baselines, counting) for attacker in attackers})


def with_attacks(release: ReleaseEntry, entry: RoundEntry, only_shown: Iterable[str] = ()) -> ReleaseEntry:
    """A release with what attackers found in it."""
    samples, row = _samples(entry.repeats), entry.attacks.get(release.target, {})
    others = {attacker: found.accuracy.mean for attacker, found in row.items() if attacker not in samples}
    best = max(others, key=lambda attacker: others[attacker], default="")
    sample = _best(row, samples.difference(only_shown))
    chance, constant = _baselines(release.target, entry.repeats)
    return replace(
        release,
        best_attack=best,
        best_accuracy=others.get(best),
        sample_accuracy=None if sample is None else sample.mean,
        privacy=_privacy(row, best, sample, _mean_accuracy(release.target, samples, entry.repeats)),
        chance=chance,
        constant=constant,
    )


def was_judged(release: ReleaseEntry) -> bool:
    """Whether a release was measured against a threshold, and passed or was disqualified."""
    measured = any(measured.passes is not None for measured in release.measurements)
    return measured and release.state in (PUBLISHED, DISQUALIFIED)


def attacker_entries(rounds: Sequence[RoundEntry], samples: Iterable[str]) -> dict[str, AttackerEntry]:
    """What each attacker found in the releases of all rounds, beside the best of the organizers' own ``samples``."""
    samples, baselines = frozenset(samples), _all_baselines(rounds)
    return {attacker: _attacker(attacker, rounds, baselines, samples) for entry in rounds for attacker in entry.attackers}


# -- releases ------------------------------------------------------------------------------------------------------------


def _releases(
    records: Sequence[Sequence[ReleaseRecord]],
    claims: Mapping[str, Mapping[str, float | str]],
    figures: Mapping[str, Figure],
) -> dict[str, ReleaseEntry]:
    """What became of every release before anybody attacked it."""
    entries = {}
    for target in dict.fromkeys(record.target for repeat in records for record in repeat):
        numbered = [(number, one) for number, repeat in enumerate(records) for one in repeat if one.target == target]
        same = [one for _, one in numbered]
        told, record = next((pair for pair in numbered if pair[1].state != PUBLISHED), numbered[0])
        measurements = _over_repeats(record, same)
        decisive = [measured.passes for measured in measurements if measured.passes is not None]
        entries[target] = ReleaseEntry(
            target=target,
            team=record.team,
            state=record.state,
            cause=record.cause,
            told_repeat=told,
            in_repeats=sum(one.state == record.state for one in same),
            of_repeats=len(records),
            passes=all(decisive) if measurements else None,
            verdict=record.state if record.state != PUBLISHED else "passes" if decisive else "",
            measurements=measurements,
            estimates=_estimates(same, figures),
            claims=claims.get(target, {}),
            notices=record.notices,
            problems=record.problems,
        )
    return entries


def _over_repeats(record: ReleaseRecord, same: Sequence[ReleaseRecord]) -> tuple[Measurement, ...]:
    """The measurements of one repeat, each failing where it fails in any, and infinite where it is so in any."""
    failed = {measured.name for one in same for measured in one.measurements if measured.passes is False}
    infinite = {name: value for one in same for name, value in one.scores.items() if not math.isfinite(value)}
    return tuple(
        replace(
            measured,
            value=str(infinite[measured.name]) if measured.name in infinite else measured.value,
            passes=False if measured.name in failed else measured.passes,
        )
        for measured in record.measurements
    )


def _samples(repeats: Sequence[RoundResults]) -> set[str]:
    """The organizers' own attacks."""
    return {attacker for results in repeats for attacker in results.unranked}


def _baselines(target: str, repeats: Sequence[RoundResults]) -> tuple[float | None, float | None]:
    """Accuracy of blind guessing and of the contest's constant answer on a target, the mean of all guesses at it."""
    own = [credit for results in repeats for credit in results.credits.get(target, {}).values()]
    return (
        _mean([credit.share(credit.chance.mean) for credit in own if credit.chance is not None]),
        _mean([credit.share(credit.constant) for credit in own if credit.constant is not None]),
    )


def _estimates(records: Sequence[ReleaseRecord], figures: Mapping[str, Figure]) -> dict[str, Estimate]:
    values: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.scores.items():
            values.setdefault(name, []).append(value)
    declared = {name: figures.get(name, Figure()) for name in values}
    return {
        name: estimate(listed, limits_of(declared[name].unit, declared[name].of))
        for name, listed in values.items()
        if all(map(math.isfinite, listed))
    }


def _privacy(row: Mapping[str, AttackEntry], best: str, sample: Estimate | None, mean: Estimate | None) -> dict[str, Estimate]:
    """1 - accuracy; the organizers' own attack stands in where nobody else attacked."""
    found = {WORST: row[best].accuracy if best else sample, MEAN: mean or sample, SAMPLE: sample}
    return {kind: accuracy.lacking() for kind, accuracy in found.items() if accuracy is not None}


def _mean_accuracy(target: str, samples: Iterable[str], repeats: Sequence[RoundResults]) -> Estimate | None:
    """What all attackers but the organizers' own found in a release in the mean, repeat by repeat."""
    rows = [results.credits.get(target, {}) for results in repeats]
    found = [[credit.accuracy for attacker, credit in row.items() if attacker not in samples] for row in rows]
    means = [math.fsum(accuracies) / len(accuracies) for accuracies in found if accuracies]
    return estimate(means, SHARE) if means else None


def _measures(releases: Iterable[ReleaseEntry]) -> tuple[MeasureEntry, ...]:
    found: dict[str, MeasureEntry] = {}
    for release in releases:
        for measured in release.measurements:
            if measured.name in release.estimates:
                entry = MeasureEntry(measured.name, measured.higher_is_better, measured.minimum, measured.maximum)
                found.setdefault(measured.name, entry)
    return tuple(found.values())


def _leading(utility_score: str, measures: Sequence[MeasureEntry]) -> str:
    """The measure that is a number in the score, else the first that decides, else the first."""
    names = [measure.name for measure in measures]
    decisive = [measure.name for measure in measures if (measure.minimum, measure.maximum) != (None, None)]
    return next(iter([utility_score] if utility_score in names else [*decisive, *names]), "")


def _frontiers(measure: MeasureEntry, releases: Iterable[ReleaseEntry]) -> dict[str, tuple[str, ...]]:
    sign = 1 if measure.higher_is_better else -1
    found = {}
    for kind in (WORST, MEAN, SAMPLE):
        points = {
            release.target: (sign * release.estimates[measure.name].mean, release.privacy[kind].mean)
            for release in releases
            if measure.name in release.estimates and kind in release.privacy
        }
        best = [target for target, point in points.items() if not any(_beats(other, point) for other in points.values())]
        found[kind] = tuple(sorted(best, key=lambda target: (sign * points[target][0], points[target][1])))
    return found


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] >= other[0] and one[1] >= other[1]


# -- attacks -------------------------------------------------------------------------------------------------------------


def _attacks(repeats: Sequence[RoundResults], chance: Chance | None) -> dict[str, dict[str, AttackEntry]]:
    table: dict[str, dict[str, AttackEntry]] = {}
    for target in dict.fromkeys(target for results in repeats for target in results.targets):
        for attacker in dict.fromkeys(attacker for results in repeats for attacker in results.attackers):
            credits = [credit for results in repeats if (credit := results.credit(target, attacker)) is not None]
            if credits:
                table.setdefault(target, {})[attacker] = _attack(credits, chance)
    return table


def _attack(credits: Sequence[Credit], chance: Chance | None) -> AttackEntry:
    accuracy = estimate([credit.accuracy for credit in credits], SHARE)
    names = [name for name in credits[0].details if all(name in credit.details for credit in credits)]
    return AttackEntry(
        accuracy=accuracy,
        hits=math.fsum(credit.hits for credit in credits) / len(credits),
        of=credits[0].of,
        beyond_chance=chance is not None and accuracy.mean > chance.high,
        details={name: math.fsum(float(credit.details[name]) for credit in credits) / len(credits) for name in names},
    )


def _all_baselines(rounds: Iterable[RoundEntry]) -> _Baselines:
    return {(entry.name, target): _baselines(target, entry.repeats) for entry in rounds for target in entry.attacks}


def _attacker(attacker: str, rounds: Iterable[RoundEntry], baselines: _Baselines, samples: Iterable[str]) -> AttackerEntry:
    """What an attacker found, and what the organizers' own, blind guessing and the constant answer did on the same releases."""
    own: list[float] = []
    best_samples: list[float] = []
    chances: list[float] = []
    constants: list[float] = []
    for entry in rounds:
        own += _earned(attacker, entry.repeats)
        for target, row in entry.attacks.items():
            if team_of(target) == attacker:
                continue
            sample, (chance, constant) = _best(row, samples), baselines[entry.name, target]
            best_samples += [] if sample is None else [sample.mean]
            chances += [] if chance is None else [chance]
            constants += [] if constant is None else [constant]
    return AttackerEntry(_mean(own), _mean(best_samples), _mean(chances), _mean(constants))


def _earned(attacker: str, repeats: Sequence[RoundResults]) -> list[float]:
    """Accuracy on every release that the attacker could attack: a mean over the repeats, in which a missing guess counts 0."""
    values: dict[str, list[float]] = {}
    for results in repeats:
        attacked = any(attacker in row for row in results.credits.values())
        # Nobody waits for guesses of those who are not ranked; who is not among the attackers took no part.
        if attacked or attacker in results.ranked_attackers:
            for target in _under_attack(results):
                if team_of(target) != attacker:
                    credit = results.credit(target, attacker)
                    values.setdefault(target, []).append(0 if credit is None else credit.accuracy)
    return [math.fsum(listed) / len(listed) for listed in values.values()]


def _under_attack(results: RoundResults) -> list[str]:
    """The releases that attackers got: all in play, and those that were published though disqualified."""
    return [target for target in results.targets if target in results.credits or target not in results.out]


def _best(row: Mapping[str, AttackEntry], attackers: Iterable[str]) -> Estimate | None:
    found = [row[attacker].accuracy for attacker in sorted(attackers) if attacker in row]
    return max(found, key=lambda accuracy: accuracy.mean, default=None)


def _shares(credit: Credit, chance: Chance) -> Chance:
    """Blind guessing as accuracies."""
    return Chance(credit.share(chance.mean), credit.share(chance.low), credit.share(chance.high))


def _mean_chance(found: set[Chance]) -> Chance | None:
    """Blind guessing: the mean over all kinds of guesses there are."""
    if not found:
        return None
    parts = zip(*((chance.mean, chance.low, chance.high) for chance in found), strict=True)
    return Chance(*(math.fsum(part) / len(found) for part in parts))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
