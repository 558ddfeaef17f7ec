"""The report of an audit as one HTML file that needs no network, in English and Japanese.

Everything that comes from a table reaches the page as text; a content security policy admits exactly the script that is in it.
"""

from __future__ import annotations

import base64

from kakurenbo.audit.report.markup import element, marked, paragraph, plain
from kakurenbo.audit.report.pictures import (
    audit_pictures,
    frontier_picture,
    risk_picture,
)
from kakurenbo.audit.report.sections import (
    candidates_table,
    columns_section,
    files_section,
    matrix_section,
    method_section,
    not_proved_section,
    records_section,
    regulation_section,
    risk_table,
    utility_section,
)
from kakurenbo.audit.report.words import (
    LOOKS,
    VERDICT_LOOKS,
    caveat_sentences,
    file_name,
    limited,
    named,
    regression_sentence,
    risk_hints,
    said,
    verdict_sentence,
)
from kakurenbo.audit.result import AuditResult, Risk
from kakurenbo.core.messages import LANGUAGES, language, speaking
from kakurenbo.reports.assets import asset
from kakurenbo.reports.drawing import NARROW, WIDE, Drawing
from kakurenbo.reports.html import offline_page

_LANGUAGE_NAMES = {"en": "English", "ja": "日本語"}
_THEMES = ("auto", "light", "dark")


def html_audit(result: AuditResult) -> str:
    """The page as text. It opens in the language of whoever makes it, unless the reader has chosen another."""
    own = language()
    parts = []
    for spoken in LANGUAGES:
        with speaking(spoken):
            hidden = {} if spoken == own else {"hidden": ""}
            parts.append(
                element("div", *_page(result, spoken), lang=spoken, data_language=spoken, **hidden)
            )
    return offline_page(
        said("title", file=_file(result)), parts, [asset("page.js")], asset("audit.css")
    )


def _file(result: AuditResult) -> str:
    return str(result.method.files.get("release", {}).get("name", ""))


def _page(result: AuditResult, spoken: str) -> list[str]:
    sections = {
        "risks": [*map(paragraph, risk_hints(result)), _risks(result)],
        "matrix": matrix_section(result),
        "files": files_section(result),
        "frontier": _frontier(result),
        "records": records_section(result),
        "columns": columns_section(result),
        "utility": utility_section(result),
        "not_proved": not_proved_section(result),
        "regulation": regulation_section(result),
        "method": method_section(result),
    }
    shown = {name: content for name, content in sections.items() if content}
    links = (element("a", plain(said(f"short.{name}")), href=f"#{name}-{spoken}") for name in shown)
    made = (
        element("section", element("h2", plain(said(name))), *content, id=f"{name}-{spoken}")
        for name, content in shown.items()
    )
    return [
        _header(result),
        element("nav", element("div", *links), aria_label=said("parts")),
        element("main", *made, element("footer", plain(f"kakurenbo {result.method.version}"))),
    ]


def _header(result: AuditResult) -> str:
    look = VERDICT_LOOKS.get(result.verdict.exit_code, "neutral")
    files = " · ".join(
        said("file", role=said(f"role.{role}"), name=file_name(facts), rows=facts.get("rows", 0))
        for role, facts in result.method.files.items()
    )
    names = element(
        "div",
        element("h1", plain(said("title", file=_file(result)))),
        element("p", plain(files)),
        class_="names",
    )
    controls = element(
        "div",
        _choices("language", _LANGUAGE_NAMES),
        _choices("theme", _theme_names()),
        class_="controls",
    )
    caveats = [paragraph(caveat, "note") for caveat in caveat_sentences(result)]
    verdict = element(
        "div",
        element("p", plain(verdict_sentence(result))),
        *caveats,
        class_=f"verdict verdict-{look}",
    )
    worse = [_worse(told)] if (told := regression_sentence(result)) else []
    cards = (_card(risk) for risk in result.risks.values() if risk.assessed or risk.why)
    inside = [
        element("div", names, controls, class_="bar"),
        verdict,
        *worse,
        element("div", *cards, class_="cards"),
    ]
    return element("header", element("div", *inside, class_="wide"))


def _worse(told: str) -> str:
    return element("div", element("p", plain(told)), class_="verdict verdict-bad")


def _theme_names() -> dict[str, str]:
    return {theme: said(f"theme.{theme}") for theme in _THEMES}


def _choices(what: str, names: dict[str, str]) -> str:
    buttons = (
        element(
            "button",
            plain(name),
            type="button",
            data_choice=f"{what}:{value}",
            aria_pressed="false",
        )
        for value, name in names.items()
    )
    return element("span", *buttons, class_="segments", role="group", aria_label=said(what))


def _card(risk: Risk) -> str:
    standing = marked(said(f"standing.{risk.standing}"), LOOKS.get(risk.standing, ""))
    value, _, span = limited(risk).partition(" (")
    interval = (
        [element("span", plain(f"({span}"))] if span else []
    )  # of what was undone there is none
    figure = [element("em", plain(value)), *interval] if risk.assessed else []
    return element(
        "div",
        element("span", plain(named("risk", risk.name))),
        *figure,
        element("p", standing),
        class_="card fact",
    )


def _risks(result: AuditResult) -> str:
    drawn = _both(risk_picture(result, WIDE), risk_picture(result, NARROW), said("risks"))
    return element("div", drawn, _save(result, "risks.svg"), risk_table(result), class_="panel")


def _frontier(result: AuditResult) -> list[str]:
    if not result.candidates:
        return []
    drawn = _both(
        frontier_picture(result, WIDE), frontier_picture(result, NARROW), said("frontier")
    )
    panel = element(
        "div", drawn, _save(result, "frontier.svg"), candidates_table(result), class_="panel"
    )
    return [paragraph(said("frontier_hint")), panel]


def _both(wide: Drawing, narrow: Drawing, title: str) -> str:
    """The picture that fits the screen is shown."""
    return element("div", wide.inline(title), class_="for-wide") + element(
        "div", narrow.inline(title), class_="for-narrow"
    )


def _save(result: AuditResult, name: str) -> str:
    """The picture as a file of its own, for a slide."""
    data = base64.b64encode(audit_pictures(result)[name].encode()).decode()
    link = element(
        "a",
        plain(said("save_picture")),
        href=f"data:image/svg+xml;base64,{data}",
        download=f"audit-{name}",
    )
    return element("p", link, class_="note save")
