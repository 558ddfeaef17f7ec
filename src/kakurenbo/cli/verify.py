"""``verify R PREPARATION [PHASE]``: after the reveal, does everything match what was committed to before the contest?"""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option, path_argument, rulebook_verb
from kakurenbo.commitments import CANNOT_REPEAT, KEPT, Finding
from kakurenbo.contracts import AnyRulebook
from kakurenbo.messages import escaped
from kakurenbo.rounds import verify_round


def _verify(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path | None,
    published: Path | None,
    phase_published: Path | None,
    again: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    findings = verify_round(rulebook, preparation, phase, published=published, phase_published=phase_published, again=again)
    kept = all(finding.state == KEPT for finding in findings)
    if as_json:
        output.print_json({"verified": kept, "findings": [dataclasses.asdict(finding) for finding in findings]})
        return output.DONE if kept else output.FAILS_RULES
    console = output.console()
    for finding in sorted(findings, key=lambda finding: finding.state == KEPT):
        if verbose or finding.state != KEPT:
            why = f" ({finding.why})" if finding.why else ""
            console.print(f"{finding.state:15}  {escaped(finding.name)}{escaped(why)}", markup=False)
    for folder, count in Counter(_folder(finding) for finding in findings if finding.state == KEPT).items():
        if not verbose:
            files = f": {count:,} {'file' if count == 1 else 'files'}" if folder.endswith("/") else ""
            console.print(f"{KEPT:15}  {escaped(folder)}{files}", markup=False)
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


def _folder(finding: Finding) -> str:
    """What a file is counted under: ``phase: answers/``; what lies in no folder by its own name."""
    top, slash, _ = finding.name.partition("/")
    return top + slash


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("preparation"),
        click.Argument(["phase"], type=PATH, required=False),
        click.Option(
            ["--commitments", "published"],
            type=PATH,
            help="commitments.json of PREPARATION as it was published before the round, not as it lies there now.",
        ),
        click.Option(
            ["--phase-commitments", "phase_published"],
            type=PATH,
            help="commitments.json of PHASE as it was published with the targets, not as it lies there now.",
        ),
        click.Option(["--verbose"], is_flag=True, help="Name every file, also those that were kept."),
        click.Option(["--again"], is_flag=True, help="Also make everything once more from the revealed seed and compare."),
        json_option,
    ]


verify = rulebook_verb(
    "verify", _verify, _parameters, "Check the revealed folders of prepare (and of publish) against the commitments."
)
