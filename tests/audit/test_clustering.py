"""An audit on a Dask cluster: the same bytes as in threads, the tables sent under their digest."""

from __future__ import annotations

import pytest
from benchmarks.bench_audit import swapped, wide_table

from kakurenbo.audit.clustering import cluster
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.options import Options
from kakurenbo.audit.running import run_audit
from kakurenbo.audit.tasks import threads
from kakurenbo.core import json_bytes
from kakurenbo.core.errors import UsageError

distributed = pytest.importorskip("distributed")


def test_workers_of_a_cluster_give_the_same_bytes_as_threads() -> None:
    original, holdout = (
        frame_of(name, wide_table(300, 4, name)) for name in ("original", "holdout")
    )
    release = frame_of("release", swapped(original.cells, 0.2))
    told: list[str] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as there:
        away = run_audit(
            original,
            release,
            holdout,
            Options(seed=3),
            told.append,
            cluster(there.scheduler_address),
        )
    here = run_audit(original, release, holdout, Options(seed=3), crew=threads(1))
    assert json_bytes(away.as_json()) == json_bytes(here.as_json())
    assert {
        "membership",
        "inference",
        "linkability",
        "singling_out",
        "self_tests",
        "utility",
    } <= set(told)


def test_a_scheduler_that_does_not_answer_is_told() -> None:
    table = frame_of("table", wide_table(60, 4, "table"))
    with pytest.raises(UsageError, match="no Dask scheduler answers"):
        run_audit(table, table, None, Options(), crew=cluster("tcp://127.0.0.1:9"))
