"""Everything of a contest as one zip, streamed: the folders of its rounds, what was handed in, judgings, standings, the log.

A round lies in three folders that the command line reads: ``preparation``, as ``prepare`` writes it, ``phase``, and
``guesses``, a folder for each attacker with its hand-ins in order. The README names the commands that make the results again.

Before the end organizers get it without answers, secrets and the log's salts; after the end everybody gets everything, so that
all of it can be made again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from zipstream import ZIP_DEFLATED, ZipStream

from kakurenbo.contest import ANONYMIZE, ATTACK, CONTEST_FILE, by_number
from kakurenbo.contest.commitments import digest
from kakurenbo.contest.folders import ContestFacts
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.releases import RELEASES_FILE
from kakurenbo.core import LISTED_PER_FILE, Problems, json_bytes
from kakurenbo.judge.contests import archive_guide, permissions
from kakurenbo.judge.contests.models import Contest, PhaseState, Round
from kakurenbo.judge.contests.permissions import Anybody
from kakurenbo.judge.scoring import queries
from kakurenbo.judge.scoring.models import (
    Earned,
    Judging,
    Rejudging,
    RejudgingState,
    SecretFile,
    StandingSnapshot,
)
from kakurenbo.judge.scoring.results import counting_order, release_records
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.trust import queries as trust

_log = logging.getLogger(__name__)
_CHUNK = 1 << 16
_READABLE, _FOLDER = 0o100644, 0o040755
"""Modes in a zip: of plain files, and of folders that would else not be there; everybody may read both where it is unpacked."""
_PUBLISHED = ("targets", "answers")
Part = tuple[str, bytes | Iterable[bytes]]
"""A file of the archive: its name in it, and its content; an empty folder where the name ends with a slash."""


def archive(user: Anybody, contest: Contest, now: datetime) -> Iterator[bytes]:
    """The zip as this person may have it, piece by piece; nothing of it is ever whole in memory.

    Parameters
    ----------
    user : User or AnonymousUser
        Somebody for whom :func:`may_have` holds.
    contest : Contest
    now : datetime
    """
    return zipped(
        (f"{contest.slug}/{name}", content) for name, content in parts(user, contest, now)
    )


def may_have(user: Anybody, contest: Contest, now: datetime) -> bool:
    """Organizers at any time, everybody after the end."""
    return permissions.may_manage(user, contest, now) or permissions.may_see_secrets(
        user, contest, now
    )


def is_incomplete(contest: Contest) -> bool:
    """Whether a contest is over whose last standings are still being made, or whose last entries wait for a signature.

    An archive of now could not be checked to the end; of one in a moment everything can.
    """
    return contest.ended_at is not None and (
        queries.makes_standings(contest) or not trust.is_signed(contest)
    )


def zipped(files: Iterable[Part]) -> Iterator[bytes]:
    """A zip of files, made while it is read."""
    stream = ZipStream(compress_type=ZIP_DEFLATED, compress_level=6)
    for name, content in files:
        stream.add(content, name)
        yield from stream.file()
    for member in (
        stream._filelist
    ):  # the library has no word for it, and its own mode hides files from a web server
        member.external_attr = (_FOLDER if member.is_dir() else _READABLE) << 16
    yield from stream.footer()


def blob_chunks(digest: str) -> Iterator[bytes]:
    """The content of a file in the open store."""
    with store.open_blob(digest) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


@dataclass(frozen=True)
class Kept:
    """Content that lies in a store, opened when it is read.

    One that the store has lost meanwhile is empty in the archive, so that ``verify`` names it.
    """

    digest: str
    secret: bool = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            if self.secret:
                yield store.read_secret(self.digest)
            else:
                yield from blob_chunks(self.digest)
        except FileNotFoundError:
            _log.error("a store lacks %s, which an archive needs", self.digest)


def lost_parts(user: Anybody, contest: Contest, now: datetime) -> Problems:
    """Files of the archive whose content the stores do not have any more; to be asked before anything of it is sent."""
    ended = permissions.may_see_secrets(user, contest, now)
    kept = [
        part for one in contest.rounds.all() for part in _kept_parts(user, one, now, ended=ended)
    ]
    secrets = {content.digest for _, content in kept if content.secret}
    gone = store.missing({content.digest for _, content in kept} - secrets) | store.missing_secrets(
        secrets
    )
    return _lost(name for name, content in kept if content.digest in gone)


def lost_files(files: Iterable[tuple[str, str]]) -> Problems:
    """Which of these files, names with digests, the open store does not have any more."""
    known = list(files)
    gone = store.missing({digest for _, digest in known})
    return _lost(name for name, digest in known if digest in gone)


def _lost(names: Iterable[str]) -> Problems:
    problems = Problems.join(Problems.of("archive.lost", name) for name in names)
    if problems:
        _log.error(
            "the stores lack %d files that somebody asked for, the first of them %s",
            problems.total,
            problems[0].file,
        )
    return Problems(problems[:LISTED_PER_FILE], problems.total)


def parts(user: Anybody, contest: Contest, now: datetime) -> Iterator[Part]:
    """Every file of the archive; contents are opened when they are read."""
    ended = permissions.may_see_secrets(user, contest, now)
    if ended:
        trust.await_opened(contest)
    yield archive_guide.NAME, archive_guide.readme(contest, ended=ended)
    yield "contest.json", json_bytes(_facts(contest))
    for one in contest.rounds.all():
        yield from _round_parts(user, one, now, ended=ended)
    overall = queries.standings(contest, user, now)
    if overall is not None:
        yield "standings.json", json_bytes(_snapshot(overall))
    applied = (
        contest.rejudgings.filter(state=RejudgingState.APPLIED)
        .select_related("round")
        .order_by("decided_at")
    )
    if applied.exists():
        yield "rejudgings.json", json_bytes([_rejudged(one) for one in applied])
    yield "log.json", json_bytes(log(user, contest, now))


def log(user: Anybody, contest: Contest, now: datetime) -> dict[str, Any]:
    """The log as somebody may see it: leaves and signed roots at once, what the entries say at the end."""
    return trust.log(contest, ended=permissions.may_see_secrets(user, contest, now))


def _round_parts(user: Anybody, round_: Round, now: datetime, *, ended: bool) -> Iterator[Part]:
    folder = f"rounds/{round_.name}"
    yield from _kept_parts(user, round_, now, ended=ended)
    if round_.phases.filter(kind=ATTACK).exclude(state=PhaseState.WAITING).exists():
        yield from (
            (f"{folder}/phase/{name}", content) for name, content in _releases(round_, ended=ended)
        )
        yield from (
            (f"{folder}/guesses/{name}", content)
            for name, content in _guesses(user, round_, now, ended=ended)
        )
    if ended:
        earned = (
            Earned.objects.filter(target__round=round_)
            .select_related("target", "attacker__team")
            .order_by("pk")
        )
        yield f"{folder}/earned.json", json_bytes([_earned(one) for one in earned])
    judgings = [
        _judged(submission, place)
        for submission, place in _handed_in(user, round_, now, ended=ended)
    ]
    yield f"{folder}/submissions.json", json_bytes(judgings)
    snapshot = queries.standings(round_, user, now)
    if snapshot is not None:
        yield f"{folder}/standings.json", json_bytes(_snapshot(snapshot))


def _kept_parts(
    user: Anybody, round_: Round, now: datetime, *, ended: bool
) -> Iterator[tuple[str, Kept]]:
    """What of a round lies in a store: its files and secrets, and what was handed in."""
    folder = f"rounds/{round_.name}"
    for file in round_.files.select_related("blob", "round__contest"):
        if permissions.may_fetch(user, file, now):
            for place in _places(file.path):
                yield f"{folder}/{place}", Kept(file.blob_id)
    for secret in SecretFile.objects.filter(round_id=round_.pk) if ended else ():
        for place in _places(secret.path):
            yield f"{folder}/{place}", Kept(secret.digest, secret=True)
    for submission, place in _handed_in(user, round_, now, ended=ended):
        for submitted in submission.files.all():
            yield f"{place}/{submitted.name}", Kept(submitted.blob_id)


def _handed_in(
    user: Anybody, round_: Round, now: datetime, *, ended: bool
) -> Iterator[tuple[Submission, str]]:
    """Submissions that this person may have, and where they lie in the archive."""
    for submission in _submissions(round_):
        team = submission.entry.team
        if ended or permissions.may_see_team(user, team, now):
            yield (
                submission,
                f"rounds/{round_.name}/submissions/{team.number}/{submission.phase.kind}/{submission.number:04d}",
            )


def _places(path: str) -> Iterator[str]:
    """Where a file of a round lies in the archive: in the folder of ``prepare``, of ``publish``, or of both."""
    kind = path.split("/", 1)[0]
    if kind not in _PUBLISHED:
        yield f"preparation/{path}"
    if kind in (*_PUBLISHED, "attackers"):
        yield f"phase/{path}"


def _releases(round_: Round, *, ended: bool) -> Iterator[Part]:
    """What became of every release, as ``publish`` tells it to everybody and, after the end, with its causes."""
    entries = round_.entries.select_related("team").order_by("team__number")
    phase = round_.phases.filter(kind=ANONYMIZE).first()
    records = [
        msgspec.convert(one, ReleaseRecord)
        for entry in entries
        for one in release_records(entry, phase)
    ]
    records.sort(key=lambda record: by_number(record.target))
    facts = replace(
        msgspec.convert(round_.facts, ContestFacts),
        commitments=digest(round_.commitments.encode()),
        unranked=tuple(
            entry.team.number for entry in entries if entry.team.unranked
        ),  # late ones, too
    )
    yield f"public/{CONTEST_FILE}", facts.as_bytes()
    yield (
        f"public/{RELEASES_FILE}",
        json_bytes(msgspec.to_builtins([record.public() for record in records])),
    )
    if ended:
        yield f"answers/{RELEASES_FILE}", json_bytes(msgspec.to_builtins(records))


def _guesses(user: Anybody, round_: Round, now: datetime, *, ended: bool) -> Iterator[Part]:
    """The hand-ins of every attacker that count, in the order in which they come to count, as ``score`` takes them."""
    for entry in round_.entries.select_related("team__contest").order_by("team__number"):
        if not ended and not permissions.may_see_team(user, entry.team, now):
            continue
        yield f"{entry.team.number}/", b""
        scored = Submission.objects.filter(
            entry=entry, phase__kind=ATTACK, state=State.SCORED
        ).prefetch_related("files")
        for place, submission in enumerate(sorted(scored, key=counting_order), start=1):
            for file in submission.files.all():
                yield f"{entry.team.number}/{place:04d}/{file.name}", Kept(file.blob_id)


def _submissions(round_: Round) -> Iterable[Submission]:
    handed_in = Submission.objects.filter(entry__round=round_, number__isnull=False).exclude(
        state=State.RECEIVING
    )
    related = handed_in.select_related("entry__team__contest", "phase").prefetch_related(
        "files", "judgings__rejudging"
    )
    return related.order_by("entry__team__number", "phase__opens_at", "number")


def _facts(contest: Contest) -> dict[str, Any]:
    names = ("slug", "title", "rulebook", "options", "zone", "places", "rehearsal")
    times = ("created_at", "ended_at")
    return {
        **{name: getattr(contest, name) for name in names},
        **{name: _text(getattr(contest, name)) for name in times},
        "rounds": [_round_facts(one) for one in contest.rounds.all()],
        "teams": [
            {"number": team.number, "name": team.name, "unranked": team.unranked}
            for team in contest.teams.all()
        ],
        "announcements": [
            {"at": _text(one.created_at), "title": one.title, "text": one.text}
            for one in contest.announcements.all()
        ],
    }


def _round_facts(round_: Round) -> dict[str, Any]:
    limits = (
        "tries_in_all",
        "tries_per_day",
        "tries_per_target",
        "reset_hour",
        "kind",
        "state",
        "visibility",
    )
    return {
        "name": round_.name,
        "fingerprint": round_.fingerprint,
        "prepared_at": _text(round_.prepared_at),
        "phases": [
            {
                **{name: getattr(phase, name) for name in limits},
                "opens_at": _text(phase.opens_at),
                "closes_at": _text(phase.closes_at),
            }
            for phase in round_.phases.all()
        ],
        "entries": [
            {
                "team": entry.team.number,
                "disqualified": entry.disqualified,
                "excused": entry.excused,
            }
            for entry in round_.entries.select_related("team").order_by("team__number")
        ],
    }


def _judged(submission: Submission, place: str) -> dict[str, Any]:
    return {
        "id": str(submission.pk),
        "folder": place,
        "state": submission.state,
        "received_at": _text(submission.received_at),
        "chosen_at": _text(submission.chosen_at),
        "files": [
            {"name": file.name, "target": file.target, "sha256": file.blob_id}
            for file in submission.files.all()
        ],
        "judgings": [
            _judging(one) for one in _newest_first(submission.judgings.all()) if _counted(one)
        ],
    }


def _newest_first(judgings: Iterable[Judging]) -> list[Judging]:
    return sorted(judgings, key=lambda one: (one.made_at, one.pk), reverse=True)


def _counted(judging: Judging) -> bool:
    """Whether a judging counts, or did once: one of a rejudging that nobody decided on does not."""
    return judging.rejudging is None or judging.rejudging.state == RejudgingState.APPLIED


def _rejudged(rejudging: Rejudging) -> dict[str, Any]:
    """What was judged again, why, and all that it changed."""
    return {
        "id": rejudging.pk,
        "round": "" if rejudging.round is None else rejudging.round.name,
        "submission": "" if rejudging.submission_id is None else str(rejudging.submission_id),
        "reason": rejudging.reason,
        "at": _text(rejudging.decided_at),
        "changes": rejudging.preview,
    }


def _judging(judging: Judging) -> dict[str, Any]:
    names = ("fingerprint", "verdict", "result", "in_effect")
    return {**{name: getattr(judging, name) for name in names}, "made_at": _text(judging.made_at)}


def _earned(earned: Earned) -> dict[str, Any]:
    return {
        "target": earned.target.name,
        "attacker": earned.sample if earned.attacker is None else earned.attacker.team.number,
        "file": earned.file,
        "submission": None if earned.submission_id is None else str(earned.submission_id),
        "credit": earned.credit,
    }


def _snapshot(snapshot: StandingSnapshot) -> dict[str, Any]:
    return {
        "taken_at": _text(snapshot.taken_at),
        "standings": snapshot.standings,
        "results": snapshot.results,
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
