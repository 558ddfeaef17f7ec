"""Hide-and-seek whose judge gets into trouble over certain files: it hogs memory, never ends, dies, or looks around."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from hide_and_seek import HideAndSeek

import kakurenbo as kb


@dataclass(frozen=True)
class Trouble(HideAndSeek):
    """Hide people in a table, or do something else."""

    name: ClassVar[str] = "trouble"

    def read_release(self, handout: Any, sources: Sequence[kb.Source]) -> kb.Table:
        word, _, rest = (
            bytes(sources[0].read()[:200]).decode("ascii", "replace").strip().partition(" ")
        )
        if word == "hog":
            hoarded = [np.empty(10_000_000) for _ in range(200)]
            return kb.Table(self.schema, dict.fromkeys(self.schema.names, hoarded[0]))
        if word == "loop":
            while True:
                time.sleep(0.01)
        if word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "wait":  # for the file that is named; then go on as if nothing had been
            while not Path(rest).exists():
                time.sleep(0.02)
            return super().read_release(
                handout, [kb.Source("release_01.csv", kb.table_bytes(handout.table))]
            )
        if word == "spy":
            looked = {name: _attempted(attempt) for name, attempt in _attempts(Path(rest)).items()}
            Path("seen.json").write_text(json.dumps(looked))
            return super().read_release(
                handout, [kb.Source("release_01.csv", kb.table_bytes(handout.table))]
            )
        if word == "tell":  # what it should not, to whoever may listen: and who that is
            os.write(2, rest.encode())
            raise ValueError(
                " ".join(str(Path(f"/proc/self/fd/{pipe}").readlink()) for pipe in (0, 1, 2))
            )
        if word == "link":
            Path("out").mkdir()
            Path("out", "answer").symlink_to(rest)
        if word == "stay" and os.fork() == 0:  # a process that goes on when its parent has ended
            os.setsid()
            time.sleep(600)
            os._exit(0)
        return super().read_release(handout, sources)


def _attempts(told: Path) -> dict[str, Callable[[], object]]:
    """What a spy tries, at what it was told of: paths to read and to list, processes, a port, an address of a socket."""
    given = json.loads(told.read_text())
    return {
        **{f"read {path}": partial(_read, path) for path in given["read"]},
        **{f"list {path}": partial(os.listdir, path) for path in given["list"]},
        **{f"write {path}": partial(Path(path).write_text, "spied") for path in given["write"]},
        **{f"link to {path}": partial(os.link, path, "linked") for path in given["read"][:1]},
        "environment": partial(_read, f"/proc/{given['process']}/environ"),
        "memory": partial(_read, f"/proc/{given['process']}/mem"),
        "signal": partial(os.kill, given["process"], 0),
        "connect": lambda: socket.create_connection(("127.0.0.1", given["port"]), 5).close(),
        "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
        "symbolic link": partial(os.symlink, "/", "root"),
        "own file": partial(Path("own").write_text, "own"),
        "own process": partial(_read, "/proc/self/maps"),
        "library": partial(_read, np.__file__),
    }


def _read(path: str) -> int:
    with Path(path).open("rb") as file:
        return len(file.read(1))


def _attempted(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"
