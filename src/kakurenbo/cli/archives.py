"""``verify`` of archives, addresses, receipts and checkpoints of a judge."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from rich.progress import SpinnerColumn, TextColumn

from kakurenbo.cli import output
from kakurenbo.cli.judge_client import Judge, JudgeRefused
from kakurenbo.cli.options import check_exists
from kakurenbo.cli.terminal import LiveProgress, console, plain_table
from kakurenbo.core import read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import shorten, text
from kakurenbo.proofs import Checkpoint, ProofError, Receipt, read_proof, strict, verify_consistency
from kakurenbo.proofs.archive import LogFile, opened
from kakurenbo.proofs.differences import Difference
from kakurenbo.proofs.log import FORMAT as CHECKPOINT
from kakurenbo.proofs.receipts import FORMAT as RECEIPT
from kakurenbo.proofs.verify import Report, check_whole_log, verify_archive
from kakurenbo.reports.numbers import count

_CONTESTS = "contests"
_MAX_VALUE = 300  # characters of what a receipt says


def verify_subject(
    subject: str, receipts: tuple[Path, ...], log: str | None, again: bool, as_json: bool
) -> int:
    """Verify an archive, the log of a judge's contest, or a receipt, with receipts that were kept."""
    report, difference = Report(), None
    try:
        kept = {str(path): _read_proof(path) for path in receipts}
        if not _is_address(subject) and _is_proof(Path(subject)):
            return _verify_proof(subject, _read_proof(Path(subject)), log, as_json)
        if log is not None:
            raise UsageError("verification.log_of_receipt")
        with _progress(as_json) as tell, _place(subject) as place:
            if isinstance(place, LogFile):
                check_whole_log(place, kept, lambda kind, n=1: report.checked.update({kind: n}))
            else:
                with opened(place) as archive:
                    verify_archive(archive, kept, again=again, tell=tell, report=report)
    except Difference as error:
        difference = error
    _print_report(report, difference, as_json)
    return output.DONE if difference is None else output.FAILS_RULES


def _print_report(report: Report, difference: Difference | None, as_json: bool) -> None:
    if as_json:
        content = {
            "verified": difference is None,
            "complete": report.complete and difference is None,
            "checked": dict(report.checked),
            "notices": report.notices,
            "difference": None if difference is None else difference.as_json(),
        }
        output.print_json(content)
        return
    if report.checked:
        table = plain_table(text("verification.checked"), "", right=[""])
        for kind, number in report.checked.items():
            table.add_row(text(f"verification.kind.{kind}"), count(number))
        console().print(table)
    if difference is not None:
        output.print_line(text("verification.differs", difference=str(difference)))
        return
    for notice in report.notices:
        output.print_line(notice)
    verdict = "verification.all_holds" if report.complete else "verification.holds_so_far"
    output.print_line(text(verdict))


def _verify_proof(file: str, proof: Receipt | Checkpoint, log: str | None, as_json: bool) -> int:
    signed = proof.checkpoint if isinstance(proof, Receipt) else proof
    try:
        proof.check()
    except ProofError as wrong:
        raise Difference(wrong.why, file, wrong.field) from None
    size = None if log is None else _compare_with_log(file, proof, signed, log)
    if as_json:
        content: dict[str, Any] = {
            "verified": True,
            "complete": False,
            "checked": {"receipts": 1},
            "notices": [],
            "difference": None,
            "checkpoint": signed.as_json(),
        }
        if isinstance(proof, Receipt):
            content["entry"] = proof.content()
        output.print_json({**content, "log_size": size})
        return output.DONE
    if isinstance(proof, Receipt):
        _print_entry(proof)
    about = {"contest": signed.contest, "size": signed.size, "at": signed.at}
    output.print_line(text("verification.signed", **about, key=signed.public_key.hex()))
    is_receipt = isinstance(proof, Receipt)
    output.print_line(text(f"verification.{'receipt' if is_receipt else 'checkpoint'}_holds"))
    code = "verification.no_log" if size is None else "verification.only_grew"
    output.print_line(text(code, size=size))
    return output.DONE


def _print_entry(receipt: Receipt) -> None:
    """Print the entry of the log that a receipt is about."""
    entry = receipt.content()
    about = {"number": receipt.number, "kind": str(entry.get("kind")), "at": str(entry.get("at"))}
    output.print_line(text("verification.says", **about))
    for name, value in entry["body"].items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        output.print_line(f"  {name}: {shorten(shown, _MAX_VALUE)}")


def _compare_with_log(file: str, proof: Receipt | Checkpoint, signed: Checkpoint, log: str) -> int:
    """Compare a proof with the log of an archive or a judge; return the log's size."""
    if not _is_address(log):
        check_exists(Path(log))
        with opened(Path(log)) as archive:
            whole = archive.read("log.json", LogFile)
        check_whole_log(whole, {file: proof}, lambda *_: None)
        return len(whole.entries)
    judge, slug = _contest_at(log, signed.contest)
    try:
        latest = Checkpoint.from_json(_ask(judge, slug, "log", "checkpoint"))
        latest.check()
    except (ProofError, AttributeError) as wrong:
        field = str(getattr(wrong, "field", ""))
        raise Difference("verification.bad_signature", log, field) from None
    for name in ("contest", "public_key"):
        value, expected = latest.as_json()[name], signed.as_json()[name]
        if value != expected:
            shown = f"{expected} ({file})"
            raise Difference("verification.other_than_kept", log, name, value, shown)
    if latest.size < signed.size:
        raise Difference("verification.short_log", log, file, latest.size, signed.size)
    answer = _ask(judge, slug, "log", "consistency", str(signed.size), str(latest.size))
    try:
        path = [bytes.fromhex(step) for step in answer["proof"]]
    except (ValueError, TypeError, KeyError):
        raise UsageError("verification.no_contest", address=log) from None
    if not verify_consistency(signed.size, latest.size, signed.root, latest.root, path):
        raise Difference("verification.rewritten", log, file, latest.root.hex(), signed.root.hex())
    return latest.size


def _is_proof(path: Path) -> bool:
    """Return whether a file calls itself a receipt or a checkpoint."""
    check_exists(path)
    content = _parse(path) if path.is_file() and path.suffix != ".zip" else None
    return isinstance(content, dict) and content.get("format") in (RECEIPT, CHECKPOINT)


def _read_proof(path: Path) -> Receipt | Checkpoint:
    check_exists(path)
    content = _parse(path)
    try:
        proof = read_proof(content)
    except ProofError as wrong:
        shown = {"file": str(path), "part": wrong.field, "why": text(wrong.why)}
        raise UsageError("verification.no_receipt", **shown) from None
    strict.check_keys(content, proof.as_json(), str(path))
    return proof


def _parse(path: Path) -> Any:
    try:
        return strict.parsed(read_file(path), str(path))
    except ValueError:
        return None


# -- judges ----------------------------------------------------------------------------------------


@contextmanager
def _place(subject: str) -> Iterator[Path | LogFile]:
    """Provide the archive that is meant, or the log of a contest that is not over."""
    if not _is_address(subject):
        check_exists(Path(subject))
        yield Path(subject)
        return
    judge, slug = _contest_at(subject)
    contest = _ask(judge, slug)
    if not isinstance(contest, dict) or "ended_at" not in contest:
        raise UsageError("verification.no_contest", address=subject)
    if contest["ended_at"] is None:
        try:
            yield msgspec.convert(_ask(judge, slug, "log"), LogFile)
        except msgspec.ValidationError as error:
            shown = {"file": f"{subject} log", "error": str(error)}
            raise UsageError("verification.unreadable_file", **shown) from None
        return
    with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
        archive = Path(folder) / "archive.zip"
        judge.download(archive, _CONTESTS, slug, "archive.zip")
        yield archive


def _is_address(subject: str) -> bool:
    return subject.startswith(("http://", "https://"))


def _contest_at(address: str, contest: str = "") -> tuple[Judge, str]:
    """Return judge and contest of an address: of the contest's page, or of its API."""
    parts = urlsplit(address)
    root, contests, rest = parts.path.partition(f"/{_CONTESTS}/")
    slug = unquote(rest.split("/")[0]) if contests else contest
    if not parts.hostname or not slug:
        raise UsageError("verification.no_contest", address=address)
    path = root.removesuffix("/api/v1").rstrip("/")
    return Judge(f"{parts.scheme}://{parts.netloc}{path}", ""), slug


def _ask(judge: Judge, slug: str, *path: str) -> Any:
    try:
        return judge.get(_CONTESTS, slug, *path)
    except JudgeRefused:
        raise UsageError("verification.no_contest", address=judge.address) from None


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    columns = SpinnerColumn(), TextColumn("{task.description}"), TextColumn("[dim]{task.completed}")
    with LiveProgress(*columns, quiet=quiet) as progress:
        tasks: dict[str, Any] = {}

        def tell(kind: str) -> None:
            if kind not in tasks:
                description = text(f"verification.kind.{kind}")
                tasks[kind] = progress.bar.add_task(description, total=None)
            progress.bar.advance(tasks[kind])

        yield tell
