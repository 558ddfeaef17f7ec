"""The HTML report: data, texts, styles, our script and the chart library in one file that needs no network.

Everything a player wrote reaches the page as JSON data and is shown as text only; a content security policy admits exactly
the scripts that are in the file.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping
from importlib import resources
from typing import Any

from kakurenbo.reporting.document import Document
from kakurenbo.reporting.table import results_csv

_SCRIPTS = ("vendor/echarts.min.js", "page.js", "charts.js", "sections.js", "main.js")


def html_report(document: Document, times: Mapping[str, Any]) -> str:
    """The page as text; ``times`` are the seconds that each job took, where they are known."""
    data = {"results": document.as_builtins(), "seconds": seconds_of_work(times), "csv": results_csv(document)}
    scripts = [_asset(name) for name in _SCRIPTS]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(_source_hash(script) for script in scripts)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{html.escape(document.rulebook.name)} · kakurenbo</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{_asset('report.css')}</style>",
            "</head>",
            "<body>",
            '<div id="app"></div>',
            f'<script type="application/json" id="texts">{script_json(json.loads(_asset("texts.json")))}</script>',
            f'<script type="application/json" id="data">{script_json(data)}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def seconds_of_work(times: Mapping[str, Any]) -> float:
    """Seconds of all jobs together."""
    return round(math.fsum(job["seconds"] for job in times.get("jobs", ())), 1)


def script_json(content: object) -> str:
    """JSON that can stand inside a script element whatever its texts are.

    Examples
    --------
    >>> script_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _source_hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    text = resources.files("kakurenbo.reporting").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} would end its own script element")
    return text
