"""``submit``, ``status`` and ``fetch``: a team's access to a judge."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import click
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.judge_client import (
    JUDGE_OPTIONS,
    Judge,
    JudgeRefused,
    judge_of,
    problem_text,
)
from kakurenbo.cli.options import (
    JSON,
    OUT_FILE,
    OUT_FOLDER_OPTION,
    Option,
    argument,
    command,
    integer,
)
from kakurenbo.cli.terminal import console, plain_table
from kakurenbo.contest import ANONYMIZE, ATTACK, FilePattern
from kakurenbo.contest.commitments import digest
from kakurenbo.contest.phases import size_limit
from kakurenbo.contest.submissions import is_ignored, printable_name
from kakurenbo.core import Problems, json_bytes, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import escaped, text
from kakurenbo.proofs import ProofError, Receipt

_UNDER_WAY = frozenset({"receiving", "received", "checking", "queued", "scoring"})
_UNSUCCESSFUL = frozenset({"invalid", "failed", "parked", "withdrawn"})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.3, 5.0  # seconds
_RECEIPT_PAUSE, _SHORT_FOR_RECEIPT, _LONGEST_FOR_RECEIPT = 1.0, 6, 20
"""Seconds: the judge signs its log every five of them."""
_ROUND = Option("--round", "round_", code="option.contest_round", metavar="NAME")
Entry = Mapping[str, Any]
"""What the judge's API tells of a contest, a round, a phase or a submission."""

# -- submit ----------------------------------------------------------------------------------------


@command(
    "submit",
    click.Argument(["contest"]),
    argument("files", nargs=-1, required=True),
    _ROUND,
    Option("--phase", code="option.contest_phase", type=click.Choice([ANONYMIZE, ATTACK])),
    Option("--wait", type=integer(0, 86400), default=600, show_default=True, metavar="SECONDS"),
    Option("--receipt", type=OUT_FILE),
    *JUDGE_OPTIONS,
    JSON,
)
def submit(
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
    chosen = _chosen_files(files)
    known = judge.contest(contest)
    place = _place(known, round_, phase)
    try:
        _check_sizes(chosen, _patterns(known, place))
        submission = _send(judge, contest, place, chosen)
    except JudgeRefused as refusal:
        return _refuse(refusal, as_json)
    if not as_json:
        where = {"round": place[0], "phase": place[1]}
        output.print_line(text("submit.received", number=submission["number"], **where))
    judged = _wait_for(judge, submission, wait)
    kept = None
    if as_json or receipt is not None:
        patience = _SHORT_FOR_RECEIPT if receipt is None else _LONGEST_FOR_RECEIPT
        kept = receipt_of(judge, judged["id"], chosen, min(wait, patience))
    if receipt is not None and kept is not None:
        write_file(receipt, json_bytes(kept))
    if as_json:
        output.print_json({**judged, "receipt": kept})
    else:
        _print_submission(judged)
    if receipt is not None:
        code = "submit.no_receipt" if kept is None else "submit.receipt"
        click.echo(text(code, path=str(receipt)), err=True)
    return _exit_code(judged)


def _chosen_files(paths: tuple[Path, ...]) -> dict[str, Path]:
    """Return files by name; of a folder those in it but for what file managers leave there."""
    chosen: dict[str, Path] = {}
    for path in paths:
        entries = [path]
        if path.is_dir():
            entries = [entry for entry in sorted(path.iterdir()) if not is_ignored(entry.name)]
        for entry in entries:
            if not entry.is_file():
                raise UsageError("submit.no_file", path=str(entry))
            if chosen.setdefault(entry.name, entry) != entry:
                raise UsageError("submit.same_name", name=entry.name)
    if not chosen:
        raise UsageError("submit.nothing", path=str(paths[0]))
    return chosen


def _phases(contest: Entry) -> list[tuple[str, Entry]]:
    return [(round_["name"], phase) for round_ in contest["rounds"] for phase in round_["phases"]]


def _place(contest: Entry, round_: str | None, phase: str | None) -> tuple[str, str]:
    """Return round and phase: the one that is open, unless another is named."""
    known = [(name, entry["kind"], entry["state"]) for name, entry in _phases(contest)]
    asked = [
        (name, kind, state)
        for name, kind, state in known
        if round_ in (None, name) and phase in (None, kind)
    ]
    if not asked:
        names = [f"{name} {kind}" for name, kind, _ in known]
        raise UsageError("submit.no_phase", phases=names)
    opened = [(name, kind) for name, kind, state in asked if state == "open"]
    if len(opened) == 1:
        return opened[0]
    if opened:
        names = [f"{name} {kind}" for name, kind in opened]
        raise UsageError("submit.several_open", phases=names)
    if round_ is None and phase is None:
        raise UsageError("submit.none_open")
    waiting = [(name, kind) for name, kind, state in asked if state == "waiting"]
    return waiting[0] if waiting else asked[-1][:2]  # the judge says why not, with the times


def _patterns(contest: Entry, place: tuple[str, str]) -> list[FilePattern]:
    phases = (phase for name, phase in _phases(contest) if (name, phase["kind"]) == place)
    return [FilePattern(file["template"], file["max_bytes"]) for file in next(phases)["files"]]


def _check_sizes(files: Mapping[str, Path], patterns: Sequence[FilePattern]) -> None:
    """Refuse what is too large before a byte of it is sent, as the judge would."""
    problems = Problems.join(
        Problems.of("source.too_large", printable_name(name), limit=limit)
        for name, path in files.items()
        if path.stat().st_size > (limit := size_limit(patterns, name))
    )
    if problems:
        raise JudgeRefused([problem.as_json() for problem in problems], problems.total)


def _send(
    judge: Judge, contest: str, place: tuple[str, str], files: Mapping[str, Path]
) -> dict[str, Any]:
    path = "contests", contest, "rounds", place[0], "phases", place[1], "submissions"
    begun = judge.post(*path)
    try:
        for name, file in files.items():
            judge.put(file, "submissions", begun["id"], "files", name)
        finished: dict[str, Any] = judge.post("submissions", begun["id"], "finish")
    except (JudgeRefused, UsageError):
        judge.give_up("submissions", begun["id"])
        raise
    return finished


def _wait_for(judge: Judge, submission: dict[str, Any], seconds: int) -> dict[str, Any]:
    """Return the submission when it is judged, or as it is after so many seconds."""
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while submission["state"] in _UNDER_WAY and time.monotonic() < until:
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        pause = min(_LONGEST_PAUSE, pause * 1.5)
        submission = judge.get("submissions", submission["id"])
    return submission


def receipt_of(
    judge: Judge, submission: str, files: Mapping[str, Path], seconds: float
) -> dict[str, Any] | None:
    """Return the judge's receipt; None if it signs none in so many seconds.

    Raises
    ------
    UsageError
        If the receipt does not hold, or is about other bytes than were sent.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            content: dict[str, Any] = judge.get("submissions", submission, "receipt")
            break
        except (JudgeRefused, UsageError):
            if time.monotonic() >= until:
                return None
            time.sleep(_RECEIPT_PAUSE)
    try:
        read = Receipt.from_json(content)
        read.check()
    except ProofError as wrong:
        why = text(wrong.why)
        raise UsageError("submit.bad_receipt", part=wrong.field, why=why) from None
    sent = {name: digest(path.read_bytes()) for name, path in files.items()}
    if read.content()["body"].get("files") != sent:
        raise UsageError("submit.bad_receipt", part="files", why=text("submit.other_files"))
    return content


def _refuse(refusal: JudgeRefused, as_json: bool) -> int:
    """Print why; return 1 if files are wrong, 2 for anything else, such as no tries left."""
    if as_json:
        content = {"problem_count": refusal.count, "problems": refusal.problems}
        output.print_json({"state": "refused", **content})
    for problem in refusal.problems:
        click.echo(problem_text(problem), err=True)
    is_about_files = any(problem.get("file") for problem in refusal.problems)
    return output.FAILS_RULES if is_about_files else output.UNUSABLE


def _exit_code(submission: Entry) -> int:
    measurements = submission["judging"].get("measurements", ())
    is_below = any(measured.get("passes") is False for measured in measurements)
    is_bad = submission["state"] in _UNSUCCESSFUL or is_below
    return output.FAILS_RULES if is_bad else output.DONE


def _print_submission(submission: Entry) -> None:
    """Print everything that its team may know of a submission."""
    judging = submission["judging"]
    for problem in judging.get("problems", ()):
        click.echo(problem if isinstance(problem, str) else problem_text(problem), err=True)
    output.print_notices(judging.get("notices", ()))
    state = f"submission.{submission['state']}"
    output.print_line(text(state, number=submission["number"]))
    if judging.get("cause") and not judging.get("problems"):  # which the cause sums up
        output.print_line(judging["cause"])
    if submission["counts"]:
        output.print_line(submission["counts"])
    if judging.get("measurements"):
        _print_measurements(judging["measurements"])


def _print_measurements(measurements: Sequence[Entry]) -> None:
    from kakurenbo.cli.scores import passes_text
    from kakurenbo.reports.numbers import shown_value

    headings = (text(f"measure.{heading}") for heading in ("score", "value", "threshold"))
    table = plain_table(*headings, "")
    for measured in measurements:
        bounds = ("≥", measured.get("minimum")), ("≤", measured.get("maximum"))
        needed = [f"{sign} {shown_value(bound)}" for sign, bound in bounds if bound is not None]
        passes = measured.get("passes")
        mark = "" if passes is None else passes_text(passes)
        table.add_row(measured["name"], shown_value(measured["value"]), " ".join(needed), mark)
    console().print(table)


# -- status ----------------------------------------------------------------------------------------


@command("status", click.Argument(["contest"], required=False), *JUDGE_OPTIONS, JSON)
def status(contest: str | None, server: str | None, token_file: Path | None, as_json: bool) -> None:
    if contest is not None and server is None:
        from kakurenbo.cli.facts import facts_folder, print_facts

        if folder := facts_folder(Path(contest)):
            print_facts(folder, as_json)
            return
    judge = judge_of(server, token_file)
    answer = judge.get("me") if contest is None else judge.contest(contest, "status")
    if as_json:
        output.print_json(answer)
    elif contest is None:
        _print_contests(answer)
    else:
        for phase in answer["phases"]:
            _print_phase(phase)


def _table(*headings: str) -> Any:
    return plain_table(*(text(f"status.{heading}") for heading in headings))


def _print_contests(account: Entry) -> None:
    table = _table("contest", "title", "rulebook", "team")
    for contest in account["contests"]:
        team = contest["team"]
        shown = "" if team is None else f"{team['number']} {team['name']}"
        table.add_row(*map(escape, (contest["slug"], contest["title"], contest["rulebook"], shown)))
    console().print(table)


def _print_phase(phase: Entry) -> None:
    left = phase["left"]
    times = {"closes": _local_time(phase["closes_at"])}
    if "opens_at" in phase:  # a judge of an older version does not say it
        times["opens"] = _local_time(phase["opens_at"])
    state = text(f"judge_phase.{phase['state']}", **times)
    title = f"[bold]{escape(phase['round'])} {escape(phase['kind'])}[/]"
    console().print(f"{title} {escape(state)}")
    if phase.get("disqualified"):
        output.print_line(text("status.disqualified", reason=phase["disqualified"]))
    else:
        if left["count"] is not None:
            output.print_line(text("status.left", count=left["count"]))
        if left["resets_at"] is not None:
            output.print_line(text("status.reset", moment=_local_time(left["resets_at"])))
    if not phase["submissions"]:
        return
    table = _table("number", "received", "state", "files", "counts")
    for entry in phase["submissions"]:
        cells = [
            "" if entry["number"] is None else str(entry["number"]),
            _local_time(entry["received_at"]),
            text(f"page.entry_state.{entry['state']}"),
            ", ".join(file["name"] for file in entry["files"]),
            entry["counts"] or "",
        ]
        table.add_row(*map(escape, cells))
    console().print(table)


def _local_time(moment: str | None) -> str:
    if moment is None:
        return ""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M:%S %Z}"


# -- fetch -----------------------------------------------------------------------------------------


@command("fetch", click.Argument(["contest"]), OUT_FOLDER_OPTION, _ROUND, *JUDGE_OPTIONS, JSON)
def fetch(
    contest: str,
    out: Path,
    round_: str | None,
    server: str | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    judge = judge_of(server, token_file)
    chosen = _chosen_round(judge.contest(contest)["rounds"], round_)
    files_of_round = "contests", contest, "rounds", str(chosen["name"]), "files"
    listed = judge.get(*files_of_round)
    fetched: list[str] = []
    for file in listed:
        path, sha256 = file["path"], file["sha256"]
        place = _place_inside(out, path)
        if place.is_file() and hashlib.sha256(place.read_bytes()).hexdigest() == sha256:
            continue
        judge.fetch(place, file["size"], sha256, *files_of_round, *path.split("/"))
        fetched.append(path)
    paths = [file["path"] for file in listed]
    name = str(chosen["name"])
    if as_json:
        output.print_json({"out": str(out), "round": name, "files": paths, "fetched": fetched})
        return
    for path in fetched:
        output.print_line(escaped(str(out / path)))
    same = len(listed) - len(fetched)
    output.print_line(text("fetch.done", count=len(fetched), same=same, round=name))
    opens = [
        phase["opens_at"]
        for phase in chosen["phases"]
        if phase["kind"] == ANONYMIZE and phase["state"] == "waiting"
    ]
    if opens and all(PurePosixPath(path).parts[:1] == ("public",) for path in paths):
        when = _local_time(str(opens[0]))
        output.print_line(text("fetch.only_public", round=name, moment=when))


def _chosen_round(rounds: Sequence[Entry], asked: str | None) -> Entry:
    """Return the round that is played, else the latest that was, else the first that comes."""
    if asked is not None:
        for entry in rounds:
            if entry["name"] == asked:
                return entry
        names = [str(entry["name"]) for entry in rounds]
        raise UsageError("fetch.no_round", name=asked, rounds=names)
    prepared = [entry for entry in rounds if entry["prepared_at"] is not None]
    if not prepared:
        raise UsageError("fetch.not_prepared")
    states = [{phase["state"] for phase in entry["phases"]} for entry in prepared]
    opened = [entry for entry, seen in zip(prepared, states, strict=True) if seen - {"waiting"}]
    played = [entry for entry, seen in zip(prepared, states, strict=True) if "open" in seen]
    return [*prepared[:1], *opened, *played][-1]


def _place_inside(out: Path, path: str) -> Path:
    """Return where a file goes; refuse a judge that names a place outside the folder."""
    parts = PurePosixPath(path).parts
    is_strange = "\\" in path or ":" in path or not path.isprintable()
    if not parts or path.startswith("/") or ".." in parts or is_strange:
        raise UsageError("fetch.bad_path", path=path)
    return out.joinpath(*parts)
