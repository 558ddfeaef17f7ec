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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import (
    forkserver,
    get_all_start_methods,
    get_context,
    parent_process,
    resource_tracker,
)
from typing import Any

from pebble import ProcessExpired, ProcessPool

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import HANDOUT, ONE_THREAD, Task, late_outcome, load_code, perform
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
_MAX_FAILED_STARTS = 3  # of workers in a row
_AHEAD = 2  # tasks per thread of a cluster, so that none waits for the next
_TICK = 0.5  # seconds between looks at what workers announce

CodeOf = Callable[[str], Sequence[MethodCall]]
"""The code that workers of a role need."""


@dataclass(frozen=True)
class Workers:
    """Workers by their name for people (``2 processes``), and how to open them."""

    name: Message
    open: Callable[[CodeOf], AbstractContextManager[ProcessPools]]


def processes(count: int) -> Workers:
    """Return workers for so many tasks at a time on this machine."""
    name = Message("word.processes", {"count": count})
    return Workers(name, lambda code_of: _opened(ProcessPools(count, code_of)))


def cluster(address: str, judges: int = 1) -> Workers:
    """Return workers of a Dask cluster for players' tasks; the judge's run in processes of this machine."""

    @contextmanager
    def opened(code_of: CodeOf) -> Iterator[ProcessPools]:
        with connected(address) as client, _opened(ClusterPools(client, judges, code_of)) as pools:
            yield pools

    return Workers(Message("word.cluster", {"address": address}), opened)


@contextmanager
def _opened(pools: ProcessPools) -> Iterator[ProcessPools]:
    try:
        yield pools
    finally:
        for role in (*pools.idle,):
            pools.dismiss(role)
        for pool in pools.busy.values():
            _stop(pool)


# -- processes of this machine -------------------------------------------------------------------------------------------


class ProcessPools:
    """Processes of this machine, ``count`` of them at work at a time.

    Each worker is a pool of one process, so that a task whose worker dies is always known.
    """

    def __init__(self, count: int, code_of: CodeOf) -> None:
        self.idle: dict[str, list[ProcessPool]] = {}
        self.busy: dict[Future[Any], ProcessPool] = {}
        self._count, self._code_of = count, code_of
        self._jobs: dict[Future[Any], tuple[Job, float | None]] = {}
        self._failed_starts = 0
        # Never forked from this process: Polars and BLAS hold threads that a fork would leave locked, and a fork would
        # inherit secrets. The server that is forked instead has loaded libraries and nothing else.
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        self._context: Any = get_context(method)
        if method == "forkserver":
            self._context.set_forkserver_preload(list(_PRELOADED))
            _start_forkserver()
        self._compiling = self._context.Event()  # which would start the tracker of resources

    @property
    def at_a_time(self) -> int:
        """How many tasks run at a time."""
        return self._count

    def has_room(self, role: str) -> bool:
        """Return whether a worker of a role can take one more task."""
        return len(self.busy) < self._count

    def submit(
        self, job: Job, task: Task, inputs: Mapping[str, Files], limit: float | None
    ) -> None:
        """Hand out a task with its files; a player's may take ``limit`` seconds."""
        idle = self.idle.setdefault(job.role, [])
        pool = idle.pop() if idle else self._new_worker(job.role)
        try:
            future = pool.schedule(perform, args=(task, inputs), timeout=limit)
        except RuntimeError:  # it was killed while it waited
            pool = self._new_worker(job.role)
            future = pool.schedule(perform, args=(task, inputs), timeout=limit)
        self.busy[future] = pool
        self._jobs[future] = job, limit

    def _new_worker(self, role: str) -> ProcessPool:
        environment = {**os.environ, **ONE_THREAD}
        arguments = (environment, role == JUDGES, self._code_of(role), self._compiling)
        return ProcessPool(1, initializer=_set_up, initargs=arguments, context=self._context)

    def wait(self) -> list[tuple[Job, Outcome | str]]:
        """Wait until some jobs have ended; return their outcomes, or why a worker could not do one."""
        done: set[Future[Any]] = set()
        while self._jobs and not done:
            done, _ = wait_for(self._jobs, timeout=_TICK, return_when=FIRST_COMPLETED)
            if self._compiling.is_set():
                announce()
        return [self._ended(future) for future in done]

    def _ended(self, future: Future[Any]) -> tuple[Job, Outcome | str]:
        job, limit = self._jobs.pop(future)
        pool = self.busy.pop(future, None)
        outcome = self._outcome(future, limit)
        if pool is not None and outcome == DIED:
            _stop(pool)
        elif pool is not None:
            self.idle[job.role].append(pool)
        return job, outcome

    def _outcome(self, future: Future[Any], limit: float | None) -> Outcome | str:
        try:
            outcome: Outcome = future.result()
        except TimeoutError:
            return late_outcome(limit or 0)
        except BrokenProcessPool:  # the process ended before it took the task
            self._failed_starts += 1
            if self._failed_starts >= _MAX_FAILED_STARTS:
                raise KakurenboError("error.workers_gone") from None
            return DIED
        except ProcessExpired:
            outcome_or_cause: Outcome | str = DIED
        except Exception as error:
            message = " ".join(str(error).split())[:300]
            reason = f"{type(error).__name__}: {message}"
            outcome_or_cause = Message("word.worker_failed", {"error": reason}).stored()
        else:
            outcome_or_cause = outcome
        self._failed_starts = 0
        return outcome_or_cause

    def dismiss(self, role: str) -> None:
        """End the workers of a role that has no more tasks."""
        for pool in self.idle.pop(role, []):
            _stop(pool)


def _stop(pool: ProcessPool) -> None:
    pool.stop()
    pool.join()


def _set_up(
    environment: Mapping[str, str], is_judge: bool, code: Sequence[MethodCall], compiling: Any
) -> None:
    """Prepare a process for tasks; one of players knows nothing of the command line and its seed."""
    os.environ.clear()  # the server that it was forked from may be older than the run
    os.environ.update(environment)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a process that is to end does so at once
    if not is_judge:
        del sys.argv[1:]
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    announce_with(compiling.set)
    with contextlib.suppress(Exception):  # a task that needs it says what is wrong
        load_code(*code)


def _end_with(parent: Any) -> None:
    parent.join()  # a run that was killed must leave no process behind
    os._exit(1)


def _start_forkserver() -> None:
    """Start the server with interrupts blocked: a Ctrl-C, which the terminal sends to it too, is for the run."""
    before, options = dict(os.environ), list(sys.warnoptions)
    os.environ.update(ONE_THREAD)  # early, because libraries read them once
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # which the tracker takes over
    resource_tracker.ensure_running()  # first, because it unblocks interrupts when it starts
    sys.warnoptions[:] = options
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name in ONE_THREAD.keys() - before:
            del os.environ[name]
        os.environ.update(before)


# -- a Dask cluster ------------------------------------------------------------------------------------------------------


class ClusterPools(ProcessPools):
    """Players' tasks on a Dask cluster, which needs no folder of this machine; the judge's in processes here."""

    def __init__(self, client: Any, judges: int, code_of: CodeOf) -> None:
        super().__init__(judges, code_of)
        self._client, self._executor = client, client.get_executor(pure=False)
        self._parcels: dict[str, Any] = {}

    @property
    def at_a_time(self) -> int:
        threads: Mapping[str, int] = self._client.nthreads()  # workers may come and go
        return max(1, sum(threads.values()))

    def has_room(self, role: str) -> bool:
        if role == JUDGES:
            return super().has_room(role)
        return len(self._jobs) - len(self.busy) < self.at_a_time * _AHEAD

    def submit(
        self, job: Job, task: Task, inputs: Mapping[str, Files], limit: float | None
    ) -> None:
        if job.role == JUDGES:
            super().submit(job, task, inputs, limit)
            return
        private = {role: files for role, files in inputs.items() if role == HANDOUT}
        shared = [role for role in inputs if role != HANDOUT]
        parcels = [self._parcel(task.inputs[role].whole, inputs[role]) for role in shared]
        future = self._executor.submit(perform_on_cluster, task, limit, private, shared, *parcels)
        self._jobs[future] = job, limit

    def _parcel(self, digest: str, files: Files) -> Any:
        """Return files as a task of the cluster: they travel to each worker once, and again where one is lost."""
        if digest not in self._parcels:
            self._parcels[digest] = self._client.submit(_same, files, key=parcel_key(digest))
        return self._parcels[digest]

    def _outcome(self, future: Future[Any], limit: float | None) -> Outcome | str:
        if future.cancelled():
            raise KakurenboError("error.workers_gone")
        if type(future.exception()).__name__ == "KilledWorker":
            return DIED
        return super()._outcome(future, limit)


def _same(files: Files) -> Files:
    return files


def perform_on_cluster(
    task: Task,
    limit: float | None,
    private: Mapping[str, Files],
    shared: Sequence[str],
    *parcels: Files,
) -> Outcome:
    """Do a task in a worker of a cluster; one that takes too long is left behind, and stopped where Python can stop it."""
    inputs = {**private, **dict(zip(shared, parcels, strict=True))}
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
