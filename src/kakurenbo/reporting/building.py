"""From the results of rounds to a document: means, intervals, verdicts and rankings, each computed here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from kakurenbo.contracts import AnyRulebook, Chance, Credit, RoundResults, Standing, Standings, by_number
from kakurenbo.reporting.document import (
    RANKINGS,
    AttackEntry,
    Document,
    Estimate,
    FailureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.rounds import ReleaseRecord, ScoredRound

_LEVEL = 0.975  # two-sided 95 %


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % interval.

    Examples
    --------
    >>> found = estimate([0.5, 0.6, 0.7])
    >>> round(found.mean, 3), round(found.high - found.mean, 3)
    (0.6, 0.248)
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean)
    from scipy.stats import t

    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = float(t.ppf(_LEVEL, count - 1)) * spread / math.sqrt(count)
    return Estimate(mean, count, mean - half, mean + half)


def make_document(
    rulebook: AnyRulebook,
    rounds: Mapping[str, Sequence[RoundResults]],
    records: Mapping[str, Sequence[Sequence[ReleaseRecord]]],
    *,
    players: Sequence[PlayerEntry] = (),
    reports: Mapping[str, Mapping[str, Any]] | None = None,
    claims: Mapping[str, Mapping[str, Mapping[str, float | str]]] | None = None,
    failures: Sequence[FailureEntry] = (),
    manifest: Mapping[str, Any] | None = None,
) -> Document:
    """The document of these results.

    Parameters
    ----------
    rulebook : Rulebook
    rounds : mapping of round to sequence of RoundResults
        One for each repeat.
    records : mapping of round to sequence of sequence of ReleaseRecord
        What became of every release, for each repeat.
    players : sequence of PlayerEntry
    reports : mapping of round to mapping
        What is known of the data.
    claims : mapping of round to mapping of target to mapping
        Guarantees by construction.
    failures : sequence of FailureEntry
    manifest : mapping
        What is needed to play it again.
    """
    repeats = max(map(len, rounds.values()))
    played = [{name: results[repeat] for name, results in rounds.items()} for repeat in range(repeats)]
    rankings, awards, details = combined([rulebook.standings(one) for one in played])
    unranked = {name for results in rounds.values() for one in results for name in one.unranked}
    return Document(
        rulebook=RulebookEntry(rulebook.name, rulebook.title, rulebook.version, rulebook.utility_score),
        rounds=tuple(
            _round(name, results, records.get(name, ()), (reports or {}).get(name, {}), (claims or {}).get(name, {}))
            for name, results in rounds.items()
        ),
        rankings=rankings,
        awards=awards,
        details=details,
        players=tuple(players),
        sample_attacks=tuple(sorted(unranked, key=by_number)),
        failures=tuple(failures),
        manifest=dict(manifest or {}),
    )


def scored_document(rulebook: AnyRulebook, scored: ScoredRound) -> Document:
    """The document of one round that was scored from files."""
    facts, results = scored.facts, scored.results
    teams = sorted({*facts.teams, *results.ranked_attackers}, key=by_number)
    return make_document(
        rulebook,
        {facts.round: [results]},
        {facts.round: [scored.records]},
        players=[PlayerEntry(team, excluded=team in results.excluded) for team in teams],
        reports={facts.round: {"data": facts.data.get("source", "")}},
        failures=[
            FailureEntry(f"guesses of {one.team}", one.team, "refused", str(one.problems[0]), facts.round, file=one.file)
            for one in scored.refused
        ],
        manifest={"contest": {"commitments": facts.commitments, "version": facts.version, "settings": dict(facts.settings)}},
    )


# -- one round ---------------------------------------------------------------------------------------------------------


def _round(
    name: str,
    repeats: Sequence[RoundResults],
    records: Sequence[Sequence[ReleaseRecord]],
    report: Mapping[str, Any],
    claims: Mapping[str, Mapping[str, float | str]],
) -> RoundEntry:
    chance = _chance(repeats)
    every = [credit for results in repeats for row in results.credits.values() for credit in row.values()]
    constants = [credit.constant / credit.of for credit in every if credit.constant is not None and credit.of]
    return RoundEntry(
        name=name,
        report=report,
        releases=_releases(records, claims),
        attacks=_attacks(repeats, chance),
        chance=chance,
        constant=math.fsum(constants) / len(constants) if constants else None,
        repeats=tuple(repeats),
    )


def _releases(
    records: Sequence[Sequence[ReleaseRecord]], claims: Mapping[str, Mapping[str, float | str]]
) -> dict[str, ReleaseEntry]:
    entries = {}
    for record in records[0] if records else ():
        same = [one for repeat in records for one in repeat if one.target == record.target]
        verdicts = [measured.passes for measured in record.measurements if measured.passes is not None]
        entries[record.target] = ReleaseEntry(
            target=record.target,
            team=record.team,
            state=record.state,
            cause=record.cause,
            passes=all(verdicts) if record.measurements else None,
            measurements=record.measurements,
            estimates=_estimates(same),
            claims=claims.get(record.target, {}),
            notices=record.notices,
            problems=record.problems,
        )
    return entries


def _estimates(records: Sequence[ReleaseRecord]) -> dict[str, Estimate]:
    values: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.scores.items():
            values.setdefault(name, []).append(value)
    return {name: estimate(listed) for name, listed in values.items() if all(map(math.isfinite, listed))}


def _attacks(repeats: Sequence[RoundResults], chance: Chance | None) -> dict[str, dict[str, AttackEntry]]:
    table: dict[str, dict[str, AttackEntry]] = {}
    for target in dict.fromkeys(target for results in repeats for target in results.targets):
        for attacker in dict.fromkeys(attacker for results in repeats for attacker in results.attackers):
            credits = [credit for results in repeats if (credit := results.credit(target, attacker)) is not None]
            if credits:
                table.setdefault(target, {})[attacker] = _attack(credits, chance)
    return table


def _attack(credits: Sequence[Credit], chance: Chance | None) -> AttackEntry:
    accuracy = estimate([credit.accuracy for credit in credits])
    names = [name for name in credits[0].details if all(name in credit.details for credit in credits)]
    return AttackEntry(
        accuracy=accuracy,
        hits=math.fsum(credit.hits for credit in credits) / len(credits),
        of=credits[0].of,
        beyond_chance=chance is not None and accuracy.mean > chance.high,
        details={name: math.fsum(float(credit.details[name]) for credit in credits) / len(credits) for name in names},
    )


def _chance(repeats: Sequence[RoundResults]) -> Chance | None:
    """Accuracy of blind guessing: the mean over all that was attacked, and the band of a single guess."""
    found = {
        (credit.chance.mean / credit.of, credit.chance.low / credit.of, credit.chance.high / credit.of)
        for results in repeats
        for row in results.credits.values()
        for credit in row.values()
        if credit.chance is not None and credit.of
    }
    if not found:
        return None
    mean, low, high = (math.fsum(part) / len(found) for part in zip(*sorted(found), strict=True))
    return Chance(mean, low, high)


# -- rankings over repeats ---------------------------------------------------------------------------------------------


def combined(
    repeats: Sequence[Standings],
) -> tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Rankings, awards and details; of several repeats the means with their intervals, ranked by the mean, and no awards."""
    single = len(repeats) == 1
    rankings = {}
    for name in RANKINGS:
        low = name in repeats[0].lower_is_better
        lines = (
            tuple(_single(line) for line in getattr(repeats[0], name))
            if single
            else _means([getattr(standings, name) for standings in repeats], lower_is_better=low)
        )
        rankings[name] = Ranking(lines, low)
    return rankings, dict(repeats[0].awards) if single else {}, dict(repeats[0].details) if single else {}


def _single(line: Standing) -> RankingLine:
    score = None if line.score is None else float(line.score)
    return RankingLine(line.team, score, line.rank, line.note, line.shown)


def _means(repeats: Sequence[Sequence[Standing]], *, lower_is_better: bool) -> tuple[RankingLine, ...]:
    lines: dict[str, list[Standing]] = {}
    for ranking in repeats:
        for line in ranking:
            lines.setdefault(line.team, []).append(line)
    means: dict[str, Fraction | None] = {}
    for team, own in lines.items():
        scores = [line.score for line in own if line.score is not None]
        # Without a score in some repeat (disqualified there) there is no mean to rank by.
        means[team] = sum(scores, Fraction(0)) / len(scores) if len(scores) == len(repeats) else None
    ranked = {team: means[team] is not None and any(line.rank is not None for line in own) for team, own in lines.items()}
    sign = 1 if lower_is_better else -1

    def place(team: str) -> tuple[Any, ...]:
        mean = means[team]
        return (not ranked[team], mean is None, sign * mean if mean is not None else 0, by_number(team))

    out: list[RankingLine] = []
    for number, team in enumerate(sorted(lines, key=place), start=1):
        mean, own = means[team], lines[team]
        tied = bool(out) and ranked[team] and ranked[out[-1].team] and mean == means[out[-1].team]
        found = estimate([float(line.score) for line in own if line.score is not None]) if mean is not None else None
        out.append(
            RankingLine(
                team=team,
                score=None if mean is None else float(mean),
                rank=(out[-1].rank if tied else number) if ranked[team] else None,
                note="; ".join(dict.fromkeys(line.note for line in own if line.note)),
                low=found.low if found else None,
                high=found.high if found else None,
            )
        )
    return tuple(_with_ties(out))


def _with_ties(lines: Sequence[RankingLine]) -> list[RankingLine]:
    marked = []
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        overlap = (
            after is not None
            and None not in (line.rank, after.rank, line.low, line.high, after.low, after.high)
            and (line.low or 0.0) <= (after.high or 0.0)
            and (after.low or 0.0) <= (line.high or 0.0)
        )
        marked.append(replace(line, tied_with_next=overlap))
    return marked
