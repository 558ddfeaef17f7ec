"""The few types that anonymizers, measures, attacks and rulebooks speak with each other."""

from kakurenbo.protocols.anonymizer import Anonymizer, Mechanism, Release
from kakurenbo.protocols.attack import Attack, Chance, Credit
from kakurenbo.protocols.measure import Score, Threshold, Utility, json_number
from kakurenbo.protocols.rulebook import (
    Files,
    Player,
    Preparation,
    RoundResults,
    Rulebook,
    Standing,
    Standings,
    Target,
    by_number,
    rank,
)

__all__ = [
    "Anonymizer",
    "Attack",
    "Chance",
    "Credit",
    "Files",
    "Mechanism",
    "Player",
    "Preparation",
    "Release",
    "RoundResults",
    "Rulebook",
    "Score",
    "Standing",
    "Standings",
    "Target",
    "Threshold",
    "Utility",
    "by_number",
    "json_number",
    "rank",
]
