"""``doctor``: is this installation fit to run contests, and is the judge here well?"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from kakurenbo import __version__
from kakurenbo.cli import output
from kakurenbo.cli.common import json_option, option
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.methods import registry

_PACKAGES = ("numpy", "polars", "scipy", "scikit-learn", "numba")
_OF_THE_JUDGE = ("django", "granian", "procrastinate", "psycopg")
_INDENT = 4


def _doctor(home: Path | None, every_file: bool, self_test: bool, as_json: bool) -> int:
    has_judge = all(importlib.util.find_spec(name) is not None for name in _OF_THE_JUDGE)
    if not has_judge and (home is not None or self_test):
        raise UsageError(text("judge_serve.not_installed"))
    found = list(_of_installation())
    if has_judge:
        found += _of_judge(home, every_file)
    if self_test:
        found += _of_contests(quiet=as_json)
    if as_json:
        output.print_json({"checks": found})
    else:
        for entry in found:
            _print(entry)
    return output.DONE if all(entry["ok"] for entry in found) else output.FAILS_RULES


def _of_installation() -> Iterator[dict[str, Any]]:
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


def _of_judge(home: Path | None, every_file: bool) -> list[dict[str, Any]]:
    """Of the judge that is named, or of the one in the usual place; nothing where there is none."""
    import dataclasses

    from kakurenbo.judge.operations.doctor import Order, asked
    from kakurenbo.judge.serve.home import default_home

    folder = home or default_home()
    if home is None and not os.environ.get("DATABASE_URL") and not (folder / "secret-key").exists():
        return []
    return [dataclasses.asdict(finding) for finding in asked(Order(str(folder), every_file))]


def _of_contests(*, quiet: bool) -> list[dict[str, Any]]:
    """Of a throw-away contest of every rulebook; that takes minutes, so each step is told when it begins."""
    from kakurenbo.judge.operations.selftest_home import Step, tested_apart

    def tell(step: Step) -> None:
        if quiet:
            return
        told = text("doctor.test_step", rulebook=step.rulebook, number=step.number, of=step.of)
        print(f"{told}: {text(f'doctor.test_step.{step.step}')}", file=sys.stderr, flush=True)

    return tested_apart(tell)


def _print(entry: dict[str, Any]) -> None:
    """A finding; one that is longer than a line goes on below, indented."""
    console = output.console()
    mark = text("cli.doctor_ok") if entry["ok"] else text("cli.doctor_fails")
    line = Text(f"{mark} {_heading(str(entry['name']))}: {entry['detail']}")
    first, *more = line.wrap(console, console.width - _INDENT)
    for part in (first, *(Text(" " * _INDENT) + one for one in more)):
        console.print(part, no_wrap=True, overflow="ignore", crop=False)


def _packages() -> str:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return ", ".join([f"kakurenbo {__version__}", *versions])


def _plugins() -> str:
    loaded = {
        group: [registry.load(group, name) for name in registry.names(group)]
        for group in registry.GROUPS
    }
    return text("cli.doctor_plugins", **{group: len(classes) for group, classes in loaded.items()})


def _store() -> str:
    from kakurenbo.data.store import imported_names, store_folder

    folder = store_folder()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(text("cli.doctor_no_store", folder=str(folder)))
    return text(
        "cli.doctor_store",
        folder=str(folder),
        imported=imported_names() or text("cli.doctor_nothing"),
    )


def _heading(check: str) -> str:
    """What a check is called; a self-test names its rulebook behind a colon."""
    name, _, rulebook = check.partition(":")
    return f"{text(f'doctor.heading.{name}')}{f' {rulebook}' if rulebook else ''}"


def doctor() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        option("--home", code="doctor.option.home", type=click.Path(path_type=Path), metavar="DIR"),
        option("--all", "every_file", code="doctor.option.all", is_flag=True),
        option("--self-test", code="doctor.option.self_test", is_flag=True),
        json_option(),
    ]
    return click.Command("doctor", params=parameters, callback=_doctor, help=text("help.doctor"))
