"""Privacy measures that the software computes itself, and where a team's own claims say more than they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kakurenbo.contest import Score, json_number
from kakurenbo.core import Problem, Severity, Table
from kakurenbo.measures.privacy import (
    delta_presence,
    entropy_l_diversity,
    k_anonymity,
    l_diversity,
    pk_anonymity,
    t_closeness,
)
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire

_ROUNDING = 0.01  # a claim of 4.1 stands for 4.13: relative slack of figures that people write down


SECRET = "income"
"""The column that l-diversity and t-closeness protect unless another is asked for; the form does not say which."""


def privacy_scores(
    form: Questionnaire,
    release: Table,
    *,
    population: Table | None = None,
    known: Sequence[str] | None = None,
    secret: str = SECRET,
) -> dict[str, Score]:
    """What can be computed of a release.

    k of all columns, or of the ``known`` ones; l, entropy l and t of the secret among rows that are equal on the known columns
    (by default all others); epsilon and Pk of a declared randomization; and, beside B, the largest and the smallest
    delta-presence.
    """
    others = (
        tuple(name for name in release.schema.names if name != secret) if known is None else known
    )
    scores = {
        "k": Score(k_anonymity(release, known)),
        "l": Score(l_diversity(release, others, secret)),
        "l_entropy": Score(entropy_l_diversity(release, others, secret)),
        "t": Score(t_closeness(release, others, secret), higher_is_better=False),
    }
    epsilon, pk = _epsilon(form, release), _pk(form, release, release)
    if epsilon is not None:
        scores["epsilon"] = Score(epsilon, higher_is_better=False)
    if pk is not None:
        scores["Pk"] = Score(pk)
    if population is not None:
        least, most = delta_presence(population, release)
        scores |= {
            "delta_presence": Score(most, higher_is_better=False),
            "delta_absence": Score(least),
        }
    return scores


def computed_claims(form: Questionnaire, release: Table, population: Table) -> dict[str, Any]:
    """The same, ready for JSON, with (delta_min, delta_max)-presence as a pair."""
    scores = privacy_scores(form, release, population=population)
    presence = [scores.pop(name).value for name in ("delta_absence", "delta_presence")]
    return {
        **{name: json_number(score.value) for name, score in scores.items()},
        "delta_presence": presence,
    }


def exaggerated(
    form: Questionnaire, sample: Table, release: Table, file: str
) -> tuple[Problem, ...]:
    """Notices of claims that the release does not bear out, as far as no secret is needed: k, epsilon and Pk.

    The epsilon of a method that looks at data is known from the release only roughly, so the benefit of the doubt between
    sample and release is the team's; that of its Pk likewise.
    """
    found, claims = [], form.claims
    if claims.k is not None and claims.k > (k := k_anonymity(release)):
        found.append(_notice("amic2020.claimed_k", file, claims.k, k))
    claimed, computed = claims.epsilon, _epsilon(form, release)
    if (
        claimed is not None and computed is not None and not claims.delta
    ):  # with delta > 0 a smaller epsilon can be true
        least = min(computed, _epsilon(form, sample) or 0.0)
        if _less(claimed, least):
            found.append(_notice("amic2020.claimed_epsilon", file, claimed, computed))
    pk = _pk(form, release, release)
    if (
        claims.Pk is not None
        and pk is not None
        and _less(max(pk, _pk(form, sample, release) or 1.0), claims.Pk)
    ):
        found.append(_notice("amic2020.claimed_Pk", file, claims.Pk, pk))
    return tuple(found)


def exaggerated_presence(
    form: Questionnaire, release: Table, population: Table, file: str
) -> tuple[Problem, ...]:
    """The notice of a claimed delta-presence below the computed one, which needs B."""
    claimed = form.claims.delta_presence
    if claimed is None:
        return ()
    _, highest = delta_presence(population, release)
    return (
        (_notice("amic2020.claimed_presence", file, claimed, highest),)
        if _less(claimed, highest)
        else ()
    )


def _epsilon(form: Questionnaire, table: Table) -> float | None:
    mechanism = form.mechanism(table)
    return None if mechanism is None else mechanism.epsilon(table.schema.names)


def _pk(form: Questionnaire, table: Table, release: Table) -> float | None:
    """Pk of the declared method that looked at ``table``; equal rows of the release hide each other, whatever made them."""
    mechanism = form.mechanism(table)
    if mechanism is None:
        return None
    return max(
        float(k_anonymity(release)), pk_anonymity(mechanism, release.schema.names, len(release))
    )


def _less(one: float, other: float) -> bool:
    return one < other * (1 - _ROUNDING)


def _notice(code: str, file: str, claimed: float, computed: float) -> Problem:
    shown = {"claimed": f"{claimed:.6g}", "computed": f"{computed:.6g}"}
    return Problem(code, shown, file, severity=Severity.NOTICE)
