"""What a notebook or a plain session shows of an audit, in the language of the moment: the verdict, and its risks."""

from __future__ import annotations

from kakurenbo.audit.report.markup import element, plain
from kakurenbo.audit.report.pictures import audit_pictures
from kakurenbo.audit.report.words import (
    caveat_sentences,
    limited,
    named,
    regression_sentence,
    said,
    verdict_sentence,
    why_told,
)
from kakurenbo.audit.result import AuditResult


def plain_audit(result: AuditResult) -> str:
    """The verdict, what is worse than before or was not attacked, and a line for each risk."""
    lines = [verdict_sentence(result), *_below(result)]
    for risk in result.risks.values():
        figure = f"{limited(risk)}, " if risk.assessed else ""
        lines.append(f"{named('risk', risk.name)}: {figure}{said(f'standing.{risk.standing}')}")
    return "\n".join(lines)


def notebook_audit(result: AuditResult) -> str:
    """Markup that brings its own style and needs no script."""
    pictures = (
        drawn.partition("\n")[2] for drawn in audit_pictures(result).values()
    )  # without the line that makes a file XML
    heads = (said(f"heading.{one}") for one in ("risk", "attack", "figure", "standing"))
    rows = (
        element(
            "tr",
            *(
                element("td", plain(cell))
                for cell in (
                    named("risk", risk.name),
                    named("attack", risk.attack) if risk.assessed else why_told(risk, result),
                    limited(risk),
                    said(f"standing.{risk.standing}"),
                )
            ),
        )
        for risk in result.risks.values()
        if risk.assessed or risk.why
    )
    head = element("tr", *(element("th", plain(one)) for one in heads))
    table = element("table", element("thead", head), element("tbody", *rows))
    told = (element("p", plain(sentence)) for sentence in _below(result))
    return element(
        "div",
        element("p", element("strong", plain(verdict_sentence(result)))),
        *told,
        *pictures,
        table,
    )


def _below(result: AuditResult) -> list[str]:
    """What is said below the verdict."""
    return [*filter(None, [regression_sentence(result)]), *caveat_sentences(result)]
