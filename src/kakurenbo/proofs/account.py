"""What the log makes the judge write in ``contest.json``, ``submissions.json`` and ``rejudgings.json``, and whether they say it.

Each is put together from the log in the layout of the file and compared with it. Where the log has the digest of a text or of a
result, the file's own is replaced by its digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kakurenbo.contest import AnyRulebook
from kakurenbo.proofs import content_digest
from kakurenbo.proofs.archive import (
    CONTEST,
    REJUDGINGS,
    SUBMISSIONS,
    Archive,
    ContestFile,
    JudgingRow,
    RejudgingRow,
    SubmissionRow,
)
from kakurenbo.proofs.differences import Comparison, Difference
from kakurenbo.proofs.ledger import Ledger, LoggedSubmission, moment

_FROM_LOG = "verification.not_as_logged"
_PLAIN = ("title", "rulebook", "options", "zone", "places", "rehearsal", "created_at")
_ROW_NAMES = {
    "rounds": "name",
    "phases": "kind",
    "entries": "team",
    "teams": "number",
    "files": "name",
}
"""The entry that distinguishes the rows of a list, whose order says nothing."""
_UNDECIDED = frozenset({"received", "checking", "scoring", "parked"})


def check_contest(contest: ContestFile, slug: str, ledger: Ledger) -> None:
    """Compare ``contest.json`` with the log."""
    logged = {name: ledger.made.get(name) for name in _PLAIN} | {
        "slug": slug,
        "ended_at": ledger.ended_at,
        "teams": list(ledger.teams.values()),
        "rounds": [
            _logged_round(name, ledger) for name in dict.fromkeys(name for name, _ in ledger.phases)
        ],
        "announcements": [
            {name: row[name] for name in ("at", "title", "text")} for row in ledger.announcements
        ],
    }
    content = msgspec.to_builtins(contest)
    for announcement in content["announcements"]:
        text = announcement["text"].encode("utf-8", "surrogatepass")
        announcement["text"] = hashlib.sha256(text).hexdigest()
    for rows in (content["announcements"], logged["announcements"]):
        rows.sort(key=lambda row: moment(row["at"]) or "")
    if ledger.made.get("rehearsal"):  # it goes at its own pace, and nobody was promised its times
        for row in (*content["rounds"], *logged["rounds"]):
            row["phases"] = [{**phase, "opens_at": "", "closes_at": ""} for phase in row["phases"]]
    _compare(content, logged, CONTEST)


def _logged_round(name: str, ledger: Ledger) -> dict[str, Any]:
    prepared = ledger.rounds.get(name, {"fingerprint": "", "prepared_at": None})
    return {
        "name": name,
        "fingerprint": prepared["fingerprint"],
        "prepared_at": prepared["prepared_at"],
        "phases": [phase for (of, _), phase in ledger.phases.items() if of == name],
        "entries": [entry for (of, _), entry in ledger.entries.items() if of == name],
    }


def check_rejudgings(archive: Archive, ledger: Ledger) -> None:
    """Compare ``rejudgings.json`` with the log."""
    if not ledger.rejudged and REJUDGINGS not in archive.names:
        return
    content = msgspec.to_builtins(archive.read(REJUDGINGS, list[RejudgingRow]))
    for row in content:
        row["changes"] = content_digest(row["changes"])
    names = ("round", "submission", "reason", "at", "changes")
    logged = [
        {"id": row["rejudging"], **{name: row[name] for name in names}} for row in ledger.rejudged
    ]
    _compare(content, logged, REJUDGINGS)


def submissions_of(
    archive: Archive, rules: AnyRulebook, name: str, ledger: Ledger
) -> list[SubmissionRow]:
    """Return the submissions of a round after comparing them with the log, to the bytes of every file."""
    file = f"rounds/{name}/{SUBMISSIONS}"
    rows = archive.read(file, list[SubmissionRow])
    logged = {key: row for key, row in ledger.submissions.items() if row.body["round"] == name}
    listed = [row.id for row in rows]
    for key in logged:
        if listed.count(key) != 1:
            what = f"submission {key}"
            raise Difference("verification.lacks_submission", file, what, listed.count(key), 1)
    for row in rows:
        what = f"submission {row.id}"
        if row.id not in logged:
            raise Difference("verification.unknown_submission", file, what)
        content = msgspec.to_builtins(row)
        content["judgings"] = list(map(_without_result, in_order(row.judgings)))
        _compare(content, _logged_submission(row, rules, logged[row.id]), file, what)
        for submitted in row.files:
            place = f"{row.folder}/{submitted.name}"
            if PurePosixPath(submitted.name).name != submitted.name:
                raise Difference("verification.no_file", place)
            if (sha256 := archive.sha256(place)) != submitted.sha256:
                sums = sha256, submitted.sha256
                raise Difference("verification.other_bytes", place, what, *sums)
    return rows


def _logged_submission(
    row: SubmissionRow, rules: AnyRulebook, logged: LoggedSubmission
) -> dict[str, Any]:
    body = logged.body
    patterns = rules.phase(body["phase"]).files
    files = []
    for name, sha256 in body["files"].items():
        fields = (pattern.parse(name) for pattern in patterns)
        parsed = next((found for found in fields if found is not None), {})
        files.append({"name": name, "target": parsed.get("target", ""), "sha256": sha256})
    return {
        "id": row.id,
        "folder": logged.folder,
        "state": _state(row.state, logged),
        "received_at": body["received_at"],
        "chosen_at": logged.chosen_at,
        "files": files,
        "judgings": [
            {
                **{name: judged.body[name] for name in ("fingerprint", "verdict", "made_at")},
                "in_effect": judged is logged.judged[-1],
            }
            for judged in logged.judged
        ],
    }


def _without_result(judging: JudgingRow) -> dict[str, Any]:
    names = ("fingerprint", "verdict", "made_at", "in_effect")
    return {name: getattr(judging, name) for name in names}


def _state(state: str, logged: LoggedSubmission) -> str:
    """Return the state a submission must have; one that was never judged may wait, or have been put aside."""
    if logged.withdrawn:
        return "withdrawn"
    if logged.judged:
        return str(logged.judged[-1].body["verdict"])
    return state if state in _UNDECIDED else "received"


def check_results(file: str, rows: Sequence[SubmissionRow], ledger: Ledger) -> None:
    """Compare every judging to its last word, by the digest that the log has of it."""
    for row in rows:
        judged = ledger.submissions[row.id].judged
        for judging, logged in zip(in_order(row.judgings), judged, strict=True):
            digest, expected = content_digest(judging.result), logged.body["result"]
            if digest != expected:
                what = f"submission {row.id}, result"
                raise Difference(_FROM_LOG, file, what, digest, expected)


def in_order(judgings: Sequence[JudgingRow]) -> list[JudgingRow]:
    return sorted(judgings, key=lambda judging: moment(judging.made_at) or "")


def _compare(content: object, logged: object, file: str, what: str = "") -> None:
    here, should_be = _comparable(content, file, what), _comparable(logged, file, what)
    Comparison(_FROM_LOG, file).check(here, should_be, what)


def _comparable(content: object, file: str, what: str) -> Any:
    """Return content with times in UTC, and rows by their names; a row that comes twice differs."""
    if isinstance(content, list):
        return [_comparable(value, file, f"{what}[{place}]") for place, value in enumerate(content)]
    if not isinstance(content, dict):
        return content
    made: dict[str, Any] = {}
    for key, value in content.items():
        part = f"{what}.{key}" if what else key
        if key == "at" or key.endswith("_at"):
            made[key] = moment(value)
        elif key in _ROW_NAMES:
            made[key] = _by_name(value, _ROW_NAMES[key], file, part)
        else:
            made[key] = value if key == "options" else _comparable(value, file, part)
    return made


def _by_name(rows: Sequence[dict[str, Any]], key: str, file: str, what: str) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for row in rows:
        place = f"{what}.{row[key]}"
        if row[key] in named:
            raise Difference("verification.row_twice", file, place)
        named[row[key]] = _comparable(row, file, place)
    return named
