"""The judge under load: many teams upload at once, beside what the disk takes for the same bytes, and pages meanwhile."""

from __future__ import annotations

import http.client
import secrets
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.bench_judge import asked, free_port, said_inside, serving
from benchmarks.common import Row, row

TEAMS, MB_EACH = 100, 10
PAGE_SECONDS = 0.3
_TWENTIETHS = 20
_PAUSE_SECONDS = 0.05
_TEAMS_OF_ONE_CONTEST = 50
_TEAMS_OF_CONTESTS = """
import sys, django; django.setup()
from datetime import timedelta
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
options = {"scale": "small", "data": "embedded"}
for first in range(0, teams, most):
    numbers = range(first, min(first + most, teams))
    contest = rules.make_contest(
        organizer, title="Load", slug=f"load{first}", rulebook="amic2020", options=options,
        zone="UTC", places=len(numbers), phases=phases,
    ).value
    for number in numbers:
        team = rules.add_team(organizer, contest, f"Team {number}").value
        player = User.objects.create(email=f"player{number}@example.com")
        rules.join(player, rules.invite(organizer, team, "member")[1])
        print(contest.slug + ":" + new_token(player, "load")[1])
"""


def run(teams: int = TEAMS, mb_each: int = MB_EACH) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="kk") as folder:
        Path(folder).chmod(0o711)  # under root the database has another account
        home, port = Path(folder) / "home", free_port()
        body = secrets.token_bytes(mb_each << 20)
        with serving(home, port):
            address = f"http://127.0.0.1:{port}"
            accesses = said_inside(home, _TEAMS_OF_CONTESTS, str(teams), str(_TEAMS_OF_ONE_CONTEST))
            for contest, token in {one.split(":")[0]: one.split(":")[1] for one in accesses}.items():
                while asked(address, _bearer(token), f"/contests/{contest}")["rounds"][0]["phases"][0]["state"] != "open":
                    time.sleep(1)
            alone = _disk_seconds(home / "disk", body, teams)
            with _looking_at(f"{address}/contests/load0/") as looks, ThreadPoolExecutor(teams) as players:
                uploads = list(players.map(partial(_upload, address, body, _clock()), accesses))
    return [
        row(
            f"p95 of {teams} uploads of {mb_each} MiB at once",
            _p95(uploads),
            "dd conv=fsync of the same",
            alone,
            "ratio ≤ 1.5",
        ),
        row("p95 of a page meanwhile", _p95(looks), "what is allowed", PAGE_SECONDS, "≤ 300 ms"),
    ]


def _upload(address: str, body: bytes, since: Callable[[], float], access: str) -> float:
    """From the moment when everybody begins to the answer that the last byte is safe."""
    contest, token = access.split(":")
    headers = _bearer(token)
    begun = asked(address, headers, f"/contests/{contest}/rounds/pre/phases/anonymize/submissions", "POST")
    own = begun["id"].encode()  # the same bytes twice would be kept once
    connection = http.client.HTTPConnection(address.partition("//")[2], timeout=60)
    place = f"/api/v1/submissions/{begun['id']}/files/pre_anonymizeddata_{begun['team']}.csv"
    pieces = [own, memoryview(body)[len(own) :]]
    connection.request("PUT", place, body=pieces, headers={**headers, "Content-Length": str(len(body))})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != http.HTTPStatus.CREATED:
        raise RuntimeError(f"an upload was answered with {answer.status}")
    return since()


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


@contextmanager
def _looking_at(page: str) -> Iterator[list[float]]:
    """Seconds that a visitor waits for a page, over and over, while something else goes on."""
    looks: list[float] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(_PAUSE_SECONDS):
            began = time.perf_counter()
            with urllib.request.urlopen(page, timeout=60) as answer:
                answer.read()
            looks.append(time.perf_counter() - began)

    visitor = threading.Thread(target=look)
    visitor.start()
    try:
        yield looks
    finally:
        over.set()
        visitor.join()


def _clock() -> Callable[[], float]:
    began = time.perf_counter()
    return lambda: time.perf_counter() - began


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=_TWENTIETHS)[-1]


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
