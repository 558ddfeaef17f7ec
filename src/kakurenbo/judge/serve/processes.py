"""Processes that are forked from the supervisor: Django is loaded once, and its memory is shared by all of them."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import math
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kakurenbo.judge.titles import call_oneself

log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 4 << 20  # bytes
_ARENAS = 2
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 30.0  # seconds before it is started again
_STEADY_SECONDS = 30.0  # who lived so long did not die of starting
HEARD = frozenset({signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""Signals that the supervisor waits for, and that are blocked in it so that none comes at a wrong moment."""


@dataclass
class Process:
    """A part of the judge that is started again whenever it ends, however it ended.

    Attributes
    ----------
    name : str
    run : callable
        What it does; returns when it was asked to end.
    forked : callable
        Called in the new process first, to let go of what is the supervisor's.
    once : bool
        Whether it is over when it ends.
    """

    name: str
    run: Callable[[], None]
    forked: Callable[[], None]
    once: bool = False
    pid: int | None = None
    due: float = 0.0
    _began: float = field(default=0.0, init=False)
    _failures: int = field(default=0, init=False)

    def start(self) -> None:
        """Fork it."""
        self._began = time.monotonic()
        self.pid = fork(self.name, self.run, self.forked)

    def ended(self, now: float) -> bool:
        """Whether it has ended; it is due again after a while that grows when it dies again and again."""
        if self.pid is None:
            return False
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            return False
        if self.once:
            self.pid, self.due = None, math.inf
            return True
        self._failures = 1 if now - self._began > _STEADY_SECONDS else self._failures + 1
        delay = min(_FIRST_DELAY * 2 ** (self._failures - 1), _LONGEST_DELAY)
        self.pid, self.due = None, now + delay
        log.warning("%s ended (%s); it starts again in %.1f s", self.name, _how(status), delay)
        return True

    def signal(self, number: int) -> None:
        """Send it a signal, where it runs."""
        if self.pid is not None:
            os.kill(self.pid, number)

    def wait(self, until: float) -> bool:
        """Whether it ended before a moment."""
        while self.pid is not None and time.monotonic() < until:
            pid, _ = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
            else:
                time.sleep(0.02)
        return self.pid is None


def fork(name: str, run: Callable[[], None], forked: Callable[[], None]) -> int:
    """Start a process that does one thing, ends with its parent, and hears no Ctrl-C."""
    parent = os.getpid()
    _flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _settle(name, parent)
        forked()
        run()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        log.exception("%s failed", name)
    finally:
        logging.shutdown()
        _flush()
        os._exit(code)


def give_memory_back() -> None:
    """Have the C library give large blocks back to the machine as soon as nobody needs them.

    Left to itself it takes the first of them, such as one in which a password is hashed, for a sign that there will be more,
    and keeps as many as there were threads that had one.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # that of other systems keeps less
        for option, value in (
            (_M_MMAP_THRESHOLD, _LARGE),
            (_M_TRIM_THRESHOLD, 2 * _LARGE),
            (_M_ARENA_MAX, _ARENAS),
        ):
            libc.mallopt(option, value)


def _flush() -> None:
    """Write out what is still to be said; where a disk has no room for a log, the judge goes on without it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()


def wait_for(pid: int) -> int:
    """The exit code of a process that was forked for one task."""
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _settle(name: str, parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went away before the kernel was told
        os._exit(1)
    os.setsid()  # Ctrl-C is the supervisor's to hear
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in HEARD:
        signal.signal(number, signal.SIG_DFL)
    random.seed()
    multiprocessing.current_process().name = name
    call_oneself("kakurenbo.judge.serve", name)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
