"""``judge serve``, ``backup``, ``restore`` and ``doctor``: the platform on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import ipaddress
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import click

from kakurenbo import __version__
from kakurenbo.cli.options import JSON, Group, Option, argument, command, integer, typed
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import language, text
from kakurenbo.methods import registry

NEEDED = ("django", "granian", "procrastinate", "psycopg")
_PACKAGES = ("numpy", "polars", "scipy", "scikit-learn", "numba")
_STORE, _DATABASE = "KAKURENBO_JUDGE_S3_BUCKET", "DATABASE_URL"
_MAX_CLOCK_SECONDS = 5.0  # difference of a worker's clock to the database's, which the log shows
_WEB_OPTIONS = ("host", "port", "url", "demo", "metrics_token_file", "retain_days")
_FOLDER = click.Path(path_type=Path)
_HOME = Option("--home", code="judge_serve.option.home", type=_FOLDER, metavar="DIR")
_INDENT = 4


def _is_installed() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in NEEDED)


def _check_installed() -> None:
    if not _is_installed():
        raise UsageError("judge_serve.not_installed")
    if os.environ.get(_STORE) and importlib.util.find_spec("storages") is None:
        raise UsageError("judge_serve.no_s3")


def _home(home: Path | None) -> Path:
    from kakurenbo.judge.serve.home import default_home

    return home or default_home()


# -- serve -----------------------------------------------------------------------------------------


def _serve_option(name: str, **settings: Any) -> Option:
    return Option(f"--{name}", code=f"judge_serve.option.{name}", **settings)


@command(
    "serve",
    _HOME,
    _serve_option("host", default="127.0.0.1", show_default=True),
    _serve_option("port", type=integer(1, 65535), default=8020, show_default=True),
    _serve_option("url", default="", metavar="URL"),
    _serve_option("workers", type=integer(0, 64), default=2, show_default=True),
    _serve_option("workers-only", is_flag=True),
    _serve_option("demo", is_flag=True),
    _serve_option("log", type=click.Choice(("text", "json")), default="text", show_default=True),
    _serve_option("metrics-token-file", type=_FOLDER, metavar="FILE"),
    _serve_option(
        "retain-days", type=integer(1, 3650), default=30, show_default=True, metavar="DAYS"
    ),
    about="judge_serve.help",
)
def serve(
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
    _check_installed()
    if workers_only:
        _check_workers_only(workers)
    from kakurenbo.judge.serve.credentials import set_apart
    from kakurenbo.judge.serve.plan import Plan

    address = _address(url, host, port)
    plan = Plan(
        _home(home),
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
        plan.metrics_token()  # reports a file that cannot be read before anything starts
    environment, credentials = set_apart(os.environ)
    check_database(workers_only)
    sys.stdout.flush()
    # The same process goes on as the supervisor: who started it watches the right one.
    program = [sys.executable, "-P", "-m", "kakurenbo.judge.serve", plan.as_text(), credentials]
    os.execve(sys.executable, program, environment)


def _check_workers_only(workers: int) -> None:
    """Refuse what makes no sense for workers of a judge on another machine."""
    for name in _WEB_OPTIONS:
        if typed(name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError("judge_serve.workers_only_takes_no", option=option)
    if not workers:
        raise UsageError("judge_serve.workers_only_none")
    if not os.environ.get(_DATABASE):
        raise UsageError("judge_serve.workers_only_no_database")
    if not os.environ.get(_STORE):
        raise UsageError("judge_serve.workers_only_no_store")


def check_database(workers_only: bool) -> None:
    """Report that a database cannot be used before anything is started."""
    if not os.environ.get(_DATABASE):
        return
    from kakurenbo.judge.serve.postgres import check_given

    ahead = abs(check_given(os.environ[_DATABASE]))
    if workers_only and ahead > _MAX_CLOCK_SECONDS:
        shown = {"seconds": round(ahead), "limit": round(_MAX_CLOCK_SECONDS)}
        raise UsageError("judge_serve.workers_clock", **shown)


def _address(url: str, host: str, port: int) -> str:
    """Return the address at which people reach the judge."""
    if url:
        parts = urlsplit(url)
        has_more = parts.path.strip("/") or parts.query
        if parts.scheme not in ("http", "https") or not parts.hostname or has_more:
            raise UsageError("judge_serve.bad_url", url=url)
        return f"{parts.scheme}://{parts.netloc}"
    try:
        is_every_address = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        is_every_address = False
    if is_every_address:
        raise UsageError("judge_serve.needs_url", host=host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


# -- backup and restore ----------------------------------------------------------------------------


@command(
    "backup",
    _HOME,
    click.Argument(["new_backup"], type=_FOLDER, metavar="OUT"),
    JSON,
)
def backup(home: Path | None, new_backup: Path, as_json: bool) -> None:
    _check_installed()
    import msgspec

    from kakurenbo.cli import output
    from kakurenbo.judge.operations.backup import back_up
    from kakurenbo.judge.operations.manifest import OPEN_FOLDER, SECRET_FOLDER
    from kakurenbo.reports.numbers import counted

    made = back_up(_home(home), new_backup)
    folders = [part.name.partition("/")[0] for part in made.parts]
    files, secrets = folders.count(OPEN_FOLDER), folders.count(SECRET_FOLDER)
    size, trees = new_backup.stat().st_size, msgspec.to_builtins(made.trees)
    if as_json:
        content = {
            "out": str(new_backup),
            "size": size,
            "made_at": made.made_at,
            "files": files,
            "secrets": secrets,
            "trees": trees,
        }
        output.print_json(content)
        return
    shown = {
        "files": counted(files + secrets, "file", language()),
        "megabytes": f"{size / 1e6:.1f}",
    }
    output.print_line(text("backup.done", out=str(new_backup), at=made.made_at, **shown))
    _print_trees(trees)
    output.print_line(text("backup.holds_secrets", out=str(new_backup)))


@command("restore", argument("backup_file", metavar="BACKUP"), _HOME, JSON)
def restore(backup_file: Path, home: Path | None, as_json: bool) -> None:
    _check_installed()
    import msgspec

    from kakurenbo.cli import output
    from kakurenbo.judge.operations.restore import restore as restore_judge

    place = _home(home)
    restored = restore_judge(backup_file, place)
    trees = msgspec.to_builtins(restored.trees)
    if as_json:
        output.print_json({"home": str(place), "made_at": restored.made_at, "trees": trees})
        return
    output.print_line(text("restore.done", home=str(place), at=restored.made_at))
    _print_trees(trees)
    output.print_line(text("restore.next", home=str(place)))


def _print_trees(trees: Sequence[Mapping[str, Any]]) -> None:
    """Print the log of each contest in a line."""
    from kakurenbo.cli import output

    for tree in trees:
        output.print_line(text("backup.tree", **tree))


# -- doctor ----------------------------------------------------------------------------------------


@command(
    "doctor",
    Option("--home", code="doctor.option.home", type=_FOLDER, metavar="DIR"),
    Option("--all", "every_file", code="doctor.option.all", is_flag=True),
    Option("--self-test", code="doctor.option.self_test", is_flag=True),
    JSON,
)
def doctor(home: Path | None, every_file: bool, self_test: bool, as_json: bool) -> int:
    from kakurenbo.cli import output

    has_judge = _is_installed()
    if not has_judge and (home is not None or self_test):
        raise UsageError("judge_serve.not_installed")
    checks = list(_check_installation())
    if has_judge:
        checks += check_judge(home, every_file)
    if self_test:
        checks += _check_contests(quiet=as_json)
    if as_json:
        output.print_json({"checks": checks})
    else:
        for check in checks:
            _print_check(check)
    return output.DONE if all(check["ok"] for check in checks) else output.FAILS_RULES


def _check_installation() -> Iterator[dict[str, Any]]:
    checks: dict[str, Callable[[], str]] = {
        "python": platform.python_version,
        "processors": lambda: str(os.cpu_count()),
        "packages": _packages,
        "plugins": _plugins,
        "store": _store,
    }
    for name, check in checks.items():
        try:
            yield {"name": name, "ok": True, "detail": check()}
        except Exception as error:  # a check-up reports whatever is wrong
            yield {"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"}


def check_judge(home: Path | None, every_file: bool) -> list[dict[str, Any]]:
    """Check the judge that is named, or the one in the usual place, if there is one."""
    import dataclasses

    from kakurenbo.judge.operations.doctor import Order, asked

    folder = _home(home)
    is_here = os.environ.get(_DATABASE) or (folder / "secret-key").exists()
    if home is None and not is_here:
        return []
    return [dataclasses.asdict(finding) for finding in asked(Order(str(folder), every_file))]


def _check_contests(*, quiet: bool) -> list[dict[str, Any]]:
    """Check a throw-away contest of every rulebook, which takes minutes; announce each step."""
    from kakurenbo.judge.operations.selftest_home import Step, tested_apart

    def tell(step: Step) -> None:
        if quiet:
            return
        shown = {"rulebook": step.rulebook, "number": step.number, "of": step.of}
        line = f"{text('doctor.test_step', **shown)}: {text(f'doctor.test_step.{step.step}')}"
        print(line, file=sys.stderr, flush=True)

    return tested_apart(tell)


def _print_check(check: Mapping[str, Any]) -> None:
    """Print a check; what is longer than a line goes on below, indented."""
    from rich.text import Text

    from kakurenbo.cli.terminal import console

    out = console()
    # A self-test names its rulebook behind a colon.
    name, _, rulebook = str(check["name"]).partition(":")
    heading = f"{text(f'doctor.heading.{name}')} {rulebook}".rstrip()
    mark = text("cli.doctor_ok" if check["ok"] else "cli.doctor_fails")
    line = Text(f"{mark} {heading}: {check['detail']}")
    first, *rest = line.wrap(out, out.width - _INDENT)
    for part in (first, *(Text(" " * _INDENT) + part for part in rest)):
        out.print(part, no_wrap=True, overflow="ignore", crop=False)


def _packages() -> str:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return ", ".join([f"kakurenbo {__version__}", *versions])


def _plugins() -> str:
    counts = {}
    for group in registry.GROUPS:
        counts[group] = len([registry.load(group, name) for name in registry.names(group)])
    return text("cli.doctor_plugins", **counts)


def _store() -> str:
    from kakurenbo.data.store import imported_names, store_folder

    folder = store_folder()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(text("cli.doctor_no_store", folder=str(folder)))
    imported = imported_names() or text("cli.doctor_nothing")
    return text("cli.doctor_store", folder=str(folder), imported=imported)


judge = Group("judge", [serve, backup, restore, doctor])
