"""A whole contest on a judge that listens: people use pages or the command line, a worker runs here, time is moved."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from tests.calling import Called, call
from tests.judge import making

from kakurenbo.contest import ANONYMIZE
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.advancing import advance
from kakurenbo.judge.contests.making import told_phase
from kakurenbo.judge.contests.models import Contest, Phase, Role
from kakurenbo.judge.pages.boards import sample_name
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.sweep import sign_logs
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.trust import rules as trust
from kakurenbo.methods import registry

RANKINGS = ("anonymization", "attack", "overall")
_HOUR = timedelta(hours=1)


class Stage:
    """A contest, its teams' tokens and folders, and a worker.

    Parameters
    ----------
    address : str
        Where the judge listens.
    folder : Path
        For what teams write.
    """

    def __init__(
        self, address: str, folder: Path, monkeypatch: pytest.MonkeyPatch, worker: Worker
    ) -> None:
        self.address, self.folder, self._environment, self.worker = (
            address,
            folder,
            monkeypatch,
            worker,
        )
        self.tokens: dict[str, str] = {}
        self.contest: Contest
        self.round = ""
        monkeypatch.setenv("KAKURENBO_SERVER", address)

    def hold(self, rulebook: str, rounds: tuple[str, ...], teams: int, **options: Any) -> None:
        """Make a contest with so many teams, one member each; its data is drawn and its first phase open."""
        declared = registry.load("rulebooks", rulebook)()
        plans = [
            replace(plan, tries_per_target=declared.phase(plan.kind).tries.per_target)
            for plan in making.plan(timezone.now() + timedelta(days=1), rounds)
        ]
        self.contest = making.contest(
            rulebook=rulebook, options=options, phases=plans, places=teams + 1
        )
        for number in range(1, teams + 1):
            team = making.team(self.contest, f"team {number}")
            self.tokens[team.number] = self.token(team.number)
        self.open(rounds[0], ANONYMIZE)

    def invited(self, number: str) -> str:
        """A link by which somebody joins a team."""
        return f"{self.address}/join/{rules.invite(making.organizer(), self.contest.teams.get(number=number), Role.MEMBER)[1]}"

    def token(self, number: str) -> str:
        """The token of a member that a team gets by this."""
        member = making.user(f"member{number}")
        _, invitation = rules.invite(
            making.organizer(), self.contest.teams.get(number=number), Role.MEMBER
        )
        rules.join(member, invitation)
        return accounts.new_token(member, "of a program")[1]

    def open(self, round_name: str, kind: str) -> None:
        """Let the time come at which a phase opens, and with that the end of those before it."""
        self.round, now = round_name, timezone.now()
        phases = Phase.objects.filter(round__contest=self.contest).order_by(
            "round__position", "opens_at"
        )
        meant = phases.get(round__name=round_name, kind=kind)
        earlier = [phase.pk for phase in phases if phase.opens_at < meant.opens_at]
        for place, pk in enumerate(reversed(earlier), start=1):
            phases.filter(pk=pk).update(
                opens_at=now - (place + 1) * _HOUR, closes_at=now - place * _HOUR
            )
        phases.filter(pk=meant.pk).update(
            opens_at=now - timedelta(minutes=1), closes_at=now + _HOUR
        )
        self._log_times()
        self.go_on()
        assert phases.get(pk=meant.pk).state == "open", phases.get(pk=meant.pk).state

    def close(self) -> None:
        """Let the time of every phase be over."""
        now = timezone.now()
        for place, phase in enumerate(
            Phase.objects.filter(round__contest=self.contest).order_by("-opens_at"), start=1
        ):
            Phase.objects.filter(pk=phase.pk).update(
                opens_at=now - (place + 1) * _HOUR, closes_at=now - place * _HOUR
            )
        self._log_times()
        self.go_on()

    def _log_times(self) -> None:
        """Tell the log of times that were moved by hand, as the rules would have."""
        for phase in Phase.objects.filter(round__contest=self.contest):
            told = told_phase(phase.round.name, phase.kind, phase.opens_at, phase.closes_at)
            trust.record(self.contest, "phase.rescheduled", told)

    def finish(self) -> None:
        """Close everything and end the contest."""
        self.close()
        rules.end(making.organizer(), self.contest)
        self.go_on()
        self.contest.refresh_from_db()

    def go_on(self) -> None:
        """Do all that is due, and all work that comes of it; then sign the log."""
        while advance(timezone.now()) or self.worker.drain():
            pass
        sign_logs()

    def call(self, team: str, *arguments: object) -> Called:
        """The command line as a team's program calls it."""
        self._environment.setenv("KAKURENBO_TOKEN", self.tokens[team])
        return call(*arguments)

    def fetch(self, team: str) -> Path:
        """A team's folder of the round that is under way, with all that it may have now."""
        out = self.folder / f"team{team}-{self.round}"
        assert (
            self.call(team, "fetch", self.contest.slug, "-o", out, "--round", self.round).code == 0
        )
        return out

    def submit(self, team: str, *files: Path) -> dict[str, Any]:
        """Hand in, have it judged, and give what the judge says of it."""
        handed_in = self.call(team, "submit", self.contest.slug, *files, "--wait", 0)
        assert handed_in.code == 0, handed_in
        self.go_on()
        status = self.call(team, "status", self.contest.slug).json
        every = (one for phase in status["phases"] for one in phase["submissions"])
        found: dict[str, Any] = next(one for one in every if one["id"] == handed_in.json["id"])
        return found

    def get(self, path: str, token: str = "") -> Any:
        """What the API says, to a team or to everybody."""
        return json.loads(self.download(path, token))

    def download(self, path: str, token: str = "") -> bytes:
        import urllib.request

        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with urllib.request.urlopen(
            urllib.request.Request(f"{self.address}/api/v1/{path}", headers=headers)
        ) as answer:
            content: bytes = answer.read()
        return content

    def archive(self) -> Path:
        """The organizers' archive, unpacked."""
        token = accounts.new_token(making.organizer(), "of an organizer")[1]
        content = self.download(f"contests/{self.contest.slug}/archive.zip", token)
        zipfile.ZipFile(io.BytesIO(content)).extractall(self.folder / "archive")
        return self.folder / "archive" / self.contest.slug

    def standings_from_files(self, archive: Path) -> dict[str, Any]:
        """The last standings that the command line makes from the archive, as its README says; all of it holds."""
        verified = call("verify", archive).json
        assert verified.get("complete"), verified
        return standings_from_files(archive, self._environment)[-1]


def ranks(standings: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Who has which score and rank."""
    return {
        name: [(line["team"], line["score"], line["rank"]) for line in standings[name]]
        for name in RANKINGS
    }


def on_page(standings: dict[str, Any]) -> dict[str, list[list[str]]]:
    """Standings as an English page tells them: a team by its number, a dash for none, and every digit of a score."""
    return {
        name: [
            [
                team if team[0].isdigit() else sample_name(team),
                *("–" if value is None else str(value) for value in line),
            ]
            for team, *line in lines
        ]
        for name, lines in ranks(standings).items()
    }


def commands_of(archive: Path) -> list[list[str]]:
    """The commands that an archive's README names, once for each of its languages."""
    lines = (archive / "README.txt").read_text(encoding="utf-8").splitlines()
    commands = [line.split()[1:] for line in lines if line.startswith("kakurenbo ")]
    half = len(commands) // 2
    assert commands[:half] == commands[half:]
    return commands[:half]


def standings_from_files(archive: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The standings as the command line makes them from an archive: of each round, then of all rounds together."""
    monkeypatch.chdir(archive.parent)
    made = []
    for command in commands_of(archive):
        called = call(*command)
        assert called.code in ((0, 1) if command[0] == "score" else (0,)), (command, called)
        if command[0] == "standings":
            made.append(called.json)
    return made


@contextlib.contextmanager
def staged(
    address: str, folder: Path, monkeypatch: pytest.MonkeyPatch, server: ForkServer
) -> Iterator[Stage]:
    """A stage whose worker ends with it."""
    worker = Worker(folder / "worker", server=server)
    try:
        yield Stage(address, folder, monkeypatch, worker)
    finally:
        worker.close()
