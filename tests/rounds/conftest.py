"""The example contest of the documentation, played by folders."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "hide-and-seek" / "hide_and_seek.py"


@pytest.fixture(scope="session")
def hide_and_seek() -> ModuleType:
    """The module of the example, as an installed package would be imported."""
    described = importlib.util.spec_from_file_location("hide_and_seek", EXAMPLE)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.modules.setdefault("hide_and_seek", module)
    described.loader.exec_module(module)
    return module
