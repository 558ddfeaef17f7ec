"""Static files without a build step: served where they lie, under addresses that change when their content does."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage

_SHOWN_DIGITS = 12


class VersionedFiles(StaticFilesStorage):
    """``/static/judge.css?v=0f3a...``: a browser may keep it for ever, and asks anew when the file is another."""

    def url(self, name: str | None, *_arguments: object, **_options: object) -> str:
        plain = super().url(name)
        version = _version(name or "")
        return f"{plain}?v={version}" if version else plain


@cache
def _version(name: str) -> str:
    found = finders.find(name)
    return (
        hashlib.sha256(Path(found).read_bytes()).hexdigest()[:_SHOWN_DIGITS]
        if isinstance(found, str)
        else ""
    )
