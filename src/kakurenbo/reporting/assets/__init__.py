"""Files of the report: styles, scripts, colours and words, as they stand in the package."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources


@cache
def asset(name: str) -> str:
    """The text of a file."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} would end its own script element")
    return text


def palettes() -> dict[str, dict[str, str]]:
    """The colours of each theme by their names."""
    found: dict[str, dict[str, str]] = json.loads(asset("palette.json"))
    return found
