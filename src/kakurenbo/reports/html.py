"""The HTML report: one file that needs no network, in every language, rendered from templates.

Everything a player wrote is escaped by the templates; a content security policy admits exactly the scripts in the file.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from kakurenbo.contest import Unit
from kakurenbo.contest.results import NO_AWARDS
from kakurenbo.core.messages import LANGUAGES, escaped, language
from kakurenbo.reports import charts, numbers
from kakurenbo.reports.assets import asset, palettes, render
from kakurenbo.reports.document import Document, RoundEntry
from kakurenbo.reports.drawing import NARROW
from kakurenbo.reports.table import results_csv
from kakurenbo.reports.verdicts import note_text
from kakurenbo.reports.view import View


def html_report(document: Document, times: Mapping[str, Any]) -> str:
    """Return the page; ``times`` are the seconds of each job, where they are known.

    It opens in the language of whoever makes it, unless the reader has chosen another.
    """
    name = document.rulebook.name
    files = {f"{name}-results.csv": results_csv(document)}
    jobs = times.get("jobs")
    parts = []
    for spoken in LANGUAGES:
        drawn = charts.figures(document, spoken)
        files |= {f"{name}-{spoken}-{file}": drawing for file, drawing in drawn.items()}
        views = [View(document, entry, spoken) for entry in document.rounds]
        view = (*views, View(document, RoundEntry(""), spoken))[0]
        page = render(
            "report.html",
            document=document,
            views=views,
            view=view,
            t=view.text,
            say=view.say,
            language=spoken,
            is_hidden=spoken != language(),
            seconds=math.fsum(job["seconds"] for job in jobs) if jobs is not None else None,
            charts=charts,
            NARROW=NARROW,
            numbers=numbers,
            map=map,
            zip=zip,
            no_awards=NO_AWARDS,
            note_text=note_text,
            spoken=_spoken,
            breakable=_breakable,
            SHARE=Unit.SHARE,
        )
        parts.append(page)
    parts.append(render("data.html", data={"results": document.as_builtins(), "files": files}))
    # A contest that people held has a name of its own.
    return offline_page(
        document.contest.title or name, parts, [asset("report.js"), asset("page.js")]
    )


def _spoken(text: str) -> Markup:
    """Return a sentence in which `methods` stand out.

    Examples
    --------
    >>> print(_spoken("found by 02 with `rr:p=0.9`"))
    found by 02 with <code>rr:<wbr>p=0.9</code>
    """
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(_breakable(part)) if at % 2 else escaped(part)
        for at, part in enumerate(parts)
    )


def _breakable(text: str) -> Markup:
    """Return a method with its parameters, which may go on in the next line behind a comma or colon."""
    return Markup("<wbr>").join(re.split(r"(?<=[,:])", escaped(text)))


def offline_page(title: str, body: Iterable[str], scripts: Sequence[str], style: str = "") -> str:
    """Return a page that needs no network, in the looks of all reports.

    Parameters
    ----------
    title : str
        Any text.
    body : iterable of str
        Markup; no script in it runs.
    scripts : sequence of str
        The only ones that the page's policy admits.
    style : str
        Further rules.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return render(
        "page.html",
        language=language(),
        title=title,
        hashes=" ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests),
        palettes=palettes(),
        style=Markup(asset("report.css") + style),
        figure_style=Markup(asset("figure.css")),
        body=map(Markup, body),
        scripts=map(Markup, scripts),
    )
