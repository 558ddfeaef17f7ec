"""Contests in the database without a schedule, and what teams hand in, for tests of scoring."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone

from kakurenbo.arena.teams_file import default_teams
from kakurenbo.contest import AnyRulebook
from kakurenbo.core.rng import stream
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Round, Team
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.models import Job, JobKind, RoundFile, SecretFile
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State, Submission, SubmittedFile


def new_round(
    rulebook: str, options: Mapping[str, Any], round: str, teams: int = 2, places: int = 3
) -> Round:
    """A contest whose first round takes releases, with teams from 01 on; the last places are nobody's."""
    organizer, _ = get_user_model().objects.get_or_create(email="organizer@example.org")
    number = Contest.objects.count()
    contest = Contest.objects.create(
        slug=f"{rulebook}-{number}",
        title=rulebook,
        rulebook=rulebook,
        options=dict(options),
        places=places,
        made_by=organizer,
    )
    made = Round.objects.create(contest=contest, name=round, position=1)
    now = timezone.now()
    for kind, state, hours in (
        ("anonymize", PhaseState.OPEN, 0),
        ("attack", PhaseState.WAITING, 1),
    ):
        opens = now + timedelta(hours=hours)
        Phase.objects.create(
            round=made, kind=kind, state=state, opens_at=opens, closes_at=opens + timedelta(hours=1)
        )
    for place in range(1, teams + 1):
        team = Team.objects.create(contest=contest, number=f"{place:02d}", name=f"team {place}")
        Entry.objects.create(round=made, team=team)
    return made


def prepare(round: Round, worker: Worker) -> None:
    """Have the data of a round drawn."""
    rules.enqueue(JobKind.PREPARE, round.contest, round)
    worker.drain()
    round.refresh_from_db()
    assert round.prepared_at is not None, [job.cause for job in Job.objects.all()]


def change_phase(round: Round, kind: str, state: str) -> Phase:
    Phase.objects.filter(round=round, kind=kind).update(state=state)
    return Phase.objects.get(round=round, kind=kind)


def hand_in(
    round: Round, team: str, files: Mapping[str, bytes], kind: str = "anonymize"
) -> Submission:
    """Something that a team handed in, received and queued."""
    entry = Entry.objects.get(round=round, team__number=team)
    phase = Phase.objects.get(round=round, kind=kind)
    number = Submission.objects.filter(entry=entry, phase=phase).count() + 1
    submission = Submission.objects.create(
        entry=entry, phase=phase, number=number, received_at=timezone.now(), state=State.RECEIVED
    )
    for name, content in files.items():
        SubmittedFile.objects.create(submission=submission, name=name, blob=store.put(content))
    rules.enqueue(JobKind.JUDGE, round.contest, round, submission)
    return submission


def exported(round: Round, prefix: str, folder: Path) -> Path:
    """A folder of a round as people, or the judge, would have it on their disk."""
    for file in RoundFile.objects.filter(round=round, path__startswith=prefix):
        with store.open_blob(file.blob_id) as content:
            _write(folder / file.path, content.read())
    for secret in SecretFile.objects.filter(round_id=round.pk, path__startswith=prefix):
        _write(folder / secret.path, store.read_secret(secret.digest))
    return folder / prefix


def anonymized(round: Round, team: str, folder: Path, player: int = 0) -> dict[str, bytes]:
    """The files that a player of the rulebook's own field would hand in for a team."""
    handout = exported(round, f"teams/{team}/", folder)
    book: AnyRulebook = rules_of(round.contest, round).in_folder(handout)
    read = book.read_handout(handout)
    method = [entrant.anonymizer for entrant in default_teams(book).entrants if entrant.anonymizer][
        player
    ].make()
    return dict(book.release_files(read, book.anonymize(read, method, stream(7, team))))


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
