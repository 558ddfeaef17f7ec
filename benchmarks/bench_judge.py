"""The judge: how soon it is ready, and what it takes of memory while nothing happens; figures beside what the issue allows."""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common import REPOSITORY, Row, row
from kakurenbo.judge.serve.postgres import EmbeddedPostgres

FRESH_SECONDS, AGAIN_SECONDS, STOP_SECONDS, SCORED_SECONDS, IDLE_MB = 12, 4, 10, 3, 300
ALLOWED = "what is allowed"
_IDLE_SECONDS = 20  # after which nothing of the start is left to do
_TIMES = 5
_A_TEAM = """
import django; django.setup()
from datetime import timedelta
from django.utils import timezone
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token, register
from kakurenbo.judge.contests import rules
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now = timezone.now()
phases = [
    rules.PhasePlan("pre", "anonymize", now, now + timedelta(hours=1)),
    rules.PhasePlan("pre", "attack", now + timedelta(hours=1), now + timedelta(hours=2)),
]
options = {"scale": "small", "data": "embedded"}
contest = rules.make_contest(
    organizer, title="Bench", slug="bench", rulebook="amic2020", options=options, zone="UTC", places=2, phases=phases
)
team = rules.add_team(organizer, contest, "Team")
player = register("player@example.com", "another long password", "Player")
rules.join(player, rules.invite(organizer, team, "member")[1])
print(new_token(player, "bench")[1])
"""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="kk") as folder:
        Path(folder).chmod(0o711)  # under root the database has another account
        home, port = Path(folder) / "home", free_port()
        with serving(home, port) as (_, fresh):
            pass
        with serving(home, port) as (judge, again):
            time.sleep(_IDLE_SECONDS)
            memory = proportional_memory(judge.pid)
            scored = statistics.median(
                _seconds_to_score(home, Path(folder), f"http://127.0.0.1:{port}")
            )
            time.sleep(_IDLE_SECONDS)
            in_a_phase = proportional_memory(judge.pid)
            began = time.perf_counter()
            judge.send_signal(signal.SIGINT)
            judge.wait()
            stopped = time.perf_counter() - began
    return [
        row("judge ready on a fresh folder", fresh, ALLOWED, FRESH_SECONDS, "≤ 12 s"),
        row("judge ready on an old folder", again, ALLOWED, AGAIN_SECONDS, "≤ 4 s"),
        row("judge stopped after Ctrl-C", stopped, ALLOWED, STOP_SECONDS, "≤ 10 s"),
        row(
            "small amic2020 release scored after its upload",
            scored,
            ALLOWED,
            SCORED_SECONDS,
            "≤ 3 s",
        ),
        row("judge idle, MB of everything it runs", memory, ALLOWED, IDLE_MB, "≤ 300 MB"),
        row(
            "judge idle in an open phase, MB of everything it runs",
            in_a_phase,
            ALLOWED,
            IDLE_MB,
            "≤ 300 MB",
        ),
    ]


@contextmanager
def serving(home: Path, port: int) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A judge, and the seconds after which it was ready."""
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    command = [sys.executable, "-m", "kakurenbo", "serve", "--home", str(home), "--port", str(port)]
    began = time.perf_counter()
    judge = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL)
    try:
        while not _is_well(port):
            if judge.poll() is not None:
                raise RuntimeError("the judge did not start")
            time.sleep(0.02)
        yield judge, time.perf_counter() - began
    finally:
        judge.send_signal(signal.SIGTERM)
        judge.wait()


def _seconds_to_score(home: Path, folder: Path, address: str) -> list[float]:
    """From the first byte of an upload to its scores, several times."""
    token = said_inside(home, _A_TEAM)[-1]
    team = {
        **os.environ,
        "KAKURENBO_SERVER": address,
        "KAKURENBO_TOKEN": token,
        "KAKURENBO_LANG": "en",
    }
    headers = {"Authorization": f"Bearer {team['KAKURENBO_TOKEN']}"}
    while asked(address, headers, "/contests/bench")["rounds"][0]["phases"][0]["state"] != "open":
        time.sleep(1)
    kakurenbo = (sys.executable, "-m", "kakurenbo")
    release = folder / "pre_anonymizeddata_01.csv"
    handout = folder / "fetched" / "teams" / "01"
    subprocess.run(
        [*kakurenbo, "fetch", "bench", "-o", folder / "fetched"],
        check=True,
        capture_output=True,
        env=team,
    )
    subprocess.run(
        [*kakurenbo, "anonymize", "amic2020", "kanony", handout, release],
        check=True,
        capture_output=True,
    )
    time.sleep(_IDLE_SECONDS)
    return [_scored_after(address, headers, release) for _ in range(_TIMES)]


def said_inside(home: Path, code: str, *arguments: str) -> list[str]:
    """The words that code prints which runs beside a judge, with its database and its stores."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "kakurenbo.judge.serve.settings",
        "KAKURENBO_JUDGE_HOME": str(home),
        "KAKURENBO_JUDGE_SECRET_KEY": (home / "secret-key").read_text(),
        "KAKURENBO_JUDGE_DSN": EmbeddedPostgres(home).dsn,
    }
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout.split()


def _scored_after(address: str, headers: Mapping[str, str], release: Path) -> float:
    begun = asked(
        address, headers, "/contests/bench/rounds/pre/phases/anonymize/submissions", "POST"
    )
    place, began = f"/submissions/{begun['id']}", time.perf_counter()
    asked(address, headers, f"{place}/files/{release.name}", "PUT", release.read_bytes())
    asked(address, headers, f"{place}/finish", "POST")
    while asked(address, headers, place)["state"] != "scored":
        time.sleep(0.02)
    return time.perf_counter() - began


def asked(
    address: str,
    headers: Mapping[str, str],
    path: str,
    method: str = "GET",
    body: bytes | None = None,
) -> Any:
    """What the API answers."""
    request = urllib.request.Request(
        f"{address}/api/v1{path}", method=method, data=body, headers=dict(headers)
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def proportional_memory(pid: int) -> float:
    """MB of a process and everything it started, what is shared counted once (PSS)."""
    return sum(_own_memory(member) for member in family(pid)) / 1024


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended meanwhile
            continue
    members = [pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def _own_memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended meanwhile
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _is_well(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return True
    except (OSError, urllib.error.URLError):
        return False


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
