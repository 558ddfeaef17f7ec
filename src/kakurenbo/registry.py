"""Anonymizers, attacks and rulebooks by name, found through entry points.

The built-in ones are declared in ``pyproject.toml`` like anybody else's; a name declared twice is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from kakurenbo.errors import KakurenboError, UsageError

GROUPS = ("anonymizers", "attacks", "rulebooks")


class DuplicateName(KakurenboError):
    """Two installed packages declare the same plugin name."""


def names(group: str) -> tuple[str, ...]:
    """The installed names of a group (``"anonymizers"``, ``"attacks"`` or ``"rulebooks"``), sorted."""
    return tuple(sorted(_declared(group)))


def load(group: str, name: str) -> Any:
    """The class or object that is registered as ``name``.

    Raises
    ------
    UsageError
        When there is none, with the nearest names.
    """
    declared = _declared(group)
    if name not in declared:
        near = difflib.get_close_matches(name, declared, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(sorted(declared))}"
        raise UsageError(f"no {group.rstrip('s')} is called {name!r}; {hint}")
    return declared[name].load()


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
                f"the {group.rstrip('s')} name {point.name!r} is declared twice: {other.value} and {point.value}; "
                "uninstall or rename one of the two"
            )
    return MappingProxyType(found)
