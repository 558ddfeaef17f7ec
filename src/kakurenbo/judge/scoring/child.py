"""The worker's side of the scoring child: a server that has loaded libraries, and nothing else, forks a process for each step.

A fresh process takes seconds to load its libraries, a forked one does not. The server is another program than the worker: it
never had a connection to the database, and of the environment it gets only what computing needs. It reads requests from a
pipe, so that it ends, and its child with it, when the worker is gone, however it went. Where the kernel can, the server reads
of the judge's folder only where its steps lie, and a child nothing but its own step.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kakurenbo.core.messages import Message, StoredText, with_message

REQUEST, RESULT, SUBMITTED, OUT, HANDOUT = (
    "request.json",
    "result.json",
    "submitted",
    "out",
    "handout",
)
"""What a step reads and writes in its folder: the request, its result, files that were handed in, and those that it made."""
ONE_THREAD = {
    **dict.fromkeys(
        (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMBA_NUM_THREADS",
            "POLARS_MAX_THREADS",
        ),
        "1",
    ),
    "JOBLIB_MULTIPROCESSING": "0",
}
PLAYERS_STEPS = frozenset(("sample", "anonymize", "attack"))
"""Steps that run methods and attacks, and see what a player sees; all others are the judge's own."""
_KEPT = frozenset(
    (
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "OPENBLAS_CORETYPE",
        "OPENBLAS_L2_SIZE",
    )
)
"""What locates files and libraries, and what chooses kernels of linear algebra: they decide the last digits of a score."""
_OWN_PREFIX, _SECRET_PREFIXES = "KAKURENBO_", ("KAKURENBO_JUDGE_", "KAKURENBO_TOKEN")
_TICK_SECONDS = 1.0
_STOP_SECONDS = 5.0


class ChildDied(Exception):
    """A child ended without a result; says why."""


@dataclass(frozen=True)
class Limits:
    """What a child may use.

    Attributes
    ----------
    seconds : float
        Of the clock on the wall.
    memory_mb : int
        Of data, in MB.
    """

    seconds: float = 600
    memory_mb: int = 4096


class ForkServer:
    """Runs one step after the other, each in a process of its own.

    Parameters
    ----------
    root : Path or None
        Below which all its folders lie; anywhere where none is given.
    home : Path or None
        The judge's folder, of which it sees the root alone.
    """

    def __init__(self, root: Path | None = None, home: Path | None = None) -> None:
        self._places = {"root": root and str(root.resolve()), "home": home and str(home.resolve())}
        self._process: subprocess.Popen[str] | None = None
        self.loaded: list[str] = []
        """Modules that the last child had to load; the server has them now."""
        self._used_at = time.monotonic()
        self._lock = (
            threading.Lock()
        )  # the worker's thread runs steps, another may warm or retire the server

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def idle_seconds(self) -> float:
        return time.monotonic() - self._used_at

    def warm(self, modules: Iterable[str]) -> None:
        """Have the server there, with these modules loaded; does not wait for it."""
        if self._lock.acquire(blocking=False):
            try:
                if not self.running:
                    self._start(modules)
            finally:
                self._lock.release()

    def run(
        self,
        step: str,
        folder: Path,
        request: Mapping[str, Any],
        limits: Limits,
        tick: Callable[[], None] = lambda: None,
        modules: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Run a step on a folder and return its result.

        Parameters
        ----------
        step : str
            A name in ``steps.STEPS``.
        folder : Path
            All that the step sees; it finds the request there, and leaves its result.
        request : mapping
            Ready for JSON.
        limits : Limits
        tick : callable
            Called every second meanwhile; an exception from it ends the child and passes on.
        modules : iterable of str
            To load before, where the server is not there yet.

        Raises
        ------
        ChildDied
            Where the process ended without a result, or the step failed.
        """
        (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
        order = {
            "step": step,
            "folder": str(folder.resolve()),
            "seconds": limits.seconds,
            "memory_mb": limits.memory_mb,
        }
        with self._lock:
            if not self.running:
                self._start(modules)
            try:
                told = self._asked(order, tick)
            except BaseException:
                self._end()
                raise
            finally:
                self._used_at = time.monotonic()
        self.loaded = told["modules"]
        return _result_in(folder, told)

    def retire(self, after: float = 0) -> None:
        """End the server where it has not been used for so many seconds; the next step starts another."""
        if self.running and self.idle_seconds >= after and self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()

    def _start(self, modules: Iterable[str]) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "kakurenbo.judge.scoring.forkserver",
                json.dumps(self._places),
                *modules,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean_environment(os.environ),
            text=True,
            start_new_session=True,  # Ctrl-C is the supervisor's to hear
        )

    def _asked(self, order: Mapping[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            while not select.select([process.stdout], [], [], _TICK_SECONDS)[0]:
                tick()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._end()
            raise ChildDied(cause("scoring.server_ended"))
        told: dict[str, Any] = json.loads(line)
        return told

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:  # it is loading its libraries
            process.kill()
            process.wait()


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What computing needs of an environment: no key, no password, no token; one thread for every library.

    Examples
    --------
    >>> cleaned = clean_environment({"PATH": "/bin", "DATABASE_URL": "secret", "KAKURENBO_JUDGE_DSN": "secret"})
    >>> sorted(set(cleaned) - set(ONE_THREAD))
    ['PATH']
    """
    own = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or (name.startswith(_OWN_PREFIX) and not name.startswith(_SECRET_PREFIXES))
    }
    return {**own, **ONE_THREAD}


def _result_in(folder: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    place = folder / RESULT
    if place.is_symlink() or any(
        path.is_symlink() for path in (folder / OUT, *(folder / OUT).rglob("*"))
    ):
        raise ChildDied(
            cause("scoring.made_a_link")
        )  # whoever reads it would be led to what the step could not see
    if told["exit"] == 0 and place.is_file():
        result: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        if "error" not in result:
            return result
        raise ChildDied(with_message(result["error"], result.get("messages", {})))
    elapsed = f"{told['seconds']:.1f}"
    if told.get("timed_out"):
        raise ChildDied(cause("scoring.too_slow", seconds=round(told["seconds"])))
    if told["exit"] < 0:
        raise ChildDied(cause("scoring.ended_by_signal", signal=-told["exit"], elapsed=elapsed))
    raise ChildDied(cause("scoring.ended_with_code", code=told["exit"], elapsed=elapsed))


def cause(code: str, /, **parameters: Any) -> StoredText:
    """Return why a job waits again or is put aside, as it is stored."""
    return Message(code, parameters).stored()
