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

ROUNDING = 0.01  # a claim of 4.1 stands for 4.13: relative slack of figures that people write down
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
    """Compute the privacy models of a release.

    k of all columns, or of the ``known`` ones; l, entropy l and t of the secret among rows that are equal on the known columns
    (by default all others); epsilon and Pk of a declared randomization; and, beside B, the largest and the smallest
    delta-presence.
    """
    others = known
    if others is None:
        others = [name for name in release.schema.names if name != secret]
    scores = {
        "k": Score(k_anonymity(release, known)),
        "l": Score(l_diversity(release, others, secret)),
        "l_entropy": Score(entropy_l_diversity(release, others, secret)),
        "t": Score(t_closeness(release, others, secret), higher_is_better=False),
    }
    if (declared := declared_privacy(form, release, release)) is not None:
        epsilon, pk = declared
        scores |= {"epsilon": Score(epsilon, higher_is_better=False), "Pk": Score(pk)}
    if population is not None:
        least, most = delta_presence(population, release)
        scores["delta_presence"] = Score(most, higher_is_better=False)
        scores["delta_absence"] = Score(least)
    return scores


def declared_privacy(
    form: Questionnaire, table: Table, release: Table
) -> tuple[float, float] | None:
    """Return epsilon and Pk of the declared method if it looked at ``table``; None without a mechanism.

    Equal rows of the release hide each other, whatever made them.
    """
    mechanism, names = form.mechanism(table), release.schema.names
    if mechanism is None:
        return None
    pk = pk_anonymity(mechanism, names, len(release))
    return mechanism.epsilon(names), max(float(k_anonymity(release)), pk)


def computed_claims(form: Questionnaire, release: Table, population: Table) -> dict[str, Any]:
    """Return the scores for JSON, with (delta_min, delta_max)-presence as a pair."""
    scores = privacy_scores(form, release, population=population)
    presence = [scores.pop(name).value for name in ("delta_absence", "delta_presence")]
    numbers = {name: json_number(score.value) for name, score in scores.items()}
    return {**numbers, "delta_presence": presence}


def exaggerated(
    form: Questionnaire, sample: Table, release: Table, file: str
) -> tuple[Problem, ...]:
    """Return notices of claims that the release does not bear out, as far as no secret is needed: k, epsilon and Pk.

    The epsilon and the Pk of a method that looks at data are known from the release only roughly, so the benefit of the
    doubt between sample and release is the team's.
    """
    notices, claims, k = [], form.claims, k_anonymity(release)
    if claims.k is not None and claims.k > k:
        notices.append(_notice("amic2020.claimed_k", file, claims.k, k))
    of_release = declared_privacy(form, release, release)
    if of_release is not None:
        of_sample = declared_privacy(form, sample, release) or (0.0, 1.0)
        (epsilon, pk), least = of_release, min(of_release[0], of_sample[0])
        # With delta > 0 a smaller epsilon can be true.
        if claims.epsilon is not None and not claims.delta and _is_less(claims.epsilon, least):
            notices.append(_notice("amic2020.claimed_epsilon", file, claims.epsilon, epsilon))
        if claims.Pk is not None and _is_less(max(pk, of_sample[1]), claims.Pk):
            notices.append(_notice("amic2020.claimed_Pk", file, claims.Pk, pk))
    return tuple(notices)


def exaggerated_presence(
    form: Questionnaire, release: Table, population: Table, file: str
) -> tuple[Problem, ...]:
    """Return the notice of a claimed delta-presence below the computed one, which needs B."""
    claimed = form.claims.delta_presence
    if claimed is None:
        return ()
    _, highest = delta_presence(population, release)
    if not _is_less(claimed, highest):
        return ()
    return (_notice("amic2020.claimed_presence", file, claimed, highest),)


def _is_less(claimed: float, computed: float) -> bool:
    return claimed < computed * (1 - ROUNDING)


def _notice(code: str, file: str, claimed: float, computed: float) -> Problem:
    shown = {"claimed": f"{claimed:.6g}", "computed": f"{computed:.6g}"}
    return Problem(code, shown, file, severity=Severity.NOTICE)
