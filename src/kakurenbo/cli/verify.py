"""``verify R PREPARATION [PHASE]``: after the reveal, does everything match what was committed to before the contest?

``verify ARCHIVE``, an address or a receipt instead of a rulebook is about a contest that a judge held: see ``verified``.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path

import click
from rich.cells import cell_len

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    PATH,
    PluginGroup,
    check_order,
    json_option,
    option,
    path_argument,
    rulebook_verb,
)
from kakurenbo.cli.verified import archive_command, is_address
from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.commitments import CANNOT_REPEAT, KEPT, SEED, Finding
from kakurenbo.contest.verify import IN_PHASE, MADE_AGAIN, verify_round
from kakurenbo.core.messages import language, retold, text
from kakurenbo.methods import registry
from kakurenbo.reports.numbers import counted

_PREFIXES = {MADE_AGAIN: "cli.made_again", IN_PHASE: "cli.in_phase"}


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
    if phase is not None:
        check_order(
            ("PREPARATION", preparation), ("PHASE", phase), lambda path: (path / "secret").is_dir()
        )
    findings = verify_round(
        rulebook,
        preparation,
        phase,
        published=published,
        phase_published=phase_published,
        again=again,
    )
    kept = all(finding.state == KEPT for finding in findings)
    if as_json:
        output.print_json(
            {"verified": kept, "findings": [dataclasses.asdict(finding) for finding in findings]}
        )
        return output.DONE if kept else output.FAILS_RULES
    console = output.console()
    for finding in sorted(findings, key=lambda finding: finding.state == KEPT):
        if verbose or finding.state != KEPT:
            console.print(_line(finding.state, finding.name, finding.why), markup=False)
    for folder, count in Counter(
        _folder(finding) for finding in findings if finding.state == KEPT
    ).items():
        if not verbose:
            files = f": {counted(count, 'file', language())}" if folder.endswith("/") else ""
            console.print(_line(KEPT, folder) + files, markup=False)
    if kept and published is None:
        console.print(text("cli.own_commitments"), markup=False)
    if kept and phase is not None and phase_published is None:
        console.print(text("cli.own_phase_commitments"), markup=False)
    if kept:
        console.print(_all_kept(findings), markup=False)
    elif all(finding.state in (KEPT, CANNOT_REPEAT) for finding in findings):
        console.print(text("cli.kept_not_repeated"), markup=False)
    else:
        console.print(text("cli.not_kept"), markup=False)
    return output.DONE if kept else output.FAILS_RULES


def _all_kept(findings: list[Finding]) -> str:
    """What was found in sum: every file once, however often it was looked at; seeds are no files."""
    repeated = {
        finding.name.removeprefix(MADE_AGAIN)
        for finding in findings
        if finding.name.startswith(MADE_AGAIN)
    }
    committed = [finding.name for finding in findings if not finding.name.startswith(MADE_AGAIN)]
    seeds = [name for name in committed if name.removeprefix(IN_PHASE) == SEED]
    files = repeated.union(committed).difference(seeds)
    counts = {
        "files": counted(len(files), "file", language()),
        "seeds": counted(len(seeds), "seed", language()),
    }
    return text("cli.all_kept_again" if repeated else "cli.all_kept", **counts, again=len(repeated))


def _line(state: str, name: str, why: str = "") -> str:
    told = retold(state)
    return (
        f"{told}{' ' * (15 - cell_len(told))}  {_place(name)}{f' ({retold(why)})' if why else ''}"
    )


def _place(name: str) -> str:
    """The name of a finding, which may begin with what was done and where: ``made again: phase: answers/``."""
    for prefix, code in _PREFIXES.items():
        if name.startswith(prefix):
            return text(code, what=_place(name.removeprefix(prefix)))
    return retold(name)


def _folder(finding: Finding) -> str:
    """What a file is counted under: ``phase: answers/``; what lies in no folder by its own name."""
    top, slash, _ = finding.name.partition("/")
    return top + slash


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("preparation"),
        click.Argument(["phase"], type=PATH, required=False),
        option("--commitments", "published", code="option.commitments", type=PATH),
        option(
            "--phase-commitments", "phase_published", code="option.phase_commitments", type=PATH
        ),
        option("--again", code="option.again", is_flag=True),
        option("--verbose", code="option.verbose", is_flag=True),
        json_option(),
    ]


class _Verify(PluginGroup):
    """Takes a rulebook, or else an archive, an address or a receipt."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        given = args[0]
        if given in registry.names("rulebooks") or not _is_place(given):
            return super().resolve_command(context, args)
        return context.info_name, archive_command(), args

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        records = [one.get_help_record(context) for one in archive_command().params]
        with formatter.section(text("help.archive_options")):
            formatter.write_dl([record for record in records if record is not None])
        super().format_options(context, formatter)


def _is_place(given: str) -> bool:
    return (
        is_address(given)
        or "/" in given
        or os.path.lexists(given)
        or given.endswith((".zip", ".json"))
    )


def verify() -> click.Group:
    """The verb."""
    about = f"{text('help.verify')}\n\n{text('help.verify_archive')}"
    plain = rulebook_verb("verify", _verify, _parameters, text("help.verify"))
    return _Verify("verify", "rulebooks", plain.make_command, about)
