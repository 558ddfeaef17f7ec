"""A rehearsal in earnest: bots of a plugin's field play both phases on their own clock, and there are standings at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from tests.judge import making
from tests.judge.making import organizer, plan
from tests.judge.waiting import PATIENCE

from kakurenbo.arena.teams_file import default_teams
from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests import advancing
from kakurenbo.judge.contests.models import Contest, Entry
from kakurenbo.judge.contests.rehearsal import rehearse
from kakurenbo.judge.scoring import queries, steps
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import Job, JobState, StandingSnapshot
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.methods import registry

pytestmark = pytest.mark.slow


@pytest.fixture
def worker(
    judge_home: Path, plugins: Path, fork_server: ForkServer, settings: Any
) -> Iterator[Worker]:
    assert plugins
    settings.HOME = judge_home
    made = Worker(server=fork_server)
    yield made
    made.close()


@pytest.mark.django_db(transaction=True)
def test_bots_play_a_whole_contest_in_its_own_order_and_are_ranked(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advancing, "_PATIENCE", timedelta(seconds=6))
    held = making.contest(
        rulebook="hide-and-seek",
        options={"size": 40},
        places=4,
        phases=plan(timezone.now() + timedelta(days=30), ("only",)),
    )
    contest = rehearse(organizer(), held, minutes=0.05)
    swept = threading.Event()
    sweep = threading.Thread(target=advance_until, args=[swept])
    sweep.start()
    began = time.monotonic()
    while contest.ended_at is None and time.monotonic() - began < PATIENCE:
        worker.drain()
        time.sleep(0.1)
        contest = Contest.objects.get(pk=contest.pk)
    swept.set()
    sweep.join()
    worker.drain()
    assert contest.ended_at is not None, list(
        Job.objects.values("kind", "state", "subject", "cause")
    )
    assert not Job.objects.exclude(state=JobState.DONE).exists()
    handed_in = Submission.objects.values_list("phase__kind", "entry__team__number", "state")
    assert set(handed_in) == {
        (kind, number, "scored")
        for kind in (ANONYMIZE, ATTACK)
        for number in ("01", "02", "03", "04")
    }
    snapshot = StandingSnapshot.objects.get(round=contest.rounds.get())
    assert snapshot.shown
    assert {line["team"] for line in snapshot.standings["overall"] if line["rank"]} == {
        "01",
        "02",
        "03",
        "04",
    }


@pytest.mark.parametrize("rulebook", ["amic2020", "darc2019", "pwscup2021", "pwscup2024"])
def test_every_bot_attacks_also_one_that_only_anonymizes_in_a_tournament(rulebook: str) -> None:
    rules = registry.load("rulebooks", rulebook)()
    field = default_teams(rules).entrants
    assert not all(entrant.attacks for entrant in field)
    bots = [
        steps._bot(rules, {"name": one.name, "place": place}) for place, one in enumerate(field)
    ]
    assert all(bot.attack is not None for bot in bots)
    assert [bot.attack for bot in bots if bot.attack in [one.attack for one in field]] == [
        bot.attack for bot in bots
    ]
    assert [(bot.name, bot.anonymizer) for bot in bots] == [
        (one.name, one.anonymizer) for one in field
    ]


@pytest.mark.django_db
def test_a_bots_entry_that_is_refused_lies_in_the_queue_with_its_cause_and_the_rehearsal_goes_on(
    worker: Worker,
) -> None:
    held = making.contest(
        rulebook="hide-and-seek",
        options={"size": 40},
        places=3,
        phases=plan(timezone.now() + timedelta(days=30), ("only",)),
    )
    contest = rehearse(organizer(), held, minutes=60)
    while advancing.advance(timezone.now()) or worker.drain():
        Entry.objects.filter(round__contest=contest, team__number="02").update(
            disqualified="for a trial"
        )
    (parked,) = queries.queue(contest)
    assert (parked.job.kind, parked.job.subject, parked.job.state) == ("bot", "02", "parked")
    assert (
        parked.job.cause
        == "what the bot handed in is refused: the team is out of this round: for a trial"
    )
    assert "job.parked" in {logged.kind for logged in contest.log.all()}
    assert {one.entry.team.number for one in Submission.objects.all()} == {"01", "03"}
    assert not advancing._bots_at_work(contest.rounds.get()), "nothing waits for it"


def advance_until(end: threading.Event) -> None:
    """What the sweep does all the time."""
    while not end.wait(0.2):
        advancing.advance(timezone.now())
    connection.close()
