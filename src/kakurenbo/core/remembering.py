"""What need not be done twice: a worker remembers the last few things it parsed, because the next job often wants the same."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


class Memory:
    """The last few values by a mark that tells all they depend on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()  # a Dask worker may have several threads

    def remembered(self, mark: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, or gave before under the same mark."""
        with self._lock:
            found: T | None = self._values.pop(mark, None)
        if found is None:
            found = make()
        with self._lock:
            self._values[mark] = found
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return found

    def forget(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()


_tables: ContextVar[Memory | None] = ContextVar("tables", default=None)


@contextmanager
def remembering_tables(memory: Memory) -> Iterator[None]:
    """Within, a table is read from the same bytes once: attackers get the same population with every target."""
    token = _tables.set(memory)
    try:
        yield
    finally:
        _tables.reset(token)


def same_table(data: bytes, read: Callable[[], T], *rules: Hashable) -> T:
    """What ``read`` makes of the bytes under these rules; remembered where somebody asked for that."""
    memory = _tables.get()
    return (
        read()
        if memory is None
        else memory.remembered((hashlib.sha256(data).digest(), rules), read)
    )
