"""``submit CONTEST FILE...``: hand in to a judge, and wait for what it says."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FILE, PATH, check_there, json_option, option
from kakurenbo.cli.judge_client import Judge, JudgeRefused, judge_of, judge_options, shown_problem
from kakurenbo.cli.judged import print_submission, verdict
from kakurenbo.contest import ANONYMIZE, ATTACK, FilePattern
from kakurenbo.contest.commitments import digest
from kakurenbo.contest.declarations import size_limit
from kakurenbo.contest.submissions import is_ignored, printable_name
from kakurenbo.core import Problems, json_bytes, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.proofs import ProofError, Receipt

_UNDER_WAY = frozenset({"receiving", "received", "checking", "queued", "scoring"})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.3, 5.0
_RECEIPT_PAUSE, _SHORT_FOR_RECEIPT, _LONGEST_FOR_RECEIPT = 1.0, 6, 20
"""Seconds: the judge signs its log every five of them."""


def _submit(
    contest: str,
    files: tuple[Path, ...],
    round_: str | None,
    phase: str | None,
    wait: int,
    receipt: Path | None,
    server: str | None,
    token_file: Path | None,
    as_json: bool,
) -> int:
    judge = judge_of(server, token_file)
    chosen = _files(files)
    known = judge.contest(contest)
    place = _place(known, round_, phase)
    try:
        _check_sizes(chosen, _patterns(known, place))
        handed_in = _hand_in(judge, contest, place, chosen)
    except JudgeRefused as refusal:
        return _refused(refusal, as_json)
    if not as_json:
        console = output.console()
        console.print(
            text("submit.received", number=handed_in["number"], round=place[0], phase=place[1]),
            markup=False,
        )
    judged = _await(judge, handed_in, wait)
    patience = _LONGEST_FOR_RECEIPT if receipt is not None else _SHORT_FOR_RECEIPT
    kept = (
        receipt_of(judge, judged["id"], chosen, min(wait, patience))
        if as_json or receipt is not None
        else None
    )
    if receipt is not None and kept is not None:
        write_file(receipt, json_bytes(kept))
    if as_json:
        output.print_json({**judged, "receipt": kept})
    else:
        print_submission(judged)
    if receipt is not None:
        click.echo(
            text("submit.no_receipt" if kept is None else "submit.receipt", path=str(receipt)),
            err=True,
        )
    return verdict(judged)


def _hand_in(
    judge: Judge, contest: str, place: tuple[str, str], files: Mapping[str, Path]
) -> dict[str, Any]:
    begun = judge.post("contests", contest, "rounds", place[0], "phases", place[1], "submissions")
    try:
        for name, path in files.items():
            judge.put(path, "submissions", begun["id"], "files", name)
        finished: dict[str, Any] = judge.post("submissions", begun["id"], "finish")
    except (JudgeRefused, UsageError):
        judge.give_up("submissions", begun["id"])
        raise
    return finished


def _patterns(contest: Mapping[str, Any], place: tuple[str, str]) -> list[FilePattern]:
    """The files that a phase takes, as the judge tells them."""
    phases = [(one["name"], each) for one in contest["rounds"] for each in one["phases"]]
    declared = next(each["files"] for name, each in phases if (name, each["kind"]) == place)
    return [FilePattern(file["template"], file["max_bytes"]) for file in declared]


def _check_sizes(files: Mapping[str, Path], patterns: Sequence[FilePattern]) -> None:
    """Refuse what is too large before a byte of it is sent, as the judge would."""
    problems = Problems.join(
        Problems.of("source.too_large", printable_name(name), limit=limit)
        for name, path in files.items()
        if path.stat().st_size > (limit := size_limit(patterns, name))
    )
    if problems:
        raise JudgeRefused([problem.as_json() for problem in problems], problems.total)


def _await(judge: Judge, submission: dict[str, Any], seconds: int) -> dict[str, Any]:
    """The submission when it is judged, or as it is after so many seconds."""
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while submission["state"] in _UNDER_WAY and time.monotonic() < until:
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        pause = min(_LONGEST_PAUSE, pause * 1.5)
        submission = judge.get("submissions", submission["id"])
    return submission


def receipt_of(
    judge: Judge, submission: str, files: Mapping[str, Path], seconds: float
) -> dict[str, Any] | None:
    """The judge's receipt, which holds and names these files; None where it did not sign one in so many seconds.

    Raises
    ------
    UsageError
        Where it does not hold, or is about other bytes than were sent.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            told: dict[str, Any] = judge.get("submissions", submission, "receipt")
            break
        except (JudgeRefused, UsageError):
            if time.monotonic() >= until:
                return None
            time.sleep(_RECEIPT_PAUSE)
    try:
        read = Receipt.from_json(told)
        read.check()
    except ProofError as wrong:
        raise UsageError(
            text("submit.bad_receipt", part=wrong.field, why=text(wrong.why))
        ) from None
    sent = {name: digest(path.read_bytes()) for name, path in files.items()}
    if read.content()["body"].get("files") != sent:
        raise UsageError(text("submit.bad_receipt", part="files", why=text("submit.other_files")))
    return told


def _files(given: tuple[Path, ...]) -> dict[str, Path]:
    """Files by their names; of a folder those in it, but for what file managers leave there."""
    check_there(*given)
    found: dict[str, Path] = {}
    for path in given:
        entries = (
            [one for one in sorted(path.iterdir()) if not is_ignored(one.name)]
            if path.is_dir()
            else [path]
        )
        for entry in entries:
            if not entry.is_file():
                raise UsageError(text("submit.no_file", path=str(entry)))
            if found.setdefault(entry.name, entry) != entry:
                raise UsageError(text("submit.same_name", name=entry.name))
    if not found:
        raise UsageError(text("submit.nothing", path=str(given[0])))
    return found


def _place(contest: Mapping[str, Any], round_: str | None, phase: str | None) -> tuple[str, str]:
    """The phase that is meant: the one that is open, unless another is named."""
    known = [
        (one["name"], each["kind"], each["state"])
        for one in contest["rounds"]
        for each in one["phases"]
    ]
    asked = [
        (name, kind, state)
        for name, kind, state in known
        if round_ in (None, name) and phase in (None, kind)
    ]
    if not asked:
        raise UsageError(
            text("submit.no_phase", phases=[f"{name} {kind}" for name, kind, _ in known])
        )
    opened = [(name, kind) for name, kind, state in asked if state == "open"]
    if len(opened) == 1:
        return opened[0]
    if opened:
        raise UsageError(
            text("submit.several_open", phases=[f"{name} {kind}" for name, kind in opened])
        )
    if round_ is None and phase is None:
        raise UsageError(text("submit.none_open"))
    waiting = [(name, kind) for name, kind, state in asked if state == "waiting"]
    return waiting[0] if waiting else asked[-1][:2]  # the judge says why not, with the times


def _refused(refusal: JudgeRefused, as_json: bool) -> int:
    """Tell why; what is wrong with files is the entry's fault, anything else (no try left, out of the round) is not."""
    if as_json:
        output.print_json(
            {"state": "refused", "problem_count": refusal.count, "problems": refusal.problems}
        )
    for problem in refusal.problems:
        click.echo(shown_problem(problem), err=True)
    about_files = any(problem.get("file") for problem in refusal.problems)
    return output.FAILS_RULES if about_files else output.UNUSABLE


def submit() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        click.Argument(["contest"]),
        click.Argument(["files"], type=PATH, nargs=-1, required=True),
        option("--round", "round_", code="option.contest_round", metavar="NAME"),
        option("--phase", code="option.contest_phase", type=click.Choice([ANONYMIZE, ATTACK])),
        option(
            "--wait",
            code="option.wait",
            type=click.IntRange(0, 86400),
            default=600,
            show_default=True,
            metavar="SECONDS",
        ),
        option("--receipt", code="option.receipt", type=OUT_FILE),
        *judge_options(),
        json_option(),
    ]
    return click.Command("submit", params=parameters, callback=_submit, help=text("help.submit"))
