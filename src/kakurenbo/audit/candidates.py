"""Several releases of one original beside each other: which of them are beaten both in risk and in utility."""

from __future__ import annotations

from collections.abc import Sequence

from kakurenbo.audit.result import AuditResult, Candidate


def frontier(results: Sequence[AuditResult]) -> tuple[Candidate, ...]:
    """The releases in the order given, by their worst risk over control and the similarity of their pairs of columns."""
    figures = [(worst_risk(result), similarity(result)) for result in results]
    candidates = []
    for result, (risk, utility) in zip(results, figures, strict=True):
        beaten = any(
            one <= risk and other >= utility and (one, other) != (risk, utility)
            for one, other in figures
        )
        name = str(result.method.files["release"]["name"])
        candidates.append(
            Candidate(
                name, risk, utility, result.verdict.exit_code, not beaten, result.verdict.code
            )
        )
    return tuple(candidates)


def similarity(result: AuditResult) -> float:
    """Of all pairs of columns of the original; those that are left out count 0, so that leaving out is no gain."""
    names = set(result.method.files["original"]["columns"]) - set(result.method.options["id"])
    kept, every = result.utility.columns_kept, len(names)
    return result.utility.pairs * (kept * (kept - 1) / (every * (every - 1)) if every > 1 else 1.0)


def worst_risk(result: AuditResult) -> float:
    """The largest gain over control of any risk; of the rate itself where there is no control."""
    held = [risk for risk in result.risks.values() if risk.assessed and risk.limit is not None]
    gains = [(risk.excess or risk.rate) for risk in held]
    return max((gain.value for gain in gains if gain is not None), default=0.0)
