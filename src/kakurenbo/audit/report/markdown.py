"""The report of an audit as Markdown, for a repository, a pull request or a mail; in the language of the moment."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from kakurenbo.audit.report.sections import MOST_LISTED, method_facts
from kakurenbo.audit.report.words import (
    CANDIDATE_HEADINGS,
    beside,
    candidate_rows,
    caveat_sentences,
    columns_sentence,
    figures_told,
    file_rows,
    limited,
    listing,
    named,
    percent,
    probability,
    rated,
    regression_sentence,
    risk_hints,
    said,
    self_test_rows,
    shown_record,
    threat_told,
    verdict_sentence,
)
from kakurenbo.audit.result import AuditResult, Risk
from kakurenbo.core import group_notices
from kakurenbo.core.messages import escaped
from kakurenbo.reports.numbers import count

_MARKUP = re.compile(r"([\\`*_\[\]#+|~])")  # without brackets parentheses make no link


def markdown_audit(result: AuditResult) -> str:
    """The same figures as the page, without the pictures."""
    file = str(result.method.files.get("release", {}).get("name", ""))
    lines = [f"# {safe(said('title', file=file))}", "", f"**{safe(verdict_sentence(result))}**", ""]
    if worse := regression_sentence(result):
        lines += [f"**{safe(worse)}**", ""]
    if caveats := caveat_sentences(result):
        lines += [*(f"- {safe(caveat)}" for caveat in caveats), ""]
    parts = {
        "risks": _risks(result),
        "matrix": _attacks(result),
        "files": _files(result),
        "frontier": _candidates(result),
        "records": _records(result),
        "columns": _columns(result),
        "utility": _utility(result),
        "not_proved": iter(f"- {safe(named('not_proved', name))}" for name in result.not_proved),
        "regulation": _regulation(result),
        "method": _method(result),
    }
    for name, content in parts.items():
        told = list(content)
        lines += [f"## {safe(said(name))}", "", *told, ""] if told else []
    return "\n".join(lines).rstrip() + "\n"


def _heads(*names: str) -> list[str]:
    return [said(f"heading.{name}") for name in names]


def _risks(result: AuditResult) -> Iterator[str]:
    for hint in risk_hints(result):
        yield from (safe(hint), "")
    figures = ("figure", "rate", "control", "baseline", "chance", "p_corrected", "limit")
    rows = [_risk_row(risk, result) for risk in result.risks.values() if risk.assessed or risk.why]
    yield from table(_heads("risk", "attack", *figures, "standing"), rows)
    further = [
        f"{named('risk', risk.name)}: {figures_told(risk)}"
        for risk in result.risks.values()
        if risk.figures
    ]
    yield from ("", *(f"- {safe(told)}" for told in further)) if further else ()


def _risk_row(risk: Risk, result: AuditResult) -> tuple[str, ...]:
    figures = (
        limited(risk),
        rated(None if risk.name == "recoding" else risk.rate),
        rated(risk.control),
        percent(risk.baseline),
        percent(risk.chance),
        probability(risk.p_value),
        percent(risk.limit),
    )
    told, standing = "; ".join(beside(risk, result)), said(f"standing.{risk.standing}")
    if not risk.assessed:
        return (named("risk", risk.name), told, *figures, standing)
    noted = f"{standing} ({told})" if told else standing
    return (named("risk", risk.name), named("attack", risk.attack), *figures, noted)


def _attacks(result: AuditResult) -> Iterator[str]:
    rows = [
        (
            named("risk", risk.name),
            threat_told(row),
            named("attack", row.attack),
            *map(rated, (row.rate, row.control, row.excess)),
        )
        for risk in result.risks.values()
        for row in risk.rows
    ]
    yield from (
        table(_heads("risk", "threat", "attack", "rate", "control", "excess"), rows) if rows else ()
    )


def _files(result: AuditResult) -> Iterator[str]:
    rows = file_rows(result)
    yield from (
        (safe(said("files_hint")), "", *table(_heads("file", "columns", "order", "linked"), rows))
        if rows
        else ()
    )


def _candidates(result: AuditResult) -> Iterator[str]:
    rows = candidate_rows(result)
    yield from table(_heads(*CANDIDATE_HEADINGS), rows) if rows else ()


def _records(result: AuditResult) -> Iterator[str]:
    records = result.records
    if not records.assessed:
        yield safe(said("records_not_assessed"))
        return
    flagged, tested = count(len(records.flagged)), count(records.tested)
    yield safe(
        said("records_flagged", flagged=flagged, tested=tested, level=percent(records.level))
    )
    if not records.flagged:
        yield from ("", safe(said("records_fewest", fewest=records.fewest)))
    if records.flagged:
        listed = records.flagged[:MOST_LISTED]
        rows = [
            (" · ".join(filter(None, (one.digest, shown_record(one)))), probability(one.p_value))
            for one in listed
        ]
        yield from ("", *table(_heads("record", "p_value"), rows))
    if len(records.flagged) > MOST_LISTED:
        yield from ("", safe(said("not_listed", count=len(records.flagged) - MOST_LISTED)))


def _columns(result: AuditResult) -> Iterator[str]:
    driving = [
        (one.column, named("risk", one.risk), percent(one.share), percent(one.without))
        for one in result.driving
    ]
    if driving:
        yield from (
            safe(columns_sentence(result)),
            "",
            *table(_heads("column", "risk", "share", "without"), driving),
        )
    if result.recoded:
        rows = [
            (one.column, named("rule", one.rule), f"{one.recovered} / {one.values}")
            for one in result.recoded
        ]
        yield from (
            "",
            safe(said("recoded_hint")),
            "",
            *table(_heads("column", "rule", "recovered"), rows),
        )


def _utility(result: AuditResult) -> Iterator[str]:
    utility = result.utility
    whole = [
        (said("marginals"), percent(utility.marginals)),
        (said("pairs"), percent(utility.pairs)),
    ]
    whole += [
        (said("rows"), count(utility.rows)),
        (said("columns_kept"), count(utility.columns_kept)),
    ]
    yield from table(
        _heads("what", "value"),
        [*whole, *((name, percent(value)) for name, value in utility.by_column.items())],
    )
    if utility.models:
        rows = [
            (one.column, percent(one.on_release), percent(one.on_original), percent(one.majority))
            for one in utility.models
        ]
        yield from ("", *table(_heads("predicted", "on_release", "on_original", "majority"), rows))


def _regulation(result: AuditResult) -> Iterator[str]:
    rows = [
        (
            named("regulation", row.framework),
            named("regulation", row.term),
            listing(named("risk", name) for name in row.risks),
        )
        for row in result.regulation
    ]
    yield from (
        (safe(said("regulation_hint")), "", *table(_heads("framework", "term", "risks"), rows))
        if rows
        else ()
    )


def _method(result: AuditResult) -> Iterator[str]:
    yield from table(_heads("what", "value"), method_facts(result))
    if tests := self_test_rows(result):
        yield from ("", f"### {safe(said('self_tests'))}", "", safe(said("self_tests_hint")), "")
        yield from table(_heads("self_test", "attack", "read", "expected", "standing"), tests)
    for notice in map(str, group_notices(result.notices)):
        yield from ("", safe(notice))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table whose cells are text, whatever they hold."""
    lines = [
        f"| {' | '.join(safe(heading) for heading in headings)} |",
        "|" + " --- |" * len(headings),
    ]
    return lines + [f"| {' | '.join(safe(cell) for cell in row)} |" for row in rows]


def safe(text: object) -> str:
    """Text without effect as Markdown or HTML, and without signs that nobody sees.

    Examples
    --------
    >>> print(safe("<b>|x|"), safe("a\\u202eb"))
    &lt;b&gt;\\|x\\| a\\\\u202eb
    """
    return _MARKUP.sub(r"\\\1", html.escape(escaped(" ".join(str(text).split())), quote=False))
