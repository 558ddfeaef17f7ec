"""Ctrl-C: the command ends within a second, whatever it is doing and whatever still holds on."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

_SECONDS_TO_NOTICE = 0.05
_SECONDS_TO_END = 0.4  # for putting things in order


def end_soon_when_interrupted(code: int) -> None:
    """From now on Ctrl-C is one ``KeyboardInterrupt`` in the main thread, and soon after it the end of the process."""
    if threading.current_thread() is not threading.main_thread():
        return
    noticed = threading.Event()

    def heard(_number: int, _frame: FrameType | None) -> None:
        if not noticed.is_set():
            noticed.set()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, heard)
    if hasattr(signal, "pthread_kill"):
        _watch(noticed, code)


def end_now(code: int) -> NoReturn:
    """End an interrupted process: what Python does at an ordinary end takes a while, and another signal would break into it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _watch(noticed: threading.Event, code: int) -> None:
    """A signal may reach any thread of the process, and then wakes no call that the main thread waits in: a watch does."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def watch() -> None:
        while os.read(woken, 1)[0] != signal.SIGINT:
            pass  # another signal
        if not noticed.wait(_SECONDS_TO_NOTICE):
            signal.siginterrupt(
                signal.SIGINT, True
            )  # Polars puts a handler before ours that lets calls go on
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(_SECONDS_TO_END)
        os._exit(code)

    threading.Thread(target=watch, daemon=True, name="kakurenbo-interrupt").start()
