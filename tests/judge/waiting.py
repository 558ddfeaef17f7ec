"""Waiting for something to be so: a machine that runs tests may be busy, so that only what never comes about fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 300.0
"""Seconds after which something is taken never to come about: many times what a busy machine needs."""
_LOOK_SECONDS = 0.02


def wait_until(condition: Callable[[], T | None], told: Callable[[], str] = str) -> T:
    """Wait until something is so; gives what was found.

    Parameters
    ----------
    condition : callable
        Asked over and over, until it says something that is true.
    told : callable
        What to say where it never does.
    """
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, (
            f"it did not come about within {PATIENCE:.0f} seconds: {told()}"
        )
        time.sleep(_LOOK_SECONDS)
    assert found is not None
    return found


def lives(pid: int) -> bool:
    """Whether there is such a process that has not ended yet."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
