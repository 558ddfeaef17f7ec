"""Where what a team was given tells of the others' releases, its attacks get its own handout, and nobody else's."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from tests.reading import attempt

from kakurenbo import arena
from kakurenbo.arena import playing
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.dispatch import Dispatcher
from kakurenbo.arena.requests import ATTACK, OWN, PlayerRequest
from kakurenbo.arena.running import play
from kakurenbo.arena.store import Stores
from kakurenbo.attacks.reconstruction import RatingsKnowledge
from kakurenbo.core import read_folder
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
    play(the_plan(), Stores(out), arena.processes(1), arena.Settings())
    return out


@pytest.fixture(scope="module")
def attacks(run: Path) -> list[PlayerRequest]:
    plan, stores = the_plan(), Stores(run)
    dispatcher = Dispatcher(
        plan, stores, play(plan, stores, arena.processes(1), arena.Settings()), None
    )
    requests = [dispatcher.request(job) for job in plan.jobs if job.kind == ATTACK]
    return [request for request in requests if isinstance(request, PlayerRequest)]


def knowledge_of(request: PlayerRequest) -> RatingsKnowledge:
    known = playing._Seen.read(request).knowledge
    assert isinstance(known, RatingsKnowledge)
    return known


def candidates(run: Path, team: str) -> set[str]:
    """Digests of the tables that a team was given."""
    (folder,) = {path.parent for path in (run / "teams" / team).rglob("Bi*-1.csv")}
    read = attempt(BOOK.read_handout, folder)
    return {table.digest() for table in read.value.candidates}  # type: ignore[union-attr]


def test_an_attacker_knows_the_candidates_that_it_was_given_and_no_other(
    run: Path, attacks: list[PlayerRequest]
) -> None:
    given = {team: candidates(run, team) for team in TEAMS}
    assert all(len(tables) == 3 for tables in given.values())
    by_team = [request for request in attacks if request.attacker in TEAMS]
    assert len(by_team) == 3 * 2
    for request in by_team:
        assert {table.digest() for table in knowledge_of(request).siblings} == given[
            request.attacker
        ]


def test_nothing_that_an_attack_reads_holds_what_another_team_was_given(
    run: Path, attacks: list[PlayerRequest]
) -> None:
    files = {
        team: [path.read_bytes() for path in (run / "teams" / team).rglob("Bi*.csv")]
        for team in TEAMS
    }
    assert all(len(of_team) == 3 * 11 for of_team in files.values())
    for request in attacks:
        read = {
            data
            for tree in request.inputs.values()
            for data in read_folder(Path(tree.path)).values()
        }
        for team in set(TEAMS) - {request.attacker}:
            assert not read & set(files[team]), (request.attacker, team)
        known = pickle.dumps(request)
        assert b"secret" not in known
        assert {team for team in TEAMS if f"/teams/{team}/".encode() in known} <= {request.attacker}


def test_the_organizers_attack_and_who_was_given_nothing_know_what_was_published_alone(
    attacks: list[PlayerRequest],
) -> None:
    others = [request for request in attacks if request.attacker not in TEAMS]
    assert {request.attacker for request in others} == {"04", "sample attack"}
    for request in others:
        assert OWN not in request.inputs
        assert knowledge_of(request).siblings == ()


def test_no_handout_is_left_in_the_memory_of_a_process_that_attacks(
    attacks: list[PlayerRequest],
) -> None:
    playing._TARGETS.forget()
    playing._TABLES.forget()
    for request in attacks:
        playing.attack(request)
    for seen in playing._TARGETS._values.values():
        assert seen.knowledge.siblings == ()
    remembered = pickle.dumps(list(playing._TABLES._values))
    assert not any(f"/teams/{team}/".encode() in remembered for team in TEAMS)


def test_two_processes_make_the_same_guesses_as_one(run: Path, tmp_path: Path) -> None:
    play(the_plan(), Stores(tmp_path), arena.processes(2), arena.Settings())
    one, two = (
        {path.relative_to(at): path.read_bytes() for path in at.rglob("files/guess/*")}
        for at in (run, tmp_path)
    )
    assert len(one) == 3 * (2 + 1 + 1)
    assert one == two
