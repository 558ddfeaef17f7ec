"""A shadow shop: attackers know T, so they run the declared method on it and learn from a release whose truth they know.

What is learned is how much of each field the method keeps, and what each kind of evidence is worth: for a pair of a customer
and a pseudonym, by conditional logistic regression on the true pairs of the shadow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize

from kakurenbo.attacks.reidentification import (
    NOBODY,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.attacks.reidentification.likelihood import (
    FIELDS,
    WORTHLESS,
    evidence_of,
    size_scores,
)
from kakurenbo.attacks.reidentification.matching import Scores, best_three, write_month
from kakurenbo.attacks.reidentification.owners import Sourced, size_model, with_sources
from kakurenbo.attacks.sinkhorn import balanced
from kakurenbo.contest import Anonymizer, Attack
from kakurenbo.core import Table
from kakurenbo.data.transactions import Calendar, kept, kept_rows, months, with_users
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameter

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_KEPT = tuple(field for field in FIELDS if field != "size")
KINDS = (*_KEPT, "size", "source", "slot_size", "crowd_date", "crowd_price")
"""What is weighed: the fields of Fellegi and Sunter, whether the customer's purchases are shown, and what points to a slot."""
_START = 0.5
_STRONG, _DRAWN = (
    15,
    30,
)  # rivals of a true pair: the likeliest by fields and by slots, and others at random
_RIDGE = 1e-3
_ROUNDS = 20  # of balancing customers against pseudonyms


@dataclass(frozen=True)
class ShadowShop(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """Run the declared method on T, learn there what each kind of evidence is worth, and weigh it so in S."""

    knowledge: ClassVar[type] = ReidentificationKnowledge
    surrogate: str = parameter(
        "pipeline:steps=swap_items:share=0.5|dates|values",
        "method that the shadow is made with where none is declared",
    )
    learn_months: int = parameter(3, "months of the shadow that are learned from", low=1, high=120)
    learn_customers: int = parameter(
        300, "customers of each of these months that are learned from", low=10
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        guess = ReidentificationGuess.blank(knowledge)
        attacked = _Evidence.of(knowledge)
        if attacked is None:
            return guess
        method = knowledge.declared or registry.build("anonymizers", self.surrogate)
        lesson = self._learned(*shadow_release(knowledge.original, method, rng), rng)
        if lesson is None:
            return guess
        for month in attacked.months:
            write_month(
                guess, month.month, best_three(balanced(lesson.scores(attacked, month), _ROUNDS))
            )
        return guess

    def _learned(
        self, shadow: ReidentificationKnowledge, truth: Ints, rng: np.random.Generator
    ) -> _Lesson | None:
        """What the shadow teaches; None where nothing of it is left."""
        evidence = _Evidence.of(shadow)
        if evidence is None:
            return None
        chosen = [
            evidence.months[place] for place in _evenly(len(evidence.months), self.learn_months)
        ]
        pairs = [_true_pairs(month, truth) for month in chosen]
        retention = {field: _kept_share(field, chosen, pairs) for field in _KEPT}
        examples = [
            _examples(
                evidence.kinds(month, retention), *_some(pair, self.learn_customers, rng), rng
            )
            for month, pair in zip(chosen, pairs, strict=True)
            if len(pair[0])
        ]
        return _Lesson(retention, learned_weights(np.concatenate(examples))) if examples else None


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The months of a release with their sources, and how baskets moved among sizes."""

    months: Sequence[Sourced]
    size_model: tuple[float, float]

    @classmethod
    def of(cls, knowledge: ReidentificationKnowledge) -> _Evidence | None:
        found = with_sources(knowledge)
        linked = [month for month in found if (month.source >= 0).any()]
        return cls(found, size_model(linked)) if linked else None

    def kinds(self, month: Sourced, retention: dict[str, float]) -> Scores:
        """All kinds of evidence of a month, shape (kinds, customers, pseudonyms)."""
        shape = len(month.month.original.owners), len(month.month.released.owners)
        found = np.zeros((len(KINDS), *shape), dtype=np.float32)
        for place, field in enumerate(_KEPT):
            if retention[field] > WORTHLESS:
                evidence_of(month.month, field).add_scores(found[place], retention[field])
        linked = np.flatnonzero(month.source >= 0)
        found[KINDS.index("size")] = size_scores(month.month)
        found[KINDS.index("source"), month.source[linked], linked] = 1
        found[KINDS.index("slot_size")] = month.size_scores(*self.size_model)
        for field in ("date", "price"):
            found[KINDS.index(f"crowd_{field}")] = month.crowd_scores(field)
        return found


@dataclass(frozen=True, eq=False)
class _Lesson:
    """How much of each field is kept, and the weight of each kind of evidence, shape (kinds,)."""

    retention: dict[str, float]
    weights: Floats

    def scores(self, evidence: _Evidence, month: Sourced) -> Scores:
        found: Scores = np.tensordot(
            self.weights.astype(np.float32), evidence.kinds(month, self.retention), axes=1
        )
        return found


def shadow_release(
    original: Table, method: Anonymizer, rng: np.random.Generator
) -> tuple[ReidentificationKnowledge, NDArray[np.int64]]:
    """What an attacker would know of T under this method, and the truth: pseudonym of each customer and month, -1 for none.

    Where the method leaves customers under their own names, each gets another name in every month, as the contest does it.
    """
    released = method(original, rng).table
    if (original.texts("id_user") == released.texts("id_user")).any():
        monthly = pl.select(
            pl.concat_str(released.texts("id_user"), pl.Series(months(original)), separator="/")
        ).to_series()
        deleted = pl.Series(~kept(released))
        released = with_users(
            released,
            pl.select(
                pl.when(deleted).then(released.texts("id_user")).otherwise(monthly)
            ).to_series(),
        )
    alive, rows = kept(released), kept_rows(released)
    truth = np.full(
        (len(original.vocabularies["id_user"]), Calendar.of(original).months),
        NOBODY,
        dtype=np.int64,
    )
    truth[original.codes["id_user"][alive], months(original)[alive]] = rows.codes["id_user"]
    return ReidentificationKnowledge(original, rows.take(rng.permutation(len(rows)))), truth


def learned_weights(examples: Floats) -> Floats:
    """Weights that make the first of the candidates the likeliest: the maximum of sum log softmax, a little shrunk.

    Parameters
    ----------
    examples : array, shape (examples, candidates, kinds)
        Evidence of a true pair, and of its rivals behind it.

    Returns
    -------
    array, shape (kinds,)
    """
    scale = examples.std(axis=(0, 1))
    scale = np.where(scale > 1e-6, scale, np.inf)  # what is the same for all pairs weighs nothing
    scaled = examples / scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        total = scaled @ weights
        total -= total.max(axis=1, keepdims=True)
        chance = np.exp(total)
        chance /= chance.sum(axis=1, keepdims=True)
        gap = np.einsum("ec,eck->k", chance, scaled) - scaled[:, 0].sum(axis=0)
        missed = -np.log(np.maximum(chance[:, 0], 1e-300)).sum()
        return missed / len(scaled) + _RIDGE * weights @ weights, gap / len(
            scaled
        ) + 2 * _RIDGE * weights

    found = minimize(
        loss, np.full(examples.shape[2], 0.1), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    )
    return np.asarray(found.x / scale)


def _examples(kinds: Scores, customers: Ints, pseudonyms: Ints, rng: np.random.Generator) -> Floats:
    """Each true pair with its rivals behind it, shape (pairs, candidates, kinds): the same customer, other pseudonyms."""
    count = kinds.shape[2]
    slots = KINDS.index("slot_size")
    strongest = [
        np.argsort(-part.sum(axis=0)[customers], axis=1, kind="stable")[:, : min(_STRONG, count)]
        for part in (kinds[: len(_KEPT)], kinds[slots:])
    ]
    rivals = np.concatenate(
        [*strongest, rng.integers(count, size=(len(customers), _DRAWN))], axis=1
    )
    # A rival that is the true pseudonym itself would contradict: the next one takes its place.
    rivals = np.where(rivals == pseudonyms[:, None], (rivals + 1) % count, rivals)
    candidates = np.concatenate([pseudonyms[:, None], rivals], axis=1)
    return kinds[:, customers[:, None], candidates].transpose(1, 2, 0).astype(np.float64)


def _true_pairs(month: Sourced, truth: Ints) -> tuple[Ints, Ints]:
    """Places of customers and of their pseudonyms in a month of the shadow."""
    own = truth[month.month.original.owners, month.month.number]
    customers = np.flatnonzero(own >= 0)
    return customers, np.searchsorted(month.month.released.owners, own[customers])


def _kept_share(field: str, chosen: Sequence[Sourced], pairs: Sequence[tuple[Ints, Ints]]) -> float:
    """How much of a field the method keeps, on true pairs."""
    shares = [
        evidence_of(month.month, field).kept_share(*pair, _START)
        for month, pair in zip(chosen, pairs, strict=True)
    ]
    return float(np.mean(shares))


def _some(pairs: tuple[Ints, Ints], count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    chosen = rng.permutation(len(pairs[0]))[:count]
    return pairs[0][chosen], pairs[1][chosen]


def _evenly(count: int, wanted: int) -> Ints:
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).astype(np.int64))
