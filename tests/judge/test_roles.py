"""The web's account in the database: no answer before the end, no key ever, no log rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests.advancing import end_contest
from kakurenbo.judge.contests.models import Contest, Entry, Round, Team
from kakurenbo.judge.scoring.models import Earned, SecretFile, Target
from kakurenbo.judge.serve.postgres import OWNER
from kakurenbo.judge.serve.roles import WEB, WORKER, make_web_role, make_worker_role
from kakurenbo.judge.trust.models import LogEntry, SigningKey
from kakurenbo.judge.trust.rules import checkpoint, new_key, record

pytestmark = pytest.mark.django_db


@contextmanager
def as_web() -> Iterator[None]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {WEB}")
        yield
        cursor.execute("RESET ROLE")


@pytest.fixture
def contest() -> Contest:
    make_web_role("of the moment")
    organizer = User.objects.create_user("o@example.com", "x", is_organizer=True)
    contest = Contest.objects.create(slug="c", title="C", rulebook="amic2020", made_by=organizer)
    only = Round.objects.create(contest=contest, name="pre", position=0)
    entry = only.entries.create(team=Team.objects.create(contest=contest, number="01", name="A"))
    target = Target.objects.create(round=only, entry=entry, name="01")
    SecretFile.objects.create(round_id=only.pk, path="answers/01/a.csv", digest="0" * 64, size=1)
    Earned.objects.create(target=target, sample="blind", credit={})
    new_key(contest)
    record(contest, "contest.made", {})
    return contest


@pytest.mark.usefixtures("contest")
def test_answers_and_credits_are_not_there_for_the_web_before_the_end() -> None:
    with as_web():
        assert (SecretFile.objects.count(), Earned.objects.count()) == (0, 0)
    assert (SecretFile.objects.count(), Earned.objects.count()) == (1, 1)


def test_they_are_there_when_the_signed_log_tells_that_the_contest_is_over(
    contest: Contest,
) -> None:
    checkpoint(contest)
    with as_web():  # whoever runs code in the web says so, and may take it back
        end_contest(contest, timezone.now())
        assert (SecretFile.objects.count(), Earned.objects.count()) == (0, 0)
    checkpoint(contest)
    with as_web():
        assert (SecretFile.objects.count(), Earned.objects.count()) == (1, 1)


def test_the_web_adds_keys_and_never_reads_one(contest: Contest) -> None:
    with as_web():
        SigningKey.objects.create(contest_id=contest.pk + 1, private=b"k")
    with pytest.raises(ProgrammingError, match="permission denied"), as_web():
        SigningKey.objects.get(contest_id=contest.pk)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trust_logentry SET kind = 'x'",
        "DELETE FROM trust_logentry",
        "DELETE FROM secret.file",
    ],
)
def test_the_web_adds_to_the_log_and_changes_nothing_that_is_sealed(
    contest: Contest, change: str
) -> None:
    with as_web():
        record(contest, "team.added", {})
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        as_web(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change)
    assert LogEntry.objects.filter(contest=contest).count() == 2


@pytest.mark.parametrize(
    "attempt",
    [
        "UPDATE scoring_judging SET verdict = 'scored'",
        "INSERT INTO scoring_judging (verdict) VALUES ('scored')",
        "UPDATE scoring_target SET record = '{}'",
        "INSERT INTO scoring_target (name) VALUES ('99')",
        "UPDATE scoring_standingsnapshot SET standings = '{}'",
        "DELETE FROM scoring_standingsnapshot",
        "UPDATE scoring_roundfile SET path = '../../x'",
        "UPDATE scoring_job SET lease = NULL",
        "DELETE FROM procrastinate_jobs",
        "UPDATE contests_round SET facts = '{}'",
        "UPDATE contests_round SET contest_id = 1",
        "DELETE FROM contests_round",
        "DELETE FROM contests_entry",
        "UPDATE submissions_submission SET entry_id = 1",
        "DELETE FROM submissions_submission",
        "UPDATE submissions_blob SET digest = 'x'",
        "INSERT INTO trust_checkpoint (size) VALUES (1)",
        "INSERT INTO secret.earned (credit) VALUES ('{}')",
        "SELECT private FROM secret.signing_key",
        "UPDATE secret.signing_key SET private = ''",
        "DELETE FROM django_migrations",
        "ALTER TABLE secret.file DISABLE ROW LEVEL SECURITY",
        "DROP POLICY over ON secret.file",
        "ALTER TABLE trust_logentry DISABLE TRIGGER ALL",
        "SET session_replication_role = replica",
        "CREATE FUNCTION public.now() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE SCHEMA kakurenbo",
        "CREATE ROLE other",
        "ALTER ROLE kakurenbo_web SUPERUSER",
        "SELECT rolpassword FROM pg_authid",
        "SELECT pg_read_file('postgresql.conf')",
        "SELECT pg_ls_dir('.')",
        "SELECT lo_import('/etc/passwd')",
        "COPY contests_contest TO PROGRAM 'cat'",
        "COPY contests_contest FROM '/etc/passwd'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'kakurenbo'",
    ],
)
def test_whoever_runs_code_in_the_web_is_refused(attempt: str) -> None:
    make_web_role("of the moment")
    refused = r"permission denied|must be|must have|Only roles"
    with pytest.raises(ProgrammingError, match=refused), as_web(), connection.cursor() as cursor:
        cursor.execute(attempt)


def test_the_web_removes_no_target_but_one_that_was_passed_over(contest: Contest) -> None:
    Earned.objects.all().delete()
    with as_web():
        assert Target.objects.all()._raw_delete("default") == 0
    Entry.objects.update(disqualified="for a reason")
    with as_web():
        assert Target.objects.all()._raw_delete("default") == 1
    assert contest.rounds.get().entries.count() == 1


def test_no_function_of_the_database_runs_with_another_accounts_rights() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace "
            "WHERE prosecdef AND nspname IN ('public', 'secret')"
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db(transaction=True)
def test_whoever_logs_in_as_web_or_worker_becomes_nobody_else_and_sees_no_query_of_the_owner() -> (
    None
):
    assert make_web_role("x")
    assert make_worker_role()
    settings = connection.get_connection_params()
    place = {name: settings[name] for name in ("host", "dbname")}
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE {WORKER} LOGIN PASSWORD 'x'")
        try:
            for role, other in ((WEB, WORKER), (WORKER, WEB)):
                with psycopg.connect(
                    **place, user=role, password="x", autocommit=True
                ) as logged_in:
                    for attempt in (
                        f"ROLE {OWNER}",
                        f"ROLE {other}",
                        f"SESSION AUTHORIZATION {OWNER}",
                        "ROLE pg_read_all_data",
                    ):
                        with pytest.raises(psycopg.errors.InsufficientPrivilege):
                            logged_in.execute(f"SET {attempt}")  # type: ignore[call-overload]
                    seen = logged_in.execute(
                        "SELECT query FROM pg_stat_activity WHERE usename = %s", [OWNER]
                    ).fetchall()
                    assert {query for (query,) in seen} == {"<insufficient privilege>"}
        finally:
            cursor.execute(f"DROP OWNED BY {WEB}, {WORKER}; DROP ROLE {WEB}, {WORKER}")


def test_the_account_is_made_once_and_given_another_password_at_each_start() -> None:
    assert make_web_role("one")
    assert make_web_role("another ' one")
