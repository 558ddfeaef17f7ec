"""A judge as players meet it: all its processes, two contests, teams with tokens; watched while hostile things come in."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.bench_judge import asked, family, free_port, said_inside, serving
from tests.judge.waiting import PATIENCE, wait_until

TABLES, ZIPS = "tables", "zips"
"""Contests: of one whose entries are a table (amic2020), and one whose entries may be a zip (pwscup2024)."""
FINAL = ("invalid", "scored", "failed", "parked", "withdrawn")
MOST_MB = 600
TEAMS = 3
_LOOK_SECONDS = 0.1
_CONTESTS = """
import sys, django; django.setup()
from datetime import timedelta
from django.test import Client
from django.utils import timezone
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token
from kakurenbo.judge.contests import rules
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now, teams = timezone.now(), int(sys.argv[1])
phases = [
    rules.PhasePlan("pre", "anonymize", now, now + timedelta(hours=1)),
    rules.PhasePlan("pre", "attack", now + timedelta(hours=1), now + timedelta(hours=2)),
]
for slug, rulebook in (("tables", "amic2020"), ("zips", "pwscup2024")):
    options = {"scale": "small", "data": "embedded"}
    contest = rules.make_contest(
        organizer, title=slug, slug=slug, rulebook=rulebook, options=options, zone="UTC", places=teams, phases=phases
    )
    for number in range(teams):
        team = rules.add_team(organizer, contest, f"Team {number}")
        player = User.objects.get_or_create(email=f"{slug}{number}@example.com")[0]
        rules.join(player, rules.invite(organizer, team, "member")[1])
        print(new_token(player, "field")[1])
browser = Client()
browser.force_login(User.objects.get(email="tables0@example.com"), "django.contrib.auth.backends.ModelBackend")
print(browser.cookies["sessionid"].value)
"""
_LEFT = """
import django; django.setup()
import json
from datetime import timedelta
from django.utils import timezone
from kakurenbo.judge.scoring.models import Job
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Blob, Submission
store.forget_unused(timezone.now() + timedelta(hours=1))
states = list(Submission.objects.values_list("state", flat=True))
jobs = list(Job.objects.exclude(state="done").values_list("kind", flat=True))
print(json.dumps({"states": states, "jobs": jobs, "blobs": list(Blob.objects.values_list("digest", flat=True))}))
"""


class Answer(NamedTuple):
    """What the judge says to a request."""

    status: int
    said: Any

    @property
    def codes(self) -> set[str]:
        """Of the refusal, and of every problem that it names."""
        told = self.said if isinstance(self.said, dict) else {}
        return {
            told.get("error", ""),
            *(problem["code"] for problem in told.get("problems", [])),
        } - {""}


@dataclass
class Field:
    """A judge that runs, and who plays there."""

    home: Path
    port: int
    tokens: dict[str, list[str]]
    session: str = ""
    """By which the member of the first team of the tables is logged in."""
    _turns: Counter[str] = field(default_factory=Counter)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def player(self, contest: str) -> Player:
        """The next team's member: no team hands in so often that it is told to wait."""
        self._turns[contest] += 1
        return self.team(contest, self._turns[contest] % TEAMS)

    def team(self, contest: str, number: int) -> Player:
        return Player(self, contest, f"{number + 1:02d}", self.tokens[contest][number])

    def left(self) -> dict[str, Any]:
        """What is in the database when everything that nobody refers to was forgotten."""
        found: dict[str, Any] = json.loads(" ".join(said_inside(self.home, _LEFT)))
        return found


@dataclass
class Player:
    """Somebody of a team, who speaks to the API."""

    field: Field
    contest: str
    number: str
    token: str
    language: str = "en"

    def ask(
        self, method: str, path: str, body: Any = None, language: str = "", **headers: str
    ) -> Answer:
        """An ordinary request, read to its end."""
        status, content = self._ask(
            method, path, body, {"Accept-Language": language or self.language, **headers}
        )
        return Answer(status, read_json(content))

    def download(self, path: str) -> bytes:
        """A file that may be fetched."""
        status, content = self._ask("GET", path, None, {})
        assert status == 200, content
        return content

    def _ask(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.field.port, timeout=PATIENCE)
        try:
            given = {"Authorization": f"Bearer {self.token}", **headers}
            with contextlib.suppress(
                ConnectionError
            ):  # who is refused in the middle of a body is told why
                connection.request(method, f"/api/v1{path}", body=body, headers=given)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def begin(self, phase: str = "anonymize") -> str:
        """A new submission: the path of it."""
        answer = self.ask("POST", f"/contests/{self.contest}/rounds/pre/phases/{phase}/submissions")
        assert answer.status == 201, answer
        return f"/submissions/{answer.said['id']}"

    def own(self, name: str) -> str:
        """A file name with the team's number."""
        return name.replace("NN", self.number)

    def verdict(self, submission: str, language: str = "") -> Answer:
        """What came of a submission: its state, and the judging with its problems."""

        def judged() -> Answer | None:
            answer = self.ask("GET", submission, language=language)
            return answer if answer.said["state"] in FINAL else None

        answer = wait_until(judged, lambda: f"{submission} {self.ask('GET', submission)}")
        return Answer(answer.status, {"error": answer.said["state"], **answer.said["judging"]})


def read_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body[:500]


class Watch:
    """The most memory that each process of a judge held (PSS), looked at over and over while it works."""

    def __init__(self, pid: int) -> None:
        self.pid, self._over = pid, threading.Event()
        self.most: dict[str, float] = {}
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            for pid in family(self.pid):
                self._note(pid)

    def _note(self, pid: int) -> None:
        with contextlib.suppress(OSError, StopIteration):  # it ended meanwhile
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            held = next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
            name = f"{Path(f'/proc/{pid}/comm').read_text().strip()} {pid}"
            self.most[name] = max(held, self.most.get(name, 0.0))


@contextlib.contextmanager
def playing_field() -> Iterator[tuple[Field, Watch, Path]]:
    """A judge with its contests open; the log of what it prints. Temporary files of it are in a folder that it has alone."""
    with tempfile.TemporaryDirectory(prefix="kk") as name:
        folder = Path(name)
        folder.chmod(0o711)  # under root the database has another account
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        port = free_port()
        with (
            patch.dict(os.environ, {"TMPDIR": str(folder / "tmp"), "KAKURENBO_LANG": "en"}),
            serving(folder / "home", port) as (judge, _),
        ):
            words = said_inside(folder / "home", _CONTESTS, str(TEAMS))
            made = Field(
                folder / "home", port, {TABLES: words[:TEAMS], ZIPS: words[TEAMS:-1]}, words[-1]
            )
            for slug, tokens in made.tokens.items():
                _wait_until_open(made, slug, tokens[0])
            with Watch(judge.pid) as watch:
                yield made, watch, folder


def _wait_until_open(made: Field, slug: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    wait_until(
        lambda: (
            asked(made.address, headers, f"/contests/{slug}")["rounds"][0]["phases"][0]["state"]
            == "open"
        ),
        lambda: slug,
    )
