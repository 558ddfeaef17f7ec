"""Three machines on this one: network namespaces with a judge, its database and its store in one, workers in two others.

All that the machines of workers share with the judge is what they reach by TCP; each has a folder of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.pq import PGconn, Ping
from tests.judge.waiting import PATIENCE, wait_until

from kakurenbo.judge.serve.credentials import SECRET_KEY, SECRET_KEY_ID
from kakurenbo.judge.serve.postgres import OWNER, Account, EmbeddedPostgres, _binaries

BUCKET, S3_PORT, DATABASE_PORT = "contest", 5000, 5432
WORKERS_PASSWORD = "of workers"
KEYS_TO_SECRETS = ("name-of-the-key-to-secrets", "text-of-the-key-to-secrets")
_CLONE_NEWNET = 0x40000000
_MARK = f"kk{os.getpid()}"


def skip_without_namespaces() -> None:
    """Say how to get what these tests need."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces are root's: run as root")
    missing = [tool for tool in ("ip", "setpriv", "unshare") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not there: apt-get install iproute2 util-linux")
    if subprocess.run(["ip", "netns", "add", f"{_MARK}probe"], capture_output=True).returncode:
        pytest.skip(
            "this machine lets nobody make network namespaces: give the container CAP_SYS_ADMIN and CAP_NET_ADMIN"
        )
    subprocess.run(["ip", "netns", "del", f"{_MARK}probe"], check=True)


class Machine:
    """A namespace with a link to the judge's, and the one command that runs in it.

    Parameters
    ----------
    name : str
        Its host name.
    number : int
        Of its link; 0 for the judge's machine, to which the others are linked.
    folder : Path
        Its own.
    """

    def __init__(self, name: str, number: int, folder: Path) -> None:
        self.name, self.number, self.home, self.log = name, number, folder / "home", folder / "log"
        self.space = f"{_MARK}{name}"
        folder.mkdir(mode=0o711)
        _ip("netns", "add", self.space)
        self._ip("link", "set", "lo", "up")
        self.process: subprocess.Popen[bytes] | None = None

    def link(self, judge: Machine) -> None:
        """A cable to the judge; there is no way from one machine of workers to another."""
        here, there = f"{_MARK}h{self.number}", f"{_MARK}j{self.number}"
        _ip(
            "link",
            "add",
            here,
            "netns",
            self.space,
            "type",
            "veth",
            "peer",
            "name",
            there,
            "netns",
            judge.space,
        )
        for machine, device, end in ((self, here, 2), (judge, there, 1)):
            machine._ip("address", "add", f"10.77.{self.number}.{end}/24", "dev", device)
            machine._ip("link", "set", device, "up")

    def plug(self, *, connected: bool) -> None:
        """Pull the cable, or put it back."""
        self._ip("link", "set", f"{_MARK}h{self.number}", "up" if connected else "down")

    @property
    def judges_address(self) -> str:
        """By which this machine reaches the judge."""
        return f"10.77.{self.number or 1}.1"

    def environment(self, account: str, password: str) -> dict[str, str]:
        """What is shared: the database and the store."""
        server = f"{self.judges_address}:{DATABASE_PORT}"
        return {
            "DATABASE_URL": f"postgresql://{account}:{quote(password)}@{server}/postgres",
            "KAKURENBO_JUDGE_S3_BUCKET": BUCKET,
            "AWS_ENDPOINT_URL_S3": f"http://{self.judges_address}:{S3_PORT}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            SECRET_KEY_ID: KEYS_TO_SECRETS[0],
            SECRET_KEY: KEYS_TO_SECRETS[1],
            "KAKURENBO_LANG": "en",
        }

    def command(self, *command: str) -> list[str]:
        """A command as it is run on this machine."""
        named = 'echo "$0" > /proc/sys/kernel/hostname; exec "$@"'
        return [
            "ip",
            "netns",
            "exec",
            self.space,
            "unshare",
            "--uts",
            "sh",
            "-c",
            named,
            self.name,
            *command,
        ]

    def serve(self, environment: Mapping[str, str], *arguments: str) -> None:
        """Start ``kakurenbo serve``."""
        command = self.command(
            sys.executable, "-m", "kakurenbo", "serve", "--home", str(self.home), *arguments
        )
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **environment}
            )

    def stop(self) -> None:
        """End what was started, in time."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            self.process.kill()
            self.process.wait()
            self.process = None

    def has_told(self, words: str) -> bool:
        """Whether it printed some words."""
        assert self.process is None or self.process.poll() is None, self.log.read_text()
        return words in self.log.read_text()

    def remove(self) -> None:
        self.stop()
        subprocess.run(["ip", "netns", "del", self.space], check=False)

    def _ip(self, *words: str) -> None:
        _ip("-netns", self.space, *words)


class Site:
    """The three machines."""

    def __init__(self, folder: Path) -> None:
        self.judge, *self.hosts = (
            Machine(name, number, folder / name)
            for number, name in enumerate(("judge", "one", "two"))
        )
        for host in self.hosts:
            host.link(self.judge)
        self._database = EmbeddedPostgres(folder / "database")
        self._sockets = folder / "database" / "run"
        self._server: subprocess.Popen[bytes] | None = None

    def start_database(self) -> None:
        """PostgreSQL on the judge's machine, for whoever has a password."""
        self._database._initialise()
        data = folder_of(self._database)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/16 scram-sha-256\n")
        account = Account.found()
        as_account = [
            "setpriv",
            f"--reuid={account.user}",
            f"--regid={account.group}",
            "--clear-groups",
        ]
        settings = (
            f"listen_addresses=*,port={DATABASE_PORT},unix_socket_directories={self._sockets},fsync=off"
        ).split(",")
        options = [word for setting in settings for word in ("-c", setting)]
        command = self.judge.command(
            *as_account, str(_binaries() / "postgres"), "-D", str(data), *options
        )
        self._server = subprocess.Popen(
            command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: PGconn.ping(self._database.address.encode()) == Ping.OK)

    @property
    def password(self) -> str:
        return self._database.password

    @property
    def dsn(self) -> str:
        return self._database.dsn

    def ask(self, query: str) -> list[tuple[object, ...]]:
        """Rows of the database, as its owner sees them, from outside of all namespaces."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            cursor = connection.execute(query)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def start_judge(self) -> None:
        self.judge.serve(self.judge.environment(OWNER, self.password), "--workers", "0")
        wait_until(lambda: self.judge.has_told("ready"), self.judge.log.read_text)
        self.ask(f"ALTER ROLE kakurenbo_worker LOGIN PASSWORD '{WORKERS_PASSWORD}'")

    def start_workers(self) -> None:
        """Start those that do not run."""
        for host in (one for one in self.hosts if one.process is None):
            host.log.unlink(missing_ok=True)
            host.serve(
                host.environment("kakurenbo_worker", WORKERS_PASSWORD),
                "--workers-only",
                "--workers",
                "1",
            )
        for host in self.hosts:
            wait_until(lambda host=host: host.has_told("wait for work"), host.log.read_text)  # type: ignore[misc]

    def remove(self) -> None:
        for machine in (*self.hosts, self.judge):
            machine.stop()
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(PATIENCE)
        for machine in (*self.hosts, self.judge):
            machine.remove()


@contextlib.contextmanager
def new_site() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as name:  # a short path: that of pytest may be too long for a socket
        folder = Path(name)
        folder.chmod(0o711)
        site = Site(folder)
        try:
            yield site
        finally:
            site.remove()


def folder_of(database: EmbeddedPostgres) -> Path:
    return database._data.resolve()


def enter(space: str) -> None:
    """Be on another machine from now on, as far as the network goes."""
    with Path("/run/netns", space).open("rb") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
