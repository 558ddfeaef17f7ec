"""A contest played by the rules themselves at times of our own, so that its log tells the truth; and its archive."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models.fields.json import KT
from django.test import override_settings
from django.utils import timezone
from tests.judge import making
from tests.judge.making import organizer
from tests.judge.scoring_helpers import anonymized, exported

from kakurenbo.contest import AnyRulebook
from kakurenbo.core.rng import stream
from kakurenbo.judge.contests import archive, rules
from kakurenbo.judge.contests.advancing import advance
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import Target
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.trust.rules import checkpoint

CLOCK = SimpleNamespace(now=timezone.now)
"""What the log takes for the time: that of the contest which is played."""


class Play:
    """A contest, whose time goes on as it is told to."""

    def __init__(
        self, rulebook: str, rounds: tuple[str, ...], folder: Path, worker: Worker, **options: Any
    ) -> None:
        self.now = timezone.now() + timedelta(days=1)
        self.folder, self._worker = folder, worker
        CLOCK.now = lambda: self.now
        self.contest: Contest = making.contest(
            rulebook=rulebook,
            options=options,
            phases=making.plan(self.now, rounds),
            places=6,
            slug="cup",
        )
        self.round: Round = self.contest.rounds.get(name=rounds[0])

    def team(self, name: str, **fields: Any) -> str:
        """A team with one member; gives its number."""
        return making.team(self.contest, name, making.user(name), **fields).number

    def open(self, round_name: str, kind: str) -> None:
        """Let the time come at which a phase opens."""
        self.round = self.contest.rounds.get(name=round_name)
        self.now = making.phase(self.contest, kind, round_name).opens_at + timedelta(hours=1)
        self.go_on()

    def go_on(self) -> None:
        while advance(self.now) or self._worker.drain():
            pass

    def hand_in(
        self, team: str, kind: str, files: Mapping[str, bytes], *, judge: bool = True
    ) -> Submission:
        """Something that a team hands in now."""
        entry = making.entry(self.contest.teams.get(number=team), self.round.name)
        user = entry.team.memberships.get().user
        self.now += timedelta(minutes=1)
        begun = submissions.begin(
            user, entry, making.phase(self.contest, kind, self.round.name), self.now
        )
        for name, content in files.items():
            submissions.add_file(begun, name, store.put(content))
        done = submissions.finish(begun, self.now)
        if judge:
            self.go_on()
        return done

    def release(self, team: str, player: int = 0) -> dict[str, bytes]:
        """What a player of the rulebook's own field would hand in."""
        (data,) = anonymized(
            self.round, team, self.folder / f"{self.round.name}{team}", player
        ).values()
        return {rules_of(self.contest, self.round).release_pattern.name(team=team): data}

    def guesses(self, team: str) -> dict[str, bytes]:
        """What the organizers' first attack would hand in on all releases but a team's own."""
        place = self.folder / f"attack-{self.round.name}"
        exported(self.round, "attackers/", place)
        published = (
            Target.objects.alias(state=KT("record__state"))
            .filter(round=self.round, state="published")
            .exclude(entry__team__number=team)
        )
        made = {}
        book: AnyRulebook = rules_of(self.contest, self.round)
        for target in published:
            folder = exported(self.round, f"targets/{target.name}/", place)
            book = book.in_folder(folder)
            read = book.read_target(folder, place / "attackers")
            attack = next(iter(book.sample_attacks.values()))
            made[target.name] = attack(read.knowledge, stream(3, team, target.name))
        return dict(book.guess_files(made, team))

    def end(self) -> None:
        """Close what is open, and end."""
        self.now += timedelta(days=30)
        self.go_on()
        rules.end(organizer(), self.contest)
        self.go_on()
        self.contest.refresh_from_db()
        checkpoint(self.contest)

    def archive(self) -> bytes:
        """As everybody may have it now."""
        return b"".join(
            archive.archive(
                AnonymousUser(), Contest.objects.get(pk=self.contest.pk), timezone.now()
            )
        )


@contextlib.contextmanager
def stage_for_playing(folder: Path, fork_server: ForkServer) -> Iterator[Worker]:
    """Stores, a worker and a database of which nothing stays."""
    backend = "django.core.files.storage.FileSystemStorage"
    places = {"default": folder / "files", "secret": folder / "secret"}
    stores = {
        name: {"BACKEND": backend, "OPTIONS": {"location": place}} for name, place in places.items()
    }
    clock = patch("kakurenbo.judge.trust.rules.timezone", CLOCK)
    with (
        override_settings(STORAGES={**settings.STORAGES, **stores}, HOME=folder),
        clock,
        transaction.atomic(),
    ):
        worker = Worker(server=fork_server)
        try:
            yield worker
        finally:
            worker.close()
            transaction.set_rollback(True)
