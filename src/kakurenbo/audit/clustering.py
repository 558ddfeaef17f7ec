"""The tasks of an audit on the workers of a Dask cluster, which need no folder of this machine.

The tables travel as codes, under their digest and once to each worker; what comes back are figures.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from kakurenbo.audit.steps import ended
from kakurenbo.audit.tasks import Crew, Prepared, Submit, Told, perform
from kakurenbo.clusters import connected, digest_of, parcel_key
from kakurenbo.core.errors import KakurenboError


def cluster(address: str) -> Crew:
    """The workers of the cluster whose scheduler is at an address.

    Raises
    ------
    UsageError
        When it is used, where Dask is not installed or nobody answers.
    """

    @contextlib.contextmanager
    def opened(prepared: Prepared, tell: Told) -> Iterator[Submit]:
        with connected(address) as client:
            key = parcel_key(digest_of(pickle.dumps(prepared, protocol=5)))
            tables = client.scatter({key: prepared})[key]
            executor = client.get_executor(pure=False)

            def submit(name: str) -> Future[Any]:
                tell(name)
                done = _understood(executor.submit(perform, name, tables))
                done.add_done_callback(
                    lambda future: None if future.exception() else ended(tell, name)
                )
                return done

            yield submit

    return opened


def _understood(there: Future[Any]) -> Future[Any]:
    """The same future; what goes wrong with workers is told in a sentence."""
    done: Future[Any] = Future()

    def arrived(_: Future[Any]) -> None:
        gone = KakurenboError("error.cluster_workers_gone")
        error: BaseException | None = gone if there.cancelled() else there.exception()
        if error is None:
            done.set_result(there.result())
        elif isinstance(error, KakurenboError):
            done.set_exception(error)
        else:
            done.set_exception(
                KakurenboError("error.cluster_failed", error=f"{type(error).__name__}: {error}")
            )

    there.add_done_callback(arrived)
    return done
