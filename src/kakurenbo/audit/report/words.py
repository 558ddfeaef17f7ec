"""The words and figures of an audit in the language of the moment; what every renderer says the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kakurenbo.audit.result import (
    ABOVE,
    FEWEST_PEOPLE,
    UNFIT,
    WITHIN,
    AuditResult,
    Candidate,
    Excess,
    ExposedRecord,
    Rate,
    Risk,
    SelfTest,
    ThreatRow,
)
from kakurenbo.contest import Unit
from kakurenbo.core.messages import text
from kakurenbo.reports.numbers import count, figure, shown_value

LOOKS = {WITHIN: "good", ABOVE: "bad"}
"""How a risk is marked where it is not just unsure."""
VERDICT_LOOKS = {0: "good", 1: "bad"}
_NOT_SHOWN = ("open", "not_all")  # verdicts that say neither
_SHOWN_COLUMNS = 4
_LEAST_SHOWN = 0.0001
_LEAST_PERCENT = 0.0005
_TOLD_ONCE = "too_weak"  # why that holds for every risk alike, and is said of the audit
_SOME_PART = 0.01  # of a gain, below which no column drives it
_BY_CHANCE = "top100_by_chance"


def said(code: str, **parameters: object) -> str:
    """The words of a code of this report."""
    return text(f"audit.report.{code}", **parameters)


def named(kind: str, name: str) -> str:
    """A risk, threat, attack ... in words; one that nobody has words for stays as it is."""
    return text(f"audit.report.{kind}.{name}", text(f"audit.{kind}.{name}", name.replace("_", " ")))


def listing(parts: Iterable[str]) -> str:
    """Several things, as the language of the moment lists them."""
    return said("separator").join(parts)


def verdict_sentence(result: AuditResult) -> str:
    """The one sentence."""
    return text(f"audit.verdict.{result.verdict.code}", **_in_words(result.verdict.parameters))


def regression_sentence(result: AuditResult) -> str:
    """What is worse than the baseline; empty where nothing is, or where the verdict says so itself."""
    if not result.regressions or result.verdict.code == "regressed":
        return ""
    return said("regressions", risks=[named("risk", name) for name in result.regressions])


def caveat_sentences(result: AuditResult) -> list[str]:
    """Tests of its own that the audit failed, and what was not attacked, a sentence each."""
    told = [
        said(f"failed.{test.name}", read=percent(test.read), expected=percent(test.expected))
        for test in result.self_tests
        if not test.passed
    ]
    for caveat in result.caveats:
        risks = {"risks": [named("risk", risk) for risk in caveat.parameters.get("risks", ())]}
        figures = {
            name: percent(value)
            for name, value in caveat.parameters.items()
            if isinstance(value, float)
        }
        code = f"{caveat.code}_shown" if "example" in caveat.parameters else caveat.code
        told.append(text(f"audit.caveat.{code}", **{**caveat.parameters, **figures, **risks}))
    return told


def _in_words(parameters: Mapping[str, object]) -> dict[str, object]:
    """Risks and attacks as people call them, shares in percent."""
    told: dict[str, object] = {}
    for name, value in parameters.items():
        if isinstance(value, float):
            told[name] = percent(value)
        elif isinstance(value, list | tuple):
            told[name] = [named("risk", str(part)) for part in value]
        elif isinstance(value, str):
            told[name] = named("attack" if name == "attack" else "risk", value)
        else:
            told[name] = value
    return told


def percent(value: float | None) -> str:
    """A share in percent; a dash for none. Always one decimal, so that figures below each other compare at a glance.

    Examples
    --------
    >>> percent(0.12345), percent(1.0), percent(-0.006), percent(0.0), percent(None)
    ('12.3 %', '100.0 %', '−0.6 %', '0.0 %', '–')
    >>> percent(0.0004)
    '< 0.1 %'
    """
    if value is None:
        return "–"
    return "< 0.1 %" if 0 < value < _LEAST_PERCENT else f"{_in_percent(value)} %"


def interval(low: float, high: float) -> str:
    """The 95 % interval of a share, in percent."""
    return f"{_in_percent(low)}–{_in_percent(high)}"


def _in_percent(value: float) -> str:
    return figure(value, Unit.SHARE, decimals=1).removesuffix(" %").replace("-", "−")


def rated(rate: Rate | Excess | None) -> str:
    """A share with its interval; a dash for none.

    Examples
    --------
    >>> rated(Rate(43, 50, 0.86, 0.733, 0.942)), rated(None)
    ('86.0 % (73.3–94.2)', '–')
    >>> rated(Excess(-0.006, -0.034, 0.022))
    '−0.6 % (−3.4–2.2)'
    """
    return "–" if rate is None else f"{_in_percent(rate.value)} % ({interval(rate.low, rate.high)})"


def limited(risk: Risk) -> str:
    """The figure that the limit is for: the excess, or the rate where there is no control; of recoding, how many columns."""
    if risk.name == "recoding" and risk.rate is not None:
        return said("of_columns", undone=risk.rate.hits, columns=risk.rate.of)
    return rated(risk.excess if risk.excess is not None else risk.rate)


def risk_hints(result: AuditResult) -> list[str]:
    """How to read the figures of risks and their verdicts; nothing where there are none."""
    assessed = any(risk.assessed for risk in result.risks.values())
    return [said("risks_hint"), said("standing_hint")] if assessed else []


def figures_told(risk: Risk) -> str:
    """Further figures of a risk, each after its name; empty where it has none."""
    shown = (
        f"{named('figure', name)} {_figure(risk, name)}"
        for name in risk.figures
        if name != _BY_CHANCE
    )
    return listing(shown)


def _figure(risk: Risk, name: str) -> str:
    if not name.startswith("top"):
        return percent(risk.figures[name])
    return said(
        "with_chance", value=count(risk.figures[name]), chance=count(risk.figures[_BY_CHANCE])
    )


def why_told(risk: Risk, result: AuditResult) -> str:
    """Why a risk was not assessed, or what its figure hides; of too small a table, which, and how many rows it takes."""
    rows = {role: int(facts.get("rows", 0)) for role, facts in result.method.files.items()}
    small = [role for role in rows if rows[role] < FEWEST_PEOPLE]
    if risk.why == "no_control" and any(caveat.code in UNFIT for caveat in result.caveats):
        return text("audit.why.unfit_control")
    if risk.why == "no_control" and "holdout" in rows:
        return text("audit.why.small_holdout", rows=rows["holdout"], fewest=FEWEST_PEOPLE)
    if risk.why == "too_few" and small and risk.name != "pseudonyms":
        # The holdout keeps a risk from being assessed only where nothing else does: of the others it is but the control.
        role = small[0]
        return text(
            "audit.why.too_few_rows",
            role=said(f"role.{role}"),
            rows=rows[role],
            fewest=FEWEST_PEOPLE,
        )
    return (
        text("audit.why.too_few", fewest=FEWEST_PEOPLE)
        if risk.why == "too_few"
        else named("why", risk.why)
    )


def beside(risk: Risk, result: AuditResult) -> list[str]:
    """What must be said beside the figure of a risk: why there is none, what it hides, and what it is compared with."""
    told = [] if risk.why in ("", _TOLD_ONCE) else [why_told(risk, result)]
    if (
        risk.name == "singling_out"
        and risk.control is None
        and risk.rate is not None
        and risk.excess is not None
    ):
        told.append(said("over_luck", luck=percent(risk.rate.value - risk.excess.value)))
    return told


def option_told(value: object) -> str:
    """What an option was; limits by the names of their risks."""
    if isinstance(value, Mapping):
        return listing(
            f"{named('risk', str(name))} {shown_value(part)}" for name, part in value.items()
        )
    return listing(map(str, value)) if isinstance(value, list) else shown_value(value)


def self_test_rows(result: AuditResult) -> list[tuple[str, str, str, str, str]]:
    """Each test that the audit made of itself: on which release, by which attack, what was read and expected, how it went."""
    return [
        (
            said(f"self_test.{test.name}"),
            named("attack", test.attack),
            percent(test.read),
            percent(test.expected),
            _outcome(test),
        )
        for test in result.self_tests
    ]


def _outcome(test: SelfTest) -> str:
    if test.passed:
        return said("passed")
    return said("too_weak") if test.read < test.expected else said("unfounded")


def columns_sentence(result: AuditResult) -> str:
    """What the figures of the columns that drive the risk are relative to."""
    told = said("columns_hint", whole=percent(result.driving[0].with_all))
    return (
        told
        if max(one.share for one in result.driving) >= _SOME_PART
        else f"{told} {said('columns_none')}"
    )


def probability(value: float | None) -> str:
    """A p-value: two digits, and no zero, which none ever is.

    Examples
    --------
    >>> probability(0.0312), probability(1e-9), probability(1.0), probability(None)
    ('0.031', '< 0.0001', '1', '–')
    """
    if value is None:
        return "–"
    return "< 0.0001" if value < _LEAST_SHOWN else f"{value:.2g}"


def shown_record(record: ExposedRecord) -> str | None:
    """Where a record stands in the original, and what it holds; None where nobody asked to see it."""
    if record.row is None:
        return None
    values = listing(f"{name} {value}" for name, value in record.values.items())
    return said("record_of_row", row=record.row + 2, values=values)


def columns_in_short(names: Sequence[str]) -> str:
    """Some column names, and how many more there are."""
    if len(names) <= _SHOWN_COLUMNS:
        return listing(names)
    return said(
        "columns_and_more",
        columns=listing(names[: _SHOWN_COLUMNS - 1]),
        count=len(names) - _SHOWN_COLUMNS + 1,
    )


def _files_in_short(names: Sequence[str]) -> str:
    if len(names) <= _SHOWN_COLUMNS:
        return listing(names)
    return said(
        "files_and_more",
        files=listing(names[: _SHOWN_COLUMNS - 1]),
        count=len(names) - _SHOWN_COLUMNS + 1,
    )


def threat_told(row: ThreatRow) -> str:
    """Who knows what and wants what, and by which of several files."""
    parts = [named("threat", row.threat)]
    parts += [said("looks_at", files=_files_in_short(row.files))] if row.files else []
    parts += [said("knows", columns=columns_in_short(row.knows))] if row.knows else []
    parts += [said("wants", columns=columns_in_short(row.wants))] if row.wants else []
    return " · ".join(parts)


def threats(result: AuditResult) -> list[str]:
    """The attackers that were tried, in the order in which they come."""
    return list(dict.fromkeys(row.threat for risk in result.risks.values() for row in risk.rows))


def leading(risk: Risk, threat: str) -> ThreatRow | None:
    """The row that stands for an attacker in the matrix: the reported one, else that with the highest lower bound."""
    rows = [row for row in risk.rows if row.threat == threat]
    return max(rows, key=lambda row: (row.reported, (row.excess or row.rate).low), default=None)


def candidate_look(candidate: Candidate) -> str:
    """How one of several releases is marked: what is merely not shown looks like that, also where ``--strict`` fails it."""
    if candidate.verdict in _NOT_SHOWN:
        return "unsure"
    return VERDICT_LOOKS.get(candidate.exit_code, "unsure")


def candidate_standing(candidate: Candidate) -> str:
    """Its verdict in a few words."""
    return said(
        f"candidate.{'regressed' if candidate.verdict == 'regressed' else candidate_look(candidate)}"
    )


CANDIDATE_HEADINGS = ("release", "excess", "similarity", "standing", "note")


def candidate_rows(result: AuditResult) -> list[tuple[str, str, str, str, str]]:
    """Each of several releases: its worst risk, its utility, its own verdict, and whether no other is better in both."""
    return [
        (
            one.name,
            percent(one.risk),
            percent(one.utility),
            candidate_standing(one),
            said("on_frontier") if one.on_frontier else "",
        )
        for one in result.candidates
    ]


def file_name(facts: Mapping[str, Any]) -> str:
    """What a table is called; rows that ``--run`` held out are no file, and are called what they are."""
    name = str(facts.get("name", ""))
    return said("drawn_half", name=name) if "drawn_from" in facts else name


def file_rows(result: AuditResult) -> list[tuple[str, str, str, str]]:
    """Each of several files, its columns, the order that it lists people in, and what it links alone; then all together."""
    rows = []
    for file in result.files:
        name = said("earlier_file", name=file.name) if file.earlier else file.name
        rows.append((name, columns_in_short(file.columns), str(file.order), rated(file.rate)))
    if rows:
        rows.append((said("files_together"), "", "", rated(result.risks["linkability"].rate)))
    return rows
