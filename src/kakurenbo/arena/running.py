"""Playing a plan: hand out every job whose inputs are there, keep what comes back, survive workers that die.

Results are in the store before this process hears of them, so it holds nothing that could be lost.
"""

from __future__ import annotations

import contextlib
import heapq
import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from kakurenbo.arena.executors import Workers
from kakurenbo.arena.jobs import Request, perform
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.store import DONE, FAILED, Damaged, Result, Store, verified
from kakurenbo.errors import KakurenboError, UsageError

SKIPPED = "skipped"
_CRASHES = 3  # how often a job may be around when a worker dies before it is given up
_DIED = "its worker process died each time (killed, or out of memory)"


class _InputsRepeated(Exception):
    """Stored inputs were damaged and have been dropped; the run begins again with what is whole."""


@dataclass
class Tally:
    """How far a run is; the numbers of a progress display."""

    total: int
    done: int = 0
    stored: int = 0
    running: int = 0
    failed: int = 0
    refused: int = 0
    skipped: int = 0
    seconds_left: float | None = None

    @property
    def finished(self) -> int:
        return self.done + self.stored + self.failed + self.refused + self.skipped


Tell = Callable[[Tally, Job | None, Result | None], None]


@dataclass(frozen=True)
class Settings:
    """How to play.

    Attributes
    ----------
    limit : float or None
        Seconds that a job may take.
    retry_failed : bool
        Play jobs again that failed in an earlier start; those that ran out of time always are, under a longer limit.
    """

    limit: float | None = None
    retry_failed: bool = False


def play(plan: Plan, store: Store, workers: Workers, settings: Settings, tell: Tell | None = None) -> Mapping[Job, Result]:
    """Play every job of a plan that is not stored yet, and give the results of all.

    A job whose inputs did not come about is ``skipped``; it is in the results with the cause.
    """
    store.path.mkdir(parents=True, exist_ok=True)
    store.sweep()
    return _Run(plan, store, workers, settings, tell or _say_nothing).play()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of the same folder."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system; atomic results keep two runs from harming each other
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{folder}: another run is at work in this folder") from None
        yield


@dataclass
class _Run:
    plan: Plan
    store: Store
    workers: Workers
    settings: Settings
    tell: Tell
    found: dict[Job, Result] = field(default_factory=dict)
    ready: list[Job] = field(default_factory=list)
    alone: deque[Job] = field(default_factory=deque)  # were around when a worker died: played one by one
    flying: dict[Job, Future[Result]] = field(default_factory=dict)
    landed: queue.SimpleQueue[Job] = field(default_factory=queue.SimpleQueue)
    crashes: Counter[Job] = field(default_factory=Counter)
    at_a_time: int = 1
    took: dict[str, tuple[int, float]] = field(default_factory=dict)  # kind of job: how many were timed, seconds in all

    def play(self) -> Mapping[Job, Result]:
        self._begin()
        while len(self.found) < len(self.plan.jobs):
            with self.workers.open() as executor:
                try:
                    self._fly(executor)
                except BrokenExecutor:
                    self._after_crash()
                except _InputsRepeated:
                    self._begin()
        return self.found

    def _begin(self) -> None:
        """Everything from the start; what is stored is found again."""
        self.found, self.ready, self.flying, self.landed = {}, [], {}, queue.SimpleQueue()
        self.alone.clear()
        self.tally = Tally(len(self.plan.jobs))
        self.left = Counter(job.kind for job in self.plan.jobs)
        self.waiting = {job: len(job.needs) for job in self.plan.jobs}
        self.followers: dict[Job, list[Job]] = {job: [] for job in self.plan.jobs}
        for job in self.plan.jobs:
            for need in job.needs:
                self.followers[need].append(job)
        for job in self.plan.jobs:
            if not job.needs:
                self._now_ready(job)

    def _fly(self, executor: Executor) -> None:
        self.at_a_time = self.workers.count(executor)
        while len(self.found) < len(self.plan.jobs):
            self._launch(executor)
            if not self.flying:
                continue
            job = self.landed.get()
            future = self.flying.get(job)
            if future is None or not future.done():
                continue
            self._land(job, future)

    def _launch(self, executor: Executor) -> None:
        """Hand out jobs up to the window; those under suspicion alone, so that a crash can be blamed."""
        if self.alone:
            if not self.flying:
                self._submit(executor, self.alone[0])
            return
        window = self.workers.window(executor) if self.ready else 0
        while self.ready and len(self.flying) < window:
            self._submit(executor, heapq.heappop(self.ready))

    def _submit(self, executor: Executor, job: Job) -> None:
        request = self.plan.request(job, self.found, self.store, self.settings.limit, mortal=self.workers.mortal)
        try:
            future = executor.submit(perform, request)
        except BrokenExecutor:
            self.flying[job] = Future()
            raise
        self.flying[job] = future
        self.tally.running = min(len(self.flying), self.at_a_time)
        self.tell(self.tally, job, None)
        future.add_done_callback(lambda _: self.landed.put(job))

    def _land(self, job: Job, future: Future[Result]) -> None:
        try:
            result = future.result()
        except BrokenExecutor:
            raise
        except Damaged as error:
            self._repeat_inputs(job, error)
        except CancelledError:
            raise KakurenboError("the workers are gone; run the same command again to go on") from None
        except Exception as error:
            result = self._lost(job, error)
        del self.flying[job]
        if self.alone and self.alone[0] == job:
            self.alone.popleft()
        count, seconds = self.took.get(job.kind, (0, 0.0))
        self.took[job.kind] = count + 1, seconds + float(self.store.meta(result.key).get("seconds", 0.0))
        self._finish(job, result)

    def _lost(self, job: Job, error: BaseException) -> Result:
        """The executor itself gave the job up. That is shown but not stored: the next start tries again."""
        cause = _DIED if type(error).__name__ == "KilledWorker" else f"its worker could not do it ({_shown(error)})"
        key = self._key(job)
        return self.store.get(key) or Result(key, FAILED, cause=cause)

    def _repeat_inputs(self, job: Job, error: Damaged) -> NoReturn:
        """Forget the damaged results that a job stumbled over, and begin again without them."""
        behind = {need for direct in job.needs for need in (direct, *direct.needs)}
        damaged = [self.found[need].key for need in behind if not self._is_whole(self.found[need])]
        if not damaged:
            raise KakurenboError(f"{job}: {error}; submitted files must not change while they are played") from None
        for key in damaged:
            self.store.drop(key)
        raise _InputsRepeated

    def _is_whole(self, result: Result) -> bool:
        try:
            for name, digest in result.trees.items():
                verified(self.store.tree(result.key, name), digest)
        except Damaged:
            return False
        return True

    def _after_crash(self) -> None:
        """A worker died. Whoever was in flight and has no result is played again, alone; three times around means guilty."""
        for job in sorted(self.flying):
            result = self.store.get(self._key(job))
            if result is None:
                self.crashes[job] += 1
                if self.crashes[job] >= _CRASHES:
                    result = Result(self._key(job), FAILED, cause=_DIED)
            if result is not None:
                if job in self.alone:
                    self.alone.remove(job)
                self._finish(job, result)
            elif job not in self.alone:
                self.alone.append(job)
        self.flying.clear()
        self.landed = queue.SimpleQueue()

    def _key(self, job: Job) -> str:
        return self.plan.request(job, self.found, self.store, None, mortal=False).key

    def _now_ready(self, job: Job) -> None:
        """All inputs are there: take the stored result, or line the job up."""
        result = self._stored(job)
        if result is not None:
            self._finish(job, result, stored=True)
        else:
            heapq.heappush(self.ready, job)

    def _stored(self, job: Job) -> Result | None:
        request: Request = self.plan.request(job, self.found, self.store, None, mortal=False)
        result = self.store.get(request.key)
        if result is None or result.state != FAILED:
            return result
        past_limit = self.store.meta(request.key).get("limit")
        longer = past_limit is not None and (self.settings.limit is None or self.settings.limit > past_limit)
        if self.settings.retry_failed or longer:
            self.store.drop(request.key)
            return None
        return result

    def _finish(self, job: Job, result: Result, *, stored: bool = False) -> None:
        self.found[job] = result
        label = "stored" if stored and result.state == DONE else result.state
        setattr(self.tally, label, getattr(self.tally, label) + 1)
        self.left[job.kind] -= 1
        self.tally.running = min(len(self.flying), self.at_a_time)
        self.tally.seconds_left = self._estimate()
        self.tell(self.tally, job, result)
        for follower in self.followers[job]:
            self._one_input_less(follower, job, result)

    def _one_input_less(self, job: Job, need: Job, result: Result) -> None:
        if job in self.found:
            return
        self.waiting[job] -= 1
        if result.state != DONE and not self._does_without(job):
            cause = result.cause if result.state == SKIPPED else f"{need}: {result.cause}"
            self._finish(job, Result("", SKIPPED, cause=cause))
        elif self.waiting[job] == 0:
            self._now_ready(job)

    def _does_without(self, job: Job) -> bool:
        """Guesses handed in as files are for whatever targets there are."""
        return len(job.needs) > 1 and not job.team

    def _estimate(self) -> float | None:
        """Seconds left, from the mean time of each kind of job so far; unknown until every kind that is left was seen."""
        left = {kind: count for kind, count in self.left.items() if count}
        if not left.keys() <= self.took.keys():
            return None
        means = {kind: seconds / count for kind, (count, seconds) in self.took.items()}
        return sum(count * means[kind] for kind, count in left.items()) / max(1, self.at_a_time)


def _say_nothing(*_: object) -> None:
    return None


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
