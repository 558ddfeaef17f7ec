"""`likelihood`: for releases of randomized cells, names the rows of B that most certainly made a row of D.

P(d | b) is the product of the mechanism's transitions. Unlike a distance it knows how common a row is, how wide a domain,
and how likely a cell was kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.evidence import FITTING, Ground, members, plain_evidence
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.pairs import Pairs
from kakurenbo.attacks.membership.retention import estimate_mechanism
from kakurenbo.attacks.membership.weights import tilt
from kakurenbo.contest import Mechanism
from kakurenbo.core import Coarsening, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.parameters import parameter

LARGEST_DOMAIN = 1024  # wider columns take part in groups of values
HISTOGRAM_WEIGHT = (
    0.5  # of what the counts tell: the records of D that hold a value count in the odds already
)
_DECIMALS = 9  # of the doubt: rounding in the last bits must not decide between equals


@dataclass(frozen=True)
class Likelihood(MembershipAttack):
    """Name the rows of the highest odds of membership.

    Every row of B may have made d with the same prior. Given D, the odds that b made one of its rows are the sum over d of
    P(d | b) / sum over b' != b of P(d | b'): b is named where it explains some d far better than all other rows of B together.
    The mechanism is the one the questionnaire disclosed or, where there is none, the one that :func:`estimate_mechanism` finds.
    Columns of more than 1,024 values take part by the rank of their values, in groups where more than so many occur.

    With ``histograms`` the score is log(1 + odds / rate), with rate the share of B that was released, plus half the logit
    of the exponential tilt of B that has the counts of D, by the columns whose counts are like a sample's. That helps where
    cells are swapped, which leaves these counts as they were; where they are drawn anew it may harm.
    """

    trust: bool = parameter(
        True, "believe the mechanism that the questionnaire discloses; else always estimate it"
    )
    histograms: bool = parameter(
        False, "add what the histograms of the release tell of a row's values"
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        odds = self.odds(knowledge)
        if not self.histograms:
            return certainty(odds)
        rate = members(knowledge) / len(odds)
        return np.round(
            np.log1p(odds / rate) + HISTOGRAM_WEIGHT * _told_by_histograms(knowledge, rate),
            _DECIMALS,
        )

    def odds(self, knowledge: MembershipKnowledge) -> NDArray[np.float64]:
        """The odds that each row of the population made a row of the release, shape (n,)."""
        coarsening = Coarsening.of((knowledge.population, knowledge.release), LARGEST_DOMAIN)
        population, release = (
            coarsening.apply(knowledge.population),
            coarsening.apply(knowledge.release),
        )
        mechanism = knowledge.mechanism if self.trust else None
        if mechanism is not None and not coarsening.firsts.keys().isdisjoint(mechanism.transitions):
            mechanism = None  # it speaks of values, not of their groups
        return membership_odds(
            population, release, mechanism or estimate_mechanism(population, release)
        )


def certainty(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minus the doubt 1 / (1 + odds), which rises with the odds and is bounded, shape (n,)."""
    return -np.round(1 / (1 + odds), _DECIMALS)


def _told_by_histograms(knowledge: MembershipKnowledge, rate: float) -> NDArray[np.float64]:
    """The logit of membership by the values of a row alone, but for a constant, shape (n,)."""
    ground = Ground.of(knowledge, pairs=False)
    return ground.population.dot(
        tilt(ground, plain_evidence(ground, knowledge, FITTING, rounding=1.0), rate)
    )


def membership_odds(population: Table, release: Table, mechanism: Mechanism) -> NDArray[np.float64]:
    """The odds that each row of the population made a row of the release, shape (n,).

    Parameters
    ----------
    population : Table, n rows
    release : Table, m rows
        Of the same schema.
    mechanism : Mechanism
    """
    from kakurenbo.attacks.membership.odds_sum import summed_odds

    schema = population.schema
    transitions = _transitions(schema, mechanism)
    pairs = Pairs.of(
        [population.codes[name] for name in schema.names],
        [transitions[name] for name in schema.names],
    )
    return summed_odds(pairs.slots, pairs.products([release.codes[name] for name in schema.names]))


def _transitions(schema: Schema, mechanism: Mechanism) -> dict[str, NDArray[np.float64]]:
    """The transitions of every column; a column that is not named is released as it is."""
    schema.select(mechanism.transitions)
    transitions = {
        column.name: mechanism.transitions.get(column.name, np.eye(column.size or 0))
        for column in schema
    }
    for column in schema:
        if len(transitions[column.name]) != column.size:
            expectation = f"a mechanism of {column.size} values for {column.name}"
            raise ParameterError("mechanism", expectation, len(transitions[column.name]))
    return transitions
