"""Privacy measures that the software computes itself, and where a team's own claims say more than they do."""

from __future__ import annotations

from typing import Any

from kakurenbo.contracts import json_number
from kakurenbo.measures.privacy import delta_presence, k_anonymity
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire
from kakurenbo.tables import Problem, Severity, Table

_ROUNDING = 0.01  # a claim of 4.1 stands for 4.13: relative slack of figures that people write down


def computed_claims(form: Questionnaire, release: Table, population: Table) -> dict[str, Any]:
    """k on D, (delta_min, delta_max)-presence of D in B, and epsilon of a declared randomized response; ready for JSON."""
    claims: dict[str, Any] = {"k": k_anonymity(release), "delta_presence": list(delta_presence(population, release))}
    epsilon = _epsilon(form, release)
    if epsilon is not None:
        claims["epsilon"] = json_number(epsilon)
    return claims


def exaggerated(form: Questionnaire, sample: Table, release: Table, file: str) -> tuple[Problem, ...]:
    """Notices of claims that the release does not bear out, as far as no secret is needed: k and epsilon.

    The epsilon of a method that looks at data is known from the release only roughly, so the benefit of the doubt between
    sample and release is the team's.
    """
    found, claims = [], form.claims
    k = k_anonymity(release)
    if claims.k is not None and claims.k > k:
        found.append(_notice("amic2020.claimed_k", file, claims.k, k))
    claimed, computed = claims.epsilon, _epsilon(form, release)
    if claimed is not None and computed is not None and not claims.delta:  # with delta > 0 a smaller epsilon can be true
        least = min(computed, _epsilon(form, sample) or 0.0)
        if _less(claimed, least):
            found.append(_notice("amic2020.claimed_epsilon", file, claimed, computed))
    return tuple(found)


def exaggerated_presence(form: Questionnaire, release: Table, population: Table, file: str) -> tuple[Problem, ...]:
    """The notice of a claimed delta-presence below the computed one, which needs B."""
    claimed = form.claims.delta_presence
    if claimed is None:
        return ()
    _, highest = delta_presence(population, release)
    return (_notice("amic2020.claimed_presence", file, claimed, highest),) if _less(claimed, highest) else ()


def _epsilon(form: Questionnaire, table: Table) -> float | None:
    mechanism = form.mechanism(table)
    return None if mechanism is None else mechanism.epsilon(table.schema.names)


def _less(claimed: float, computed: float) -> bool:
    return claimed < computed * (1 - _ROUNDING)


def _notice(code: str, file: str, claimed: float, computed: float) -> Problem:
    shown = {"claimed": f"{claimed:.6g}", "computed": f"{computed:.6g}"}
    return Problem(code, shown, file, severity=Severity.NOTICE)
