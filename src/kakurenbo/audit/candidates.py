"""Several releases of one original beside each other: which of them are beaten both in risk and in utility."""

from __future__ import annotations

from collections.abc import Sequence

from kakurenbo.audit.result import AuditResult, Candidate


def frontier(results: Sequence[AuditResult]) -> tuple[Candidate, ...]:
    """The releases in the order given, by their worst risk over control and the similarity of their pairs of columns."""
    candidates = []
    for result in results:
        risk, utility = worst_risk(result), result.utility.pairs
        beaten = any(_beats(other, result) for other in results)
        name = str(result.method.files["release"]["name"])
        candidates.append(Candidate(name, risk, utility, result.verdict.exit_code, not beaten, result.verdict.code))
    return tuple(candidates)


def _beats(one: AuditResult, other: AuditResult) -> bool:
    """Whether a release is better in risk or utility, and worse in neither: nor has fewer columns, or risks not assessed."""
    ours, theirs = (
        (-worst_risk(result), result.utility.pairs, result.utility.columns_kept, _assessed(result)) for result in (one, other)
    )
    return ours != theirs and all(mine >= yours for mine, yours in zip(ours, theirs, strict=True))


def _assessed(result: AuditResult) -> int:
    return sum(risk.assessed for risk in result.risks.values())


def worst_risk(result: AuditResult) -> float:
    """The largest gain over control of any risk; of the rate itself where there is no control."""
    held = [risk for risk in result.risks.values() if risk.assessed and risk.limit is not None]
    gains = [(risk.excess or risk.rate) for risk in held]
    return max((gain.value for gain in gains if gain is not None), default=0.0)
