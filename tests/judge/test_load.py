"""The judge under load, with few of everybody: what ``python -m benchmarks judge_load`` measures with many works."""

from __future__ import annotations

import pytest
from benchmarks import bench_judge_load
from benchmarks.common import met

pytestmark = pytest.mark.slow


def test_teams_upload_at_once_pages_are_read_the_queue_drains_people_log_in_and_visitors_come() -> (
    None
):
    rows = {
        row["what"]: row for row in bench_judge_load.run(teams=3, mb_each=1, log_ins=2, visitors=10)
    }
    assert all(row["ours_s"] > 0 for row in rows.values())
    (memory,) = (row for what, row in rows.items() if "log-ins" in what)
    assert met(memory), "memory does not depend on how busy the machine is"
