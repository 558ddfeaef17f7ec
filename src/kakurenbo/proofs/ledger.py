"""What a log says happened, put together: the contest, its teams and phases, what was handed in and decided."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kakurenbo.contest import ATTACK, team_of
from kakurenbo.contest.releases import RELEASES_FILE
from kakurenbo.proofs import content_digest
from kakurenbo.proofs.archive import (
    CONTEST,
    EARNED,
    LOG,
    README,
    REJUDGINGS,
    STANDINGS,
    SUBMISSIONS,
    Archive,
)
from kakurenbo.proofs.differences import Difference

_LIMITS = ("tries_in_all", "tries_per_day", "tries_per_target", "reset_hour", "visibility")
_NOTHING = content_digest([])
PHASE_STATES = {"phase.opened": "open", "phase.closed": "sealing", "phase.sealed": "closed"}


@dataclass
class Judged:
    """A judging that the log tells of: its place in the log, and what was said of it."""

    number: int
    body: Mapping[str, Any]


@dataclass
class LoggedSubmission:
    """A submission as the log tells it."""

    body: Mapping[str, Any]
    withdrawn: bool = False
    chosen_at: str | None = None
    judged: list[Judged] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """Where its files lie in the archive."""
        body = self.body
        place = f"{body['team']}/{body['phase']}/{body['number']:04d}"
        return f"rounds/{body['round']}/submissions/{place}"


@dataclass
class Sealed:
    """A release that was sealed: its place in the log, what was said, and why its team was out by then (empty: it was not)."""

    number: int
    body: Mapping[str, Any]
    reason: str

    @property
    def passed_over(self) -> bool:
        """Whether nothing was sealed, because the team was out."""
        return bool(self.reason) and set(self.body["digests"].values()) == {_NOTHING}


@dataclass
class Ledger:
    """All that an archive's other files must agree with."""

    made: dict[str, Any] = field(default_factory=dict)
    ended_at: str | None = None
    teams: dict[str, dict[str, Any]] = field(default_factory=dict)
    phases: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    entries: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    rounds: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    announcements: list[Mapping[str, Any]] = field(default_factory=list)
    submissions: dict[str, LoggedSubmission] = field(default_factory=dict)
    sealed: dict[tuple[str, str], Sealed] = field(default_factory=dict)
    final: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rejudged: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add what an entry says happened; most errors of Python mean that it does not say it as it should."""
        note = _NOTES.get(entry["kind"])
        if note is not None:
            note(self, entry)

    def _made(self, entry: Mapping[str, Any]) -> None:
        body = entry["body"]
        self.made = {
            **body,
            "options": {name: json.loads(value) for name, value in body["options"].items()},
        }
        for phase in body["phases"]:
            known = {name: phase[name] for name in (*_LIMITS, "opens_at", "closes_at")}
            self.phases[phase["round"], phase["phase"]] = {
                **known,
                "kind": phase["phase"],
                "state": "waiting",
            }

    def _turned(self, entry: Mapping[str, Any]) -> None:
        self._phase(entry)["state"] = PHASE_STATES[entry["kind"]]

    def _rescheduled(self, entry: Mapping[str, Any]) -> None:
        self._phase(entry).update({name: entry["body"][name] for name in ("opens_at", "closes_at")})

    def _visibility(self, entry: Mapping[str, Any]) -> None:
        self._phase(entry)["visibility"] = entry["body"]["visibility"]

    def _phase(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        return self.phases[entry["body"]["round"], entry["body"]["phase"]]

    def _team_added(self, entry: Mapping[str, Any]) -> None:
        body = entry["body"]
        self.teams[body["team"]] = {
            "number": body["team"],
            "name": body["name"],
            "unranked": body["unranked"],
        }
        for name, excused in body["rounds"].items():
            self.entries[name, body["team"]] = {
                "team": body["team"],
                "disqualified": "",
                "excused": excused,
            }

    def _decided(self, entry: Mapping[str, Any]) -> None:
        body = entry["body"]
        what = "excused" if entry["kind"] == "entry.excused" else "disqualified"
        self.entries[body["round"], body["team"]][what] = body["reason"]
        if entry["kind"] == "entry.reinstated":  # what was passed over is sealed after all
            own = [
                key
                for key, one in self.sealed.items()
                if key[0] == body["round"] and team_of(key[1]) == body["team"]
            ]
            for key in [key for key in own if self.sealed[key].passed_over]:
                del self.sealed[key]

    def _prepared(self, entry: Mapping[str, Any]) -> None:
        self.rounds[entry["body"]["round"]] = entry["body"]

    def _announced(self, entry: Mapping[str, Any]) -> None:
        self.announcements.append(entry["body"])

    def _received(self, entry: Mapping[str, Any]) -> None:
        self.submissions[entry["body"]["submission"]] = LoggedSubmission(entry["body"])

    def _withdrawn(self, entry: Mapping[str, Any]) -> None:
        self.submissions[entry["body"]["submission"]].withdrawn = True

    def _chosen(self, entry: Mapping[str, Any]) -> None:
        self.submissions[entry["body"]["submission"]].chosen_at = entry["body"]["at"]

    def _judged(self, entry: Mapping[str, Any]) -> None:
        self.submissions[entry["body"]["submission"]].judged.append(
            Judged(entry["number"], entry["body"])
        )

    def _sealed(self, entry: Mapping[str, Any]) -> None:
        body = entry["body"]
        reason = self.entries[body["round"], team_of(body["name"])]["disqualified"]
        self.sealed[body["round"], body["name"]] = Sealed(entry["number"], body, reason)

    def _rejudged(self, entry: Mapping[str, Any]) -> None:
        self.rejudged.append(entry["body"])
        for one in entry["body"]["published"]:  # found good after all, and sealed once more
            name, _, team = one.partition("/")
            for key in [key for key in self.sealed if key[0] == name and team_of(key[1]) == team]:
                del self.sealed[key]

    def _finished(self, entry: Mapping[str, Any]) -> None:
        self.final[entry["body"]["round"]] = entry["body"]

    def _ended(self, entry: Mapping[str, Any]) -> None:
        self.ended_at = entry["body"]["at"]


_NOTES: Mapping[str, Callable[[Ledger, Mapping[str, Any]], None]] = {
    "contest.made": Ledger._made,
    "contest.ended": Ledger._ended,
    **dict.fromkeys(PHASE_STATES, Ledger._turned),
    "phase.rescheduled": Ledger._rescheduled,
    "phase.visibility": Ledger._visibility,
    "team.added": Ledger._team_added,
    **dict.fromkeys(("entry.disqualified", "entry.reinstated", "entry.excused"), Ledger._decided),
    "round.prepared": Ledger._prepared,
    "announcement.made": Ledger._announced,
    "submission.received": Ledger._received,
    "submission.withdrawn": Ledger._withdrawn,
    "submission.chosen": Ledger._chosen,
    "submission.judged": Ledger._judged,
    "target.sealed": Ledger._sealed,
    "rejudging.applied": Ledger._rejudged,
    "standings.final": Ledger._finished,
}
"""What each kind of entry changes; others, such as people joining, change nothing that an archive tells."""


def moment(told: str | None) -> str | None:
    """A time in the one way in which times are compared; what is none, or has no offset, stays, and differs from every time."""
    try:
        at = told and datetime.fromisoformat(told)
    except ValueError:
        return told
    return at.astimezone(UTC).isoformat() if at and at.tzinfo else told


# -- which files an archive may have ---------------------------------------------------------------------------------------

_GUESSES = re.compile(
    r"rounds/(?P<round>[^/]+)/guesses/(?P<team>[^/]+)(?:/(?P<number>[0-9]+)/[^/]+)?"
)
_FOLDERS = ("preparation/", "phase/attackers/", "phase/public/")
"""Folders of a round whose files are held against commitments, or made again, one by one."""


def check_places(archive: Archive, ledger: Ledger) -> None:
    """Raise :class:`Difference` for a file, or an empty folder, of which nothing can speak."""
    rounds = {name for name, _ in ledger.phases}
    known = {README, CONTEST, LOG, STANDINGS, *([REJUDGINGS] if ledger.rejudged else [])}
    known |= {
        f"rounds/{name}/{file}" for name in rounds for file in (SUBMISSIONS, EARNED, STANDINGS)
    }
    known |= {
        f"{one.folder}/{name}" for one in ledger.submissions.values() for name in one.body["files"]
    }
    known |= {f"rounds/{name}/phase/answers/{RELEASES_FILE}" for name in rounds}
    begun = (
        *(f"rounds/{name}/{folder}" for name in rounds for folder in _FOLDERS),
        *(
            f"rounds/{of}/phase/{folder}/{name}/"
            for of, name in ledger.sealed
            for folder in ("targets", "answers")
        ),
    )
    for name in sorted(archive.names):
        if name not in known and not name.startswith(begun) and not _is_guess(name, ledger):
            raise Difference("verification.stray_file", name)
    for name in sorted(archive.empty_folders):
        if not _is_attacker(name, ledger):
            raise Difference("verification.stray_folder", name)


def _is_guess(name: str, ledger: Ledger) -> bool:
    found = _GUESSES.fullmatch(name)
    if found is None or found["number"] is None:
        return False
    told = (one.body for one in ledger.submissions.values())
    place = (found["round"], found["team"], int(found["number"]))
    return any(
        (one["round"], one["team"], one["number"]) == place
        for one in told
        if one["phase"] == ATTACK
    )


def _is_attacker(name: str, ledger: Ledger) -> bool:
    """Whether this is the folder of a team whose guesses there are none of."""
    found = _GUESSES.fullmatch(name)
    return (
        found is not None
        and found["number"] is None
        and (found["round"], found["team"]) in ledger.entries
    )
