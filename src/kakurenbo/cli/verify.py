"""``verify``: folders against their commitments; archives, addresses and receipts of a judge."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import msgspec
from rich.cells import cell_len
from rich.progress import SpinnerColumn, TextColumn

from kakurenbo.cli import output
from kakurenbo.cli.judge_client import Judge, JudgeRefused
from kakurenbo.cli.options import (
    JSON,
    PATH,
    Command,
    Option,
    PluginGroup,
    argument,
    check_exists,
    check_order,
    localized,
    rulebook_command,
)
from kakurenbo.cli.progress import LiveProgress
from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.commitments import CANNOT_REPEAT, KEPT, SEED, Finding
from kakurenbo.contest.verify import IN_PHASE, MADE_AGAIN, THE_PREPARATION, verify_round
from kakurenbo.core import read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import language, shorten, text, translated
from kakurenbo.methods import registry
from kakurenbo.proofs import Checkpoint, ProofError, Receipt, read_proof, strict, verify_consistency
from kakurenbo.proofs.archive import LogFile, opened
from kakurenbo.proofs.differences import Difference
from kakurenbo.proofs.log import FORMAT as CHECKPOINT
from kakurenbo.proofs.receipts import FORMAT as RECEIPT
from kakurenbo.proofs.verify import Report, check_whole_log, verify_archive
from kakurenbo.reports.numbers import count, counted

_PREFIXES = {MADE_AGAIN: "cli.made_again", IN_PHASE: "cli.in_phase"}
_CONTESTS = "contests"

# -- folders ---------------------------------------------------------------------------------------


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
    is_kept = all(finding.state == KEPT for finding in findings)
    if as_json:
        listed = [dataclasses.asdict(finding) for finding in findings]
        output.print_json({"verified": is_kept, "findings": listed})
        return output.DONE if is_kept else output.FAILS_RULES
    for finding in sorted(findings, key=lambda finding: finding.state == KEPT):
        if verbose or finding.state != KEPT:
            output.print_line(_line(finding.state, finding.name, finding.why))
    folders = Counter(_folder(finding) for finding in findings if finding.state == KEPT)
    for folder, files in folders.items() if not verbose else ():
        shown = f": {counted(files, 'file', language())}" if folder.endswith("/") else ""
        output.print_line(_line(KEPT, folder) + shown)
    if is_kept:
        if options["published"] is None:
            output.print_line(text("cli.own_commitments"))
        if phase is not None and options["phase_published"] is None:
            output.print_line(text("cli.own_phase_commitments"))
        output.print_line(_all_kept(findings))
        return output.DONE
    is_unrepeatable = all(finding.state in (KEPT, CANNOT_REPEAT) for finding in findings)
    output.print_line(text("cli.kept_not_repeated" if is_unrepeatable else "cli.not_kept"))
    return output.FAILS_RULES


def _all_kept(findings: list[Finding]) -> str:
    """Count every file once, however often it was compared, and seeds apart."""
    names = {finding.name for finding in findings}
    repeated = {name.removeprefix(MADE_AGAIN) for name in names if name.startswith(MADE_AGAIN)}
    committed = {name for name in names if not name.startswith(MADE_AGAIN)}
    seeds = {name for name in committed if name.removeprefix(IN_PHASE) == SEED}
    files = (repeated | committed) - seeds
    counts = {
        "files": counted(len(files), "file", language()),
        "seeds": counted(len(seeds), "seed", language()),
    }
    return text("cli.all_kept_again" if repeated else "cli.all_kept", **counts, again=len(repeated))


def _line(state: str, name: str, why: str = "") -> str:
    shown = text(f"word.{state.replace(' ', '_')}", state)
    reason = f" ({translated(why)})" if why else ""
    return f"{shown}{' ' * (15 - cell_len(shown))}  {place_text(name)}{reason}"


def place_text(name: str) -> str:
    """Translate the name of a finding, such as ``made again: phase: answers/``."""
    for prefix, code in _PREFIXES.items():
        if name.startswith(prefix):
            return text(code, what=place_text(name.removeprefix(prefix)))
    codes = {THE_PREPARATION: "finding.the_preparation", SEED: "word.seed"}
    return text(codes[name]) if name in codes else name


def _folder(finding: Finding) -> str:
    """Return the folder that a file is counted under; the name of a file in no folder."""
    top, slash, _ = finding.name.partition("/")
    return top + slash


# -- archives, addresses, receipts and checkpoints -------------------------------------------------


def is_address(subject: str) -> bool:
    return subject.startswith(("http://", "https://"))


def _verify_subject(
    subject: str, receipts: tuple[Path, ...], log: str | None, again: bool, as_json: bool
) -> int:
    report = Report()
    try:
        kept = {str(path): _kept(path) for path in receipts}
        own = None if is_address(subject) else _read_kept(Path(subject))
        if own is not None:
            return _verify_kept(subject, own, log, as_json)
        if log is not None:
            raise UsageError(text("verification.log_of_receipt"))
        with _progress(as_json) as tell, _place(subject) as place:
            if isinstance(place, LogFile):
                check_whole_log(
                    place, kept, lambda kind, number=1: report.checked.update({kind: number})
                )
            else:
                with opened(place) as archive:
                    verify_archive(archive, kept, again=again, tell=tell, report=report)
    except Difference as difference:
        return _print_report(report, difference, as_json)
    return _print_report(report, None, as_json)


def _print_report(report: Report, difference: Difference | None, as_json: bool) -> int:
    code = output.DONE if difference is None else output.FAILS_RULES
    if as_json:
        content = {
            "verified": difference is None,
            "complete": report.complete and difference is None,
            "checked": dict(report.checked),
            "notices": report.notices,
            "difference": None if difference is None else difference.as_json(),
        }
        output.print_json(content)
        return code
    if report.checked:
        table = output.plain_table(text("verification.checked"))
        output.add_column(table, "", right=True)
        for kind, number in report.checked.items():
            table.add_row(text(f"verification.kind.{kind}"), count(number))
        output.console().print(table)
    if difference is not None:
        output.print_line(text("verification.differs", difference=str(difference)))
        return code
    for notice in report.notices:
        output.print_line(notice)
    is_complete = report.complete
    verdict = "verification.all_holds" if is_complete else "verification.holds_so_far"
    output.print_line(text(verdict))
    return code


def _verify_kept(file: str, kept: Receipt | Checkpoint, log: str | None, as_json: bool) -> int:
    is_receipt = isinstance(kept, Receipt)
    signed = kept.checkpoint if isinstance(kept, Receipt) else kept
    try:
        kept.check()
    except ProofError as wrong:
        raise Difference(wrong.why, file, wrong.field) from None
    size = None if log is None else _compare(file, kept, log)
    entry = kept.content() if isinstance(kept, Receipt) else {}
    if as_json:
        content: dict[str, Any] = {
            "verified": True,
            "complete": False,
            "checked": {"receipts": 1},
            "notices": [],
            "difference": None,
            "checkpoint": signed.as_json(),
        }
        if is_receipt:
            content["entry"] = entry
        output.print_json({**content, "log_size": size})
        return output.DONE
    if isinstance(kept, Receipt):
        about = {"number": kept.number, "kind": str(entry.get("kind")), "at": str(entry.get("at"))}
        output.print_line(text("verification.says", **about))
        for name, value in entry["body"].items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            output.print_line(f"  {name}: {shorten(shown, 300)}")
    about = {"contest": signed.contest, "size": signed.size, "at": signed.at}
    output.print_line(text("verification.signed", **about, key=signed.public_key.hex()))
    what = "receipt" if is_receipt else "checkpoint"
    output.print_line(text(f"verification.{what}_holds"))
    if size is None:
        output.print_line(text("verification.no_log"))
    else:
        output.print_line(text("verification.only_grew", size=size))
    return output.DONE


def _compare(file: str, kept: Receipt | Checkpoint, log: str) -> int:
    """Compare something kept with the log of an archive or a judge; return the log's size."""
    signed = kept.checkpoint if isinstance(kept, Receipt) else kept
    if not is_address(log):
        check_exists(Path(log))
        with opened(Path(log)) as archive:
            whole = archive.read("log.json", LogFile)
        check_whole_log(whole, {file: kept}, lambda *_: None)
        return len(whole.entries)
    judge, slug = _contest_at(log, signed.contest)
    now = _ask(judge, _CONTESTS, slug, "log", "checkpoint")
    try:
        latest = Checkpoint.from_json(now)
        latest.check()
    except (ProofError, AttributeError) as wrong:
        field = str(getattr(wrong, "field", ""))
        raise Difference("verification.bad_signature", log, field) from None
    for what in ("contest", "public_key"):
        here, expected = latest.as_json()[what], signed.as_json()[what]
        if here != expected:
            kept_value = f"{expected} ({file})"
            raise Difference("verification.other_than_kept", log, what, here, kept_value)
    if latest.size < signed.size:
        raise Difference("verification.short_log", log, file, latest.size, signed.size)
    sizes = str(signed.size), str(latest.size)
    answer = _ask(judge, _CONTESTS, slug, "log", "consistency", *sizes)
    try:
        proof = [bytes.fromhex(step) for step in answer["proof"]]
    except (ValueError, TypeError, KeyError):
        raise UsageError(text("verification.no_contest", address=log)) from None
    if not verify_consistency(signed.size, latest.size, signed.root, latest.root, proof):
        raise Difference("verification.rewritten", log, file, latest.root.hex(), signed.root.hex())
    return latest.size


def _kept(path: Path) -> Receipt | Checkpoint:
    check_exists(path)
    content = _parse(path)
    try:
        kept = read_proof(content)
    except ProofError as wrong:
        shown = {"file": str(path), "part": wrong.field, "why": text(wrong.why)}
        raise UsageError(text("verification.no_receipt", **shown)) from None
    strict.check_keys(content, kept.as_json(), str(path))
    return kept


def _read_kept(path: Path) -> Receipt | Checkpoint | None:
    """Read a receipt or checkpoint, if the file calls itself one."""
    check_exists(path)
    content = _parse(path) if path.is_file() and path.suffix != ".zip" else None
    is_kept = isinstance(content, dict) and content.get("format") in (RECEIPT, CHECKPOINT)
    return _kept(path) if is_kept else None


def _parse(path: Path) -> Any:
    try:
        return strict.parsed(read_file(path), str(path))
    except ValueError:
        return None


@contextmanager
def _place(subject: str) -> Iterator[Path | LogFile]:
    """Provide the archive that is meant, or the log of a contest that is not over."""
    if not is_address(subject):
        check_exists(Path(subject))
        yield Path(subject)
        return
    judge, slug = _contest_at(subject)
    contest = _ask(judge, _CONTESTS, slug)
    if not isinstance(contest, dict) or "ended_at" not in contest:
        raise UsageError(text("verification.no_contest", address=subject))
    if contest["ended_at"] is None:
        try:
            yield msgspec.convert(_ask(judge, _CONTESTS, slug, "log"), LogFile)
        except msgspec.ValidationError as error:
            shown = {"file": f"{subject} log", "error": str(error)}
            raise UsageError(text("verification.unreadable_file", **shown)) from None
        return
    with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
        archive = Path(folder) / "archive.zip"
        judge.download(archive, _CONTESTS, slug, "archive.zip")
        yield archive


def _contest_at(address: str, contest: str = "") -> tuple[Judge, str]:
    """Return judge and contest of an address: of the contest's page, or of its API."""
    parts = urlsplit(address)
    root, contests, rest = parts.path.partition(f"/{_CONTESTS}/")
    slug = unquote(rest.split("/")[0]) if contests else contest
    if not parts.hostname or not slug:
        raise UsageError(text("verification.no_contest", address=address))
    path = root.removesuffix("/api/v1").rstrip("/")
    return Judge(f"{parts.scheme}://{parts.netloc}{path}", ""), slug


def _ask(judge: Judge, *path: str) -> Any:
    try:
        return judge.get(*path)
    except JudgeRefused:
        raise UsageError(text("verification.no_contest", address=judge.address)) from None


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    done = TextColumn("[dim]{task.completed}")
    with LiveProgress(
        SpinnerColumn(), TextColumn("{task.description}"), done, quiet=quiet
    ) as progress:
        tasks: dict[str, Any] = {}

        def tell(kind: str) -> None:
            if kind not in tasks:
                description = text(f"verification.kind.{kind}")
                tasks[kind] = progress.bar.add_task(description, total=None)
            progress.bar.advance(tasks[kind])

        yield tell


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
    code="help.verify_archive",
)


class _Verify(PluginGroup):
    """Takes a rulebook, or else an archive, an address or a receipt."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        subject = args[0]
        if subject in registry.names("rulebooks") or not _is_place(subject):
            return super().resolve_command(ctx, args)
        return ctx.info_name, localized(_SUBJECT), args

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [parameter.get_help_record(ctx) for parameter in localized(_SUBJECT).params]
        with formatter.section(text("help.archive_options")):
            formatter.write_dl([record for record in records if record is not None])
        super().format_options(ctx, formatter)


def _is_place(subject: str) -> bool:
    is_name = "/" in subject or subject.endswith((".zip", ".json"))
    return is_address(subject) or is_name or os.path.lexists(subject)


verify = _Verify(
    "verify",
    "rulebooks",
    verify_folders.make_command,
    more=lambda _rulebook, _method: f"\n\n{text('help.verify_archive')}",
)
