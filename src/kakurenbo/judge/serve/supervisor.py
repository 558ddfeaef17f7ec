"""``serve``: one process that starts the database, the web, the workers and the sweep, and watches over them.

With ``--workers-only`` it starts workers alone, for a judge on another machine.

It loads Django once and forks the others from itself, so that they share its memory; it has no thread and no connection
of its own, which a fork would break. Signals are taken one at a time where it waits, never in the middle of something.
"""

from __future__ import annotations

import gc
import http.client
import logging
import math
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import system_error, text
from kakurenbo.judge import confinement
from kakurenbo.judge.operations import logs
from kakurenbo.judge.serve import parts
from kakurenbo.judge.serve.credentials import DATABASE, Credentials, password_in
from kakurenbo.judge.serve.home import Home
from kakurenbo.judge.serve.plan import Plan
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.serve.processes import HEARD, Process, fork, wait_for

log = logging.getLogger(__name__)

_STOP_SECONDS = (
    8.0  # for what is under way; jobs that take longer are taken up again after the next start
)
_LOOK_SECONDS = 0.1  # between looks whether it is ready
_LONGEST_WAIT = 60.0
_ANSWER_SECONDS = 2.0
_DATABASE_SECONDS = 1.0  # between attempts to start a database that does not start
_PASSWORD_BYTES = 24


class Supervisor:
    """Everything that runs while the judge is served.

    Parameters
    ----------
    plan : Plan
    credentials : Credentials
        What only workers may have; it is never read in this process, from which the web is forked.
    """

    def __init__(self, plan: Plan, credentials: Credentials) -> None:
        self._plan = plan
        self._credentials = credentials
        self._home = Home(plan.home)
        self._database: EmbeddedPostgres | None = None
        self._database_due = 0.0
        self._web_password = ""
        self._processes: list[Process] = []

    def run(self) -> None:
        """Serve until somebody asks to stop."""
        if not self._plan.workers_only:
            _check_free(self._plan.host, self._plan.port)
        self._home.take()
        if self._plan.workers_only:
            self._tell(text("judge_serve.starting_workers", home=str(self._plan.home)))
        else:
            self._tell(text("judge_serve.starting", home=str(self._plan.home)))
            if not self._plan.is_private:
                self._tell(text("judge_serve.open_without_tls", url=self._plan.url))
        if not confinement.version():
            self._tell(text("judge_serve.no_landlock"))
        signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
        try:
            try:
                self._prepare_workers() if self._plan.workers_only else self._prepare()
            except OSError as error:  # no room, no right
                raise self._home.refusal(error) from None
            self._processes = self._parts()
            self._watch()
        finally:
            self._stop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)

    def _prepare(self) -> None:
        """The database, its tables, and Django loaded for everybody."""
        dsn = ""
        if not os.environ.get(DATABASE):
            self._database = EmbeddedPostgres(self._plan.home)
            self._database.start()
            dsn = self._database.address
        if self._home.is_demo(asked=self._plan.demo):
            os.environ["KAKURENBO_JUDGE_SHOW_REHEARSALS"] = "yes"
        os.environ.update(self._plan.environment(dsn, self._home.secret_key()))
        parts.load_django()
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        code = wait_for(fork("migrations", partial(parts.migrate, password), self._be_owner))
        if code == parts.OF_A_NEWER_JUDGE:
            raise UsageError("judge_serve.newer", home=str(self._plan.home))
        if code not in (0, parts.WITHOUT_WEB_ROLE):
            raise UsageError("judge_serve.no_migrations")
        self._web_password = "" if code else password
        _share_memory()

    def _prepare_workers(self) -> None:
        """Django loaded for every worker, once it is known that the judge's database and stores are theirs to use."""
        os.environ.update(
            self._plan.environment("", secrets.token_urlsafe(_PASSWORD_BYTES))
        )  # which signs nothing here
        parts.load_django()
        code = wait_for(fork("check", parts.check_worker_host, self._be_owner))
        if code:
            raise UsageError(parts.hindrance(code))
        _share_memory()

    def _parts(self) -> list[Process]:
        workers = [
            self._part(f"worker-{number}", parts.worker)
            for number in range(1, self._plan.workers + 1)
        ]
        if self._plan.workers_only:
            return workers
        web = partial(parts.web, self._plan.host, self._plan.port, self._web_password)
        return [Process("web", web, self._be_web), *workers, self._part("sweep", parts.sweep)]

    def _part(self, name: str, run: Callable[[], None], *, once: bool = False) -> Process:
        return Process(name, run, self._be_owner, once=once)

    def _be_owner(self) -> None:
        """In a forked process: use the database as its owner. Neither the supervisor nor the web ever has this password."""
        self._home.leave_to_parent()
        held = self._credentials.read()
        parts.log_in(password_in(held) if self._database is None else self._database.password)
        parts.use_secret_keys(held)

    def _be_web(self) -> None:
        """In a forked process: have nothing of workers; where the web has no account of its own, the database's password."""
        self._home.leave_to_parent()
        if self._web_password:
            self._credentials.leave()
        else:
            parts.log_in(password_in(self._credentials.read()))

    def _watch(self) -> None:
        """Start what is due, until a signal says that it is enough."""
        ready = False
        while True:
            self._keep_database()
            self._start_due()
            if not ready and self._is_ready():
                ready = True
                if self._plan.demo:
                    self._processes.append(self._part("demo", parts.demo, once=True))
                    continue
            heard = signal.sigtimedwait(HEARD, self._patience() if ready else _LOOK_SECONDS)
            if heard is not None and heard.si_signo != signal.SIGCHLD:
                return

    def _is_ready(self) -> bool:
        """Whether everything works, which is told then."""
        if self._plan.workers_only:
            self._tell(
                text(
                    "judge_serve.workers_ready",
                    workers=self._plan.workers,
                    host=socket.gethostname(),
                )
            )
            return True
        if not _answers(self._plan):
            return False
        self._tell(text("judge_serve.ready", url=self._plan.url))
        if self._plan.local_url != self._plan.url:
            self._tell(text("judge_serve.listens", url=self._plan.local_url))
        return True

    def _start_due(self) -> None:
        now = time.monotonic()
        for process in self._processes:
            process.ended(now)
            if process.pid is None and process.due <= now:
                process.start()

    def _patience(self) -> float:
        """Seconds until something is due: a signal ends the wait sooner."""
        now = time.monotonic()
        waiting = [process.due - now for process in self._processes if process.pid is None]
        if self._database is not None and self._database.process.poll() is not None:
            waiting.append(self._database_due - now)
        return min(max(min(waiting, default=math.inf), 0.0), _LONGEST_WAIT)

    def _keep_database(self) -> None:
        """Start a database that ended; where that cannot be yet, the next look tries again, however long it takes."""
        now = time.monotonic()
        if (
            self._database is None
            or self._database.process.poll() is None
            or now < self._database_due
        ):
            return
        log.warning("PostgreSQL ended; it starts again")
        try:
            self._database.start()
        except (
            UsageError,
            OSError,
        ) as error:  # the disk is full, or processes of the former one are still ending
            log.error("PostgreSQL does not start yet: %s", error)
            self._database_due = time.monotonic() + _DATABASE_SECONDS

    def _tell(self, line: str) -> None:
        """Say something to whoever started the judge: a person reads it, or a program that reads lines of the log."""
        if self._plan.log == logs.JSON:
            log.info("%s", line)
        else:
            print(line, flush=True)

    def _stop(self) -> None:
        if self._processes:
            self._tell(text("judge_serve.stopping"))
        until = time.monotonic() + _STOP_SECONDS
        for process in self._processes:
            process.signal(signal.SIGTERM)
        for process in self._processes:
            if not process.wait(until):
                process.signal(signal.SIGKILL)
                process.wait(until + _STOP_SECONDS)
        if self._database is not None:
            self._database.stop()
        if self._processes:
            self._tell(text("judge_serve.stopped"))


def _share_memory() -> None:
    """Keep objects that are never looked at again in pages that everybody shares."""
    gc.collect()
    gc.freeze()


def _check_free(host: str, port: int) -> None:
    """Say at once that an address cannot be had, before anything is started."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UsageError(
            "judge_serve.no_address", host=host, port=port, error=system_error(error)
        ) from None


def _answers(plan: Plan) -> bool:
    """Whether everything works, as somebody on this machine sees it; workers of other machines may come later."""
    connection = http.client.HTTPConnection(plan.local_host, plan.port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/health", headers={"Host": urlsplit(plan.url).netloc})
        answered = connection.getresponse().status
        return answered == http.client.OK or (
            not plan.workers and answered == http.client.SERVICE_UNAVAILABLE
        )
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
