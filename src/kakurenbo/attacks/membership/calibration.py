"""How a method carries its input's statistics into its release, as own runs of it on samples of B show.

A method that moves statistics back only in part, as repairs do, tells less of some columns and pairs than of others: what it
tells of each is measured instead of assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.evidence import Evidence, Ground, members
from kakurenbo.attacks.membership.features import Rows
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.shadows import Shadow

_MINIMAL_WORTH = 0.05  # of a deviation that the release keeps, below which it is not used

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """How a method carries the members' mean features into those of its release: m_D = middle + worth o (m_C - m_B) + noise.

    Attributes
    ----------
    middle, worth, noise : arrays, shape (d,)
        ``worth`` is the same for all features of a column or pair; ``noise`` is a variance.
    """

    middle: Values
    worth: Values
    noise: Values

    @classmethod
    def of(cls, ground: Ground, made: list[Shadow]) -> Calibration:
        """As the shadows show it; a single one shows nothing."""
        released = np.stack(
            [ground.features.rows(shadow.knowledge.release).mean() for shadow in made]
        )
        own = (
            np.stack([_taken(ground.population, shadow.members).mean() for shadow in made])
            - ground.mean
        )
        moved, cause = released - released.mean(axis=0), own - own.mean(axis=0)
        owners, slots = ground.features.owners, len(ground.features.slots)
        variance = np.maximum(np.diag(ground.covariance), 1e-6)
        along = np.bincount(owners, weights=(moved * cause).sum(axis=0) / variance, minlength=slots)
        across = np.bincount(owners, weights=(cause**2).sum(axis=0) / variance, minlength=slots)
        worth = np.clip(along / np.maximum(across, 1e-12), 0, 1)[owners]
        left = ((moved - worth * cause) ** 2).sum(axis=0) / max(1, len(made) - 1)
        # A variance from few shadows is shaky: it is drawn towards that of the whole column or pair.
        pooled = (
            np.bincount(owners, weights=left / variance, minlength=slots)
            / np.bincount(owners, minlength=slots)
        )[owners]
        noise = (left + pooled * variance) / 2 * (1 + 1 / len(made))
        return cls(released.mean(axis=0) - worth * own.mean(axis=0), worth, noise)

    def evidence(
        self, ground: Ground, knowledge: MembershipKnowledge, rounding: float = 1.0
    ) -> Evidence:
        """The members' deviation as this method's release shows it, its counts known up to a standard error in records.

        With a for ``worth``, V for ``noise`` and f for the share of B that was released, tracing by it has the weights
        a o ((1 - f) a a^T o Sigma + n V)^-1 (m_D - middle), but for a factor.
        """
        count = members(knowledge)
        used = np.flatnonzero(self.worth > _MINIMAL_WORTH)
        moved = (ground.features.rows(knowledge.release).mean() - self.middle)[used]
        noise = (
            count
            * self.noise[used]
            / self.worth[used] ** 2
            / (1 - count / len(knowledge.population))
        )
        return Evidence(used, moved / self.worth[used], noise + rounding**2 / count)


def _taken(rows: Rows, chosen: NDArray[np.int64]) -> Rows:
    return Rows(rows.places[chosen], rows.values[chosen], rows.count)
