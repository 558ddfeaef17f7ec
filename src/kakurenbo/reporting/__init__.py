"""One typed results document, and everything that reads it or lays it out; renderers compute nothing."""

from kakurenbo.reporting.awards import award_notices
from kakurenbo.reporting.building import combined, figure_entries, make_document, ranked, scored_document
from kakurenbo.reporting.disqualifying import document_without, without
from kakurenbo.reporting.document import (
    AttackEntry,
    AttackerEntry,
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
    standings_json,
)
from kakurenbo.reporting.estimates import Estimate, estimate
from kakurenbo.reporting.figures import figures
from kakurenbo.reporting.html import html_report
from kakurenbo.reporting.joining import agreed_settings, joined
from kakurenbo.reporting.markdown import markdown_report
from kakurenbo.reporting.matrix import results_json
from kakurenbo.reporting.reading import ResultsFile, read_document, read_results
from kakurenbo.reporting.table import results_csv

__all__ = [
    "AttackEntry",
    "AttackerEntry",
    "Document",
    "Estimate",
    "FailureEntry",
    "FigureEntry",
    "MeasureEntry",
    "PlayerEntry",
    "Ranking",
    "RankingLine",
    "ReleaseEntry",
    "ResultsFile",
    "RoundEntry",
    "RulebookEntry",
    "agreed_settings",
    "award_notices",
    "combined",
    "document_without",
    "estimate",
    "figure_entries",
    "figures",
    "html_report",
    "joined",
    "make_document",
    "markdown_report",
    "ranked",
    "read_document",
    "read_results",
    "results_csv",
    "results_json",
    "scored_document",
    "standings_json",
    "without",
]
