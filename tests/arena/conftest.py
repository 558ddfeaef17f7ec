"""The example contest and methods that misbehave, installed as plugins in a folder of their own, without any network."""

from __future__ import annotations

import contextlib
import shutil
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from kakurenbo import arena
from kakurenbo.arena.executors import JUDGES, PLAYERS, Crews, Quota
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


class _Here(Executor):
    """Runs each job at once in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="session")
def here() -> arena.Workers:
    """One job after the other in this process: no secrets are kept apart, but nothing has to be started."""
    roles = PLAYERS | {JUDGES}
    crews = Crews(dict.fromkeys(roles, _Here()), (Quota(roles, lambda: 1),), lambda: 1)
    return arena.Workers("this process", lambda: contextlib.nullcontext(crews))
