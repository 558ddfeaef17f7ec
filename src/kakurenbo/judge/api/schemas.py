"""What the API answers; the names are stable within ``v1``."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema


class Refusal(Schema):
    """Why something was not done; every refusal of the API looks like this, whatever its status."""

    error: str
    message: str
    problems: tuple[dict[str, Any], ...] = ()
    problem_count: int = 0


class FileNames(Schema):
    """One kind of file of an entry: its name with fields, how large it may be, and the kind in whose place it may come."""

    template: str
    max_bytes: int
    optional: bool
    instead_of: str


class PhaseOut(Schema):
    """A phase: its times, its state, and what may be handed in."""

    kind: str
    state: str
    opens_at: datetime
    closes_at: datetime
    visibility: str
    tries_in_all: int | None
    tries_per_day: int | None
    tries_per_target: int | None
    reset_hour: int
    counts: str
    files: list[FileNames]


class RoundOut(Schema):
    """A round and its phases."""

    name: str
    prepared_at: datetime | None
    phases: list[PhaseOut]


class OwnTeam(Schema):
    """The asker's team in a contest, and the asker's part in it."""

    number: str
    name: str
    role: str


class TeamOut(Schema):
    """A team of a contest."""

    number: str
    name: str
    unranked: bool


class AnnouncementOut(Schema):
    """Something the organizers told everybody."""

    title: str
    text: str
    created_at: datetime


class ContestLine(Schema):
    """A contest in a list."""

    slug: str
    title: str
    rulebook: str
    zone: str
    rehearsal: bool
    ended_at: datetime | None
    team: OwnTeam | None


class ContestOut(ContestLine):
    """A contest with its rounds."""

    options: dict[str, Any]
    rounds: list[RoundOut]
    teams: list[TeamOut]
    announcements: list[AnnouncementOut]


class Me(Schema):
    """Whose token this is."""

    email: str
    name: str
    is_organizer: bool
    contests: list[ContestLine]


class RoundFileOut(Schema):
    """A file of a round that the asker may fetch."""

    path: str
    size: int
    sha256: str


class LeftOut(Schema):
    """Tries that are left; None for no limit."""

    count: int | None
    again_at: datetime | None
    resets_at: datetime | None


class SubmittedFileOut(Schema):
    """A file of a submission."""

    name: str
    target: str
    size: int
    sha256: str


class SubmissionOut(Schema):
    """A submission, and what the asker may know of its judging."""

    id: UUID
    contest: str
    round: str
    phase: str
    team: str
    number: int | None
    state: str
    began_at: datetime
    received_at: datetime | None
    files: list[SubmittedFileOut]
    counts: str | None
    judging: dict[str, Any]


class PhaseStatus(Schema):
    """A team in a phase: why it is out of the round, if it is; what it handed in, what counts, and how many tries are left."""

    round: str
    kind: str
    state: str
    opens_at: datetime
    closes_at: datetime
    disqualified: str
    left: LeftOut
    submissions: list[SubmissionOut]


class TeamStatus(Schema):
    """Everything of a team in a contest."""

    contest: str
    team: str
    phases: list[PhaseStatus]


class StandingsOut(Schema):
    """Standings at a moment."""

    contest: str
    round: str | None
    taken_at: datetime
    standings: dict[str, Any]
    results: dict[str, Any]


class LogEntryOut(Schema):
    """An entry of the log: SHA-256(0 || salt || entry) is its leaf; salt and entry are told at the end."""

    number: int
    leaf: str
    salt: str | None = None
    entry: str | None = None


class CheckpointOut(Schema):
    """A signed root of the log at a size."""

    size: int
    root: str
    signature: str
    at: str


class LogOut(Schema):
    """The log of a contest."""

    contest: str
    public_key: str
    entries: list[LogEntryOut]
    checkpoints: list[CheckpointOut]


class JobOut(Schema):
    """A piece of work in the queue."""

    id: int
    kind: str
    state: str
    round: str | None
    submission: UUID | None
    subject: str
    attempts: int
    worker: str
    cause: str
    created_at: datetime
    started_at: datetime | None


class Erased(Schema):
    """A contest whose files are deleted; its log and its results stay."""

    slug: str
    erased_at: datetime


class AccountOut(Schema):
    """Somebody who can log in, or the pseudonym that stays."""

    id: int
    email: str
    name: str
    is_organizer: bool
    created_at: datetime
    last_login: datetime | None


class RejudgingIn(Schema):
    """What is to be judged again, and why; without round and submission everything."""

    reason: str
    round: str | None = None
    submission: UUID | None = None


class RejudgingLine(Schema):
    """A rejudging: ``working``, ``ready``, ``applying``, ``applied`` or ``cancelled``."""

    id: int
    state: str
    reason: str
    round: str | None
    submission: UUID | None
    asked_at: datetime
    decided_at: datetime | None


class RejudgingsOut(Schema):
    """Rejudgings, and by round how many entries count by another scorer than the one that is installed."""

    judged_by_others: dict[str, int]
    rejudgings: list[RejudgingLine]


class RejudgingOut(RejudgingLine):
    """A rejudging with all that it would change, or did: old and new."""

    changes: dict[str, Any]
