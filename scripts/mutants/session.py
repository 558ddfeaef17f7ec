"""What happens in the process of one mutant: pytest, with a copy of the package in front of the real one."""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import Phase, settings

# Loaded by the server that is forked for each mutant; loading is no use, after which Polars must not be forked.
LIBRARIES = (
    "msgspec",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "rich.console",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "sklearn.tree",
    "scripts.mutants.session",
)
_PLUGINS_LEFT_OUT = ("cacheprovider", "xdist", "pytest_cov")
_OPTIONS = (
    *("-q", "-x", "--no-header", "--tb=line"),
    *(option for name in _PLUGINS_LEFT_OUT for option in ("-p", f"no:{name}")),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # Hypothesis was loaded before
)
_MOST_MEMORY = 6 << 30  # a mutant may ask for a table of any size


@dataclass(frozen=True)
class Session:
    """One run of pytest.

    Attributes
    ----------
    package : Path
        Folder in which the copy of the package lies.
    root : Path
        Of the repository.
    tests : tuple of str
        Files, relative to the root or absolute.
    chosen : tuple of str, optional
        Names of the tests to run, in this order; all where none are given.
    scratch : Path
        For temporary files, and ``output.txt``, which shows what pytest printed.
    cpu_seconds : int
        After which the process is ended by the system.
    """

    package: Path
    root: Path
    tests: tuple[str, ...]
    scratch: Path
    cpu_seconds: int
    chosen: tuple[str, ...] | None = None


def try_mutant(session: Session) -> None:
    """Run the chosen tests up to the first failure; pytest's exit code becomes that of the process."""
    # A compiled file is known by the second and the size of its source: two mutants could share both.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    _exit_with(_pytest(session, [_Choice(session.chosen or ())]))


def measure_reach(session: Session, measured: Sequence[str], result: Path) -> None:
    """Run all tests and write which lines of the measured files each of them executes, and how long it takes."""
    sys.dont_write_bytecode = False
    reach = Reach(session.package, measured)
    code = _pytest(session, [reach])
    result.write_text(json.dumps(reach.table()), encoding="utf-8")
    _exit_with(code)


def _exit_with(code: int) -> None:
    os._exit(code)  # threads that a mutant left behind must not keep the process


def _pytest(session: Session, plugins: list[object]) -> int:
    gc.freeze()  # pytest collects garbage when it ends: not that of all libraries
    os.setsid()  # so that whatever a test starts can be ended with it
    resource.setrlimit(resource.RLIMIT_CPU, (session.cpu_seconds, session.cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    output = os.open(session.scratch / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(session.root)
    sys.path.insert(0, str(session.package))
    os.environ["PYTHONPATH"] = str(session.package)
    basetemp = session.scratch / "basetemp"
    options = [
        *_OPTIONS,
        f"--rootdir={session.root}",
        "-c",
        str(session.root / "pyproject.toml"),
        f"--basetemp={basetemp}",
    ]
    return int(pytest.main([*options, *session.tests], plugins=[_NoShrinking(), *plugins]))


class _NoShrinking:
    """The first counterexample kills; making it small is for people."""

    def pytest_collection(self) -> None:
        settings.register_profile(
            "mutants", settings(), phases=(Phase.explicit, Phase.generate), database=None
        )
        settings.load_profile("mutants")


class _Choice:
    """Keeps the chosen tests, in the order in which they are given."""

    def __init__(self, names: Collection[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        del config
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places),
            key=lambda item: self.places[item.nodeid],
        )


@dataclass(eq=False)  # a plugin is known by its identity
class Reach:
    """Which lines each test executes. What a fixture executes counts for every test of the file: it may serve them all."""

    package: Path
    measured: Sequence[str]
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.coverage = coverage.Coverage(
            data_file=None,
            config_file=False,
            include=[str(self.package / name) for name in self.measured],
        )
        self.coverage.start()

    def pytest_runtest_protocol(self, item: Any) -> None:
        self.seconds[item.nodeid] = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, object, object]:
        return (yield from self._phase(item, item.nodeid.partition("::")[0] + "::"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, object, object]:
        return (yield from self._phase(item, item.nodeid))

    def _phase(self, item: Any, context: str) -> Generator[None, object, object]:
        self.coverage.switch_context(context)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] += time.process_time() - start
            self.coverage.switch_context("")

    def table(self) -> dict[str, Any]:
        """Seconds by test; by file and line the tests, ``FILE::`` for all of a file."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            str(Path(name).relative_to(self.package)): {
                line: [context for context in contexts if context]
                for line, contexts in data.contexts_by_lineno(name).items()
            }
            for name in data.measured_files()
        }
        return {"seconds": self.seconds, "lines": lines}
