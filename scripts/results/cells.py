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

from kakurenbo import registry

_LAYERS = ("rulebooks", "attacks", "anonymizers", "measures", "generators", "datasets")
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
    options = {name: value for name, value in table.variants[variant].items() if not str(value).startswith("/")}
    return _digest([table.rulebook, cls.version, options, table.data, _code_of(cls.__module__)])


def _code(group: str, text: str) -> list[str]:
    method = registry.build(group, text)
    plugins = [(group, registry.name_of(text)), *method.parts()]
    return sorted({_code_of(registry.load(*plugin).__module__) for plugin in plugins})


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@cache
def _code_of(module: str) -> str:
    """Digest of the source of a module and of the layers' modules that it imports, theirs included."""
    sources, open_ = {}, [module]
    while open_:
        name = open_.pop()
        if name in sources or name.endswith(_NO_RULES):
            continue
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        sources[name] = Path(spec.origin).read_text(encoding="utf-8")
        open_ += [found for found in _imports(sources[name]) if _is_module(found)]
    return _digest(sources)


def _imports(source: str) -> Iterator[str]:
    """Names that a source imports from the layers; some are modules, some are what stands in one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.startswith(tuple(f"kakurenbo.{layer}." for layer in _LAYERS)))


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a name in a module that is no package
        return False
