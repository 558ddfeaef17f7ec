"""A judge that is to be killed: its processes by what they are, its database, and what is left of it on disk."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
from benchmarks.bench_judge import family, said_inside
from tests.judge.chaos.clock import MovedClock
from tests.judge.test_serve import Served, _parent
from tests.judge.waiting import PATIENCE, wait_until

from kakurenbo.judge.serve.postgres import EmbeddedPostgres

LOOK_SECONDS = 0.02
_MEGABYTES_OF_LOG = 500


class Judge(Served):
    """``kakurenbo serve`` with two workers in a folder of its own.

    Parameters
    ----------
    folder : Path
        Short, and everybody may pass through it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "home")
        self.clock = MovedClock(folder) if MovedClock.can_be_had() else None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "kakurenbo",
            "serve",
            "--home",
            str(self.home),
            "--port",
            str(self.port),
        ]
        moved = {} if self.clock is None else self.clock.environment
        environment = {**os.environ, **moved, "KAKURENBO_LANG": "en"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--workers", "2"], stdout=log, stderr=subprocess.STDOUT, env=environment
            )
        self.wait_until(self.is_well)

    def is_well(self) -> bool:
        """Whether database and workers are there; the disk may be smaller than one should be."""
        try:
            with urllib.request.urlopen(f"{self.address}/health", timeout=5) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            told = json.load(error)
        except (OSError, ValueError):
            return False
        return bool(told["checks"]["database"] and told["checks"]["workers"])

    def wait_until(
        self, condition: Callable[[], bool], otherwise: str = "the judge does not come back"
    ) -> None:
        """Wait until something is so."""

        def is_so() -> bool:
            assert self.process.poll() is None, self._last_words()
            return condition()

        wait_until(is_so, lambda: f"{otherwise}\n{self._last_words()}")

    def _last_words(self) -> str:
        return self.log.read_text()[-6000:]

    # -- processes -------------------------------------------------------------------------------------------------------

    def workers(self) -> list[int]:
        """Those that have a folder to work in."""
        return [pid for pid in self._children() if (self.home / "work" / str(pid)).is_dir()]

    def database_process(self) -> int | None:
        return next((pid for pid in self._children() if _program(pid).startswith("postgres")), None)

    def web(self) -> int | None:
        return next(
            (pid for pid in self._children() if self._is_python(pid) and _is_confined(pid)), None
        )

    def sweep(self) -> int | None:
        """The one that is neither a worker, nor the web, nor the database."""
        others = {*self.workers(), self.web(), self.database_process()}
        return next(
            (pid for pid in self._children() if pid not in others and self._is_python(pid)), None
        )

    def child_of(self, worker: int) -> int | None:
        """The process that computes for a worker: the child of its fork server."""
        return next((pid for pid in family(worker) if _parent(_parent(pid)) == worker), None)

    def fork_server_of(self, worker: int) -> int | None:
        return next((pid for pid in family(worker)[1:] if _parent(pid) == worker), None)

    def members(self) -> list[int]:
        """Everything that the judge runs."""
        return family(self.process.pid)

    def _children(self) -> list[int]:
        return [pid for pid in family(self.process.pid)[1:] if _parent(pid) == self.process.pid]

    @staticmethod
    def _is_python(pid: int) -> bool:
        return _program(pid).startswith("python")

    # -- database --------------------------------------------------------------------------------------------------------

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database says, as soon as it says something."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with psycopg.connect(
                    EmbeddedPostgres(self.home).dsn, autocommit=True, connect_timeout=5
                ) as connection:
                    return connection.execute(query, values).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK_SECONDS)

    def exhaust_database(self) -> bool:
        """Have the database write until its disk takes no more; whether it came to that."""
        try:
            with psycopg.connect(EmbeddedPostgres(self.home).dsn, autocommit=True) as connection:
                for _ in range(_MEGABYTES_OF_LOG):
                    connection.execute(
                        "select pg_logical_emit_message(false, 'chaos', repeat('x', 1000000))"
                    )
        except psycopg.Error:
            return True
        return False

    def said_inside(self, code: str, *arguments: str) -> list[str]:
        """The words that code prints which runs beside the judge."""
        return said_inside(self.home, code, *arguments)

    def in_scoring(self) -> tuple[int, int] | None:
        """A submission's job that is being done, and the process that does it; None while there is none."""
        leased = self.rows(
            "select id, worker from scoring_job where kind = 'judge' and state = 'running' order by started_at"
        )
        alive = set(self.workers())
        return next(
            (
                (job, int(worker.split(":")[1]))
                for job, worker in leased
                if int(worker.split(":")[1]) in alive
            ),
            None,
        )

    def open_jobs(self) -> list[tuple[Any, ...]]:
        """Whatever waits or runs."""
        return self.rows(
            "select id, kind, state, worker, cause from scoring_job where state in ('waiting', 'running')"
        )

    # -- what is left ----------------------------------------------------------------------------------------------------

    def half_files(self) -> list[str]:
        """Files in the judge's folder that are nobody's."""
        places = (
            self.home / "files" / "incoming",
            self.home / "secret" / "incoming",
            self.home / "web",
        )
        left = [file for place in places if place.is_dir() for file in place.iterdir()]
        workers = set(map(str, self.workers()))
        work = [
            place
            for place in (self.home / "work").iterdir()
            if place.is_dir() and place.name not in workers
        ]
        parts = list((self.home / "work").glob("*:*"))
        return [str(place.relative_to(self.home)) for place in (*left, *work, *parts)]


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:  # it ended meanwhile
        return ""


def _is_confined(pid: int) -> bool:
    try:
        return "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def kill(pid: int | None, number: int = signal.SIGKILL) -> bool:
    """Send a signal; whether there was somebody to get it."""
    if pid is None:
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """A small disk in memory at a folder, where this account may mount one; whether it is there."""
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0711", "tmpfs", str(folder)],
            check=False,
            capture_output=True,
        ).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
