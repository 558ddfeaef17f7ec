"""Compute one round of a document: releases, attacks, attackers, and the frontier of utility and privacy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

from msgspec.structs import replace

from kakurenbo.contest import Chance, Figure, Measurement, RoundResults, team_of
from kakurenbo.contest.records import ReleaseRecord, threshold_cause
from kakurenbo.contest.results import DISQUALIFIED, PUBLISHED
from kakurenbo.core.messages import with_message
from kakurenbo.reports.document import (
    AttackEntry,
    AttackerEntry,
    MeasureEntry,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reports.estimates import SHARE, Estimate, estimate, limits_of

WORST, MEAN, SAMPLE = "worst", "mean", "sample"
"""Kinds of privacy: against the best attack, against all in the mean, against the organizers' own."""
KINDS = (WORST, MEAN, SAMPLE)


def release_entries(
    records: Sequence[Sequence[ReleaseRecord]],
    claims: Mapping[str, Mapping[str, float | str]],
    figures: Mapping[str, Figure],
) -> dict[str, ReleaseEntry]:
    """Return every release before any attack, over all repeats."""
    entries = {}
    by_target: dict[str, list[tuple[int, ReleaseRecord]]] = {}
    for number, repeat in enumerate(records):
        for record in repeat:
            by_target.setdefault(record.target, []).append((number, record))
    for target, numbered in by_target.items():
        same = [record for _, record in numbered]
        number, record = next(
            (pair for pair in numbered if pair[1].state != PUBLISHED), numbered[0]
        )
        measurements = _over_repeats(record, same)
        decisive = [measured.passes for measured in measurements if measured.passes is not None]
        verdict = "passes" if decisive else ""
        entries[target] = ReleaseEntry(
            target=target,
            team=record.team,
            state=record.state,
            cause=with_message(record.cause, record.messages),
            told_repeat=number,
            in_repeats=sum(other.state == record.state for other in same),
            of_repeats=len(records),
            passes=all(decisive) if measurements else None,
            verdict=verdict if record.state == PUBLISHED else record.state,
            measurements=measurements,
            estimates=_estimates(same, figures),
            claims=claims.get(target, {}),
            notices=tuple(with_message(text, record.messages) for text in record.notices),
            problems=tuple(with_message(text, record.messages) for text in record.problems),
            below_threshold=_is_below_threshold(record),
        )
    return entries


def _is_below_threshold(record: ReleaseRecord) -> bool:
    """Return whether thresholds alone put a release out of play; organizers may give no cause."""
    fails = any(measured.passes is False for measured in record.measurements)
    by_threshold = record.cause in ("", threshold_cause(record.measurements))
    return record.state == DISQUALIFIED and fails and by_threshold


def _over_repeats(record: ReleaseRecord, same: Sequence[ReleaseRecord]) -> tuple[Measurement, ...]:
    """Return the measurements of one repeat; one that fails or is infinite in any repeat does so here."""
    failed: set[str] = set()
    infinite: dict[str, str] = {}
    for repeat in same:
        failed |= {measured.name for measured in repeat.measurements if measured.passes is False}
        scores = repeat.scores.items()
        infinite |= {name: str(value) for name, value in scores if not math.isfinite(value)}
    return tuple(
        dataclasses.replace(
            measured,
            value=infinite.get(measured.name, measured.value),
            passes=False if measured.name in failed else measured.passes,
        )
        for measured in record.measurements
    )


def _estimates(
    records: Sequence[ReleaseRecord], figures: Mapping[str, Figure]
) -> dict[str, Estimate]:
    values: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.scores.items():
            values.setdefault(name, []).append(value)
    estimates = {}
    for name, listed in values.items():
        if all(map(math.isfinite, listed)):
            declared = figures.get(name, Figure())
            estimates[name] = estimate(listed, limits_of(declared.unit, declared.of))
    return estimates


def was_judged(release: ReleaseEntry) -> bool:
    """Return whether a release was measured against a threshold, and passed or was taken out."""
    is_measured = any(measured.passes is not None for measured in release.measurements)
    return is_measured and release.state in (PUBLISHED, DISQUALIFIED)


# -- what follows from the repeats -----------------------------------------------------------------


def complete_round(
    entry: RoundEntry, only_shown: Collection[str], utility_score: str
) -> RoundEntry:
    """Compute a round from its name, report, releases and repeats.

    The organizers' attacks that are ``only_shown`` have a row of their own; nothing is compared with them.
    """
    every = [
        credit
        for results in entry.repeats
        for row in results.credits.values()
        for credit in row.values()
    ]
    blind = [(credit, credit.chance) for credit in every if credit.chance is not None]
    chance = _mean_chance(
        Chance(*map(credit.share, (hits.mean, hits.low, hits.high))) for credit, hits in blind
    )
    constants = [credit.share(credit.constant) for credit in every if credit.constant is not None]
    attacks = _attacks(entry.repeats, chance)
    most = {attack.of for row in attacks.values() for attack in row.values()}
    entry = replace(
        entry,
        attacks=attacks,
        of=next(iter(most)) if len(most) == 1 else None,
        chance=chance,
        chance_privacy=None if chance is None else 1 - chance.mean,
        chance_hits=_mean_chance(hits for _, hits in blind) if len(most) == 1 else None,
        constant=_mean(constants),
    )
    releases = {
        target: _attacked(release, entry, only_shown) for target, release in entry.releases.items()
    }
    listed: dict[str, MeasureEntry] = {}
    for release in releases.values():
        for measured in release.measurements:
            if measured.name in release.estimates:
                bounds = measured.minimum, measured.maximum
                measure = MeasureEntry(measured.name, measured.higher_is_better, *bounds)
                listed.setdefault(measured.name, measure)
    measures = tuple(listed.values())
    decisive = [measure.name for measure in measures if measure.threshold is not None]
    entry = replace(entry, releases=releases)
    # The measure that is a number in the score, else the first that decides, else the first.
    leading = [name for name in (utility_score, *decisive, *listed) if name in listed]
    return replace(
        entry,
        attackers=attacker_entries([entry], _samples(entry.repeats).difference(only_shown)),
        measures=measures,
        leading_measure=next(iter(leading), ""),
        frontiers={
            measure.name: {kind: _frontier(entry, measure, kind) for kind in KINDS}
            for measure in measures
        },
        passing=sum(release.verdict == "passes" for release in releases.values()),
        judged=sum(map(was_judged, releases.values())),
    )


def _samples(repeats: Sequence[RoundResults]) -> set[str]:
    """Return the organizers' own attacks."""
    return {attacker for results in repeats for attacker in results.unranked}


def _attacked(
    release: ReleaseEntry, entry: RoundEntry, only_shown: Collection[str]
) -> ReleaseEntry:
    """Add to a release what attackers achieved on it; the organizers' attack stands in for missing others."""
    samples, row = _samples(entry.repeats), entry.attacks.get(release.target, {})
    others = {name: attack.accuracy for name, attack in row.items() if name not in samples}
    best = max(others, key=lambda attacker: others[attacker].mean, default="")
    sample = _best_of(row, samples.difference(only_shown))
    means = []
    for results in entry.repeats:
        credits = results.credits.get(release.target, {}).items()
        mean = _mean(credit.accuracy for name, credit in credits if name not in samples)
        means += [] if mean is None else [mean]
    by_kind = {
        WORST: others.get(best, sample),
        MEAN: estimate(means, SHARE) if means else sample,
        SAMPLE: sample,
    }
    chance, constant = _baselines(release.target, entry.repeats)
    return replace(
        release,
        best_attack=best,
        best_accuracy=others[best].mean if best else None,
        sample_accuracy=None if sample is None else sample.mean,
        privacy={kind: mean.complement() for kind, mean in by_kind.items() if mean is not None},
        chance=chance,
        constant=constant,
    )


def _baselines(target: str, repeats: Sequence[RoundResults]) -> tuple[float | None, float | None]:
    """Return the mean accuracy of blind guessing and of the constant answer on a target."""
    credits = [credit for results in repeats for credit in results.credits.get(target, {}).values()]
    return (
        _mean(credit.share(credit.chance.mean) for credit in credits if credit.chance is not None),
        _mean(credit.share(credit.constant) for credit in credits if credit.constant is not None),
    )


def _frontier(entry: RoundEntry, measure: MeasureEntry, kind: str) -> tuple[str, ...]:
    """Return the releases that no other beats in both, from the lowest measure to the highest."""
    sign = 1 if measure.higher_is_better else -1
    points = {
        target: (sign * utility.mean, privacy.mean)
        for target, (utility, privacy) in entry.points(measure.name, kind).items()
    }
    best = [
        target
        for target, (x, y) in points.items()
        if not any((x, y) != other and other[0] >= x and other[1] >= y for other in points.values())
    ]
    return tuple(sorted(best, key=lambda target: (sign * points[target][0], points[target][1])))


# -- attacks ---------------------------------------------------------------------------------------


def _attacks(
    repeats: Sequence[RoundResults], chance: Chance | None
) -> dict[str, dict[str, AttackEntry]]:
    table: dict[str, dict[str, AttackEntry]] = {}
    attackers = dict.fromkeys(name for results in repeats for name in results.attackers)
    for target in dict.fromkeys(target for results in repeats for target in results.targets):
        for attacker in attackers:
            credits = [results.credit(target, attacker) for results in repeats]
            if known := [credit for credit in credits if credit is not None]:
                accuracy = estimate([credit.accuracy for credit in known], SHARE)
                details = [credit.details for credit in known]
                names = [name for name in details[0] if all(name in part for part in details)]
                table.setdefault(target, {})[attacker] = AttackEntry(
                    accuracy=accuracy,
                    hits=fmean(credit.hits for credit in known),
                    of=known[0].of,
                    beyond_chance=chance is not None and accuracy.mean > chance.high,
                    details={name: fmean(part[name] for part in details) for name in names},
                )
    return table


def attacker_entries(
    rounds: Sequence[RoundEntry], samples: Collection[str]
) -> dict[str, AttackerEntry]:
    """Return what each attacker achieved on all releases, beside the best of the organizers' ``samples``."""
    targets, attackers = [], dict[str, None]()
    for entry in rounds:
        for target, row in entry.attacks.items():
            sample = _best_of(row, samples)
            accuracy = None if sample is None else sample.mean
            targets.append((team_of(target), accuracy, *_baselines(target, entry.repeats)))
        for results in entry.repeats:
            attackers |= dict.fromkeys(results.attackers)
    entries = {}
    for attacker in attackers:
        others = [baselines for team, *baselines in targets if team != attacker]
        means = map(_mean, zip(*others, strict=True)) if others else (None, None, None)
        earned = (value for entry in rounds for value in _earned(attacker, entry.repeats))
        entries[attacker] = AttackerEntry(_mean(earned), *means)
    return entries


def _earned(attacker: str, repeats: Sequence[RoundResults]) -> list[float]:
    """Return the mean accuracy on every release that the attacker could attack; a missing guess counts 0."""
    values: dict[str, list[float]] = {}
    for results in repeats:
        has_attacked = any(attacker in row for row in results.credits.values())
        # An unranked attacker owes no guesses.
        if has_attacked or attacker in results.ranked_attackers:
            for target in results.targets:
                # Attackers got all releases in play, and those that were published though out.
                is_attackable = target in results.credits or target not in results.out
                if is_attackable and team_of(target) != attacker:
                    credit = results.credit(target, attacker)
                    values.setdefault(target, []).append(credit.accuracy if credit else 0)
    return list(map(fmean, values.values()))


def _best_of(row: Mapping[str, AttackEntry], attackers: Iterable[str]) -> Estimate | None:
    accuracies = [row[attacker].accuracy for attacker in sorted(attackers) if attacker in row]
    return max(accuracies, key=lambda accuracy: accuracy.mean, default=None)


def _mean_chance(chances: Iterable[Chance]) -> Chance | None:
    """Return blind guessing: the mean over all kinds of guesses."""
    kinds = {(chance.mean, chance.low, chance.high) for chance in chances}
    return Chance(*map(fmean, zip(*kinds, strict=True))) if kinds else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
