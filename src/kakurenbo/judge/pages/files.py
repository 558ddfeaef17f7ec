"""Which files of a round somebody gets in a phase."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from kakurenbo.contest import ANONYMIZE
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Entry, Phase, Round
from kakurenbo.judge.scoring.models import RoundFile, Visible

HANDOUT, TARGETS = (Visible.PUBLIC, Visible.TEAM), (Visible.ATTACKERS, Visible.TARGET)


def files_of_phase(
    user: User | AnonymousUser, phase: Phase, entry: Entry, now: datetime
) -> list[RoundFile]:
    """The handout while a team anonymizes; what attackers get while it attacks."""
    return files_of_kinds(
        user, phase.round, entry, HANDOUT if phase.kind == ANONYMIZE else TARGETS, now
    )


def files_of_kinds(
    user: User | AnonymousUser,
    round_: Round,
    entry: Entry | None,
    kinds: Iterable[str],
    now: datetime,
) -> list[RoundFile]:
    """Files of these folders that the viewer may fetch; of teams' own folders that of the viewer's team alone."""
    known = RoundFile.objects.filter(round=round_, visible__in=kinds).select_related(
        "round__contest", "blob"
    )
    number = entry.team.number if entry else ""
    own = [file for file in known if file.visible != Visible.TEAM or file.subject == number]
    return [file for file in own if permissions.may_fetch(user, file, now)]
