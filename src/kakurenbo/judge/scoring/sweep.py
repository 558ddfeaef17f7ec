"""The sweep: every second it takes up what was lost and moves contests on, whatever became of workers and queue."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.db.models import Max
from django.utils import timezone

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.operations.beats import SWEEP, beat
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.models import JobState, SecretFile
from kakurenbo.judge.scoring.worker import take_over
from kakurenbo.judge.submissions import store
from kakurenbo.judge.trust.models import Checkpoint, LogEntry
from kakurenbo.judge.trust.rules import checkpoint

_EVERY_SECONDS = 1.0
_FORGET_EVERY = 60.0
_SIGN_EVERY = 5.0  # a team that hands in waits for its receipt
_log = logging.getLogger(__name__)


def main() -> None:
    """Sweep until told to end; the database may go and come back meanwhile."""
    end = threading.Event()
    for told in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told, lambda *_: end.set())
    # Of durations by a clock that nobody sets: set back by hours, that on the wall would keep receipts waiting for hours.
    signed_at, forgot_at = -_SIGN_EVERY, time.monotonic()
    revealed = set[int]()
    steps = Steps()
    while not end.wait(_EVERY_SECONDS):
        close_old_connections()
        if not steps.begin():
            continue
        steps.attempt(take_over)
        steps.attempt(store.forget_halves)
        steps.attempt(lambda: rules.sweep(rules.database_now()))
        steps.attempt(_advance)
        steps.attempt(lambda: reveal_secrets(revealed))
        if time.monotonic() - signed_at >= _SIGN_EVERY:
            signed_at = time.monotonic()
            steps.attempt(sign_logs)
        if time.monotonic() - forgot_at >= _FORGET_EVERY:
            forgot_at = time.monotonic()
            steps.attempt(lambda: store.forget_unused(timezone.now()))
            steps.attempt(_forget_old)


def sign_logs() -> int:
    """Sign the log of every contest that grew since; returns how many."""
    last = dict(LogEntry.objects.order_by().values_list("contest").annotate(Max("number")))
    signed = dict(Checkpoint.objects.order_by().values_list("contest").annotate(Max("size")))
    grown = [pk for pk, number in last.items() if number + 1 != signed.get(pk)]
    contests = list(Contest.objects.filter(pk__in=grown).exclude(public_key=b""))
    for contest in contests:
        checkpoint(contest)
    return len(contests)


def reveal_secrets(done: set[int]) -> None:
    """Give the secrets of contests that have ended to the open store, from where pages hand them out.

    That a contest has ended is believed where its log says so, and signed at once: the web, which ends contests and writes to
    the log, cannot take that back.

    Parameters
    ----------
    done : set of int
        Contests of which it is known that nothing is left to do; it grows.
    """
    for contest in (
        Contest.objects.filter(log__kind="contest.ended")
        .exclude(ended_at=None)
        .exclude(pk__in=done)
    ):
        checkpoint(contest)
        rounds = contest.rounds.values_list("pk", flat=True)
        for digest in (
            SecretFile.objects.filter(round_id__in=list(rounds))
            .values_list("digest", flat=True)
            .distinct()
        ):
            store.reveal(digest)
        if not contest.jobs.filter(state__in=(JobState.WAITING, JobState.RUNNING)).exists():
            done.add(contest.pk)


def _forget_old() -> None:
    """What was kept of people's visits long enough, and files of contests that were given up."""
    from kakurenbo.judge.accounts.forgetting import forget_old
    from kakurenbo.judge.contests.erasing import erase_files, forget_old_invites

    now = timezone.now()
    forget_old(now, settings.RETAIN_DAYS)
    forget_old_invites(now, settings.RETAIN_DAYS)
    erase_files()


def _advance() -> None:
    from kakurenbo.judge.contests.rules import advance

    for told in advance(timezone.now()):
        _log.info("%s", told)


class Steps:
    """What the sweep does: no step keeps the others from being tried, and a database that is away ends nothing.

    That it went away is one line of the log, and that it is back another, however many steps failed meanwhile.
    """

    def __init__(self) -> None:
        self._away_since: float | None = None

    def begin(self) -> bool:
        """Give a sign of life; whether there is a database to do anything with."""
        there = self.attempt(lambda: beat(SWEEP, timezone.now()))
        if there and self._away_since is not None:
            _log.warning(
                "the database answers again after %.1f s; the sweep goes on",
                time.monotonic() - self._away_since,
            )
            self._away_since = None
        return there

    def attempt(self, step: Callable[[], object]) -> bool:
        """Try a step; whether the database was there."""
        try:
            step()
        except Exception as error:
            if not _has_lost_database(error):
                _log.exception("the sweep failed, and goes on")
            else:
                if self._away_since is None:
                    self._away_since = time.monotonic()
                    _log.warning("the database does not answer; the sweep waits for it")
                return False
        return True


def _has_lost_database(error: Exception) -> bool:
    """Whether there is no connection, which is told without a code or with one of a server that ends or begins."""
    if isinstance(error, InterfaceError):
        return True
    cause = error.__cause__ if isinstance(error, DatabaseError) else None
    return isinstance(cause, psycopg.OperationalError) and (cause.sqlstate or "57P").startswith(
        ("57P", "08")
    )
