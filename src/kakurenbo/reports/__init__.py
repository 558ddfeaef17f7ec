"""Results documents and their renderings."""

from kakurenbo.reports.build import (
    agreed_settings,
    combined,
    document_without,
    figure_entries,
    joined,
    make_document,
    ranked,
    scored_document,
    without,
)
from kakurenbo.reports.charts import figures
from kakurenbo.reports.document import (
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
from kakurenbo.reports.estimates import Estimate, estimate
from kakurenbo.reports.html import html_report
from kakurenbo.reports.matrix import results_json
from kakurenbo.reports.reading import ResultsFile, read_document, read_results
from kakurenbo.reports.table import results_csv
from kakurenbo.reports.verdicts import award_notices

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
    "ranked",
    "read_document",
    "read_results",
    "results_csv",
    "results_json",
    "scored_document",
    "standings_json",
    "without",
]
