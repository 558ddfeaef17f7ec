"""Shared fixtures: the reference data beside the repository, and a Hypothesis profile without deadlines."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "kakurenbo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kakurenbo")

LONG_FIRST = (
    "judge",
    "docs",
    "cli",
    "audit",
    "arena",
    "e2e",
    "conformance",
)  # folders of the longest tests
MAX_CPU_SECONDS = 30  # of a test without the marker `slow`, with what it compiles in a fresh clone
REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start long tests first, so that no worker is left alone with one at the end."""

    def place(item: pytest.Item) -> int:
        folder = item.path.parent.relative_to(REPOSITORY).parts[1:2]
        return (
            LONG_FIRST.index(folder[0]) if folder and folder[0] in LONG_FIRST else len(LONG_FIRST)
        )

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that belongs in the slow suite: `make test` has to stay within ten minutes."""
    before = _cpu_seconds()
    result = yield
    used = _cpu_seconds() - before
    if used > MAX_CPU_SECONDS and item.get_closest_marker("slow") is None:
        pytest.fail(
            f"took {used:.0f} s of CPU time: mark it as slow, or make it quicker", pytrace=False
        )
    return result


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Real data sets and reference outputs, which are not ours to commit."""
    folder = Path(os.environ.get("KAKURENBO_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"no reference data: set KAKURENBO_DATA to the folder that holds adult/, amic2020/ ... (looked in {folder})"
        )
    return folder


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are tested in English, whatever the language of the person who runs the tests."""
    monkeypatch.setenv("KAKURENBO_LANG", "en")


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or touches the store of the person who runs it."""
    monkeypatch.setenv("KAKURENBO_HOME", str(tmp_path_factory.mktemp("store")))
