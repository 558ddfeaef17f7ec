"""The charts of the report as pictures, without a browser: who finds whom, and utility against privacy."""

from __future__ import annotations

import re

from kakurenbo.messages import language
from kakurenbo.reporting.document import Document
from kakurenbo.reporting.heatmap import heatmap
from kakurenbo.reporting.scatter import scatter
from kakurenbo.reporting.shown import Shown


def figures(document: Document) -> dict[str, str]:
    """SVG texts by file name, in the language of the moment; the same document, the same bytes."""
    found = {}
    for entry in document.rounds:
        shown = Shown(document, entry, language())
        suffix = f"-{re.sub(r'[^A-Za-z0-9_-]', '_', entry.name)}" if len(document.rounds) > 1 else ""
        if shown.targets:
            found[f"heatmap{suffix}.svg"] = heatmap(shown)
        if entry.measures:
            found[f"scatter{suffix}.svg"] = scatter(shown)
    return found
