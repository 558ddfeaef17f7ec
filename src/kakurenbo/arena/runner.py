"""Playing a plan: hand out every job whose inputs exist, store what comes back, survive workers that die.

The key of a job is the SHA-256 of all that its result depends on: the bytes of its inputs, not the history behind them. A team
that joins later leaves the others' releases and attacks valid, and the next start goes on where the last one was stopped.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from kakurenbo.arena.jobs import Task
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.pool import ProcessPools, Workers
from kakurenbo.arena.store import (
    DONE,
    FAILED,
    SKIPPED,
    Outcome,
    Result,
    ResultStore,
    content_hash,
)
from kakurenbo.contest import Files
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import join_stored, with_message

_FORMAT = 4  # raise when jobs come to mean something else
_ATTEMPTS = 3  # that a job has before it is given up because its workers died


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


ProgressListener = Callable[[Tally, Job, Result | None], None]


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


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", blocking=False):
            yield
    except Timeout:
        raise UsageError("error.another_run", at=folder) from None


def play(
    plan: Plan,
    store: ResultStore,
    workers: Workers,
    settings: Settings,
    listener: ProgressListener | None = None,
) -> Mapping[Job, Result]:
    """Play every job of a plan that is not stored yet, and return the results of all.

    A job that lacks an input is ``skipped``; it is in the results with the cause.
    """
    store.begin()
    with workers.open(plan.code_of) as pools:
        return _Run(plan, store, pools, settings, listener or (lambda *_: None)).play()


def task_of(job: Job, results: Mapping[Job, Result]) -> Task:
    """Return the task of a job whose inputs exist, with their digests."""
    digests = {}
    for entry in job.inputs:
        if entry.job is None:
            digests[entry.role] = entry.digests
        elif entry.tree in results[entry.job].trees:
            digests[entry.role] = results[entry.job].trees[entry.tree]
    return replace(job.task, inputs=digests)


def read_inputs(job: Job, results: Mapping[Job, Result], store: ResultStore) -> dict[str, Files]:
    """Read the inputs of a job, by role."""
    files = {}
    for entry in job.inputs:
        if entry.job is None:
            files[entry.role] = entry.files
        elif entry.tree in results[entry.job].trees:
            files[entry.role] = entry.in_folders(store.read(results[entry.job], entry.tree))
    return files


def _key(task: Task) -> str:
    inputs = {role: digests.content for role, digests in task.inputs.items()}
    code = {
        "rulebook": task.rulebook.identity(),
        "method": task.method.identity() if task.method else None,
    }
    return content_hash({"format": _FORMAT, **asdict(task), **code, "inputs": inputs})


def _missing_input(job: Job, results: Mapping[Job, Result]) -> str:
    """Return why a job lacks an input after all that it waits for has ended; empty if it lacks none."""
    for entry in job.inputs:
        if entry.job is None or not entry.is_required:
            continue
        result = results[entry.job]
        if entry.tree not in result.trees:
            records = result.value.get("records", ())
            causes = [
                with_message(record["cause"], record["messages"])
                for record in records
                if record["target"] == job.team
            ]
            cause = causes[0] if causes else result.reason
            if result.state == SKIPPED:
                return cause
            return join_stored([entry.job.text, cause], ": ")
    return ""


class _Run:
    """One start of a run."""

    def __init__(
        self,
        plan: Plan,
        store: ResultStore,
        pools: ProcessPools,
        settings: Settings,
        listener: ProgressListener,
    ) -> None:
        self._plan, self._store, self._pools = plan, store, pools
        self._settings, self._listener = settings, listener
        self._tally = Tally(len(plan.jobs))
        self._results: dict[Job, Result] = {}
        self._tasks: dict[Job, tuple[Task, str]] = {}  # with the keys of their results
        self._ready: dict[str, list[Job]] = {job.role: [] for job in plan.jobs}  # heaps
        self._open = Counter(job.role for job in plan.jobs)
        self._left = Counter(job.kind for job in plan.jobs)
        self._seconds: dict[str, list[float]] = {}  # that jobs took, by kind
        self._deaths: Counter[Job] = Counter()  # of workers, by the job they died on
        self._running = 0
        self._waiting = {job: len(job.needs) for job in plan.jobs}
        self._followers: dict[Job, list[Job]] = {job: [] for job in plan.jobs}
        for job in plan.jobs:
            for need in job.needs:
                self._followers[need].append(job)

    def play(self) -> Mapping[Job, Result]:
        for job in self._plan.jobs:
            if not job.needs:
                self._queue(job)
        while len(self._results) < len(self._plan.jobs):
            self._start_jobs()
            for job, outcome in self._pools.wait():
                self._land(job, outcome)
        return self._results

    def _queue(self, job: Job) -> None:
        """Take the stored result of a job whose inputs exist, or line it up."""
        if cause := _missing_input(job, self._results):
            self._finish(job, Result("", SKIPPED, cause=cause))
            return
        task = task_of(job, self._results)
        self._tasks[job] = task, _key(task)
        if (stored := self._stored(self._tasks[job][1])) is not None:
            self._finish(job, stored, is_stored=True)
        else:
            heapq.heappush(self._ready[job.role], job)

    def _stored(self, key: str) -> Result | None:
        result = self._store.get(key)
        if result is None or result.state != FAILED:
            return result
        before, now = self._store.meta(key).get("limit"), self._settings.limit
        is_longer = before is not None and (now is None or now > before)
        return None if self._settings.retry_failed or is_longer else result

    def _start_jobs(self) -> None:
        """Hand out jobs as far as there is room, the earliest first."""
        has_room = self._pools.has_room
        while roles := [role for role, jobs in self._ready.items() if jobs and has_room(role)]:
            job = heapq.heappop(self._ready[min(roles, key=lambda role: self._ready[role][0])])
            task, _ = self._tasks[job]
            limit = self._settings.limit if task.method is not None else None
            inputs = read_inputs(job, self._results, self._store)
            self._pools.submit(job, task, inputs, limit)
            self._running += 1
            self._tell(job, None)

    def _land(self, job: Job, outcome: Outcome | str) -> None:
        """Store the outcome of a job; give a job whose worker died to another, a few times."""
        self._running -= 1
        key = self._tasks[job][1]
        if isinstance(outcome, Outcome):
            self._seconds.setdefault(job.kind, []).append(float(outcome.meta.get("seconds", 0)))
            self._finish(job, self._store.put(key, outcome))
            return
        self._deaths[job] += 1
        if self._deaths[job] < _ATTEMPTS:
            heapq.heappush(self._ready[job.role], job)
        else:  # not stored: the next start tries again
            self._finish(job, Result(key, FAILED, cause=outcome))

    def _finish(self, job: Job, result: Result, *, is_stored: bool = False) -> None:
        self._results[job] = result
        label = "stored" if is_stored and result.state == DONE else result.state
        setattr(self._tally, label, getattr(self._tally, label) + 1)
        self._left[job.kind] -= 1
        self._open[job.role] -= 1
        if not self._open[job.role]:
            self._pools.dismiss(job.role)
        self._tally.seconds_left = self._estimate()
        self._tell(job, result)
        for follower in self._followers[job]:
            self._waiting[follower] -= 1
            if not self._waiting[follower]:
                self._queue(follower)

    def _tell(self, job: Job, result: Result | None) -> None:
        self._tally.running = min(self._running, self._pools.at_a_time)
        self._listener(self._tally, job, result)

    def _estimate(self) -> float | None:
        """Estimate the seconds left, from the mean time of each kind of job; None until every kind was seen."""
        left = {kind: count for kind, count in self._left.items() if count}
        if not left.keys() <= self._seconds.keys():
            return None
        means = {kind: sum(seconds) / len(seconds) for kind, seconds in self._seconds.items()}
        return sum(count * means[kind] for kind, count in left.items()) / self._pools.at_a_time
