"""`champion`: tries every attack on shadows of the release, and lets the one that does best there make the guess."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.calibration import Calibration
from kakurenbo.attacks.membership.clues import clues
from kakurenbo.attacks.membership.evidence import Ground
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge, most_confident
from kakurenbo.attacks.membership.shadow import (
    judged,
    lesson,
    rehearsed,
    retried,
    trained,
)
from kakurenbo.attacks.membership.shadows import Shadow, shadows
from kakurenbo.methods.parameters import parameter

_STACK = "stack"
_LONGER = 3  # times as many rows as are guessed: what is among them tells attacks apart with fewer shadows


@dataclass(frozen=True)
class Champion(MembershipAttack):
    """Run every attack that applies on own releases of samples of B, and then the best of them on the release.

    The attacks are `likelihood`, `kernel`, `tracing`, `nearest`, weights of B's rows that have the statistics of the release,
    sums of these, the same calibrated by the shadows, and a classifier of all of them, which is trained with one half of the
    shadows and tried on the other.
    """

    shadows: int = parameter(4, "releases of samples of its own", low=2, high=1000)

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        ground = Ground.of(knowledge)
        made = shadows(knowledge, self.shadows, rng)
        found = rehearsed(ground, made)
        lessons = [lesson(one, shadow, rng) for one, shadow in zip(found, made, strict=True)]
        hits = {
            name: np.mean(
                [_hits(one.whole[name], shadow) for one, shadow in zip(found, made, strict=True)]
            )
            for name in found[0].whole
        }
        tried = retried(lessons, found)
        hits[_STACK] = np.mean(
            [_hits(said, shadow) for said, shadow in zip(tried, made, strict=True)]
        )
        best = max(hits, key=lambda name: float(hits[name]))
        final = clues(ground, knowledge, Calibration.of(ground, made))
        return judged(trained(lessons), final) if best == _STACK else final.whole[best]


def _hits(scores: NDArray[np.float64], shadow: Shadow) -> float:
    """Members among the rows of the highest scores: the mean over a guess and a longer one, as shares."""
    ranked = np.isin(
        most_confident(-scores, np.arange(len(scores)), _LONGER * shadow.knowledge.guesses),
        shadow.members,
    )
    return float(ranked[: shadow.knowledge.guesses].mean() + ranked.mean()) / 2
