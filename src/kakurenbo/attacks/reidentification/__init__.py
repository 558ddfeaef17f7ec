"""Re-identification of monthly pseudonyms (darc2019): what attackers know, and the guess matrix
they hand in.
"""

from kakurenbo.attacks.reidentification.types import (
    GUESSES,
    NOBODY,
    ReidentificationAttack,
    ReidentificationGuess,
    ReidentificationKnowledge,
)

__all__ = [
    "GUESSES",
    "NOBODY",
    "ReidentificationAttack",
    "ReidentificationGuess",
    "ReidentificationKnowledge",
]
