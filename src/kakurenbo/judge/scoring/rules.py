"""Jobs: asked for in the transaction that needs them, held by one worker at a time, never lost and never done twice.

A job is a row of our own; the queue only wakes workers. Who holds a lease may change the job and what it is about, nobody
else; a lease that is not renewed runs out, and the sweep gives the job to another worker.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from procrastinate.contrib.django import app

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.scoring.child import cause as told_cause
from kakurenbo.judge.scoring.models import Job, JobKind, JobState
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.trust.rules import record

QUEUE = "scoring"
BEAT_SECONDS = 5.0
"""So often a worker says that it is alive."""
TASK = "kakurenbo.judge.scoring.work"
LEASE = timedelta(seconds=20)
RENEW_SECONDS = 5.0
MOST_DEATHS = 3
SENDING = timedelta(hours=2)
"""How long a team may take to send the files of one submission."""
_JUDGED = (State.SCORED, State.INVALID, State.FAILED, State.PARKED)
_OPEN = (JobState.WAITING, JobState.RUNNING)
_PRIORITY = {JobKind.PREPARE: 30, JobKind.JUDGE: 20, JobKind.SEAL: 20, JobKind.STANDINGS: 10}
"""People wait for these, in this order; bots and sample attacks come after them."""
_log, _jobs = logging.getLogger(__name__), logging.getLogger("kakurenbo.jobs")


@dataclass(frozen=True)
class Lease:
    """The right of one worker to do one job."""

    job: Job
    token: uuid.UUID


def enqueue(
    kind: str,
    contest: Contest,
    round: Round | None = None,
    submission: Submission | None = None,
    subject: str = "",
) -> Job:
    """Ask for a piece of work, as part of the caller's transaction; what was asked for already, and is not done, is the same.

    Standings that are asked for while they are made are made once more: what the caller is about to commit may have been
    missed.
    """
    about: dict[str, Any] = {
        "kind": kind, "contest": contest, "round": round, "submission": submission, "subject": subject
    }  # fmt: skip
    with transaction.atomic():
        # The row stays locked until the caller commits: nobody begins this work before the caller's changes can be seen.
        job, made = Job.objects.select_for_update(of=("self",)).get_or_create(
            state__in=_OPEN, **about
        )
        if made:
            _wake(job)
        elif job.state == JobState.RUNNING and kind == JobKind.STANDINGS:
            Job.objects.filter(pk=job.pk).update(again=True)
        return job


def database_now() -> datetime:
    """The one clock by which leases are given and run out: machines of workers have clocks of their own."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def rulebook_of(job_id: int) -> str | None:
    """The rulebook of a job that waits; None where nobody has to do it any more."""
    return (
        Job.objects.filter(pk=job_id, state=JobState.WAITING)
        .values_list("contest__rulebook", flat=True)
        .first()
    )


def leave(job_id: int, cause: str) -> None:
    """A worker cannot do a job that waits, and others may: the sweep wakes them, and organizers see why it waits."""
    Job.objects.filter(pk=job_id, state=JobState.WAITING).update(cause=cause)


def lease(job_id: int, worker: str, now: datetime) -> Lease | None:
    """Take a job that waits; None where somebody else has it, or it is done."""
    token = uuid.uuid4()
    taken = Job.objects.filter(pk=job_id, state=JobState.WAITING).update(
        state=JobState.RUNNING,
        lease=token,
        lease_until=now + LEASE,
        worker=worker,
        started_at=now,
        again=False,
    )
    if not taken:
        return None
    related = Job.objects.select_related(
        "contest", "round", "submission__entry__team", "submission__phase"
    )
    return Lease(related.get(pk=job_id), token)


def renew(lease: Lease, now: datetime) -> bool:
    """Keep a job for longer; False where the lease was taken over, so that whatever is being done is for nothing."""
    return bool(_held(lease).update(lease_until=now + LEASE))


def finish(lease: Lease, apply: Callable[[], None], now: datetime) -> bool:
    """End a job and change what it is about, both or neither; False, and nothing changed, where the lease was taken over."""
    with transaction.atomic():
        ended = _held(lease).update(
            state=JobState.DONE, lease=None, lease_until=None, finished_at=now, cause="", attempts=0
        )
        if not ended:
            return False
        apply()
        if Job.objects.filter(pk=lease.job.pk, again=True).update(
            state=JobState.WAITING, again=False, finished_at=None
        ):
            _wake(lease.job)
    _jobs.info("a job is done", extra=_logged(lease.job))
    return True


def died(lease: Lease, cause: str, now: datetime) -> None:
    """The process that did a job is dead: try again, or after three deaths put it aside until an organizer has looked."""
    from kakurenbo.judge.submissions import rules as submissions  # which asks this module for jobs

    job = lease.job
    with transaction.atomic():
        parks = job.attempts + 1 >= MOST_DEATHS
        state = JobState.PARKED if parks else JobState.WAITING
        changed = _held(lease).update(
            state=state, lease=None, lease_until=None, attempts=job.attempts + 1, cause=cause,
            finished_at=now if parks else None,
        )  # fmt: skip
        if not changed:
            return
        if not parks:
            _wake(job)
            return
        if job.submission is not None and job.kind == JobKind.JUDGE:
            submissions.parked(job.submission)
        record(job.contest, "job.parked", {**_described(job), "cause": str(cause)})
    _log.error("a job is put aside; the organizers' page says why", extra=_logged(job))


def park(job: Job, cause: str) -> None:
    """Put a job aside that came to its end without what it was for, as part of the caller's transaction; the log says so."""
    Job.objects.filter(pk=job.pk).update(state=JobState.PARKED, cause=cause)
    record(job.contest, "job.parked", {**_described(job), "cause": str(cause)})
    _log.warning("a job is put aside; the organizers' page says why", extra=_logged(job))


def postpone(lease: Lease, cause: str) -> None:
    """A job has to wait for another: it lies where the sweep finds it a moment later."""
    _held(lease).update(state=JobState.WAITING, lease=None, lease_until=None, cause=cause)


def wait_again(lease: Lease, cause: str) -> None:
    """The worker itself could not do it (no fault of the job): when the lease runs out, the sweep gives it to the next."""
    _held(lease).update(cause=cause)


def take_back(worker: str) -> int:
    """Let the jobs wait again of a worker that is known to be gone, without waiting for its lease; says how many."""
    held = Job.objects.filter(state=JobState.RUNNING, worker=worker)
    return held.update(
        state=JobState.WAITING,
        lease=None,
        lease_until=None,
        cause=told_cause("scoring.worker_lost"),
    )


def sweep(now: datetime) -> int:
    """Take up what was lost: leases that ran out, jobs that wait without anything in the queue, uploads never finished.

    A lease that holds for longer than any is given was given before the clock was set back: it is shortened, so that its
    worker, where there is still one, can renew it.

    Returns how many jobs were put into the queue.
    """
    with transaction.atomic():
        Job.objects.filter(state=JobState.RUNNING, lease_until__gt=now + LEASE).update(
            lease_until=now + LEASE
        )
        expired = Job.objects.select_for_update(skip_locked=True).filter(
            state=JobState.RUNNING, lease_until__lt=now
        )
        lost = list(expired.values_list("pk", flat=True))
        Job.objects.filter(pk__in=lost).update(
            state=JobState.WAITING,
            lease=None,
            lease_until=None,
            cause=told_cause("scoring.worker_lost"),
        )
        waiting = list(Job.objects.raw(_WAITING_UNSEEN, [TASK]))
        for job in waiting:
            _wake(job)
    _clear_queue()
    Submission.objects.filter(state=State.RECEIVING, began_at__lt=now - SENDING).update(
        state=State.WITHDRAWN
    )
    return len(waiting)


def rerun(by: User, job: Job) -> Job:
    """An organizer has looked at a job that was put aside, or wants one done again: it waits, as if it were new.

    A submission is then judged again from the beginning, whatever was found of it.
    """
    with transaction.atomic():
        locked = Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
        if locked.state in _OPEN:
            return locked
        Job.objects.filter(pk=locked.pk).update(state=JobState.DONE)  # the new one stands for it
        if locked.submission is not None and locked.kind == JobKind.JUDGE:
            Submission.objects.filter(pk=locked.submission.pk, state__in=_JUDGED).update(
                state=State.RECEIVED
            )
        again = enqueue(
            locked.kind, locked.contest, locked.round, locked.submission, locked.subject
        )
        record(
            locked.contest, "job.rerun", _described(locked)
        )  # the log is for ever: who it was is not for it
        _log.info("job %s is done again, as account %s asked", locked.pk, by.pk)
        return again


_WAITING_UNSEEN = """
SELECT job.* FROM scoring_job job WHERE job.state = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs queued
    WHERE queued.task_name = %s AND queued.status = 'todo' AND (queued.args ->> 'job_id')::bigint = job.id
) FOR UPDATE OF job SKIP LOCKED
"""
_DEAD_ROWS = """
DELETE FROM procrastinate_jobs queued USING scoring_job job
WHERE queued.task_name = %s AND (queued.args ->> 'job_id')::bigint = job.id
  AND (queued.status IN ('succeeded', 'failed', 'cancelled', 'aborted')
       OR queued.status = 'doing' AND job.state IN ('done', 'parked') AND job.finished_at < now() - interval '1 minute')
"""


def _clear_queue() -> None:
    """Remove what workers that were killed, or a database that was, left in the queue."""
    with connection.cursor() as cursor:
        cursor.execute(_DEAD_ROWS, [TASK])


def _wake(job: Job) -> None:
    """Put a job into the queue that wakes workers."""
    priority = _PRIORITY.get(JobKind(job.kind), 0)
    app.configure_task(TASK, queue=QUEUE, priority=priority, allow_unknown=True).defer(
        job_id=job.pk
    )


def _held(lease: Lease) -> Any:
    return Job.objects.filter(pk=lease.job.pk, state=JobState.RUNNING, lease=lease.token)


def _logged(job: Job) -> dict[str, Any]:
    """A job in a line of the log, by ids alone: a cause may quote what only the judge knows."""
    about = {"submission": str(job.submission_id)} if job.submission_id else {}
    return {"fields": {"job": job.pk, "kind": job.kind, "contest": job.contest.slug, **about}}


def _described(job: Job) -> dict[str, Any]:
    about = {
        "round": job.round.name if job.round else None,
        "submission": str(job.submission_id) if job.submission_id else None,
        "subject": job.subject,
    }
    return {
        "job": job.pk,
        "kind": job.kind,
        **{key: value for key, value in about.items() if value},
    }
