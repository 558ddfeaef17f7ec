"""The parts of the page below its pictures: tables of what an audit found."""

from __future__ import annotations

from collections.abc import Iterator

from kakurenbo.audit.report.markup import (
    bar,
    element,
    folded,
    listed,
    marked,
    paragraph,
    plain,
    sheet,
)
from kakurenbo.audit.report.words import (
    CANDIDATE_HEADINGS,
    LOOKS,
    beside,
    candidate_look,
    candidate_rows,
    columns_in_short,
    columns_sentence,
    figures_told,
    file_name,
    file_rows,
    leading,
    limited,
    named,
    option_told,
    percent,
    probability,
    rated,
    said,
    self_test_rows,
    shown_record,
    threat_told,
    threats,
)
from kakurenbo.audit.result import AuditResult, ExposedRecord, Risk, ThreatRow
from kakurenbo.core import group_notices
from kakurenbo.reports.numbers import count

_LISTED = 8  # exposed records that are shown at once
MOST_LISTED = 100  # and those that are shown at all: the JSON has every one


def risk_table(result: AuditResult) -> str:
    """Every risk with all its figures."""
    headings = [
        "risk",
        "figure",
        "rate",
        "control",
        "baseline",
        "chance",
        "p_corrected",
        "limit",
        "standing",
    ]
    places = ["main", "figure", *["below"] * 7]
    rows = [_risk_row(risk, result) for risk in result.risks.values() if risk.assessed]
    extra = [
        f"{named('risk', risk.name)}: {figures_told(risk)}"
        for risk in result.risks.values()
        if risk.figures
    ]
    return sheet([said(f"heading.{one}") for one in headings], rows, places) + "".join(
        paragraph(one, "note") for one in extra
    )


def _risk_row(risk: Risk, result: AuditResult) -> list[str]:
    attack = element("div", plain(named("attack", risk.attack)), class_="method dim")
    notes = (element("div", plain(note), class_="note") for note in beside(risk, result))
    return [
        element("span", plain(named("risk", risk.name)), class_="team-name")
        + attack
        + "".join(notes),
        plain(limited(risk)),
        plain(rated(None if risk.name == "recoding" else risk.rate)),
        plain(rated(risk.control)),
        plain(percent(risk.baseline)),
        plain(percent(risk.chance)),
        plain(probability(risk.p_value)),
        plain(percent(risk.limit)),
        marked(said(f"standing.{risk.standing}"), LOOKS.get(risk.standing, "")),
    ]


def matrix_section(result: AuditResult) -> list[str]:
    """Who could do what: risks by attackers, and every attack that was tried."""
    tried = threats(result)
    if not tried:
        return []
    headings = [said("heading.risk"), *(named("threat", threat) for threat in tried)]
    rows = [
        [
            plain(named("risk", risk.name)),
            *(_threat_cell(leading(risk, threat)) for threat in tried),
        ]
        for risk in result.risks.values()
        if risk.rows
    ]
    every = [_tried_row(risk, row) for risk in result.risks.values() for row in risk.rows]
    columns = [
        said(f"heading.{one}") for one in ("risk", "threat", "attack", "rate", "control", "excess")
    ]
    all_of_them = sheet(columns, every, ["main", "below", "below", "figure", "below", "below"])
    return [
        paragraph(said("matrix_hint")),
        element("div", sheet(headings, rows, ["main", *["below"] * len(tried)]), class_="panel"),
        folded(said("every_attack", count=len(every)), all_of_them),
    ]


def _threat_cell(row: ThreatRow | None) -> str:
    if row is None:
        return ""
    control = "" if row.control is None else said("control_of", control=percent(row.control.value))
    return element("b", plain(rated(row.rate))) + element("div", plain(control), class_="note")


def _tried_row(risk: Risk, row: ThreatRow) -> list[str]:
    reported = f" {marked(said('reported'), '')}" if row.reported else ""
    return [
        plain(named("risk", risk.name)) + reported,
        plain(threat_told(row)),
        plain(named("attack", row.attack)),
        plain(rated(row.rate)),
        plain(rated(row.control)),
        plain(rated(row.excess)),
    ]


def records_section(result: AuditResult) -> list[str]:
    """The people whom the release gives away."""
    records = result.records
    if not records.assessed:
        return [paragraph(said("records_not_assessed"))]
    told = said(
        "records_flagged",
        flagged=count(len(records.flagged)),
        tested=count(records.tested),
        level=percent(records.level),
    )
    if not records.flagged:
        return [paragraph(told), paragraph(said("records_fewest", fewest=records.fewest), "note")]
    shown = [_record(one) for one in records.flagged[:MOST_LISTED]]
    headings = [said(f"heading.{one}") for one in ("record", "p_value")]
    places = ["main", "below"]
    parts = [element("div", sheet(headings, shown[:_LISTED], places), class_="panel")]
    if len(shown) > _LISTED:
        parts.append(
            folded(
                said("more_records", count=len(shown) - _LISTED),
                sheet(headings, shown[_LISTED:], places),
            )
        )
    if len(records.flagged) > MOST_LISTED:
        parts.append(
            paragraph(said("not_listed", count=len(records.flagged) - MOST_LISTED), "note")
        )
    return [paragraph(told), paragraph(said("records_hint"), "note"), *parts]


def _record(record: ExposedRecord) -> list[str]:
    who = element("span", plain(record.digest), class_="mono")
    if shown := shown_record(record):
        who += element("div", plain(shown), class_="note")
    return [who, plain(probability(record.p_value))]


def columns_section(result: AuditResult) -> list[str]:
    """Which columns drive the risk, and which were given other names."""
    parts = []
    if result.driving:
        headings = [said(f"heading.{one}") for one in ("column", "risk", "share", "without")]
        rows = [
            [
                plain(one.column),
                plain(named("risk", one.risk)),
                bar(one.share) + plain(percent(one.share)),
                plain(percent(one.without)),
            ]
            for one in result.driving
        ]
        table = sheet(headings, rows, ["main", "below", "figure", "below"])
        parts += [paragraph(columns_sentence(result)), element("div", table, class_="panel")]
    if result.recoded:
        headings = [said(f"heading.{one}") for one in ("column", "rule", "recovered")]
        rows = [
            [
                plain(one.column),
                plain(named("rule", one.rule)),
                plain(f"{one.recovered} / {one.values}"),
            ]
            for one in result.recoded
        ]
        table = sheet(headings, rows, ["main", "below", "figure"])
        parts += [
            element("h3", plain(said("recoded"))),
            paragraph(said("recoded_hint")),
            element("div", table, class_="panel"),
        ]
    return parts


def files_section(result: AuditResult) -> list[str]:
    """What each of several files gives away alone, and all of them together."""
    rows = [[plain(cell) for cell in row] for row in file_rows(result)]
    if not rows:
        return []
    headings = [said(f"heading.{one}") for one in ("file", "columns", "order", "linked")]
    table = sheet(headings, rows, ["main", "below", "below", "figure"])
    return [paragraph(said("files_hint")), element("div", table, class_="panel")]


def candidates_table(result: AuditResult) -> str:
    """Each of several releases with its own verdict."""
    looks = [candidate_look(one) for one in result.candidates]
    rows = [
        [plain(name), plain(risk), plain(utility), marked(standing, look), plain(note)]
        for look, (name, risk, utility, standing, note) in zip(
            looks, candidate_rows(result), strict=True
        )
    ]
    return sheet(
        [said(f"heading.{one}") for one in CANDIDATE_HEADINGS],
        rows,
        ["main", "figure", *["below"] * 3],
    )


def utility_section(result: AuditResult) -> list[str]:
    """What the release still tells."""
    utility = result.utility
    facts = (
        (said("marginals"), percent(utility.marginals)),
        (said("pairs"), percent(utility.pairs)),
        (said("rows"), count(utility.rows)),
        (said("columns_kept"), count(utility.columns_kept)),
    )
    cards = (
        element("div", element("span", plain(name)), element("b", plain(value)), class_="card fact")
        for name, value in facts
    )
    columns = [
        [plain(name), bar(value) + plain(percent(value))]
        for name, value in utility.by_column.items()
    ]
    parts = (
        [sheet([said("heading.column"), said("heading.similarity")], columns, ["main", "figure"])]
        if columns
        else []
    )
    if utility.models:
        headings = [
            said(f"heading.{one}") for one in ("predicted", "on_release", "on_original", "majority")
        ]
        models = [
            [
                plain(one.column),
                *(
                    plain(percent(value))
                    for value in (one.on_release, one.on_original, one.majority)
                ),
            ]
            for one in utility.models
        ]
        parts.append(sheet(headings, models, ["main", "figure", "below", "below"]))
    panels = (element("div", part, class_="panel") for part in parts)
    return [
        paragraph(said("utility_hint")),
        element("div", *cards, class_="cards"),
        element("div", *panels, class_="split panels"),
    ]


def regulation_section(result: AuditResult) -> list[str]:
    """Which risk speaks to which word of which text."""
    if not result.regulation:
        return []
    rows = [
        [
            plain(named("regulation", row.framework)),
            plain(named("regulation", row.term)),
            " ".join(_risk_mark(result, name) for name in row.risks),
        ]
        for row in result.regulation
    ]
    headings = [said(f"heading.{one}") for one in ("framework", "term", "risks")]
    return [
        paragraph(said("regulation_hint")),
        element("div", sheet(headings, rows, ["main", "below", "below"]), class_="panel"),
    ]


def _risk_mark(result: AuditResult, name: str) -> str:
    standing = result.risks[name].standing if name in result.risks else ""
    return marked(named("risk", name), LOOKS.get(standing, ""))


def not_proved_section(result: AuditResult) -> list[str]:
    return [
        element(
            "div", listed(named("not_proved", name) for name in result.not_proved), class_="panel"
        )
    ]


def method_section(result: AuditResult) -> list[str]:
    """How the figures were made, so that they can be made again."""
    facts = sheet(
        [said("heading.what"), said("heading.value")],
        (
            [plain(name), element("span", plain(value), class_="mono")]
            for name, value in method_facts(result)
        ),
        ["main", "below"],
    )
    parts = [element("div", facts, class_="panel")]
    if result.self_tests:
        headings = [
            said(f"heading.{one}")
            for one in ("self_test", "attack", "read", "expected", "standing")
        ]
        rows = [
            [*map(plain, told), marked(outcome, "good" if test.passed else "bad")]
            for test, (*told, outcome) in zip(
                result.self_tests, self_test_rows(result), strict=True
            )
        ]
        table = sheet(headings, rows, ["main", "below", "below", "below", "figure"])
        parts += [
            element("h3", plain(said("self_tests"))),
            paragraph(said("self_tests_hint")),
            element("div", table, class_="panel"),
        ]
    notices = [paragraph(str(notice), "note") for notice in group_notices(result.notices)]
    return [*parts, *notices]


def method_facts(result: AuditResult) -> Iterator[tuple[str, str]]:
    """What to know to make the figures again."""
    method = result.method
    yield said("version"), f"kakurenbo {method.version}"
    yield said("seed"), str(method.seed)
    yield said("targets"), count(method.targets)
    for name, value in method.options.items():
        if value not in (None, "", [], (), {}):
            yield said("option", name=name), option_told(value)
    for role, facts in method.files.items():
        columns = columns_in_short([str(name) for name in facts.get("columns", ())])
        yield (
            said(f"role.{role}"),
            said(
                "file_facts",
                name=file_name(facts),
                columns=columns,
                digest=str(facts.get("sha256", "")),
            ),
        )
