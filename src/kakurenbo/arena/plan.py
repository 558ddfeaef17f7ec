"""The plan of a tournament: every job, and the files that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import (
    ANONYMIZE,
    ATTACK,
    ATTACKERS_TREE,
    CREDIT,
    HANDOUT,
    JUDGE,
    PREPARE,
    Task,
    handout_tree,
    target_tree,
)
from kakurenbo.arena.store import TreeDigests
from kakurenbo.arena.teams_file import Entrant
from kakurenbo.contest import AnyRulebook, Files, by_number, misfit, read_facts, team_of
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.folders import ContestFacts, part_folder
from kakurenbo.contest.releases import SUBMITTED, read_records
from kakurenbo.contest.submissions import SubmittedFiles, entries_of, list_submission
from kakurenbo.core import InputError, Source, read_file, read_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message, join_stored
from kakurenbo.core.rng import salt

JUDGES, ANONYMIZERS, ATTACKERS = "judges", "anonymizers", "attackers"
"""Roles of workers: a process never changes its role."""
_ROLES = {ANONYMIZE: ANONYMIZERS, ATTACK: ATTACKERS}
_MAX_ATTACKS = 200_000  # of one run; the results of more could not be read again


@dataclass(frozen=True)
class Input:
    """A folder of files that a job reads: what another job gives, or files that were submitted.

    Attributes
    ----------
    role : str
        What the job calls it.
    job : Job or None
        The job that gives it.
    tree : str
        What that job calls it.
    folders : sequence of str
        Those below it that are read; empty for all.
    files : Files
        Files from elsewhere.
    is_required : bool
        Whether the job cannot be played without it.
    """

    role: str
    job: Job | None = None
    tree: str = ""
    folders: Sequence[str] = ()
    files: Files = field(default_factory=dict, repr=False)
    is_required: bool = True

    @cached_property
    def digests(self) -> TreeDigests:
        """Digests of files from elsewhere."""
        return TreeDigests.of(self.files)

    def in_folders(self, files: Files) -> Files:
        """Return those of some files that are read."""
        return _in_folders(files, self.folders)


@dataclass(frozen=True, order=True)
class Job:
    """One job of a tournament; the order is the one jobs are started in.

    Attributes
    ----------
    stage : int
    round : str
    repeat : int
        From 0.
    team : str
        Whose release it is about; for attacks and scores the target, ``07`` or ``07-2``.
    attacker : str
    task : Task
        What a worker is sent, but for its inputs.
    inputs : tuple of Input
    """

    stage: int
    round: str
    repeat: int
    team: str
    attacker: str
    task: Task = field(compare=False)
    inputs: tuple[Input, ...] = field(default=(), compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.kind, self.round, self.repeat, self.team, self.attacker))

    @property
    def kind(self) -> str:
        return self.task.kind

    @property
    def role(self) -> str:
        """Which workers do it."""
        return _ROLES.get(self.kind, JUDGES)

    @cached_property
    def needs(self) -> tuple[Job, ...]:
        """The jobs it waits for."""
        return tuple(dict.fromkeys(entry.job for entry in self.inputs if entry.job is not None))

    @property
    def text(self) -> str:
        """What it does, in which round and repeat."""
        codes = {ANONYMIZE: "anonymizes", JUDGE: "release_of", ATTACK: "attacks"}
        codes[CREDIT] = "guesses_of" if self.attacker else "guesses_at"
        about = {"team": self.team, "attacker": self.attacker}
        step = Message(f"word.{codes.get(self.kind, self.kind)}", about)
        return in_round(step.stored(), self.round, self.repeat)

    def __str__(self) -> str:
        return str(self.text)


def in_round(what: str, name: str, repeat: int) -> str:
    """Add a round and a repeat for people, who count repeats from 1.

    Examples
    --------
    >>> in_round("attack", "pre", 0), in_round("attack", "pre", 1)
    ('attack (pre)', 'attack (pre, repeat 2)')
    """
    code = "job.repeat" if repeat else "job.round"
    return join_stored([what, Message(code, {"round": name, "repeat": repeat + 1}).stored()], " ")


@dataclass(frozen=True)
class Plan:
    """A whole tournament.

    Attributes
    ----------
    rulebook : MethodCall
    seed : int
    entrants : tuple of Entrant
    rounds : tuple of str
    repeats : int
    preparation, phase : Path or None
        An organizer's folder to play on instead of making one; a phase folder whose releases are published already.
    """

    rulebook: MethodCall
    seed: int
    entrants: tuple[Entrant, ...]
    rounds: tuple[str, ...]
    repeats: int = 1
    preparation: Path | None = None
    phase: Path | None = None

    @cached_property
    def rules(self) -> AnyRulebook:
        """The rulebook, with the settings of the organizer's folder if there is one."""
        rulebook: AnyRulebook = self.rulebook.make()
        return rulebook.under(self.facts)

    @cached_property
    def facts(self) -> ContestFacts | None:
        """What the organizer's folder says of itself; None if there is none."""
        folder = self.phase or self.preparation
        return None if folder is None else read_facts(folder / "public", self.rulebook.make().name)

    @cached_property
    def by_team(self) -> Mapping[str, Entrant]:
        return {entrant.team: entrant for entrant in self.entrants}

    @cached_property
    def submitted(self) -> Mapping[Path, SubmittedFiles]:
        """The folders of files that play, in memory: what changes on disk while they are played has no effect."""
        folders = [path for entrant in self.entrants for path in (entrant.release, entrant.guesses)]
        return {path: _read_submission(path) for path in folders if path is not None}

    @cached_property
    def targets(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each team's releases: its number, or one for each table if it submits several."""
        targets: dict[str, tuple[str, ...]] = {}
        if self.phase is not None:
            for record in read_records(self.phase):
                targets[record.team] = (*targets.get(record.team, ()), record.target)
            return targets
        for entrant in self.entrants:
            if entrant.release is not None:
                sources = self.submitted[entrant.release].sources
                entries = tuple(entries_of(self.rules, entrant.team, sources))
                targets[entrant.team] = entries or (entrant.team,)
            elif entrant.anonymizer is not None:
                targets[entrant.team] = (entrant.team,)
        return targets

    @property
    def attackers(self) -> tuple[str, ...]:
        teams = (entrant.team for entrant in self.entrants if entrant.attacks)
        return (*teams, *self.rules.sample_attacks)

    @property
    def unranked(self) -> tuple[str, ...]:
        """Teams that take part without rank or award, by the tournament file or by the organizer's folder."""
        teams = [entrant.team for entrant in self.entrants if entrant.unranked]
        return tuple(dict.fromkeys([*teams, *(self.facts.unranked if self.facts else ())]))

    def seed_of(self, repeat: int) -> int:
        """Return the contest seed of a repeat; the first one's is that of the tournament."""
        if repeat == 0:
            return self.seed
        return int.from_bytes(salt(self.seed, "arena", "repeat", repeat)[:16], "little")

    def code_of(self, role: str) -> tuple[MethodCall, ...]:
        """Return the rulebook and the methods that workers of a role need."""
        tasks = [job.task for job in self.jobs if job.role == role]
        methods = dict.fromkeys(task.method for task in tasks if task.method is not None)
        return (self.rulebook, *methods)

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Every job, in the order they are started as far as what they wait for allows."""
        jobs: list[Job] = []
        for name in self.rounds:
            rulebook: AnyRulebook = self.rulebook.make()
            rules = rulebook if self.facts else rulebook.for_round(name)
            call = MethodCall.of("rulebooks", self.rulebook.name, rules)
            for repeat in range(self.repeats):
                jobs += _RoundJobs(self, call, name, repeat).all_jobs()
        return tuple(sorted(jobs))

    def as_json(self) -> dict[str, Any]:
        """Return the plan as ``run.json`` keeps it."""
        return {
            "rulebook": self.rulebook.as_json(),
            "seed": str(self.seed),
            "rounds": list(self.rounds),
            "repeats": self.repeats,
            "players": [
                {
                    "team": entrant.team,
                    "name": entrant.name,
                    "anonymizer": entrant.anonymizer_text,
                    "attack": entrant.attack_text,
                }
                for entrant in self.entrants
            ],
        }


def _read_submission(path: Path) -> SubmittedFiles:
    """Read the files of a folder that may be judged; those that cannot be read are refused."""
    files = SubmittedFiles([], [])
    sources, refused = list_submission(path)
    files.refused.extend(refused)
    for source in sources:
        try:
            files.sources.append(Source(source.name, source.read_packed()))
        except InputError as error:
            files.refused.append((source.name, error.problems))
    return files


# -- the jobs of a round -------------------------------------------------------------------------------------------------


class _RoundJobs:
    """Makes the jobs of one repeat of a round, from the first to the last."""

    def __init__(self, plan: Plan, rulebook: MethodCall, name: str, repeat: int) -> None:
        self._plan, self._rulebook, self._place = plan, rulebook, (name, repeat)
        organizer = plan.phase or plan.preparation
        self._files = read_folder(organizer) if organizer is not None else {}

    def all_jobs(self) -> Iterator[Job]:
        plan = self._plan
        yield (prepare := self._prepare())
        judged: dict[str, Job] = {}
        for team in plan.targets:
            *earlier, judged[team] = self._releases(prepare, team)
            yield from (*earlier, judged[team])
        for team, targets in plan.targets.items():
            for target in targets:
                attacks = [
                    self._attack(prepare, judged[team], target, attacker)
                    for attacker in plan.attackers
                    if attacker != team and self._plays_method(attacker)
                ]
                answer = Input("answer", judged[team], f"answer-{target}")
                guesses = [
                    Input(f"guess {attack.attacker}", attack, "guess", is_required=False)
                    for attack in attacks
                ]
                yield from (*attacks, self._job(4, CREDIT, target, "", answer, *guesses))
        for entrant in plan.entrants:
            if entrant.guesses is not None:
                others = {team: job for team, job in judged.items() if team != entrant.team}
                yield self._score_submitted(prepare, others, entrant.team, entrant.guesses)

    def _plays_method(self, attacker: str) -> bool:
        by_team = self._plan.by_team
        return attacker not in by_team or by_team[attacker].attack is not None

    def _job(
        self, stage: int, kind: str, team: str, attacker: str, *inputs: Input, **settings: Any
    ) -> Job:
        task = Task(kind, self._rulebook, team=team, attacker=attacker, **settings)
        return Job(stage, *self._place, team, attacker, task, inputs)

    def _players_job(
        self, stage: int, kind: str, team: str, attacker: str, method: MethodCall, *inputs: Input
    ) -> Job:
        """Return a player's job; nobody can compute the contest seed from its seed."""
        name, repeat = self._place
        names = ("arena", name, kind, team, attacker)
        seed = int.from_bytes(salt(self._plan.seed_of(repeat), *names)[:16], "little")
        return self._job(stage, kind, team, attacker, *inputs, method=method, seed=str(seed))

    def _prepare(self) -> Job:
        plan = self._plan
        if plan.phase is not None:
            folders = ("public", "attackers", "teams")
            return self._job(0, PREPARE, "", "", self._organizer(folders))
        if plan.preparation is not None:
            return self._job(0, PREPARE, "", "", self._organizer())
        seed, teams = str(plan.seed_of(self._place[1])), tuple(plan.targets)
        unranked = tuple(team for team in plan.unranked if team in teams)
        return self._job(0, PREPARE, "", "", seed=seed, teams=teams, unranked=unranked)

    def _releases(self, prepare: Job, team: str) -> Iterator[Job]:
        """Yield the jobs that make and judge the releases of a team."""
        plan = self._plan
        if plan.phase is not None:
            folders = [
                f"{kind}/{target}"
                for target in plan.targets[team]
                for kind in ("targets", "answers")
            ]
            yield self._job(2, JUDGE, team, "", self._organizer(("public", *folders)))
            return
        entrant, handout = plan.by_team[team], Input(HANDOUT, prepare, handout_tree(team))
        if entrant.anonymizer is not None:
            anonymize = self._players_job(1, ANONYMIZE, team, "", entrant.anonymizer, handout)
            yield anonymize
            release = Input("release", anonymize, "release")
        else:
            release = self._submitted("release", entrant.release)
        parts = ("public", "attackers", "secret", f"teams/{team}")
        preparation = Input("preparation", prepare, "preparation", parts)
        yield self._job(2, JUDGE, team, "", preparation, release)

    def _organizer(self, folders: Sequence[str] = ()) -> Input:
        """Return the files of the organizer's folder, or of some folders in it."""
        return Input("organizer", files=_in_folders(self._files, folders))

    def _submitted(self, role: str, path: Path | None) -> Input:
        assert path is not None
        sources = self._plan.submitted[path].sources
        return Input(role, files={source.name: source.read_packed() for source in sources})

    def _attack(self, prepare: Job, judge: Job, target: str, attacker: str) -> Job:
        inputs = [
            Input("target", judge, target_tree(target)),
            Input("attackers", prepare, ATTACKERS_TREE),
            Input("part", judge, target_tree(target, part_folder(attacker)), is_required=False),
        ]
        if self._plan.rules.attackers_use_handouts:
            inputs.append(Input(HANDOUT, prepare, handout_tree(attacker), is_required=False))
        entrant = self._plan.by_team.get(attacker)
        if entrant is None:  # the organizers' own attacks have randomness that anybody can repeat
            return self._job(3, ATTACK, target, attacker, *inputs)
        assert entrant.attack is not None
        return self._players_job(3, ATTACK, target, attacker, entrant.attack, *inputs)

    def _score_submitted(
        self, prepare: Job, judged: Mapping[str, Job], attacker: str, guesses: Path
    ) -> Job:
        inputs = [
            Input("attackers", prepare, ATTACKERS_TREE),
            self._submitted("submitted", guesses),
        ]
        for team, judge in judged.items():
            for target in self._plan.targets[team]:
                answer = f"answer-{target}"
                inputs += [
                    Input(f"target {target}", judge, target_tree(target), is_required=False),
                    Input(f"answer {target}", judge, answer, is_required=False),
                ]
        return self._job(4, CREDIT, "", attacker, *inputs)


def _in_folders(files: Files, folders: Sequence[str]) -> Files:
    prefixes = tuple(f"{folder}/" for folder in folders) or ("",)
    return {name: data for name, data in files.items() if name.startswith(prefixes)}


# -- make a plan ---------------------------------------------------------------------------------------------------------


def make_plan(
    rulebook: AnyRulebook,
    entrants: Sequence[Entrant],
    seed: int,
    *,
    rounds: Sequence[str] = (),
    repeats: int = 1,
    preparation: Path | None = None,
    phase: Path | None = None,
) -> Plan:
    """Make a plan; raise UsageError for rounds, folders and methods that do not fit the rulebook."""
    for name in rounds:
        if name not in rulebook.rounds:
            known = list(rulebook.rounds)
            raise UsageError(
                "error.no_round", rulebook=rulebook.name, name=repr(name), rounds=known
            )
    for entrant in entrants:
        for call in (entrant.anonymizer, entrant.attack):
            if call is not None and (reason := misfit(type(rulebook), call.make())):
                message = Message("error.method_misfit", {"method": call.name, "reason": reason})
                raise UsageError(message, at=_player(entrant))
    plan = Plan(
        MethodCall.of("rulebooks", rulebook.name, rulebook),
        seed,
        tuple(entrants),
        tuple(rounds) or (rulebook.round_name,),
        repeats,
        preparation,
        phase,
    )
    if preparation is not None or phase is not None:
        plan = _on_folders(plan, rounds)
    if not plan.targets:
        raise UsageError("error.nobody_anonymizes")
    largest = max(plan.targets, key=int)
    if int(largest) > rulebook.max_teams:
        raise UsageError(
            "error.largest_team",
            at=Message("error.team", {"name": largest}),
            rulebook=rulebook.name,
            most=rulebook.max_teams,
        )
    releases = sum(map(len, plan.targets.values()))
    attacks = len(plan.rounds) * plan.repeats * releases * len(plan.attackers)
    if attacks > _MAX_ATTACKS:
        raise UsageError("error.attacks_many", count=attacks, most=_MAX_ATTACKS)
    return plan


def _player(entrant: Entrant) -> Message:
    return Message("error.player", {"name": repr(entrant.name)})


def _on_folders(plan: Plan, rounds: Sequence[str]) -> Plan:
    """Return the plan of a round whose data exist: with its settings, its name, and all of its teams."""
    facts = plan.facts
    if plan.phase is not None and (facts is None or not facts.commitments):
        raise UsageError("error.folder_of", at=f"phase = {str(plan.phase)!r}", verb="publish")
    if facts is None:
        place = f"preparation = {str(plan.preparation)!r}"
        raise UsageError("error.folder_of", at=place, verb="prepare")
    if plan.repeats > 1 or len(rounds) > 1:
        raise UsageError("error.one_round")
    if tuple(rounds) not in ((), (facts.round,)):
        raise UsageError("error.other_round", theirs=repr(facts.round), ours=repr(rounds[0]))
    if plan.phase is not None:
        _check_phase(plan, plan.phase, facts)
    for entrant in plan.entrants:
        if entrant.anonymizes and entrant.team not in facts.teams:
            teams = list(facts.teams)
            raise UsageError("error.team_not_there", name=repr(entrant.team), teams=teams)
    missing = [Entrant(team, f"team {team}") for team in facts.teams if team not in plan.by_team]
    entrants = sorted((*plan.entrants, *missing), key=lambda entrant: by_number(entrant.team))
    return replace(plan, entrants=tuple(entrants), rounds=(facts.round,))


def _check_phase(plan: Plan, phase: Path, facts: ContestFacts) -> None:
    """Check that a phase folder is of this preparation and was published from these releases."""
    if plan.preparation is not None:
        commitments = plan.preparation / "public" / COMMITMENTS_FILE
        if digest(read_file(commitments)) != facts.commitments:
            raise UsageError("error.other_preparation", at=f"phase = {str(phase)!r}")
    for entrant in plan.entrants:
        if entrant.anonymizer is not None:
            raise UsageError("error.published_already", at=_player(entrant))
        if entrant.release is not None:
            entries = entries_of(plan.rules, entrant.team, plan.submitted[entrant.release].sources)
            files = [source for sources in entries.values() for source in sources]
            submitted = {source.name: source.read_packed() for source in files}
            if _published_from(phase, entrant.team) != submitted:
                raise UsageError("error.other_release", at=_player(entrant))


def _published_from(phase: Path, team: str) -> Files:
    """Return the submitted files that a team's releases in a phase folder were made from."""
    folders = [
        path
        for path in (phase / "answers").glob(f"{team}*/{SUBMITTED}")
        if team_of(path.parent.name) == team
    ]
    return {name: data for folder in folders for name, data in read_folder(folder).items()}
