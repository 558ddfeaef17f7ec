"""``verify R PREPARATION [PHASE]``: after the reveal, does everything match what was committed to before the contest?"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option, option, path_argument, rulebook_verb
from kakurenbo.commitments import CANNOT_REPEAT, KEPT
from kakurenbo.contracts import AnyRulebook
from kakurenbo.messages import escaped, text
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
        why = f" ({finding.why})" if finding.why else ""
        console.print(f"{finding.state:15}  {escaped(finding.name)}{escaped(why)}", markup=False)
    taken = [name for name, given in (("preparation", published), ("phase", phase_published)) if given is None]
    if taken and kept:
        whose = " and of the ".join(taken if phase is not None else taken[:1])
        console.print(f"the commitments of the {whose} were taken from the folder: compare them with what was published")
    if kept:
        console.print(f"every commitment was kept, and nothing lies there uncommitted: {len(findings):,} files")
    elif all(finding.state in (KEPT, CANNOT_REPEAT) for finding in findings):
        console.print("every commitment was kept, but not everything could be made again: see above")
    else:
        console.print("NOT every commitment was kept: see above")
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
