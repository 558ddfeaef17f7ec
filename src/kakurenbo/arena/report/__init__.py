"""Reports of a tournament: one HTML file that opens offline, Markdown, and a flat CSV of every attack."""

from kakurenbo.arena.report.html import html_report
from kakurenbo.arena.report.markdown import markdown_report
from kakurenbo.arena.report.table import results_csv

__all__ = ["html_report", "markdown_report", "results_csv"]
