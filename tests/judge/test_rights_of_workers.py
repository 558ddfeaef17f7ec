"""Workers on other machines: their account sees no password, leases have one clock, and when they do not start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone
from tests.judge.scoring_helpers import change_phase, hand_in, new_round, prepare

from kakurenbo.cli.judge import check_database
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import translated
from kakurenbo.judge.contests.models import Contest, PhaseState
from kakurenbo.judge.scoring import rejudging as rejudgings
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    RoundFile,
    StandingSnapshot,
    Target,
)
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.serve import parts, postgres
from kakurenbo.judge.serve.closed import ClosedStore
from kakurenbo.judge.serve.roles import WORKER, make_web_role, make_worker_role
from kakurenbo.judge.submissions import store

pytestmark = pytest.mark.django_db
MakeContest = Callable[..., Contest]


@contextmanager
def as_worker() -> Iterator[None]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {WORKER}")
        yield
        cursor.execute("RESET ROLE")


@pytest.fixture
def worker(judge_home: Path, plugins: Path, fork_server: ForkServer) -> Iterator[Worker]:
    assert plugins
    make_web_role("of the moment")
    make_worker_role()
    made = Worker(judge_home / "own", server=fork_server)
    yield made
    made.close()


# -- the account of workers ------------------------------------------------------------------------------------------------


def test_a_worker_needs_no_other_rights_from_the_preparation_to_the_standings(
    worker: Worker,
) -> None:
    round_ = new_round("trouble", {"size": 20}, "only", teams=2, places=2)
    with as_worker():
        prepare(round_, worker)
    for team in ("01", "02"):
        hand_in(round_, team, {"hidden.csv": b"wait /"})
    with as_worker():
        worker.drain()
    change_phase(round_, "anonymize", PhaseState.CLOSED)
    for team in ("01", "02"):
        rules.enqueue(JobKind.SEAL, round_.contest, round_, subject=team)
    with as_worker():
        worker.drain()
    Contest.objects.update(rehearsal=True)
    change_phase(round_, "attack", PhaseState.OPEN)
    round_.phases.update(opens_at=timezone.now() - timedelta(minutes=1))
    rules.enqueue(JobKind.BOT, round_.contest, round_, subject="01")
    with as_worker():
        worker.drain()
    organizer = round_.contest.made_by
    organizer.is_organizer = True
    rejudging = rejudgings.ask(organizer, round_.contest, "the scorer was wrong")
    with as_worker():
        worker.drain()
    rejudging.refresh_from_db()
    rejudgings.apply(organizer, rejudging)
    with as_worker():
        worker.drain()
    assert not [(job.kind, job.cause) for job in Job.objects.exclude(state=JobState.DONE)]
    assert set(Job.objects.values_list("kind", flat=True)) == set(JobKind)
    assert (Target.objects.count(), Earned.objects.filter(attacker__team__number="01").count()) == (
        2,
        1,
    )
    assert StandingSnapshot.objects.exists()


@pytest.mark.parametrize(
    "attempt",
    [
        "SELECT password FROM accounts_user",
        "SELECT digest FROM accounts_token",
        "SELECT session_data FROM django_session",
        "SELECT digest FROM contests_invite",
        "SELECT private FROM secret.signing_key",
        "SELECT 1 FROM axes_accessattempt",
        "UPDATE accounts_user SET is_organizer = true",
        "UPDATE contests_contest SET ended_at = now()",
        "UPDATE contests_phase SET closes_at = now()",
        "UPDATE contests_entry SET disqualified = 'x'",
        "UPDATE trust_logentry SET kind = 'x'",
        "DELETE FROM trust_logentry",
        "INSERT INTO trust_checkpoint (contest_id) VALUES (1)",
        "INSERT INTO secret.signing_key (contest_id, private) VALUES (1, '')",
        "CREATE TABLE own (n int)",
        "CREATE ROLE other",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY contests_contest TO PROGRAM 'cat'",
    ],
)
def test_a_worker_sees_no_password_token_session_invitation_or_key_and_decides_nothing(
    attempt: str,
) -> None:
    make_web_role("of the moment")
    make_worker_role()
    with (
        pytest.raises(ProgrammingError, match=r"permission denied|must be"),
        as_worker(),
        connection.cursor() as cursor,
    ):
        cursor.execute(attempt)


def test_the_account_is_made_once_cannot_log_in_by_itself_and_keeps_what_it_was_given() -> None:
    make_web_role("of the moment")
    assert make_worker_role()
    with connection.cursor() as cursor:
        asked = f"SELECT rolcanlogin FROM pg_roles WHERE rolname = '{WORKER}'"
        cursor.execute(asked)
        assert cursor.fetchone() == (False,)
        cursor.execute(f"ALTER ROLE {WORKER} LOGIN PASSWORD 'x'")
        assert make_worker_role()
        cursor.execute(asked)
        assert cursor.fetchone() == (True,)


# -- what a worker leaves to others ------------------------------------------------------------------------------------------


def test_a_worker_without_the_rulebook_of_a_job_leaves_it_to_others_and_tells_why_it_waits(
    worker: Worker, new_contest: MakeContest
) -> None:
    job = rules.enqueue(JobKind.PREPARE, new_contest(rulebook="elsewhere"))
    assert not worker.work(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease) == (JobState.WAITING, 0, None)
    assert worker.name in translated(job.cause)
    assert "elsewhere" in translated(job.cause)


def test_a_worker_whose_clock_is_wrong_takes_nothing_and_leases_go_by_the_databases_clock(
    worker: Worker, new_contest: MakeContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = rules.enqueue(JobKind.PREPARE, new_contest())
    before = rules.database_now()
    monkeypatch.setattr(
        "kakurenbo.judge.scoring.worker.timezone.now", lambda: before + timedelta(hours=1)
    )
    assert not worker.work(job.pk)
    job.refresh_from_db()
    assert (job.state, "seconds off" in translated(job.cause)) == (JobState.WAITING, True)
    held: list[Any] = []
    monkeypatch.setattr("kakurenbo.judge.scoring.worker._CLOCK_SECONDS", 7200)
    monkeypatch.setattr(
        "kakurenbo.judge.scoring.handling.handle",
        lambda job, _bench: held.append(job.lease_until) or _nothing,
    )
    assert worker.work(job.pk)
    assert before + rules.LEASE <= held[0] <= rules.database_now() + rules.LEASE


def _nothing() -> None:
    return None


# -- when they do not start ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "arguments", "said"),
    [
        ({}, [], "needs DATABASE_URL"),
        ({"DATABASE_URL": "host=127.0.0.1 port=1"}, [], "needs KAKURENBO_JUDGE_S3_BUCKET"),
        (
            {"DATABASE_URL": "host=127.0.0.1 port=1", "KAKURENBO_JUDGE_S3_BUCKET": "b"},
            [],
            "cannot be reached",
        ),
        ({}, ["--port", "8000"], "--port"),
        ({}, ["--workers", "0"], "start nothing"),
    ],
)
def test_workers_alone_say_in_one_line_what_they_lack(
    given: dict[str, str], arguments: list[str], said: str
) -> None:
    command = [sys.executable, "-m", "kakurenbo", "serve", "--workers-only", *arguments]
    environment = {**os.environ, "KAKURENBO_LANG": "en", **given}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


def test_workers_alone_do_not_start_on_a_machine_whose_clock_is_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "host=db")
    monkeypatch.setattr(postgres, "check_given", lambda _url: -61.0)
    with pytest.raises(UsageError, match="61"):
        check_database(workers_only=True)
    check_database(workers_only=False)  # the judge itself has no other clock to go by


def test_workers_of_another_version_than_the_database_do_not_start() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('scoring', '9999_later', now())"
        )
        with pytest.raises(SystemExit) as newer:
            parts.check_worker_host()
        cursor.execute("DELETE FROM django_migrations WHERE app = 'trust' OR name = '9999_later'")
        with pytest.raises(SystemExit) as older:
            parts.check_worker_host()
        transaction.set_rollback(True)
    told = [parts.hindrance(int(str(ended.value.code))) for ended in (newer, older)]
    assert ["newer version" in told[0], "older version" in told[1]] == [True, True]


def test_workers_without_the_store_or_the_rights_of_workers_do_not_start(
    judge_home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert judge_home.exists()
    parts.check_worker_host()
    monkeypatch.setitem(storages._storages, "secret", ClosedStore())  # type: ignore[attr-defined]
    with pytest.raises(SystemExit) as without_store:
        parts.check_worker_host()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE ROLE stranger; SET LOCAL ROLE stranger")
        with pytest.raises(SystemExit) as stranger:
            parts.check_worker_host()
        transaction.set_rollback(True)
    told = [parts.hindrance(int(str(ended.value.code))) for ended in (without_store, stranger)]
    assert ["store" in told[0], "kakurenbo_worker" in told[1]] == [True, True]
    assert "permission denied for table django_migrations" in capfd.readouterr().err


# -- whatever is written in the database -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["teams/01/../../../x", "teams/01//x"])
def test_no_path_in_the_database_leads_a_worker_out_of_its_folder(
    path: str, worker: Worker, tmp_path: Path
) -> None:
    round_ = new_round("trouble", {"size": 20}, "only")
    RoundFile.objects.create(
        round=round_, path=path, visible="team", subject="01", blob=store.put(b"x")
    )
    with pytest.raises(ValueError, match="out of its folder"):
        worker.workspace.copy_handout(tmp_path / "step", round_, "01")
