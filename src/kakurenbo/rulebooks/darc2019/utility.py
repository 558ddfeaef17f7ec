"""Rules 10 and 14 of darc2019: utility E1..E6 and U, and the re-identification S1..S7 of the baselines, in both modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.baselines import KEYS, KeyMatch, Overlap
from kakurenbo.attacks.reidentification.purchases import shown_customers, true_purchases
from kakurenbo.contest import Attack, Score, Utility
from kakurenbo.core import Table
from kakurenbo.data.transactions import kept, prices, top_items
from kakurenbo.measures import record_changes
from kakurenbo.measures.item_similarity import ItemMatrix, similarity_distance, top_list_distance
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid

SMALL_SCORE = 6  # E2 looks at scores below it
TOP_ITEMS = 180  # E3 looks at these items of T
TOP_SHARE = 0.05  # the evaluator's E3 looks at this share of each table's items
REFERENCE_ORDER = 2019  # seed of the order of S in which baselines are measured

Baselines = Mapping[str, Attack[ReidentificationKnowledge, ReidentificationGuess]]


def baselines(mode: str) -> Baselines:
    """Return F1..F7 under the names of their scores; ``scores.counts_in`` says which of them count."""
    return {**{f"S{number}": KeyMatch(number, mode) for number in KEYS}, "S7": Overlap(mode)}


def measure(original: Table, released: Table, mode: str) -> Utility:
    """Compute E1..E6, U = max, and S1..S7; and how many rows tell their buyer, which counts for nothing."""
    errors = {name: min(1.0, value) for name, value in errors_of(original, released, mode).items()}
    largest = max(errors, key=lambda name: errors[name])
    figures = {**errors, "U": errors[largest]}
    figures |= _reidentification(original, released, mode)
    figures["buyer"] = buyer_share(original, released)
    limits = {"U": {"by": largest}}
    return Utility(
        {
            name: Score(value, higher_is_better=False, limit=limits.get(name, {}))
            for name, value in figures.items()
        }
    )


def errors_of(original: Table, released: Table, mode: str) -> dict[str, float]:
    """Return E1..E6 before they are capped at 1."""
    alive = kept(released)
    changes = {
        "E4": record_changes.date_change(original.codes["date"], released.codes["date"], alive),
        "E5": record_changes.price_change(prices(original), prices(released), alive),
        "E6": record_changes.deleted_share(alive),
    }
    if mode == "rules":
        return {**_similarity_of_the_rules(original, released, alive), **changes}
    digits = {"E4": 10, "E5": 10, "E6": 4}
    rounded = {name: round(value, digits[name]) for name, value in changes.items()}
    return {**_similarity_of_the_evaluator(original, released, alive), **rounded}


def _purchases(table: Table, rows: Any) -> ItemMatrix:
    count = len(table.vocabularies["id_item"])
    return ItemMatrix.of(
        table.codes["id_user"][rows], table.codes["id_item"][rows], table.values("qty")[rows], count
    )


def _similarity_of_the_rules(original: Table, released: Table, alive: Any) -> dict[str, float]:
    """Norms over U_ij. E2 zeroes scores of 6 or more by each table's own sums; E3 all items but T's top 180 in both."""
    before, after = _purchases(original, slice(None)), _purchases(released, alive)
    small = before.below(SMALL_SCORE), after.below(SMALL_SCORE)
    top = top_items(original.codes["id_item"], len(original.vocabularies["id_item"]), TOP_ITEMS)
    e1, e3 = similarity_distance(before, after, (top, top), copurchasers=True)
    e2, _ = similarity_distance(*small, (top, top), copurchasers=True)
    return {"E1": e1, "E2": e2, "E3": e3}


def _similarity_of_the_evaluator(original: Table, released: Table, alive: Any) -> dict[str, float]:
    """Plain cosines; E2 is always 0; E3 with each table's own top list, or the distance of the two lists if larger."""
    count = len(original.vocabularies["id_item"])
    top = _top_of_the_evaluator(original.codes["id_item"], count)
    top_after = _top_of_the_evaluator(released.codes["id_item"][alive], count)
    before, after = _purchases(original, slice(None)), _purchases(released, alive)
    e1, e3 = similarity_distance(before, after, (top, top_after), copurchasers=False)
    return {"E1": e1, "E2": 0.0, "E3": max(e3, top_list_distance(top, top_after))}


def _top_of_the_evaluator(items: Any, count: int) -> Any:
    return top_items(items, count, int(TOP_SHARE * len(np.unique(items))))


def _reidentification(original: Table, released: Table, mode: str) -> dict[str, float]:
    """Return S1..S7 on S in the reference order."""
    answer, rows = answer_of(original, released)
    order = np.random.RandomState(REFERENCE_ORDER).permutation(len(rows))
    knowledge = ReidentificationKnowledge(original, rows.take(order))
    unused = np.random.default_rng(0)
    attacks = baselines(mode).items()
    return {name: reid(answer, attack(knowledge, unused), mode) for name, attack in attacks}


def buyer_share(original: Table, released: Table) -> float:
    """Return the share of the released rows whose real buyer is found by content, from 0 to 1; it counts for nothing.

    F goes by the place of a row and E1 to E3 by pseudonym; nothing in the rules ties the two. So a release that shows true
    histories under swapped names has a low reid and a low U, though everybody's purchases can be read in it.

    A pseudonym is linked to the customer whose purchases it shows, once for all its months and once in each month for itself;
    the higher share counts. The real buyers of a row are the customer of this row of T, and whoever bought the item that it
    shows in that month.

    Parameters
    ----------
    original : Table
        T.
    released : Table
        A(T): its rows are those of T in their order, deleted ones included.
    """
    alive = kept(released)
    rows, customers = released.take(alive), original.codes["id_user"][alive]
    shares = []
    for monthly in (False, True):
        linked = shown_customers(original, rows, monthly=monthly)
        is_buyer = (linked == customers) | true_purchases(original, rows, linked)
        shares.append(float(is_buyer.mean()) if len(is_buyer) else 0.0)
    return max(shares)
