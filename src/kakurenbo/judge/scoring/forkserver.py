"""The server's side: load modules, then fork a limited process for each order that comes down the pipe.

Run as ``python -m kakurenbo.judge.scoring.forkserver MODULE...``. It has one thread and no secrets. Modules that a child had
to load are loaded here afterwards, so that the next child has them from the start, whatever contest it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

MODULES = "modules.json"
_ALWAYS = ("kakurenbo.judge.scoring.steps",)
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_MB = 1 << 20


def main() -> None:
    """Serve until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in (*_ALWAYS, *sys.argv[1:]):
        _load(module)
    for line in iter(sys.stdin.readline, ""):  # a pipe whose writer is gone ends the loop
        order = json.loads(line)
        told = _served(order)
        if told is None:
            return
        modules = _needed_by(Path(order["folder"])) if told["exit"] == 0 else []
        print(json.dumps({**told, "modules": modules}), flush=True)
        for module in modules:
            _load(module)


def _served(order: Mapping[str, Any]) -> dict[str, Any] | None:
    """What became of the child of an order; None where the worker is gone."""
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _be_child(order)
    watched = os.pidfd_open(pid)
    try:
        ready = select.select([watched, sys.stdin], [], [], order["seconds"])[0]
        if watched not in ready:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(watched)
    if ready and watched not in ready:  # the pipe has nothing to say while a child runs but that it was closed
        return None
    return {"exit": status, "timed_out": not ready, "seconds": time.monotonic() - began}


def _be_child(order: Mapping[str, Any]) -> NoReturn:
    """Run one step under limits, and end."""
    code = 70
    try:
        os.setsid()
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _close_pipes()
        os.umask(0o077)
        folder = Path(order["folder"])
        os.chdir(folder)
        os.environ["TMPDIR"] = str(folder)
        memory, seconds = int(order["memory_mb"]) * _MB, int(order["seconds"]) + 1
        for kind, limit in (
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(kind, (limit, limit))
        before = set(sys.modules)
        from kakurenbo.judge.scoring.steps import run

        run(order["step"], folder)
        names = [name for name in sys.modules if name not in before and not name.startswith("__")]
        (folder / MODULES).write_text(json.dumps(names), encoding="utf-8")
        code = 0
    except BaseException as error:  # nothing that happens here may go on as the server
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def _close_pipes() -> None:
    """Give the child neither the orders nor the server's answers."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)


def _needed_by(folder: Path) -> list[str]:
    try:
        names = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # it died before, or its folder is gone already
        return []
    return [name for name in names if isinstance(name, str)]


def _load(module: str) -> None:
    with contextlib.suppress(Exception):  # a child that needs it says what is wrong with it
        importlib.import_module(module)


if __name__ == "__main__":
    main()
