"""Shared fixtures: the reference data beside the repository, and a Hypothesis profile without deadlines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("kakurenbo", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kakurenbo")

REPOSITORY = Path(__file__).resolve().parent.parent


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
