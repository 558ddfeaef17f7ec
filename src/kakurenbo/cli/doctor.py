"""``doctor``: is this installation fit to run contests?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Callable

import click

from kakurenbo import registry
from kakurenbo.cli import output
from kakurenbo.cli.common import json_option
from kakurenbo.messages import text

_PACKAGES = ("numpy", "polars", "scipy", "scikit-learn", "numba")


def _doctor(as_json: bool) -> int:
    checks: dict[str, Callable[[], str]] = {
        "python": platform.python_version,
        "processors": lambda: str(os.cpu_count()),
        "packages": lambda: ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES),
        "plugins": _plugins,
        "store": _store,
    }
    found = []
    for name, check in checks.items():
        try:
            found.append({"name": name, "ok": True, "detail": check()})
        except Exception as error:  # a check-up reports whatever is wrong
            found.append({"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"})
    if as_json:
        output.print_json({"checks": found})
    else:
        for entry in found:
            mark = text("cli.doctor_ok") if entry["ok"] else text("cli.doctor_fails")
            output.console().print(f"{mark} {_heading(str(entry['name']))}: {entry['detail']}", markup=False)
    return output.DONE if all(entry["ok"] for entry in found) else output.FAILS_RULES


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
    headings = {
        "python": "cli.doctor_python",
        "processors": "cli.doctor_processors",
        "packages": "cli.doctor_packages",
        "plugins": "cli.doctor_methods",
        "store": "cli.doctor_folder",
    }
    return text(headings[check])


def doctor() -> click.Command:
    """The verb."""
    return click.Command("doctor", params=[json_option()], callback=_doctor, help=text("help.doctor"))
