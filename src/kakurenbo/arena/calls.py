"""`MethodCall`: a method or rulebook by name with its parameters as texts, as jobs carry it and as content hashes see it."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kakurenbo.methods import registry
from kakurenbo.methods.parameters import make, parameters_of

# Layers of this package whose code cannot change what a job gives.
_WITHOUT_METHODS = ("cli", "arena", "judge", "reports")


@dataclass(frozen=True)
class MethodCall:
    """A registered plugin and its parameters.

    Attributes
    ----------
    group : str
        ``anonymizers``, ``attacks`` or ``rulebooks``.
    name : str
        Its registered name.
    parameters : tuple of (name, text)
        Those that differ from their defaults, in the order they are declared; of a rulebook also those that were given, because
        a contest's folder may have others.
    """

    group: str
    name: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, group: str, name: str, method: Any) -> MethodCall:
        """Return the call that makes ``method`` again."""
        explicit: Container[str] = ()
        if group == "rulebooks":
            name, explicit = registry.reference(type(method), name), method.given
        values = [
            (parameter, getattr(method, parameter.name))
            for parameter in parameters_of(type(method))
        ]
        texts = [
            (parameter.name, as_text(value))
            for parameter, value in values
            if value != parameter.default or parameter.name in explicit
        ]
        return cls(group, name, tuple(texts))

    @classmethod
    def given(cls, group: str, name: str, parameters: Mapping[str, str]) -> MethodCall:
        """Return a checked call from texts; raise ``UsageError`` or ``ParameterError`` where it cannot be made."""
        return cls.of(group, name, make(registry.find(group, name), parameters))

    @classmethod
    def parsed(cls, group: str, text: str) -> MethodCall:
        """Return a call from ``NAME:parameter=value,...``."""
        return cls.of(group, registry.name_of(text), registry.build(group, text, files=True))

    def make(self) -> Any:
        """Return the method itself."""
        return make(registry.find(self.group, self.name), dict(self.parameters))

    def shown_parameters(self, also: Container[str] = ()) -> dict[str, str]:
        """Return the parameters that differ from their defaults, and those named in ``also``."""
        texts = dict(self.parameters)
        return {
            parameter.name: texts.get(parameter.name, as_text(parameter.default))
            for parameter in parameters_of(registry.find(self.group, self.name))
            if parameter.name in texts or parameter.name in also
        }

    def text(self, also: Container[str] = ()) -> str:
        """Return the call as it is typed, ``NAME:parameter=value,...``; see `shown_parameters`."""
        settings = ",".join(f"{name}={text}" for name, text in self.shown_parameters(also).items())
        return f"{self.name}:{settings}" if settings else self.name

    def __str__(self) -> str:
        return self.text()

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": dict(self.parameters)}

    def identity(self) -> dict[str, Any]:
        """Return what a content hash covers: name, parameters, and the code behind them and all their parts."""
        return {
            **self.as_json(),
            "group": self.group,
            "code": sorted(map(code_digest, _modules_behind(self))),
        }


@cache
def _modules_behind(call: MethodCall) -> tuple[str, ...]:
    """Return a module of each package whose code decides: the plugin's, its methods', kakurenbo."""
    plugins = ((call.group, call.name), *call.make().parts())
    modules = (registry.find(*plugin).__module__ for plugin in plugins)
    packages = {module.partition(".")[0]: module for module in modules}
    return (*packages.values(), *(() if "kakurenbo" in packages else ("kakurenbo",)))


def as_text(value: object) -> str:
    """Return a parameter's value as ``Parameter.parse`` reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def code_digest(module: str) -> str:
    """Return SHA-256 of the source of a module's package: edited code is other code, whatever its version."""
    return _package_digest(module.partition(".")[0])


@cache
def _package_digest(package: str) -> str:
    file = importlib.import_module(package).__file__
    if file is None:
        return package
    root = Path(file)
    files = sorted(root.parent.rglob("*.py")) if root.name == "__init__.py" else [root]
    digest = hashlib.sha256()
    for path in files:
        name = path.relative_to(root.parent).as_posix()
        if package == "kakurenbo" and name.split("/")[0] in _WITHOUT_METHODS:
            continue
        data = path.read_bytes()
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()
