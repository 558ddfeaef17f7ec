"""``doctor``: is this installation fit to run contests, and is the judge here well?"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from kakurenbo import __version__, registry
from kakurenbo.cli import output
from kakurenbo.cli.common import json_option, option
from kakurenbo.errors import UsageError
from kakurenbo.messages import text

_PACKAGES = ("numpy", "polars", "scipy", "scikit-learn", "numba")
_OF_THE_JUDGE = ("django", "granian", "procrastinate", "psycopg")


def _doctor(home: Path | None, every_file: bool, self_test: bool, as_json: bool) -> int:
    has_judge = all(importlib.util.find_spec(name) is not None for name in _OF_THE_JUDGE)
    if not has_judge and (home is not None or self_test):
        raise UsageError(text("judge_serve.not_installed"))
    found = list(_of_installation())
    if has_judge:
        found += _of_judge(home, every_file)
    if self_test:
        from kakurenbo.judge.operations.selftest_home import tested_apart

        found += tested_apart()
    if as_json:
        output.print_json({"checks": found})
    else:
        for entry in found:
            mark = text("cli.doctor_ok") if entry["ok"] else text("cli.doctor_fails")
            output.console().print(f"{mark} {_heading(str(entry['name']))}: {entry['detail']}", markup=False)
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


def _packages() -> str:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return ", ".join([f"kakurenbo {__version__}", *versions])


def _plugins() -> str:
    loaded = {group: [registry.load(group, name) for name in registry.names(group)] for group in registry.GROUPS}
    return text("cli.doctor_plugins", **{group: len(classes) for group, classes in loaded.items()})


def _store() -> str:
    from kakurenbo.datasets.store import imported_names, store_folder

    folder = store_folder()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(text("cli.doctor_no_store", folder=str(folder)))
    return text("cli.doctor_store", folder=str(folder), imported=imported_names() or text("cli.doctor_nothing"))


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
