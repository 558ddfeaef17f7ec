"""Where jobs run: in this process, in a pool of processes, or on a Dask cluster; all are ``concurrent.futures`` executors."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any

from kakurenbo.errors import UsageError

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
_AHEAD = 2  # jobs handed out per worker, so that none waits for the next


@dataclass(frozen=True)
class Workers:
    """An executor that can be opened again when its processes died.

    Attributes
    ----------
    name : str
        For people: ``2 processes``.
    open : callable
        Gives a fresh executor.
    window : callable
        Given the executor, how many jobs to hand out at a time.
    count : callable
        Given the executor, how many run at a time.
    mortal : bool
        Whether a job that does not stop may end its process.
    """

    name: str
    open: Callable[[], contextlib.AbstractContextManager[Executor]]
    window: Callable[[Executor], int]
    count: Callable[[Executor], int]
    mortal: bool = True


def serial() -> Workers:
    """One job after the other in this process."""
    return Workers("this process", lambda: contextlib.nullcontext(_Here()), lambda _: 1, lambda _: 1, mortal=False)


def processes(count: int) -> Workers:
    """A pool of processes on this machine."""

    @contextlib.contextmanager
    def opened() -> Iterator[Executor]:
        # Spawned, not forked: Polars and BLAS hold threads that a fork would leave locked.
        with _environment(ONE_THREAD):
            pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin_worker)
            try:
                yield pool
            except BaseException:
                for process in list((pool._processes or {}).values()):
                    process.terminate()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    noun = "process" if count == 1 else "processes"
    return Workers(f"{count} {noun}", opened, lambda _: count * _AHEAD, lambda _: count)


def cluster(address: str) -> Workers:
    """The workers of a Dask cluster, wherever they are; they must see the run's folder under the same path."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("a cluster needs Dask: pip install 'kakurenbo[cluster]'") from None

    @contextlib.contextmanager
    def opened() -> Iterator[Executor]:
        try:
            client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address} ({type(error).__name__})") from None
        with client:
            executor: Executor = client.get_executor(pure=False)
            yield executor

    def threads(executor: Any) -> int:
        known: dict[str, int] = executor._client.nthreads()
        return max(1, sum(known.values()))

    return Workers(f"the cluster at {address}", opened, lambda executor: threads(executor) * _AHEAD, threads)


def _begin_worker() -> None:
    """End this worker when the run that started it is gone: a killed run must not leave processes behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to hear
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True, name="kakurenbo-parent").start()


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


class _Here(Executor):
    """Runs each job at once in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
