"""What a worker does for each kind of job: gather what the step may see, run it in a child, and say what to change.

A handler returns the change; the caller makes it in the transaction that ends the job, so that a worker which lost its lease
changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from kakurenbo.core import InputError, gather
from kakurenbo.judge.contests.models import Entry, Phase, PhaseState, Round
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.scoring import rejudge_handling
from kakurenbo.judge.scoring.child import OUT, SUBMITTED, cause
from kakurenbo.judge.scoring.judging import (
    Bench,
    Change,
    Found,
    NotYet,
    judged,
    published,
    ranked,
    round_of,
    rulebook_of,
    sampled,
    told_judging,
)
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    Judging,
    RoundFile,
    SecretFile,
    Target,
    Visible,
)
from kakurenbo.judge.scoring.results import ANONYMIZE, gathered, take_snapshot
from kakurenbo.judge.scoring.rules import enqueue, park
from kakurenbo.judge.submissions import queries as submission_queries
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import UNDER_WAY, Submission
from kakurenbo.judge.trust.rules import record
from kakurenbo.proofs import content_digest

_PUBLISHED, _DISQUALIFIED = "published", "disqualified"
_LONGEST_CAUSE = 500


def handle(job: Job, bench: Bench) -> Change:
    """Do a job; what is to be changed comes back."""
    return _HANDLERS[JobKind(job.kind)](job, bench)


# -- the data of a round -----------------------------------------------------------------------------------------------


def _prepare(job: Job, bench: Bench) -> Change:
    contest, round = job.contest, round_of(job)
    teams = [f"{number:02d}" for number in range(1, contest.places + 1)]
    unranked = contest.teams.filter(unranked=True, number__in=teams).values_list(
        "number", flat=True
    )
    with bench.folder() as folder:
        request = {"rulebook": rulebook_of(job), "teams": teams, "unranked": list(unranked)}
        result = bench.run("prepare", folder, request)
        files = _Stored.of(folder / OUT)

    def change() -> None:
        told = {
            "facts": result["facts"],
            "commitments": result["commitments"],
            "fingerprint": result["fingerprint"],
        }
        now = timezone.now()
        if not Round.objects.filter(pk=round.pk, prepared_at=None).update(**told, prepared_at=now):
            return
        files.keep(round)
        committed = hashlib.sha256(result["commitments"].encode()).hexdigest()
        logged = {
            "fingerprint": result["fingerprint"],
            "prepared_at": now.isoformat(),
            "files": len(files),
        }
        record(contest, "round.prepared", {"round": round.name, "commitments": committed, **logged})

    return change


# -- what teams hand in ------------------------------------------------------------------------------------------------


def _judge(job: Job, bench: Bench) -> Change:
    submission = job.submission
    assert submission is not None
    if not submissions.checking(submission):  # its team took it back
        return lambda: None
    found = judged(job, submission, bench, lambda: submissions.scoring(submission))

    def change() -> None:
        if submission.phase.kind != ANONYMIZE:
            Earned.objects.filter(submission=submission).delete()
            Earned.objects.bulk_create(
                Earned(**credit) for credit in found.credits(job, submission)
            )
        _keep_judging(job, submission, found)

    return change


def _keep_judging(job: Job, submission: Submission, found: Found) -> None:
    transitions = {
        "scored": submissions.scored,
        "invalid": submissions.invalid,
        "failed": submissions.failed,
    }
    Judging.objects.filter(submission=submission, in_effect=True).update(in_effect=False)
    made = Judging.objects.create(
        submission=submission,
        fingerprint=found.fingerprint,
        verdict=found.verdict,
        result=found.result,
        seconds=found.seconds,
    )
    transitions[found.verdict](submission)
    enqueue(JobKind.STANDINGS, job.contest, round_of(job))
    record(job.contest, "submission.judged", told_judging(made))


# -- sealing, and the organizers' attacks ------------------------------------------------------------------------------


def _seal(job: Job, bench: Bench) -> Change:
    round, team = round_of(job), job.subject
    entry = Entry.objects.select_related("team").get(round=round, team__number=team)
    if entry.targets.exists():
        return lambda: None
    phase = Phase.objects.get(round=round, kind=ANONYMIZE)
    if Submission.objects.filter(entry=entry, phase=phase, state__in=UNDER_WAY).exists():
        raise NotYet(cause("scoring.still_judging"))
    if entry.disqualified:
        out = {"target": team, "team": team, "state": _DISQUALIFIED, "cause": entry.disqualified}
        return lambda: _keep_targets(job, entry, [out], {}, _Stored((), ()))
    counting = {one.number or 0: one for one, _ in submission_queries.counting(entry, phase)}
    with bench.folder() as folder:
        bench.workspace.link_preparation(folder, round)
        for number, submission in counting.items():
            bench.workspace.copy_submission(folder / SUBMITTED / str(number), submission)
        records = {
            str(number): submission_queries.record_of(counting[number])
            for number in sorted(counting)
        }
        request = {"rulebook": rulebook_of(job), "team": team, "records": records}
        result = bench.run("seal", folder, request)
        files = _Stored.of(folder / OUT)
    records = result["records"]
    by_target = {
        one["target"]: counting[number]
        for one, number in zip(records, sorted(counting), strict=False)
    }
    return lambda: _keep_targets(job, entry, records, by_target, files)


def _keep_targets(
    job: Job,
    entry: Entry,
    records: Sequence[Mapping[str, Any]],
    submitted: Mapping[str, Submission],
    files: _Stored,
) -> None:
    round = round_of(job)
    files.keep(round)
    for one in records:
        name = one["target"]
        Target.objects.create(
            round=round,
            entry=entry,
            name=name,
            submission=submitted.get(name),
            record=dict(one),
            published=one["state"] == _PUBLISHED,
        )
        if one["state"] == _PUBLISHED:
            enqueue(JobKind.SAMPLE, job.contest, round, subject=name)
    enqueue(JobKind.STANDINGS, job.contest, round)
    for one in records:  # the log comes last: its lock is everybody's
        name = one["target"]
        sealed = {
            "target": files.digest(f"targets/{name}/"),
            "answer": files.digest(f"answers/{name}/"),
        }
        record(
            job.contest,
            "target.sealed",
            {"round": round.name, "name": name, "state": one["state"], "digests": sealed},
        )


def _sample(job: Job, bench: Bench) -> Change:
    round, name = round_of(job), job.subject
    target = Target.objects.get(round=round, name=name)
    earned = sampled(job, name, bench)

    def change() -> None:
        for attack, credit in earned.items():
            Earned.objects.update_or_create(
                target=target, attacker=None, sample=attack, defaults={"credit": credit}
            )
        enqueue(JobKind.STANDINGS, job.contest, round)

    return change


# -- bots, standings ---------------------------------------------------------------------------------------------------


def _bot(job: Job, bench: Bench) -> Change:
    round, number = round_of(job), job.subject
    entry = Entry.objects.select_related("team").get(round=round, team__number=number)
    phase = Phase.objects.filter(round=round, state=PhaseState.OPEN).order_by("-opens_at").first()
    if phase is None or entry.submissions.filter(phase=phase).exists():
        return lambda: None
    place = job.contest.teams.filter(number__lt=number).count()
    request = {
        "rulebook": rulebook_of(job),
        "team": number,
        "name": entry.team.name,
        "place": place,
    }
    with bench.folder() as folder:
        if phase.kind == ANONYMIZE:
            bench.workspace.copy_handout(folder, round, number)
            result = bench.run("anonymize", folder, request)
        else:
            others = [target.name for target in published(round).exclude(entry=entry)]
            bench.workspace.copy_phase(folder, round, others, number)
            if rules_of(job.contest, round).attackers_use_handouts:
                bench.workspace.copy_handout(folder, round, number)
            result = bench.run("attack", folder, {**request, "targets": others})
        made = [
            (path.name, store.put(path.read_bytes())) for path in sorted((folder / OUT).glob("*"))
        ]
    broke = "; ".join(f"{target}: {why}" for target, why in result.get("failed", {}).items())

    def change() -> None:
        try:
            if made:
                _hand_in(entry, phase, made)
        except InputError as error:
            first = error.problems[0]
            told = ": ".join(filter(None, (first.file, first.wording("en").message)))
            park(job, cause("scoring.bot_refused", problem=told))
            return
        if broke:
            park(job, cause("scoring.bot_broke", error=broke[:_LONGEST_CAUSE]))

    return change


def _hand_in(entry: Entry, phase: Phase, files: Iterable[tuple[str, Any]]) -> None:
    """Hand in for a bot, by the rules that hold for everybody; what is refused leaves nothing but why."""
    with transaction.atomic():
        begun = submissions.begin(None, entry, phase, timezone.now())
        with gather() as problems:
            for name, blob in files:
                problems.of(submissions.add_file, begun, name, blob)
        submissions.finish(begun, timezone.now())


def _standings(job: Job, bench: Bench) -> Change:
    contest, round = job.contest, job.round
    sampling = contest.jobs.filter(
        kind=JobKind.SAMPLE, state__in=(JobState.WAITING, JobState.RUNNING)
    )
    if (
        contest.ended_at is not None and sampling.exists()
    ):  # the last standings are final: all goes into them
        raise NotYet(cause("scoring.still_sampling"))
    prepared = contest.rounds.exclude(prepared_at=None).order_by("position")
    result = ranked(
        job,
        {one.name: gathered(one) for one in ([round] if round is not None else prepared)},
        bench,
    )

    def change() -> None:
        if "standings" in result:
            take_snapshot(contest, round, result)
        if (
            round is not None
            and contest.rounds.filter(prepared_at=None).count() == 0
            and contest.rounds.count() > 1
        ):
            enqueue(JobKind.STANDINGS, contest)

    return change


_HANDLERS: Mapping[JobKind, Callable[[Job, Bench], Change]] = {
    JobKind.PREPARE: _prepare,
    JobKind.JUDGE: _judge,
    JobKind.SEAL: _seal,
    JobKind.SAMPLE: _sample,
    JobKind.BOT: _bot,
    JobKind.STANDINGS: _standings,
    **rejudge_handling.HANDLERS,
}


# -- files -------------------------------------------------------------------------------------------------------------

_VISIBLE = {
    "public": Visible.PUBLIC,
    "teams": Visible.TEAM,
    "attackers": Visible.ATTACKERS,
    "targets": Visible.TARGET,
}
"""Who may see a folder of a round, by its first part; whatever is not here is secret."""


@dataclass(frozen=True)
class _Stored:
    """Files that a step made, in the stores already, to be entered into the database: open ones and secret ones."""

    open: tuple[tuple[str, str], ...]
    secret: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, folder: Path) -> _Stored:
        opened: list[tuple[str, str]] = []
        secret: list[tuple[str, str, int]] = []
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if not path.is_file():
                continue
            name, content = path.relative_to(folder).as_posix(), path.read_bytes()
            if name.split("/")[0] in _VISIBLE:
                opened.append((name, store.put(content).pk))
            else:
                secret.append((name, *store.put_secret(content)))
        return cls(tuple(opened), tuple(secret))

    def __len__(self) -> int:
        return len(self.open) + len(self.secret)

    def keep(self, round: Round) -> None:
        """Enter them as files of a round."""
        for path, digest in self.open:
            folder, _, rest = path.partition("/")
            subject = rest.partition("/")[0] if folder in ("teams", "targets") else ""
            RoundFile.objects.create(
                round=round, path=path, visible=_VISIBLE[folder], subject=subject, blob_id=digest
            )
        for path, digest, size in self.secret:
            SecretFile.objects.create(round_id=round.pk, path=path, digest=digest, size=size)

    def digest(self, prefix: str) -> str:
        """Of all files below a folder."""
        files = [*self.open, *((path, digest) for path, digest, _ in self.secret)]
        return content_digest([[path, digest] for path, digest in files if path.startswith(prefix)])
