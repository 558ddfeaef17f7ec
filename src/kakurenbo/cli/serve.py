"""``serve``: hold contests among people, on a web server that this one command starts."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import click

from kakurenbo.cli import streams
from kakurenbo.cli.given import given_options
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text

_PORT = 8020
_NEEDED = ("django", "granian", "procrastinate", "psycopg")
_STORE, _DATABASE = "KAKURENBO_JUDGE_S3_BUCKET", "DATABASE_URL"
_CLOCK_SECONDS = 5.0  # so far may a machine of workers be from the database's time: what happens is logged with it
_OF_THE_WEB = ("host", "port", "url", "demo", "metrics_token_file", "retain_days")


def check_installed() -> None:
    """Refuse to go on where packages of the judge are missing."""
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise UsageError(text("judge_serve.not_installed"))
    if os.environ.get(_STORE) and importlib.util.find_spec("storages") is None:
        raise UsageError(text("judge_serve.no_s3"))


def home_option() -> click.Option:
    """``--home``."""
    return _option("home", type=click.Path(path_type=Path), metavar="DIR")


def _serve(
    home: Path | None,
    host: str,
    port: int,
    url: str,
    workers: int,
    demo: bool,
    workers_only: bool,
    log: str,
    metrics_token_file: Path | None,
    retain_days: int,
) -> NoReturn:
    check_installed()
    if workers_only:
        _check_workers_only(workers)
    from kakurenbo.judge.serve.credentials import set_apart
    from kakurenbo.judge.serve.home import default_home
    from kakurenbo.judge.serve.plan import Plan

    address = _address(url, host, port)
    plan = Plan(
        home or default_home(),
        host,
        port,
        address,
        workers,
        demo,
        workers_only,
        log,
        metrics_token_file,
        retain_days,
    )
    if metrics_token_file is not None:
        plan.metrics_token()  # so that a file that cannot be read is told before anything starts
    environment, credentials = set_apart(os.environ)
    _check_database(workers_only)
    streams.flush_output()
    # The same process goes on as the supervisor: whoever started it watches the right one.
    program = [sys.executable, "-P", "-m", "kakurenbo.judge.serve", plan.as_text(), credentials]
    os.execve(sys.executable, program, environment)


def _check_workers_only(workers: int) -> None:
    """Refuse what makes no sense for workers of a judge on another machine, with which they share database and store."""
    if given := given_options(_OF_THE_WEB):
        raise UsageError(text("judge_serve.workers_only_takes_no", option=given[0]))
    if not workers:
        raise UsageError(text("judge_serve.workers_only_none"))
    if not os.environ.get(_DATABASE):
        raise UsageError(text("judge_serve.workers_only_no_database"))
    if not os.environ.get(_STORE):
        raise UsageError(text("judge_serve.workers_only_no_store"))


def _check_database(workers_only: bool) -> None:
    """Say at once, before anything is started, that a database of one's own cannot be used."""
    if not os.environ.get(_DATABASE):
        return
    from kakurenbo.judge.serve.postgres import check_given

    ahead = check_given(os.environ[_DATABASE])
    if workers_only and abs(ahead) > _CLOCK_SECONDS:
        raise UsageError(
            text(
                "judge_serve.workers_clock", seconds=round(abs(ahead)), limit=round(_CLOCK_SECONDS)
            )
        )


def _address(url: str, host: str, port: int) -> str:
    """How people reach the judge: as given, else where it listens."""
    if url:
        parts = urlsplit(url)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.path.strip("/")
            or parts.query
        ):
            raise UsageError(text("judge_serve.bad_url", url=url))
        return f"{parts.scheme}://{parts.netloc}"
    if _is_every_address(host):
        raise UsageError(text("judge_serve.needs_url", host=host))
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _option(name: str, **settings: Any) -> click.Option:
    # ``common.option`` comes with libraries of tables, whose loading would be a second of the start.
    return click.Option([f"--{name}"], help=text(f"judge_serve.option.{name}"), **settings)


def serve() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        home_option(),
        _option("host", default="127.0.0.1", show_default=True),
        _option("port", type=click.IntRange(1, 65535), default=_PORT, show_default=True),
        _option("url", default="", metavar="URL"),
        _option("workers", type=click.IntRange(0, 64), default=2, show_default=True),
        _option("workers-only", is_flag=True),
        _option("demo", is_flag=True),
        _option("log", type=click.Choice(("text", "json")), default="text", show_default=True),
        _option("metrics-token-file", type=click.Path(path_type=Path), metavar="FILE"),
        _option(
            "retain-days",
            type=click.IntRange(1, 3650),
            default=30,
            show_default=True,
            metavar="DAYS",
        ),
    ]
    return click.Command("serve", params=parameters, callback=_serve, help=text("judge_serve.help"))
