"""``verify``: folders against their commitments; of archives and receipts see ``archives``."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.options import JSON, PATH, Command, Option, argument, check_order
from kakurenbo.cli.plugins import PluginGroup, rulebook_command
from kakurenbo.contest import IN_PHASE, MADE_AGAIN, AnyRulebook, verify_round
from kakurenbo.contest.commitments import CANNOT_REPEAT, KEPT, SEED
from kakurenbo.contest.verify import THE_PREPARATION
from kakurenbo.core.messages import language, text, translated
from kakurenbo.methods import registry

_STATE_COLUMNS = 15


@rulebook_command(
    "verify",
    argument("preparation"),
    argument("phase", required=False),
    Option("--commitments", "published", code="option.commitments", type=PATH),
    Option("--phase-commitments", "phase_published", code="option.phase_commitments", type=PATH),
    Option("--again", is_flag=True),
    Option("--verbose", is_flag=True),
    JSON,
)
def verify_folders(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path | None,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> int:

    if phase is not None:
        check_order(
            ("PREPARATION", preparation), ("PHASE", phase), lambda path: (path / "secret").is_dir()
        )
    findings = verify_round(rulebook, preparation, phase, **options)
    kept = [finding for finding in findings if finding.state == KEPT]
    others = [finding for finding in findings if finding.state != KEPT]
    if as_json:
        listed = [dataclasses.asdict(finding) for finding in findings]
        output.print_json({"verified": not others, "findings": listed})
        return output.FAILS_RULES if others else output.DONE
    for finding in [*others, *kept] if verbose else others:
        output.print_line(_line(finding.state, finding.name, finding.why))
    if not verbose:
        _print_folders(KEPT, [finding.name for finding in kept])
    if others:
        is_unrepeatable = all(finding.state == CANNOT_REPEAT for finding in others)
        output.print_line(text("cli.kept_not_repeated" if is_unrepeatable else "cli.not_kept"))
        return output.FAILS_RULES
    if options["published"] is None:
        output.print_line(text("cli.own_commitments"))
    if phase is not None and options["phase_published"] is None:
        output.print_line(text("cli.own_phase_commitments"))
    output.print_line(_all_kept({finding.name for finding in findings}))
    return output.DONE


def _print_folders(state: str, names: Sequence[str]) -> None:
    """Print how many files of each folder have a state; a file in no folder by its name."""
    from kakurenbo.reports.numbers import counted

    folders = Counter("".join(name.partition("/")[:2]) for name in names)
    for folder, files in folders.items():
        shown = f": {counted(files, 'file', language())}" if folder.endswith("/") else ""
        output.print_line(_line(state, folder) + shown)


def _all_kept(names: set[str]) -> str:
    """Count every file once, however often it was compared, and seeds apart."""
    from kakurenbo.reports.numbers import counted

    repeated = {name.removeprefix(MADE_AGAIN) for name in names if name.startswith(MADE_AGAIN)}
    committed = {name for name in names if not name.startswith(MADE_AGAIN)}
    seeds = {name for name in committed if name.removeprefix(IN_PHASE) == SEED}
    counts = {
        "files": counted(len((repeated | committed) - seeds), "file", language()),
        "seeds": counted(len(seeds), "seed", language()),
    }
    return text("cli.all_kept_again" if repeated else "cli.all_kept", **counts, again=len(repeated))


def _line(state: str, name: str, why: str = "") -> str:
    from rich.cells import set_cell_size

    shown = text(f"word.{state.replace(' ', '_')}", state)
    reason = f" ({translated(why)})" if why else ""
    return f"{set_cell_size(shown, _STATE_COLUMNS)}  {place_text(name)}{reason}"


def place_text(name: str) -> str:
    """Translate the name of a finding, such as ``made again: phase: answers/``."""

    for prefix, code in {MADE_AGAIN: "cli.made_again", IN_PHASE: "cli.in_phase"}.items():
        if name.startswith(prefix):
            return text(code, what=place_text(name.removeprefix(prefix)))
    codes = {THE_PREPARATION: "finding.the_preparation", SEED: "word.seed"}
    return text(codes[name]) if name in codes else name


def _verify_subject(**values: Any) -> int:
    from kakurenbo.cli.archives import verify_subject  # loads the judge's scoring

    return verify_subject(**values)


_SUBJECT = Command(
    "verify",
    [
        click.Argument(["subject"], metavar="ARCHIVE"),
        Option("--receipt", "receipts", code="option.receipt_kept", type=PATH, multiple=True),
        Option("--log", metavar="ARCHIVE-or-URL"),
        Option("--again", code="option.again_all", is_flag=True),
        JSON,
    ],
    _verify_subject,
    "help.verify_archive",
)


class _Verify(PluginGroup):
    """Takes a rulebook, or else an archive, an address or a receipt."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        subject = args[0]
        is_place = (
            subject.startswith(("http://", "https://"))
            or "/" in subject
            or subject.endswith((".zip", ".json"))
            or os.path.lexists(subject)
        )
        if subject in registry.names("rulebooks") or not is_place:
            return super().resolve_command(ctx, args)
        return ctx.info_name, _SUBJECT, args

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [parameter.get_help_record(ctx) for parameter in _SUBJECT.params]
        with formatter.section(text("help.archive_options")):
            formatter.write_dl([record for record in records if record is not None])
        super().format_options(ctx, formatter)


verify = _Verify(
    "verify",
    "rulebooks",
    verify_folders.make_command,
    more=lambda: f"\n\n{text('help.verify_archive')}",
)
