"""Everything that organizers and players do on pages is done with the rights of the web, which sees no secret."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from tests.judge import making
from tests.judge.making import blob, good, organizer, plan
from tests.judge.test_roles import as_web

from kakurenbo.contracts import ATTACK
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest, PhaseState, Role
from kakurenbo.judge.contests.rehearsal import rehearse
from kakurenbo.judge.scoring.models import Job, Target
from kakurenbo.judge.serve.roles import make_web_role
from kakurenbo.judge.submissions import queries
from kakurenbo.judge.submissions import rules as submissions

pytestmark = pytest.mark.django_db


def test_organizers_and_players_need_no_other_rights() -> None:
    make_web_role("of the moment")
    now = timezone.now()
    with as_web():
        contest = making.contest(phases=plan(now + timedelta(days=1)))
        hanako = making.user()
        team = making.team(contest, "foxes", hanako)
        invite, _ = rules.invite(organizer(), team, Role.ADVISER)
        rules.revoke_invite(organizer(), invite)
        phase = making.phase(contest, ATTACK)
        good(rules.reschedule(organizer(), phase, phase.opens_at, phase.closes_at + timedelta(hours=1)))
        good(rules.set_visibility(organizer(), phase, "hidden"))
        good(rules.announce(organizer(), contest, "Hello", "Read the rules."))
        entry, phase = making.entry(team), making.opened(contest)
        submission = good(submissions.begin(hanako, entry, phase, now))
        submissions.add_file(submission, "pre_anonymizeddata_01.csv", blob())
        submission = good(submissions.finish(submission, now))
        assert [one.number for one in queries.history(entry, phase)] == [1]
        assert queries.counting(entry, phase) == []
        good(submissions.withdraw(hanako, submission, now))
        good(rules.disqualify(organizer(), entry, "by mistake"))
        Target.objects.create(round=entry.round, entry=entry, name="01", record={"state": "disqualified"})
        good(rules.reinstate(organizer(), entry))
        assert not Target.objects.exists()
        good(rules.excuse(organizer(), entry, "was ill"))
        rehearse(organizer(), contest)
        contest.rounds.get().phases.update(state=PhaseState.CLOSED)
        good(rules.end(organizer(), contest))
    assert Contest.objects.count() == 2
    assert {"judge", "seal", "standings"} == set(Job.objects.values_list("kind", flat=True))
