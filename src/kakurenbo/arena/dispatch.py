"""From a job of the plan to the request that a worker takes, under the content hash of all that the job depends on.

The hash covers the bytes of the inputs, not the history behind them: a team that joins later leaves the others' releases and
attacks valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kakurenbo.arena.judging import part_place, target_place
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.requests import (
    ANONYMIZE,
    ATTACK,
    CREDIT,
    JUDGE,
    OWN,
    PREPARE,
    HandedIn,
    JudgeRequest,
    PlayerRequest,
    Request,
    Tree,
)
from kakurenbo.arena.store import DONE, OPEN, TEAMS, Result, Stores, content_hash, tree_digest
from kakurenbo.contest.facts import part_folder
from kakurenbo.core import read_folder

FORMAT = 2  # raise when jobs come to mean something else


class Dispatcher:
    """Makes the requests of a plan.

    Parameters
    ----------
    plan : Plan
    stores : Stores
    found : mapping of Job to Result
        The results so far; what a job needs must be in it when its request is asked for.
    limit : float or None
        Seconds that a player's job may take.
    """

    def __init__(
        self, plan: Plan, stores: Stores, found: Mapping[Job, Result], limit: float | None
    ) -> None:
        self._plan, self._stores, self._found, self._limit = plan, stores, found, limit
        self._made: dict[Job, Request] = {}
        self._given: dict[Path, Tree] = {}

    def request(self, job: Job) -> Request:
        """The job as a worker takes it, now that what it waits for is there."""
        if job not in self._made:
            self._made[job] = self._KINDS.get(job.kind, Dispatcher._nothing)(self, job)
        return self._made[job]

    # -- the judge's jobs ----------------------------------------------------------------------------------------------

    def _prepare(self, job: Job) -> Request:
        folder = (
            {"phase": self._plan.phase}
            if self._plan.phase is not None
            else {"preparation": self._plan.preparation}
        )
        inputs = {role: self._folder(path) for role, path in folder.items() if path is not None}
        teams = tuple(self._plan.targets)
        made = {
            "seed": str(self._plan.seed_of(job.repeat)),
            "teams": teams,
            "unranked": self._unranked(teams),
        }
        return self._judges(job, inputs=inputs, **({} if inputs else made))

    def _judge(self, job: Job) -> Request:
        if self._plan.phase is not None:
            return self._judges(
                job, team=job.team, inputs={"phase": self._folder(self._plan.phase)}
            )
        prepare, *anonymize = job.needs
        inputs = {"preparation": self._own(prepare, "preparation")}
        if anonymize:
            return self._judges(
                job, team=job.team, inputs={**inputs, "release": self._own(anonymize[0], "release")}
            )
        return self._judges(
            job,
            team=job.team,
            inputs=inputs,
            submitted=self._submitted(self._plan.by_team[job.team].release),
        )

    def _credit(self, job: Job) -> Request:
        if job.attacker:
            return self._credit_submitted(job)
        judge, *attacks = job.needs
        done = [attack for attack in attacks if self._found[attack].state == DONE]
        return self._judges(
            job,
            team=job.team,
            answers={job.team: self._own(judge, f"answer-{job.team}")},
            guesses={attack.attacker: self._own(attack, "guess") for attack in done},
        )

    def _credit_submitted(self, job: Job) -> Request:
        prepare, *judges = job.needs
        published = [
            (judge, target)
            for judge in judges
            for target in self._found[judge].value.get("targets", ())
        ]
        return self._judges(
            job,
            attacker=job.attacker,
            inputs={"attackers": self._handed_out(prepare, f"{OPEN}/attackers")},
            submitted=self._submitted(self._plan.by_team[job.attacker].guesses),
            targets={
                target: self._handed_out(judge, target_place(target)) for judge, target in published
            },
            answers={target: self._own(judge, f"answer-{target}") for judge, target in published},
        )

    def _judges(self, job: Job, **fields: Any) -> Request:
        request = JudgeRequest(
            out=str(self._stores.out.resolve()),
            store=self._store(job),
            key="",
            kind=job.kind,
            rulebook=self._plan.rulebook_of[job.round],
            **fields,
        )
        trees = {
            name: {role: tree.digest for role, tree in getattr(request, name).items()}
            for name in ("inputs", "guesses", "targets", "answers")
        }
        plain = {
            name: getattr(request, name)
            for name in ("seed", "team", "attacker", "teams", "unranked")
        }
        submitted = request.submitted.digests if request.submitted else ()
        return replace(request, key=self._key(request, {**plain, **trees, "submitted": submitted}))

    def _unranked(self, teams: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(team for team in self._plan.unranked if team in teams)

    # -- the players' jobs ---------------------------------------------------------------------------------------------

    def _anonymize(self, job: Job) -> Request:
        (prepare,) = job.needs
        handout = self._handed_out(prepare, f"{TEAMS}/{job.team}/handout")
        request = PlayerRequest(
            store=self._store(job),
            key="",
            kind=job.kind,
            rulebook=self._plan.rulebook_of[job.round],
            seed=str(self._plan.seed_for(job)),
            method=self._plan.by_team[job.team].anonymizer,
            inputs={"handout": handout},
            limit=self._limit,
        )
        return self._keyed(request, {"handout": self._found[prepare].value["handouts"][job.team]})

    def _attack(self, job: Job) -> Request:
        prepare, judge = job.needs
        entrant = self._plan.by_team.get(job.attacker)
        part = part_place(job.team, part_folder(job.attacker))
        dealt = (
            {"part": self._handed_out(judge, part)} if part in self._found[judge].handed_out else {}
        )
        own = self._own_handout(prepare, job.attacker)
        request = PlayerRequest(
            store=self._store(job),
            key="",
            kind=job.kind,
            rulebook=self._plan.rulebook_of[job.round],
            # The organizers' own attacks have randomness that anybody can repeat, and the time they take.
            seed=str(self._plan.seed_for(job)) if entrant is not None else "",
            method=entrant.attack if entrant is not None else None,
            target=job.team,
            attacker=job.attacker,
            inputs={
                "target": self._handed_out(judge, target_place(job.team)),
                "attackers": self._handed_out(prepare, f"{OPEN}/attackers"),
                **dealt,
                **own,
            },
            limit=self._limit if entrant is not None else None,
        )
        seen = {
            "target": self._found[judge].value["targets"][job.team],
            "attackers": self._found[prepare].value["attackers"],
        }
        if own:
            seen[OWN] = self._found[prepare].value["handouts"][job.attacker]
        return self._keyed(request, seen | {role: tree.digest for role, tree in dealt.items()})

    def _own_handout(self, prepare: Job, attacker: str) -> Mapping[str, Tree]:
        """What the attacker itself was given to anonymize, where that is of use to its attacks; nobody else's."""
        place = f"{TEAMS}/{attacker}/handout"
        of_use = (
            self._plan.rules.attackers_use_handouts and place in self._found[prepare].handed_out
        )
        return {OWN: self._handed_out(prepare, place)} if of_use else {}

    def _nothing(self, job: Job) -> Request:
        request = PlayerRequest(
            self._store(job), "", job.kind, self._plan.rulebook_of[job.round], target=job.team
        )
        return self._keyed(request, {})

    def _keyed(self, request: PlayerRequest, seen: Mapping[str, str]) -> Request:
        content = {
            "seed": request.seed,
            "method": request.method.identity() if request.method else None,
            "target": request.target,
            "attacker": request.attacker,
            "inputs": seen,
        }
        return replace(request, key=self._key(request, content))

    _KINDS: Mapping[str, Callable[[Dispatcher, Job], Request]] = {
        PREPARE: _prepare,
        JUDGE: _judge,
        CREDIT: _credit,
        ANONYMIZE: _anonymize,
        ATTACK: _attack,
    }

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _store(self, job: Job) -> str:
        return str(self._stores.at(job.root).path.resolve())

    def _key(self, request: Request, content: Mapping[str, Any]) -> str:
        fixed = {"format": FORMAT, "kind": request.kind, "rulebook": request.rulebook.identity()}
        return content_hash({**fixed, **content})

    def _own(self, need: Job, name: str) -> Tree:
        result = self._found[need]
        return Tree(
            str(self._stores.at(need.root).tree(result.key, name).resolve()), result.trees[name]
        )

    def _handed_out(self, need: Job, place: str) -> Tree:
        result = self._found[need]
        return Tree(
            str(self._stores.handed_out(result.key, place).resolve()), result.handed_out[place]
        )

    def _submitted(self, folder: Path | None) -> HandedIn | None:
        return None if folder is None else self._plan.handed_in[folder][0]

    def _folder(self, path: Path) -> Tree:
        """An organizer's folder; its digest is taken once, and a worker that finds another says so."""
        if path not in self._given:
            self._given[path] = Tree(str(path), tree_digest(read_folder(path)))
        return self._given[path]


def obstacle(job: Job, need: Job, result: Result) -> str:
    """Why a job cannot be played after what it waits for has ended; empty where it can."""
    if job.kind == CREDIT and (need.kind == ATTACK or (need.kind == JUDGE and job.attacker)):
        return ""  # an attack or a release that did not come about costs nobody else
    about_target = need.kind == JUDGE and job.kind in (ATTACK, CREDIT)
    if result.state == DONE and (not about_target or job.team in result.value["targets"]):
        return ""
    causes = [
        record["cause"]
        for record in result.value.get("records", ())
        if record["target"] == job.team
    ]
    return f"{need}: {causes[0] if causes else result.cause}" if result.key else result.cause
