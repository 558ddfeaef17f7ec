"""The server's side: load modules, then fork a limited process for each order that comes down the pipe.

Run as ``python -m kakurenbo.judge.scoring.forkserver PLACES MODULE...``. It has one thread and no secrets. Modules that a child
had to load are loaded here afterwards, so that the next child has them from the start, whatever contest it is; of those that a
method or an attack had to load, common libraries alone. A plugin's code never runs in the server, only in its children.
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
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from kakurenbo.judge.confinement import PROCESSES, confine, libraries, without
from kakurenbo.judge.scoring.child import PLAYERS_STEPS
from kakurenbo.judge.titles import call_oneself

MODULES = "modules.json"
_ALWAYS = ("kakurenbo.judge.scoring.steps",)
_COMMON = frozenset(
    (
        "joblib",
        "llvmlite",
        "numba",
        "numpy",
        "pandas",
        "polars",
        "scipy",
        "sklearn",
        "threadpoolctl",
    )
)
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 1, 38, 36
_MB = 1 << 20
_COMPILED = "NUMBA_CACHE_DIR"


def main() -> None:
    """Serve until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    places: dict[str, str | None] = json.loads(sys.argv[1])
    loops = _compiled_loops()
    for module in _ALWAYS:
        _load(module)
    closed = [Path(places["home"])] if places["home"] else []
    if places[
        "root"
    ]:  # its children are to see their own entry of all processes, which nobody knows yet
        _confined(
            [*libraries(), *_data_sets(), PROCESSES],
            [places["root"], *loops.values()],
            closed,
            links=True,
        )
    for module in filter(_is_trusted, sys.argv[2:]):
        _load(module)
    _serve(loops, closed)


def _serve(loops: Mapping[bool, Path], closed: list[Path]) -> None:
    for line in iter(sys.stdin.readline, ""):  # a pipe whose writer is gone ends the loop
        order = json.loads(line)
        of_players = order["step"] in PLAYERS_STEPS
        told = _served(order, partial(_be_child, order, loops[of_players], closed))
        if told is None:
            return
        modules = _needed_by(Path(order["folder"])) if told["exit"] == 0 else []
        modules = [name for name in modules if _is_trusted(name, of_players=of_players)]
        print(json.dumps({**told, "modules": modules}), flush=True)
        for module in modules:
            _load(module)


def _served(order: Mapping[str, Any], be_child: Callable[[], NoReturn]) -> dict[str, Any] | None:
    """What became of the child of an order; None where the worker is gone."""
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        be_child()
    watched = os.pidfd_open(pid)
    try:
        ready = select.select([watched, sys.stdin], [], [], order["seconds"])[0]
        if watched not in ready:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        _end_orphans()
    finally:
        os.close(watched)
    if (
        ready and watched not in ready
    ):  # the pipe has nothing to say while a child runs but that it was closed
        return None
    return {"exit": status, "timed_out": not ready, "seconds": time.monotonic() - began}


def _end_orphans() -> None:
    """End what a child left running: nothing changes its files once it is over."""
    own = Path("/proc/self/task", str(os.getpid()), "children")
    with contextlib.suppress(OSError):  # none are left to wait for
        while True:
            for pid in map(int, own.read_text(encoding="ascii").split()):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _be_child(order: Mapping[str, Any], loops: Path, closed: list[Path]) -> NoReturn:
    """Run one step under limits, and end."""
    code = 70
    try:
        os.setsid()
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        call_oneself("kakurenbo.judge.scoring.forkserver", order["step"])
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
        _keep_loops_in(loops)
        seen = [*libraries(), *_data_sets(), *_linked(folder), loops.parent]
        _confined(seen, [folder, loops], closed, links=order["step"] not in PLAYERS_STEPS)
        before = set(sys.modules)
        from kakurenbo.judge.scoring.steps import run

        run(order["step"], folder)
        names = [name for name in sys.modules if name not in before and not name.startswith("__")]
        (folder / MODULES).write_text(json.dumps(names), encoding="utf-8")
        code = 0
    finally:  # nothing that happens here may go on as the server
        os._exit(code)


def _confined(
    read: Iterable[Path | str], write: Iterable[Path | str], closed: list[Path], *, links: bool
) -> None:
    """Nothing of the judge's folder but what is named below it, and no network."""
    paths = [*map(Path, read)]
    own = [path for path in paths if any(path.is_relative_to(one) for one in closed)]
    confine([*without(paths, closed), *own], write, network=False, links=links)


def _linked(folder: Path) -> list[Path]:
    """What the worker linked into the folder of a step, before the step had it."""
    return [
        path.resolve()
        for pattern in ("*", "phase/*", "phase/*/*")
        for path in folder.glob(pattern)
        if path.is_symlink()
    ]


def _data_sets() -> list[Path]:
    from kakurenbo.data.store import imported_names, store_folder

    return [store_folder() / name for name in imported_names()]


def _compiled_loops() -> dict[bool, Path]:
    """Where compiled loops are kept: what methods and attacks left there is never loaded by the judge's own steps."""
    import platformdirs

    kept = platformdirs.user_cache_path("kakurenbo", appauthor=False) / "compiled"
    folders = {False: kept / "judge", True: kept / "players"}
    for folder in folders.values():
        with contextlib.suppress(OSError):  # loops are then compiled whenever they are needed
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ[_COMPILED] = str(folders[False])
    return folders


def _keep_loops_in(folder: Path) -> None:
    """Keep loops that are compiled from now on in a folder; those of the server that are not there yet are not kept."""
    os.environ[_COMPILED] = str(folder)
    if "numba" not in sys.modules:
        return
    settings: Any = importlib.import_module("numba").config
    caching: Any = importlib.import_module("numba.core.caching")
    settings.CACHE_DIR = str(folder)
    keep = caching.Cache.save_overload

    def keep_where_possible(cache: Any, *loop: Any) -> None:
        with contextlib.suppress(PermissionError):
            keep(cache, *loop)

    caching.Cache.save_overload = keep_where_possible


def _close_pipes() -> None:
    """Give the child neither the orders nor the server's answers, nor the log: what it prints may be an answer."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nothing, pipe)


def _needed_by(folder: Path) -> list[str]:
    try:
        names = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # it died before, or its folder is gone already
        return []
    return [name for name in names if isinstance(name, str)]


def _is_trusted(module: str, *, of_players: bool = False) -> bool:
    package = module.partition(".")[0]
    return package in _COMMON or (
        not of_players and (package == "kakurenbo" or package in sys.stdlib_module_names)
    )


def _load(module: str) -> None:
    with contextlib.suppress(Exception):  # a child that needs it says what is wrong with it
        importlib.import_module(module)


if __name__ == "__main__":
    main()
