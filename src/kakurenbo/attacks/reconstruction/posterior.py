"""Our reconstruction attack: the posterior over the six values from the matched rows and from what goes with what in C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.boosting import boosting_evidence
from kakurenbo.attacks.reconstruction.knowledge import RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Reconstructing
from kakurenbo.attacks.reconstruction.row_model import fit_row_model, kept_shares
from kakurenbo.attacks.reconstruction.siblings import sibling_evidence
from kakurenbo.attacks.reconstruction.value_evidence import (
    beats_constant,
    learned_posterior,
    row_evidence,
    share_evidence,
    table_evidence,
)
from kakurenbo.data.ratings import NOT_SEEN
from kakurenbo.methods.parameters import parameter


@dataclass(frozen=True)
class Posterior(Reconstructing):
    """The likeliest of the six values, given the matched rows through the mechanism and b's other ratings through C.

    Where rows tell nothing, the naive Bayes classifier of the two-way tables (or gradient boosting on the files) decides.
    Tables of other people, where the attacker holds some, tell too which ratings go together. How much each kind of evidence
    is worth is learned from the ratings that b tells; where "always 0" fits these better than all evidence, that is the answer.
    """

    identification: str = parameter("bayes", "how the person is found: an identifying attack")
    fallback: str = parameter(
        "naive_bayes", "model of C beside the rows", choices=("naive_bayes", "boosting")
    )

    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        movies = np.unique(knowledge.hidden).tolist()
        model = identified.model or fit_row_model(knowledge)
        evidence = [
            share_evidence(knowledge, movies),
            row_evidence(knowledge, model, identified.probabilities, movies),
            table_evidence(knowledge, movies),
            table_evidence(knowledge, movies, kept_shares(model)),
        ]
        if self.fallback == "boosting":
            evidence.append(boosting_evidence(knowledge, movies, rng))
        evidence += sibling_evidence(knowledge, movies)
        scores = learned_posterior(knowledge, evidence, movies)
        if not beats_constant(knowledge, scores, movies, NOT_SEEN):
            return np.full(len(scores), NOT_SEEN, dtype=np.int64)
        places = np.searchsorted(movies, knowledge.hidden)
        return np.asarray(scores[np.arange(len(places)), places].argmax(axis=1))
