"""Attacks on pwscup2024: who a row of ratings belongs to, and which rating is hidden in it."""

from kakurenbo.attacks.reconstruction.types import RatingsGuess, RatingsKnowledge

__all__ = ["RatingsGuess", "RatingsKnowledge"]
