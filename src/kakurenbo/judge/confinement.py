"""What a process may reach, whoever it runs as: the kernel's Landlock, by three system calls and without any right.

A process that confines itself stays so, with everything it starts: root too. Files are read and written only below the folders
that are named; the memory of processes outside is closed to it, their environment where ``/proc`` is not named, and signals do
not reach them. Sockets in the file system are not governed: PostgreSQL asks for a password all the same. Where the kernel is
too old, nothing happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_ASK_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FOLDER, _REMOVE_FILE, _MAKE_FOLDER, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_LINK, _MOVE, _TRUNCATE, _IOCTL = 1 << 12, 1 << 13, 1 << 14, 1 << 15
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
# Neither devices nor sockets, and symbolic links only where they are asked for.
_WRITE = (
    _READ
    | _WRITE_FILE
    | _REMOVE_FOLDER
    | _REMOVE_FILE
    | _MAKE_FOLDER
    | _MAKE_FILE
    | _MOVE
    | _TRUNCATE
)
_HANDLED = {1: (1 << 13) - 1, 2: _MOVE, 3: _TRUNCATE, 5: _IOCTL}
"""Rights over files that a version of Landlock begins to know; whatever is handled and not given is refused."""
_WITH_NETWORK, _TCP = 4, 0b11
_WITH_SCOPES, _SIGNALS_AND_ABSTRACT_SOCKETS = 6, 0b11

PROCESSES = Path("/proc")
OWN_PROCESS = tuple(
    PROCESSES / name for name in ("self", "cpuinfo", "meminfo", "stat", "sys/kernel", "sys/vm")
)
"""What a process may know of itself and the machine: of others it would read their environment."""
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/bin", "/nix"),
    *(
        f"/etc/{name}"
        for name in (
            "ld.so.cache",
            "ld.so.conf",
            "ld.so.conf.d",
            "localtime",
            "nsswitch.conf",
            "os-release",
        )
    ),
    *("/sys/devices/system", "/sys/fs/cgroup", "/dev/random", "/dev/urandom", "/dev/zero"),
)


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Of the kernel's Landlock; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(
        0,
        int(
            _libc().syscall(
                _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)
            )
        ),
    )


def confine(
    read: Iterable[Path | str], write: Iterable[Path | str], *, network: bool, links: bool = False
) -> bool:
    """Keep this thread, and whatever it starts, to some files for ever; False where the kernel cannot.

    Parameters
    ----------
    read, write : iterable of paths
        Files, and folders with all below them. Those that are not there are left out. Links lead where they lead now.
    network : bool
        Whether TCP stays open.
    links : bool
        Whether symbolic links may be made; they lead the process itself nowhere that it may not go.
    """
    known = version()
    if not known:
        return False
    handled = sum(rights for since, rights in _HANDLED.items() if since <= known)
    ruleset = _Ruleset(handled, 0 if network else _TCP, _SIGNALS_AND_ABSTRACT_SOCKETS)
    size = 8 * (1 + (known >= _WITH_NETWORK) + (known >= _WITH_SCOPES))
    made = _asked(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for rights, paths in ((_READ, read), (_WRITE | _MAKE_LINK * links, (*write, os.devnull))):
            for path in paths:
                _allow(made, path, rights & handled)
        _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _asked(_RESTRICT_SELF, ctypes.c_int(made), ctypes.c_uint32(0))
    finally:
        os.close(made)
    return True


def libraries() -> Iterator[Path]:
    """What a Python process needs to read for computing: the interpreter, packages, the system's libraries."""
    yield from (*map(Path, _SYSTEM), *OWN_PROCESS)
    yield from map(
        Path, (sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values())
    )
    yield from (Path(entry) for entry in sys.path if entry)


def without(paths: Iterable[Path | str], closed: Iterable[Path]) -> Iterator[Path]:
    """Paths less some folders: whoever may read what is around a closed folder neither sees its names nor what is in it.

    A rule holds for all below it, so that one over a closed folder is replaced by rules for everything beside it, as it is now.
    """
    shut = {path.resolve() for path in closed}
    above = {parent for path in shut for parent in path.parents}
    for path in (Path(path).resolve() for path in paths):
        if path in above:
            for folder in (one for one in above if one.is_relative_to(path)):
                with contextlib.suppress(OSError):
                    entries = (
                        entry for entry in folder.iterdir() if not entry.is_symlink()
                    )  # one may lead to what is closed
                    yield from (
                        entry for entry in entries if entry not in shut and entry not in above
                    )
        elif not any(path.is_relative_to(one) for one in shut):
            yield path


def _allow(ruleset: int, path: Path | str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it is not there
        return
    try:
        folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        rule = _Beneath(rights if folder else rights & _OF_A_FILE, opened)
        _asked(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(opened)


def _asked(call: int, *arguments: object) -> int:
    answer = int(_libc().syscall(call, *arguments))
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
