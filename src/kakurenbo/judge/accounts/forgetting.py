"""What becomes of what the judge knows of people: accounts that are deleted, and records of access that grew old."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db import connection, transaction

from kakurenbo.core import InputError
from kakurenbo.judge.accounts.models import Token, User
from kakurenbo.judge.accounts.rules import FIRST_ORGANIZER, end_sessions

_RECORDS = (AccessAttempt, AccessFailureLog, AccessLog)
_PSEUDONYM_BYTES = 4


def delete_account(user: User) -> User:
    """Leave of an account a pseudonym that nobody can log in by: name, address, sessions, tokens and records of access go.

    The row stays, since what its owner handed in for a team, and contests that it made, stay. Of organizers one must be left.
    """
    with transaction.atomic():
        with (
            connection.cursor() as cursor
        ):  # of the last two organizers, who delete their accounts at once, one stays
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_ORGANIZER])
        user = User.objects.select_for_update().get(pk=user.pk)
        others = User.objects.filter(is_organizer=True, is_active=True).exclude(pk=user.pk)
        if user.is_organizer and not others.exists():
            raise InputError.of("accounts.last_organizer", "")
        for records in _RECORDS:
            records.objects.filter(username=user.email).delete()
        Token.objects.filter(user=user).delete()
        end_sessions(user)
        name = f"deleted-{secrets.token_hex(_PSEUDONYM_BYTES)}"
        user.name, user.email, user.language, user.last_login = (
            name,
            f"{name}@deleted.invalid",
            "",
            None,
        )
        user.is_active = user.is_organizer = False
        user.set_unusable_password()
        user.save()
    return user


def forget_old(now: datetime, days: int) -> int:
    """Remove records of access that are older than so many days, and sessions that are over; says how many."""
    before = now - timedelta(days=days)
    removed = [records.objects.filter(attempt_time__lt=before).delete()[0] for records in _RECORDS]
    removed.append(Session.objects.filter(expire_date__lt=now).delete()[0])
    removed.append(Token.objects.filter(revoked_at__lt=before).delete()[0])
    return sum(removed)
