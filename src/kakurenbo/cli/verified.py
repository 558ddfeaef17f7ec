"""``verify ARCHIVE-or-URL`` and ``verify RECEIPT``: a contest that a judge held, or what somebody kept of its log."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import msgspec
from rich.progress import Progress, SpinnerColumn, TextColumn

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, check_there, json_option, option
from kakurenbo.cli.judge_client import Judge, JudgeRefused
from kakurenbo.core import read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import shorten, text
from kakurenbo.proofs import Checkpoint, ProofError, Receipt, read_proof, verify_consistency
from kakurenbo.proofs.log import FORMAT as CHECKPOINT
from kakurenbo.proofs.receipts import FORMAT as RECEIPT
from kakurenbo.reports.numbers import count
from kakurenbo.verification import Difference, Report, opened, strict, verify_archive
from kakurenbo.verification.archive import LogFile
from kakurenbo.verification.contest import check_whole_log

_CONTESTS = "contests"


def is_address(given: str) -> bool:
    """Whether somebody means a place in the web."""
    return given.startswith(("http://", "https://"))


def _verify(
    subject: str, receipts: tuple[Path, ...], log: str | None, again: bool, as_json: bool
) -> int:
    report = Report()
    try:
        kept = {str(path): _kept(path) for path in receipts}
        own = None if is_address(subject) else _as_kept(Path(subject))
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
        return _differs(difference, report, as_json)
    if as_json:
        told = {
            "verified": True,
            "complete": report.complete,
            "checked": dict(report.checked),
            "notices": report.notices,
        }
        output.print_json({**told, "difference": None})
        return output.DONE
    _print_checked(report)
    console = output.console()
    for notice in report.notices:
        console.print(notice, markup=False)
    console.print(
        text("verification.all_holds" if report.complete else "verification.holds_so_far"),
        markup=False,
    )
    return output.DONE


def _differs(difference: Difference, report: Report, as_json: bool) -> int:
    if as_json:
        told = {
            "verified": False,
            "complete": False,
            "checked": dict(report.checked),
            "notices": report.notices,
        }
        output.print_json({**told, "difference": difference.as_json()})
        return output.FAILS_RULES
    _print_checked(report)
    output.console().print(text("verification.differs", difference=str(difference)), markup=False)
    return output.FAILS_RULES


def _print_checked(report: Report) -> None:
    if not report.checked:
        return
    table = output.plain_table(text("verification.checked"))
    output.add_column(table, "", right=True)
    for kind, number in report.checked.items():
        table.add_row(text(f"verification.kind.{kind}"), count(number))
    output.console().print(table)


# -- what somebody kept --------------------------------------------------------------------------------------------------


def _verify_kept(file: str, kept: Receipt | Checkpoint, log: str | None, as_json: bool) -> int:
    signed = kept.checkpoint if isinstance(kept, Receipt) else kept
    try:
        kept.check()
    except ProofError as wrong:
        raise Difference(wrong.why, file, wrong.field) from None
    now = None if log is None else _compared(file, kept, log)
    if as_json:
        told = {
            "verified": True,
            "complete": False,
            "checked": {"receipts": 1},
            "notices": [],
            "difference": None,
        }
        entry = {"entry": kept.content()} if isinstance(kept, Receipt) else {}
        output.print_json({**told, "checkpoint": signed.as_json(), **entry, "log_size": now})
        return output.DONE
    console = output.console()
    if isinstance(kept, Receipt):
        entry = kept.content()
        said = {"number": kept.number, "kind": str(entry.get("kind")), "at": str(entry.get("at"))}
        console.print(text("verification.says", **said), markup=False)
        for name, value in entry["body"].items():
            console.print(f"  {name}: {_shown(value)}", markup=False)
    console.print(
        text(
            "verification.signed",
            contest=signed.contest,
            size=signed.size,
            at=signed.at,
            key=signed.public_key.hex(),
        ),
        markup=False,
    )
    code = (
        "verification.receipt_holds"
        if isinstance(kept, Receipt)
        else "verification.checkpoint_holds"
    )
    console.print(text(code), markup=False)
    console.print(
        text("verification.no_log") if now is None else text("verification.only_grew", size=now),
        markup=False,
    )
    return output.DONE


def _compared(file: str, kept: Receipt | Checkpoint, log: str) -> int:
    """Compare something kept with the log as it is now, in an archive or on its judge; gives the log's size."""
    signed = kept.checkpoint if isinstance(kept, Receipt) else kept
    if not is_address(log):
        with opened(_there(log)) as archive:
            whole = archive.read("log.json", LogFile)
        check_whole_log(whole, {file: kept}, lambda *_: None)
        return len(whole.entries)
    judge, slug = _contest_at(log, signed.contest)
    now = _asked(judge, _CONTESTS, slug, "log", "checkpoint")
    try:
        latest = Checkpoint.from_json(now)
        latest.check()
    except (ProofError, AttributeError) as wrong:
        raise Difference(
            "verification.bad_signature", log, str(getattr(wrong, "field", ""))
        ) from None
    for what in ("contest", "public_key"):
        here, should_be = latest.as_json()[what], signed.as_json()[what]
        if here != should_be:
            raise Difference(
                "verification.other_than_kept", log, what, here, f"{should_be} ({file})"
            )
    if latest.size < signed.size:
        raise Difference("verification.short_log", log, file, latest.size, signed.size)
    told = _asked(judge, _CONTESTS, slug, "log", "consistency", str(signed.size), str(latest.size))
    try:
        proof = [bytes.fromhex(step) for step in told["proof"]]
    except (ValueError, TypeError, KeyError):
        raise UsageError(text("verification.no_contest", address=log)) from None
    if not verify_consistency(signed.size, latest.size, signed.root, latest.root, proof):
        raise Difference("verification.rewritten", log, file, latest.root.hex(), signed.root.hex())
    return latest.size


def _kept(path: Path) -> Receipt | Checkpoint:
    check_there(path)
    content = _parsed(path)
    try:
        kept = read_proof(content)
    except ProofError as wrong:
        raise UsageError(
            text("verification.no_receipt", file=str(path), part=wrong.field, why=text(wrong.why))
        ) from None
    strict.check_keys(content, kept.as_json(), str(path))
    return kept


def _as_kept(path: Path) -> Receipt | Checkpoint | None:
    """A receipt or checkpoint, where the file calls itself one."""
    check_there(path)
    content = _parsed(path) if path.is_file() and path.suffix != ".zip" else None
    return (
        _kept(path)
        if isinstance(content, dict) and content.get("format") in (RECEIPT, CHECKPOINT)
        else None
    )


def _parsed(path: Path) -> Any:
    try:
        return strict.parsed(read_file(path), str(path))
    except ValueError:
        return None


def _shown(value: object) -> str:
    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 300)


# -- where it is ---------------------------------------------------------------------------------------------------------


@contextmanager
def _place(subject: str) -> Iterator[Path | LogFile]:
    """The archive that is meant; of a contest that is not over, its log."""
    if not is_address(subject):
        yield _there(subject)
        return
    judge, slug = _contest_at(subject)
    contest = _asked(judge, _CONTESTS, slug)
    if not isinstance(contest, dict) or "ended_at" not in contest:
        raise UsageError(text("verification.no_contest", address=subject))
    if contest["ended_at"] is None:
        try:
            yield msgspec.convert(_asked(judge, _CONTESTS, slug, "log"), LogFile)
        except msgspec.ValidationError as error:
            raise UsageError(
                text("verification.unreadable_file", file=f"{subject} log", error=str(error))
            ) from None
        return
    with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
        place = Path(folder) / "archive.zip"
        judge.download(place, _CONTESTS, slug, "archive.zip")
        yield place


def _there(path: str) -> Path:
    check_there(Path(path))
    return Path(path)


def _contest_at(address: str, contest: str = "") -> tuple[Judge, str]:
    """The judge and the contest of an address: that of the contest's page, or of its API."""
    parts = urlsplit(address)
    before, found, after = parts.path.partition(f"/{_CONTESTS}/")
    slug = unquote(after.split("/")[0]) if found else contest
    if not parts.hostname or not slug:
        raise UsageError(text("verification.no_contest", address=address))
    return Judge(
        f"{parts.scheme}://{parts.netloc}{before.removesuffix('/api/v1').rstrip('/')}", ""
    ), slug


def _asked(judge: Judge, *path: str) -> Any:
    try:
        return judge.get(*path)
    except JudgeRefused:
        raise UsageError(text("verification.no_contest", address=judge.address)) from None


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    """How far it is, on a terminal."""
    live = not quiet and sys.stderr.isatty()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("[dim]{task.completed}"),
    )
    with Progress(
        *columns, console=output.console(stderr=True), transient=True, disable=not live
    ) as bar:
        tasks: dict[str, Any] = {}

        def tell(kind: str) -> None:
            if kind not in tasks:
                tasks[kind] = bar.add_task(text(f"verification.kind.{kind}"), total=None)
            bar.advance(tasks[kind])

        yield tell


def archive_command() -> click.Command:
    """``verify`` for an archive, an address, a receipt or a checkpoint."""
    parameters: list[click.Parameter] = [
        click.Argument(["subject"], metavar="ARCHIVE"),
        option("--receipt", "receipts", code="option.receipt_kept", type=PATH, multiple=True),
        option("--log", code="option.log", metavar="ARCHIVE-or-URL"),
        option("--again", code="option.again_all", is_flag=True),
        json_option(),
    ]
    return click.Command(
        "verify", params=parameters, callback=_verify, help=text("help.verify_archive")
    )
