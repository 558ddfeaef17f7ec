"""Linkage attacks: who of these people is in a release, and in which row?"""

from kakurenbo.attacks.linkage.knowledge import CHOICES, DELETED, LinkageGuess, LinkageKnowledge
from kakurenbo.attacks.linkage.rlink import NearestRows

__all__ = ["CHOICES", "DELETED", "LinkageGuess", "LinkageKnowledge", "NearestRows"]
