"""Reading contests: lists, schedules, and how many tries are left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Min, Q, QuerySet

from kakurenbo.contest import ANONYMIZE
from kakurenbo.judge.accounts.rules import digest_of
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, Entry, Invite, Phase, PhaseState, Round, Team
from kakurenbo.judge.contests.permissions import Anybody
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.submissions.models import TAKES_A_TRY, Submission
from kakurenbo.judge.submissions.queries import targets_of
from kakurenbo.proofs.quotas import Left, Quota

_TOGETHER = 10
"""The part of a phase within which teams come that come together."""


@dataclass(frozen=True)
class Neighbours:
    """The phases before and after one, of whatever round: it opens after the one closes, and closes before the other opens."""

    before: Phase | None
    after: Phase | None


def contests_for(user: Anybody) -> QuerySet[Contest]:
    """The contests that somebody may know of, the newest first."""
    known = Contest.objects.order_by("-created_at")
    if permissions.is_organizer(user):
        return known
    shown = Q(slug=permissions.SHOWN_REHEARSAL) if settings.SHOW_REHEARSALS else Q()
    return known.filter(Q(rehearsal=False) | shown)


def entry_of(user: Anybody, round: Round) -> Entry | None:
    """The entry of somebody's team to a round."""
    own = permissions.membership(user, round.contest)
    if own is None:
        return None
    return (
        Entry.objects.select_related("team__contest", "round__contest")
        .filter(round=round, team=own.team)
        .first()
    )


def team_list(contest: Contest) -> QuerySet[Team]:
    """The teams of a contest by number, with their members and entries."""
    return contest.teams.prefetch_related("memberships__user", "entries__round").order_by("number")


def place_numbers(contest: Contest) -> list[str]:
    """The team numbers for which data is drawn, whether somebody took them or not."""
    return [f"{number:02d}" for number in range(1, contest.places + 1)]


def free_places(contest: Contest) -> list[str]:
    """The numbers that no team has."""
    taken = set(contest.teams.values_list("number", flat=True))
    return [number for number in place_numbers(contest) if number not in taken]


def schedule(contest: Contest) -> QuerySet[Phase]:
    """The phases of a contest in the order they are played."""
    return (
        Phase.objects.select_related("round__contest")
        .filter(round__contest=contest)
        .order_by("round__position", "opens_at")
    )


def begun_rounds(contest: Contest) -> dict[int, datetime]:
    """By round the moment since which a team that joins is late; of rounds that opened, and in a rehearsal of none.

    That is when teams could begin; but in a contest that was made with a phase open from the start, into which nobody could
    come earlier, it is a tenth of the phase after its first team came: teams that are added together play together.
    """
    opened = schedule(contest).filter(kind=ANONYMIZE).exclude(state=PhaseState.WAITING)
    return {
        phase.round_id: _too_late_since(contest, phase) for phase in opened if not contest.rehearsal
    }


def _too_late_since(contest: Contest, phase: Phase) -> datetime:
    if phase.opens_at <= contest.created_at:
        first = contest.teams.aggregate(first=Min("created_at"))["first"] or contest.created_at
        return min(
            phase.closes_at,
            max(first, phase.opens_at) + (phase.closes_at - phase.opens_at) / _TOGETHER,
        )
    return max(phase.opens_at, phase.round.prepared_at or phase.opens_at)


def neighbours(phase: Phase) -> Neighbours:
    """The phases that limit the times of one, by the order of rounds and of the phases that the rulebook declares."""
    contest = phase.round.contest
    kinds = [declared.name for declared in rules_of(contest).phases]
    in_order = sorted(
        schedule(contest), key=lambda one: (one.round.position, kinds.index(one.kind))
    )
    place = [one.pk for one in in_order].index(phase.pk)
    return Neighbours(
        in_order[place - 1] if place else None, next(iter(in_order[place + 1 :]), None)
    )


def open_invite(text: str, now: datetime) -> Invite | None:
    """The invite that a link stands for, while it is good."""
    known = Invite.objects.select_related("team__contest")
    return known.filter(
        digest=digest_of(text), revoked_at=None, expires_at__gt=now, team__contest__ended_at=None
    ).first()


def quota_of(phase: Phase) -> Quota:
    """What a phase allows."""
    zone = phase.round.contest.zone
    return Quota(
        phase.tries_in_all, phase.tries_per_day, phase.tries_per_target, phase.reset_hour, zone
    )


def quota_left(entry: Entry, phase: Phase, now: datetime, target: str = "") -> Left:
    """What a team has left in a phase; with a target, what it has left on that one.

    What is refused, failed or withdrawn costs nothing.
    """
    tries = Submission.objects.filter(entry=entry, phase=phase, state__in=TAKES_A_TRY)
    moments = [
        moment for moment in tries.values_list("received_at", flat=True) if moment is not None
    ]
    left = quota_of(phase).left(moments, now).until(phase.closes_at)
    if not target or phase.tries_per_target is None:
        return left
    return left.at_most(phase.tries_per_target - tries_on(entry, phase, target))


def left_to_use(entry: Entry, phase: Phase, now: datetime, target: str = "") -> Left:
    """What a team may still use of its tries; one that is disqualified nothing."""
    return (
        Left(0, None, None, used_up=True)
        if entry.disqualified
        else quota_left(entry, phase, now, target)
    )


def tries_on(entry: Entry, phase: Phase, target: str) -> int:
    """How often a team tried a target; an entry of which nothing tells the target is a try on each."""
    return (tries := tries_by_target(entry, phase))[target] + (tries[""] if target else 0)


def tries_by_target(entry: Entry, phase: Phase) -> Counter[str]:
    """The tries of a team on each target; under an empty name those of which nothing tells the target."""
    tries: Counter[str] = Counter()
    taken = Submission.objects.filter(entry=entry, phase=phase, state__in=TAKES_A_TRY)
    for submission in taken.prefetch_related("files", "judgings"):
        tries.update(targets_of(submission) or [""])
    return tries
