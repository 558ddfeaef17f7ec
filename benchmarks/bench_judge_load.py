"""The judge under load: a hundred teams upload at once, beside what the disk takes for the same bytes; pages meanwhile; the
queue afterwards; log-ins at once; visitors of the standings."""

from __future__ import annotations

import http.client
import http.cookiejar
import re
import secrets
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.bench_judge import (
    ALLOWED,
    asked,
    free_port,
    proportional_memory,
    said_inside,
    serving,
)
from benchmarks.common import Row, row

TEAMS, MB_EACH, LOG_INS, VISITORS = 100, 10, 16, 1000
PAGE_SECONDS, QUEUE_SECONDS, LOG_IN_MB, VISIT_SECONDS = 0.3, 60, 500, 60
_VISITORS_AT_ONCE = 300
_TWENTIETHS = 20
_PAUSE_SECONDS = 0.05
_FEWEST = 2  # figures from which there is a share
_TEAMS_OF_ONE_CONTEST = 50
_PASSWORD = "a password of a player"
_TEAMS_OF_CONTESTS = f"""
import sys, django; django.setup()
from datetime import timedelta
from django.contrib.auth.hashers import make_password
from django.utils import timezone
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token
from kakurenbo.judge.contests import rules
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now, teams, most = timezone.now(), int(sys.argv[1]), int(sys.argv[2])
phases = [
    rules.PhasePlan("pre", "anonymize", now, now + timedelta(hours=1)),
    rules.PhasePlan("pre", "attack", now + timedelta(hours=1), now + timedelta(hours=2)),
]
options = {{"scale": "small", "data": "embedded"}}
password = make_password("{_PASSWORD}")
for first in range(0, teams, most):
    numbers, slug = range(first, min(first + most, teams)), f"load{{first}}"
    places = len(numbers)
    contest = rules.make_contest(
        organizer, title="Load", slug=slug, rulebook="amic2020", options=options, zone="UTC", places=places, phases=phases
    )
    for number in numbers:
        team = rules.add_team(organizer, contest, f"Team {{number}}")
        player = User.objects.create(email=f"player{{number}}@example.com", password=password)
        rules.join(player, rules.invite(organizer, team, "member")[1])
        print(slug + ":" + new_token(player, "load")[1])
"""


@dataclass(frozen=True)
class Player:
    """Somebody who hands in for a team."""

    address: str
    contest: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def begin(self) -> dict[str, str]:
        """An entry without files."""
        place = f"/contests/{self.contest}/rounds/pre/phases/anonymize/submissions"
        begun: dict[str, str] = asked(self.address, self.headers, place, "POST")
        return begun

    def upload(self, body: bytes, since: Callable[[], float], begun: dict[str, str]) -> float:
        """Seconds from the moment when everybody begins to the answer that the last byte is safe."""
        own = begun["id"].encode()  # the same bytes twice would be kept once
        connection = http.client.HTTPConnection(
            urllib.parse.urlsplit(self.address).netloc, timeout=60
        )
        place = f"/api/v1/submissions/{begun['id']}/files/pre_anonymizeddata_{begun['team']}.csv"
        pieces = [own, memoryview(body)[len(own) :]]
        with closing(connection):
            connection.request(
                "PUT",
                place,
                body=pieces,
                headers={**self.headers, "Content-Length": str(len(body))},
            )
            with connection.getresponse() as answer:
                if answer.status != http.HTTPStatus.CREATED:
                    raise RuntimeError(f"an upload was answered with {answer.status}")
        return since()

    def hand_in(self, begun: dict[str, str]) -> None:
        asked(self.address, self.headers, f"/submissions/{begun['id']}/finish", "POST")

    def is_judged(self, begun: dict[str, str]) -> bool:
        """Of random bytes, that they are refused."""
        return bool(
            asked(self.address, self.headers, f"/submissions/{begun['id']}")["state"] == "invalid"
        )


def run(
    teams: int = TEAMS, mb_each: int = MB_EACH, log_ins: int = LOG_INS, visitors: int = VISITORS
) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="kk") as folder:
        Path(folder).chmod(0o711)  # under root the database has another account
        home, port = Path(folder) / "home", free_port()
        with serving(home, port) as (judge, _):
            address = f"http://127.0.0.1:{port}"
            players = _players(home, address, teams)
            with (
                ThreadPoolExecutor(log_ins) as people,
                _highest(partial(proportional_memory, judge.pid)) as memory,
            ):
                list(people.map(partial(_log_in, address), range(log_ins)))
            uploading = _uploading(home, players, secrets.token_bytes(mb_each << 20))
            visiting = _visiting(f"{address}/contests/load0/standings/", visitors)
    return [
        row(
            f"p95 of {teams} uploads of {mb_each} MiB at once",
            _p95(uploading.seconds),
            "dd conv=fsync of the same",
            uploading.disk_seconds,
            "ratio ≤ 1.5",
        ),
        row("p95 of a page meanwhile", _p95(uploading.looks), ALLOWED, PAGE_SECONDS, "≤ 300 ms"),
        row(
            f"the last of {teams} entries judged after the first was handed in",
            uploading.queue_seconds,
            ALLOWED,
            QUEUE_SECONDS,
            "≤ 60 s",
        ),
        row(
            f"{log_ins} log-ins at once, MB of everything the judge runs",
            max(memory),
            ALLOWED,
            LOG_IN_MB,
            "≤ 500 MB",
        ),
        row(
            f"{visitors} visitors of the standings, {_VISITORS_AT_ONCE} at once",
            visiting,
            ALLOWED,
            VISIT_SECONDS,
            "≤ 60 s",
        ),
    ]


@dataclass(frozen=True)
class Uploading:
    """What came of a hundred uploads, in seconds."""

    disk_seconds: float
    seconds: list[float]
    looks: list[float]
    queue_seconds: float


def _players(home: Path, address: str, teams: int) -> list[Player]:
    """One of each team, in contests whose first phase is open; each has looked at its contest, as players do."""
    said = said_inside(home, _TEAMS_OF_CONTESTS, str(teams), str(_TEAMS_OF_ONE_CONTEST))
    players = [Player(address, *one.split(":")) for one in said]
    for player in players:
        while (
            asked(address, player.headers, f"/contests/{player.contest}")["rounds"][0]["phases"][0][
                "state"
            ]
            != "open"
        ):
            time.sleep(1)
    return players


def _uploading(home: Path, players: list[Player], body: bytes) -> Uploading:
    alone = _disk_seconds(home / "disk", body, len(players))
    entries = [player.begin() for player in players]
    page = f"{players[0].address}/contests/{players[0].contest}/"
    with _looking_at(page) as looks, ThreadPoolExecutor(len(players)) as together:
        seconds = list(together.map(partial(_send, body, _clock()), players, entries))
    since = _clock()
    with ThreadPoolExecutor(len(players)) as together:
        list(together.map(Player.hand_in, players, entries))
    while not all(player.is_judged(entry) for player, entry in zip(players, entries, strict=True)):
        time.sleep(_PAUSE_SECONDS)
    return Uploading(alone, seconds, looks, since())


def _send(body: bytes, since: Callable[[], float], player: Player, begun: dict[str, str]) -> float:
    return player.upload(body, since, begun)


def _disk_seconds(place: Path, body: bytes, times: int) -> float:
    """What the disk takes for the bytes of all uploads, one after the other."""
    source = place.with_name("source")
    source.write_bytes(body)
    began = time.perf_counter()
    for number in range(times):
        written = place.with_name(f"disk-{number}")
        command = ["dd", f"if={source}", f"of={written}", "bs=1M", "conv=fsync", "status=none"]
        subprocess.run(command, check=True)
    seconds = time.perf_counter() - began
    for written in (source, *place.parent.glob("disk-*")):
        written.unlink()
    return seconds


def _log_in(address: str, number: int) -> None:
    """As the page does it."""
    browser = urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    )
    with browser.open(f"{address}/login", timeout=60) as page:
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.read().decode())
    assert found is not None
    form = {
        "csrfmiddlewaretoken": found[1],
        "email": f"player{number}@example.com",
        "password": _PASSWORD,
    }
    with browser.open(
        f"{address}/login", data=urllib.parse.urlencode(form).encode(), timeout=60
    ) as answer:
        if answer.url.endswith("/login"):
            raise RuntimeError("the log-in failed")


def _visiting(page: str, visitors: int) -> float:
    """Seconds until everybody has seen a page."""

    def look(_number: int) -> None:
        with urllib.request.urlopen(page, timeout=60) as answer:
            answer.read()

    since = _clock()
    with ThreadPoolExecutor(_VISITORS_AT_ONCE) as together:
        list(together.map(look, range(visitors)))
    return since()


@contextmanager
def _looking_at(page: str) -> Iterator[list[float]]:
    """Seconds that a visitor waits for a page, over and over, while something else goes on."""

    def look() -> float:
        began = time.perf_counter()
        with urllib.request.urlopen(page, timeout=60) as answer:
            answer.read()
        return time.perf_counter() - began

    with _highest(look) as looks:
        yield looks


@contextmanager
def _highest(figure: Callable[[], float]) -> Iterator[list[float]]:
    """What a figure is, over and over, while something else goes on."""
    found: list[float] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(_PAUSE_SECONDS) or len(found) < _FEWEST:
            found.append(figure())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def _clock() -> Callable[[], float]:
    began = time.perf_counter()
    return lambda: time.perf_counter() - began


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=_TWENTIETHS)[-1]
