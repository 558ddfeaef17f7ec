"""What a worker does for a rejudging: judge again beside what counts, see what would change, put it into effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from kakurenbo.core.messages import LANGUAGES, render
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.scoring.child import cause
from kakurenbo.judge.scoring.comparing import changes, is_nothing
from kakurenbo.judge.scoring.judging import (
    Bench,
    Change,
    NotYet,
    judged,
    published,
    ranked,
    round_of,
    sampled,
    told_judging,
)
from kakurenbo.judge.scoring.models import (
    Job,
    JobKind,
    JobState,
    Judging,
    RejudgedCredit,
    Rejudging,
    RejudgingState,
)
from kakurenbo.judge.scoring.rejudging import UNDECIDED, judge_uncovered, open_jobs, rounds_of, told
from kakurenbo.judge.scoring.results import take_snapshot
from kakurenbo.judge.scoring.rules import enqueue
from kakurenbo.judge.scoring.swapping import forget, swap, tried
from kakurenbo.judge.trust.rules import record
from kakurenbo.proofs import content_digest

_LINE = " / "


def _rejudge(job: Job, bench: Bench) -> Change:
    submission, rejudging = job.submission, _rejudging(job)
    assert submission is not None
    if rejudging.state not in UNDECIDED:
        return lambda: None
    found = judged(job, submission, bench)

    def change() -> None:
        if not _still(rejudging, *UNDECIDED):
            return
        rejudging.judgings.filter(submission=submission).delete()
        Judging.objects.create(
            submission=submission,
            rejudging=rejudging,
            in_effect=False,
            fingerprint=found.fingerprint,
            verdict=found.verdict,
            result=found.result,
            seconds=found.seconds,
        )
        RejudgedCredit.objects.filter(rejudging=rejudging, submission=submission).delete()
        again = (
            RejudgedCredit(rejudging=rejudging, **credit)
            for credit in found.credits(job, submission)
        )
        RejudgedCredit.objects.bulk_create(again)

    return change


def _resample(job: Job, bench: Bench) -> Change:
    rejudging, name = _rejudging(job), job.subject.partition(" ")[2]
    if rejudging.state not in UNDECIDED:
        return lambda: None
    earned = sampled(job, name, bench)

    def change() -> None:
        if not _still(rejudging, *UNDECIDED):
            return
        target = published(round_of(job)).get(name=name)
        RejudgedCredit.objects.filter(rejudging=rejudging, target=target, submission=None).delete()
        RejudgedCredit.objects.bulk_create(
            RejudgedCredit(rejudging=rejudging, target=target, sample=attack, credit=credit)
            for attack, credit in earned.items()
        )

    return change


def _preview(job: Job, bench: Bench) -> Change:
    rejudging = _rejudging(job)
    if rejudging.state != RejudgingState.WORKING:
        return lambda: None
    _wait_for_judgings(rejudging)
    if judge_uncovered(rejudging):
        raise NotYet(cause("scoring.still_rejudging"))
    preview, _ = _compared(job, rejudging, bench)

    def change() -> None:
        working = Rejudging.objects.filter(pk=rejudging.pk, state=RejudgingState.WORKING)
        working.update(state=RejudgingState.READY, preview=preview)

    return change


def _settle(job: Job, bench: Bench) -> Change:
    rejudging = _rejudging(job)
    if rejudging.state == RejudgingState.CANCELLED:
        return lambda: forget(rejudging)
    if rejudging.state != RejudgingState.APPLYING:
        return lambda: None
    sealing = job.contest.jobs.filter(
        kind__in=(JobKind.SEAL, JobKind.SAMPLE), state__in=(JobState.WAITING, JobState.RUNNING)
    )
    if sealing.exists():
        raise NotYet(cause("scoring.still_sealing"))
    preview, standings = _compared(job, rejudging, bench)

    def change() -> None:
        Contest.objects.select_for_update(no_key=True).get(
            pk=job.contest.pk
        )  # nothing is sealed, and nothing ends, meanwhile
        if sealing.exists():
            raise NotYet(cause("scoring.still_sealing"))
        if judge_uncovered(
            rejudging
        ):  # something came that an older scorer judged: the organizer decides on all of it
            Rejudging.objects.filter(pk=rejudging.pk).update(
                state=RejudgingState.WORKING, preview={}
            )
            return
        _put_into_effect(rejudging, preview, standings)

    return change


def _put_into_effect(
    rejudging: Rejudging, preview: dict[str, Any], standings: Mapping[str, dict[str, Any]]
) -> None:
    contest, now = rejudging.contest, timezone.now()
    unsealed = swap(rejudging)
    forget(rejudging)
    Rejudging.objects.filter(pk=rejudging.pk).update(
        state=RejudgingState.APPLIED, decided_at=now, preview=preview
    )
    for one in unsealed:
        name, _, team = one.partition("/")
        enqueue(JobKind.SEAL, contest, contest.rounds.get(name=name), subject=team)
    for concerned in _concerned(rejudging):
        if (
            concerned is not None and contest.ended_at is None
        ):  # what was judged since this was ranked goes into the next
            enqueue(JobKind.STANDINGS, contest, concerned)
    judgings = list(rejudging.judgings.filter(in_effect=True).order_by("pk"))
    body = {
        "entries": len(judgings),
        "published": unsealed,
        "changes": content_digest(preview),
        "at": now.isoformat(),
    }
    record(contest, "rejudging.applied", {**told(rejudging), **body})
    for judging in judgings:
        record(contest, "submission.judged", {**told_judging(judging), "rejudging": rejudging.pk})
    _announce(rejudging, preview)
    for concerned in _concerned(rejudging):
        made = standings.get("" if concerned is None else concerned.name, {})
        if "standings" in made:
            take_snapshot(contest, concerned, made, rejudged=True)


def _announce(rejudging: Rejudging, preview: Mapping[str, Any]) -> None:
    """Tell everybody, in every language: whoever reads announcements may read one alone."""
    from kakurenbo.judge.contests.rules import tell  # which asks for jobs of ours

    words = {"reason": rejudging.reason}
    code = "nothing" if is_nothing(preview) else "applied"
    titles = [render("rejudging.title", {}, language).message for language in LANGUAGES]
    texts = [render(f"rejudging.told.{code}", words, language).message for language in LANGUAGES]
    tell(rejudging.contest, _LINE.join(titles), "\n\n".join(texts))


# -- what would be -----------------------------------------------------------------------------------------------------------


def _compared(
    job: Job, rejudging: Rejudging, bench: Bench
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What changes, and the new standings by the name of their round."""
    known, unsealed = tried(rejudging)
    standings = {}
    for concerned in _concerned(rejudging):
        name = "" if concerned is None else concerned.name
        standings[name] = ranked(job, known if concerned is None else {name: known[name]}, bench)
    return changes(rejudging, standings, unsealed), standings


def _concerned(rejudging: Rejudging) -> list[Round | None]:
    """Whose standings may change: of its rounds, and where there are several of all of them together."""
    every = rejudging.contest.rounds.all()
    together = len(every) > 1 and all(one.prepared_at is not None for one in every)
    return [*rounds_of(rejudging), *([None] if together else [])]


def _wait_for_judgings(rejudging: Rejudging) -> None:
    left = open_jobs(rejudging)
    if left.filter(state=JobState.PARKED).exists():
        raise NotYet(cause("scoring.rejudging_parked"))
    if left.exists():
        raise NotYet(cause("scoring.still_rejudging"))


def _rejudging(job: Job) -> Rejudging:
    pk = int(job.subject.partition(" ")[0])
    return Rejudging.objects.select_related("contest", "round", "submission__entry__round").get(
        pk=pk
    )


def _still(rejudging: Rejudging, *states: str) -> bool:
    """Whether it goes on; nobody decides on it before the caller commits."""
    locked = Rejudging.objects.select_for_update(of=("self",), no_key=True).get(pk=rejudging.pk)
    return locked.state in states


HANDLERS: Mapping[JobKind, Callable[[Job, Bench], Change]] = {
    JobKind.REJUDGE: _rejudge,
    JobKind.RESAMPLE: _resample,
    JobKind.PREVIEW: _preview,
    JobKind.SETTLE: _settle,
}
