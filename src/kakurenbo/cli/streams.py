"""The standard streams as they are: closed, full, or without the characters we write."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import TextIO

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import system_error
from kakurenbo.core.messages import text as words


def prepare_streams() -> None:
    """Let every text be printed: what an encoding does not have is escaped, and what goes to a closed stream is lost."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def can_show(stream: TextIO, text: str) -> bool:
    """Whether a stream has all these characters."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def flush_output() -> None:
    """Print what is still held back, so that a full disk is noticed while somebody can be told."""
    try:
        sys.stdout.flush()
    except OSError as error:
        abandon_output()
        if error.errno == errno.EPIPE:
            raise BrokenPipeError from error
        raise UsageError(words("usage.stdout_full", error=system_error(error))) from error


def abandon_output() -> None:
    """Give up what standard output still holds back: at its exit Python would try once more, and complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
