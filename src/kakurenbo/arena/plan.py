"""The plan of a tournament: every job, what it waits for, and the content hash of all that it depends on.

The hash covers the bytes of the inputs, not the history behind them: a team that joins later leaves the others' results valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kakurenbo.arena.calls import Call
from kakurenbo.arena.field import AnyRulebook, Entrant
from kakurenbo.arena.jobs import ATTACK, GUESSES, PREPARE, PUBLISH, RELEASE, Request, Tree
from kakurenbo.arena.store import DONE, Result, Store, content_hash, read_tree, tree_digest
from kakurenbo.contracts import misfit
from kakurenbo.errors import UsageError
from kakurenbo.rng import salt

FORMAT = 1  # raise when jobs come to mean something else


@dataclass(frozen=True, order=True)
class Job:
    """One job's place in the tournament; the order is the one jobs are started in."""

    stage: int
    round: str
    repeat: int
    team: str
    attacker: str
    kind: str = field(compare=False)
    needs: tuple[Job, ...] = field(default=(), compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.kind, self.round, self.repeat, self.team, self.attacker))

    def __str__(self) -> str:
        words = {
            PREPARE: "prepare",
            RELEASE: f"release of {self.team}",
            PUBLISH: f"publish {self.team}",
            ATTACK: f"{self.attacker} attacks {self.team}",
            GUESSES: f"guesses of {self.attacker}",
        }
        again = f", repeat {self.repeat + 1}" if self.repeat else ""
        return f"{words.get(self.kind, self.kind)} ({self.round}{again})"


@dataclass(frozen=True)
class Plan:
    """A whole tournament.

    Attributes
    ----------
    rulebook : Call
    seed : int
    entrants : tuple of Entrant
    rounds : tuple of str
    repeats : int
    preparation : Path or None
        An organizer's folder to play on instead of making one.
    """

    rulebook: Call
    seed: int
    entrants: tuple[Entrant, ...]
    rounds: tuple[str, ...]
    repeats: int = 1
    preparation: Path | None = None

    def __post_init__(self) -> None:
        if self.preparation is not None and (self.repeats > 1 or len(self.rounds) > 1):
            raise UsageError("an organizer's folder holds one round: play it with one round and without --repeat")
        if not any(entrant.anonymizes for entrant in self.entrants):
            raise UsageError("nobody anonymizes; give at least one player an anonymizer or a release")

    @cached_property
    def rules(self) -> AnyRulebook:
        rulebook: AnyRulebook = self.rulebook.make()
        return rulebook

    @cached_property
    def by_team(self) -> Mapping[str, Entrant]:
        return {entrant.team: entrant for entrant in self.entrants}

    @property
    def anonymizers(self) -> tuple[str, ...]:
        return tuple(entrant.team for entrant in self.entrants if entrant.anonymizes)

    @property
    def attackers(self) -> tuple[str, ...]:
        return (*(entrant.team for entrant in self.entrants if entrant.attacks), *self.rules.sample_attacks)

    def seed_of(self, repeat: int) -> int:
        """The contest seed of a repeat; the first one's is the seed that was asked for."""
        return self.seed if repeat == 0 else int.from_bytes(salt(self.seed, "arena", "repeat", repeat)[:16], "little")

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Every job, in the order they are started as far as what they wait for allows."""
        found: list[Job] = []
        for round_ in self.rounds:
            for repeat in range(self.repeats):
                found.extend(self._jobs_of(round_, repeat))
        return tuple(sorted(found))

    def _jobs_of(self, round_: str, repeat: int) -> list[Job]:
        prepare = Job(0, round_, repeat, "", "", PREPARE)
        releases = {team: Job(1, round_, repeat, team, "", RELEASE, (prepare,)) for team in self.anonymizers}
        targets = {team: Job(2, round_, repeat, team, "", PUBLISH, (prepare, job)) for team, job in releases.items()}
        attacks = []
        for attacker in self.attackers:
            entrant = self.by_team.get(attacker)
            if entrant is not None and entrant.guesses is not None:
                others = tuple(job for team, job in targets.items() if team != attacker)
                attacks.append(Job(3, round_, repeat, "", attacker, GUESSES, others))
                continue
            attacks += [
                Job(3, round_, repeat, team, attacker, ATTACK, (job,)) for team, job in targets.items() if team != attacker
            ]
        return [prepare, *releases.values(), *targets.values(), *attacks]

    def request(self, job: Job, found: Mapping[Job, Result], store: Store, limit: float | None, *, mortal: bool) -> Request:
        """The job as a worker takes it, now that what it waits for is there."""
        rulebook = self.rulebook_of(job.round)
        inputs = self._inputs(job, found, store)
        method = self._method(job)
        request = Request(
            store=str(store.path.resolve()),
            key="",
            kind=job.kind,
            rulebook=rulebook,
            seed=str(self.seed_of(job.repeat)),
            stream=("arena", job.round, job.kind, job.team, job.attacker),
            team=job.team,
            attacker=job.attacker,
            teams=self._teams(job, found),
            method=method,
            inputs=inputs,
            limit=limit,
            mortal=mortal,
        )
        return replace(request, key=self._key(request, self._content(job, found, inputs)))

    def rulebook_of(self, round_: str) -> Call:
        return Call.of("rulebooks", self.rulebook.name, self.rules.for_round(round_)) if self.rounds_named else self.rulebook

    @property
    def rounds_named(self) -> bool:
        """Whether the rounds are the rulebook's own; a single nameless one is played as the rulebook stands."""
        return self.rounds != ("round",)

    def _method(self, job: Job) -> Call | None:
        if job.kind == RELEASE:
            return self.by_team[job.team].anonymizer
        return self.by_team[job.attacker].attack if job.kind == ATTACK and job.attacker in self.by_team else None

    def _teams(self, job: Job, found: Mapping[Job, Result]) -> tuple[str, ...]:
        if job.kind == PREPARE:
            return self.anonymizers
        return tuple(need.team for need in job.needs if found[need].state == DONE) if job.kind == GUESSES else ()

    def _inputs(self, job: Job, found: Mapping[Job, Result], store: Store) -> dict[str, Tree]:
        def made(need: Job, tree: str) -> Tree:
            return Tree(str(store.tree(found[need].key, tree).resolve()), found[need].trees[tree])

        entrant = self.by_team.get(job.team if job.kind == RELEASE else job.attacker)
        if job.kind == PREPARE:
            return {} if self.preparation is None else {"preparation": _given(self.preparation)}
        if job.kind == RELEASE:
            handout = {"handout": made(job.needs[0], f"handout-{job.team}")}
            return handout | ({"submitted": _given(entrant.release)} if entrant and entrant.release else {})
        if job.kind == PUBLISH:
            return {"preparation": made(job.needs[0], "all"), "release": made(job.needs[1], "release")}
        there = [need for need in job.needs if found[need].state == DONE]
        inputs = {f"release-{need.team}": made(need.needs[1], "release") for need in there}
        if there:
            inputs["preparation"] = made(there[0].needs[0], "all")
        return inputs | ({"submitted": _given(entrant.guesses)} if entrant and entrant.guesses else {})

    def _content(self, job: Job, found: Mapping[Job, Result], inputs: Mapping[str, Tree]) -> dict[str, str]:
        """Digests of what decides a job's result: for attacks what was published, not the whole preparation behind it."""
        if job.kind not in (ATTACK, GUESSES):
            return {role: tree.digest for role, tree in inputs.items()}
        published = {
            f"{part}-{need.team}": found[need].trees[part]
            for need in job.needs
            if found[need].state == DONE
            for part in ("public", "secret")
        }
        return published | {role: tree.digest for role, tree in inputs.items() if role == "submitted"}

    def _key(self, request: Request, content: Mapping[str, str]) -> str:
        return content_hash(
            {
                "format": FORMAT,
                "kind": request.kind,
                "rulebook": request.rulebook.identity(),
                "seed": request.seed,
                "stream": request.stream,
                "team": request.team,
                "attacker": request.attacker,
                "teams": request.teams,
                "method": request.method.identity() if request.method else None,
                "inputs": content,
            }
        )

    def as_json(self) -> dict[str, Any]:
        """The plan as ``run.json`` keeps it."""
        return {
            "rulebook": self.rulebook.as_json(),
            "seed": str(self.seed),
            "rounds": list(self.rounds),
            "repeats": self.repeats,
            "players": [entrant.as_json() for entrant in self.entrants],
        }


def make_plan(
    rulebook: AnyRulebook,
    entrants: Sequence[Entrant],
    seed: int,
    *,
    rounds: Sequence[str] = (),
    repeats: int = 1,
    preparation: Path | None = None,
) -> Plan:
    """A plan, checked: rounds exist, and methods with their parameters play this rulebook."""
    for name in rounds:
        if name not in rulebook.rounds:
            raise UsageError(f"{rulebook.name} has no round {name!r}; there are {', '.join(rulebook.rounds)}")
    for entrant in entrants:
        for call in (entrant.anonymizer, entrant.attack):
            if call is not None and (reason := misfit(type(rulebook), call.make())):
                raise UsageError(f"player {entrant.name!r}: {call.name} {reason}")
    call = Call.of("rulebooks", rulebook.name, rulebook)
    return Plan(call, seed, tuple(entrants), tuple(rounds) or ("round",), repeats, preparation)


def _given(folder: Path) -> Tree:
    return Tree(str(folder), tree_digest(read_tree(folder)))
