"""How much of each risk is allowed: defaults, and the TOML file in which somebody sets other limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from kakurenbo.audit.result import (
    ABOVE,
    INCONCLUSIVE,
    NOT_ASSESSED,
    WITHIN,
    Caveat,
    ExposedRecords,
    Risk,
    Verdict,
)
from kakurenbo.audit.schema import read_settings
from kakurenbo.core import Source
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.core.problems import ProblemCollector, Severity
from kakurenbo.methods.registry import nearest_name

RECORDS = "records"
DEFAULTS: Mapping[str, float] = MappingProxyType(
    {
        "membership": 0.02,
        "singling_out": 0.1,
        "linkability": 0.1,
        "inference": 0.1,
        "pseudonyms": 0.1,
        RECORDS: 0,
    }
)
"""The most that each risk may be over its control, and how many records may be exposed."""
ONE_ROW_EACH = "one_row_each"
"""Why pseudonyms are no question where every row is a person."""
UNREAD = "unread"
"""Why what was not found is not shown to be absent: most released cells were not understood."""
_SIGNIFICANT = 0.05


def read_limits(source: Source) -> dict[str, float]:
    """The limits of a file: ``membership = 0.05`` and so on; what it does not name keeps its default."""
    content, found = read_settings(source), ProblemCollector(source.name)
    for name, value in content.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name not in DEFAULTS:
            near = nearest_name(name, DEFAULTS)
            told: dict[str, Any] = {
                "names": tuple(DEFAULTS),
                "meant": Message("audit.meant", {"name": near}) if near else "",
            }
            found.add(
                "audit.limit_name", column=name, value=name, severity=Severity.MALFORMED, **told
            )
        elif name == RECORDS and not (isinstance(value, int) and number and value >= 0):
            found.add(
                "audit.limit_records", column=name, value=str(value), severity=Severity.MALFORMED
            )
        elif name != RECORDS and not (number and 0 <= value <= 1):
            found.add(
                "audit.limit_value", column=name, value=str(value), severity=Severity.MALFORMED
            )
    if not content:
        found.add("audit.no_limits", severity=Severity.MALFORMED, names=tuple(DEFAULTS))
    found.check()
    return {**DEFAULTS, **content}


def given_limits(limits: Mapping[str, float]) -> dict[str, float]:
    """Limits that somebody gives in Python; what is not named keeps its default.

    Raises
    ------
    ParameterError
        Where a name or a value is none.
    """
    for name, value in limits.items():
        if name not in DEFAULTS:
            raise ParameterError(
                "limits",
                Message("expects.limit_names", {"names": list(DEFAULTS)}),
                name,
                nearest_name(name, DEFAULTS),
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name == RECORDS and not (number and value >= 0 and value == int(value)):
            raise ParameterError("limits", Message("expects.limit_of_records"), f"{name} = {value}")
        if name != RECORDS and not (number and 0 <= value <= 1):
            raise ParameterError("limits", Message("expects.limit_shares"), f"{name} = {value}")
    return {**DEFAULTS, **limits}


def held_to(risk: Risk, limits: Mapping[str, float]) -> Risk:
    """The risk with its limit and how it stands to it: above only where that is significant over all risks."""
    limit = limits.get(risk.name)
    if not risk.assessed or limit is None:
        return risk
    low, high = _bounds(risk)
    if risk.why == UNREAD and low <= limit:
        return Risk(risk.name, False, risk.why, limit=limit)
    if risk.control is None and risk.rate is not None:
        # Others may tell more without the release than a control would be: a gain over that shows leaks, but not their absence.
        high = risk.rate.high
    significant = risk.p_value is None or risk.p_value < _SIGNIFICANT
    standing = (
        ABOVE
        if low > limit and significant
        else WITHIN
        if high <= limit and not risk.why
        else INCONCLUSIVE
    )
    why = risk.why or ("no_control" if risk.control is None and standing != WITHIN else "")
    return replace(risk, limit=limit, standing=standing, why=why)


def _bounds(risk: Risk) -> tuple[float, float]:
    if risk.excess is not None:
        return risk.excess.low, risk.excess.high
    return (risk.rate.low, risk.rate.high) if risk.rate is not None else (0.0, 1.0)


def verdict_of(
    risks: Mapping[str, Risk],
    records: ExposedRecords,
    limits: Mapping[str, float],
    regressions: tuple[str, ...],
    *,
    strict: bool,
    copies: int | None = 0,
    caveats: Sequence[Caveat] = (),
) -> Verdict:
    """The one sentence, and the exit code.

    Parameters
    ----------
    copies : int
        Released rows that fit exactly one person of the original in every column; told where records could not be assessed.
        None where rows are not people.
    caveats : sequence of Caveat
        What could not be attacked, so that nobody may be reassured, or gives people away by itself.
    """
    above = [name for name, risk in risks.items() if risk.standing == ABOVE]
    if len(records.flagged) > limits[RECORDS]:
        above.append(RECORDS)
    if above and copies is None:
        return Verdict("leaks_by_person", 1, {"risks": above})
    if above and not records.assessed:
        return Verdict("leaks_anyway", 1, {"risks": above, "copies": copies})
    if above:
        return Verdict("leaks", 1, {"risks": above, "flagged": len(records.flagged)})
    if any(caveat.leaks for caveat in caveats):
        return Verdict("leaks_by_caveat", 1, {})
    if regressions:
        return Verdict("regressed", 1, {"risks": list(regressions)})
    asked = [name for name, risk in risks.items() if name in limits and risk.why != ONE_ROW_EACH]
    open_ = [name for name in asked if risks[name].standing in (INCONCLUSIVE, NOT_ASSESSED)]
    if open_:
        return Verdict("open", 1 if strict else 3, {"risks": open_})
    blocked = any(caveat.blocks for caveat in caveats)
    return Verdict("not_all", 1 if strict else 3, {}) if blocked else Verdict("within", 0, {})


def worse_than(risks: Mapping[str, Risk], baseline: Mapping[str, object]) -> tuple[str, ...]:
    """Risks whose whole interval lies above that of an earlier audit, given as its JSON."""
    told = baseline.get("risks")
    earlier = told if isinstance(told, Mapping) else {}
    worse = []
    for name, risk in risks.items():
        before = earlier.get(name)
        if not risk.assessed or not isinstance(before, Mapping):
            continue
        excess = before.get("excess")
        interval = excess.get("interval") if isinstance(excess, Mapping) else before.get("interval")
        if (
            isinstance(interval, list)
            and len(interval) == 2
            and all(isinstance(end, int | float) for end in interval)
        ):
            worse += [name] if _bounds(risk)[0] > interval[1] else []
    return tuple(worse)
