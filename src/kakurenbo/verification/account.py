"""Does what an archive tells of a contest agree with its log: settings, teams, phases, every file that was handed in?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kakurenbo.contest import AnyRulebook
from kakurenbo.proofs import content_digest
from kakurenbo.verification.archive import (
    CONTEST,
    REJUDGINGS,
    SUBMISSIONS,
    Archive,
    ContestFile,
    JudgingRow,
    RejudgingRow,
    RoundRow,
    SubmissionRow,
)
from kakurenbo.verification.differences import Comparison, Difference
from kakurenbo.verification.ledger import HandedIn, Ledger, moment

_FROM_LOG = "verification.not_as_logged"
_TIMES = ("opens_at", "closes_at")
_UNDECIDED = frozenset({"received", "checking", "scoring", "parked"})


def check_contest(contest: ContestFile, slug: str, ledger: Ledger) -> None:
    """``contest.json`` against the log."""
    made, comparison = ledger.made, Comparison(_FROM_LOG, CONTEST)
    plain = ("title", "rulebook", "options", "zone", "places", "rehearsal")
    should_be = {
        "slug": slug,
        **{name: made.get(name) for name in plain},
        "created_at": moment(made.get("created_at")),
        "ended_at": moment(ledger.ended_at),
        "teams": ledger.teams,
        "announcements": [
            {"at": moment(one["at"]), "title": one["title"], "text": one["text"]}
            for one in _by_time(ledger.announcements)
        ],
    }
    told = msgspec.to_builtins(contest)
    here = {
        **{name: told[name] for name in ("slug", *plain)},
        **{name: moment(told[name]) for name in ("created_at", "ended_at")},
        "teams": _each_once(CONTEST, "teams", ((team["number"], team) for team in told["teams"])),
        "announcements": [
            {"at": moment(one["at"]), "title": one["title"], "text": _digest(one["text"])}
            for one in _by_time(told["announcements"])
        ],
    }
    comparison.check(here, should_be)
    rounds = list(dict.fromkeys(name for name, _ in ledger.phases))
    comparison.check(sorted(one.name for one in contest.rounds), sorted(rounds), "rounds")
    for one in contest.rounds:
        comparison.check(
            _round_here(one, made), _round_logged(one.name, ledger), f"rounds.{one.name}"
        )


def _round_here(one: RoundRow, made: dict[str, Any]) -> dict[str, Any]:
    place = f"rounds.{one.name}"
    told = ((phase.kind, _phase(msgspec.to_builtins(phase), made)) for phase in one.phases)
    phases = _each_once(CONTEST, f"{place}.phases", told)
    entries = _each_once(
        CONTEST,
        f"{place}.entries",
        ((entry.team, msgspec.to_builtins(entry)) for entry in one.entries),
    )
    prepared = {"fingerprint": one.fingerprint, "prepared_at": moment(one.prepared_at)}
    return {**prepared, "phases": phases, "entries": entries}


def _round_logged(name: str, ledger: Ledger) -> dict[str, Any]:
    prepared = ledger.rounds.get(name, {"fingerprint": "", "prepared_at": None})
    return {
        "fingerprint": prepared["fingerprint"],
        "prepared_at": moment(prepared["prepared_at"]),
        "phases": {
            kind: _phase(phase, ledger.made)
            for (of, kind), phase in ledger.phases.items()
            if of == name
        },
        "entries": {team: entry for (of, team), entry in ledger.entries.items() if of == name},
    }


def _phase(told: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """A phase, ready to compare; a rehearsal goes at its own pace, and nobody was promised its times."""
    kept = {name: value for name, value in told.items() if name not in _TIMES}
    return (
        kept if made.get("rehearsal") else {**kept, **{name: moment(told[name]) for name in _TIMES}}
    )


def check_rejudgings(archive: Archive, ledger: Ledger) -> None:
    """``rejudgings.json``, old beside new, against the log."""
    rows = (
        archive.read(REJUDGINGS, list[RejudgingRow])
        if ledger.rejudged or REJUDGINGS in archive.names
        else []
    )
    here = [
        {
            "rejudging": row.id,
            **{name: getattr(row, name) for name in ("round", "submission", "reason")},
            "at": moment(row.at),
            "changes": content_digest(row.changes),
        }
        for row in rows
    ]
    names = ("rejudging", "round", "submission", "reason", "at", "changes")
    should_be = [
        {name: one[name] for name in names} | {"at": moment(one["at"])} for one in ledger.rejudged
    ]
    Comparison(_FROM_LOG, REJUDGINGS).check(here, should_be)


def submissions_of(
    archive: Archive, rules: AnyRulebook, name: str, ledger: Ledger
) -> list[SubmissionRow]:
    """What was handed in for a round, all of it as the log says, to the bytes of every file."""
    file = f"rounds/{name}/{SUBMISSIONS}"
    rows = archive.read(file, list[SubmissionRow])
    logged = {key: one for key, one in ledger.submissions.items() if one.told["round"] == name}
    listed = [row.id for row in rows]
    for key in logged:
        if listed.count(key) != 1:
            raise Difference(
                "verification.lacks_submission", file, f"submission {key}", listed.count(key), 1
            )
    for row in rows:
        if row.id not in logged:
            raise Difference("verification.unknown_submission", file, f"submission {row.id}")
        _check_submission(archive, rules, file, row, logged[row.id])
    return rows


def _check_submission(
    archive: Archive, rules: AnyRulebook, file: str, row: SubmissionRow, logged: HandedIn
) -> None:
    told, comparison = logged.told, Comparison(_FROM_LOG, file)
    patterns = rules.phase(told["phase"]).files
    parsed = {
        name: next((found for one in patterns if (found := one.parse(name)) is not None), {})
        for name in told["files"]
    }
    should_be = {
        "folder": logged.folder,
        "state": _state(row.state, logged),
        "received_at": moment(told["received_at"]),
        "chosen_at": moment(logged.chosen_at),
        "files": {
            name: {"sha256": sha, "target": parsed[name].get("target", "")}
            for name, sha in told["files"].items()
        },
        "judgings": [
            {
                **{name: one.told[name] for name in ("fingerprint", "verdict")},
                "made_at": moment(one.told["made_at"]),
                "in_effect": one is logged.judged[-1],
            }
            for one in logged.judged
        ],
    }
    here = {
        "folder": row.folder,
        "state": row.state,
        "received_at": moment(row.received_at),
        "chosen_at": moment(row.chosen_at),
        "files": _each_once(
            file,
            f"submission {row.id}.files",
            ((one.name, {"sha256": one.sha256, "target": one.target}) for one in row.files),
        ),
        "judgings": [
            {
                "fingerprint": one.fingerprint,
                "verdict": one.verdict,
                "made_at": moment(one.made_at),
                "in_effect": one.in_effect,
            }
            for one in in_order(row.judgings)
        ],
    }
    comparison.check(here, should_be, f"submission {row.id}")
    for one in row.files:
        place = f"{row.folder}/{one.name}"
        if PurePosixPath(one.name).name != one.name:
            raise Difference("verification.no_file", place)
        if (sha256 := archive.sha256(place)) != one.sha256:
            raise Difference(
                "verification.other_bytes", place, f"submission {row.id}", sha256, one.sha256
            )


def check_results(file: str, rows: Sequence[SubmissionRow], ledger: Ledger) -> None:
    """Every judging to its last word, by the digest that the log has of it."""
    for row in rows:
        for one, logged in zip(
            in_order(row.judgings), ledger.submissions[row.id].judged, strict=True
        ):
            found, should_be = content_digest(one.result), logged.told["result"]
            if found != should_be:
                raise Difference(_FROM_LOG, file, f"submission {row.id}, result", found, should_be)


def in_order(judgings: Sequence[JudgingRow]) -> list[JudgingRow]:
    return sorted(judgings, key=lambda one: moment(one.made_at) or "")


def _state(here: str, logged: HandedIn) -> str:
    """What state a submission must be in; one that was never judged may wait, or have been put aside."""
    if logged.withdrawn:
        return "withdrawn"
    if logged.judged:
        return str(logged.judged[-1].told["verdict"])
    return here if here in _UNDECIDED else "received"


def _each_once(file: str, what: str, rows: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Rows by their names; one that comes twice, of which the other would go unseen, differs."""
    found: dict[str, Any] = {}
    for name, row in rows:
        if name in found:
            raise Difference("verification.row_twice", file, f"{what}.{name}")
        found[name] = row
    return found


def _by_time(announcements: Any) -> list[Any]:
    return sorted(announcements, key=lambda one: moment(one["at"]) or "")


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
