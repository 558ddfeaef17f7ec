"""A full-size tournament of 20 teams against 20 attackers; two workers against one; and what a job costs that does nothing."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from benchmarks.common import REPOSITORY, Row, row
from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import NOTHING, Task
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.runner import Tally, play
from kakurenbo.arena.store import Result, ResultStore
from kakurenbo.rulebooks.amic2020 import Amic2020

TEAMS, WARM_UP, EMPTY_JOBS = 20, 50, 500
ATTACKS = ("nearest", "nearest:metric=onehot", "nearest", "blind") * 4 + (
    "nearest",
    "nearest:metric=onehot",
    "nearest",
    "likelihood",
)
ANONYMIZERS = (
    *(f"rr:p={p}" for p in (0.9, 0.95, 0.97, 0.99, 0.999)),
    *(f"rrp:p={p}" for p in (0.7, 0.8, 0.9, 0.95, 0.99)),
    *(f"rrp:p={p},columns=workclass,education,occupation" for p in (0.5, 0.7, 0.8, 0.9)),
    *(f"kanony:k={k},columns=age,education" for k in (2, 3, 5)),
    "synthetic",
    "synthetic:rows=20000",
    "synthetic:generator=omth17",
)


def run() -> list[Row]:
    one, _ = _measured(1)
    two, megabytes = _measured(2)
    rows = [
        row("tournament of 20 x 20, 2 workers", two, "limit of 45 s", 45, "ratio ≤ 1"),
        row("tournament of 20 x 20, peak MB", megabytes, "limit of 6 GB", 6 * 1024, "ratio ≤ 1"),
        row(
            "tournament of 20 x 20, 2 workers",
            two,
            "1 worker",
            one,
            "ratio ≤ 0.588 (1.7 times as fast)",
        ),
    ]
    for name, workers in (("process pool", arena.processes(2)), ("Dask on this machine", None)):
        seconds = _overhead(workers) if workers else _overhead_on_dask()
        rows.append(row(f"empty job, {name}", seconds, "limit of 20 ms", 0.02, "ratio ≤ 1"))
    return rows


def _measured(workers: int) -> tuple[float, float]:
    """Seconds and peak MB of a tournament in a fresh process, its workers included."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_arena", str(workers)],
        check=True,
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
    )
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def tournament(workers: int, out: Path) -> float:
    """Seconds of the tournament, from the plan to the report."""
    entrants = [
        arena.Entrant(
            f"{number + 1:02d}",
            anonymizer,
            MethodCall.parsed("anonymizers", anonymizer),
            MethodCall.parsed("attacks", ATTACKS[number]),
        )
        for number, anonymizer in enumerate(ANONYMIZERS)
    ]
    begun = time.perf_counter()
    plan = arena.make_plan(Amic2020(data="embedded", round="main"), entrants, 1)
    document = arena.play_tournament(plan, out, arena.processes(workers), arena.Settings()).document
    seconds = time.perf_counter() - begun
    if document.attack_count != TEAMS * TEAMS or document.failures:
        raise RuntimeError(
            f"{document.attack_count} attacks were played, and {len(document.failures)} jobs did not succeed"
        )
    return seconds


class _EmptyPlan(Plan):
    """A tournament whose jobs do nothing."""

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        teams = [f"{number:06d}" for number in range(WARM_UP + EMPTY_JOBS)]
        tasks = [Task(NOTHING, self.rulebook, team=team) for team in teams]
        return tuple(Job(0, "pre", 0, task.team, "", task) for task in tasks)


def _overhead(workers: arena.Workers) -> float:
    """Seconds per empty job on warm workers, through everything a job goes through: plan, hash, executor, worker, store."""
    ended: list[float] = []

    def tell(_tally: Tally, _job: Job | None, result: Result | None) -> None:
        if result is not None:
            ended.append(time.perf_counter())

    entrant = arena.Entrant("01", "", MethodCall("anonymizers", "rr"))
    plan = _EmptyPlan(MethodCall("rulebooks", "amic2020"), 1, (entrant,), ("pre",))
    with tempfile.TemporaryDirectory() as folder:
        play(plan, ResultStore(folder), workers, arena.Settings(), tell)
    return (ended[-1] - ended[WARM_UP - 1]) / EMPTY_JOBS


def _overhead_on_dask() -> float:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        return _overhead(arena.cluster(cluster.scheduler_address))


class _PeakMemory(threading.Thread):
    """The most memory in MB that this process and all it started held at a time; what they share is counted once."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.megabytes = 0.0

    def run(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, sum(map(_memory, _family(os.getpid()))))
            time.sleep(1)  # asking takes time of its own


def _family(process: int) -> Iterator[int]:
    yield process
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield from _family(int(child))


def _memory(process: int) -> float:
    """MB of one process, its part of what it shares with others."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    memory = _PeakMemory()
    memory.start()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps([tournament(int(sys.argv[1]), Path(folder) / "run"), memory.megabytes]))
