"""Results documents and their renderings."""

from kakurenbo.reports.build import document_without, joined, make_document, scored_document
from kakurenbo.reports.charts import figures
from kakurenbo.reports.document import (
    AttackEntry,
    AttackerEntry,
    ContestRecord,
    Document,
    FailureEntry,
    FigureEntry,
    MeasureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reports.estimates import Estimate, estimate
from kakurenbo.reports.html import html_report
from kakurenbo.reports.reading import read_document, read_results, results_json
from kakurenbo.reports.table import results_csv

__all__ = [
    "AttackEntry",
    "AttackerEntry",
    "ContestRecord",
    "Document",
    "Estimate",
    "FailureEntry",
    "FigureEntry",
    "MeasureEntry",
    "PlayerEntry",
    "Ranking",
    "RankingLine",
    "ReleaseEntry",
    "RoundEntry",
    "RulebookEntry",
    "document_without",
    "estimate",
    "figures",
    "html_report",
    "joined",
    "make_document",
    "read_document",
    "read_results",
    "results_csv",
    "results_json",
    "scored_document",
]
