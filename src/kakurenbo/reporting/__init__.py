"""One typed results document, and everything that reads it or lays it out; nothing here computes a score."""

from kakurenbo.reporting.building import combined, estimate, make_document, scored_document
from kakurenbo.reporting.document import (
    AttackEntry,
    Document,
    Estimate,
    FailureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reporting.reading import read_document, read_rounds, recorded_settings
from kakurenbo.reporting.table import results_csv

__all__ = [
    "AttackEntry",
    "Document",
    "Estimate",
    "FailureEntry",
    "PlayerEntry",
    "Ranking",
    "RankingLine",
    "ReleaseEntry",
    "RoundEntry",
    "RulebookEntry",
    "combined",
    "estimate",
    "make_document",
    "read_document",
    "read_rounds",
    "recorded_settings",
    "results_csv",
    "scored_document",
]
