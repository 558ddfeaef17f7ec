"""How a submission or an organizers' attack is judged, whoever asks: gather what the step may see, and run it in a child.

Nothing is changed here. Whether what was found counts at once, or is laid beside what counts, is for the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.db.models import QuerySet

from kakurenbo.judge.contests.models import Round
from kakurenbo.judge.scoring.child import OUT, SUBMITTED
from kakurenbo.judge.scoring.models import Job, Judging, Target
from kakurenbo.judge.scoring.results import ANONYMIZE
from kakurenbo.judge.scoring.workspace import Workspace
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.proofs import content_digest

Change = Callable[[], None]
"""What a handler asks to be changed, in the transaction that ends its job."""


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


@dataclass(frozen=True)
class Found:
    """What a step found of a submission.

    Attributes
    ----------
    verdict, fingerprint, seconds
        As ``Judging`` keeps them.
    result : dict
        As ``Judging.result``.
    earned : list
        Of guesses, what each file earned: ``target``, ``file``, ``credit``.
    """

    verdict: str
    fingerprint: str
    seconds: float
    result: dict[str, Any]
    earned: list[dict[str, Any]]

    def credits(self, job: Job, submission: Submission) -> Iterator[dict[str, Any]]:
        """What guesses earned, as the fields of a row."""
        targets = {target.name: target for target in published(round_of(job))}
        for one in self.earned:
            place = {
                "target": targets[one["target"]],
                "attacker": submission.entry,
                "submission": submission,
            }
            yield {**place, "file": one["file"], "credit": one["credit"]}


def judged(
    job: Job, submission: Submission, bench: Bench, begins: Callable[[], object] = lambda: None
) -> Found:
    """Check and score a submission; ``begins`` is called when its files lie there and the step is about to run."""
    if submission.phase.kind == ANONYMIZE:
        return _release(job, submission, bench, begins)
    return _guesses(job, submission, bench, begins)


def _release(job: Job, submission: Submission, bench: Bench, begins: Callable[[], object]) -> Found:
    with bench.folder() as folder:
        bench.workspace.link_preparation(folder, round_of(job))
        bench.workspace.copy_submission(folder / SUBMITTED, submission)
        begins()
        request = {
            "rulebook": rulebook_of(job),
            "team": submission.entry.team.number,
            "number": submission.number,
        }
        found = bench.run("release", folder, request)
    return _found(found, {name: found[name] for name in ("record", "problems", "total")}, [])


def _guesses(job: Job, submission: Submission, bench: Bench, begins: Callable[[], object]) -> Found:
    targets = [target.name for target in published(round_of(job))]
    with bench.folder() as folder:
        bench.workspace.link_phase(folder, round_of(job), targets, answers=True)
        bench.workspace.copy_submission(folder / SUBMITTED, submission)
        begins()
        request = {
            "rulebook": rulebook_of(job),
            "attacker": submission.entry.team.number,
            "targets": targets,
        }
        found = bench.run("guesses", folder, request)
    at = [{"target": one["target"], "file": one["file"]} for one in found["earned"]]
    return _found(
        found,
        {"targets": at, "refused": found["refused"], "notices": found["notices"]},
        found["earned"],
    )


def _found(found: Mapping[str, Any], result: dict[str, Any], earned: list[dict[str, Any]]) -> Found:
    return Found(found["verdict"], found["fingerprint"], found["seconds"], result, earned)


def sampled(job: Job, name: str, bench: Bench) -> dict[str, Any]:
    """What each of the organizers' attacks earns on a target, by its name."""
    request: dict[str, Any] = {"rulebook": rulebook_of(job), "target": name}
    with bench.folder() as folder, bench.folder() as credited:
        # Two processes: that which attacks gets no answer, that which has the answer gets finished guesses.
        bench.workspace.copy_phase(folder, round_of(job), [name])
        played = bench.run("sample", folder, request)
        bench.workspace.link_phase(credited, round_of(job), [name], answers=True)
        (folder / OUT).mkdir(exist_ok=True)
        (folder / OUT).rename(credited / SUBMITTED)
        earned: dict[str, Any] = bench.run(
            "credit", credited, {**request, "attacks": played["attacks"]}
        )["earned"]
    return earned


def ranked(job: Job, rounds: Mapping[str, Mapping[str, Any]], bench: Bench) -> dict[str, Any]:
    """Standings of rounds as they were gathered; empty where there is nothing to rank."""
    if not rounds or not all(known["records"] for known in rounds.values()):
        return {}
    described = {**rulebook_of(job), "round": next(iter(rounds))}
    with bench.folder() as folder:
        return bench.run("rank", folder, {"rulebook": described, "rounds": rounds})


def told_judging(judging: Judging) -> dict[str, Any]:
    """A judging as the log is told it."""
    told = {name: getattr(judging, name) for name in ("verdict", "fingerprint")}
    made_at, result = judging.made_at.isoformat(), content_digest(judging.result)
    return {"submission": str(judging.submission_id), **told, "made_at": made_at, "result": result}


def published(round: Round) -> QuerySet[Target]:
    """The targets that attackers got, whatever a later scorer found of them."""
    return Target.objects.filter(round=round, published=True).order_by("name")


def round_of(job: Job) -> Round:
    """The round that a job is about."""
    if job.round is not None:
        return job.round
    assert job.submission is not None
    return job.submission.entry.round


def rulebook_of(job: Job) -> dict[str, Any]:
    """The rulebook as a step is told it."""
    name = round_of(job).name if job.round is not None or job.submission is not None else ""
    return {"name": job.contest.rulebook, "options": job.contest.options, "round": name}
