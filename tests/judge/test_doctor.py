"""The doctor: each check finds what it is there for, says what to do, and leaves everything as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from tests.calling import call
from tests.judge import making
from tests.judge.waiting import PATIENCE, wait_until

from kakurenbo.cli import judge as command
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.operations import doctor, doctor_storage, probing
from kakurenbo.judge.operations import doctor_database as database
from kakurenbo.judge.operations.beats import SWEEP, beat
from kakurenbo.judge.operations.doctor import Finding, Order
from kakurenbo.judge.scoring.models import Job, JobKind, JobState
from kakurenbo.judge.scoring.sweep import sign_logs
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.serve.roles import WEB, make_web_role
from kakurenbo.judge.submissions import store
from kakurenbo.judge.trust.rules import record

HERE = Order("home")
Check = Callable[[Order], tuple[bool, str]]


def test_a_folder_without_a_judge_that_runs_is_told_with_what_to_do(tmp_path: Path) -> None:
    examined = call("doctor", "--home", tmp_path)
    unwell = {
        check["name"]: check["detail"] for check in examined.json["checks"] if not check["ok"]
    }
    assert examined.code == 1
    assert set(unwell) == {"database", "workers"}
    assert all(f"kakurenbo serve --home {tmp_path}" in detail for detail in unwell.values())
    assert not list(tmp_path.iterdir()), "to look changes nothing"


def test_without_the_judges_packages_the_doctor_says_how_to_install_them(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(command, "NEEDED", ("no_such_package",))
    from kakurenbo.cli import main

    with pytest.raises(SystemExit) as left:
        main(["doctor", "--home", "x"])
    assert left.value.code == 2
    assert "kakurenbo[judge]" in capsys.readouterr().err


PAGES = [
    Path(__file__).parents[2] / "docs" / place
    for place in ("how-to/operate-judge.md", "ja/operate-judge.md")
]


@pytest.mark.parametrize("page", PAGES, ids=["en", "ja"])
def test_the_pages_name_every_check_as_the_doctor_does_and_everything_in_the_folder(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "tried", lambda name, *_: Finding(name, ok=True, detail=""))
    told = page.read_text(encoding="utf-8")
    checks = {finding.name for finding in doctor.examined(HERE)}
    documented = {
        name
        for row in re.findall(r"^\| (`.*?) \|.*\|$", told, re.M)
        for name in re.findall(r"`([\w./-]+?)/?`", row)
    }
    assert checks <= documented
    assert {*doctor_storage._FOLDERS, *doctor_storage._FILES} <= documented


def test_a_check_that_breaks_is_a_finding() -> None:
    def broken(_: Order) -> tuple[bool, str]:
        raise ZeroDivisionError("of all things")

    assert doctor.tried("clock", broken, HERE) == Finding(
        "clock", ok=False, detail=doctor.tried("x", broken, HERE).detail
    )
    assert "ZeroDivisionError: of all things" in doctor.tried("clock", broken, HERE).detail


@pytest.mark.parametrize("name", ["secret", "secret-key", "postgres.log"])
def test_what_other_accounts_could_read_is_named(tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o711)
    for folder in ("files", "files/ab", "secret"):
        (tmp_path / folder).mkdir(mode=0o700)
    for file in ("secret-key", "postgres.log"):
        (tmp_path / file).touch(0o600)
    assert doctor_storage.rights(Order(str(tmp_path)))[0]
    (tmp_path / name).chmod(0o644)
    ok, detail = doctor_storage.rights(Order(str(tmp_path)))
    assert not ok
    assert str(tmp_path / name) in detail
    assert "chmod" in detail


@pytest.mark.django_db
class TestStores:
    def test_a_store_gives_back_what_it_was_given_and_keeps_nothing_of_it(
        self, judge_home: Path
    ) -> None:
        assert doctor_storage.stores(HERE)[0]
        assert not [path for path in judge_home.rglob("*") if path.is_file()]

    def test_files_that_were_changed_or_lost_are_named_by_their_digest(
        self, judge_home: Path
    ) -> None:
        changed, lost = store.put(b"changed").digest, store.put(b"lost").digest
        store.put(b"kept")
        for order in (HERE, Order("home", every_file=True)):
            assert doctor_storage.files(order)[0]
        (judge_home / "files" / store.name_of(changed)).write_bytes(b"chanGed")
        (judge_home / "files" / store.name_of(lost)).unlink()
        for order in (HERE, Order("home", every_file=True)):
            ok, detail = doctor_storage.files(order)
            assert not ok
            assert changed in detail
            assert lost in detail


@pytest.mark.django_db
class TestDatabase:
    def test_the_web_is_tried_at_what_it_must_not_do(self) -> None:
        assert not database.roles(HERE)[0], "there is no such account yet"
        make_web_role("of the moment")
        assert database.roles(HERE)[0]
        with connection.cursor() as cursor:
            cursor.execute(f"GRANT SELECT ON secret.signing_key TO {WEB}")
        ok, detail = database.roles(HERE)
        assert not ok
        assert "secret.signing_key" in detail
        assert not database._roles_by_rights()[0]
        with connection.cursor() as cursor:
            cursor.execute(f"REVOKE SELECT ON secret.signing_key FROM {WEB}")
            cursor.execute("ALTER TABLE secret.file DISABLE ROW LEVEL SECURITY")
        assert not database._roles_by_rights()[0]
        assert database.roles(HERE)[0], "nothing secret is there yet"

    def test_a_secret_that_the_web_sees_before_the_end_is_found(self) -> None:
        make_web_role("of the moment")
        from kakurenbo.judge.scoring.models import SecretFile

        SecretFile.objects.create(
            round_id=making.contest().rounds.get().pk, path="answers/01", digest="0" * 64, size=1
        )
        assert database.roles(HERE)[0]
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE secret.file DISABLE ROW LEVEL SECURITY")
        assert not database.roles(HERE)[0]

    def test_an_entry_of_the_log_that_was_changed_is_named(self) -> None:
        contest = making.contest()
        sign_logs()
        assert database.logs(HERE)[0]
        self._rewrite("UPDATE trust_logentry SET kind = 'other' WHERE number = 0")
        ok, detail = database.logs(HERE)
        assert not ok
        assert contest.slug in detail
        assert "entry 0 was changed" in detail

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ("UPDATE trust_checkpoint SET root = decode(repeat('00', 32), 'hex')", "root"),
            (
                "UPDATE trust_checkpoint SET signature = decode(repeat('00', 64), 'hex')",
                "signature",
            ),
            ("DELETE FROM trust_logentry WHERE number = 0", "entry 0 is missing"),
        ],
    )
    def test_a_log_that_is_not_what_was_signed_is_named(self, change: str, said: str) -> None:
        record(making.contest(), "team.added", {})
        sign_logs()
        self._rewrite(change)
        ok, detail = database.logs(HERE)
        assert not ok
        assert said in detail

    def test_jobs_that_were_put_aside_are_named_and_those_that_wait_long_are_told(self) -> None:
        contest = making.contest()
        assert database.queue(HERE)[0]
        job = Job.objects.create(kind=JobKind.PREPARE, contest=contest)
        assert database.queue(HERE)[0]
        Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(hours=1))
        assert not database.queue(HERE)[0]
        Job.objects.filter(pk=job.pk).update(state=JobState.PARKED)
        ok, detail = database.queue(HERE)
        assert not ok
        assert f"{job.pk} (cup" in detail

    def test_rounds_that_another_scorer_judged_are_named(self) -> None:
        contest = making.contest()
        assert database.fingerprints(HERE)[0]
        Round.objects.filter(contest=contest).update(fingerprint="0" * 64)
        ok, detail = database.fingerprints(HERE)
        assert not ok
        assert "cup/pre" in detail
        Contest.objects.update(ended_at=timezone.now())
        assert database.fingerprints(HERE)[0], "what is over is judged by no one"

    def test_a_clock_that_jumped_back_is_found(self) -> None:
        making.contest()
        assert database.clock(HERE)[0]
        self._rewrite("UPDATE trust_logentry SET at = now() + interval '1 hour'")
        assert not database.clock(HERE)[0]

    @pytest.mark.parametrize("check", [database.workers, database.sweep])
    def test_a_judge_in_which_nobody_works_is_told_how_to_start(self, check: Check) -> None:
        ok, detail = check(HERE)
        assert not ok
        assert "kakurenbo serve" in detail

    def test_tables_of_another_version_are_told(self) -> None:
        assert database.answers(HERE)[0]
        assert database.tables(HERE)[0]
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE app = 'operations'")
        assert not database.tables(HERE)[0]
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied) VALUES ('trust', '9999_later', now())"
            )
        assert "newer" in database.tables(HERE)[1]

    @staticmethod
    def _rewrite(statement: str) -> None:
        """Change what nothing lets be changed, as somebody with the database's files could."""
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(statement)
            cursor.execute("SET LOCAL session_replication_role = origin")


@pytest.mark.django_db(transaction=True)
def test_the_judge_is_well_while_workers_and_sweep_are_heard_of_the_log_is_signed_and_clocks_agree(
    client: Client, tmp_path: Path, settings: Any, embedded_database: EmbeddedPostgres
) -> None:
    assert embedded_database
    settings.HOME = tmp_path

    def health() -> dict[str, Any]:
        """What is told as soon as the database answers in time, which it may not while the machine is busy."""
        answer = wait_until(
            lambda: next(
                (one for one in [client.get("/health")] if one.json()["checks"]["database"]), None
            )
        )
        told: dict[str, Any] = answer.json()
        assert answer.status_code == (200 if told["ok"] else 503)
        return told

    def unwell() -> list[str]:
        return [name for name, well in health()["checks"].items() if not well]

    def heard(ago: str = "0 seconds") -> None:
        """Let the sweep give a sign of life now, and the worker have given its last so long ago."""
        beat(SWEEP, timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(
                "update procrastinate_workers set last_heartbeat = now() - %s::interval", [ago]
            )

    assert unwell() == ["workers", "sweep"]
    with connection.cursor() as cursor:
        cursor.execute("select procrastinate_register_worker_v1()")
    beat(SWEEP, timezone.now())
    assert unwell() == []
    contest = making.contest()
    Job.objects.create(kind=JobKind.PREPARE, contest=contest, state=JobState.PARKED)
    heard()
    told = health()
    assert (told["ok"], told["parked_jobs"]) == (True, 1), (
        "what an organizer has to see to is told, and no fault of the judge"
    )
    assert "cup" not in str(told)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE trust_logentry DISABLE TRIGGER USER")
        cursor.execute("UPDATE trust_logentry SET at = now() - interval '2 minutes'")
        heard()
        assert unwell() == ["log"]
        sign_logs()
        heard()
        assert unwell() == []
        cursor.execute("UPDATE trust_logentry SET at = now() + interval '2 minutes'")
        heard()
        assert unwell() == ["clock"]
        cursor.execute("UPDATE trust_logentry SET at = now()")
        cursor.execute("ALTER TABLE trust_logentry ENABLE TRIGGER USER")
        heard("30 seconds")
        assert unwell() == ["workers"], "one that died is not counted for long"
        assert 30 <= health()["worker_age_seconds"] < 30 + PATIENCE
        cursor.execute("UPDATE operations_heartbeat SET at = now() - interval '2 minutes'")
        assert unwell() == ["workers", "sweep"]


def test_a_database_that_refuses_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing() -> None:
        raise ConnectionError

    monkeypatch.setattr(probing.Asked, "_answered", lambda _, question: question())
    assert probing.Asked().ask(refusing) is None
