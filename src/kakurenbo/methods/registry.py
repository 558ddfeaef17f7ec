"""Anonymizers, attacks and rulebooks by name, found through entry points.

The built-in ones are declared in ``pyproject.toml`` like anybody else's; a name declared twice is an error.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any

from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import Method, make, parameters_of

_files: dict[str, str] = {}  # of modules that `find` loaded, by name
GROUPS = ("anonymizers", "attacks", "rulebooks")


class DuplicateName(KakurenboError):
    """Two installed packages declare the same plugin name."""


def names(group: str) -> tuple[str, ...]:
    """Return the installed names of a group (``"anonymizers"``, ``"attacks"`` or ``"rulebooks"``), sorted."""
    return tuple(sorted(_declared(group)))


def load(group: str, name: str) -> Any:
    """Load the class or object that is registered as ``name``.

    Raises
    ------
    UsageError
        When there is none, with the nearest names.
    """
    declared = _declared(group)
    if name not in declared:
        near = nearest_name(name, declared)
        # Methods are many, and most of them play other contests.
        hint = Message("error.listed_by", {"command": f"kakurenbo list {group}"})
        if near:
            hint = Message("error.near", {"name": repr(near)})
        elif group == "rulebooks":
            hint = Message("error.there_are", {"names": sorted(declared)})
        kind = Message(f"error.{group.rstrip('s')}")
        raise UsageError("error.no_such_method", kind=kind, name=repr(name), hint=hint)
    return declared[name].load()


def is_file(name: str) -> bool:
    """Return whether a name is a class in a file, such as ``./my_attack.py:Copies``."""
    return name.partition(":")[0].endswith(".py")


def find(group: str, name: str) -> Any:
    """Return the class that is registered as ``name``, or the class of a file ``FILE.py:CLASS``.

    This runs the file. Use :func:`load` for names that somebody else wrote, such as a declared
    mechanism in a questionnaire.
    """
    if not is_file(name):
        return load(group, name)
    file, _, class_name = name.partition(":")
    path = Path(file).resolve()
    try:
        data = path.read_bytes()
    except OSError:
        raise UsageError("usage.no_place", path=file) from None
    found = getattr(_module(path, hashlib.sha256(data).hexdigest()), class_name, None)
    if not isinstance(found, type) or not issubclass(found, _base(group)):
        kind = Message(f"expects.class.{group}")
        raise UsageError("usage.no_class", file=file, name=class_name, kind=kind)
    return found


class _SourceLoader(SourceFileLoader):
    """Load a file without bytecode: a cache knows seconds and sizes, and misses a quick edit."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def reference(method: type, name: str) -> str:
    """Return the text by which :func:`find` finds a class: ``name``, or ``FILE.py:CLASS`` of one in a file."""
    path = _files.get(method.__module__)
    return f"{path}:{method.__qualname__}" if path else name


def line_in_method_file(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of the last call in a file of :func:`find` that an error came through."""
    paths = set(_files.values())
    frames = traceback.extract_tb(error.__traceback__)
    calls = [(frame.filename, frame.lineno or 0) for frame in frames if frame.filename in paths]
    return calls[-1] if calls else None


@cache
def _module(path: Path, digest: str) -> Any:
    """Load a file as a module; a file that changed is another module."""
    name = f"{path.stem}_{digest[:16]}"
    loader = _SourceLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    _files[name] = str(path)
    sys.modules[name] = module  # dataclasses look up their module
    try:
        loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        shown = {"file": str(path), "error": f"{type(error).__name__}: {error}"}
        raise UsageError("usage.file_fails", **shown) from error
    return module


def _base(group: str) -> type:
    from kakurenbo.methods import base  # loads tables, which listings do without

    return {"anonymizers": base.Anonymizer, "attacks": base.Attack}.get(group, Method)


def nearest_name(typed: str, known: Iterable[str]) -> str:
    """Return the known name that was probably meant, or an empty text. Letters in another order are nearer than other letters.

    Examples
    --------
    >>> nearest_name("rpr", ["rr", "rrp"]), nearest_name("keny", ["kanony", "rr"]), nearest_name("zzz", ["rr"])
    ('rrp', 'kanony', '')
    """
    names, letters = {name.casefold(): name for name in sorted(known)}, sorted(typed.casefold())
    swapped = [name for name in names if sorted(name) == letters]
    close = difflib.get_close_matches
    found = close(typed.casefold(), swapped, n=1, cutoff=0) or close(typed.casefold(), names, n=1)
    return names[found[0]] if found else ""


def package(group: str, name: str) -> str:
    """Return name and version of the installed package that declares a plugin."""
    if is_file(name):
        return ""
    distribution = _declared(group)[name].dist
    return f"{distribution.name} {distribution.version}" if distribution is not None else ""


def target(group: str, name: str) -> str:
    """Return module and class of a registered name."""
    return _declared(group)[name].value


def build(group: str, text: str, *, files: bool = False) -> Any:
    """Make a method from one line of text: ``NAME`` or ``NAME:parameter=value,...``.

    A part without ``=`` belongs to the list before it: ``rr:p=0.8,columns=age,sex``. With
    ``files`` the name may be ``FILE.py:CLASS``; see :func:`find`.
    """
    cls = (find if files else load)(group, name_of(text))
    return make(cls, settings_of(text))


def settings_of(text: str) -> dict[str, str]:
    """Return values by parameter, as they are written; a part without ``=`` belongs to the list before it.

    Raises
    ------
    UsageError
        Where a first part has no ``=``.

    Examples
    --------
    >>> settings_of("kanony:k=2,columns=sex,age")
    {'k': '2', 'columns': 'sex,age'}
    """
    found: dict[str, str] = {}
    last = ""
    for part in filter(None, text.removeprefix(name_of(text)).removeprefix(":").split(",")):
        key, equals, value = part.partition("=")
        if equals:
            last, found[key.strip()] = key.strip(), value.strip()
        elif last:
            found[last] += f",{part.strip()}"
        else:
            raise UsageError("error.how_to_call", at=repr(text), name=name_of(text))
    return found


def name_of(text: str) -> str:
    """Return the registered name in a text that :func:`build` takes.

    Examples
    --------
    >>> name_of("rr:p=0.8,columns=age,sex"), name_of("./my_attack.py:Copies:share=0.5")
    ('rr', './my_attack.py:Copies')
    """
    name, _, rest = text.strip().partition(":")
    return f"{name}:{rest.partition(':')[0]}".strip() if is_file(text.strip()) else name.strip()


def describe(method: Any) -> str:
    """Return the text from which :func:`build` makes the same method again, without its registered name."""
    parts = []
    for described in parameters_of(type(method)):
        value = getattr(method, described.name)
        if value != described.default:
            parts.append(
                f"{described.name}={','.join(value) if isinstance(value, tuple) else value}"
            )
    return ",".join(parts)


@cache
def _declared(group: str) -> Mapping[str, EntryPoint]:
    return unique_by_name(group, entry_points(group=f"kakurenbo.{group}"))


def unique_by_name(group: str, points: Any) -> Mapping[str, EntryPoint]:
    """Entry points by name; the same target declared twice (an editable install) counts once."""
    found: dict[str, EntryPoint] = {}
    for point in points:
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise DuplicateName(
                "error.declared_twice",
                kind=Message(f"error.{group.rstrip('s')}"),
                name=repr(point.name),
                one=other.value,
                other=point.value,
            )
    return MappingProxyType(found)
