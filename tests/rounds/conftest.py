"""The example contest of the documentation, played by folders."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = (
    Path(__file__).resolve().parents[2] / "docs" / "examples" / "hide-and-seek" / "hide_and_seek.py"
)


@cache
def example() -> ModuleType:
    described = importlib.util.spec_from_file_location("hide_and_seek", EXAMPLE)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.modules["hide_and_seek"] = module  # dataclasses look their module up while they are made
    described.loader.exec_module(module)
    return module


@pytest.fixture
def hide_and_seek(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the example, as an installed package would be imported; other tests install copies of their own."""
    before = sys.modules.get("hide_and_seek")
    module = example()
    if before is None:
        monkeypatch.delitem(sys.modules, "hide_and_seek", raising=False)
    else:
        sys.modules["hide_and_seek"] = before
    monkeypatch.setitem(sys.modules, "hide_and_seek", module)
    return module
