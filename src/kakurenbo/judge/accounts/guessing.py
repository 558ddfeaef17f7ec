"""Who guesses passwords is slowed down: many at one account, and a few at each of many accounts.

At one account, ten wrong passwords from one address close it to that address for a quarter of an hour. Over all accounts, so
many from one address close it to accounts that never logged in from there. A whole university may be behind one address: those
of its people who logged in or registered there before are not in the way of anybody's guesses, and come in as ever; whoever
mistyped and then came in is counted no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils import timezone

from kakurenbo.judge.accounts.addresses import address_behind, network_of

MOST_FROM_AN_ADDRESS = 50
"""Wrong passwords within a quarter of an hour, by people who did not come in afterwards."""
Credentials = Mapping[str, Any]


class Guessing(AxesDatabaseHandler):  # type: ignore[misc]  # axes has no types
    """Axes' own counting at one account, and beside it that over all accounts from one address."""

    def is_locked(self, request: HttpRequest, credentials: Credentials | None = None) -> bool:
        return bool(super().is_locked(request, credentials)) or is_closed_to_strangers(
            request, credentials
        )


def address_of(request: HttpRequest) -> str | None:
    """The address as which wrong passwords are counted."""
    return network_of(
        address_behind(
            request.META.get("REMOTE_ADDR") or "", request.META.get("HTTP_X_FORWARDED_FOR", "")
        )
    )


def is_closed_to_strangers(request: HttpRequest, credentials: Credentials | None) -> bool:
    """Whether too many wrong passwords came from an address for an account that never logged in from there."""
    address = address_of(request)
    if address is None or _failures(_recent(address)) < MOST_FROM_AN_ADDRESS:
        return False
    return not AccessLog.objects.filter(ip_address=address, username=_account(credentials)).exists()


def seconds_closed(request: HttpRequest, credentials: Credentials | None) -> int:
    """After how long a log-in that is refused now may be tried again."""
    recent, most = _recent(address_of(request)), MOST_FROM_AN_ADDRESS
    if not is_closed_to_strangers(request, credentials):
        recent, most = recent.filter(username=_account(credentials)), settings.AXES_FAILURE_LIMIT
    left, now = _failures(recent), timezone.now()
    waiting = settings.AXES_COOLOFF_TIME
    for at, failures in recent.order_by("attempt_time").values_list(
        "attempt_time", "failures_since_start"
    ):
        left -= failures
        if left < most:
            waiting = at + settings.AXES_COOLOFF_TIME - now
            break
    return max(1, math.ceil(waiting.total_seconds()))


def _recent(address: str | None) -> QuerySet[AccessAttempt]:
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    recent: QuerySet[AccessAttempt] = AccessAttempt.objects.filter(
        ip_address=address, attempt_time__gte=since
    )
    return recent


def _failures(attempts: QuerySet[AccessAttempt]) -> int:
    return int(attempts.aggregate(Sum("failures_since_start"))["failures_since_start__sum"] or 0)


def _account(credentials: Credentials | None) -> str:
    return str((credentials or {}).get("username") or "")
