"""``kakurenbo serve``: one command that starts everything, keeps it running, ends it cleanly and goes on afterwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from benchmarks.bench_judge import family
from tests.judge.waiting import PATIENCE, wait_until

from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.serve.uploads import AT_ONCE


class Served:
    """A judge in a folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.log = home, home.parent / "log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    def start(self, *options: str) -> None:
        command = [
            sys.executable,
            "-m",
            "kakurenbo",
            "serve",
            "--home",
            str(self.home),
            "--port",
            str(self.port),
            *options,
        ]
        environment = {**os.environ, "KAKURENBO_LANG": "en"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environment
            )
        self.wait_until(self.is_well)

    def is_well(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                return True
        except OSError:
            return False

    def wait_until(self, condition: Callable[[], bool]) -> None:
        def is_so() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return condition()

        wait_until(is_so, self.log.read_text)

    def database(self) -> psycopg.Connection:
        return psycopg.connect(EmbeddedPostgres(self.home).dsn, autocommit=True)


@pytest.fixture
def served() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as folder:  # a short path: that of pytest may be too long for a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        served = Served(Path(folder) / "home")
        yield served
        served.process.kill()
        served.process.wait()
        _wait_until_gone(set(_members_of(served.home)))


def test_whatever_part_is_killed_comes_back_ctrl_c_ends_all_and_the_next_start_goes_on(
    served: Served,
) -> None:
    served.start()
    with served.database() as connection:
        connection.execute("create table kept (n int)")
        connection.execute("insert into kept values (1)")
    parts = family(served.process.pid)[1:]
    if os.geteuid() == 0:  # nobody else looks into the memory of others
        password = (served.home / "postgres.password").read_bytes()
        ours = [
            pid
            for pid in family(served.process.pid)
            if b"judge.serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        workers_and_sweep = {pid for pid in ours if holds(pid, password)}
        web_and_beside_it = {
            pid for pid in ours if "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()
        }
        assert len(web_and_beside_it) == 1 + AT_ONCE
        assert workers_and_sweep == set(ours) - {served.process.pid} - web_and_beside_it
    web_workers_sweep_and_database = [pid for pid in parts if _parent(pid) == served.process.pid]
    assert len(web_workers_sweep_and_database) == 5
    for pid in web_workers_sweep_and_database:
        os.kill(pid, signal.SIGKILL)
    served.wait_until(
        lambda: (
            len([pid for pid in family(served.process.pid) if _parent(pid) == served.process.pid])
            == 5
        )
    )
    served.wait_until(served.is_well)
    _kill_what_answers_for_uploads(served)

    parts = family(served.process.pid)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(PATIENCE) == 0
    assert not [pid for pid in parts if Path(f"/proc/{pid}").exists()]
    assert "everything has ended" in served.log.read_text()

    served.start()
    with served.database() as connection:
        assert connection.execute("select n from kept").fetchall() == [(1,)]


def _kill_what_answers_for_uploads(served: Served) -> None:
    """Nobody uploads; all the same the web ends with it, and both come back."""
    supervisor = served.process.pid
    ours = [
        pid
        for pid in family(supervisor)
        if b"judge.serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    beside_the_web = [pid for pid in ours if _parent(_parent(pid)) == supervisor]
    assert len(beside_the_web) == AT_ONCE
    web = _parent(beside_the_web[0])
    os.kill(beside_the_web[0], signal.SIGKILL)
    served.wait_until(lambda: not Path(f"/proc/{web}").exists())
    served.wait_until(served.is_well)


def test_a_killed_supervisor_leaves_nothing_behind_and_can_be_started_at_once(
    served: Served,
) -> None:
    served.start()
    parts = set(family(served.process.pid)) - {served.process.pid}
    served.process.kill()
    served.process.wait()
    served.start()
    _wait_until_gone(parts)


def holds(pid: int, secret: bytes) -> bool:
    """Whether a process has something in its memory; root alone may know."""
    with (
        Path(f"/proc/{pid}/maps").open() as maps,
        Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory,
    ):
        for line in maps:
            span, rights, *_ = line.split()
            first, last = (int(end, 16) for end in span.split("-"))
            if rights.startswith("rw") and last < 1 << 63:
                memory.seek(first)
                if secret in memory.read(last - first):
                    return True
    return False


def _members_of(home: Path) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(home) in place.read_text():
                yield int(place.parent.name)
        except OSError:  # it ended meanwhile
            continue


def _wait_until_gone(pids: set[int]) -> None:
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), lambda: str(pids))


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
