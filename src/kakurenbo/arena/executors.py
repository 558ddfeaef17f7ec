"""Where jobs run: in pools of processes on this machine, attacks and anonymizers also on a Dask cluster.

The judge, the anonymizers and the attackers have processes of their own, so that no answer, and no handout from which one
follows, is ever in the process that runs an attack. All are ``concurrent.futures`` executors.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import (
    forkserver,
    get_all_start_methods,
    get_context,
    parent_process,
    resource_tracker,
)
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from typing import Any

from kakurenbo.clusters import connected
from kakurenbo.core.compiling import announce, announce_with

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ),
    "1",
)
JUDGES, ANONYMIZERS, ATTACKERS = "judges", "anonymizers", "attackers"
"""Roles of workers."""
PLAYERS = frozenset({ANONYMIZERS, ATTACKERS})
_LOADED_ONCE = (
    "kakurenbo.arena.jobs",
    "numba",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
)
_AHEAD = 2  # jobs handed out per worker of a cluster, so that none waits for the next


@dataclass(frozen=True)
class Quota:
    """How many jobs of some roles together may be handed out at a time."""

    roles: frozenset[str]
    most: Callable[[], int]


@dataclass(frozen=True)
class Crews:
    """The executors of a run while they are open.

    Attributes
    ----------
    executors : mapping of role to Executor
    quotas : tuple of Quota
        One for each role at least.
    at_a_time : callable
        How many jobs run at a time.
    dismiss : callable
        Called with a role that has no more jobs: its processes may go.
    ahead : int
        How many processes of each role are worth starting before there is a job for them, while others wait.
    """

    executors: Mapping[str, Executor]
    quotas: tuple[Quota, ...]
    at_a_time: Callable[[], int]
    dismiss: Callable[[str], None] = field(default=lambda _: None)
    ahead: int = 0

    def has_room(self, role: str, flying: Counter[str]) -> bool:
        """Whether one more job of a role may be handed out beside those that are."""
        return all(
            sum(flying[one] for one in quota.roles) < quota.most()
            for quota in self.quotas
            if role in quota.roles
        )


@dataclass(frozen=True)
class Workers:
    """Crews that can be opened again when their processes died.

    Attributes
    ----------
    name : str
        For people: ``2 processes``.
    open : callable
        Gives fresh crews.
    """

    name: str
    open: Callable[[], contextlib.AbstractContextManager[Crews]]


def processes(count: int) -> Workers:
    """So many jobs at a time on this machine; each role has a pool of processes that are started when they are needed."""

    @contextlib.contextmanager
    def opened() -> Iterator[Crews]:
        with _pools((JUDGES, ANONYMIZERS, ATTACKERS), count) as pools:
            # One job waits ahead where there are several workers, so that none of them waits.
            quota = Quota(PLAYERS | {JUDGES}, lambda: count + (count > 1))
            ahead = count if count > 1 else 0
            yield Crews(
                pools, (quota,), lambda: count, lambda role: pools[role].shutdown(wait=False), ahead
            )

    return Workers("1 process" if count == 1 else f"{count} processes", opened)


def cluster(address: str, judges: int = 1) -> Workers:
    """The players' jobs on the workers of a Dask cluster, the judge's in processes of this machine.

    Workers share no folder with the run: see :mod:`kakurenbo.arena.travelling`.
    """
    from kakurenbo.arena.travelling import (
        Travelling,
    )  # which takes the jobs, and these the names of this module

    @contextlib.contextmanager
    def opened() -> Iterator[Crews]:
        client = connected(address)

        def threads() -> int:
            known: dict[str, int] = client.nthreads()
            return max(1, sum(known.values()))

        with client, _pools((JUDGES,), judges) as pools:
            players: Executor = Travelling(client)
            quotas = (
                Quota(frozenset({JUDGES}), lambda: judges + 1),
                Quota(PLAYERS, lambda: threads() * _AHEAD),
            )
            with players:
                yield Crews({**pools, **dict.fromkeys(PLAYERS, players)}, quotas, threads)

    return Workers(f"the cluster at {address}", opened)


@contextlib.contextmanager
def _pools(roles: tuple[str, ...], count: int) -> Iterator[dict[str, ProcessPoolExecutor]]:
    # Never forked from this process: Polars and BLAS hold threads that a fork would leave locked, and a fork would inherit
    # secrets. The server that is forked instead has loaded libraries and nothing else, so that a process starts at once.
    context = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    with _environment(ONE_THREAD):
        if context.get_start_method() == "forkserver":
            context.set_forkserver_preload(list(_LOADED_ONCE))
            _start_forkserver()
        heard, telling = context.Pipe(duplex=False)
        threading.Thread(
            target=_pass_on, args=(heard,), daemon=True, name="kakurenbo-compiling"
        ).start()
        pools = {role: _pool(role, count, context, telling) for role in roles}
        try:
            yield pools
        except BaseException as error:
            for pool in pools.values():
                for process in list((pool._processes or {}).values()):
                    process.terminate()
            if isinstance(error, KeyboardInterrupt):
                _stop_forkserver()
            for pool in pools.values():  # whoever pressed Ctrl-C waits for nothing
                pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
            raise
        for pool in pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
        telling.close()


def _pool(role: str, count: int, context: BaseContext, telling: Connection) -> ProcessPoolExecutor:
    begin = _begin_judge if role == JUDGES else _begin_player
    return ProcessPoolExecutor(
        count, mp_context=context, initializer=begin, initargs=(dict(os.environ), telling)
    )


def _pass_on(heard: Connection) -> None:
    """Announce here what a worker compiles: nobody sees its own words."""
    with (
        heard,
        contextlib.suppress(EOFError, OSError),
    ):  # all workers are gone, and so is the run's own end
        while True:
            heard.recv_bytes()
            announce()


def _start_forkserver() -> None:
    """Start the server that processes are forked from; a Ctrl-C, which the terminal sends to it too, is the run's to hear."""
    with _quiet_tracker():
        resource_tracker.ensure_running()  # before: it unblocks what is blocked here
    signals = {signal.SIGINT}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # a process inherits what is blocked
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _quiet_tracker() -> Iterator[None]:
    """The process that removes what a stopped run leaves in the system does so without a word; it takes over these options."""
    before = list(sys.warnoptions)
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")
    try:
        yield
    finally:
        sys.warnoptions[:] = before


def _stop_forkserver() -> None:
    """End the server at once, with the processes that were asked of it and have not begun: nobody waits for them any more."""
    server = getattr(forkserver._forkserver, "_forkserver_pid", None)
    if server is not None:
        with contextlib.suppress(OSError):
            os.kill(server, signal.SIGKILL)


def _begin_judge(environment: Mapping[str, str], telling: Connection) -> None:
    """Begin a worker in the run's own environment; it ends when the run is gone, for a killed run must leave none behind."""
    os.environ.clear()  # the server that it was forked from may have been started long ago
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to hear
    announce_with(lambda: _tell(telling))
    parent = parent_process()
    if parent is not None:
        threading.Thread(
            target=_end_after, args=(parent,), daemon=True, name="kakurenbo-parent"
        ).start()


def _tell(telling: Connection) -> None:
    with contextlib.suppress(OSError):  # the run listens no more
        telling.send_bytes(b"compiling")


def _begin_player(environment: Mapping[str, str], telling: Connection) -> None:
    """The same for a worker that runs players' code, which has no business with the command line and its seed."""
    del sys.argv[1:]
    _begin_judge(environment, telling)


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables that processes started meanwhile inherit; set early, because libraries read them once."""
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
