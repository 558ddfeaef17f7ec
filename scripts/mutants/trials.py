"""Each mutant against the tests that reach it."""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scripts.mutants.mutations import Mutant
from scripts.mutants.session import LIBRARIES, Session, measure_reach, try_mutant

_NO_TESTS = 5  # pytest's exit codes
_USAGE = (3, 4)
_MOST_SECONDS = 3600
# A test that takes longer is not asked: thousands of mutants would wait for it. It can only make the share smaller.
_SLOW_TEST = 3.0


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"
    EQUIVALENT = "equivalent"


class FailingTests(Exception):
    """The tests fail, or do not run, on the code as it is."""


@dataclass(frozen=True)
class MeasuredTests:
    """Tests that were run once on the code as it is, with what each of them reaches."""

    files: tuple[str, ...]
    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]

    def reaching(self, file: str, line: int, function: tuple[int, int] | None) -> list[str]:
        """Tests that execute a line of the function: those that execute this line first, then by the time they take.

        What runs at import may serve any test. A loop that Numba compiles leaves no trace: every test of the module may run it.
        """
        lines = {int(number): contexts for number, contexts in self.lines.get(file, {}).items()}
        module = {context for contexts in lines.values() for context in contexts}
        if function is None:
            direct, reached = module, set(self.seconds)
        else:
            within = (
                contexts
                for number, contexts in lines.items()
                if function[0] <= number <= function[1]
            )
            direct, reached = (
                set(lines.get(line, ())),
                {context for contexts in within for context in contexts} or module,
            )
        names = [name for name in self.seconds if name in reached or f"{_file(name)}::" in reached]
        slowest: dict[
            str, float
        ] = {}  # by file: its quickest test may have to wait for a fixture that takes long
        for name, seconds in self.seconds.items():
            slowest[_file(name)] = max(seconds, slowest.get(_file(name), 0.0))
        asked = (name for name in names if self.seconds[name] < _SLOW_TEST)
        return sorted(
            asked, key=lambda name: (name not in direct, slowest[_file(name)], self.seconds[name])
        )


def _file(test: str) -> str:
    return test.partition("::")[0]


class Laboratory:
    """A copy of the package, a server to fork, and a folder for what tests write."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.package = folder / "package"
        shutil.copytree(root / "src" / "kakurenbo", self.package / "kakurenbo")
        compileall.compile_dir(self.package, quiet=1)
        self.context = get_context("forkserver")
        self.context.set_forkserver_preload(list(LIBRARIES))

    def measure(self, files: Sequence[str], measured: Sequence[str], memory: Path) -> MeasuredTests:
        """Run tests on the code as it is; remembered for the same code and tests.

        Parameters
        ----------
        files : sequence of str
            Test files.
        measured : sequence of str
            Files of the package, relative to the folder that holds it.
        memory : Path
            Folder for what was measured.
        """
        sources = [
            *sorted((self.root / "src").rglob("*.py")),
            *(self.root / name for name in files),
        ]
        digest = hashlib.sha256(
            b"".join(hashlib.sha256(path.read_bytes()).digest() for path in sources)
        )
        digest.update(json.dumps([sorted(files), sorted(measured)]).encode())
        result = memory / f"reach-{digest.hexdigest()[:16]}.json"
        if not result.is_file():
            memory.mkdir(parents=True, exist_ok=True)
            made = self.folder / "reach.json"
            code = self._run(
                measure_reach, self._session(files, None, _MOST_SECONDS), tuple(measured), made
            )
            if code != 0:
                raise FailingTests(
                    (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")
                )
            shutil.move(made, result)
        table = json.loads(result.read_text(encoding="utf-8"))
        return MeasuredTests(tuple(files), table["seconds"], table["lines"])

    def try_out(self, mutant: Mutant, tests: MeasuredTests) -> Outcome:
        """Put the mutant in the place of its file, run the tests that reach it, put the file back."""
        place = mutant.path.relative_to(self.root / "src")
        chosen = tests.reaching(str(place), mutant.start[0], mutant.function)
        if not chosen:
            return Outcome.SURVIVED
        needed = {Path(_file(name)).name for name in chosen}
        # A test outside the repository is called without its file.
        files = (
            list(tests.files)
            if "" in needed
            else [name for name in tests.files if Path(name).name in needed]
        )
        limit = int(20 + 4 * sum(tests.seconds[name] for name in chosen))
        (self.package / place).write_text(mutant.code, encoding="utf-8")
        try:
            code = self._run(try_mutant, self._session(files, chosen, limit))
        finally:
            shutil.copy2(mutant.path, self.package / place)
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return Outcome.TIMED_OUT
        if code in _USAGE:
            raise FailingTests(
                (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")
            )
        return Outcome.SURVIVED if code in (0, _NO_TESTS) else Outcome.KILLED

    def _session(
        self, files: Sequence[str], chosen: Sequence[str] | None, cpu_seconds: int
    ) -> Session:
        names = None if chosen is None else tuple(chosen)
        return Session(self.package, self.root, tuple(files), self.folder, cpu_seconds, names)

    def _run(self, target: Any, session: Session, *arguments: Any) -> int:
        """Exit code; a process that neither ends nor computes is ended after ten times the limit."""
        process = self.context.Process(target=target, args=(session, *arguments))
        process.start()
        assert process.pid is not None
        try:
            process.join(10 * session.cpu_seconds)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever it started
        process.join()
        return int(process.exitcode or 0)
