"""A judge of one's own, for as long as pictures are taken of it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 600.0


@contextmanager
def judge(home: Path) -> Iterator[str]:
    """A judge that is ready, for as long as it is needed; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "kakurenbo", "serve", "--home", str(home), "--port", str(port)]
    process = subprocess.Popen(command, stdout=sys.stderr)
    try:
        until(lambda: _healthy(address), "the judge is ready")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until(is_so: Callable[[], bool], what: str, pause: float = 1.0) -> None:
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > _PATIENCE:
            raise TimeoutError(f"waited for {_PATIENCE:g} s in vain: {what}")
        time.sleep(pause)
