"""Readers called for what they return and for what they refuse, beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

from kakurenbo.core import InputError, Problem, Problems, collect_notices

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class Read(Generic[T]):
    """A value that was read, and what was put right on the way."""

    value: T
    notices: tuple[Problem, ...] = ()


def attempt(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Read[T] | Problems:
    """Call a reader; return its value with the notices, or the problems of its InputError."""
    try:
        with collect_notices() as notices:
            value = read(*args, **kwargs)
    except InputError as error:
        return error.problems
    return Read(value, tuple(notices))
