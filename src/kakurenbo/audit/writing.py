"""Reports of an audit as files: the format by the ending of the name, for its owner alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from kakurenbo.audit.report import html_audit, markdown_audit
from kakurenbo.audit.result import AuditResult
from kakurenbo.core import json_bytes, write_file
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import LANGUAGES, Message, speaking

_RENDERERS: Mapping[str, Callable[[AuditResult], bytes]] = MappingProxyType(
    {
        ".html": lambda result: html_audit(result).encode(),
        ".md": lambda result: markdown_audit(result).encode(),
        ".json": lambda result: json_bytes(result.as_json()),
    }
)


def check_report_name(path: Path) -> None:
    """Raise :class:`UsageError` where the name of a report ends in no format that there is."""
    if path.suffix not in _RENDERERS:
        raise UsageError("usage.audit_out", path=str(path))


def write_report(result: AuditResult, path: str | Path, language: str | None = None) -> None:
    """Write ``.html``, ``.md`` or ``.json``; see :meth:`AuditResult.write_report`."""
    path = Path(path)
    check_report_name(path)
    if language is not None and language not in LANGUAGES:
        raise ParameterError(
            "language", Message("expects.choices", {"choices": list(LANGUAGES)}), language
        )
    with contextlib.nullcontext() if language is None else speaking(language):
        content = _RENDERERS[path.suffix](result)
    write_file(path, content, private=True)
