"""Settings for the open Internet, and what people who call ``serve`` wrongly are told."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client
from tests.judge import making

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.contests.permissions import SHOWN_REHEARSAL
from kakurenbo.judge.serve import postgres, supervisor
from kakurenbo.judge.serve.credentials import Credentials
from kakurenbo.judge.serve.home import Home
from kakurenbo.judge.serve.plan import Plan
from kakurenbo.judge.serve.supervisor import Supervisor


def test_djangos_check_for_deployment_finds_nothing_under_https() -> None:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "kakurenbo.judge.serve.settings",
        "KAKURENBO_JUDGE_URL": "https://contest.example",
        "KAKURENBO_JUDGE_SECRET_KEY": "".join(chr(33 + n) for n in range(64)),
    }
    command = [sys.executable, "-m", "django", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "--url"),
        (["--url", "contest.example"], "https://contest.example"),
        (["--url", "https://contest.example/judge"], "without a path"),
        (["--url", "ftp://contest.example"], "https://contest.example"),
        (["--home", "/dev/null/x"], "--home"),
    ],
)
def test_a_wrong_call_ends_with_a_sentence_and_code_2(arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "kakurenbo", "serve", "--port", "8999", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "KAKURENBO_LANG": "en"},
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_a_static_files_address_changes_with_its_content(tmp_path: Path, settings: Any) -> None:
    from kakurenbo.judge.serve import static

    settings.STATICFILES_DIRS = [tmp_path]
    place = tmp_path / "x.css"
    seen = []
    for content in ("a", "b", "a"):
        place.write_text(content)
        static._version.cache_clear()
        seen.append(staticfiles_storage.url("x.css"))
    assert seen[0] == seen[2] != seen[1]
    assert seen[0].startswith("/static/x.css?v=")


def test_health_tells_nothing_but_what_works(client: Client, tmp_path: Path, settings: Any) -> None:
    settings.HOME = tmp_path
    assert client.post("/health").status_code == 405
    assert "content-security-policy" in {name.lower() for name in client.get("/health").headers}


def test_under_https_a_probe_on_this_machine_sees_how_the_judge_is_by_the_machines_own_name_and_nothing_else(
    client: Client, tmp_path: Path, settings: Any
) -> None:
    settings.HOME, settings.PUBLIC_URL = tmp_path, "https://contest.example"
    settings.ALLOWED_HOSTS, settings.METRICS_TOKEN = ["contest.example"], "a token of somebody"
    settings.SECURE_SSL_REDIRECT, settings.SECURE_PROXY_SSL_HEADER = (
        True,
        ("HTTP_X_FORWARDED_PROTO", "https"),
    )

    def status(path: str, host: str, peer: str = "127.0.0.1", **more: str) -> int:
        return client.get(path, headers={"host": host, **more}, REMOTE_ADDR=peer).status_code

    token = {"authorization": f"Bearer {settings.METRICS_TOKEN}"}
    for host in ("127.0.0.1:8020", "localhost", "[::1]:8020"):
        assert (status("/health", host), status("/metrics", host, **token)) == (503, 200)
        assert status("/metrics", host) == 404, "figures need the token all the same"
        assert (status("/", host), status("/api/v1/contests", host)) == (400, 400)
    assert status("/health", "127.0.0.1", "192.0.2.7") == 400
    assert status("/health", "evil.example") == 400
    assert status("/health", "[") == 400
    assert status("/metrics", "contest.example", **token) == 301


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8020"),
        ("0.0.0.0", "http://127.0.0.1:8020"),
        ("::", "http://[::1]:8020"),
    ],
)
def test_it_is_told_where_the_judge_listens_beside_how_people_reach_it(
    host: str,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(supervisor, "_answers", lambda _plan: True)
    Supervisor(Plan(tmp_path, host, 8020, "https://contest.example", 1), Credentials())._is_ready()
    said = capsys.readouterr().out
    assert "https://contest.example" in said
    assert f"listens at {url}, " in said
    Supervisor(
        Plan(tmp_path, "127.0.0.1", 8020, "http://127.0.0.1:8020", 1), Credentials()
    )._is_ready()
    assert "listens at" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "url",
    ["postgresql://nobody@127.0.0.1:1/judge", "no address at all", "postgresql://x:y@[::1/judge"],
)
def test_a_database_of_ones_own_that_cannot_be_reached_is_told_in_one_line(url: str) -> None:
    with pytest.raises(UsageError) as told:
        postgres.check_given(url)
    assert str(told.value).startswith("DATABASE_URL")
    assert "\n" not in str(told.value)


def test_a_database_of_ones_own_that_is_too_old_is_refused(
    embedded_database: postgres.EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.check_given(embedded_database.dsn)
    monkeypatch.setattr(postgres, "_OLDEST", 990000)
    with pytest.raises(UsageError, match="99"):
        postgres.check_given(embedded_database.dsn)


def test_a_folder_whose_database_another_postgresql_made_is_refused() -> None:
    with tempfile.TemporaryDirectory(prefix="kk") as folder:
        Path(folder).chmod(0o711)
        database = postgres.EmbeddedPostgres(Path(folder) / "home")
        (Path(folder) / "home" / "postgres" / "PG_VERSION").write_text("9\n")
        with pytest.raises(UsageError, match="PostgreSQL 9"):
            database.start()


def test_a_folder_that_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("no folder")
    with pytest.raises(UsageError) as told:
        Home(tmp_path).take()
    assert str(tmp_path) in str(told.value)
    assert "--home" in str(told.value)


@pytest.mark.parametrize(
    ("host", "url", "private"),
    [
        ("127.0.0.1", "http://127.0.0.1:8020", True),
        ("0.0.0.0", "http://contest.example", False),
        ("0.0.0.0", "https://contest.example", True),
        ("192.0.2.7", "http://192.0.2.7:8020", False),
    ],
)
def test_it_is_known_whether_passwords_travel_unencrypted(
    host: str, url: str, private: bool
) -> None:
    assert Plan(Path("home"), host, 8020, url, 2).is_private is private


def test_only_a_folder_that_began_as_a_demo_shows_its_rehearsals(tmp_path: Path) -> None:
    real, demo = Home(tmp_path / "real"), Home(tmp_path / "demo")
    for home, asked in ((real, False), (demo, True)):
        home.path.mkdir()
        assert home.is_demo(asked=asked) is asked
        home.secret_key()
    assert not real.is_demo(asked=True)
    assert demo.is_demo(asked=False)


@pytest.mark.django_db
def test_a_visitor_sees_the_rehearsal_of_a_demo_and_no_other(client: Client, settings: Any) -> None:
    rehearsed, other = (
        making.contest(rehearsal=True, slug=SHOWN_REHEARSAL),
        making.contest(rehearsal=True, slug="other"),
    )
    assert client.get(f"/contests/{rehearsed.slug}/").status_code == 404
    settings.SHOW_REHEARSALS = True
    assert client.get(f"/contests/{rehearsed.slug}/").status_code == 200
    assert f"/contests/{rehearsed.slug}/" in client.get("/").content.decode()
    assert client.get(f"/contests/{other.slug}/").status_code == 404
    assert f"/contests/{other.slug}/" not in client.get("/").content.decode()
