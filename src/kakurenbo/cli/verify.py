"""``verify R PREPARATION [PHASE]``: after the reveal, does everything match what was committed to before the contest?"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click
from rich.cells import cell_len

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option, option, path_argument, rulebook_verb
from kakurenbo.commitments import CANNOT_REPEAT, KEPT
from kakurenbo.contracts import AnyRulebook
from kakurenbo.messages import retold, text
from kakurenbo.rounds import verify_round


def _verify(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path | None,
    published: Path | None,
    phase_published: Path | None,
    again: bool,
    as_json: bool,
) -> int:
    findings = verify_round(rulebook, preparation, phase, published=published, phase_published=phase_published, again=again)
    kept = all(finding.state == KEPT for finding in findings)
    if as_json:
        output.print_json({"verified": kept, "findings": [dataclasses.asdict(finding) for finding in findings]})
        return output.DONE if kept else output.FAILS_RULES
    console = output.console()
    for finding in sorted(findings, key=lambda finding: finding.state == KEPT):
        why = f" ({retold(finding.why)})" if finding.why else ""
        state = retold(finding.state)
        console.print(f"{state}{' ' * (15 - cell_len(state))}  {retold(finding.name)}{why}", markup=False)
    if kept and published is None:
        console.print(text("cli.own_commitments"), markup=False)
    if kept and phase is not None and phase_published is None:
        console.print(text("cli.own_phase_commitments"), markup=False)
    if kept:
        console.print(text("cli.all_kept", files=len(findings)), markup=False)
    elif all(finding.state in (KEPT, CANNOT_REPEAT) for finding in findings):
        console.print(text("cli.kept_not_repeated"), markup=False)
    else:
        console.print(text("cli.not_kept"), markup=False)
    return output.DONE if kept else output.FAILS_RULES


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("preparation"),
        click.Argument(["phase"], type=PATH, required=False),
        option("--commitments", "published", code="option.commitments", type=PATH),
        option("--phase-commitments", "phase_published", code="option.phase_commitments", type=PATH),
        option("--again", code="option.again", is_flag=True),
        json_option(),
    ]


def verify() -> click.Group:
    """The verb."""
    return rulebook_verb("verify", _verify, _parameters, text("help.verify"))
