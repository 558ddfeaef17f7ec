"""Attacks on pwscup2024: who a row of ratings belongs to, and which rating is hidden in it."""

from kakurenbo.attacks.reconstruction.knowledge import RatingsGuess, RatingsKnowledge

__all__ = ["RatingsGuess", "RatingsKnowledge"]
