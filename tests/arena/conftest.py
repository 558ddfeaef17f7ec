"""The example contest and methods that misbehave, installed as plugins in a folder of their own, without any network."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kakurenbo import registry

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
HERE = Path(__file__).resolve().parent


def install(project: Path, site: Path) -> None:
    """What an installer does with a plain package: its module, and the declaration of its entry points beside it."""
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    for module in project.glob("*.py"):
        shutil.copy(module, site)
    info = site / f"{described['name'].replace('-', '_')}-{described['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in described["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))


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
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    registry._declared.cache_clear()
    yield site
    registry._declared.cache_clear()


@pytest.fixture(scope="session")
def install_example() -> Callable[[str, Path], None]:
    """Installs one of the documentation's examples into a folder."""
    return lambda name, site: install(EXAMPLES / name, site)
