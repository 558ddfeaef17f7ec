"""How a submission goes its way: begun, sent file by file, received in one transaction, judged; one function per step.

States change by conditional UPDATE alone, so that of two who want to change one, one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from kakurenbo.contest import Counting, FilePattern
from kakurenbo.contest.phases import size_limit
from kakurenbo.contest.submissions import (
    MAX_BYTES,
    MAX_FILES,
    MAX_NAME_LENGTH,
    is_ignored,
    is_unsafe,
    printable_name,
)
from kakurenbo.core import README_FILES, InputError, Problems
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Entry, Phase, PhaseState
from kakurenbo.judge.contests.planning import told_time
from kakurenbo.judge.contests.queries import quota_left, quota_of, tries_by_target
from kakurenbo.judge.contests.rulebooks import declared_phase
from kakurenbo.judge.scoring import rules as scoring_rules
from kakurenbo.judge.scoring.models import JobKind
from kakurenbo.judge.submissions.models import UNDER_WAY, Blob, State, Submission, SubmittedFile
from kakurenbo.judge.submissions.queries import name_fields, targets_of
from kakurenbo.judge.trust import rules as trust
from kakurenbo.proofs.quotas import RATE, RATE_SPAN, Left

_TARGET, _NUMBER, _TRY = "{target}", "{number}", "{-try}"
_NAMED_OF_A_KIND = 3
_ZIP = ".zip"
_COSTS_NOTHING = (State.INVALID, State.FAILED, State.WITHDRAWN)
_ROOM_SPAN = timedelta(days=1)


# -- handing in ------------------------------------------------------------------------------------------------------------


def begin(user: User | None, entry: Entry, phase: Phase, now: datetime) -> Submission:
    """A new submission, to which files are added until it is finished.

    Parameters
    ----------
    user : User or None
        Who hands in; None for a bot of a rehearsal.
    entry : Entry
    phase : Phase
    now : datetime
    """
    may_act = (
        entry.team.contest.rehearsal if user is None else permissions.may_act_for(user, entry.team)
    )
    permissions.demand(may_act and entry.round_id == phase.round_id)
    # Whoever asks may have looked them up long ago; what an organizer changed since holds.
    phase.refresh_from_db(fields=["state", "opens_at", "closes_at"])
    entry.refresh_from_db(fields=["disqualified"])
    Problems.join(
        [
            _play_problems(entry, phase, now),
            _left_problems(entry, phase, now),
            _rate_problems(entry, now),
        ]
    ).check()
    return Submission.objects.create(entry=entry, phase=phase, user=user)


def most_bytes(submission: Submission, name: str) -> int:
    """How large a file of this name may be; refused where no such file may come at all, whatever is in it."""
    _name_problems(submission, name).check()
    room = MAX_BYTES - _unfinished(submission, name)["bytes"]
    if room <= 0:
        raise _no_room(name)
    return min(room, size_limit(declared_phase(submission.phase).files, name))


def add_file(submission: Submission, name: str, blob: Blob) -> SubmittedFile:
    """One more file of a submission that is not finished; the same name again replaces the file."""
    _name_problems(submission, name).check()
    _size_problems(submission.phase, name, blob).check()
    with transaction.atomic():
        own = Entry.objects.select_for_update(no_key=True).filter(pk=submission.entry_id)
        own.values_list("pk", flat=True).get()  # others of the team are counted after it
        locked = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
        if locked.state != State.RECEIVING:
            raise InputError.of("submissions.finished", name)
        most, others = _most_files(submission.phase), _unfinished(locked, name)
        if others["files"] >= most:
            raise InputError.of("release.too_many_files", name, files=most)
        if others["bytes"] + blob.size > MAX_BYTES:
            raise _no_room(name)
        file = SubmittedFile(
            submission=locked, name=name, blob=blob, target=_target_in(submission.phase, name)
        )
        unique, changed = ["submission", "name"], ["blob", "target"]
        return SubmittedFile.objects.bulk_create(
            [file], update_conflicts=True, unique_fields=unique, update_fields=changed
        )[0]


def finish(submission: Submission, now: datetime) -> Submission:
    """All files are there: the submission is received, numbered, logged and queued for judging, all of it or nothing.

    The lock on the entry lets one submission of a team after the other count its tries. One that comes too late, or for which
    there is no try left, is withdrawn; one that was finished before stays as it is.

    Parameters
    ----------
    submission : Submission
    now : datetime
        When its last byte had come.
    """
    with transaction.atomic():
        phase, entry = _locked(submission)
        submission = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
        submission.phase, submission.entry = phase, entry
        if submission.state == State.WITHDRAWN:
            raise InputError.of("submissions.withdrawn", "")
        if submission.state != State.RECEIVING:
            return submission
        now = _not_before_others(entry, phase, now)
        files = dict(submission.files.values_list("name", "blob_id"))
        if not files:
            raise InputError.of("submissions.no_file", "")
        problems = Problems.join(
            [
                _play_problems(entry, phase, now),
                _left_problems(entry, phase, now),
                _target_problems(submission, entry, phase),
            ]
        )
        if problems:
            Submission.objects.filter(pk=submission.pk).update(state=State.WITHDRAWN)
        else:
            _receive(submission, entry, phase, now, files)
    problems.check()  # outside of the transaction, so that the submission stays withdrawn
    return submission


def _receive(
    submission: Submission, entry: Entry, phase: Phase, now: datetime, files: Mapping[str, str]
) -> None:
    """Number a submission that is finished, log it, and queue it for judging."""
    given = (
        Submission.objects.filter(entry=entry, phase=phase).aggregate(last=Max("number"))["last"]
        or 0
    )
    submission.number, submission.received_at, submission.state = given + 1, now, State.RECEIVED
    submission.save(update_fields=["number", "received_at", "state"])
    contest = entry.team.contest
    scoring_rules.enqueue(JobKind.JUDGE, contest, entry.round, submission)
    told = {"number": submission.number, "received_at": now.isoformat(), "files": files}
    trust.record(contest, "submission.received", {**_told(submission), **told})


def _not_before_others(entry: Entry, phase: Phase, now: datetime) -> datetime:
    """This moment, or where the clock was set back since, the last one of which the team was told in an open phase.

    What comes later counts as later; and in a phase that has opened nothing comes before it opens.
    """
    if phase.state != PhaseState.OPEN:
        return now
    told = Submission.objects.filter(entry=entry, phase=phase).aggregate(
        Max("received_at"), Max("chosen_at")
    )
    moments: list[datetime] = [
        now,
        phase.opens_at,
        *(moment for moment in told.values() if moment is not None),
    ]
    return max(moments)


def _locked(submission: Submission) -> tuple[Phase, Entry]:
    """Phase and entry of a submission as they are, until the caller commits: who closes a phase or counts tries waits."""
    phases = Phase.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "round__contest"
    )
    entries = Entry.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "team__contest", "round"
    )
    return phases.get(pk=submission.phase_id), entries.get(pk=submission.entry_id)


def withdraw(user: User, submission: Submission, now: datetime) -> Submission:
    """Take a submission back before anybody looked at it; it costs no try."""
    permissions.demand(permissions.may_act_for(user, submission.entry.team))
    with transaction.atomic():
        received = _changed(submission, [State.RECEIVED], State.WITHDRAWN)
        if not received and not _changed(submission, [State.RECEIVING], State.WITHDRAWN):
            raise InputError.of("submissions.too_late_to_withdraw", "")
        if received:
            told = {**_told(submission), "number": submission.number, "at": now.isoformat()}
            trust.record(submission.entry.team.contest, "submission.withdrawn", told)
    return submission


def choose(user: User, submission: Submission, now: datetime) -> Submission:
    """Let this submission of a team count, where the rulebook lets teams choose; the last choice holds."""
    permissions.demand(permissions.may_act_for(user, submission.entry.team))
    if declared_phase(submission.phase).counts is not Counting.CHOSEN:
        raise InputError.of("submissions.nothing_to_choose", "")
    with transaction.atomic():
        phase, entry = _locked(submission)
        now = _not_before_others(entry, phase, now)
        _play_problems(entry, phase, now).check()
        if not Submission.objects.filter(pk=submission.pk, state=State.SCORED).update(
            chosen_at=now
        ):
            raise InputError.of("submissions.not_scored", "")
        submission.chosen_at = now
        scoring_rules.enqueue(JobKind.STANDINGS, entry.team.contest, entry.round)
        told = {**_told(submission), "number": submission.number, "at": now.isoformat()}
        trust.record(submission.entry.team.contest, "submission.chosen", told)
    return submission


# -- judging: each of these is one conditional UPDATE, and says whether it was made ------------------------------------------


def checking(submission: Submission) -> bool:
    """A worker begins, or begins again after another was lost."""
    return _changed(submission, [State.RECEIVED, State.CHECKING, State.SCORING], State.CHECKING)


def scoring(submission: Submission) -> bool:
    """Its form is right; its scores are being computed."""
    return _changed(submission, [State.CHECKING], State.SCORING)


def scored(submission: Submission) -> bool:
    """It has its scores."""
    return _changed(submission, _UNDER_JUDGEMENT, State.SCORED)


def invalid(submission: Submission) -> bool:
    """It is refused, and costs no try."""
    return _changed(submission, _UNDER_JUDGEMENT, State.INVALID)


def failed(submission: Submission) -> bool:
    """A step of the rulebook failed on it; it costs no try."""
    return _changed(submission, _UNDER_JUDGEMENT, State.FAILED)


def parked(submission: Submission) -> bool:
    """The process died of it too often; an organizer looks."""
    return _changed(submission, [State.RECEIVED, *_UNDER_JUDGEMENT], State.PARKED)


_UNDER_JUDGEMENT = (State.CHECKING, State.SCORING)


def _changed(submission: Submission, before: Iterable[State], after: State) -> bool:
    changed = bool(
        Submission.objects.filter(pk=submission.pk, state__in=list(before)).update(state=after)
    )
    if changed:
        submission.state = after
    return changed


# -- what is wrong -----------------------------------------------------------------------------------------------------------


def _play_problems(entry: Entry, phase: Phase, now: datetime) -> Problems:
    if entry.disqualified:
        return Problems.of("submissions.disqualified", "", reason=entry.disqualified)
    if permissions.is_open(phase, now):
        return Problems([])
    zone = entry.team.contest.zone
    if now < phase.opens_at:
        return Problems.of(
            "submissions.not_open_yet", "", phase=phase.kind, time=told_time(phase.opens_at, zone)
        )
    if now >= phase.closes_at or phase.state != PhaseState.WAITING:
        return Problems.of(
            "submissions.closed", "", phase=phase.kind, time=told_time(phase.closes_at, zone)
        )
    return Problems.of("submissions.being_prepared", "", phase=phase.kind)


def _left_problems(entry: Entry, phase: Phase, now: datetime) -> Problems:
    """Which tries are used up, when there are others, and how many of them are not judged yet."""
    left = quota_left(entry, phase, now)
    return (
        Problems.join([_used_problems(left, phase), _checking_problems(entry, phase)])
        if left.exhausted
        else Problems([])
    )


def _checking_problems(entry: Entry, phase: Phase) -> Problems:
    """That tries may come back: what waits for its judgment takes one, what is refused then does not."""
    count = Submission.objects.filter(entry=entry, phase=phase, state__in=UNDER_WAY).count()
    return Problems.of("submissions.tries_in_checking", "", count=count) if count else Problems([])


def _used_problems(left: Left, phase: Phase) -> Problems:
    place, zone = _place_of(phase), phase.round.contest.zone
    if left.used_up:
        return Problems.of("submissions.no_try_left", "", **place, limit=phase.tries_in_all)
    if left.again_at is None:
        time = told_time(phase.closes_at, zone)
        return Problems.of(
            "submissions.no_try_before_end", "", **place, limit=phase.tries_per_day, time=time
        )
    return Problems.of(
        "submissions.no_try_today",
        "",
        **place,
        limit=phase.tries_per_day,
        time=told_time(left.again_at, zone),
    )


def _target_problems(submission: Submission, entry: Entry, phase: Phase) -> Problems:
    """Tries on single targets: a submission whose files name none is one on each."""
    limit = phase.tries_per_target
    if limit is None:
        return Problems([])
    used_up = [
        Problems.of(
            "submissions.no_try_on_target", "", **_place_of(phase), target=target, limit=limit
        )
        for target in quota_of(phase).exceeded_on(
            tries_by_target(entry, phase), targets_of(submission)
        )
    ]
    return Problems.join([*used_up, _checking_problems(entry, phase)]) if used_up else Problems([])


def _place_of(phase: Phase) -> dict[str, Any]:
    """Which phase of which round, for a sentence."""
    return {"phase": phase.kind, "round": phase.round.name}


def _rate_problems(entry: Entry, now: datetime) -> Problems:
    span = (
        now - RATE_SPAN,
        now + RATE_SPAN,
    )  # what a clock that was ahead told is no reason to wait for hours
    begun = Submission.objects.filter(entry=entry, began_at__range=span).count()
    minutes = int(RATE_SPAN.total_seconds()) // 60
    return (
        Problems([])
        if begun < RATE
        else Problems.of("submissions.too_fast", "", count=RATE, minutes=minutes)
    )


def _name_problems(submission: Submission, name: str) -> Problems:
    """Nothing is kept that no rule asks for; where a zip may come, its name says nothing of what is in it."""
    plain = (
        printable_name(name) == name
        and 0 < len(name) <= MAX_NAME_LENGTH
        and not set(name) & set("/\\")
    )
    if not plain or (is_ignored(name) and name not in README_FILES):
        return Problems.of("release.bad_name", printable_name(name))
    if is_unsafe(name):
        return Problems.of("release.unsafe_name", name)
    patterns = declared_phase(submission.phase).files
    fits = any(pattern.parse(name) is not None for pattern in patterns)
    is_zip = name.lower().endswith(_ZIP) and any(
        pattern.template.endswith(_ZIP) for pattern in patterns
    )
    return (
        Problems([])
        if fits or is_zip
        else Problems.of("submissions.no_such_file", name, files=_own_names(submission))
    )


def _own_names(submission: Submission) -> list[str]:
    """The names of a team's own files, of many that are counted the first few."""
    named = (
        pattern.names(**name_fields(submission.entry))
        for pattern in declared_phase(submission.phase).files
    )
    return [name for names in named for name in names[:_NAMED_OF_A_KIND]]


def _size_problems(phase: Phase, name: str, blob: Blob) -> Problems:
    limit = size_limit(declared_phase(phase).files, name)
    return (
        Problems([])
        if blob.size <= limit
        else Problems.of("source.too_large", printable_name(name), limit=limit)
    )


def _most_files(phase: Phase) -> int:
    """How many files an entry can need: of each kind one, or one for each number or target that there is."""
    return min(MAX_FILES, sum(_most_of(pattern, phase) for pattern in declared_phase(phase).files))


def _most_of(pattern: FilePattern, phase: Phase) -> int:
    if _TRY in pattern.template or (_NUMBER in pattern.template and not pattern.numbers):
        return MAX_FILES
    targets = (phase.round.targets.count() or MAX_FILES) if _TARGET in pattern.template else 1
    return targets * max(1, len(pattern.numbers))


def _unfinished(submission: Submission, name: str) -> dict[str, int]:
    """``bytes`` that lie in the store for a team without a try, ``files`` of this submission; but for the file that is to be
    replaced.

    What was refused or taken back is kept for whoever checks the contest: of that, as of what is not handed in, nobody may fill
    the disk for nothing.
    """
    begun = Q(submission__state=State.RECEIVING)
    in_vain = Q(
        submission__state__in=_COSTS_NOTHING,
        submission__received_at__gt=timezone.now() - _ROOM_SPAN,
    )
    own = SubmittedFile.objects.filter(begun | in_vain, submission__entry=submission.entry_id)
    others = own.exclude(submission=submission, name=name)
    return others.aggregate(
        bytes=Sum("blob__size", default=0), files=Count("pk", filter=Q(submission=submission))
    )


def _no_room(name: str) -> InputError:
    return InputError.of("submissions.no_room", printable_name(name), bytes=MAX_BYTES)


def _target_in(phase: Phase, name: str) -> str:
    """The release that a file's name says it is a guess at."""
    parsed = (pattern.parse(name) for pattern in declared_phase(phase).files)
    return next((fields["target"] for fields in parsed if fields and "target" in fields), "")


def _told(submission: Submission) -> dict[str, str]:
    entry, phase = submission.entry, submission.phase
    return {
        "submission": str(submission.pk),
        "team": entry.team.number,
        "round": entry.round.name,
        "phase": phase.kind,
    }
