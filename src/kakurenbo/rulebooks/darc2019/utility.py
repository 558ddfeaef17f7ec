"""Rules 10 and 14 of darc2019: utility E1..E6 and U, and the re-identification S1..S7 of the baselines, in both modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.keys import KEYS, KeyMatch
from kakurenbo.attacks.reidentification.overlap import Overlap
from kakurenbo.datasets.transactions import kept
from kakurenbo.measures import item_similarity as similarity
from kakurenbo.measures import row_changes
from kakurenbo.protocols import Attack, Score, Utility
from kakurenbo.rulebooks.darc2019.files import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid
from kakurenbo.tables import Table

SMALL_SCORE = 6  # E2 looks at scores below it
TOP_ITEMS = 180  # E3 looks at these items of T
TOP_SHARE = 0.05  # the evaluator's E3 looks at this share of each table's items
REFERENCE_ORDER = 2019  # seed of the order of S in which baselines are measured

Baselines = Mapping[str, Attack[ReidentificationKnowledge, ReidentificationGuess]]


def baselines(mode: str) -> Baselines:
    """F1..F7 under the names of their scores."""
    return {**{f"S{number}": KeyMatch(number, mode) for number in KEYS}, "S7": Overlap(mode)}


def measure(original: Table, released: Table, mode: str) -> Utility:
    """E1..E6, U = max, and S1..S7 of a release."""
    errors = {name: min(1.0, value) for name, value in errors_of(original, released, mode).items()}
    largest = max(errors, key=lambda name: errors[name])
    scores = {name: Score(value, higher_is_better=False) for name, value in errors.items()}
    scores["U"] = Score(errors[largest], higher_is_better=False, limit={"by": largest})
    return Utility({**scores, **_reidentification(original, released, mode)})


def errors_of(original: Table, released: Table, mode: str) -> dict[str, float]:
    """E1..E6 before they are capped at 1."""
    alive = kept(released)
    changes = {
        "E4": row_changes.date_change(original.codes["date"], released.codes["date"], alive),
        "E5": row_changes.price_change(original.codes["price"], released.codes["price"], alive),
        "E6": row_changes.deleted_share(alive),
    }
    if mode == "rules":
        return {**_similarity_of_the_rules(original, released, alive), **changes}
    digits = {"E4": 10, "E5": 10, "E6": 4}
    rounded = {name: round(value, digits[name]) for name, value in changes.items()}
    return {**_similarity_of_the_evaluator(original, released, alive), **rounded}


def _purchases(table: Table, rows: Any) -> similarity.Matrix:
    count = len(table.vocabularies["id_item"])
    return similarity.purchases(table.codes["id_user"][rows], table.codes["id_item"][rows], table.values("qty")[rows], count)


def _similarity_of_the_rules(original: Table, released: Table, alive: Any) -> dict[str, float]:
    tables = [_purchases(original, slice(None)), _purchases(released, alive)]
    whole = [similarity.copurchaser_similarity(scores) for scores in tables]
    small = [similarity.copurchaser_similarity(similarity.keep_below(scores, SMALL_SCORE)) for scores in tables]
    top = np.sort(similarity.top_items(original.codes["id_item"], tables[0].shape[1], TOP_ITEMS))
    # U_ij of two top items does not depend on the others: E3 compares a part of E1's matrices.
    chosen = [matrix[top][:, top] for matrix in whole]
    return {
        "E1": similarity.matrix_distance(*whole),
        "E2": similarity.matrix_distance(*small),
        "E3": similarity.matrix_distance(*chosen),
    }


def _similarity_of_the_evaluator(original: Table, released: Table, alive: Any) -> dict[str, float]:
    """Plain cosines; E2 is always 0; E3 with each table's own top list, or the distance of the two lists if larger."""
    tables = [_purchases(original, slice(None)), _purchases(released, alive)]
    whole = [similarity.cosine_similarity(scores) for scores in tables]
    tops = [_top_of_the_evaluator(original.codes["id_item"]), _top_of_the_evaluator(released.codes["id_item"][alive])]
    chosen = [_restricted(matrix, top) for matrix, top in zip(whole, tops, strict=True)]
    return {
        "E1": similarity.matrix_distance(*whole),
        "E2": 0.0,
        "E3": max(similarity.matrix_distance(*chosen), similarity.top_list_distance(*tops)),
    }


def disabled_e2(original: Table, released: Table) -> float:
    """What the evaluator's E2 would have been: scores below the median of T's scores, in each table."""
    tables = [_purchases(original, slice(None)), _purchases(released, kept(released))]
    median = float(np.median(tables[0].data))
    low = [similarity.cosine_similarity(similarity.keep_below(scores, median)) for scores in tables]
    return similarity.matrix_distance(*low)


def _top_of_the_evaluator(items: Any) -> Any:
    places = int(TOP_SHARE * len(np.unique(items)))
    return similarity.top_items(items, int(items.max()) + 1 if len(items) else 0, places)


def _restricted(matrix: similarity.Matrix, items: Any) -> similarity.Matrix:
    """The matrix with all but these rows and columns zeroed; a cosine of two items needs no others."""
    wanted = np.zeros(matrix.shape[0], dtype=bool)
    wanted[items] = True
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    part = matrix.copy()
    part.data = np.where(wanted[rows] & wanted[part.indices], part.data, 0.0)
    return part


def _reidentification(original: Table, released: Table, mode: str) -> dict[str, Score]:
    """S1..S7 on S in the reference order."""
    answer, rows = answer_of(original, released)
    order = np.random.RandomState(REFERENCE_ORDER).permutation(len(rows))
    knowledge = ReidentificationKnowledge(original, rows.take(order))
    unused = np.random.default_rng(0)
    found = {name: reid(answer, attack(knowledge, unused), mode) for name, attack in baselines(mode).items()}
    return {name: Score(value, higher_is_better=False) for name, value in found.items()}
