"""Where what a team was given tells of the others' releases, its attacks get its own handout, and nobody else's."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.reading import attempt

from kakurenbo import arena
from kakurenbo.arena import jobs
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ATTACK, HANDOUT, Task, perform
from kakurenbo.arena.runner import play, read_inputs, task_of
from kakurenbo.arena.store import ResultStore
from kakurenbo.attacks.reconstruction import RatingsKnowledge
from kakurenbo.contest import Files
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024

pytestmark = pytest.mark.slow

BOOK = Pwscup2024(scale="small", data="embedded")
TEAMS = ("01", "02", "03")


def the_plan() -> arena.Plan:
    """Three who hide and attack, and one who was given nothing and attacks."""
    attack = MethodCall.parsed("attacks", "posterior:identification=sample")
    hide = MethodCall.parsed("anonymizers", "permute_columns")
    entrants = [arena.Entrant(team, f"team {team}", hide, attack) for team in TEAMS]
    return arena.make_plan(BOOK, [*entrants, arena.Entrant("04", "attacks only", attack=attack)], 3)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    play(the_plan(), ResultStore(out), arena.processes(1), arena.Settings())
    return out


@dataclass(frozen=True)
class Order:
    """An attack as a worker gets it."""

    task: Task
    inputs: dict[str, Files]


@pytest.fixture(scope="module")
def attacks(run: Path) -> list[Order]:
    plan, store = the_plan(), ResultStore(run)
    results = play(plan, store, arena.processes(1), arena.Settings())
    return [
        Order(task_of(job, results), read_inputs(job, results, store))
        for job in plan.jobs
        if job.kind == ATTACK
    ]


def knowledge_of(order: Order) -> RatingsKnowledge:
    known = jobs.open_target(order.task, order.inputs, None)[order.task.team].knowledge
    assert isinstance(known, RatingsKnowledge)
    return known


def candidates(run: Path, team: str) -> set[str]:
    """Digests of the tables that a team was given."""
    (folder,) = {path.parent for path in (run / "jobs").rglob(f"teams/{team}/handout/Bi*-1.csv")}
    read = attempt(BOOK.read_handout, folder)
    return {table.digest() for table in read.value.candidates}  # type: ignore[union-attr]


def test_an_attacker_knows_the_candidates_that_it_was_given_and_no_other(
    run: Path, attacks: list[Order]
) -> None:
    given = {team: candidates(run, team) for team in TEAMS}
    assert all(len(tables) == 3 for tables in given.values())
    by_team = [order for order in attacks if order.task.attacker in TEAMS]
    assert len(by_team) == 3 * 2
    for order in by_team:
        known = {table.digest() for table in knowledge_of(order).siblings}
        assert known == given[order.task.attacker]


def test_nothing_that_an_attack_reads_holds_what_another_team_was_given(
    run: Path, attacks: list[Order]
) -> None:
    files = {
        team: [path.read_bytes() for path in (run / "jobs").rglob(f"teams/{team}/handout/Bi*.csv")]
        for team in TEAMS
    }
    assert all(len(of_team) == 3 * 11 for of_team in files.values())
    for order in attacks:
        read = {data for folder in order.inputs.values() for data in folder.values()}
        for team in set(TEAMS) - {order.task.attacker}:
            assert not read & set(files[team]), (order.task.attacker, team)
        sent = pickle.dumps(order.task)
        assert b"secret" not in sent
        assert str(run).encode() not in sent


def test_the_organizers_attack_and_who_was_given_nothing_know_what_was_published_alone(
    attacks: list[Order],
) -> None:
    others = [order for order in attacks if order.task.attacker not in TEAMS]
    assert {order.task.attacker for order in others} == {"04", "sample attack"}
    for order in others:
        assert HANDOUT not in order.task.inputs
        assert knowledge_of(order).siblings == ()


def test_no_handout_is_left_in_the_memory_of_a_process_that_attacks(
    run: Path, attacks: list[Order]
) -> None:
    handouts = {path.read_bytes() for path in (run / "jobs").rglob("teams/*/handout/Bi*.csv")}
    for memory in (jobs._TARGETS, jobs._TABLES):
        memory.forget()
    for order in attacks:
        assert perform(order.task, order.inputs).state == "done"
        shared = [files for role, files in order.inputs.items() if role != HANDOUT]
        assert not any(set(files.values()) & handouts for files in shared)
    assert jobs._TARGETS._values
    for targets in jobs._TARGETS._values.values():
        assert all(targets[name].knowledge.siblings == () for name in targets)


def test_two_processes_make_the_same_guesses_as_one(run: Path, tmp_path: Path) -> None:
    play(the_plan(), ResultStore(tmp_path), arena.processes(2), arena.Settings())
    one, two = (
        {path.relative_to(at): path.read_bytes() for path in at.rglob("files/guess/*")}
        for at in (run, tmp_path)
    )
    assert len(one) == 3 * (2 + 1 + 1)
    assert one == two
