"""Files of the report: styles, the script, colours, words and templates."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kakurenbo.core.messages import escaped


@cache
def asset(name: str) -> str:
    """Return the text of a file."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} would end its own script element")
    return text


@cache
def palettes() -> dict[str, dict[str, str]]:
    """Return the colours of each theme by their names."""
    colours: dict[str, dict[str, str]] = json.loads(asset("palette.json"))
    return colours


def pixels(value: float) -> str:
    """Return a coordinate with two decimals at most.

    Examples
    --------
    >>> pixels(12.0), pixels(0.125), pixels(-0.001)
    ('12', '0.13', '0')
    """
    return f"{math.floor(value * 100 + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


def render(template: str, **context: object) -> str:
    """Fill in a template: what players wrote stays text and cannot turn its direction; numbers are coordinates."""
    return _environment().get_template(template).render(context)


def macros() -> Any:
    """Return the shapes that all drawings are made of."""
    return _environment().get_template("macros.svg").module


@cache
def _environment() -> Environment:
    def finalize(value: object) -> object:
        if isinstance(value, float):
            return pixels(value)
        return escaped(value) if type(value) is str else value

    environment = Environment(
        loader=PackageLoader("kakurenbo.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
        extensions=["jinja2.ext.do"],
    )
    compact = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    environment.policies["json.dumps_kwargs"] = compact
    return environment
