"""The user's own anonymizer as a command with ``{in}`` and ``{out}``: no shell, a folder of its own, a limit of time.

The command is given the table that it shall anonymize and nothing else, and nothing of what it does is left behind.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kakurenbo.audit.frames import Frame, read_frame
from kakurenbo.errors import UsageError
from kakurenbo.messages import Phrase, text
from kakurenbo.tables import Problems, Read, refused
from kakurenbo.tables.problems import Severity

IN, OUT, SEED = "{in}", "{out}", "{seed}"
_LAST_LINES, _LAST_BYTES = 5, 4000
_NO_SUCH = 127  # as shells say it


@dataclass(frozen=True)
class Anonymizing:
    """A command that makes a release of a table.

    Attributes
    ----------
    words : tuple of str
        The program and its arguments, which name ``{in}``, ``{out}`` and, if they like, ``{seed}``.
    limit : float
        Seconds that it may take.
    """

    words: tuple[str, ...]
    limit: float

    @classmethod
    def parsed(cls, command: str, limit: float) -> Anonymizing:
        """The command from one text, split as a shell would, but never given to one.

        Raises
        ------
        UsageError
            Where it cannot be split, or names not both files.
        """
        try:
            words = shlex.split(command)
        except ValueError:
            raise UsageError(text("usage.audit_run_quote", command=command)) from None
        if not words or not all(any(place in word for word in words) for place in (IN, OUT)):
            raise UsageError(text("usage.audit_run", command=command))
        # It runs in another folder: what it names of this one is named in full.
        named = [word if (place == 0 and os.sep not in word) else _in_full(word) for place, word in enumerate(words)]
        return cls(tuple(named), limit)

    def release_of(self, table: bytes, seed: int) -> Read[Frame] | Problems:
        """What the command makes of a CSV table, or how it failed, with the last lines of what it said."""
        with tempfile.TemporaryDirectory(prefix="kakurenbo-audit-") as folder:
            given, made, said = Path(folder, "in.csv"), Path(folder, "out.csv"), Path(folder, "stderr")
            given.write_bytes(table)
            values = {IN: str(given), OUT: str(made), SEED: str(seed)}
            words = [_filled(word, values) for word in self.words]
            code = self._run(words, Path(folder), said)
            if code is None:
                return _failed("audit.run_too_long", words, said, seconds=self.limit)
            if code != 0:
                return _failed("audit.run_failed", words, said, status=code)
            if not made.exists():
                return _failed("audit.run_no_release", words, said)
            return read_frame(made)

    def _run(self, words: list[str], folder: Path, said: Path) -> int | None:
        """The exit code; None past the limit, when the command and all that it started have been ended."""
        # This program is itself, however it was started.
        own = [sys.executable, "-m", "kakurenbo"] if words[0] == "kakurenbo" else [shutil.which(words[0]) or ""]
        if not own[0]:
            said.write_text(text("usage.audit_run_program", program=words[0]))
            return _NO_SUCH
        with said.open("wb") as errors:
            process = subprocess.Popen(
                [*own, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=folder,
                start_new_session=True,
            )
            try:
                return process.wait(self.limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with everything that it started and left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _in_full(word: str) -> str:
    return str(Path(word).absolute()) if Path(word).is_file() else word


def _filled(word: str, values: dict[str, str]) -> str:
    for place, value in values.items():
        word = word.replace(place, value)
    return word


def _failed(code: str, words: list[str], said: Path, **parameters: Any) -> Problems:
    end = said.read_bytes()[-_LAST_BYTES:].decode("utf-8", "replace") if said.exists() else ""
    lines = [line for line in end.splitlines() if line.strip()][-_LAST_LINES:]
    name = Path(words[0]).name
    told = " / ".join(lines) or Phrase("audit.run_silent")
    return refused(code, name, severity=Severity.MALFORMED, lines=told, **parameters)
