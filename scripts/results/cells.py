"""Finished cells: one JSON line each, found again by a digest of everything that they depend on."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scripts.results.tables import Column, ResultsTable

from kakurenbo.methods import registry

_RULES = ("rulebooks", "measures", "data")
_LAYERS = (*_RULES, "attacks", "anonymizers")
_NO_RULES = (".players", ".figures")  # who plays where nobody is named, and what figures are called


class Cells:
    """The store of a table: a file of JSON lines, of which a torn last one is ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found = dict(_lines(path)) if path.exists() else {}

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def get(self, key: str) -> Mapping[str, Any] | None:
        return self._found.get(key)

    def put(self, key: str, content: Mapping[str, Any]) -> None:
        """Keep a cell, before anything else is begun."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + json.dumps({"key": key, **content}) + "\n")
        self._found[key] = content


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            content = json.loads(line)
        except json.JSONDecodeError:  # a run was killed while it wrote
            continue
        yield content.pop("key"), content


def release_key(table: ResultsTable, anonymizer: str, draw: int) -> str:
    """Digest of all that a release and its figures depend on."""
    rules = [rules_key(table, variant) for variant in range(len(table.variants))]
    return _digest([rules, draw, anonymizer, _code("anonymizers", anonymizer)])


def cell_key(table: ResultsTable, anonymizer: str, column: Column, draw: int) -> str:
    """Digest of all that the credit of an attack depends on."""
    attack = [column.attack, column.told, _code("attacks", column.attack)]
    return _digest([release_key(table, anonymizer, draw), attack])


def rules_key(table: ResultsTable, variant: int) -> str:
    """Digest of the rules and the data of a variant."""
    cls = registry.load("rulebooks", table.rulebook)
    # A file of one's own is known by its digest, wherever it lies.
    options = {
        name: value
        for name, value in table.variants[variant].items()
        if not str(value).startswith("/")
    }
    return _digest(
        [table.rulebook, cls.version, options, table.data, _code_of(cls.__module__, _RULES)]
    )


def _code(group: str, text: str) -> list[str]:
    method = registry.build(group, text)
    plugins = [(group, registry.name_of(text)), *method.parts()]
    return sorted({_code_of(registry.load(*plugin).__module__) for plugin in plugins})


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@cache
def _code_of(module: str, layers: tuple[str, ...] = _LAYERS) -> str:
    """Digest of the source of a module and of the modules of these layers that it imports, theirs included.

    A package is not read whole where a name is imported from it: what else it offers does not matter.
    """
    sources, left = {}, [module]
    while left:
        name = left.pop()
        path = _source(name)
        if name in sources or path is None or name.endswith(_NO_RULES):
            continue
        sources[name] = path.read_text(encoding="utf-8")
        left += [found for found in _imports(sources[name]) if found.split(".")[1] in layers]
    return _digest(sources)


def _imports(source: str) -> Iterator[str]:
    """Modules of ours that a source imports from, be it by way of a package that offers their names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("kakurenbo."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kakurenbo."):
            for alias in node.names:
                yield _home(str(node.module), alias.name)


@cache
def _home(module: str, name: str) -> str:
    """The module in which a name stands that is imported from a module, which may be one itself or come from elsewhere."""
    if _source(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    path = _source(module)
    if path is None or path.name != "__init__.py":
        return module
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and any(
            (alias.asname or alias.name) == name for alias in node.names
        ):
            return _home(str(node.module), name)
    return module


@cache
def _source(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name in a module that is no package
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)
