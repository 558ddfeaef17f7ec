"""Where tasks run: in processes of this machine, players' tasks also on a Dask cluster.

The judge, the anonymizers and the attackers have processes of their own: no answer, and no handout from which one follows, is
ever in a process that runs an attack. Tasks and their files travel as bytes. A process does one task at a time: one that dies
or takes too long is replaced, and the others do not notice.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import connection as pipes
from multiprocessing import (
    forkserver,
    get_all_start_methods,
    get_context,
    parent_process,
    resource_tracker,
)
from multiprocessing.connection import Connection
from typing import Any

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ONE_THREAD, Task, late_outcome, load_code, perform
from kakurenbo.arena.plan import JUDGES, Job
from kakurenbo.arena.store import Outcome
from kakurenbo.clusters import connected, parcel_key
from kakurenbo.contest import Files
from kakurenbo.core.compiling import announce, announce_with
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message

DIED = Message("word.worker_died").stored()
_PRELOADED = (
    "kakurenbo.arena.jobs",
    "numba",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
)
_KEPT_FOLDERS = 16  # that a worker keeps for the next tasks
_ATTEMPTS = 3
_AHEAD = 2  # tasks per thread of a cluster, so that none waits for the next
_STARTED, _COMPILING = "started", "compiling"

CodeOf = Callable[[str], Sequence[MethodCall]]
"""The code that workers of a role need."""


@dataclass(frozen=True)
class Workers:
    """Workers by their name for people (``2 processes``), and how to open them."""

    name: Message
    open: Callable[[CodeOf], AbstractContextManager[ProcessCrew]]


def processes(count: int) -> Workers:
    """So many tasks at a time on this machine."""

    @contextmanager
    def opened(code_of: CodeOf) -> Iterator[ProcessCrew]:
        with _environment(ONE_THREAD):
            crew = ProcessCrew(count, code_of)
            with crew.closing():
                yield crew

    return Workers(Message("word.processes", {"count": count}), opened)


def cluster(address: str, judges: int = 1) -> Workers:
    """Players' tasks on the workers of a Dask cluster, the judge's in processes of this machine."""

    @contextmanager
    def opened(code_of: CodeOf) -> Iterator[ProcessCrew]:
        with connected(address) as client, _environment(ONE_THREAD):
            crew = ClusterCrew(client, judges, code_of)
            with crew.closing():
                yield crew

    return Workers(Message("word.cluster", {"address": address}), opened)


# -- processes of this machine -------------------------------------------------------------------------------------------


class Worker:
    """A process that does tasks of one role, one after the other."""

    def __init__(self, context: Any, role: str, code: Sequence[MethodCall]) -> None:
        self.role = role
        self.job: Job | None = None
        self.limit: float | None = None
        self.deadline: float | None = None
        self.has_started = False
        self._kept: dict[str, Files] = {}
        self.connection, theirs = context.Pipe()
        setup = (theirs, dict(os.environ), role == JUDGES, tuple(code))
        self.process = context.Process(target=_serve, args=setup, name=f"kakurenbo-{role}")
        self.process.start()
        theirs.close()

    def start(
        self, job: Job, task: Task, folders: Mapping[str, Files], limit: float | None
    ) -> None:
        """Send a task, with those of its folders that the process does not keep."""
        needed = {digest: folders[digest] for digest in task.inputs.values()}
        new = {digest: files for digest, files in needed.items() if digest not in self._kept}
        self.connection.send((task, new))
        _keep(self._kept, new, task.private)
        self.job, self.limit, self.deadline = job, limit, None

    def receive(self) -> Outcome | str | None:
        """Return what the process says of its task: its outcome, that it died, or None for nothing yet."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return DIED
        if message == _COMPILING:
            announce()
            return None
        self.has_started = True
        if message == _STARTED:  # code is loaded once per process: that is not the method's time
            self.deadline = None if self.limit is None else time.monotonic() + self.limit
            return None
        outcome: Outcome = message
        return outcome

    def end(self, *, now: bool) -> None:
        if now:
            self.process.kill()
        self.connection.close()


class ProcessCrew:
    """Processes of this machine, ``count`` of them at work at a time.

    Attributes
    ----------
    attempts : int
        How often a task is given to a worker that dies before it is given up.
    """

    attempts = _ATTEMPTS

    def __init__(self, count: int, code_of: CodeOf) -> None:
        self._count, self._code_of = count, code_of
        self._workers: list[Worker] = []
        self._stillborn = 0  # workers in a row that died before they began a task
        self._others: list[Connection] = []
        # Never forked from this process: Polars and BLAS hold threads that a fork would leave locked, and a fork would
        # inherit secrets. The server that is forked instead has loaded libraries and nothing else.
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._context: Any = get_context(method)
        if method == "forkserver":
            self._context.set_forkserver_preload(list(_PRELOADED))
            _start_forkserver()

    @property
    def at_a_time(self) -> int:
        """How many tasks run at a time."""
        return self._count

    def has_room(self, role: str) -> bool:
        """Whether a worker of a role can take one more task."""
        return sum(worker.job is not None for worker in self._workers) < self._count

    def start_ahead(self, role: str, count: int) -> None:
        """Start up to ``count`` workers that will be needed."""
        if self._count > 1:  # one process at a time starts the next when it is needed
            for _ in range(min(count, self._count)):
                self._add(role)

    def _add(self, role: str) -> Worker:
        self._workers.append(Worker(self._context, role, self._code_of(role)))
        return self._workers[-1]

    def submit(
        self, job: Job, task: Task, folders: Mapping[str, Files], limit: float | None
    ) -> None:
        """Hand out a task with its folders by digest; a player's may take ``limit`` seconds."""
        idle = [worker for worker in self._workers if worker.role == job.role and not worker.job]
        for worker in idle:
            try:
                return worker.start(job, task, folders, limit)
            except OSError:  # it was killed while it waited
                self._remove(worker)
        worker = self._add(job.role)
        try:
            return worker.start(job, task, folders, limit)
        except OSError:
            raise KakurenboError("error.workers_gone") from None

    def wait(self) -> list[tuple[Job, Outcome | str]]:
        """Wait until something has ended; of a task whose worker was lost, say why."""
        busy = {worker.connection: worker for worker in self._workers if worker.job}
        deadlines = [worker.deadline for worker in busy.values() if worker.deadline is not None]
        timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        ended: list[tuple[Job, Outcome | str]] = []
        for ready in pipes.wait([*busy, *self._others], timeout):
            if ready in busy:
                ended += self._received(busy[ready])
        for worker in busy.values():
            late = worker.deadline is not None and time.monotonic() > worker.deadline
            if worker.job is not None and worker.limit is not None and late:
                ended.append((worker.job, late_outcome(worker.limit)))
                self._remove(worker)
        return ended

    def _received(self, worker: Worker) -> list[tuple[Job, Outcome | str]]:
        assert worker.job is not None
        job, outcome = worker.job, worker.receive()
        if outcome is None:
            return []
        worker.job, worker.deadline = None, None
        if outcome == DIED:
            self._remove(worker)
            self._stillborn = 0 if worker.has_started else self._stillborn + 1
            if self._stillborn >= _ATTEMPTS:
                raise KakurenboError("error.workers_gone")
        return [(job, outcome)]

    def _remove(self, worker: Worker) -> None:
        worker.job = None
        worker.end(now=True)
        self._workers.remove(worker)

    def dismiss(self, role: str) -> None:
        """End the workers of a role that has no more tasks."""
        for worker in [worker for worker in self._workers if worker.role == role]:
            worker.end(now=False)
            self._workers.remove(worker)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """End all processes; after an error or a Ctrl-C without waiting for what they do."""
        is_done = False
        try:
            yield
            is_done = True
        finally:
            for worker in self._workers:
                worker.end(now=not is_done)


def _serve(
    tasks: Connection, environment: Mapping[str, str], judge: bool, code: Sequence[MethodCall]
) -> None:
    """Do tasks until the run hangs up; a process of players knows nothing of the command line and its seed."""
    os.environ.clear()  # the server that it was forked from may be older than the run
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run
    if not judge:
        del sys.argv[1:]
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    announce_with(lambda: tasks.send(_COMPILING))
    with contextlib.suppress(Exception):  # a task that needs it says what is wrong
        load_code(*code)
    kept: dict[str, Files] = {}
    with contextlib.suppress(EOFError, OSError):
        while True:
            task, new = tasks.recv()
            folders = {**kept, **new}
            _keep(kept, new, task.private)
            with contextlib.suppress(Exception):
                load_code(task.rulebook, task.method)
            tasks.send(_STARTED)
            tasks.send(perform(task, folders))
            del task, new, folders


def _keep(kept: dict[str, Files], new: Mapping[str, Files], private: frozenset[str]) -> None:
    """Keep folders for the next tasks; the run and its worker forget the same ones."""
    kept.update({digest: files for digest, files in new.items() if digest not in private})
    while len(kept) > _KEPT_FOLDERS:
        del kept[next(iter(kept))]


def _end_after(parent: Any) -> None:
    parent.join()  # a run that was killed must leave no process behind
    os._exit(1)


def _start_forkserver() -> None:
    """Start the server with interrupts blocked: a Ctrl-C, which the terminal sends to it too, is for the run."""
    options = list(sys.warnoptions)
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # which the tracker takes over
    resource_tracker.ensure_running()  # first, because it unblocks interrupts when it starts
    sys.warnoptions[:] = options
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that processes inherit; early, because libraries read them once."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# -- a Dask cluster ------------------------------------------------------------------------------------------------------


class ClusterCrew(ProcessCrew):
    """Players' tasks on a Dask cluster, which needs no folder of this machine; the judge's in processes here."""

    def __init__(self, client: Any, judges: int, code_of: CodeOf) -> None:
        super().__init__(judges, code_of)
        self._client = client
        self._flying: dict[Any, Job] = {}
        self._folders: dict[str, Any] = {}
        self._landed: queue.SimpleQueue[Any] = queue.SimpleQueue()
        bell, self._bell = self._context.Pipe(duplex=False)
        self._others = [bell]

    @property
    def at_a_time(self) -> int:
        threads: Mapping[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def has_room(self, role: str) -> bool:
        if role == JUDGES:
            return super().has_room(role)
        return len(self._flying) < self.at_a_time * _AHEAD

    def start_ahead(self, role: str, count: int) -> None:
        if role == JUDGES:
            super().start_ahead(role, count)

    def submit(
        self, job: Job, task: Task, folders: Mapping[str, Files], limit: float | None
    ) -> None:
        if job.role == JUDGES:
            return super().submit(job, task, folders, limit)
        private = {digest: folders[digest] for digest in task.private}
        shared = [digest for digest in task.inputs.values() if digest not in private]
        parcels = [self._parcel(digest, folders[digest]) for digest in shared]
        future = self._client.submit(
            perform_on_cluster, task, limit, private, shared, *parcels, pure=False
        )
        self._flying[future] = job
        future.add_done_callback(self._ring)
        return None

    def _parcel(self, digest: str, files: Files) -> Any:
        """Return files as a task of the cluster: it travels to each worker once, and is made again where one is lost."""
        if digest not in self._folders:
            key = parcel_key(digest)
            self._folders[digest] = self._client.submit(_unchanged, files, key=key)
        return self._folders[digest]

    def _ring(self, future: Any) -> None:
        self._landed.put(future)
        with contextlib.suppress(OSError):  # the run is over
            self._bell.send_bytes(b"!")

    def wait(self) -> list[tuple[Job, Outcome | str]]:
        ended = super().wait()
        (bell,) = self._others
        while bell.poll():
            bell.recv_bytes()
            future = self._landed.get()
            ended.append((self._flying.pop(future), self._outcome(future)))
        return ended

    def _outcome(self, future: Any) -> Outcome | str:
        if future.status in ("cancelled", "lost"):
            raise KakurenboError("error.workers_gone")
        error = future.exception()
        if error is None:
            outcome: Outcome = future.result()
            return outcome
        if type(error).__name__ == "KilledWorker":
            return DIED
        message = " ".join(str(error).split())[:300]
        reason = f"{type(error).__name__}: {message}"
        return Message("word.worker_failed", {"error": reason}).stored()

    def dismiss(self, role: str) -> None:
        if role == JUDGES:
            super().dismiss(role)


def _unchanged(files: Files) -> Files:
    return files


def perform_on_cluster(
    task: Task,
    limit: float | None,
    private: Mapping[str, Files],
    shared: Sequence[str],
    *folders: Files,
) -> Outcome:
    """Do a task in a worker of a cluster; one that takes too long is left behind, and stopped where Python can stop it."""
    inputs = {**private, **dict(zip(shared, folders, strict=True))}
    if limit is None:
        return perform(task, inputs)
    with contextlib.suppress(Exception):  # loading code is not the method's time
        load_code(task.rulebook, task.method)
    outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    thread = threading.Thread(target=lambda: outcomes.put(perform(task, inputs)), daemon=True)
    thread.start()
    try:
        return outcomes.get(timeout=limit)
    except queue.Empty:
        stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
        stop(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
        return late_outcome(limit)
