"""Jobs of players on workers that share no folder with the run: the same bytes, each input once per worker, no path of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.arena.test_running import FIELD, documents, plan_of

import kakurenbo
from kakurenbo import arena
from kakurenbo.arena.runner import Settings
from kakurenbo.clusters import connected, parcel_key

pytest.importorskip("distributed")

WATCHED = """
import os, sys

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.environ["KAKURENBO_RUN"] in arguments[0]:
        os.write(2, f"OPENED {arguments[0]}\\n".encode())

sys.addaudithook(watch)
"""


@pytest.fixture
def workers(plugins: Path, tmp_path: Path) -> Iterator[tuple[str, Path, Path]]:
    """A scheduler and two workers in a folder of their own that tell whatever they open of the run; address, log, run."""
    away, run, log = tmp_path / "away", tmp_path / "run", tmp_path / "dask.log"
    (away / "watching").mkdir(parents=True)
    (away / "watching" / "sitecustomize.py").write_text(WATCHED)
    told = [str(away / "watching"), str(plugins), str(Path(kakurenbo.__file__).parents[1])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(told),
        "KAKURENBO_RUN": str(run),
        "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
    }
    address_file = away / "scheduler.json"

    def dask(program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            *arguments,
            "--scheduler-file",
            str(address_file),
        ]
        with log.open("ab") as said:
            return subprocess.Popen(command, env=environment, cwd=away, stdout=said, stderr=said)

    running = [dask("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    while not address_file.exists():
        assert running[0].poll() is None, log.read_text()
        time.sleep(0.05)
    running += [
        dask("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(2)
    ]
    yield json.loads(address_file.read_text())["address"], log, run
    for process in running:
        process.kill()
        process.wait()


def test_workers_without_the_folder_of_the_run_give_the_same_bytes_and_get_each_input_once(
    workers: tuple[str, Path, Path], tmp_path: Path, here: arena.Workers
) -> None:
    address, log, run = workers

    def received_by(
        dask_worker: Any,
    ) -> list[str]:  # of this function, so that it is sent whole: workers have no tests
        return [
            str(key) for transfer in dask_worker.transfer_incoming_log for key in transfer["keys"]
        ]

    plan = plan_of(*FIELD, repeats=2)
    with connected(address) as client:
        client.wait_for_workers(2, timeout=60)
        arena.play_tournament(plan, run, arena.cluster(address), Settings())
        received = client.run(received_by)
    arena.play_tournament(plan, tmp_path / "serial", here, Settings())
    assert documents(run) == documents(tmp_path / "serial")
    assert "OPENED" not in log.read_text()
    counted = [
        Counter(key for key in keys if key.startswith(parcel_key(""))) for keys in received.values()
    ]
    assert sum(len(one) for one in counted) > 0
    assert all(times == 1 for one in counted for times in one.values())
