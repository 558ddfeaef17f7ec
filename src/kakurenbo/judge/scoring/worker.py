"""A worker: takes jobs one by one, has each done in a child of its fork server, and holds the lease meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from procrastinate import PsycopgConnector
from procrastinate.contrib.django import app
from procrastinate.contrib.django.utils import connector_params

from kakurenbo.judge import halves
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.child import ChildDied, ForkServer, Limits, cause
from kakurenbo.judge.scoring.models import Job, JobKind, JobState
from kakurenbo.judge.scoring.workspace import Workspace
from kakurenbo.judge.submissions import store
from kakurenbo.methods import registry

_SECONDS = {JobKind.PREPARE: 3600, JobKind.SEAL: 1800, JobKind.SAMPLE: 1800, JobKind.BOT: 1800}
_OTHER_SECONDS = 600
_KEEP_WARM_SECONDS = 5.0
_RETIRE_SECONDS = 120.0
_LEAN_SECONDS = (
    15.0  # after which a server gives back what it loaded for work that nobody waits for
)
_AWAITED = frozenset(("release", "guesses", "rank"))
"""Steps that a team waits for: what they need is loaded before; what bots and sealing need, when they need it."""
_STOP_SECONDS = 1.0
_POLLING_SECONDS = 5.0  # should a notification be lost
_CLOCK_SECONDS = 10.0  # so far from the database's time a worker takes nothing: what it does is logged with its own
_CONNECTIONS = 3  # one listens, one fetches, one beats as the heart
_PASSING = (
    OperationalError,
    InterfaceError,
    BlockingIOError,
    PermissionError,
    TimeoutError,
    ConnectionError,
)
"""What is no fault of a job: the database, or a store, is away for a while."""
_log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Another worker has the job now: whatever was being done is for nothing."""


class Stopped(Exception):
    """The worker was told to end: the job is another's."""


class Worker:
    """One worker of this process.

    Parameters
    ----------
    root : Path or None
        Its own folder; below the judge's home where none is given.
    limits : Limits or None
        For every child; by the kind of job where they are not given.
    server : ForkServer or None
        One that is there already; it lives on when the worker is closed.
    """

    def __init__(
        self,
        root: Path | None = None,
        limits: Limits | None = None,
        server: ForkServer | None = None,
    ) -> None:
        self.name = _name_of(os.getpid())
        own = root or _work_folder() / str(os.getpid())
        self.workspace = Workspace(own)
        self.server = server or ForkServer(own, Path(settings.HOME))
        self._own_server = server is None
        self._limits = limits
        self._known = _KnownModules()
        self._heavy = False  # whether the server has loaded more than what teams wait for
        self._told_to_end = threading.Event()

    def stop(self) -> None:
        """Give up the job that is being done, if there is one: within a second its child is gone and it waits for another."""
        self._told_to_end.set()

    def close(self) -> None:
        """End the fork server, where it is the worker's own, and leave no file."""
        if self._own_server:
            self.server.retire()
        self.workspace.remove()

    def work(self, job_id: int) -> bool:
        """Do one job, where it is still to be done; True where this worker did it."""
        hindrance = self._hindrance(job_id)
        if hindrance:
            rules.leave(job_id, hindrance)
            return False
        lease = rules.lease(job_id, self.name, rules.database_now())
        if lease is None:
            return False
        from kakurenbo.judge.scoring.handling import (
            handle,
        )  # loads rulebooks, which a worker at rest does without
        from kakurenbo.judge.scoring.judging import NotYet

        try:
            return rules.finish(lease, handle(lease.job, _Bench(self, lease)), rules.database_now())
        except ChildDied as death:
            if (
                not store.has_room()
            ):  # of which it may have died: the next one has a better chance when there is some
                rules.wait_again(lease, death.args[0])
            else:
                rules.died(lease, death.args[0], rules.database_now())
        except (NotYet, Stopped) as reason:
            rules.postpone(lease, reason.args[0])
        except LeaseLost:
            _log.warning("job %s was taken over by another worker", job_id)
        except _PASSING as error:
            rules.wait_again(lease, f"{type(error).__name__}: {error}")
            raise
        except Exception as error:
            if store.is_full(error):
                rules.wait_again(lease, f"{type(error).__name__}: {error}")
                raise
            # It would fail again and again: let an organizer know.
            _log.exception("job %s (%s) failed", job_id, lease.job)
            rules.died(lease, f"{type(error).__name__}: {error}", rules.database_now())
        return False

    def _hindrance(self, job_id: int) -> str:
        """Why a job is for other workers than this one; empty where it is not."""
        rulebook = rules.rulebook_of(job_id)
        if rulebook is not None and rulebook not in registry.names("rulebooks"):
            return cause("scoring.no_rulebook", worker=self.name, rulebook=rulebook)
        ahead = abs((timezone.now() - rules.database_now()).total_seconds())
        if ahead > _CLOCK_SECONDS:
            return cause("scoring.wrong_clock", worker=self.name, seconds=round(ahead))
        return ""

    def drain(self) -> int:
        """Do everything that waits, and what comes of it, in this process; returns how many jobs were done.

        For tests and small set-ups: no queue wakes it. What has to wait for something else is left.
        """
        done = 0
        while True:
            waiting = (
                Job.objects.filter(state=JobState.WAITING)
                .order_by("pk")
                .values_list("pk", flat=True)
            )
            worked = sum(self.work(job_id) for job_id in waiting)
            if not worked:
                return done
            done += worked

    def keep_warm(self) -> None:
        """Have the fork server ready while a contest takes entries, and give its memory back while none does."""
        from kakurenbo.judge.contests.models import Contest, PhaseState

        under_way = (
            Contest.objects.filter(rounds__phases__state=PhaseState.OPEN)
            .values_list("rulebook", flat=True)
            .distinct()
        )
        if under_way:
            if self._heavy:
                self.server.retire(after=_LEAN_SECONDS)
                self._heavy = self.server.running
            self.server.warm(self._known.of(*under_way))
        else:
            self.server.retire(after=_RETIRE_SECONDS)

    def limits(self, kind: str) -> Limits:
        """What a child may use for a kind of job."""
        memory: int = getattr(settings, "SCORING_MEMORY_MB", Limits.memory_mb)
        return self._limits or Limits(_SECONDS.get(JobKind(kind), _OTHER_SECONDS), memory)

    def run(
        self, lease: rules.Lease, step: str, folder: Path, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run a step for a job, with the lease renewed meanwhile."""
        renewed_at = began = time.monotonic()

        def renew() -> None:
            nonlocal renewed_at
            if self._told_to_end.is_set():
                raise Stopped(cause("scoring.worker_told_to_end"))
            if time.monotonic() - renewed_at < rules.RENEW_SECONDS:
                return
            if not rules.renew(lease, rules.database_now()):
                raise LeaseLost
            renewed_at = time.monotonic()

        rulebook = lease.job.contest.rulebook
        result = self.server.run(
            step, folder, request, self.limits(lease.job.kind), renew, self._known.of(rulebook)
        )
        if step in _AWAITED:
            self._known.add(rulebook, self.server.loaded)
        elif self.server.loaded:
            self._heavy = True
        return {**result, "seconds": time.monotonic() - began}


@dataclass(frozen=True)
class _Bench:
    """Where one job is done."""

    worker: Worker
    lease: rules.Lease

    @property
    def workspace(self) -> Workspace:
        return self.worker.workspace

    def folder(self) -> AbstractContextManager[Path]:
        return self.worker.workspace.folder()

    def run(self, step: str, folder: Path, request: Mapping[str, Any]) -> dict[str, Any]:
        return self.worker.run(self.lease, step, folder, request)


class _KnownModules:
    """Which modules the steps of a rulebook needed before, so that the next fork server has them from the start."""

    def __init__(self) -> None:
        self._by_rulebook: dict[str, set[str]] = {}

    def of(self, *rulebooks: str) -> list[str]:
        found: set[str] = set()
        for name in rulebooks:
            if name not in self._by_rulebook:
                self._by_rulebook[name] = set(_read_names(self._file(name)))
            found |= self._by_rulebook[name]
        return sorted(found)

    def add(self, rulebook: str, modules: list[str]) -> None:
        before = set(self.of(rulebook))
        if set(modules) <= before:
            return
        self._by_rulebook[rulebook] = before | set(modules)
        with contextlib.suppress(OSError):  # it only saves time
            place = self._file(rulebook)
            part = place.with_name(f"{halves.prefix()}{place.name}")
            part.write_text(json.dumps(sorted(self._by_rulebook[rulebook])), encoding="utf-8")
            part.replace(place)

    @staticmethod
    def _file(rulebook: str) -> Path:
        return _work_folder() / f"modules-{rulebook}.json"


def _read_names(place: Path) -> list[str]:
    try:
        names = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in names if isinstance(name, str)]


def _work_folder() -> Path:
    folder = Path(settings.HOME) / "work"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def take_over() -> None:
    """Take back the jobs of workers of this folder that were killed, without waiting for their leases, and clear up."""
    folder = _work_folder()
    for left in folder.iterdir():
        if left.name.isdecimal() and not Path("/proc", left.name).exists():
            rules.take_back(_name_of(int(left.name)))
            shutil.rmtree(left, ignore_errors=True)
    halves.remove_orphans(folder)


def _name_of(process: int) -> str:
    return f"{socket.gethostname()}:{process}"


def main() -> None:
    """Work until told to end; the database may go and come back meanwhile."""
    with _only_worker() as worker:
        asyncio.run(_work(worker))


@contextlib.contextmanager
def _only_worker() -> Iterator[Worker]:
    """The worker of this process, whom the queue's task asks."""
    from kakurenbo.judge.scoring import tasks

    take_over()
    worker = tasks.worker = Worker()
    try:
        yield worker
    finally:
        worker.close()


async def _work(worker: Worker) -> None:
    # The queue is read through connections of its own, as few as do; jobs are asked for through Django's, in its transactions.
    connector = PsycopgConnector(min_size=1, max_size=_CONNECTIONS, kwargs=connector_params())
    queue = app.with_connector(connector)
    async with queue.open_async():
        working = asyncio.create_task(
            queue.run_worker_async(
                queues=[rules.QUEUE],
                name=worker.name,
                concurrency=1,
                delete_jobs="always",
                fetch_job_polling_interval=_POLLING_SECONDS,
                update_heartbeat_interval=rules.BEAT_SECONDS,
                install_signal_handlers=False,
            )
        )
        _end_when_told(worker, working)
        warming = asyncio.create_task(_keep_warm(worker))
        try:
            await working
        except asyncio.CancelledError:
            _log.info("%s was told to end", worker.name)
        finally:
            warming.cancel()
            worker.stop()


def _end_when_told(worker: Worker, working: asyncio.Task[None]) -> None:
    """On a signal take no new job, and give up the one that is being done, unless it ends in a moment."""
    loop = asyncio.get_running_loop()

    def end() -> None:
        working.cancel()
        loop.call_later(_STOP_SECONDS, worker.stop)

    for told in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(told, end)


async def _keep_warm(worker: Worker) -> None:
    while True:
        try:
            await asyncio.to_thread(_with_connection, worker)
        except Exception as error:  # the database is away for a moment; the work itself tells of it
            _log.info("the fork server was not looked after: %s", error)
        await asyncio.sleep(_KEEP_WARM_SECONDS)


def _with_connection(worker: Worker) -> None:
    try:
        worker.keep_warm()
    finally:
        connection.close()  # this thread may be another one next time
