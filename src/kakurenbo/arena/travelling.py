"""Players' jobs on machines that share no folder with the run: inputs travel by digest, results come back as bytes.

A worker is sent each input once, whatever number of jobs need it, and never a path of the run. Handouts are the exception: they
are one team's own, and nothing of them stays with a worker when its job is done.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kakurenbo.arena.jobs import perform
from kakurenbo.arena.requests import PlayerRequest, Tree
from kakurenbo.arena.store import Result, Store, tree_digest
from kakurenbo.clusters import Parcel, packed, parcel_key
from kakurenbo.core import read_folder, write_folder

HANDOUT = "handout"
_KEPT: dict[
    str, tempfile.TemporaryDirectory[str]
] = {}  # of this worker: digest of what attackers were sent, and its folder


@dataclass(frozen=True)
class Delivered:
    """What a worker gives back: the result, the files that belong to it, and how it went."""

    result: Result
    trees: Mapping[str, Mapping[str, bytes]]
    meta: Mapping[str, Any]


class Travelling(Executor):
    """Players' jobs on a Dask cluster, each with the digests of its inputs; results are stored here, before anybody hears.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._there = client.get_executor(pure=False)
        self._parcels: dict[str, Any] = {}
        self._storing = ThreadPoolExecutor(1, thread_name_prefix="kakurenbo-storing")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is not perform:
            raise TypeError("workers of a cluster do players' jobs and nothing else")
        (request,) = args
        done: Future[Any] = Future()
        try:
            parcels = [self._parcel(role, tree) for role, tree in request.inputs.items()]
        except (
            Exception
        ) as error:  # damaged inputs: the run hears of them as if a worker had found out
            done.set_exception(error)
            return done
        bare = {role: Tree("", tree.digest) for role, tree in request.inputs.items()}
        there: Future[Delivered] = self._there.submit(
            perform_there, replace(request, store="", inputs=bare), *parcels
        )
        there.add_done_callback(
            lambda _: self._storing.submit(_arrived, request, there, done, parcels)
        )
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._storing.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _parcel(self, role: str, tree: Tree) -> Any:
        """The cluster's name for an input; made of the bytes the first time that a job needs it."""
        if role == HANDOUT:
            return packed(tree.digest, read_folder(tree.checked()))
        if tree.digest not in self._parcels:
            files = read_folder(tree.checked())
            self._parcels[tree.digest] = self._client.submit(
                packed, tree.digest, files, key=parcel_key(tree.digest)
            )
        return self._parcels[tree.digest]


def _arrived(
    request: PlayerRequest, there: Future[Delivered], done: Future[Any], _: object
) -> None:
    """Store what came back, and say so; whatever went wrong is said as it is."""
    if there.cancelled():
        done.cancel()
        done.set_running_or_notify_cancel()
        return
    try:
        made = there.result()
        found = made.result
        stored = Store(request.store).put(
            request.key,
            found.state,
            found.value,
            trees=made.trees,
            cause=found.cause,
            meta=made.meta,
        )
        done.set_result(stored)
    except BaseException as error:
        done.set_exception(error)


def perform_there(request: PlayerRequest, *parcels: Parcel) -> Delivered:
    """Do a job where there is no folder of the run: in folders of the worker's own."""
    with tempfile.TemporaryDirectory(prefix="kakurenbo-job-") as own:
        inputs = {}
        for (role, tree), parcel in zip(request.inputs.items(), parcels, strict=True):
            folder = Path(own, role) if role == HANDOUT else _kept(parcel)
            if role == HANDOUT:
                write_folder(folder, dict(parcel.files))
            inputs[role] = Tree(str(folder), tree.digest)
        store = Store(Path(own, "store"))
        store.path.mkdir()
        result = perform(replace(request, store=str(store.path), inputs=inputs))
        trees = {name: read_folder(store.tree(result.key, name)) for name in result.trees}
        assert all(tree_digest(files) == result.trees[name] for name, files in trees.items())
        return Delivered(result, trees, store.meta(result.key))


def _kept(parcel: Parcel) -> Path:
    """The folder of this worker with the files of a parcel; written once."""
    if parcel.digest not in _KEPT:
        folder = tempfile.TemporaryDirectory(prefix="kakurenbo-input-")
        write_folder(Path(folder.name, "files"), dict(parcel.files))
        _KEPT[parcel.digest] = folder
    return Path(_KEPT[parcel.digest].name, "files")
