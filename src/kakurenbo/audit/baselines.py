"""An earlier audit to compare with: a result, its JSON, or the file of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kakurenbo.audit.caveats import is_baseline
from kakurenbo.audit.result import AuditResult
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.messages import text
from kakurenbo.tables import STANDARD_INPUT, Read, Source, read_json


def read_baseline(path: Path) -> dict[str, Any]:
    """The JSON of an audit that ``--json`` or ``-o NAME.json`` wrote.

    Raises
    ------
    UsageError
        Where there is no such file, or it is another one.
    """
    if path != STANDARD_INPUT and not path.exists():
        raise UsageError(text("usage.audit_no_baseline", path=str(path)))
    reading = read_json(Source.of(path))
    content = reading.value if isinstance(reading, Read) else None
    if not isinstance(content, dict) or not is_baseline(content):
        raise UsageError(text("usage.audit_baseline", path=str(path)))
    return content


def given_baseline(baseline: AuditResult | Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    """What somebody compares with in Python; empty for nothing.

    Raises
    ------
    ParameterError, UsageError
        Where it is not of an audit.
    """
    if baseline is None:
        return {}
    if isinstance(baseline, AuditResult):
        return baseline.as_json()
    if isinstance(baseline, str | Path):
        return read_baseline(Path(baseline))
    if not is_baseline(baseline):
        raise ParameterError("baseline", text("expects.earlier_audit"), type(baseline).__name__)
    return baseline
