"""Runs and workers killed with -9 at any moment: the next start goes on, and the results are those of an undisturbed run."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kakurenbo import arena

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
KILLS = int(os.environ.get("KAKURENBO_KILLS", "3"))  # `make soak` asks for more


def load_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documents(out: Path) -> dict[str, bytes]:
    """What a run gave: the documents, and every file of every job."""
    kept = {name: (out / name).read_bytes() for name in ("results.json", "results.csv")}
    for path in sorted((out / "jobs").rglob("*")):
        if path.is_file() and path.name != "meta.json" and "tmp" not in path.relative_to(out).parts:
            kept[path.relative_to(out).as_posix()] = path.read_bytes()
    return kept


def finished_jobs(out: Path) -> dict[str, int]:
    """Every job that has a result, and when it was written."""
    results = out.glob("jobs/??/*/result.json")
    return {path.relative_to(out).as_posix(): path.stat().st_mtime_ns for path in results}


@pytest.fixture
def undisturbed(plugins: Path, here: arena.Workers, tmp_path: Path) -> dict[str, bytes]:
    assert plugins.is_dir()
    arena.play_tournament(
        load_module("killing").the_plan(), tmp_path / "undisturbed", here, arena.Settings()
    )
    return documents(tmp_path / "undisturbed")


def start(out: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "killing.py"), str(out), *arguments], start_new_session=True
    )


def test_a_run_killed_at_random_moments_loses_nothing_repeats_nothing_and_ends_the_same(
    undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    chance, killed, number = random.Random(7), 0, 0
    while (
        killed < KILLS
    ):  # a run that ends too soon to be killed any more is compared, and another is begun
        number += 1
        killed += killed_again_and_again(tmp_path / f"killed-{number}", KILLS - killed, chance)
        assert documents(tmp_path / f"killed-{number}") == undisturbed


def killed_again_and_again(out: Path, kills: int, chance: random.Random) -> int:
    """Start a run, kill it at random moments up to so many times, let it end; gives how often it was killed."""
    kept: dict[str, int] = {}
    for killed in range(kills):
        run = start(out)
        moment = time.monotonic() + chance.uniform(0.2, 1.5)
        while run.poll() is None and (
            time.monotonic() < moment or len(finished_jobs(out)) <= len(kept)
        ):
            time.sleep(0.02)  # at a random moment, but with some progress each time
        if run.poll() is not None:
            return killed
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        now = finished_jobs(out)
        assert {key: now[key] for key in kept} == kept, "a stored result was lost or written again"
        kept = now
    assert start(out).wait(120) == 0
    now = finished_jobs(out)
    assert {key: now[key] for key in kept} == kept
    return kills


@pytest.mark.usefixtures("plugins")
def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    run = start(tmp_path / "killed")
    while not finished_jobs(tmp_path / "killed") and run.poll() is None:
        time.sleep(0.02)
    group = os.getpgid(run.pid)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("worker processes of a killed run are still there")


@pytest.fixture
def scheduler(plugins: Path, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A Dask scheduler and three worker processes, as on three machines."""
    pytest.importorskip("distributed")
    environment = {
        **os.environ,
        "PYTHONPATH": str(plugins),
        "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
    }
    address_file = tmp_path / "scheduler.json"

    def dask(program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            *arguments,
            "--scheduler-file",
            str(address_file),
        ]
        with (tmp_path / "dask.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)

    running = [dask("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    while not address_file.exists():
        assert running[0].poll() is None, (tmp_path / "dask.log").read_text()
        time.sleep(0.05)
    running += [
        dask("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(3)
    ]
    yield json.loads(address_file.read_text())["address"], running
    for process in running:
        process.kill()
        process.wait()


def test_on_a_cluster_of_three_workers_one_killed_in_mid_run_the_results_equal_those_of_a_serial_run(
    undisturbed: dict[str, bytes],
    scheduler: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, processes = scheduler
    out = tmp_path / "cluster"
    run = start(out, "--cluster", address)
    # In two repeats: the preparation, six times release, judge, attacks of five and the sample, credit.
    total = 2 * (1 + 6 + 6 + 36 + 6)
    while len(finished_jobs(out)) < total // 3 and run.poll() is None:
        time.sleep(0.01)
    assert run.poll() is None, "the run was over before a worker could be killed"
    processes[1].send_signal(signal.SIGKILL)
    assert run.wait(180) == 0
    assert len(finished_jobs(out)) == total
    assert documents(out) == undisturbed
