"""Teams, the people in them, and what an organizer decides while a contest runs: each decision in the log of its contest."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.fields.json import KT
from django.utils import timezone

from kakurenbo.contest import ANONYMIZE
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.core import InputError, Problems
from kakurenbo.core.messages import LANGUAGES, language, render
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.accounts.rules import digest_of
from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.advancing import advance, end_contest
from kakurenbo.judge.contests.lookalikes import as_seen
from kakurenbo.judge.contests.making import make_contest, told_phase, words_problems
from kakurenbo.judge.contests.models import (
    Announcement,
    Contest,
    Entry,
    Invite,
    Membership,
    Phase,
    PhaseState,
    Role,
    Round,
    Team,
    Visibility,
)
from kakurenbo.judge.contests.planning import (
    SHORTEST,
    PhasePlan,
    Span,
    default_plan,
    overlap_problems,
    times_problems,
    told_time,
)
from kakurenbo.judge.scoring import rules as scoring
from kakurenbo.judge.scoring.models import JobKind
from kakurenbo.judge.trust import rules as trust

__all__ = [
    "PhasePlan",
    "add_team",
    "advance",
    "announce",
    "default_plan",
    "disqualify",
    "end",
    "excuse",
    "invite",
    "join",
    "make_contest",
    "reinstate",
    "reschedule",
    "revoke_invite",
    "set_visibility",
    "tell",
]

LONGEST_NAME, LONGEST_TITLE, LONGEST_REASON = 100, 200, 2000
_SECRET_BYTES = 24
_LONGEST_INVITE = 366  # days


# -- teams and their people ------------------------------------------------------------------------------------------------


def add_team(
    by: User, contest: Contest, name: str, number: str = "", unranked: bool = False
) -> Team:
    """A team on a place of its own: the number that is asked for, or the next free one.

    It enters every round that is not over. Where a round takes no releases any more, it only attacks, and nobody waits for it.
    """
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    with transaction.atomic():
        contest = _locked(contest)
        free = queries.free_places(contest)
        Problems.join(
            [
                words_problems("name", name, LONGEST_NAME),
                _number_problems(contest, number, free),
                _end_problems(contest),
                _name_problems(contest, name.strip()),
            ]
        ).check()
        team = Team.objects.create(
            contest=contest, number=number or free[0], name=name.strip(), unranked=unranked
        )
        entered = [
            _enter(team, round_, by.language or language()) for round_ in contest.rounds.all()
        ]
        told = {entry.round.name: entry.excused for entry in entered if entry is not None}
        trust.record(
            contest,
            "team.added",
            {"team": team.number, "name": team.name, "unranked": unranked, "rounds": told},
        )
    return team


def invite(by: User, team: Team, role: str, days: int = 14) -> tuple[Invite, str]:
    """A link for people to join a team in a role, and the text that is shown once: only its hash is kept.

    Raises
    ------
    InputError
        The contest has ended.
    """
    permissions.demand(permissions.may_manage(by, team.contest, timezone.now()))
    if role not in Role.values or not 1 <= days <= _LONGEST_INVITE:
        raise ValueError(
            f"no invite as {role!r} for {days} days: a role is one of {Role.values}, days are 1 to {_LONGEST_INVITE}"
        )
    text = secrets.token_urlsafe(_SECRET_BYTES)
    expires = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        _end_problems(_locked(team.contest)).check()
        return Invite.objects.create(
            team=team, digest=digest_of(text), role=role, expires_at=expires
        ), text


def revoke_invite(by: User, invite: Invite) -> None:
    """End a link at once."""
    permissions.demand(permissions.may_manage(by, invite.team.contest, timezone.now()))
    Invite.objects.filter(pk=invite.pk, revoked_at=None).update(revoked_at=timezone.now())


def join(user: User, text: str) -> Membership:
    """Join the team that a link invites to; nobody is in two teams of a contest."""
    now = timezone.now()
    with transaction.atomic():
        found = queries.open_invite(text, now)
        if found is None:
            raise InputError.of("contests.no_invite", "")
        contest = _locked(found.team.contest)
        own = permissions.membership(user, contest)
        if own is not None and own.team_id == found.team_id:
            return own
        if own is not None:
            raise InputError.of("contests.in_another_team", "", team=own.team.name)
        if permissions.is_organizer(user) and not found.team.unranked:
            raise InputError.of("contests.organizers_are_unranked", "", team=found.team.name)
        joined = Membership.objects.create(team=found.team, user=user, role=found.role)
        trust.record(contest, "member.joined", {"team": found.team.number, "role": joined.role})
    return joined


# -- decisions on the schedule ---------------------------------------------------------------------------------------------


def reschedule(by: User, phase: Phase, opens_at: datetime, closes_at: datetime) -> Phase:
    """Other times for a phase that is not over; one that is open keeps its beginning."""
    now = timezone.now()
    contest = phase.round.contest
    permissions.demand(permissions.may_manage(by, contest, now))
    with transaction.atomic():
        contest = _locked(contest)
        phase = (
            Phase.objects.select_for_update(no_key=True, of=("self",))
            .select_related("round__contest")
            .get(pk=phase.pk)
        )
        _end_problems(contest).check()
        _reschedule_problems(phase, opens_at, closes_at, now).check()
        phase.opens_at, phase.closes_at = opens_at, closes_at
        phase.save(update_fields=["opens_at", "closes_at"])
        trust.record(
            contest,
            "phase.rescheduled",
            told_phase(phase.round.name, phase.kind, opens_at, closes_at),
        )
    return phase


def set_visibility(by: User, phase: Phase, visibility: str) -> Phase:
    """What is shown of standings while a phase is open; a board that may move again is made anew."""
    contest = phase.round.contest
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    if visibility not in Visibility.values:
        known = list(Visibility.values)
        raise InputError.of(
            "contests.bad_visibility", "", column="visibility", value=visibility, known=known
        )
    with transaction.atomic():
        _end_problems(_locked(contest)).check()
        changed = (
            Phase.objects.filter(pk=phase.pk)
            .exclude(visibility=visibility)
            .update(visibility=visibility)
        )
        phase.visibility = visibility
        if changed:
            if visibility == Visibility.LIVE and phase.state != PhaseState.WAITING:
                scoring.enqueue(JobKind.STANDINGS, contest, phase.round)
            told = {"round": phase.round.name, "phase": phase.kind, "visibility": str(visibility)}
            trust.record(contest, "phase.visibility", told)
    return phase


def end(by: User, contest: Contest) -> Contest:
    """The contest is over: its answers and secrets are everybody's. Every phase must be closed; ended once, it stays so."""
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    with transaction.atomic():
        contest = _locked(contest)
        open_ones = [
            phase for phase in queries.schedule(contest) if phase.state != PhaseState.CLOSED
        ]
        still_open = [
            Problems.of("contests.not_over", "", round=phase.round.name, phase=phase.kind)
            for phase in open_ones
        ]
        Problems.join([_end_problems(contest), *still_open]).check()
        end_contest(contest, timezone.now())
    return contest


# -- decisions on teams ----------------------------------------------------------------------------------------------------


def disqualify(by: User, entry: Entry, reason: str) -> Entry:
    """Take a team out of a round, for a reason that the team and the organizers are shown."""
    return _decide(by, entry, "disqualified", reason, "entry.disqualified")


def reinstate(by: User, entry: Entry) -> Entry:
    """Let a team that was disqualified play on; where releases were sealed meanwhile, its own is sealed now."""
    permissions.demand(permissions.may_manage(by, entry.team.contest, timezone.now()))
    with transaction.atomic():
        _end_problems(_locked(entry.team.contest)).check()
        passed_over = entry.targets.alias(state=KT("record__state")).filter(
            submission=None, state=DISQUALIFIED
        )
        # Nothing was earned on what was never published; and the web, where this runs, may not even look among what was.
        if passed_over._raw_delete(passed_over.db):
            scoring.enqueue(
                JobKind.SEAL, entry.team.contest, entry.round, subject=entry.team.number
            )
        return _decide(by, entry, "disqualified", "", "entry.reinstated")


def excuse(by: User, entry: Entry, reason: str) -> Entry:
    """Let the attack begin without a team's release, for a reason that the team and the organizers are shown."""
    return _decide(by, entry, "excused", reason, "entry.excused")


def announce(by: User, contest: Contest, title: str, text: str) -> Announcement:
    """Tell everybody something."""
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    words_problems("title", title, LONGEST_TITLE).check()
    with transaction.atomic():
        return tell(contest, title.strip(), text.strip())


def tell(contest: Contest, title: str, text: str) -> Announcement:
    """An announcement as part of the caller's transaction, by whoever may make one."""
    made = Announcement.objects.create(contest=contest, title=title, text=text)
    told = {"title": made.title, "text": digest_of(made.text), "at": made.created_at.isoformat()}
    trust.record(contest, "announcement.made", told)
    return made


def _decide(by: User, entry: Entry, field: str, reason: str, kind: str) -> Entry:
    contest = entry.team.contest
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    reason = reason.strip()
    if kind != "entry.reinstated" and not 0 < len(reason) <= LONGEST_REASON:
        raise InputError.of("contests.no_reason", "", column="reason", longest=LONGEST_REASON)
    with transaction.atomic():
        _end_problems(_locked(contest)).check()
        changed = (
            Entry.objects.filter(pk=entry.pk).exclude(**{field: reason}).update(**{field: reason})
        )
        setattr(entry, field, reason)
        if changed:
            scoring.enqueue(JobKind.STANDINGS, contest, entry.round)
            trust.record(
                contest,
                kind,
                {"team": entry.team.number, "round": entry.round.name, "reason": reason},
            )
    return entry


def _locked(contest: Contest) -> Contest:
    """The contest under a lock, so that of two who change its teams or times one waits."""
    return Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)


def _end_problems(contest: Contest) -> Problems:
    return Problems([]) if contest.ended_at is None else Problems.of("contests.over", "")


def _name_problems(contest: Contest, name: str) -> Problems:
    """Whether another team has the name, or one that nobody could tell from it."""
    seen = as_seen(name)
    taken = [
        other for other in contest.teams.values_list("name", flat=True) if as_seen(other) == seen
    ]
    if name in taken:
        return Problems.of("contests.name_taken", "", column="name", value=name)
    return (
        Problems.of("contests.name_looks_like", "", column="name", value=name, other=taken[0])
        if taken
        else Problems([])
    )


def _number_problems(contest: Contest, number: str, free: list[str]) -> Problems:
    if not free:
        return Problems.of("contests.no_place", "", places=contest.places)
    if number and number not in free:
        return Problems.of("contests.number_not_free", "", column="number", value=number, free=free)
    return Problems([])


def _enter(team: Team, round_: Round, spoken: str) -> Entry | None:
    """A team's entry to a round, unless the round is over."""
    states = dict(round_.phases.values_list("kind", "state"))
    if set(states.values()) == {PhaseState.CLOSED}:
        return None
    late = states.get(ANONYMIZE) in (PhaseState.SEALING, PhaseState.CLOSED)
    words = render(
        "contests.joined_late", {}, spoken if spoken in LANGUAGES else LANGUAGES[0]
    ).message
    return Entry.objects.create(round=round_, team=team, excused=words if late else "")


def _reschedule_problems(
    phase: Phase, opens_at: datetime, closes_at: datetime, now: datetime
) -> Problems:
    name, kind = phase.round.name, phase.kind
    if phase.state in (PhaseState.SEALING, PhaseState.CLOSED):
        return Problems.of("contests.phase_is_over", "", round=name, phase=kind)
    if phase.state == PhaseState.OPEN and opens_at != phase.opens_at:
        return Problems.of("contests.phase_is_open", "", round=name, phase=kind)
    if closes_at <= now:
        time = told_time(closes_at, phase.round.contest.zone)
        return Problems.of("contests.closes_in_the_past", "", round=name, phase=kind, time=time)
    bound = (
        phase.state == PhaseState.WAITING and not phase.round.contest.rehearsal
    )  # one that is open may be cut short
    shortest = SHORTEST if bound else timedelta(0)
    wrong = times_problems(name, kind, opens_at, closes_at, shortest)
    return wrong or _neighbour_problems(phase, opens_at, closes_at)


def _neighbour_problems(phase: Phase, opens_at: datetime, closes_at: datetime) -> Problems:
    """Whether the phase before or after is in the way of other times, also that of another round."""
    limits, zone = queries.neighbours(phase), phase.round.contest.zone
    moved = Span(f"{phase.round.name} {phase.kind}", opens_at, closes_at)
    before, after = (
        None if one is None else Span(f"{one.round.name} {one.kind}", one.opens_at, one.closes_at)
        for one in (limits.before, limits.after)
    )
    return Problems.join(
        [
            *([] if before is None else [overlap_problems(before, moved, zone)]),
            *([] if after is None else [overlap_problems(moved, after, zone)]),
        ]
    )
