"""The state of the judge as the database tells it, within a time: a database that hangs holds up nobody who asks how it is.

All questions are asked in one thread of their own. Once an answer is overdue, whoever asks is told so at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from kakurenbo.judge.scoring.rules import BEAT_SECONDS

PATIENCE_SECONDS = 1.5
SILENT = timedelta(seconds=60)
"""After which the sweep is taken for lost; and so long a log may wait for its signature."""
WORKER_SILENT = timedelta(seconds=4 * BEAT_SECONDS)
"""After which a worker is taken for lost: it has missed three signs of life, or it has died."""
CLOCKS_APART = timedelta(seconds=5)


@dataclass(frozen=True)
class State:
    """What the database says of the judge.

    Attributes
    ----------
    clock : timedelta
        How far its clock is ahead of this machine's.
    last_event : datetime or None
        Of the log: a clock that is behind it has jumped back.
    jobs : mapping of (kind, state) to int
        Those that are not done.
    oldest_waiting : timedelta or None
    workers : int
        Of whom something was heard lately.
    last_worker : timedelta or None
        Since anything was heard of any worker.
    sweep : timedelta or None
        Since its last sign of life.
    unsigned : timedelta or None
        How long the oldest entry of a log waits for a signature.
    last_checkpoint : timedelta or None
        Since the last signature under any log.
    log_entries : int
    """

    clock: timedelta
    last_event: datetime | None
    jobs: dict[tuple[str, str], int]
    oldest_waiting: timedelta | None
    workers: int
    last_worker: timedelta | None
    sweep: timedelta | None
    unsigned: timedelta | None
    last_checkpoint: timedelta | None
    log_entries: int

    @property
    def parked(self) -> int:
        """Jobs that wait for an organizer."""
        return sum(count for (_, state), count in self.jobs.items() if state == "parked")

    @property
    def clock_is_right(self) -> bool:
        """Whether both clocks agree, and neither is behind what has happened."""
        behind = self.last_event is not None and self.last_event - timezone.now() > CLOCKS_APART
        return abs(self.clock) <= CLOCKS_APART and not behind

    @property
    def sweep_is_alive(self) -> bool:
        return self.sweep is not None and self.sweep < SILENT

    @property
    def log_is_signed(self) -> bool:
        return self.unsigned is None or self.unsigned < SILENT


_STATE = """
SELECT clock_timestamp(),
    (SELECT at FROM trust_logentry ORDER BY id DESC LIMIT 1),
    (SELECT min(created_at) FROM scoring_job WHERE state = 'waiting'),
    (SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat >= now() - make_interval(secs => %(silent)s)),
    (SELECT max(last_heartbeat) FROM procrastinate_workers),
    (SELECT at FROM operations_heartbeat WHERE name = 'sweep'),
    (SELECT min(entry.at) FROM contests_contest contest JOIN trust_logentry entry ON entry.contest_id = contest.id
        WHERE contest.public_key <> '' AND entry.number >=
            coalesce((SELECT max(size) FROM trust_checkpoint signed WHERE signed.contest_id = contest.id), 0)),
    (SELECT max(at) FROM trust_checkpoint),
    (SELECT count(*) FROM trust_logentry)
"""
_JOBS = "SELECT kind, state, count(*) FROM scoring_job WHERE state <> 'done' GROUP BY kind, state"


def state() -> State:
    """Ask the database, by the connection of whoever calls."""
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute(_STATE, {"silent": WORKER_SILENT.total_seconds()})
        now, event, waiting, workers, heard, sweep, unsigned, checkpoint, entries = (
            cursor.fetchone()
        )
        here = before + (timezone.now() - before) / 2
        cursor.execute(_JOBS)
        jobs = {(kind, state): count for kind, state, count in cursor.fetchall()}

    def since(moment: datetime | None) -> timedelta | None:
        return None if moment is None else now - moment

    return State(
        clock=now - here,
        last_event=event,
        jobs=jobs,
        oldest_waiting=since(waiting),
        workers=workers,
        last_worker=since(heard),
        sweep=since(sweep),
        unsigned=since(unsigned),
        last_checkpoint=since(checkpoint),
        log_entries=entries,
    )


class Asked:
    """One question to the database at a time, in a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "probe")
        self._lock = threading.Lock()
        self._outstanding: dict[Any, tuple[Future[Any], float]] = {}

    def ask(self, question: Callable[[], Any], patience: float = PATIENCE_SECONDS) -> Any:
        """The answer, or None where there is none in time, or the database refuses.

        Whoever asks the same while it is outstanding waits for the same answer, and no longer than who asked first.
        """
        with self._lock:
            answer, since = self._outstanding.get(question, (None, time.monotonic()))
            if answer is None:
                answer = self._thread.submit(self._answered, question)
                self._outstanding[question] = answer, since
        try:
            return answer.result(max(0.0, since + patience - time.monotonic()))
        except Exception:  # no answer in time, or no database: in either case nothing is known
            return None

    def _answered(self, question: Callable[[], Any]) -> Any:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true)",
                    [str(int(PATIENCE_SECONDS * 1000))],
                )
                return question()
        finally:
            with self._lock:
                self._outstanding.pop(question, None)
            connection.close()


asked = Asked()
