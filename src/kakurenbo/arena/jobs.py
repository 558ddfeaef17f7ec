"""What a worker does with a request: one job, from files to files, and its result stored before anybody hears of it."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.arena import judging, playing
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.executors import ONE_THREAD
from kakurenbo.arena.limits import TimeLimitExceeded, time_limit
from kakurenbo.arena.requests import (
    ANONYMIZE,
    ATTACK,
    CREDIT,
    JUDGE,
    NOTHING,
    PREPARE,
    JudgeRequest,
    Outcome,
    Request,
)
from kakurenbo.arena.store import DONE, FAILED, Damaged, Result, Store, Stores
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import spoken_in


@spoken_in("en")
def perform(request: Request) -> Result:
    """Do a job and store its result; a job that was done already is not done again."""
    store = Store(request.store)
    known = store.get(request.key)
    if known is not None:
        return known
    begun = time.perf_counter()

    def failed(cause: str, **meta: Any) -> Result:
        meta |= {"seconds": time.perf_counter() - begun, "process": os.getpid()}
        return store.put(request.key, FAILED, {}, cause=cause, meta=meta)

    def last_words() -> None:
        failed(late, limit=limit)

    limit = request.limit
    late = f"it took longer than its time limit of {limit:g} s" if limit else ""
    try:
        _load(request)  # code is loaded once per process: that is not the method's time
        with _one_thread(), time_limit(limit, last_words):
            outcome = _KINDS[request.kind](request)
    except TimeLimitExceeded:
        return failed(late, limit=limit)
    except Damaged as error:
        raise Damaged(
            _message(error)
        ) from None  # not the job's fault: the run repeats what is damaged
    except KakurenboError as error:
        return failed(_message(error))
    except MemoryError:
        return failed("it needs more memory than there is", traceback=_traceback())
    except BaseException as error:  # a method that asks to exit, or acts as if somebody pressed Ctrl-C, ends its own job alone
        return failed(_sentence(error), traceback=_traceback())
    handed_out = _hand_out(request, outcome) if isinstance(request, JudgeRequest) else {}
    return store.put(
        request.key,
        outcome.state,
        outcome.value,
        trees=outcome.trees,
        handed_out=handed_out,
        cause=outcome.cause,
        meta={"seconds": time.perf_counter() - begun, "process": os.getpid()},
    )


def _hand_out(request: JudgeRequest, outcome: Outcome) -> dict[str, str]:
    """Put what others are given into their stores, before the result that says so; gives places and digests."""
    by_root: dict[str, dict[str, Any]] = {}
    for place, files in outcome.handed_out.items():
        root, _, name = place.rpartition("/")
        by_root.setdefault(root, {})[name] = files
    placed: dict[str, str] = {}
    for root, trees in by_root.items():
        written = Stores(request.out).at(root).put(request.key, DONE, {}, trees=trees)
        placed |= {f"{root}/{name}": digest for name, digest in written.trees.items()}
    return placed


def _load(request: Request) -> None:
    method = None if isinstance(request, JudgeRequest) else request.method
    load_code((request.rulebook, *([method] if method else ())))


def load_code(calls: Sequence[MethodCall]) -> None:
    """Import the code behind these calls; also what a worker does that has nothing else to do yet."""
    for call in calls:
        call.make()


def _one_thread() -> contextlib.AbstractContextManager[Any]:
    """One thread for all libraries: faster with many workers, and the same sums in the same order everywhere."""
    begun_so = all(os.environ.get(name) == value for name, value in ONE_THREAD.items())
    return contextlib.nullcontext() if begun_so else threadpool_limits(1)


def _nothing(request: Request) -> Outcome:
    """The empty job, by which the cost of everything around a job is measured."""
    return Outcome({"kind": request.kind})


_KINDS: dict[str, Callable[[Any], Outcome]] = {
    PREPARE: judging.prepare,
    JUDGE: judging.judge,
    CREDIT: judging.credit,
    ANONYMIZE: playing.anonymize,
    ATTACK: playing.attack,
    NOTHING: _nothing,
}


def _sentence(error: BaseException) -> str:
    """The error and the place it came from, for people who write methods."""
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    message = " ".join(_message(error).split())[:300]
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"


def _message(error: BaseException) -> str:
    """What an error says; a method's own kind of error may fail even at that."""
    try:
        return "".join(str(error))
    except BaseException as another:
        return f"its message cannot be read ({type(another).__name__})"


def _traceback() -> str:
    try:
        return traceback.format_exc()
    except BaseException as another:
        return f"its traceback cannot be read ({type(another).__name__})"
