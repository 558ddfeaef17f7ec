"""What a process of the judge is called where processes are listed: they are forked, and would all look like the first."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

_OWN_STATUS, _OWN_ARGUMENTS = Path("/proc/self/stat"), Path("/proc/self/cmdline")
_FIRST_FIELD, _ARGUMENTS_START, _ARGUMENTS_END = 3, 48, 49
"""Of the fields that proc(5) numbers: the first behind the name, and where the arguments lie in memory."""


def call_oneself(program: str, role: str) -> None:
    """Be ``program: role`` and the former arguments behind the program's name, as far as there is room; as before elsewhere."""
    with contextlib.suppress(OSError, ValueError, IndexError):  # a system that does not tell
        fields = (
            _OWN_STATUS.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        start, end = (
            int(fields[place - _FIRST_FIELD]) for place in (_ARGUMENTS_START, _ARGUMENTS_END)
        )
        former = _OWN_ARGUMENTS.read_bytes()
        given = former.partition(b"\0" + program.encode() + b"\0")[2]
        title = b"\0".join((f"{program}: {role}".encode(), given))
        room = end - start - 1  # the last byte stays zero: else the kernel looks for more behind it
        if start and room == len(former) - 1:
            ctypes.memmove(start, title[:room].ljust(room, b"\0"), room)
