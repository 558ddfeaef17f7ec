"""The HTML report: data, texts, styles, and our scripts in one file that needs no network.

Everything a player wrote reaches the page as JSON data and is shown as text only; a content security policy admits exactly
the scripts that are in the file.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from kakurenbo.messages import LANGUAGES, language
from kakurenbo.reporting.assets import asset, palettes
from kakurenbo.reporting.document import Document
from kakurenbo.reporting.layout import axes_of, score_texts
from kakurenbo.reporting.table import results_csv

_SCRIPTS = ("numbers.js", "page.js", "figure.js", "heatmap.js", "scatter.js", "sections.js", "teams.js", "main.js")


def html_report(document: Document, times: Mapping[str, Any]) -> str:
    """The page as text; ``times`` are the seconds that each job took, where they are known.

    It opens in the language of whoever makes it, unless the reader has chosen another.
    """
    data = {
        "results": document.as_builtins(),
        "seconds": seconds_of_work(times),
        "csv": results_csv(document),
        "axes": axes_of(document),
        "scores": {
            spoken: {name: score_texts(one.lines, document.figure(name), spoken) for name, one in document.rankings.items()}
            for spoken in LANGUAGES
        },
        "language": language(),
    }
    body = [
        '<div id="app"></div>',
        f'<script type="application/json" id="texts">{script_json(json.loads(asset("texts.json")))}</script>',
        f'<script type="application/json" id="palettes">{script_json(palettes())}</script>',
        f'<script type="application/json" id="data">{script_json(data)}</script>',
    ]
    return offline_page(_title(document), body, [asset(name) for name in _SCRIPTS])


def offline_page(title: str, body: Sequence[str], scripts: Sequence[str], style: str = "") -> str:
    """A page that needs no network, in the looks of all reports.

    Parameters
    ----------
    title : str
        Any text.
    body : sequence of str
        Markup; no script in it runs.
    scripts : sequence of str
        The only ones that the page's policy admits.
    style : str
        Further rules.
    """
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
            f'<html lang="{language()}">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{html.escape(title)} · kakurenbo</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{_palette_style()}{asset('report.css')}{style}</style>",
            f'<style id="figure-style">{asset("figure.css")}</style>',
            "</head>",
            "<body>",
            *body,
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def _title(document: Document) -> str:
    """The name of the contest where people held one, else that of its rules."""
    return str(document.manifest.get("contest", {}).get("title") or document.rulebook.name)


def seconds_of_work(times: Mapping[str, Any]) -> float | None:
    """Seconds of all jobs together; None where nothing was timed."""
    return round(math.fsum(job["seconds"] for job in times["jobs"]), 1) if "jobs" in times else None


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


def _palette_style() -> str:
    """The colours of the page as CSS variables, for each theme."""
    selectors = {"light": ":root", "dark": ':root[data-theme="dark"]'}
    return "".join(
        f"{selectors[theme]}{{{''.join(f'--{name}:{colour};' for name, colour in colours.items())}}}"
        for theme, colours in palettes().items()
    )
