"""The option that writes the stored outputs anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write the outputs of tests/golden anew, instead of comparing with them",
    )
