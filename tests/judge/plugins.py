"""Puts the example contest, and one whose judge gets into trouble, where installed plugins are found."""

from __future__ import annotations

from pathlib import Path

from tests.arena.conftest import EXAMPLES, install
from tests.arena.conftest import HERE as ARENA

HERE = Path(__file__).resolve().parent


def install_contests(site: Path) -> None:
    """Hide-and-seek from the documentation, the arena's with several tables and tries, our troubled and our faulty one."""
    install(EXAMPLES / "hide-and-seek", site)
    install(ARENA / "misbehaving", site)
    install(HERE / "trouble", site)
    install(HERE / "faulty", site)
