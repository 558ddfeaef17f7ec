"""`likelihood`: for releases of randomized cells, names the rows of B that most certainly made a
row of D.

P(d | b) is the product of the mechanism's transitions. Unlike a distance it knows how common a row
is, how wide a domain, and how likely a cell was kept.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack, member_rate
from kakurenbo.attacks.membership.moments import FITTING, MeanShift, PopulationModel, tilt
from kakurenbo.attacks.records.pairwise import Pairs, summed_odds
from kakurenbo.contest import Mechanism
from kakurenbo.core import Coarsening, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import MembershipKnowledge

MAX_DOMAIN = 1024  # wider columns take part in groups of values
HISTOGRAM_WEIGHT = 0.5  # the records of D that hold a value count in the odds already
DECIMALS = 9  # of the doubt: rounding in the last bits must not decide between equals
_MIN_KEPT, _MAX_KEPT = 0.01, 0.999  # a cell may have been drawn anew, and is never sure to be
_ROUNDS, _SETTLED = 500, 1e-9
_UNEXPLAINED = (
    1e-3  # share of draws from the release itself, so that no released value is impossible
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihood(MembershipAttack):
    """Name the rows of the highest odds of membership.

    Every row of B may have made d with the same prior. Given D, the odds that b made one of its
    rows are the sum over d of P(d | b) / sum over b' != b of P(d | b'): b is named where it
    explains some d far better than all other rows of B together. The mechanism is the one the
    questionnaire disclosed or, where there is none, the one that :func:`estimate_mechanism` finds.
    Columns of more than 1,024 values take part by the rank of their values, in groups where more
    than so many occur.

    With ``histograms`` the score is log(1 + odds / rate), with rate the share of B that was
    released, plus half the logit of the exponential tilt of B that has the counts of D, by the
    columns whose counts are like a sample's. That helps where cells are swapped, which leaves these
    counts as they were; where they are drawn anew it may harm.
    """

    trust: bool = parameter(
        True, "believe the mechanism that the questionnaire discloses; else always estimate it"
    )
    histograms: bool = parameter(
        False, "add what the histograms of the release tell of a row's values"
    )

    def scores(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> Floats:
        odds = self.odds(knowledge)
        if not self.histograms:
            return certainty(odds)
        model = PopulationModel.of(knowledge, pairs=False)
        shift = MeanShift.released(model, knowledge, FITTING, rounding=1.0)
        logit = model.rows.dot(tilt(model, shift, member_rate(knowledge)))
        return np.round(
            np.log1p(odds / member_rate(knowledge)) + HISTOGRAM_WEIGHT * logit, DECIMALS
        )

    def odds(self, knowledge: MembershipKnowledge) -> Floats:
        """Return the odds that each row of the population made a row of the release, shape (n,)."""
        coarsening = Coarsening.of((knowledge.population, knowledge.release), MAX_DOMAIN)
        population = coarsening.apply(knowledge.population)
        release = coarsening.apply(knowledge.release)
        mechanism = knowledge.mechanism if self.trust else None
        if mechanism is not None and not coarsening.firsts.keys().isdisjoint(mechanism.transitions):
            mechanism = None  # it speaks of values, not of their groups
        return membership_odds(
            population, release, mechanism or estimate_mechanism(population, release)
        )


def certainty(odds: Floats) -> Floats:
    """Return minus the doubt 1 / (1 + odds), which rises with the odds and is bounded, shape
    (n,).
    """
    return -np.round(1 / (1 + odds), DECIMALS)


def membership_odds(population: Table, release: Table, mechanism: Mechanism) -> Floats:
    """Return the odds that each row of the population made a row of the release, shape (n,).

    Parameters
    ----------
    population : Table, n rows
    release : Table, m rows
        Of the same schema.
    mechanism : Mechanism
        A column that it does not name is released as it is.
    """
    population.schema.select(mechanism.transitions)
    matrices = []
    for column in population.schema:
        matrix = mechanism.transitions.get(column.name, np.eye(column.size or 0))
        if len(matrix) != column.size:
            expectation = f"a mechanism of {column.size} values for {column.name}"
            raise ParameterError("mechanism", expectation, len(matrix))
        matrices.append(matrix)
    people, released = ([t.codes[n] for n in t.schema.names] for t in (population, release))
    pairs = Pairs.of(people, matrices)
    return summed_odds(pairs.slots, pairs.products(released))


# -- the mechanism, from the release alone -----------------------------------------------------


def estimate_mechanism(population: Table, release: Table) -> Mechanism:
    """Estimate the mechanism that turns a random sample of ``population`` into ``release``.

    It keeps or redraws each cell alone, as randomized response with a uniform draw (``rr``) or one
    from the data (``rrp``) and the swapping of cells do. With p_c from :func:`retention`, the
    distribution of the draws follows from the histograms of B and D: h^D = p_c h^B + (1 - p_c)
    draws.

    Parameters
    ----------
    population, release : Table
        B and D, of finite domains.
    """
    transitions = {}
    for column, p in zip(population.schema, retention(population, release), strict=True):
        before = population.frequencies(column.name) / len(population)
        after = release.frequencies(column.name) / len(release)
        draws = np.maximum((after - p * before) / (1 - p), 0) + _UNEXPLAINED * after
        transitions[column.name] = p * np.eye(len(draws)) + (1 - p) * draws / draws.sum()
    return Mechanism(transitions)


def retention(population: Table, release: Table) -> Floats:
    """Return the probability p_c that a cell was kept, per column, shape (columns,).

    Keeping cells independently shrinks the centred joint histogram J of two columns: E[J^D] = p_c
    p_c' J^B, whatever is drawn otherwise. The least squares fit of all pairs together is found one
    p_c after the other. A column that depends on no other cannot be told, and its estimate means
    little.
    """
    names = population.schema.names
    agreement, strength = np.zeros((2, len(names), len(names)))
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        before, after = _dependence(population, a, b), _dependence(release, a, b)
        agreement[i, j] = agreement[j, i] = np.vdot(after, before)
        strength[i, j] = strength[j, i] = np.vdot(before, before)
    p = np.full(len(names), 0.5)
    for _ in range(_ROUNDS):
        previous = p.copy()
        for i in range(len(names)):
            if strength[i] @ p**2 > 0:
                p[i] = np.clip(agreement[i] @ p / (strength[i] @ p**2), _MIN_KEPT, _MAX_KEPT)
        if np.abs(p - previous).max() < _SETTLED:
            break
    return p


def _dependence(table: Table, a: str, b: str) -> Floats:
    """Return joint shares of two columns less the product of their own, shape (size of a, size of
    b).
    """
    rows, columns = (table.frequencies(name) / len(table) for name in (a, b))
    joint = np.bincount(table.keys((a, b)), minlength=len(rows) * len(columns)) / len(table)
    return joint.reshape(len(rows), len(columns)) - np.outer(rows, columns)
