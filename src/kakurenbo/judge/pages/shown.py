"""Rows as templates lay them out: teams with gaps, the queue, what counts, awards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from kakurenbo.contest import ANONYMIZE, ATTACK, Counting
from kakurenbo.contest import Phase as Declared
from kakurenbo.core.messages import text, translated
from kakurenbo.judge.contests import queries
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Team, Visibility
from kakurenbo.judge.pages.spans import in_words
from kakurenbo.judge.scoring.models import Job, StandingSnapshot, Target
from kakurenbo.judge.scoring.queries import QueuedJob
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.submissions.queries import name_fields, why_it_counts

RANKINGS = ("overall", "anonymization", "attack")
"""In the order they are shown."""


@dataclass(frozen=True)
class TeamRow:
    """A place: with its team, or free."""

    number: str
    team: Team | None = None
    members: int = 0
    late: bool = False
    entries: Sequence[Entry] = ()


@dataclass(frozen=True)
class JobRow:
    """A piece of work in the queue."""

    pk: int
    kind: str
    state: str
    about: str
    age: str
    worker: str
    cause: str


@dataclass(frozen=True)
class HistoryRow:
    """Something that was handed in, and why it counts; empty where it does not."""

    submission: Submission
    counts: str


@dataclass(frozen=True)
class TargetRow:
    """A release, whose it is, and how many guesses at it are left (None for no limit of its own)."""

    name: str
    team: str
    state: str
    left: int | None
    own: bool


def team_rows(contest: Contest, *, free: bool = True) -> list[TeamRow]:
    """Every team by number, and between them the places that are free."""
    begun = queries.begun_rounds(contest)
    rows = [_team_row(team, begun) for team in queries.team_list(contest)]
    rows += [TeamRow(number) for number in queries.free_places(contest) if free]
    return sorted(rows, key=lambda row: row.number)


def job_rows(queue: Iterable[QueuedJob]) -> list[JobRow]:
    """The queue with ages in words."""
    return [
        JobRow(
            one.job.pk,
            one.job.kind,
            one.job.state,
            _about(one.job),
            in_words(one.age),
            one.job.worker,
            translated(one.job.cause),
        )
        for one in queue
    ]


def history_rows(history: Iterable[Submission], counting: Mapping[UUID, str]) -> list[HistoryRow]:
    """What a team handed in."""
    return [HistoryRow(one, why_it_counts(one, counting)) for one in history]


def target_rows(phase: Phase, entry: Entry, targets: Iterable[Target]) -> list[TargetRow]:
    """The releases of a round as an attacker sees them."""
    now = timezone.now()
    limited = phase.tries_per_target is not None
    return [
        TargetRow(
            name=target.name,
            team=target.entry.team.name,
            state=target.record.get("state", ""),
            left=queries.left_to_use(entry, phase, now, target.name).count if limited else None,
            own=target.entry_id == entry.pk,
        )
        for target in targets
    ]


def counts_rule(declared: Declared) -> str:
    """Which of a team's entries count, in words."""
    if (
        declared.name != ANONYMIZE and declared.counts is not Counting.CHOSEN
    ):  # guesses count for each release by itself
        each = Counting.BEST if declared.counts is Counting.BEST else Counting.LATEST
        return text(f"page.counts_rule.{each.value}_on_targets")
    return text(
        f"page.counts_rule.{declared.counts.value}",
        **({"keep": declared.keep} if declared.keep > 1 else {}),
    )


@dataclass(frozen=True)
class FileWay:
    """Files that are handed in together, as they are named on the page: the first, and the last of several."""

    first: str
    last: str
    max_bytes: int


@dataclass(frozen=True)
class FilePart:
    """A part of an entry, with all the ways to hand it in, of which one is enough."""

    ways: list[FileWay]
    optional: bool


def file_parts(declared: Declared, entry: Entry) -> list[FilePart]:
    """What an entry is made of, by the names that the files of this team have."""
    fields = name_fields(entry)
    parts = []
    for patterns in declared.ways():
        named = [(pattern.names(**fields), pattern) for pattern in patterns]
        ways = [
            FileWay(names[0], names[-1] if names[1:] else "", pattern.max_bytes)
            for names, pattern in named
        ]
        parts.append(FilePart(ways, patterns[0].optional))
    return parts


def submit_ways(declared: Declared, entry: Entry) -> list[str]:
    """The files of each way to hand in what an entry must have, for the command line."""
    fields = name_fields(entry)
    needed = [patterns for patterns in declared.ways() if not patterns[0].optional]
    longest = max(map(len, needed), default=0)
    chosen = (
        [patterns[min(place, len(patterns) - 1)] for patterns in needed] for place in range(longest)
    )
    return [
        " ".join(name for pattern in patterns for name in pattern.names(**fields))
        for patterns in chosen
    ]


@dataclass(frozen=True)
class Awards:
    """Who wins what, by name; ``so_far`` while the attack goes on."""

    winners: list[tuple[str, list[str]]]
    so_far: bool


def awards(contest: Contest, snapshot: StandingSnapshot | None) -> Awards | None:
    """Who wins what; nothing before somebody attacked, nor while an attack goes on whose standings are not live."""
    known: Mapping[str, Any] = snapshot.standings.get("awards", {}) if snapshot else {}
    attacks = Phase.objects.filter(round__contest=contest, kind=ATTACK)
    left = attacks.exclude(state=PhaseState.CLOSED)
    attacked = Submission.objects.filter(phase__in=attacks, state=State.SCORED).exists()
    if (
        not known
        or not attacked
        or left.exclude(state=PhaseState.OPEN, visibility=Visibility.LIVE).exists()
    ):
        return None
    names = {team.number: f"{team.number} {team.name}" for team in contest.teams.all()}
    order = sorted(
        known,
        key=lambda ranking: (
            ranking not in RANKINGS,
            RANKINGS.index(ranking) if ranking in RANKINGS else 0,
        ),
    )
    winners = [
        (ranking_title(ranking), [names.get(team, team) for team in known[ranking]])
        for ranking in order
    ]
    return Awards(winners, so_far=left.exists())


def ranking_title(name: str) -> str:
    """A ranking's own word, or what the rulebook calls it."""
    return (
        text(f"page.ranking.{name}")
        if name in RANKINGS
        else text(f"award.{name}", name.replace("_", " "))
    )


def _team_row(team: Team, begun: Mapping[int, datetime]) -> TeamRow:
    entries = sorted(team.entries.all(), key=lambda entry: entry.round.position)
    late = any(
        team.created_at > begun[entry.round_id] for entry in entries if entry.round_id in begun
    )
    return TeamRow(team.number, team, len(team.memberships.all()), late, entries)


def _about(job: Job) -> str:
    parts = [
        job.round.name if job.round else "",
        job.submission.entry.team.number if job.submission else "",
        job.subject,
    ]
    return " ".join(filter(None, parts))
