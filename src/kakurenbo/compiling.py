"""How hot loops are compiled: by Numba, once per machine, kept on disk where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_announcers: list[Callable[[str], None]] = []
"""What to call, once for each module, when its loops are about to be compiled: it takes seconds, and nobody should wonder."""
_announced: set[str] = set()


def announce_with(announcer: Callable[[str], None]) -> None:
    """Call this with a module's name before its first loop is compiled in this process; a loop that is kept needs none."""
    _announcers[:] = [announcer]
    _announced.clear()


def announce(module: str) -> None:
    """Tell, once, that loops of a module are compiled: in this process, or in one that works for it."""
    if module not in _announced:
        _announced.add(module)
        for announcer in _announcers:
            announcer(module)


def compiled(function: Any) -> Any:
    """Compile on first use, without the interpreter's lock; a compiled loop is kept for the next process.

    Numba keeps it beside the module, else in the user's cache folder; where neither can be written, not at all.
    """
    import numba  # takes a while to load, which those who only set an announcer need not wait for

    _listen()
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)


def inlined(function: Any) -> Any:
    """A part of a compiled loop that is written out wherever it is called: a call would cost more than what it does."""
    import numba

    return numba.njit(nogil=True, inline="always")(function)


def _listen() -> None:
    """Hear of every compilation; Numba tells of those that its cache does not spare."""
    global _listening
    if not _listening:
        from numba.core import event

        class Announcing(event.Listener):
            def on_start(self, event: Any) -> None:
                announce(event.data["dispatcher"].py_func.__module__.rpartition(".")[2])

            def on_end(self, event: object) -> None:
                """Nothing to say: the result is there."""

        event.register("numba:compile", Announcing())  # type: ignore[no-untyped-call]
        _listening = True


_listening = False
