"""The fingerprint of a scorer: everything that a score depends on beside the files that were handed in.

It changes with the rulebook and its options, with any file of the packages that the rulebook is made of, with this project's
own code, and with the versions of the libraries that compute. No path, host name or time goes into it, so that two workers
with the same software have the same one.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from kakurenbo import __version__
from kakurenbo.arena.calls import MethodCall, as_text
from kakurenbo.methods import registry

_OWN = "kakurenbo"
_NOT_SCORING = ("cli", "arena", "judge", "proofs")
"""Parts of this project whose code changes no score."""
_NO_SCORES = re.compile(
    r"messages/\w+/(judge_|cli|click|help|usage|verification)|reports/(assets|templates)/"
)
"""Words of pages, commands and reports."""
_SCORING = ("judge/scoring/steps.py", "proofs/judging.py", "proofs/ranking.py")
"""The files of these parts that do."""
_LIBRARIES = (
    "llvmlite",
    "msgspec",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scikit-learn",
    "scipy",
)
_COMPILED = (".pyc", ".nbi", ".nbc", ".mo")


def call_of(described: Mapping[str, Any]) -> MethodCall:
    """The call that makes the rulebook of a request: ``name`` and ``options``."""
    options = {name: as_text(value) for name, value in described["options"].items()}
    return MethodCall.given("rulebooks", described["name"], options)


def fingerprint_of(described: Mapping[str, Any]) -> str:
    """The fingerprint of whoever scores by this rulebook with these options, here and now."""
    call = call_of(described)
    behind = {package: _package_digest(package) for package in sorted(_packages_behind(call))}
    made = [call.as_json(), behind, own_software()]
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


@cache
def own_software() -> dict[str, str]:
    """This project's code, and the versions of what it computes with, as they were when a process first asked."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {
        _OWN: _package_digest(_OWN),
        "version": __version__,
        "python": python,
        **_versions(_LIBRARIES),
    }


def _versions(names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _packages_behind(call: MethodCall) -> set[str]:
    """The packages of the rulebook's class, of those it inherits from, and of the methods that its options name."""
    method = call.make()
    classes = [type(method), *(registry.load(group, name) for group, name in method.parts())]
    modules = (base.__module__ for cls in classes for base in getattr(cls, "__mro__", (cls,)))
    return (
        {module.partition(".")[0] for module in modules}
        - {_OWN}
        - sys.stdlib_module_names
        - {"builtins"}
    )


@cache
def _package_digest(package: str) -> str:
    """Of every file of a package, whatever kind it is: tables that it brings along are part of what it computes."""
    digest = hashlib.sha256()
    for name, path in sorted(_files_of(package)):
        data = path.read_bytes()
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def _files_of(package: str) -> Iterator[tuple[str, Path]]:
    file = importlib.import_module(package).__file__
    if file is None:
        return
    root = Path(file)
    if root.name != "__init__.py":
        yield root.name, root
        return
    for path in root.parent.rglob("*"):
        name = path.relative_to(root.parent).as_posix()
        if path.is_file() and path.suffix not in _COMPILED and (package != _OWN or _scores(name)):
            yield name, path


def _scores(name: str) -> bool:
    """Whether a file of this project can change a score, or the words of a judging."""
    return name in _SCORING or (
        name.split("/")[0] not in _NOT_SCORING and not _NO_SCORES.match(name)
    )
