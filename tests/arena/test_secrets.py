"""No answer is ever in the process that runs an attack: what a hostile attack finds that looks everywhere."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ANONYMIZE, ATTACK
from kakurenbo.arena.runner import play, read_inputs, task_of
from kakurenbo.arena.store import ResultStore
from kakurenbo.methods.registry import load

SEED = 271828182845904523536028747135266249775


def the_plan(loot: Path) -> arena.Plan:
    """Three who hide, and a snoop who attacks them."""
    loot.mkdir()
    hidden = [
        arena.Entrant(f"{number:02d}", "", MethodCall("anonymizers", "keep-all"))
        for number in (1, 2, 3)
    ]
    entrants = [
        *hidden,
        arena.Entrant("04", "snoop", attack=MethodCall.parsed("attacks", f"snoop:loot={loot}")),
    ]
    return arena.make_plan(load("rulebooks", "hide-and-seek")(), entrants, SEED)


@pytest.fixture(params=[1, 2], ids=["one job at a time", "two"])
def found(plugins: Path, tmp_path: Path, request: pytest.FixtureRequest) -> set[object]:
    """Everything that the attacks found: numbers, sorted arrays, texts, bytes and whole files."""
    assert plugins.is_dir()
    workers = arena.processes(request.param)
    arena.play_tournament(the_plan(tmp_path / "loot"), tmp_path / "run", workers, arena.Settings())
    looted = list((tmp_path / "loot").iterdir())
    assert len(looted) == 3, "one for each target"
    return {thing for path in looted for thing in pickle.loads(path.read_bytes())}


def test_an_attack_that_walks_memory_open_files_and_folders_finds_no_answer_no_handout_and_no_seed(
    found: set[object], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    answers = list((run / "jobs").rglob("members.csv"))
    assert len(answers) >= 3
    for path in answers:
        members = tuple(sorted(int(line) for line in path.read_text().split()))
        assert not {path.read_bytes(), path.read_text(), members} & found
    handouts = [
        path
        for pattern in ("sample.csv", "release_*.csv")
        for path in (run / "jobs").rglob(pattern)
        if path.parent.name in ("handout", "release")
    ]
    assert len(handouts) == 2 * 3, "what was given and what was released"
    assert not {path.read_bytes() for path in handouts} & found
    assert SEED not in found
    texts = [
        thing.decode(errors="replace") if isinstance(thing, bytes) else str(thing)
        for thing in found
    ]
    for secret in (str(SEED), str(run / "jobs")):
        assert not any(secret in text for text in texts), secret
    # So that finding nothing means something: it does find what was published.
    for name, count in (("release_*.csv", 3), ("population.csv", 1)):
        published = [
            path for path in (run / "jobs").rglob(name) if path.parent.parent.name == "store"
        ]
        assert len(published) == count
        assert {path.read_bytes() for path in published} <= found


@pytest.mark.usefixtures("plugins")
def test_what_players_are_sent_holds_no_contest_seed_no_answer_and_no_secret_path(
    here: arena.Workers, tmp_path: Path
) -> None:
    plan, store = the_plan(tmp_path / "loot"), ResultStore(tmp_path / "run")
    results = play(plan, store, here, arena.Settings())
    sent = [job for job in plan.jobs if job.kind in (ANONYMIZE, ATTACK)]
    assert len(sent) == 3 + 3 * 2
    handouts = {path.read_bytes() for path in (tmp_path / "run" / "jobs").rglob("sample.csv")}
    for job in sent:
        folders = read_inputs(job, results, store)
        data = pickle.dumps((task_of(job, results), folders))
        assert str(SEED).encode() not in data
        assert SEED.to_bytes(17, "little").rstrip(b"\0") not in data
        assert str(tmp_path / "run").encode() not in data, "no path of the run"
        assert b"secret" not in data
        files = {content for files in folders.values() for content in files.values()}
        assert bool(files & handouts) == (job.kind == ANONYMIZE)
    seeds = [job.task.seed for job in sent if job.task.seed]
    assert len(set(seeds)) == len(seeds), "every job has a seed of its own"
