"""An earlier audit to compare with: a result, its JSON, or the file of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kakurenbo.audit.result import RISKS, AuditResult
from kakurenbo.core import STANDARD_INPUT, InputError, Source, read_json
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message


def is_baseline(content: object) -> bool:
    """Whether a JSON document tells what a comparison needs, of every risk, as the JSON of every audit does.

    One that tells less would compare nothing and be taken for a comparison that nothing failed.
    """
    match content:
        case {
            "risks": dict(risks),
            "method": {"files": {"original": {"name": str(), "sha256": str(), "columns": list()}}},
        }:
            return set(RISKS) <= set(risks) and all(_is_told(risk) for risk in risks.values())
    return False


def _is_told(risk: object) -> bool:
    """Whether the JSON of a risk is of one that was not assessed, or has the interval that another one is compared with."""
    match risk:
        case {"assessed": False}:
            return True
        case {"assessed": True, "excess": None, "interval": interval}:
            return _is_interval(interval)
        case {"assessed": True, "excess": {"interval": interval}}:
            return _is_interval(interval)
    return False


def _is_interval(interval: object) -> bool:
    match interval:
        case [int() | float() as low, int() | float() as high]:
            are_numbers = not isinstance(low, bool) and not isinstance(high, bool)
            return are_numbers and math.isfinite(low) and math.isfinite(high) and low <= high
    return False


def read_baseline(path: Path) -> dict[str, Any]:
    """The JSON of an audit that ``--json`` or ``-o NAME.json`` wrote.

    Raises
    ------
    UsageError
        Where there is no such file, or it is another one.
    """
    if path != STANDARD_INPUT and not path.exists():
        raise UsageError("usage.audit_no_baseline", path=str(path))
    try:
        content = read_json(Source.of(path))
    except InputError:
        content = None
    if not isinstance(content, dict) or not is_baseline(content):
        raise UsageError("usage.audit_baseline", path=str(path))
    return content


def given_baseline(
    baseline: AuditResult | Mapping[str, Any] | str | Path | None,
) -> Mapping[str, Any]:
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
        raise ParameterError("baseline", Message("expects.earlier_audit"), type(baseline).__name__)
    return baseline
