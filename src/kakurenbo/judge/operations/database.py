"""The database of a judge as a whole: found where it runs or started for the while, dumped at one moment, loaded again."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.manifest import Tree
from kakurenbo.judge.serve.postgres import EmbeddedPostgres, binary, check_given
from kakurenbo.proofs import Tree as MerkleTree

_TABLES_OF_A_JUDGE = "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'secret')"


@contextmanager
def running_database(home: Path) -> Iterator[str]:
    """How to reach the database of a judge that runs, or that is started for as long as this lasts."""
    given = os.environ.get("DATABASE_URL")
    if given:
        check_given(given)
        yield given
        return
    if not (home / "postgres" / "PG_VERSION").is_file():
        raise UsageError("backup.no_judge", home=str(home))
    embedded = EmbeddedPostgres(home)
    with _taken(home) as alone:
        if not alone:
            check_given(embedded.dsn)
            yield embedded.dsn
            return
        embedded.start()
        try:
            yield embedded.dsn
        finally:
            embedded.stop()


@contextmanager
def _taken(home: Path) -> Iterator[bool]:
    """Whether the folder could be taken, since no judge runs in it; it is kept from one meanwhile."""
    lock = os.open(home / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(lock)


@dataclass(frozen=True)
class Moment:
    """The database at one moment; nothing waits for whoever looks at it.

    Attributes
    ----------
    at : str
    postgres : str
        Version of the server.
    trees : tuple of Tree
    open_blobs, secret_blobs : dict of str to int
        What the two stores must hold, by digest, and the sizes.
    """

    dsn: str
    snapshot: str
    at: str
    postgres: str
    trees: tuple[Tree, ...]
    open_blobs: dict[str, int]
    secret_blobs: dict[str, int]

    def dump(self, place: Path) -> None:
        """Everything in it, as ``pg_restore`` reads it; without accounts and rights, which each start makes anew."""
        what = (
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            "--no-policies",
            f"--snapshot={self.snapshot}",
        )
        _run("pg_dump", self.dsn, *what, f"--file={place}")


@contextmanager
def moment_of(dsn: str) -> Iterator[Moment]:
    """The database as it is now, for as long as this lasts."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        if not _value(connection, "SELECT to_regclass('public.trust_logentry') IS NOT NULL"):
            raise UsageError("backup.no_tables")
        at = _value(connection, "SELECT now()").isoformat()
        snapshot = _value(connection, "SELECT pg_export_snapshot()")
        version = str(connection.info.server_version // 10000)
        open_blobs = _sizes(connection, "SELECT digest, size FROM submissions_blob ORDER BY digest")
        secret_blobs = _sizes(
            connection, "SELECT DISTINCT digest, size FROM secret.file ORDER BY digest"
        )
        yield Moment(dsn, snapshot, at, version, _trees(connection), open_blobs, secret_blobs)


def trees_of(dsn: str) -> tuple[Tree, ...]:
    """The logs as they are now."""
    with psycopg.connect(dsn) as connection:
        return _trees(connection)


def check_empty(dsn: str) -> None:
    """Refuse a database that has something in it."""
    with psycopg.connect(dsn) as connection:
        if _value(connection, _TABLES_OF_A_JUDGE):
            raise UsageError("restore.database_not_empty")


def load(dsn: str, dump: Path) -> None:
    """Put a dump into an empty database, all of it or nothing."""
    what = (
        "--exit-on-error",
        "--single-transaction",
        "--no-owner",
        "--no-privileges",
        "--no-policies",
    )
    _run("pg_restore", dsn, *what, str(dump))


def _trees(connection: psycopg.Connection[Any]) -> tuple[Tree, ...]:
    trees: dict[str, MerkleTree] = {}
    with connection.cursor(name="leaves") as cursor:
        cursor.execute(
            "SELECT slug, leaf FROM contests_contest contest LEFT JOIN trust_logentry entry ON entry.contest_id = contest.id"
            " ORDER BY slug, number"
        )
        for slug, leaf in cursor:
            tree = trees.setdefault(slug, MerkleTree())
            if leaf is not None:
                tree.append(bytes(leaf))
    return tuple(Tree(slug, len(tree), tree.root().hex()) for slug, tree in trees.items())


def _sizes(connection: psycopg.Connection[Any], query: str) -> dict[str, int]:
    return {str(digest): int(size) for digest, size in connection.execute(query)}


def _value(connection: psycopg.Connection[Any], query: str) -> Any:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def _run(program: str, dsn: str, *arguments: str) -> None:
    """A program of PostgreSQL; the password goes by its environment, which nobody else reads."""
    password = conninfo_to_dict(dsn).get("password")
    environment = {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}
    known = {
        name: value
        for name, value in conninfo_to_dict(dsn).items()
        if name != "password" and value is not None
    }
    command = [
        str(binary(program)),
        "--no-password",
        f"--dbname={make_conninfo('', **known)}",
        *arguments,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        told = [line for line in done.stderr.strip().splitlines() if "error" in line.lower()] or [
            "?"
        ]
        raise UsageError("backup.program_failed", program=program, error=told[0])
