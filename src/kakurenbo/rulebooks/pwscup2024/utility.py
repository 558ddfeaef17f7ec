"""Figures of a release that need no secret: U of each file, U = min_j U_j, and the sample attack's anonymity."""

from __future__ import annotations

from collections.abc import Sequence

from kakurenbo.attacks.reconstruction.hamming import Sample
from kakurenbo.contest import Score, Utility
from kakurenbo.core import Problem, Severity, Table
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.measures.crosstab import crosstab_utility, least_utility
from kakurenbo.rulebooks.pwscup2024.scores import FULL, count_hits
from kakurenbo.rulebooks.pwscup2024.targets import draw_masks, draw_test

SAMPLE_ANONYMITY = "sample_anonymity"


def release_utility(original: Table, tables: tuple[Table, ...]) -> Utility:
    """Compute every figure of the ten files that were made of B."""
    code, name = "pwscup2024.other_people", SAMPLE_ANONYMITY
    other_people = Problem(code, file=name, severity=Severity.NOTICE)
    scores = {**crosstab_scores(original, tables), name: sample_anonymity(original, tables)}
    return Utility(scores, notices=(other_people,))


def crosstab_scores(original: Table, tables: Sequence[Table]) -> dict[str, Score]:
    """Compute ``U_0`` to ``U_9`` and ``U``, each with the pair of columns that limits it."""
    pairs = zip(ratings.split(original), tables, strict=True)
    parts = [crosstab_utility(split, table, ratings.ATTRIBUTES) for split, table in pairs]
    by_file = {f"U_{number}": score for number, score in enumerate(parts)}
    return {**by_file, "U": least_utility(parts)}


def sample_anonymity(original: Table, tables: tuple[Table, ...]) -> Score:
    """Compute 100 - hits of the sample attack on 50 people, an estimate for the team.

    The people, orders and masks come from a public stream that B and the release fix, so that anybody who holds them gets the
    same figure. The judge draws 50 other people from the secret seed: the sample attack's hits there differ by a few.
    """
    digests = [table.digest() for table in (original, *tables)]
    rng = stream(0, "pwscup2024", SAMPLE_ANONYMITY, *digests)
    knowledge, answer = draw_test(original, tables, rng, draw_masks(rng))
    credit = count_hits(answer, Sample()(knowledge, rng))
    parts = {name: float(hits) for name, hits in credit.details.items()}
    return Score(float(FULL - credit.hits), parts=parts)
