"""What a worker does for each kind of job: gather what the step may see, run it in a child, and say what to change.

A handler returns the change; the caller makes it in the transaction that ends the job, so that a worker which lost its lease
changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.db import transaction
from django.db.models.fields.json import KT
from django.utils import timezone

from kakurenbo.judge.contests.models import Entry, Phase, PhaseState, Round
from kakurenbo.judge.scoring.child import OUT, SUBMITTED, cause
from kakurenbo.judge.scoring.models import Earned, Job, JobKind, JobState, Judging, RoundFile, SecretFile, Target, Visible
from kakurenbo.judge.scoring.results import ANONYMIZE, gathered, take_snapshot
from kakurenbo.judge.scoring.rules import enqueue, park
from kakurenbo.judge.scoring.workspace import Workspace
from kakurenbo.judge.submissions import queries as submission_queries
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import UNDER_WAY, Submission
from kakurenbo.judge.trust.rules import record
from kakurenbo.tables import Problems
from kakurenbo.trust import content_digest

Change = Callable[[], None]
_PUBLISHED, _DISQUALIFIED = "published", "disqualified"
_LONGEST_CAUSE = 500


class NotYet(Exception):
    """A job has to wait for another; says for what."""


class Bench(Protocol):
    """Where a handler works."""

    @property
    def workspace(self) -> Workspace:
        """The worker's folders."""

    def folder(self) -> AbstractContextManager[Path]:
        """A folder for one step."""

    def run(self, step: str, folder: Path, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a step in a child."""


def handle(job: Job, bench: Bench) -> Change:
    """Do a job; what is to be changed comes back."""
    return _HANDLERS[JobKind(job.kind)](job, bench)


# -- the data of a round -----------------------------------------------------------------------------------------------


def _prepare(job: Job, bench: Bench) -> Change:
    contest, round = job.contest, _round(job)
    teams = [f"{number:02d}" for number in range(1, contest.places + 1)]
    unranked = contest.teams.filter(unranked=True, number__in=teams).values_list("number", flat=True)
    with bench.folder() as folder:
        request = {"rulebook": _rulebook(job), "teams": teams, "unranked": list(unranked)}
        result = bench.run("prepare", folder, request)
        files = _Stored.of(folder / OUT)

    def change() -> None:
        told = {"facts": result["facts"], "commitments": result["commitments"], "fingerprint": result["fingerprint"]}
        now = timezone.now()
        if not Round.objects.filter(pk=round.pk, prepared_at=None).update(**told, prepared_at=now):
            return
        files.keep(round)
        committed = hashlib.sha256(result["commitments"].encode()).hexdigest()
        logged = {"fingerprint": result["fingerprint"], "prepared_at": now.isoformat(), "files": len(files)}
        record(contest, "round.prepared", {"round": round.name, "commitments": committed, **logged})

    return change


# -- what teams hand in ------------------------------------------------------------------------------------------------


def _judge(job: Job, bench: Bench) -> Change:
    submission = job.submission
    assert submission is not None
    if not submissions.checking(submission):  # its team took it back
        return lambda: None
    if submission.phase.kind == ANONYMIZE:
        return _judge_release(job, submission, bench)
    return _judge_guesses(job, submission, bench)


def _judge_release(job: Job, submission: Submission, bench: Bench) -> Change:
    with bench.folder() as folder:
        bench.workspace.link_preparation(folder, _round(job))
        bench.workspace.copy_submission(folder / SUBMITTED, submission)
        submissions.scoring(submission)
        request = {"rulebook": _rulebook(job), "team": submission.entry.team.number, "number": submission.number}
        result = bench.run("release", folder, request)
    judged = {name: result[name] for name in ("record", "problems", "total")}
    return lambda: _keep_judging(job, submission, judged, result)


def _judge_guesses(job: Job, submission: Submission, bench: Bench) -> Change:
    targets = {target.name: target for target in _published(_round(job))}
    with bench.folder() as folder:
        bench.workspace.link_phase(folder, _round(job), targets, answers=True)
        bench.workspace.copy_submission(folder / SUBMITTED, submission)
        submissions.scoring(submission)
        request = {"rulebook": _rulebook(job), "attacker": submission.entry.team.number, "targets": list(targets)}
        result = bench.run("guesses", folder, request)
    at = [{"target": one["target"], "file": one["file"]} for one in result["earned"]]
    judged = {"targets": at, "refused": result["refused"], "notices": result["notices"]}

    def change() -> None:
        Earned.objects.filter(submission=submission).delete()
        Earned.objects.bulk_create(
            Earned(
                target=targets[one["target"]],
                attacker=submission.entry,
                submission=submission,
                file=one["file"],
                credit=one["credit"],
            )
            for one in result["earned"]
        )
        _keep_judging(job, submission, judged, result)

    return change


def _keep_judging(job: Job, submission: Submission, judged: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    verdict = result["verdict"]
    transitions = {"scored": submissions.scored, "invalid": submissions.invalid, "failed": submissions.failed}
    Judging.objects.filter(submission=submission, in_effect=True).update(in_effect=False)
    made = Judging.objects.create(
        submission=submission,
        fingerprint=result["fingerprint"],
        verdict=verdict,
        result=dict(judged),
        seconds=result["seconds"],
    )
    transitions[verdict](submission)
    enqueue(JobKind.STANDINGS, job.contest, _round(job))
    told = {"submission": str(submission.pk), "verdict": verdict, "fingerprint": result["fingerprint"]}
    told |= {"made_at": made.made_at.isoformat(), "result": content_digest(judged)}
    record(job.contest, "submission.judged", told)


# -- sealing, and the organizers' attacks ------------------------------------------------------------------------------


def _seal(job: Job, bench: Bench) -> Change:
    round, team = _round(job), job.subject
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
        request = {"rulebook": _rulebook(job), "team": team, "numbers": sorted(counting)}
        result = bench.run("seal", folder, request)
        files = _Stored.of(folder / OUT)
    records = result["records"]
    by_target = {one["target"]: counting[number] for one, number in zip(records, sorted(counting), strict=False)}
    return lambda: _keep_targets(job, entry, records, by_target, files)


def _keep_targets(
    job: Job,
    entry: Entry,
    records: Sequence[Mapping[str, Any]],
    submitted: Mapping[str, Submission],
    files: _Stored,
) -> None:
    round = _round(job)
    files.keep(round)
    for one in records:
        name = one["target"]
        Target.objects.create(round=round, entry=entry, name=name, submission=submitted.get(name), record=dict(one))
        if one["state"] == _PUBLISHED:
            enqueue(JobKind.SAMPLE, job.contest, round, subject=name)
    enqueue(JobKind.STANDINGS, job.contest, round)
    for one in records:  # the log comes last: its lock is everybody's
        name = one["target"]
        sealed = {"target": files.digest(f"targets/{name}/"), "answer": files.digest(f"answers/{name}/")}
        record(job.contest, "target.sealed", {"round": round.name, "name": name, "state": one["state"], "digests": sealed})


def _sample(job: Job, bench: Bench) -> Change:
    round, name = _round(job), job.subject
    target = Target.objects.get(round=round, name=name)
    request: dict[str, Any] = {"rulebook": _rulebook(job), "target": name}
    with bench.folder() as folder, bench.folder() as judged:
        # Two processes: that which attacks gets no answer, that which has the answer gets finished guesses.
        bench.workspace.copy_phase(folder, round, [name])
        played = bench.run("sample", folder, request)
        bench.workspace.link_phase(judged, round, [name], answers=True)
        (folder / OUT).mkdir(exist_ok=True)
        (folder / OUT).rename(judged / SUBMITTED)
        result = bench.run("credit", judged, {**request, "attacks": played["attacks"]})

    def change() -> None:
        for attack, credit in result["earned"].items():
            Earned.objects.update_or_create(target=target, attacker=None, sample=attack, defaults={"credit": credit})
        enqueue(JobKind.STANDINGS, job.contest, round)

    return change


# -- bots, standings ---------------------------------------------------------------------------------------------------


def _bot(job: Job, bench: Bench) -> Change:
    round, number = _round(job), job.subject
    entry = Entry.objects.select_related("team").get(round=round, team__number=number)
    phase = Phase.objects.filter(round=round, state=PhaseState.OPEN).order_by("-opens_at").first()
    if phase is None or entry.submissions.filter(phase=phase).exists():
        return lambda: None
    place = job.contest.teams.filter(number__lt=number).count()
    request = {"rulebook": _rulebook(job), "team": number, "name": entry.team.name, "place": place}
    with bench.folder() as folder:
        if phase.kind == ANONYMIZE:
            bench.workspace.copy_handout(folder, round, number)
            result = bench.run("anonymize", folder, request)
        else:
            others = [target.name for target in _published(round).exclude(entry=entry)]
            bench.workspace.copy_phase(folder, round, others, number)
            result = bench.run("attack", folder, {**request, "targets": others})
        made = [(path.name, store.put(path.read_bytes())) for path in sorted((folder / OUT).glob("*"))]
    broke = "; ".join(f"{target}: {why}" for target, why in result.get("failed", {}).items())

    def change() -> None:
        refused = _hand_in(entry, phase, made) if made else Problems([])
        if refused:
            told = ": ".join(filter(None, (refused[0].file, refused[0].wording("en").message)))
            park(job, cause("scoring.bot_refused", problem=told))
        elif broke:
            park(job, cause("scoring.bot_broke", error=broke[:_LONGEST_CAUSE]))

    return change


def _hand_in(entry: Entry, phase: Phase, files: Iterable[tuple[str, Any]]) -> Problems:
    """Hand in for a bot, by the rules that hold for everybody; what is refused leaves nothing but why."""
    with transaction.atomic():
        begun = submissions.begin(None, entry, phase, timezone.now())
        if isinstance(begun, Problems):
            return begun
        added = [submissions.add_file(begun.value, name, blob) for name, blob in files]
        refused = Problems.of(*(one for one in added if isinstance(one, Problems)))
        finished = refused or submissions.finish(begun.value, timezone.now())
        if not isinstance(finished, Problems):
            return Problems([])
        transaction.set_rollback(True)
        return finished


def _standings(job: Job, bench: Bench) -> Change:
    contest, round = job.contest, job.round
    sampled = contest.jobs.filter(kind=JobKind.SAMPLE, state__in=(JobState.WAITING, JobState.RUNNING))
    if contest.ended_at is not None and sampled.exists():  # the last standings are final: all goes into them
        raise NotYet(cause("scoring.still_sampling"))
    prepared = contest.rounds.exclude(prepared_at=None).order_by("position")
    rounds = {one.name: gathered(one) for one in ([round] if round is not None else prepared)}
    if not all(known["records"] for known in rounds.values()):
        return lambda: None
    described = {**_rulebook(job), "round": next(iter(rounds))}
    with bench.folder() as folder:
        result = bench.run("rank", folder, {"rulebook": described, "rounds": rounds})

    def change() -> None:
        if "standings" in result:
            take_snapshot(contest, round, result)
        if round is not None and contest.rounds.filter(prepared_at=None).count() == 0 and contest.rounds.count() > 1:
            enqueue(JobKind.STANDINGS, contest)

    return change


_HANDLERS: Mapping[JobKind, Callable[[Job, Bench], Change]] = {
    JobKind.PREPARE: _prepare,
    JobKind.JUDGE: _judge,
    JobKind.SEAL: _seal,
    JobKind.SAMPLE: _sample,
    JobKind.BOT: _bot,
    JobKind.STANDINGS: _standings,
}


# -- files -------------------------------------------------------------------------------------------------------------

_VISIBLE = {"public": Visible.PUBLIC, "teams": Visible.TEAM, "attackers": Visible.ATTACKERS, "targets": Visible.TARGET}
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
            RoundFile.objects.create(round=round, path=path, visible=_VISIBLE[folder], subject=subject, blob_id=digest)
        for path, digest, size in self.secret:
            SecretFile.objects.create(round_id=round.pk, path=path, digest=digest, size=size)

    def digest(self, prefix: str) -> str:
        """Of all files below a folder."""
        files = [*self.open, *((path, digest) for path, digest, _ in self.secret)]
        return content_digest([[path, digest] for path, digest in files if path.startswith(prefix)])


def _published(round: Round) -> Any:
    return Target.objects.alias(state=KT("record__state")).filter(round=round, state=_PUBLISHED).order_by("name")


def _round(job: Job) -> Round:
    if job.round is not None:
        return job.round
    assert job.submission is not None
    return job.submission.entry.round


def _rulebook(job: Job) -> dict[str, Any]:
    name = _round(job).name if job.round is not None or job.submission is not None else ""
    return {"name": job.contest.rulebook, "options": job.contest.options, "round": name}
