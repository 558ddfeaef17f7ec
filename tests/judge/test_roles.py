"""The web's account in the database: no answer before the end, no key ever, no log rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from django.utils import timezone

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests.advancing import end_contest
from kakurenbo.judge.contests.models import Contest, Round, Team
from kakurenbo.judge.scoring.models import Earned, SecretFile, Target
from kakurenbo.judge.serve.roles import WEB, make_web_role
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


def test_they_are_there_when_the_signed_log_tells_that_the_contest_is_over(contest: Contest) -> None:
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
    "change", ["UPDATE trust_logentry SET kind = 'x'", "DELETE FROM trust_logentry", "DELETE FROM secret.file"]
)
def test_the_web_adds_to_the_log_and_changes_nothing_that_is_sealed(contest: Contest, change: str) -> None:
    with as_web():
        record(contest, "team.added", {})
    with pytest.raises(ProgrammingError, match="permission denied"), as_web(), connection.cursor() as cursor:
        cursor.execute(change)
    assert LogEntry.objects.filter(contest=contest).count() == 2


def test_the_account_is_made_once_and_given_another_password_at_each_start() -> None:
    assert make_web_role("one")
    assert make_web_role("another ' one")
