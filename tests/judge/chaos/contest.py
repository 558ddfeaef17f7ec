"""Contests of real rulebooks on a judge that is being killed: made beside it, played by its API, ended beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.calling import call
from tests.judge.chaos.judge import Judge
from tests.judge.chaos.team import Team

_MAKE = """
import django; django.setup()
import json, sys
from datetime import timedelta
from django.utils import timezone
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token, register
from kakurenbo.judge.contests import rules
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now, hour = timezone.now(), timedelta(hours=1)
tokens = {}
for rulebook, round, places, tries in json.loads(sys.argv[1]):
    phases = [
        rules.PhasePlan(round, "anonymize", now, now + 20 * hour, tries_in_all=tries),
        rules.PhasePlan(round, "attack", now + 20 * hour, now + 40 * hour),
    ]
    options = {"scale": "small", "data": "embedded"}
    contest = rules.make_contest(
        organizer, title=rulebook, slug=rulebook, rulebook=rulebook, options=options, zone="UTC", places=places, phases=phases
    )
    tokens[rulebook] = []
    for place in range(places):
        team = rules.add_team(organizer, contest, f"Team {place}")
        player = register(f"{rulebook}{place}@example.com", "another long password", "Player")
        rules.join(player, rules.invite(organizer, team, "member")[1])
        tokens[rulebook].append(new_token(player, "chaos")[1])
print(json.dumps(tokens))
"""
_CLOSE = """
import django; django.setup()
import sys
from datetime import timedelta
from django.utils import timezone
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.contests.queries import schedule
contest = Contest.objects.get(slug=sys.argv[1])
now = timezone.now()
for phase in schedule(contest):
    if phase.state == "waiting":
        done = rules.reschedule(contest.made_by, phase, now + timedelta(seconds=2), now + timedelta(hours=1))
    elif phase.state == "open":
        done = rules.reschedule(contest.made_by, phase, phase.opens_at, now + timedelta(seconds=1))
    else:
        continue
    print(done.kind)
    break
else:
    rules.end(contest.made_by, contest)
    print("ended")
"""
RELEASES = {
    "amic2020": ("pre", "kanony", "pre_anonymizeddata_{team}.csv"),
    "darc2019": ("round", "dates", "A_{team}-{n}.csv"),
}
"""By rulebook: its round, a method, and what a release is called."""


class Chaotic:
    """A contest and its teams.

    Parameters
    ----------
    judge : Judge
    rulebook : str
    tries : int
        How many each team has.
    tokens : list of str
        One of each team.
    """

    def __init__(self, judge: Judge, rulebook: str, tries: int, tokens: list[str]) -> None:
        self.judge, self.rulebook, self.tries = judge, rulebook, tries
        self.round, self._method, self._name = RELEASES[rulebook]
        numbers = (f"{number:02d}" for number in range(1, len(tokens) + 1))
        self.teams = [
            Team(judge.address, rulebook, self.round, *known)
            for known in zip(numbers, tokens, strict=True)
        ]

    @classmethod
    def held(cls, judge: Judge, tries: dict[str, int], teams: int) -> list[Chaotic]:
        """A contest of each rulebook with so many tries, and so many teams in each."""
        asked = [
            (rulebook, RELEASES[rulebook][0], teams, limit) for rulebook, limit in tries.items()
        ]
        tokens = json.loads(" ".join(judge.said_inside(_MAKE, json.dumps(asked))))
        return [cls(judge, rulebook, limit, tokens[rulebook]) for rulebook, limit in tries.items()]

    def is_open(self) -> bool:
        """Whether releases are taken."""
        return self.state_of("anonymize") == "open"

    def state_of(self, kind: str) -> str:
        """Where a phase is."""
        told = self.teams[0].get(f"contests/{self.rulebook}")
        return next(
            str(phase["state"]) for phase in told["rounds"][0]["phases"] if phase["kind"] == kind
        )

    def make_releases(self, folder: Path, each: int) -> None:
        """So many different releases for every team, and what the command line measures of them."""
        for team in self.teams:
            handout = team.fetch(folder / self.rulebook / team.number)
            for number in range(1, each + 1):
                place = (
                    folder
                    / self.rulebook
                    / f"made-{team.number}-{number}"
                    / self._name.format(team=team.number, n=number)
                )
                place.parent.mkdir()
                assert (
                    call(
                        "anonymize", self.rulebook, self._method, handout, place, "--seed", number
                    ).code
                    == 0
                )
                team.releases.append((place.name, place.read_bytes()))
                team.measured[place.read_bytes()] = call(
                    "measure", self.rulebook, handout, place
                ).json["scores"]

    def go_on(self) -> str:
        """Let the phase that is open end at once, the next one begin, or the contest end; says which it was."""
        return self.judge.said_inside(_CLOSE, self.rulebook)[-1]

    def is_signed(self) -> bool:
        """Whether a signature covers everything that the log tells."""
        log = self.teams[0].get(f"contests/{self.rulebook}/log")
        return max(signed["size"] for signed in log["checkpoints"]) == len(log["entries"])

    def archive(self, place: Path) -> Path:
        """The archive of the contest that is over."""
        place.write_bytes(self.teams[0].download(f"contests/{self.rulebook}/archive.zip"))
        return place

    def acknowledged(self) -> dict[str, dict[str, Any]]:
        """Everything of which the judge said that it was received."""
        return {one["id"]: one for team in self.teams for one in team.acknowledged}
