"""``doctor``: is this installation fit to run contests?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable

import click

from kakurenbo import registry
from kakurenbo.cli import output
from kakurenbo.cli.common import json_option

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
            print(f"{'ok  ' if entry['ok'] else 'FAIL'} {entry['name']}: {entry['detail']}", file=sys.stdout)
    return output.DONE if all(entry["ok"] for entry in found) else output.FAILS_RULES


def _plugins() -> str:
    loaded = {group: [registry.load(group, name) for name in registry.names(group)] for group in registry.GROUPS}
    return ", ".join(f"{len(classes)} {group}" for group, classes in loaded.items())


def _store() -> str:
    from kakurenbo.datasets.store import imported_names, store_folder

    folder = store_folder()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        raise PermissionError(f"{folder} cannot be written; set KAKURENBO_HOME to a folder that can")
    return f"{folder}; imported: {', '.join(imported_names()) or 'nothing (embedded statistics are used)'}"


doctor = click.Command("doctor", params=[json_option], callback=_doctor, help="Check this installation.")
