"""What the queue calls: one task, which takes the id of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from procrastinate.contrib.django import app

from kakurenbo.judge.scoring import rules

if TYPE_CHECKING:
    from kakurenbo.judge.scoring.worker import Worker

worker: Worker | None = None
"""The worker of this process, where it is one."""


@app.task(name=rules.TASK, queue=rules.QUEUE)
def work(job_id: int) -> None:
    """Do a job, where it is still to be done."""
    assert worker is not None, "jobs are done in worker processes"
    worker.work(job_id)
