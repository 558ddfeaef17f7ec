"""`kernel`: for releases whose values are near the members' own, names the rows of B around which D
is denser than B.

A kernel spreads every row over the values near its own: numbers by their distance, categories over
all others alike. So noise, rounding and interpolation, which leave few cells as they were, do not
hide from whom a record came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.likelihood import MAX_DOMAIN, certainty, membership_odds
from kakurenbo.contest import Mechanism
from kakurenbo.core import Category, Coarsening
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import MembershipKnowledge


@dataclass(frozen=True)
class Kernel(MembershipAttack):
    """Name the rows near which there are more records of D than the other rows of B account for.

    The score of b is the sum over d of K(d, b) / sum over b' != b of K(d, b'): the density of D at
    b, each record weighed by how few rows of B lie near it. K is a product over columns: a share
    ``mismatch`` is spread over all values of the column alike; the rest stays on the value of b or,
    for numbers, around it as a normal distribution of ``bandwidth``.
    """

    bandwidth: float = parameter(
        0.25,
        "width of the kernel of a number, in standard deviations of the column",
        low=0.001,
        high=10,
    )
    mismatch: float = parameter(
        0.1, "how likely a value has nothing to do with the member's own", low=0.001, high=0.999
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        return certainty(self.odds(knowledge))

    def odds(self, knowledge: MembershipKnowledge) -> NDArray[np.float64]:
        """Return the odds that a record of the release is near each row of the population because
        of it, shape (n,).
        """
        coarsening = Coarsening.of((knowledge.population, knowledge.release), MAX_DOMAIN)
        population = coarsening.apply(knowledge.population)
        transitions = {}
        for column in population.schema:
            if column.size is None:
                raise ParameterError("population", "columns of finite domains", column.name)
            values = coarsening.firsts.get(column.name, np.arange(column.size)).astype(np.float64)
            near = np.eye(len(values))
            if not isinstance(column, Category):
                # A column whose numbers are all alike has a deviation of 0, and any width will do.
                deviation = float(values[population.codes[column.name]].std()) or 1.0
                width = self.bandwidth * deviation
                near = np.exp(-0.5 * ((values[:, None] - values) / width) ** 2)
                near /= near.sum(axis=1, keepdims=True)
            transitions[column.name] = (1 - self.mismatch) * near + self.mismatch / len(values)
        return membership_odds(
            population, coarsening.apply(knowledge.release), Mechanism(transitions)
        )
