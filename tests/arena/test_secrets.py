"""No answer is ever in the process that runs an attack: what a hostile attack finds that looks everywhere."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.dispatch import Dispatcher
from kakurenbo.arena.requests import PlayerRequest
from kakurenbo.arena.running import play
from kakurenbo.arena.store import Stores
from kakurenbo.registry import load

SEED = 271828182845904523536028747135266249775


def the_plan(loot: Path) -> arena.Plan:
    loot.mkdir()
    snoop = MethodCall.parsed("attacks", f"snoop:loot={loot}")
    entrants = [
        arena.Entrant(f"{number:02d}", f"player {number}", MethodCall("anonymizers", "keep-all"), snoop) for number in (1, 2, 3)
    ]
    return arena.make_plan(load("rulebooks", "hide-and-seek")(), entrants, SEED)


@pytest.fixture
def found(plugins: Path, tmp_path: Path, request: pytest.FixtureRequest) -> set[str]:
    """Everything that the attacks found, as texts: numbers, sorted arrays, strings, bytes and whole files."""
    assert plugins.is_dir()
    workers = arena.processes(request.param)
    arena.play_tournament(the_plan(tmp_path / "loot"), tmp_path / "run", workers, arena.Settings())
    looted = list((tmp_path / "loot").iterdir())
    assert len(looted) == 6, "each of three attacked two others"
    return {text for path in looted for text in pickle.loads(path.read_bytes())}


@pytest.mark.parametrize("found", [1, 2], indirect=True)
def test_an_attack_that_walks_memory_open_files_and_folders_finds_no_answer_no_handout_and_no_seed(
    found: set[str], tmp_path: Path
) -> None:
    answers = list((tmp_path / "run" / "secret").rglob("members.csv"))
    assert len(answers) >= 3
    for path in answers:
        members = [int(line) for line in path.read_text().split()]
        assert not any(text in found for text in (repr(path.read_bytes()), repr(path.read_text()), repr(sorted(members))))
    handouts = list((tmp_path / "run" / "teams").rglob("hidden.csv"))
    assert len(handouts) == 2 * 3, "what was given and what was released"
    assert not {repr(path.read_bytes()) for path in handouts} & found
    assert not any(str(SEED) in text for text in found)
    assert not any("/run/secret" in text or "/run/teams" in text for text in found)


@pytest.mark.parametrize("found", [2], indirect=True)
def test_it_does_find_what_was_published(found: set[str], tmp_path: Path) -> None:
    """So that finding nothing means something."""
    published = list((tmp_path / "run" / "store").rglob("hidden.csv"))
    assert len(published) == 3
    assert {repr(path.read_bytes()) for path in published} <= found
    towns = list((tmp_path / "run" / "store").rglob("town.csv"))
    assert {repr(path.read_bytes()) for path in towns} <= found


@pytest.mark.usefixtures("plugins")
def test_what_players_are_sent_holds_no_contest_seed_no_answer_and_no_secret_path(here: arena.Workers, tmp_path: Path) -> None:
    plan, stores = the_plan(tmp_path / "loot"), Stores(tmp_path / "run")
    results = play(plan, stores, here, arena.Settings())
    dispatcher = Dispatcher(plan, stores, results, None)
    requests = [dispatcher.request(job) for job in plan.jobs]
    sent = [request for request in requests if isinstance(request, PlayerRequest)]
    assert len(sent) == 3 + 3 * 3
    for request in sent:
        data = pickle.dumps(request)
        assert str(SEED).encode() not in data
        assert SEED.to_bytes(17, "little").rstrip(b"\0") not in data
        assert b"secret" not in data
        assert (b"/teams/" in data) == (request.kind == "anonymize"), "attacks do not even know where handouts are"
    seeds = [request.seed for request in sent if request.seed]
    assert len(set(seeds)) == len(seeds), "every job has a seed of its own"
