"""The report of an audit as Markdown, for a repository, a pull request or a mail; in the language of the moment."""

from __future__ import annotations

from collections.abc import Iterator

from kakurenbo.audit.report.sections import MOST_LISTED, method_facts
from kakurenbo.audit.report.words import (
    CANDIDATE_HEADINGS,
    candidate_rows,
    caveat_sentences,
    file_rows,
    limited,
    named,
    probability,
    rated,
    said,
    shown_record,
    threat_told,
    verdict_sentence,
)
from kakurenbo.audit.result import AuditResult
from kakurenbo.reporting.markdown import safe, table
from kakurenbo.reporting.numbers import count, share
from kakurenbo.tables import summed_up


def markdown_audit(result: AuditResult) -> str:
    """The same figures as the page, without the pictures."""
    file = str(result.method.files.get("release", {}).get("name", ""))
    lines = [f"# {safe(said('title', file=file))}", "", f"**{safe(verdict_sentence(result))}**", ""]
    for caveat in caveat_sentences(result):
        lines += [f"- {safe(caveat)}"]
    lines += [""] * bool(result.caveats)
    if result.regressions:
        risks = [named("risk", name) for name in result.regressions]
        lines += [f"**{safe(said('regressions', risks=risks))}**", ""]
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
    rows = []
    for risk in result.risks.values():
        standing = said(f"standing.{risk.standing}")
        if risk.assessed:
            figures = (rated(risk.rate), rated(risk.control), share(risk.limit))
            told = f"{standing} ({named('why', risk.why)})" if risk.why else standing
            rows.append((named("risk", risk.name), named("attack", risk.attack), limited(risk), *figures, told))
        elif risk.why:
            rows.append((named("risk", risk.name), named("why", risk.why), "–", "–", "–", "–", standing))
    yield from table(_heads("risk", "attack", "figure", "rate", "control", "limit", "standing"), rows)


def _attacks(result: AuditResult) -> Iterator[str]:
    rows = [
        (named("risk", risk.name), threat_told(row), named("attack", row.attack), rated(row.rate), rated(row.control))
        for risk in result.risks.values()
        for row in risk.rows
    ]
    yield from table(_heads("risk", "threat", "attack", "rate", "control"), rows) if rows else ()


def _files(result: AuditResult) -> Iterator[str]:
    rows = file_rows(result)
    yield from (safe(said("files_hint")), "", *table(_heads("file", "columns", "order", "linked"), rows)) if rows else ()


def _candidates(result: AuditResult) -> Iterator[str]:
    rows = candidate_rows(result)
    yield from table(_heads(*CANDIDATE_HEADINGS), rows) if rows else ()


def _records(result: AuditResult) -> Iterator[str]:
    records = result.records
    if not records.assessed:
        yield safe(said("records_not_assessed"))
        return
    flagged, tested = count(len(records.flagged)), count(records.tested)
    yield safe(said("records_flagged", flagged=flagged, tested=tested, level=share(records.level)))
    if records.flagged:
        listed = records.flagged[:MOST_LISTED]
        rows = [(" · ".join(filter(None, (one.digest, shown_record(one)))), probability(one.p_value)) for one in listed]
        yield from ("", *table(_heads("record", "p_value"), rows))
    if len(records.flagged) > MOST_LISTED:
        yield from ("", safe(said("not_listed", count=len(records.flagged) - MOST_LISTED)))


def _columns(result: AuditResult) -> Iterator[str]:
    driving = [(one.column, named("risk", one.risk), share(one.share), share(one.without)) for one in result.driving]
    if driving:
        yield from table(_heads("column", "risk", "share", "without"), driving)
    if result.recoded:
        rows = [(one.column, named("rule", one.rule), f"{one.recovered} / {one.values}") for one in result.recoded]
        yield from ("", safe(said("recoded_hint")), "", *table(_heads("column", "rule", "recovered"), rows))


def _utility(result: AuditResult) -> Iterator[str]:
    utility = result.utility
    whole = [(said("marginals"), share(utility.marginals)), (said("pairs"), share(utility.pairs))]
    whole += [(said("rows"), count(utility.rows)), (said("columns_kept"), count(utility.columns_kept))]
    yield from table(_heads("what", "value"), [*whole, *((name, share(value)) for name, value in utility.by_column.items())])
    if utility.models:
        rows = [(one.column, share(one.on_release), share(one.on_original), share(one.majority)) for one in utility.models]
        yield from ("", *table(_heads("predicted", "on_release", "on_original", "majority"), rows))


def _regulation(result: AuditResult) -> Iterator[str]:
    rows = [
        (
            named("regulation", row.framework),
            named("regulation", row.term),
            ", ".join(named("risk", name) for name in row.risks),
        )
        for row in result.regulation
    ]
    yield from (safe(said("regulation_hint")), "", *table(_heads("framework", "term", "risks"), rows)) if rows else ()


def _method(result: AuditResult) -> Iterator[str]:
    yield from table(_heads("what", "value"), method_facts(result))
    tests = [
        (
            said(f"self_test.{test.name}"),
            named("attack", test.attack),
            share(test.read),
            share(test.expected),
            said("passed" if test.passed else "too_weak"),
        )
        for test in result.self_tests
    ]
    if tests:
        yield from ("", f"### {safe(said('self_tests'))}", "", safe(said("self_tests_hint")), "")
        yield from table(_heads("self_test", "attack", "read", "expected", "standing"), tests)
    for notice in summed_up(result.notices):
        yield from ("", safe(notice))
