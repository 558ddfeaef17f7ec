"""Who is told that a step of an audit begins may also want to know that it has ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable


@runtime_checkable
class Watcher(Protocol):
    """Called with a step's name when it begins; several may run at a time."""

    def __call__(self, name: str, /) -> None: ...

    def ended(self, name: str) -> None:
        """The step is done."""


def ended(tell: Callable[[str], None], name: str) -> None:
    """Tell that a step is done, where somebody wants to know."""
    if isinstance(tell, Watcher):
        tell.ended(name)


@contextlib.contextmanager
def step(tell: Callable[[str], None], name: str) -> Iterator[None]:
    """Tell of a step that is done right here."""
    tell(name)
    yield
    ended(tell, name)
