"""The plan of a tournament: every job, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ANONYMIZE, ATTACK, CREDIT, JUDGE, PREPARE
from kakurenbo.arena.store import OPEN, SECRET, TEAMS
from kakurenbo.arena.teams_file import Entrant
from kakurenbo.contest import AnyRulebook, Files, by_number, misfit, read_facts, team_of
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.engine import SUBMITTED
from kakurenbo.contest.folders import ContestFacts
from kakurenbo.contest.rounds import read_records
from kakurenbo.contest.submissions import RefusedFile, entries_of, list_submission
from kakurenbo.core import InputError, Source, read_file, read_folder
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import salt

JUDGES, ANONYMIZERS, ATTACKERS = "judges", "anonymizers", "attackers"
"""Roles of workers: a process never changes its role."""
_ROLES = {PREPARE: JUDGES, JUDGE: JUDGES, CREDIT: JUDGES, ANONYMIZE: ANONYMIZERS}
_MAX_ATTACKS = 200_000  # of one run; the results of more could not be read again


@dataclass(frozen=True, order=True)
class Job:
    """One job's place in the tournament; the order is the one jobs are started in.

    Attributes
    ----------
    stage : int
    round : str
    repeat : int
        From 0.
    team : str
        Whose release it is about; for attacks and scores the target, ``07`` or ``07-2``.
    attacker : str
    kind : str
    needs : tuple of Job
    """

    stage: int
    round: str
    repeat: int
    team: str
    attacker: str
    kind: str = field(compare=False)
    needs: tuple[Job, ...] = field(default=(), compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.kind, self.round, self.repeat, self.team, self.attacker))

    @property
    def role(self) -> str:
        """Which workers do it."""
        return _ROLES.get(self.kind, ATTACKERS)

    @property
    def root(self) -> str:
        """The store its result is in."""
        if self.kind == ANONYMIZE:
            return f"{TEAMS}/{self.team}"
        return SECRET if self.role == JUDGES else OPEN

    def __str__(self) -> str:
        words = {
            PREPARE: "prepare",
            ANONYMIZE: f"{self.team} anonymizes",
            JUDGE: f"release of {self.team}",
            ATTACK: f"{self.attacker} attacks {self.team}",
            CREDIT: f"guesses of {self.attacker}" if self.attacker else f"guesses at {self.team}",
        }
        return f"{words.get(self.kind, self.kind)} {in_round(self.round, self.repeat)}"


def in_round(name: str, repeat: int) -> str:
    """Return where something happened, for people, who count repeats from 1.

    Examples
    --------
    >>> in_round("pre", 0), in_round("pre", 1)
    ('(pre)', '(pre, repeat 2)')
    """
    return f"({name}, repeat {repeat + 1})" if repeat else f"({name})"


@dataclass(frozen=True)
class SubmittedFolder:
    """A folder of files that a team submitted; other files in it are not looked at.

    Attributes
    ----------
    path : Path
    digests : mapping of name to SHA-256
    refused : list of (name, Problems)
        What is refused before it is judged.
    """

    path: Path
    digests: Mapping[str, str]
    refused: list[RefusedFile]

    @classmethod
    def open(cls, path: Path) -> SubmittedFolder:
        sources, refused = list_submission(path)
        digests = {}
        for source in sources:
            try:
                digests[source.name] = digest(source.read_packed())
            except InputError as error:
                refused.append((source.name, error.problems))
        return cls(path, digests, refused)

    @property
    def sources(self) -> list[Source]:
        return [Source(name, self.path / name) for name in self.digests]

    def read(self) -> Files:
        """Return the files; they must not change while they are played."""
        files = {}
        for source in self.sources:
            try:
                files[source.name] = source.read_packed()
            except InputError:
                files[source.name] = b""
            if digest(files[source.name]) != self.digests[source.name]:
                problem = Message("error.changed_meanwhile", {"name": source.name})
                raise KakurenboError("error.must_not_change", at=self.path, problem=problem)
        return files


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
        """The rulebook, with the settings of the organizer's folder where one is played on."""
        rulebook: AnyRulebook = self.rulebook.make()
        return rulebook.under(self.facts)

    @cached_property
    def facts(self) -> ContestFacts | None:
        """What the organizer's folder says of itself, where one is played on."""
        folder = self.phase or self.preparation
        return None if folder is None else read_facts(folder / "public", self.rulebook.name)

    @cached_property
    def by_team(self) -> Mapping[str, Entrant]:
        return {entrant.team: entrant for entrant in self.entrants}

    @cached_property
    def submitted(self) -> Mapping[Path, SubmittedFolder]:
        """The folders of files that play."""
        folders = [path for entrant in self.entrants for path in (entrant.release, entrant.guesses)]
        return {path: SubmittedFolder.open(path) for path in folders if path is not None}

    @cached_property
    def targets(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each team's releases: its number, or one for each table where it submits several."""
        if self.phase is None:
            teams = [entrant for entrant in self.entrants if entrant.anonymizes]
            return {entrant.team: self._targets(entrant) for entrant in teams}
        targets: dict[str, tuple[str, ...]] = {}
        for record in read_records(self.phase):
            targets[record.team] = (*targets.get(record.team, ()), record.target)
        return targets

    def _targets(self, entrant: Entrant) -> tuple[str, ...]:
        if entrant.release is None:
            return (entrant.team,)
        sources = self.submitted[entrant.release].sources
        return tuple(entries_of(self.rules, entrant.team, sources)) or (entrant.team,)

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

    def seed_for(self, job: Job) -> int:
        """Return a player's seed for a job; nobody can compute the contest seed from it."""
        names = ("arena", job.round, job.kind, job.team, job.attacker)
        return int.from_bytes(salt(self.seed_of(job.repeat), *names)[:16], "little")

    @cached_property
    def rulebook_of(self) -> Mapping[str, MethodCall]:
        """The rulebook as each round is played by it."""
        rulebook: AnyRulebook = self.rulebook.make()
        rules = {name: rulebook if self.facts else rulebook.for_round(name) for name in self.rounds}
        return {
            name: MethodCall.of("rulebooks", self.rulebook.name, rule)
            for name, rule in rules.items()
        }

    def code_of(self, role: str) -> tuple[MethodCall, ...]:
        """Return the rulebook and the methods that workers of a role need."""
        methods = {
            ANONYMIZERS: [entrant.anonymizer for entrant in self.entrants],
            ATTACKERS: [entrant.attack for entrant in self.entrants],
        }.get(role, [])
        return (self.rulebook, *dict.fromkeys(call for call in methods if call is not None))

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Every job, in the order they are started as far as what they wait for allows."""
        rounds = [(name, repeat) for name in self.rounds for repeat in range(self.repeats)]
        return tuple(sorted(job for place in rounds for job in self._jobs_of(*place)))

    def _jobs_of(self, round_: str, repeat: int) -> list[Job]:
        prepare = Job(0, round_, repeat, "", "", PREPARE)
        jobs, judged = [prepare], {}
        for team in self.targets:
            needs: tuple[Job, ...] = (prepare,)
            if self.phase is None and self.by_team[team].anonymizer is not None:
                needs = (prepare, Job(1, round_, repeat, team, "", ANONYMIZE, (prepare,)))
                jobs.append(needs[1])
            judged[team] = Job(2, round_, repeat, team, "", JUDGE, needs)
        jobs += judged.values()
        for team, targets in self.targets.items():
            attackers = [
                attacker
                for attacker in self.attackers
                if attacker != team and self._plays_methods(attacker)
            ]
            for target in targets:
                needs = (prepare, judged[team])
                attacks = [
                    Job(3, round_, repeat, target, attacker, ATTACK, needs)
                    for attacker in attackers
                ]
                scores = Job(4, round_, repeat, target, "", CREDIT, (judged[team], *attacks))
                jobs += [*attacks, scores]
        for entrant in self.entrants:
            if entrant.guesses is not None:
                others = tuple(job for team, job in judged.items() if team != entrant.team)
                jobs.append(Job(4, round_, repeat, "", entrant.team, CREDIT, (prepare, *others)))
        return jobs

    def _plays_methods(self, attacker: str) -> bool:
        return attacker not in self.by_team or self.by_team[attacker].attack is not None

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
            raise UsageError(
                "error.no_round",
                rulebook=rulebook.name,
                name=repr(name),
                rounds=list(rulebook.rounds),
            )
    for entrant in entrants:
        for call in (entrant.anonymizer, entrant.attack):
            if call is not None and (reason := misfit(type(rulebook), call.make())):
                raise UsageError(
                    Message("error.method_misfit", {"method": call.name, "reason": reason}),
                    at=Message("error.player", {"name": repr(entrant.name)}),
                )
    call = MethodCall.of("rulebooks", rulebook.name, rulebook)
    plan = Plan(
        call,
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


def _on_folders(plan: Plan, rounds: Sequence[str]) -> Plan:
    """Return the plan of a round whose data exist: with its settings, its name, and all of its teams."""
    facts = plan.facts
    if facts is None or (plan.phase is not None and not facts.commitments):
        what = (
            ("phase", plan.phase, "publish")
            if plan.phase is not None
            else ("preparation", plan.preparation, "prepare")
        )
        raise UsageError("error.folder_of", at=f"{what[0]} = {str(what[1])!r}", verb=what[2])
    if plan.repeats > 1 or len(rounds) > 1:
        raise UsageError("error.one_round")
    if tuple(rounds) not in ((), (facts.round,)):
        raise UsageError("error.other_round", theirs=repr(facts.round), ours=repr(rounds[0]))
    if plan.phase is not None:
        _check_phase(plan, plan.phase, facts)
    missing = [team for team in facts.teams if team not in plan.by_team]
    unknown = [
        entrant.team
        for entrant in plan.entrants
        if entrant.anonymizes and entrant.team not in facts.teams
    ]
    if unknown:
        raise UsageError("error.team_not_there", name=repr(unknown[0]), teams=list(facts.teams))
    everybody = (*plan.entrants, *(Entrant(team, f"team {team}") for team in missing))
    entrants = sorted(everybody, key=lambda entrant: by_number(entrant.team))
    return Plan(
        plan.rulebook, plan.seed, tuple(entrants), (facts.round,), 1, plan.preparation, plan.phase
    )


def _check_phase(plan: Plan, phase: Path, facts: ContestFacts) -> None:
    """Check that a phase folder is of this preparation and was published from these releases."""
    if plan.preparation is not None:
        commitments = plan.preparation / "public" / COMMITMENTS_FILE
        if digest(read_file(commitments)) != facts.commitments:
            raise UsageError("error.other_preparation", at=f"phase = {str(phase)!r}")
    for entrant in plan.entrants:
        if entrant.anonymizer is not None:
            raise UsageError(
                "error.published_already", at=Message("error.player", {"name": repr(entrant.name)})
            )
        if entrant.release is not None:
            submitted = plan.submitted[entrant.release]
            entries = entries_of(plan.rules, entrant.team, submitted.sources)
            counting = {source.name for sources in entries.values() for source in sources}
            digests = {name: sha for name, sha in submitted.digests.items() if name in counting}
            if _published_from(phase, entrant.team) != digests:
                raise UsageError(
                    "error.other_release", at=Message("error.player", {"name": repr(entrant.name)})
                )


def _published_from(phase: Path, team: str) -> dict[str, str]:
    """Return the digests of the files that a team's releases in a phase folder were made from."""
    folders = [
        path
        for path in (phase / "answers").glob(f"{team}*/{SUBMITTED}")
        if team_of(path.parent.name) == team
    ]
    return {name: digest(data) for folder in folders for name, data in read_folder(folder).items()}
