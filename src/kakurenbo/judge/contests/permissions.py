"""Who may do what: the only place that decides it. Pages, the API and the rules ask here.

Questions about a moment take ``now``, whether or not the answer depends on it today: who asks need not know.
"""

from __future__ import annotations

import re
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests.models import (
    Contest,
    Entry,
    Membership,
    Phase,
    PhaseState,
    Role,
    Round,
    Team,
    Visibility,
)
from kakurenbo.judge.scoring.models import RoundFile, Visible

Anybody = User | AnonymousUser
SHOWN_REHEARSAL = "demo-rehearsal-1"
"""What everybody sees in a demo; an organizer who tries more there keeps it to themself."""
_HANDS_IN = (Role.MEMBER, Role.RESPONSIBLE)
_PART_OF = re.compile(r"targets/[^/]+/for_([0-9]+)/")
"""A part of a target that is dealt to one attacker alone."""


def is_organizer(user: Anybody) -> bool:
    """Whether somebody may hold contests."""
    return isinstance(user, User) and user.is_active and user.is_organizer


def membership(user: Anybody, contest: Contest) -> Membership | None:
    """Somebody's part in a contest; everybody has one at most."""
    if not isinstance(user, User) or not user.is_active:
        return None
    return (
        Membership.objects.select_related("team__contest")
        .filter(user=user, team__contest=contest)
        .first()
    )


def may_see_contest(user: Anybody, contest: Contest, now: datetime) -> bool:  # noqa: ARG001
    """Whether somebody may know of a contest: rehearsals are the organizers' own affair, but for that of a demo."""
    return (
        not contest.rehearsal
        or is_organizer(user)
        or (settings.SHOW_REHEARSALS and contest.slug == SHOWN_REHEARSAL)
    )


def may_manage(user: Anybody, contest: Contest, now: datetime) -> bool:  # noqa: ARG001
    """Whether somebody may change a contest: every organizer of this judge."""
    return is_organizer(user)


def may_see_team(user: Anybody, team: Team, now: datetime) -> bool:
    """Whether somebody may see who is in a team, what it handed in, and how that was judged."""
    if may_manage(user, team.contest, now):
        return True
    own = membership(user, team.contest)
    return own is not None and own.team_id == team.pk


def may_act_for(user: Anybody, team: Team) -> bool:
    """Whether somebody may do something in the name of a team: its people but advisers."""
    if not isinstance(user, User) or not user.is_active:
        return False
    return Membership.objects.filter(user=user, team=team, role__in=_HANDS_IN).exists()


def may_hand_in(user: Anybody, entry: Entry, phase: Phase, now: datetime) -> bool:
    """Whether somebody may hand in for an entry now."""
    return may_act_for(user, entry.team) and may_play(entry, phase, now)


def may_play(entry: Entry, phase: Phase, now: datetime) -> bool:
    """Whether an entry takes part in a phase that is open, whoever acts for it."""
    return entry.round_id == phase.round_id and not entry.disqualified and is_open(phase, now)


def is_open(phase: Phase, now: datetime) -> bool:
    """Whether a phase takes entries: the closing second itself is too late."""
    return phase.state == PhaseState.OPEN and now < phase.closes_at


def may_fetch(user: Anybody, file: RoundFile, now: datetime) -> bool:
    """Whether somebody may have a file of a round; answers and secrets are no such files.

    What is public is everybody's when the round is prepared; a handout is its team's when it may begin; what attackers get is
    theirs when the attack is open, and a part for one attacker that one's alone; at the end everything is everybody's, until
    the contest's files are deleted: their bytes may be there a little longer, but they are nobody's.
    """
    round_ = file.round
    contest = round_.contest
    if (
        round_.prepared_at is None
        or contest.erased_at is not None
        or not may_see_contest(user, contest, now)
    ):
        return False
    if file.visible == Visible.PUBLIC or is_organizer(user) or has_ended(contest, now):
        return True
    own = membership(user, contest)
    entry = (
        None
        if own is None
        else Entry.objects.filter(round=round_, team=own.team, disqualified="").first()
    )
    if own is None or entry is None:
        return False
    if file.visible == Visible.TEAM:
        return file.subject == own.team.number and _began(round_, ANONYMIZE)
    part = _PART_OF.match(file.path)
    return _began(round_, ATTACK) and (part is None or part[1] == own.team.number)


def may_fetch_submitted(user: Anybody, team: Team, now: datetime) -> bool:
    """Whether somebody may have files as a team handed them in: who may see the team, until the contest's files are deleted."""
    return team.contest.erased_at is None and may_see_team(user, team, now)


def may_see_secrets(user: Anybody, contest: Contest, now: datetime) -> bool:
    """Whether somebody may have answers, secrets and salts: everybody at the end, and before it nobody at all."""
    return has_ended(contest, now) and may_see_contest(user, contest, now)


def may_see_standings(user: Anybody, round: Round, now: datetime) -> bool:
    """Whether somebody may see the standings of a round: not while a phase is under way that hides them."""
    if is_organizer(user):
        return True
    if not may_see_contest(user, round.contest, now):
        return False
    under_way = round.phases.filter(state__in=[PhaseState.OPEN, PhaseState.SEALING])
    return (
        has_ended(round.contest, now) or not under_way.filter(visibility=Visibility.HIDDEN).exists()
    )


def has_ended(contest: Contest, now: datetime) -> bool:
    """Whether a contest is over, and everything may be seen."""
    return contest.ended_at is not None and contest.ended_at <= now


def demand(allowed: bool) -> None:
    """Stop somebody who may not: the rules' own guard, should a page have forgotten to ask."""
    if not allowed:
        raise PermissionDenied


def _began(round: Round, kind: str) -> bool:
    return round.phases.filter(kind=kind).exclude(state=PhaseState.WAITING).exists()
