"""A full-size tournament of 20 teams against 20 attackers; two workers against one; and what a job costs that does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.common import REPOSITORY, Row, row
from kakurenbo import arena
from kakurenbo.arena.calls import Call
from kakurenbo.arena.field import Entrant
from kakurenbo.arena.jobs import NOTHING, Request, perform
from kakurenbo.rulebooks.amic2020 import Amic2020

TEAMS, EMPTY_JOBS = 20, 500
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
        row("tournament of 20 x 20, 2 workers", two, "limit of 5 minutes", 300, "ratio ≤ 1"),
        row("tournament of 20 x 20, peak MB", megabytes, "limit of 6 GB", 6 * 1024, "ratio ≤ 1"),
        row("tournament of 20 x 20, 2 workers", two, "1 worker", one, "ratio ≤ 0.588 (1.7 times as fast)"),
    ]
    for name, workers in (("process pool", arena.processes(2)), ("Dask on this machine", None)):
        seconds = _overhead(workers) if workers else _overhead_on_dask()
        rows.append(row(f"empty job, {name}", seconds, "limit of 20 ms", 0.02, "ratio ≤ 1"))
    return rows


def _measured(workers: int) -> tuple[float, float]:
    """Seconds and peak MB of a tournament in a fresh process: its own peak, and that of its largest worker for each."""
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
        Entrant(
            f"{number + 1:02d}",
            anonymizer,
            Call.parsed("anonymizers", anonymizer),
            Call.parsed("attacks", ATTACKS[number]),
        )
        for number, anonymizer in enumerate(ANONYMIZERS)
    ]
    begun = time.perf_counter()
    plan = arena.make_plan(Amic2020(data="embedded", round="main"), entrants, 1)
    held = arena.hold(plan, out, arena.processes(workers), arena.Settings())
    seconds = time.perf_counter() - begun
    attacks = sum(len(row) for row in held.results["rounds"][0]["accuracy"].values())
    if attacks != TEAMS * TEAMS or held.results["failures"]:
        raise RuntimeError(f"{attacks} attacks were played, and {len(held.results['failures'])} jobs did not succeed")
    return seconds


def _overhead(workers: arena.Workers) -> float:
    """Seconds per empty job on warm workers, through everything a job goes through."""
    with tempfile.TemporaryDirectory() as folder, workers.open() as executor:
        empty = Request(str(Path(folder).resolve()), "", NOTHING, Call("rulebooks", "amic2020"), "1")

        def play(count: int, prefix: str) -> None:
            requests = [replace(empty, key=f"{prefix}{number:06d}", stream=(str(number),)) for number in range(count)]
            for future in [executor.submit(perform, request) for request in requests]:
                future.result()

        play(20, "warm")
        begun = time.perf_counter()
        play(EMPTY_JOBS, "timed")
        return (time.perf_counter() - begun) / EMPTY_JOBS


def _overhead_on_dask() -> float:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        return _overhead(arena.cluster(cluster.scheduler_address))


if __name__ == "__main__":
    import resource

    with tempfile.TemporaryDirectory() as folder:
        count = int(sys.argv[1])
        seconds = tournament(count, Path(folder) / "run")
    own, largest = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps([seconds, own + count * largest]))
