"""A time limit for a call, in whatever thread of whatever worker it runs.

Past the limit the call gets an exception. A call that is deep in compiled code does not notice it; where the process may be
given up, it is ended after a further grace, and ``last_words`` has told the store why.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kakurenbo.core.errors import KakurenboError

GRACE_SECONDS = 10.0  # at most; a short limit has a short grace


class TimeLimitExceeded(KakurenboError):
    """A job took longer than it may."""


@contextmanager
def time_limit(
    seconds: float | None, last_words: Callable[[], None] | None = None
) -> Iterator[None]:
    """Raise :class:`TimeLimitExceeded` in the body after ``seconds``.

    Parameters
    ----------
    seconds : float or None
        None for no limit.
    last_words : callable or None
        Called before the process is ended because the body did not stop; None where the process must live.
    """
    if seconds is None:
        yield
        return
    watch = _Watch(threading.get_ident(), seconds, last_words)
    watch.start()
    try:
        yield
    finally:
        watch.over()


class _Watch(threading.Thread):
    def __init__(self, watched: int, seconds: float, last_words: Callable[[], None] | None) -> None:
        super().__init__(daemon=True, name="kakurenbo-time-limit")
        self._watched, self._seconds, self._last_words = watched, seconds, last_words
        self._finished = threading.Event()
        self._lock = threading.Lock()
        self._raised = False

    def run(self) -> None:
        if self._finished.wait(self._seconds):
            return
        with self._lock:  # never after the body has ended: the exception would hit somebody else
            if self._finished.is_set():
                return
            self._raised = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._watched), ctypes.py_object(TimeLimitExceeded)
            )
        if self._last_words is not None and not self._finished.wait(
            min(GRACE_SECONDS, 1 + self._seconds)
        ):
            self._last_words()
            os._exit(70)

    def over(self) -> None:
        """The body has ended. An exception that is still on its way arrives here, at the latest, and goes no further.

        It is not taken back by raising nothing: that leaves the interpreter's signal set, and a traced thread spins on it.
        """
        for _ in range(2):  # one exception is sent at most
            try:
                self._finished.set()
                with self._lock:
                    raised = self._raised
                if raised:
                    for _ in range(1000):  # each turn looks for exceptions of other threads
                        pass
                return
            except TimeLimitExceeded:
                continue
