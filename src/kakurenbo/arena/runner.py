"""Playing a plan: hand out every job whose inputs exist, store what comes back, survive workers that die.

The key of a job is the SHA-256 of all that its result depends on: the bytes of its inputs, not the history behind them. A team
that joins later leaves the others' releases and attacks valid, and the next start goes on where the last one was stopped.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from filelock import FileLock, Timeout

from kakurenbo.arena.jobs import (
    ANONYMIZE,
    ATTACK,
    CREDIT,
    HANDOUT,
    JUDGE,
    OWN,
    PREPARE,
    Task,
    target_place,
)
from kakurenbo.arena.plan import Job, Plan, SubmittedFolder
from kakurenbo.arena.pool import ProcessCrew, Workers
from kakurenbo.arena.store import (
    DONE,
    FAILED,
    OPEN,
    TEAMS,
    DamagedTree,
    Outcome,
    Result,
    RunStore,
    TreeDigests,
    content_hash,
)
from kakurenbo.contest import Files
from kakurenbo.contest.folders import part_folder
from kakurenbo.core import read_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.core.remembering import Memory

SKIPPED = "skipped"
_FORMAT = 3  # raise when jobs come to mean something else


@dataclass
class Tally:
    """How far a run is; the numbers of a progress display."""

    total: int
    done: int = 0
    stored: int = 0
    running: int = 0
    failed: int = 0
    refused: int = 0
    skipped: int = 0
    seconds_left: float | None = None

    @property
    def finished(self) -> int:
        return self.done + self.stored + self.failed + self.refused + self.skipped


ProgressListener = Callable[[Tally, Job | None, Result | None], None]


@dataclass(frozen=True)
class Settings:
    """How to play.

    Attributes
    ----------
    limit : float or None
        Seconds that a player's job may take.
    retry_failed : bool
        Play jobs again that failed in an earlier start; those that ran out of time always are, under a longer limit.
    replace_results : bool
        Play in a folder that holds the results of another plan, which are replaced.
    """

    limit: float | None = None
    retry_failed: bool = False
    replace_results: bool = False


def play(
    plan: Plan,
    store: RunStore,
    workers: Workers,
    settings: Settings,
    listener: ProgressListener | None = None,
) -> Mapping[Job, Result]:
    """Play every job of a plan that is not stored yet, and return the results of all.

    A job whose inputs did not come about is ``skipped``; it is in the results with the cause.
    """
    store.begin()
    while True:
        run = _Run(plan, store, settings, listener or (lambda *_: None))
        try:
            with workers.open(plan.code_of) as crew:
                return run.play(crew)
        except DamagedTree:
            run.drop_damaged()  # the run begins again with what is whole


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", blocking=False):
            yield
    except Timeout:
        raise UsageError("error.another_run", at=folder) from None


# -- tasks ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Input:
    """A folder of files that a task reads: its digests, and how to read it when the task is handed out."""

    digests: TreeDigests
    read: Callable[[], Files]


@dataclass(frozen=True)
class Order:
    """A job made ready for workers: its task, the inputs by role, and the key of its result."""

    task: Task
    inputs: Mapping[str, Input]
    key: str

    def folders(self) -> dict[str, Files]:
        """Read the inputs, by digest."""
        return {folder.digests.whole: folder.read() for folder in self.inputs.values()}


class Orders:
    """Makes the orders of a plan, from the results so far."""

    def __init__(self, plan: Plan, store: RunStore, results: Mapping[Job, Result]) -> None:
        self._plan, self._store, self._results = plan, store, results
        self._made: dict[Job, Order] = {}
        self._organizers = Memory(1)

    def order(self, job: Job) -> Order:
        """Return the order of a job whose inputs exist."""
        if job not in self._made:
            self._made[job] = self._make(job)
        return self._made[job]

    def _make(self, job: Job) -> Order:
        plan = self._plan
        inputs = self._INPUTS[job.kind](self, job) if job.kind in self._INPUTS else {}
        method = None
        if job.kind == ANONYMIZE:
            method = plan.by_team[job.team].anonymizer
        elif job.kind == ATTACK and job.attacker in plan.by_team:
            method = plan.by_team[job.attacker].attack
        seed, teams = "", tuple[str, ...]()
        if (
            method is not None
        ):  # the organizers' own attacks have randomness that anybody can repeat
            seed = str(plan.seed_for(job))
        elif job.kind == PREPARE and not inputs:
            seed, teams = str(plan.seed_of(job.repeat)), tuple(plan.targets)
        task = Task(
            kind=job.kind,
            rulebook=plan.rulebook_of[job.round],
            method=method,
            seed=seed,
            team=job.team,
            attacker=job.attacker,
            teams=teams,
            unranked=tuple(team for team in plan.unranked if team in teams),
            inputs={role: folder.digests.whole for role, folder in inputs.items()},
        )
        return Order(task, inputs, _key(task, inputs))

    def _prepare(self, job: Job) -> dict[str, Input]:
        if self._plan.phase is not None:
            return {
                "phase": self._organizers_files(self._plan.phase, "public", "attackers", "teams")
            }
        if self._plan.preparation is not None:
            return {"preparation": self._organizers_files(self._plan.preparation)}
        return {}

    def _anonymize(self, job: Job) -> dict[str, Input]:
        return {HANDOUT: self._stored(job.needs[0], f"{TEAMS}/{job.team}/handout")}

    def _judge(self, job: Job) -> dict[str, Input]:
        if self._plan.phase is not None:
            folders = [
                f"{kind}/{target}"
                for target in self._plan.targets[job.team]
                for kind in ("targets", "answers")
            ]
            folders.append("public")
            return {"phase": self._organizers_files(self._plan.phase, *folders)}
        prepare, *anonymize = job.needs
        entrant = self._plan.by_team[job.team]
        release = (
            self._stored(anonymize[0], "release") if anonymize else self._submitted(entrant.release)
        )
        return {"preparation": self._stored(prepare, "preparation"), "release": release}

    def _credit(self, job: Job) -> dict[str, Input]:
        if not job.attacker:
            judge, *attacks = job.needs
            done = [attack for attack in attacks if self._results[attack].state == DONE]
            guesses = {f"guess {attack.attacker}": self._stored(attack, "guess") for attack in done}
            return {"answer": self._stored(judge, f"answer-{job.team}"), **guesses}
        prepare, *judges = job.needs
        inputs = {
            "attackers": self._stored(prepare, f"{OPEN}/attackers"),
            "submitted": self._submitted(self._plan.by_team[job.attacker].guesses),
        }
        for judge in judges:
            for target in self._results[judge].value.get("targets", ()):
                inputs[f"target {target}"] = self._stored(judge, target_place(target))
                inputs[f"answer {target}"] = self._stored(judge, f"answer-{target}")
        return inputs

    def _attack(self, job: Job) -> dict[str, Input]:
        prepare, judge = job.needs
        inputs = {
            "target": self._stored(judge, target_place(job.team)),
            "attackers": self._stored(prepare, f"{OPEN}/attackers"),
        }
        part = target_place(job.team, part_folder(job.attacker))
        if part in self._results[judge].trees:
            inputs["part"] = self._stored(judge, part)
        own = f"{TEAMS}/{job.attacker}/handout"
        if self._plan.rules.attackers_use_handouts and own in self._results[prepare].trees:
            inputs[OWN] = self._stored(prepare, own)
        return inputs

    _INPUTS: ClassVar[Mapping[str, Callable[[Orders, Job], dict[str, Input]]]] = {
        PREPARE: _prepare,
        ANONYMIZE: _anonymize,
        JUDGE: _judge,
        ATTACK: _attack,
        CREDIT: _credit,
    }

    def _stored(self, job: Job, place: str) -> Input:
        result = self._results[job]
        path = self._store.tree(job.root, result.key, place)
        digests = result.trees[place]
        return Input(digests, lambda: self._store.read(path, digests.whole))

    def _submitted(self, path: Path | None) -> Input:
        assert path is not None
        folder: SubmittedFolder = self._plan.submitted[path]
        digest = content_hash(folder.digests)
        return Input(TreeDigests(digest, digest), folder.read)

    def _organizers_files(self, path: Path, *folders: str) -> Input:
        """Return the files of an organizer's folder, or of some folders in it."""
        every = self._organizers.remembered(path, lambda: read_folder(path))
        files = {
            name: data
            for name, data in every.items()
            if not folders or name.startswith(tuple(f"{folder}/" for folder in folders))
        }
        return Input(TreeDigests.of(files), lambda: files)


def _key(task: Task, inputs: Mapping[str, Input]) -> str:
    return content_hash(
        {
            "format": _FORMAT,
            "kind": task.kind,
            "rulebook": task.rulebook.identity(),
            "method": task.method.identity() if task.method else None,
            "seed": task.seed,
            "team": task.team,
            "attacker": task.attacker,
            "teams": task.teams,
            "unranked": task.unranked,
            "inputs": {role: folder.digests.content for role, folder in inputs.items()},
        }
    )


# -- the run -------------------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    plan: Plan
    store: RunStore
    settings: Settings
    tell: ProgressListener
    results: dict[Job, Result] = field(default_factory=dict)
    running: set[Job] = field(default_factory=set)
    deaths: Counter[Job] = field(default_factory=Counter)  # of workers, by the job they died on
    seconds: dict[str, list[float]] = field(default_factory=dict)  # that jobs took, by kind

    def __post_init__(self) -> None:
        self.orders = Orders(self.plan, self.store, self.results)
        self.ready: dict[str, list[Job]] = {job.role: [] for job in self.plan.jobs}  # heaps
        self.tally = Tally(len(self.plan.jobs))
        self.left = Counter(job.kind for job in self.plan.jobs)
        self.left_of_role = Counter(job.role for job in self.plan.jobs)
        self.waiting = {job: len(job.needs) for job in self.plan.jobs}
        self.followers: dict[Job, list[Job]] = {job: [] for job in self.plan.jobs}
        for job in self.plan.jobs:
            for need in job.needs:
                self.followers[need].append(job)

    def play(self, crew: ProcessCrew) -> Mapping[Job, Result]:
        self.crew = crew
        for job in self.plan.jobs:
            if not job.needs:
                self._make_ready(job)
        for role, count in self.left_of_role.items():
            if count and len(self.results) < len(self.plan.jobs):
                crew.start_ahead(role, count)
        while len(self.results) < len(self.plan.jobs):
            self._launch()
            if self.running:
                for job, outcome in crew.wait():
                    self._land(job, outcome)
        return self.results

    def _launch(self) -> None:
        """Hand out jobs as far as there is room, the earliest first."""
        has_room = self.crew.has_room
        while roles := [role for role, jobs in self.ready.items() if jobs and has_room(role)]:
            job = heapq.heappop(self.ready[min(roles, key=lambda role: self.ready[role][0])])
            order = self.orders.order(job)
            limit = self.settings.limit if order.task.method is not None else None
            self.crew.submit(job, order.task, order.folders(), limit)
            self.running.add(job)
            self.tally.running = min(len(self.running), self.crew.at_a_time)
            self.tell(self.tally, job, None)

    def _land(self, job: Job, outcome: Outcome | str) -> None:
        """Store what a job gave; give one whose worker died to another, a few times."""
        self.running.remove(job)
        key = self.orders.order(job).key
        if isinstance(outcome, Outcome):
            result = self.store.put(job.root, key, outcome)
            self.seconds.setdefault(job.kind, []).append(float(outcome.meta.get("seconds", 0)))
        else:
            self.deaths[job] += 1
            if self.deaths[job] < self.crew.attempts:
                heapq.heappush(self.ready[job.role], job)
                return
            result = Result(key, FAILED, cause=outcome)  # not stored: the next start tries again
        self._finish(job, result)

    def _make_ready(self, job: Job) -> None:
        """Take the stored result of a job whose inputs exist, or line it up."""
        result = self._stored(job)
        if result is not None:
            self._finish(job, result, stored=True)
        else:
            heapq.heappush(self.ready[job.role], job)

    def _stored(self, job: Job) -> Result | None:
        key = self.orders.order(job).key
        result = self.store.get(job.root, key)
        if result is None or result.state != FAILED:
            return result
        limit = self.store.meta(job.root, key).get("limit")
        is_longer = limit is not None and (
            self.settings.limit is None or self.settings.limit > limit
        )
        if self.settings.retry_failed or is_longer:
            self.store.drop(job.root, result)
            return None
        return result

    def _finish(self, job: Job, result: Result, *, stored: bool = False) -> None:
        self.results[job] = result
        label = "stored" if stored and result.state == DONE else result.state
        setattr(self.tally, label, getattr(self.tally, label) + 1)
        self.left[job.kind] -= 1
        self.left_of_role[job.role] -= 1
        if not self.left_of_role[job.role]:
            self.crew.dismiss(job.role)
        self.tally.running = min(len(self.running), self.crew.at_a_time)
        self.tally.seconds_left = self._estimate()
        self.tell(self.tally, job, result)
        for follower in self.followers[job]:
            if follower in self.results:
                continue
            self.waiting[follower] -= 1
            if cause := obstacle(follower, job, result):
                self._finish(follower, Result("", SKIPPED, cause=cause))
            elif self.waiting[follower] == 0:
                self._make_ready(follower)

    def _estimate(self) -> float | None:
        """Estimate the seconds left, from the mean time of each kind of job; None until every kind was seen."""
        left = {kind: count for kind, count in self.left.items() if count}
        if not left.keys() <= self.seconds.keys():
            return None
        means = {kind: sum(seconds) / len(seconds) for kind, seconds in self.seconds.items()}
        return sum(count * means[kind] for kind, count in left.items()) / self.crew.at_a_time

    def drop_damaged(self) -> None:
        """Forget results whose files are not as they were written, so that their jobs are played again."""
        for job, result in self.results.items():
            if result.key and not self.store.is_whole(job.root, result):
                self.store.drop(job.root, result)


def obstacle(job: Job, need: Job, result: Result) -> str:
    """Return why a job cannot be played after what it waits for has ended; empty where it can."""
    if job.kind == CREDIT and (need.kind == ATTACK or (need.kind == JUDGE and job.attacker)):
        return ""  # an attack or a release that did not come about costs nobody else
    is_about_target = need.kind == JUDGE and job.kind in (ATTACK, CREDIT)
    if result.state == DONE and (not is_about_target or job.team in result.value["targets"]):
        return ""
    causes = [
        record["cause"]
        for record in result.value.get("records", ())
        if record["target"] == job.team
    ]
    return f"{need}: {causes[0] if causes else result.cause}" if result.key else result.cause
