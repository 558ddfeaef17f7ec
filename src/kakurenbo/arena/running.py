"""Playing a plan: hand out every job whose inputs are there, keep what comes back, survive workers that die.

Results are in the store before this process hears of them, so it holds nothing that could be lost.
"""

from __future__ import annotations

import contextlib
import heapq
import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from kakurenbo.arena.dispatch import Dispatcher, obstacle
from kakurenbo.arena.executors import PLAYERS, Crews, Workers
from kakurenbo.arena.jobs import load_code, perform
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.store import DONE, FAILED, Damaged, Result, Stores
from kakurenbo.core.errors import KakurenboError, UsageError

SKIPPED = "skipped"
_CRASHES = 3  # how often a job may be around when a worker dies before it is given up
_DIED = "its worker process died each time (killed, or out of memory)"


class _WorkerDied(Exception):
    """A process of some role died."""

    def __init__(self, role: str) -> None:
        super().__init__(role)
        self.role = role


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


ProgressListener = Callable[[Tally, Job | None, Result | None], None]


@dataclass(frozen=True)
class Settings:
    """How to play.

    Attributes
    ----------
    limit : float or None
        Seconds that a player's job may take.
    retry_failed : bool
        Play jobs again that failed in an earlier start; those that ran out of time always are, under a longer limit.
    replace_results : bool
        Play in a folder that holds the results of another plan, which are replaced.
    """

    limit: float | None = None
    retry_failed: bool = False
    replace_results: bool = False


def play(
    plan: Plan,
    stores: Stores,
    workers: Workers,
    settings: Settings,
    listener: ProgressListener | None = None,
) -> Mapping[Job, Result]:
    """Play every job of a plan that is not stored yet, and give the results of all.

    A job whose inputs did not come about is ``skipped``; it is in the results with the cause.
    """
    stores.begin()
    return _Run(plan, stores, workers, settings, listener or _say_nothing).play()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", blocking=False):
            yield
    except Timeout:
        raise UsageError("error.another_run", at=folder) from None


@dataclass
class _Run:
    plan: Plan
    stores: Stores
    workers: Workers
    settings: Settings
    tell: ProgressListener
    found: dict[Job, Result] = field(default_factory=dict)
    ready: dict[str, list[Job]] = field(default_factory=dict)  # by role, each a heap
    alone: deque[Job] = field(
        default_factory=deque
    )  # were around when a worker died: played one by one
    flying: dict[Job, Future[Result]] = field(default_factory=dict)
    landed: queue.SimpleQueue[Job] = field(default_factory=queue.SimpleQueue)
    crashes: Counter[Job] = field(default_factory=Counter)
    at_a_time: int = 1
    took: dict[str, tuple[int, float]] = field(
        default_factory=dict
    )  # kind of job: how many were timed, seconds in all

    def play(self) -> Mapping[Job, Result]:
        self._begin()
        while len(self.found) < len(self.plan.jobs):
            with self.workers.open() as crews:
                try:
                    self._fly(crews)
                except _WorkerDied as died:
                    self._after_crash(died.role)
                except _InputsRepeated:
                    self._begin()
        return self.found

    def _begin(self) -> None:
        """Everything from the start; what is stored is found again."""
        self.found, self.flying, self.landed = {}, {}, queue.SimpleQueue()
        self.ready = {job.role: [] for job in self.plan.jobs}
        self.alone.clear()
        self.dispatcher = Dispatcher(self.plan, self.stores, self.found, self.settings.limit)
        self.tally = Tally(len(self.plan.jobs))
        self.left = Counter(job.kind for job in self.plan.jobs)
        self.left_of_role = Counter(job.role for job in self.plan.jobs)
        self.waiting = {job: len(job.needs) for job in self.plan.jobs}
        self.followers: dict[Job, list[Job]] = {job: [] for job in self.plan.jobs}
        for job in self.plan.jobs:
            for need in job.needs:
                self.followers[need].append(job)
        for job in self.plan.jobs:
            if not job.needs:
                self._now_ready(job)

    def _fly(self, crews: Crews) -> None:
        self.at_a_time = crews.at_a_time()
        self._launch(crews)
        self._start_ahead(crews)
        while len(self.found) < len(self.plan.jobs):
            self._launch(crews)
            if not self.flying:
                continue
            job = self.landed.get()
            future = self.flying.get(job)
            if future is None or not future.done():
                continue
            self._land(job, future)
            if not self.left_of_role[job.role]:
                crews.dismiss(job.role)

    def _start_ahead(self, crews: Crews) -> None:
        """Let processes that will be needed load their code while the first jobs, which all others wait for, are played."""
        for role, left in self.left_of_role.items() if not self.crashes else ():
            for _ in range(min(crews.ahead, left)):
                with contextlib.suppress(BrokenExecutor):  # whoever is handed a job will hear of it
                    crews.executors[role].submit(load_code, self.plan.code_of(role))

    def _launch(self, crews: Crews) -> None:
        """Hand out jobs as far as there is room; those under suspicion alone, so that a crash can be blamed."""
        if self.alone:
            if not self.flying:
                self._submit(crews, self.alone[0])
            return
        flying = Counter(job.role for job in self.flying)
        while roles := [
            role for role, jobs in self.ready.items() if jobs and crews.has_room(role, flying)
        ]:
            role = min(roles, key=lambda role: self.ready[role][0])
            flying[role] += 1
            self._submit(crews, heapq.heappop(self.ready[role]))

    def _submit(self, crews: Crews, job: Job) -> None:
        try:
            future = crews.executors[job.role].submit(perform, self.dispatcher.request(job))
        except BrokenExecutor:
            self.flying[job] = Future()
            raise _WorkerDied(job.role) from None
        self.flying[job] = future
        self.tally.running = min(len(self.flying), self.at_a_time)
        self.tell(self.tally, job, None)
        future.add_done_callback(lambda _: self.landed.put(job))

    def _land(self, job: Job, future: Future[Result]) -> None:
        try:
            error = (
                future.exception()
            )  # asked for, not raised: only a Ctrl-C of this process may end the run
        except CancelledError:
            raise KakurenboError("error.workers_gone") from None
        if isinstance(error, BrokenExecutor):
            raise _WorkerDied(job.role)
        if isinstance(error, Damaged):
            self._repeat_inputs(job, error)
        result = future.result() if error is None else self._lost(job, error)
        del self.flying[job]
        if self.alone and self.alone[0] == job:
            self.alone.popleft()
        count, seconds = self.took.get(job.kind, (0, 0.0))
        self.took[job.kind] = (
            count + 1,
            seconds + float(self.stores.at(job.root).meta(result.key).get("seconds", 0.0)),
        )
        self._finish(job, result)

    def _lost(self, job: Job, error: BaseException) -> Result:
        """The executor itself gave the job up. That is shown but not stored: the next start tries again."""
        cause = (
            _DIED
            if type(error).__name__ == "KilledWorker"
            else f"its worker could not do it ({_shown(error)})"
        )
        key = self.dispatcher.request(job).key
        return self.stores.at(job.root).get(key) or Result(key, FAILED, cause=cause)

    def _repeat_inputs(self, job: Job, error: Damaged) -> None:
        """Forget the damaged results that a job stumbled over, and begin again without them.

        A player's job reads nothing else: where all is whole, the method made the damage up, and its job fails.
        """
        behind = {need for direct in job.needs for need in (direct, *direct.needs)}
        damaged = [need for need in behind if not self.stores.is_whole(need.root, self.found[need])]
        for need in damaged:
            self.stores.drop(need.root, self.found[need])
        if damaged:
            raise _InputsRepeated
        if job.role not in PLAYERS:
            raise KakurenboError("error.must_not_change", at=job, problem=error)

    def _after_crash(self, role: str) -> None:
        """A worker died. Jobs of its role in flight are played again, alone; three times around means guilty."""
        for job in sorted(self.flying):
            key = self.dispatcher.request(job).key
            result = self.stores.at(job.root).get(key)
            if result is None and job.role == role:
                self.crashes[job] += 1
                if self.crashes[job] >= _CRASHES:
                    result = Result(key, FAILED, cause=_DIED)
            if result is not None:
                if job in self.alone:
                    self.alone.remove(job)
                self._finish(job, result)
            elif job.role != role:
                heapq.heappush(self.ready[job.role], job)
            elif job not in self.alone:
                self.alone.append(job)
        self.flying.clear()
        self.landed = queue.SimpleQueue()

    def _now_ready(self, job: Job) -> None:
        """All inputs are there: take the stored result, or line the job up."""
        result = self._stored(job)
        if result is not None:
            self._finish(job, result, stored=True)
        else:
            heapq.heappush(self.ready[job.role], job)

    def _stored(self, job: Job) -> Result | None:
        key, store = self.dispatcher.request(job).key, self.stores.at(job.root)
        result = store.get(key)
        if result is None or result.state != FAILED:
            return result
        past_limit = store.meta(key).get("limit")
        longer = past_limit is not None and (
            self.settings.limit is None or self.settings.limit > past_limit
        )
        if self.settings.retry_failed or longer:
            store.drop(key)
            return None
        return result

    def _finish(self, job: Job, result: Result, *, stored: bool = False) -> None:
        self.found[job] = result
        label = "stored" if stored and result.state == DONE else result.state
        setattr(self.tally, label, getattr(self.tally, label) + 1)
        self.left[job.kind] -= 1
        self.left_of_role[job.role] -= 1
        self.tally.running = min(len(self.flying), self.at_a_time)
        self.tally.seconds_left = self._estimate()
        self.tell(self.tally, job, result)
        for follower in self.followers[job]:
            self._one_input_less(follower, job, result)

    def _one_input_less(self, job: Job, need: Job, result: Result) -> None:
        if job in self.found:
            return
        self.waiting[job] -= 1
        if cause := obstacle(job, need, result):
            self._finish(job, Result("", SKIPPED, cause=cause))
        elif self.waiting[job] == 0:
            self._now_ready(job)

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
