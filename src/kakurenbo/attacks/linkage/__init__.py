"""Linkage attacks: who of these people is in a release, and in which row?"""

from kakurenbo.attacks.linkage.nearest import NearestRows
from kakurenbo.methods.threats import CHOICES, DELETED, LinkageGuess, LinkageKnowledge

__all__ = ["CHOICES", "DELETED", "LinkageGuess", "LinkageKnowledge", "NearestRows"]
