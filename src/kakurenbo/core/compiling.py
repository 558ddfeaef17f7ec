"""How hot loops are compiled: by Numba, once per machine, kept on disk where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_announcers: list[Callable[[], None]] = []
"""What to call, once, when loops are about to be compiled: it takes seconds, and nobody should wonder."""
_announced = False


def announce_with(announcer: Callable[[], None]) -> None:
    """Call this before the first loop is compiled in this process; a loop that is kept needs none."""
    global _announced
    _announcers[:] = [announcer]
    _announced = False


def announce() -> None:
    """Tell, once, that loops are compiled: in this process, or in one that works for it."""
    global _announced
    if not _announced:
        _announced = True
        for announcer in _announcers:
            announcer()


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


def _listen() -> None:
    """Hear of every compilation; Numba tells of those that its cache does not spare."""
    global _listening
    if not _listening:
        from numba.core import event

        class Announcing(event.Listener):
            def on_start(self, event: object) -> None:
                announce()

            def on_end(self, event: object) -> None:
                """Nothing to say: the result is there."""

        event.register("numba:compile", Announcing())  # type: ignore[no-untyped-call]
        _listening = True


_listening = False
