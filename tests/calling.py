"""Calling the command line as programs do: with --json, for one object back."""

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


def call(*arguments: object) -> Called:
    """Call the command line with --json."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
        main([*map(str, arguments), "--json"])
    assert "Traceback" not in err.getvalue()
    return Called(int(left.value.code or 0), json.loads(out.getvalue()), err.getvalue())
