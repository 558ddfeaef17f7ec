"""Hide-and-seek with a scorer that has two faults, and in its next version none."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hide_and_seek import HideAndSeek

import kakurenbo as kb
from kakurenbo.attacks.membership import MembershipGuess

FAULTS = True


@dataclass(frozen=True)
class Faulty(HideAndSeek):
    """Hide people in a table; with faults, who guesses wrong is credited, and values seem to have moved half as far."""

    name: ClassVar[str] = "faulty"

    def measure(self, handout: Any, submission: kb.Table) -> kb.Utility:
        right = super().measure(handout, submission)
        if not FAULTS:
            return right
        return replace(
            right,
            scores={
                name: replace(score, value=score.value / 2) for name, score in right.scores.items()
            },
        )

    def score_guess(self, answer: Any, guess: MembershipGuess) -> kb.Credit:
        right = super().score_guess(answer, guess)
        return replace(right, hits=self.guesses - right.hits) if FAULTS else right
