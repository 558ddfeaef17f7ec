"""Our identification attack: the likelihood of both parts through the mechanism, and a one-to-one assignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.attacks.reconstruction.crosstab_evidence import CrosstabEvidence
from kakurenbo.attacks.reconstruction.knowledge import RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Identifying
from kakurenbo.attacks.reconstruction.row_model import MATCH_ROUNDS, RowModel, fit_row_model
from kakurenbo.attacks.reconstruction.siblings import pools, sibling_tables
from kakurenbo.attacks.reconstruction.weighing import learn_weights
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, files_with
from kakurenbo.methods.parameters import parameter

_CROWD = 300


@dataclass(frozen=True)
class Bayes(Identifying):
    """Which row of a explains the release best together with b, by Bayes' rule, each row of a once.

    Rows count as noisy images of people, summed over files in the same order and marginalised over shuffled ones; two-way
    tables count where rows tell nothing. The noise is the declared mechanism's or fitted by EM, and the weights of the
    kinds of evidence are learned against a crowd of made-up people.
    """

    reconstruction: str = parameter(
        "posterior", "how the hidden rating is found: row, or a reconstructing attack"
    )
    noise: str = parameter(
        "declared",
        "believe a declared mechanism, or fit the noise always",
        choices=("declared", "fitted"),
    )
    alignment: str = parameter(
        "found",
        "whether files list people in the same order",
        choices=("found", "aligned", "shuffled"),
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        model = fit_row_model(
            knowledge, use_declared=self.noise == "declared", alignment=self.alignment
        )
        tables = CrosstabEvidence.of(knowledge)
        real, made_up = (
            pair_evidence(knowledge, tables, model, people)
            for people in (knowledge.attribute_codes, crowd(knowledge, rng))
        )
        return matched(knowledge, model, np.tensordot(learn_weights(real, made_up), real, axes=1))


def pair_evidence(
    knowledge: RatingsKnowledge,
    tables: CrosstabEvidence,
    model: RowModel,
    people: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Every kind of evidence that a row of b is one of some people, shape (kinds, k, people).

    The four attributes by the two-way tables, the rows, and what each pool of other people's tables says.
    """
    kinds = [*tables.scores(knowledge.rating_codes, people), model.scores_of(people)]
    others = [
        sibling_tables(knowledge, pool).scores(knowledge.rating_codes, people)
        for pool in pools(knowledge)
    ]
    return np.stack([*kinds, *(scores.sum(axis=0) for scores in others)])


def crowd(knowledge: RatingsKnowledge, rng: np.random.Generator) -> NDArray[np.int64]:
    """Attributes of made-up people, each drawn by itself from the release, shape (300, 4)."""
    return np.stack(
        [rng.choice(knowledge.files[0].codes[name], _CROWD) for name in ATTRIBUTES], axis=1
    ).astype(np.int64)


def matched(
    knowledge: RatingsKnowledge, model: RowModel, scores: NDArray[np.float64]
) -> Identification:
    """Each row of b with one person, by the scores of all pairs, shape (k, k)."""
    _, people = linear_sum_assignment(-scores)
    pairs = balanced(scores, MATCH_ROUNDS)
    return Identification(
        people.astype(np.int64), _likeliest_values(knowledge, model, pairs), pairs, model
    )


def _likeliest_values(
    knowledge: RatingsKnowledge, model: RowModel, pairs: np.ndarray
) -> np.ndarray:
    """The hidden rating in the likeliest row of the first group of files that has the movie."""
    values = np.zeros(len(knowledge.ratings), dtype=np.int64)
    best = [model.row_weights(number, pairs).argmax(axis=1) for number in range(len(model.groups))]
    for index, hidden in enumerate(knowledge.hidden):
        file = files_with(MOVIES[hidden])[0]
        group = next(number for number, each in enumerate(model.groups) if file in each.files)
        values[index] = knowledge.files[file].codes[MOVIES[hidden]][best[group][index]]
    return values
