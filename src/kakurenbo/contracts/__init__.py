"""The few types that anonymizers, measures, attacks and rulebooks speak with each other."""

from kakurenbo.contracts.anonymizer import Anonymizer, Mechanism, Release, has_columns, unknown_column
from kakurenbo.contracts.attack import Attack, Chance, Credit
from kakurenbo.contracts.fitting import fits, misfit, rulebooks_for
from kakurenbo.contracts.measure import Score, Threshold, Utility, json_number
from kakurenbo.contracts.rulebook import (
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
    "fits",
    "has_columns",
    "json_number",
    "misfit",
    "rank",
    "rulebooks_for",
    "unknown_column",
]
