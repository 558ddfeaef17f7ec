"""Jobs: asked for once, held by one worker at a time, never lost, never done twice."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from tests.judge.scoring_helpers import hand_in, new_round, prepare
from tests.judge.waiting import PATIENCE, wait_until

from kakurenbo.core.messages import translated
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.scoring import handling, queries, rules
from kakurenbo.judge.scoring.child import ForkServer, Limits
from kakurenbo.judge.scoring.models import Job, JobKind, JobState, Judging
from kakurenbo.judge.scoring.worker import Worker, take_over
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.trust.models import LogEntry

pytestmark = pytest.mark.django_db

MakeContest = Callable[..., Contest]


@pytest.fixture
def worker(
    judge_home: Path, plugins: Path, fork_server: ForkServer, settings: Any
) -> Iterator[Worker]:
    assert plugins
    settings.HOME = judge_home
    made = Worker(limits=Limits(PATIENCE, 1500), server=fork_server)
    yield made
    made.close()


@pytest.fixture
def troubled(worker: Worker) -> Round:
    """A prepared round of the contest whose judge gets into trouble."""
    round = new_round("trouble", {"size": 20}, "only", teams=1, places=1)
    prepare(round, worker)
    return round


def only_job(kind: str = JobKind.JUDGE) -> Job:
    return Job.objects.get(kind=kind)


# -- asking ------------------------------------------------------------------------------------------------------------


def test_work_that_was_asked_for_and_is_not_done_is_not_asked_for_again(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    first = rules.enqueue(JobKind.SEAL, contest, subject="01")
    assert rules.enqueue(JobKind.SEAL, contest, subject="01") == first
    assert rules.enqueue(JobKind.SEAL, contest, subject="02") != first
    assert Job.objects.count() == ProcrastinateJob.objects.count() == 2
    Job.objects.filter(pk=first.pk).update(state=JobState.DONE)
    assert rules.enqueue(JobKind.SEAL, contest, subject="01") != first


def test_what_is_rolled_back_leaves_neither_a_job_nor_something_in_the_queue(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    with transaction.atomic():
        rules.enqueue(JobKind.PREPARE, contest)
        transaction.set_rollback(True)
    assert not Job.objects.exists()
    assert not ProcrastinateJob.objects.exists()


def test_standings_that_are_asked_for_while_they_are_made_are_made_once_more(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    job = rules.enqueue(JobKind.STANDINGS, contest)
    lease = rules.lease(job.pk, "one", timezone.now())
    assert lease is not None
    assert rules.enqueue(JobKind.STANDINGS, contest) == job
    assert rules.finish(lease, lambda: None, timezone.now())
    job.refresh_from_db()
    assert (job.state, job.again) == (JobState.WAITING, False)


# -- leases ------------------------------------------------------------------------------------------------------------


def test_a_job_has_one_worker_at_a_time(new_contest: MakeContest) -> None:
    job = rules.enqueue(JobKind.SEAL, new_contest(), subject="01")
    assert rules.lease(job.pk, "one", timezone.now()) is not None
    assert rules.lease(job.pk, "other", timezone.now()) is None


def test_a_worker_that_was_lost_costs_its_job_no_try_and_can_change_nothing_any_more(
    new_contest: MakeContest,
) -> None:
    job, now = rules.enqueue(JobKind.SEAL, new_contest(), subject="01"), timezone.now()
    lost = rules.lease(job.pk, "lost", now)
    assert lost is not None
    ProcrastinateJob.objects.all()._raw_delete("default")  # type: ignore[attr-defined]
    assert rules.sweep(now) == 0, "a lease that holds is left alone"
    assert rules.renew(lost, now)
    assert rules.sweep(now + rules.LEASE + timedelta(seconds=1)) == 1
    assert ProcrastinateJob.objects.filter(status="todo").count() == 1
    assert rules.sweep(now + rules.LEASE + timedelta(seconds=2)) == 0, "it is in the queue already"
    other = rules.lease(job.pk, "other", now)
    assert other is not None
    changed: list[str] = []
    assert not rules.renew(lost, now)
    assert not rules.finish(lost, lambda: changed.append("lost"), now)
    rules.died(lost, "too late", now)
    assert rules.finish(other, lambda: changed.append("other"), now)
    job.refresh_from_db()
    assert (changed, job.state, job.attempts) == (["other"], JobState.DONE, 0)


def test_a_lease_given_before_the_clock_was_set_back_runs_out_all_the_same_unless_its_worker_renews_it(
    new_contest: MakeContest,
) -> None:
    contest, now = new_contest(), timezone.now()
    ahead = now + timedelta(hours=3)
    alive, dead = (
        rules.lease(rules.enqueue(JobKind.SEAL, contest, subject=name).pk, name, ahead)
        for name in ("alive", "dead")
    )
    assert alive is not None
    assert dead is not None
    rules.sweep(now)
    assert rules.renew(alive, now + rules.LEASE)
    rules.sweep(now + rules.LEASE + timedelta(seconds=1))
    states = {name: Job.objects.get(subject=name).state for name in ("alive", "dead")}
    assert states == {"alive": JobState.RUNNING, "dead": JobState.WAITING}


def test_a_job_of_a_worker_of_this_folder_that_is_gone_waits_again_at_once_and_its_files_are_removed(
    new_contest: MakeContest, judge_home: Path, settings: Any
) -> None:
    contest, settings.HOME = new_contest(), judge_home
    with subprocess.Popen(["sleep", "60"]) as process:
        killed = f"{socket.gethostname()}:{process.pid}"
        for place, name in enumerate(
            (killed, f"elsewhere:{process.pid}", f"{socket.gethostname()}:{2**22 + 1}")
        ):
            job = rules.enqueue(JobKind.SEAL, contest, subject=f"{place}")
            assert rules.lease(job.pk, name, timezone.now()) is not None
        (judge_home / "work" / str(process.pid) / "jobs").mkdir(parents=True)
        take_over()
        assert not Job.objects.filter(state=JobState.WAITING).exists()
        process.kill()
    take_over()
    (waiting,) = Job.objects.filter(state=JobState.WAITING)
    assert (waiting.worker, waiting.attempts, waiting.lease) == (killed, 0, None)
    assert not list((judge_home / "work").iterdir())


def test_a_change_that_fails_leaves_the_job_to_be_done(new_contest: MakeContest) -> None:
    job, now = rules.enqueue(JobKind.SEAL, new_contest(), subject="01"), timezone.now()
    lease = rules.lease(job.pk, "one", now)
    assert lease is not None

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rules.finish(lease, fail, now)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_an_upload_that_is_never_finished_is_withdrawn(troubled: Round) -> None:
    submission = hand_in(troubled, "01", {"release_01.csv": b"x"})
    Submission.objects.filter(pk=submission.pk).update(
        state=State.RECEIVING, began_at=timezone.now() - rules.SENDING - timedelta(minutes=1)
    )
    rules.sweep(timezone.now())
    submission.refresh_from_db()
    assert submission.state == State.WITHDRAWN


def test_what_dies_while_the_disk_is_full_is_tried_again_as_often_as_it_takes(
    troubled: Round, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(troubled, "01", {"release_01.csv": b"die"})
    monkeypatch.setattr(store, "has_room", lambda: False)
    assert not worker.work(only_job().pk)
    monkeypatch.setattr(handling, "handle", _without_room)
    for _ in range(rules.MOST_DEATHS):
        rules.sweep(timezone.now() + rules.LEASE + timedelta(seconds=1))
        with pytest.raises(OSError, match="no room"):
            worker.work(only_job().pk)
    assert (only_job().state, only_job().attempts) == (JobState.RUNNING, 0)


def _without_room(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "no room")


# -- children that get into trouble --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "cause", "seconds"),
    [(b"die", "signal 9", PATIENCE), (b"loop", "longer than 1 seconds", 1)],
)
def test_what_kills_its_process_three_times_is_put_aside_and_an_organizer_can_have_it_done_again(
    troubled: Round,
    worker: Worker,
    content: bytes,
    cause: str,
    seconds: float,
    django_user_model: Any,
) -> None:
    worker = Worker(limits=Limits(seconds, 1500), server=worker.server)
    submission = hand_in(troubled, "01", {"release_01.csv": content})
    job = only_job()
    for attempt in (1, 2, 3):
        worker.work(job.pk)
        job.refresh_from_db()
        assert (job.attempts, job.state) == (
            attempt,
            JobState.PARKED if attempt == 3 else JobState.WAITING,
        )
    assert cause in job.cause
    assert translated(job.cause, "ja") != job.cause
    submission.refresh_from_db()
    assert submission.state == State.PARKED
    assert LogEntry.objects.get(kind="job.parked").body["submission"] == str(submission.pk)
    (queued,) = queries.queue(troubled.contest)
    assert queued.parked
    assert not worker.work(job.pk)
    organizer = django_user_model.objects.create_user(
        "o@example.org", "password", is_organizer=True
    )
    again = rules.rerun(organizer, job)
    submission.refresh_from_db()
    assert (again.state, again.attempts, submission.state) == (JobState.WAITING, 0, State.RECEIVED)
    assert [one.job for one in queries.queue(troubled.contest)] == [again]


def test_a_release_over_which_memory_runs_out_fails_and_nobody_else_waits_for_it(
    troubled: Round, worker: Worker
) -> None:
    submission = hand_in(troubled, "01", {"release_01.csv": b"hog"})
    worker.drain()
    submission.refresh_from_db()
    assert submission.state == State.FAILED
    assert "MemoryError" in Judging.objects.get(submission=submission).result["record"]["cause"]


def test_a_submission_that_was_taken_back_is_not_judged(troubled: Round, worker: Worker) -> None:
    submission = hand_in(troubled, "01", {"release_01.csv": b"die"})
    Submission.objects.filter(pk=submission.pk).update(state=State.WITHDRAWN)
    worker.drain()
    assert only_job().state == JobState.DONE
    assert not Judging.objects.exists()


# -- workers that are killed ---------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_score_nothing_twice(
    troubled: Round, worker: Worker, tmp_path: Path
) -> None:
    for _ in range(4):
        hand_in(troubled, "01", {"release_01.csv": b"wait /"})
    other = Worker(tmp_path / "other", server=worker.server)

    def work_all(one: Worker) -> None:
        try:
            for job_id in Job.objects.filter(kind=JobKind.JUDGE).values_list("pk", flat=True):
                one.work(job_id)
        finally:
            connection.close()

    threads = [threading.Thread(target=work_all, args=(one,)) for one in (worker, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Judging.objects.count() == Judging.objects.filter(in_effect=True).count() == 4
    assert LogEntry.objects.filter(kind="submission.judged").count() == 4
    assert set(Submission.objects.values_list("state", flat=True)) == {State.SCORED}


@pytest.mark.django_db(transaction=True)
def test_the_job_of_a_worker_that_is_killed_is_done_by_another(
    troubled: Round, worker: Worker, judge_home: Path, embedded_database: EmbeddedPostgres
) -> None:
    go = judge_home / "go"
    submission = hand_in(troubled, "01", {"release_01.csv": f"wait {go}".encode()})
    process = _worker_process(judge_home, embedded_database)
    try:
        wait_until(lambda: only_job().state == JobState.RUNNING)
        wait_until(lambda: Submission.objects.get(pk=submission.pk).state == State.SCORING)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    go.touch()
    assert not Judging.objects.exists()
    assert not worker.work(only_job().pk), "the lease holds"
    rules.sweep(timezone.now() + rules.LEASE + timedelta(seconds=1))
    assert worker.work(only_job().pk)
    job = only_job()
    assert (job.state, job.attempts, job.worker) == (JobState.DONE, 0, worker.name)
    judging = Judging.objects.get()
    assert (judging.submission, judging.verdict) == (submission, "scored")


@pytest.mark.django_db(transaction=True)
def test_a_worker_process_takes_jobs_from_the_queue_and_ends_when_it_is_told(
    troubled: Round, judge_home: Path, embedded_database: EmbeddedPostgres
) -> None:
    process = _worker_process(judge_home, embedded_database)
    try:
        submission = hand_in(troubled, "01", {"release_01.csv": b"wait /"})
        wait_until(lambda: Submission.objects.get(pk=submission.pk).state == State.SCORED)
        wait_until(lambda: not Job.objects.exclude(state=JobState.DONE).exists())
    finally:
        process.terminate()
    assert process.wait(PATIENCE) == 0
    assert not [left for left in (judge_home / "work").iterdir() if left.name == str(process.pid)]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_told_to_end_gives_up_its_job_for_another_to_do(
    troubled: Round, judge_home: Path, embedded_database: EmbeddedPostgres
) -> None:
    submission = hand_in(troubled, "01", {"release_01.csv": b"wait /nothing"})
    process = _worker_process(judge_home, embedded_database)
    try:
        wait_until(lambda: Submission.objects.get(pk=submission.pk).state == State.SCORING)
    finally:
        process.terminate()
    assert process.wait(PATIENCE) == 0
    job = only_job()
    assert (job.state, job.attempts, job.lease) == (JobState.WAITING, 0, None)
    assert "told to end" in job.cause


def _worker_process(home: Path, database: EmbeddedPostgres) -> subprocess.Popen[bytes]:
    """A worker as the supervisor starts it, on the test's database."""
    name = connection.settings_dict["NAME"]
    environment = {
        **os.environ,
        "KAKURENBO_JUDGE_HOME": str(home),
        "KAKURENBO_JUDGE_DSN": database.dsn.replace("dbname=postgres", f"dbname={name}"),
    }
    script = (
        "import django; django.setup(); from kakurenbo.judge.scoring.worker import main; main()"
    )
    return subprocess.Popen([sys.executable, "-c", script], env=environment)
