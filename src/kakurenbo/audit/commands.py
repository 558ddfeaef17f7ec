"""The user's own anonymizer as a command with ``{in}`` and ``{out}``: no shell, a folder of its own, a limit of time.

The command is given the table that it shall anonymize and nothing else, and nothing of what it does is left behind but what a
command said that failed: in a file for its owner alone, since its words may hold records.
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
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from kakurenbo.audit.anonymizing import csv_bytes
from kakurenbo.audit.frames import Frame, read_frame
from kakurenbo.core import InputError, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message, text
from kakurenbo.core.problems import Severity

IN, OUT, SEED = "{in}", "{out}", "{seed}"
_LAST_LINES, _LAST_BYTES = 5, 4000
_MOST_KEPT = 1_000_000  # bytes of what a command says
_NO_SUCH = 127  # as shells say it


class Remaking(Protocol):
    """What makes a release of a table anew: a command, or a function."""

    def release_of(self, given: pl.DataFrame, seed: int) -> Frame:
        """A release of a table of texts, in which missing cells are empty."""

    def facts(self) -> dict[str, Any]:
        """What a report says of it: ``run``, and what else was told."""


@dataclass(frozen=True)
class Anonymizing:
    """A command that makes a release of a table.

    Attributes
    ----------
    words : tuple of str
        The program and its arguments, which name ``{in}``, ``{out}`` and, if they like, ``{seed}``.
    limit : float
        Seconds that it may take.
    log : path or None
        Where the words of a command that fails are kept; in a file of the temporary folder by default.
    shown : bool
        Whether the last of them are also told.
    """

    words: tuple[str, ...]
    limit: float
    log: Path | None = None
    shown: bool = False

    @classmethod
    def parsed(
        cls, command: str, limit: float, log: Path | None = None, *, shown: bool = False
    ) -> Anonymizing:
        """The command from one text, split as a shell would, but never given to one.

        Raises
        ------
        UsageError
            Where it cannot be split, or names not both files.
        """
        try:
            words = shlex.split(command)
        except ValueError:
            raise UsageError("usage.audit_run_quote", command=command) from None
        if not words or not all(any(place in word for word in words) for place in (IN, OUT)):
            raise UsageError("usage.audit_run", command=command)
        # It runs in another folder: what it names of this one is named in full.
        named = [
            word if (place == 0 and os.sep not in word) else _in_full(word)
            for place, word in enumerate(words)
        ]
        return cls(tuple(named), limit, log, shown)

    def facts(self) -> dict[str, Any]:
        """The command as somebody would write it; braces need no quotation marks, for no shell sees them."""
        words = (
            word if word and not set(word) & set(" \t\n'\"\\") else shlex.quote(word)
            for word in self.words
        )
        return {"run": " ".join(words), "time_limit": self.limit}

    def release_of(self, given: pl.DataFrame, seed: int) -> Frame:
        """What the command makes of a table, or how it failed, and where its words are."""
        with _ended_in_order(), tempfile.TemporaryDirectory(prefix="kakurenbo-audit-") as folder:
            table, made, said = (
                Path(folder, "in.csv"),
                Path(folder, "out.csv"),
                Path(folder, "output"),
            )
            table.write_bytes(csv_bytes(given))
            values = {IN: str(table), OUT: str(made), SEED: str(seed)}
            words = [_filled(word, values) for word in self.words]
            program = _program(words[0])
            if not program:
                told = text("usage.audit_run_program", program=words[0])
                raise InputError.of(
                    "audit.run_failed",
                    _name(words),
                    severity=Severity.MALFORMED,
                    status=_NO_SUCH,
                    lines=told,
                )
            code = self._run([*program, *words[1:]], Path(folder), said)
            if code is None:
                raise self._failed("audit.run_too_long", words, said, seconds=self.limit)
            if code != 0:
                raise self._failed("audit.run_failed", words, said, status=code)
            if (
                made.is_symlink() or not made.exists()
            ):  # what is not in the folder is not what the command made
                raise self._failed("audit.run_no_release", words, said)
            return read_frame(made)

    def _run(self, words: list[str], folder: Path, said: Path) -> int | None:
        """The exit code; None past the limit, when the command and all that it started have been ended."""
        with said.open("wb") as output:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
            )
            try:
                return process.wait(self.limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                _end(process)

    def _failed(self, code: str, words: list[str], said: Path, **parameters: Any) -> InputError:
        """How it failed, and where all that it said is kept, which may hold records."""
        with said.open("rb") as words_said:  # of a flood the end tells most
            words_said.seek(max(0, said.stat().st_size - _MOST_KEPT))
            output = words_said.read()
        lines = [
            line
            for line in output[-_LAST_BYTES:].decode("utf-8", "replace").splitlines()
            if line.strip()
        ]
        told = Message("audit.run_silent")
        if lines:
            kept = {"path": str(_kept(output, self.log)), "lines": " / ".join(lines[-_LAST_LINES:])}
            told = Message(
                "audit.run_said" if self.shown else "audit.run_kept",
                kept if self.shown else {"path": kept["path"]},
            )
        severity = Severity.MALFORMED
        return InputError.of(code, _name(words), severity=severity, lines=told, **parameters)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Whoever ends us meanwhile must leave neither the command nor the table that it was given."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)  # as shells say it


def _kept(output: bytes, log: Path | None) -> Path:
    """Where the words of a command are kept, for their owner alone."""
    if log is None:
        handle, name = tempfile.mkstemp(prefix="kakurenbo-run-", suffix=".log")
        os.close(handle)
        log = Path(name)
    log.unlink(missing_ok=True)  # and not what a link of this name leads to
    write_file(log, output, private=True)
    return log


def _program(word: str) -> list[str]:
    """How a program is called; empty where there is none. This one is itself, however it was started."""
    if word == "kakurenbo":
        return [sys.executable, "-m", "kakurenbo"]
    found = shutil.which(word)
    return [found] if found else []


def _name(words: list[str]) -> str:
    return Path(words[0]).name


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
