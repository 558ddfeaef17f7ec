"""Calling the command line as people do, for its words, and as programs do: with --json, for one object back."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any, NamedTuple

import pytest

from kakurenbo.cli import main


class Called(NamedTuple):
    """What a call of the command line left behind."""

    code: int
    json: Any
    err: str


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a call."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main([*map(str, arguments)])
    assert "Traceback" not in err.getvalue()
    return int(left.value.code or 0), out.getvalue(), err.getvalue()


def call(*arguments: object) -> Called:
    """Call the command line with --json."""
    code, out, err = run(*arguments, "--json")
    return Called(code, json.loads(out), err)
