"""The example contest and methods that misbehave, installed as plugins in a folder of their own, without any network."""

from __future__ import annotations

import contextlib
import pickle
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.arena.jobs import Task, perform
from kakurenbo.arena.plan import Job
from kakurenbo.arena.store import Outcome
from kakurenbo.contest import Files
from kakurenbo.methods import registry

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
HERE = Path(__file__).resolve().parent
collect_ignore = ["misbehaving"]  # plugins, which find what they need only where they are installed


def install(project: Path, site: Path) -> None:
    """What an installer does with a plain package: its module, and the declaration of its entry points beside it."""
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    for module in project.glob("*.py"):
        shutil.copy(module, site)
    info = site / f"{described['name'].replace('-', '_')}-{described['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n"
    )
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in described["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))


@contextlib.contextmanager
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process, and those it starts, find the plugins of a folder."""
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    registry._declared.cache_clear()
    yield
    registry._declared.cache_clear()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the search path with the example contest and the misbehaving methods installed."""
    folder = tmp_path_factory.mktemp("site")
    install(EXAMPLES / "hide-and-seek", folder)
    install(HERE / "misbehaving", folder)
    return folder


@pytest.fixture
def plugins(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same, on the search path of this process and of those it starts."""
    with installed(site, monkeypatch):
        yield site


@pytest.fixture(scope="session")
def install_example() -> Callable[[str, Path], None]:
    """Installs one of the documentation's examples into a folder."""
    return lambda name, site: install(EXAMPLES / name, site)


class _Here:
    """Does each task at once in this process."""

    at_a_time = 1

    def __init__(self) -> None:
        self._ended: list[tuple[Job, Outcome | str]] = []

    def has_room(self, role: str) -> bool:
        return not self._ended

    def submit(
        self, job: Job, task: Task, inputs: Mapping[str, Files], limit: float | None
    ) -> None:
        self._ended.append((job, perform(*pickle.loads(pickle.dumps((task, inputs))))))

    def wait(self) -> list[tuple[Job, Outcome | str]]:
        ended, self._ended = self._ended, []
        return ended

    def dismiss(self, role: str) -> None:
        """There is nothing to end."""


@pytest.fixture(scope="session")
def here() -> arena.Workers:
    """One job after the other in this process: no secrets are kept apart, but nothing has to be started."""
    return arena.Workers("this process", lambda _: contextlib.nullcontext(_Here()))
