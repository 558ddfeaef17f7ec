"""Playing a plan: the same bytes on any executor, failures that stop nobody, nothing lost and nothing repeated."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.arena import jobs
from kakurenbo.arena.calls import Call
from kakurenbo.arena.field import Entrant
from kakurenbo.arena.jobs import ATTACK, PREPARE, RELEASE
from kakurenbo.arena.plan import Job
from kakurenbo.arena.running import Settings, Tally, play
from kakurenbo.arena.store import Result, Store
from kakurenbo.errors import UsageError
from kakurenbo.registry import load


def entrants(*pairs: tuple[str, str]) -> tuple[Entrant, ...]:
    return tuple(
        Entrant(
            f"{number:02d}",
            f"player {number}",
            Call.parsed("anonymizers", anonymizer) if anonymizer else None,
            Call.parsed("attacks", attack) if attack else None,
        )
        for number, (anonymizer, attack) in enumerate(pairs, start=1)
    )


def plan_of(*pairs: tuple[str, str], seed: int = 5, repeats: int = 1) -> arena.Plan:
    return arena.make_plan(load("rulebooks", "hide-and-seek")(size=20), entrants(*pairs), seed, repeats=repeats)


FIELD = (("blur:reach=1", "link"), ("blur:reach=5", "link-blindly"), ("blur:reach=9", "link"))


class Played:
    """Counts what is really played, as opposed to found in the store."""

    def __init__(self) -> None:
        self.tally = Tally(0)
        self.started: list[Job] = []
        self.ended: dict[Job, Result] = {}

    def __call__(self, tally: Tally, job: Job | None, result: Result | None) -> None:
        self.tally = tally
        if job is not None and result is None:
            self.started.append(job)
        elif job is not None and result is not None:
            self.ended[job] = result


def hold(
    plan: arena.Plan, out: Path, workers: arena.Workers | None = None, **settings: object
) -> tuple[arena.Tournament, Played]:
    told = Played()
    held = arena.hold(plan, out, workers or arena.serial(), Settings(**settings), told)  # type: ignore[arg-type]
    return held, told


def documents(out: Path) -> dict[str, bytes]:
    """What a run gave: the documents, and every file of every job."""
    kept = {name: (out / name).read_bytes() for name in ("results.json", "results.csv")}
    for path in sorted((out / "store").rglob("*")):
        if path.is_file() and path.name != "meta.json":
            kept[path.relative_to(out).as_posix()] = path.read_bytes()
    return kept


@pytest.mark.usefixtures("plugins")
def test_one_process_and_three_give_the_same_bytes(tmp_path: Path) -> None:
    plan = plan_of(*FIELD, repeats=2)
    hold(plan, tmp_path / "serial")
    hold(plan, tmp_path / "pool", arena.processes(3))
    assert documents(tmp_path / "serial") == documents(tmp_path / "pool")


@pytest.mark.usefixtures("plugins")
def test_everybody_attacks_everybody_else_and_so_does_the_sample_attack(tmp_path: Path) -> None:
    held, told = hold(plan_of(*FIELD), tmp_path / "run")
    assert set(held.results["rounds"][0]["accuracy"]["02"]) == {"01", "03", "sample attack"}
    assert told.tally.done == told.tally.total == 1 + 3 + 3 + 3 * 3
    assert held.results["rounds"][0]["accuracy"]["01"]["sample attack"]["mean"] > 0.8
    assert held.results["rounds"][0]["chance"]["mean"] == pytest.approx(1 / 20)
    assert held.results["standings"]["anonymization"][0]["rank"] == 1
    assert held.results["standings"]["anonymization"][-1]["note"] == "disqualified", "a reach of 9 moves people too far"


@pytest.mark.usefixtures("plugins")
def test_a_second_start_repeats_nothing(tmp_path: Path) -> None:
    hold(plan_of(*FIELD), tmp_path / "run")
    before = documents(tmp_path / "run")
    _, told = hold(plan_of(*FIELD), tmp_path / "run")
    assert not told.started
    assert told.tally.stored == told.tally.total
    assert documents(tmp_path / "run") == before


@pytest.mark.usefixtures("plugins")
def test_a_team_that_joins_later_leaves_the_others_results_valid(tmp_path: Path) -> None:
    hold(plan_of(*FIELD), tmp_path / "run")
    _, told = hold(plan_of(*FIELD, ("blur:reach=3", "link")), tmp_path / "run")
    attacks = {(job.team, job.attacker) for job in told.started if job.kind == ATTACK}
    assert attacks == {(team, "04") for team in ("01", "02", "03")} | {
        ("04", who) for who in ("01", "02", "03", "sample attack")
    }


@pytest.mark.usefixtures("plugins")
def test_another_parameter_or_seed_is_another_job(tmp_path: Path) -> None:
    hold(plan_of(*FIELD), tmp_path / "run")
    _, other_seed = hold(plan_of(*FIELD, seed=6), tmp_path / "run")
    assert len(other_seed.started) == other_seed.tally.total
    _, other_parameter = hold(plan_of(("blur:reach=2", "link"), *FIELD[1:]), tmp_path / "run")
    assert {job.team for job in other_parameter.started if job.kind == RELEASE} == {"01"}
    assert PREPARE not in {job.kind for job in other_parameter.started}


@pytest.mark.usefixtures("plugins")
def test_a_job_that_raises_is_shown_with_its_cause_and_the_others_go_on(tmp_path: Path) -> None:
    held, told = hold(plan_of(*FIELD, ("", "broken")), tmp_path / "run")
    failed = [failure for failure in held.results["failures"] if failure["state"] == "failed"]
    assert {failure["team"] for failure in failed} == {"01", "02", "03"}
    assert failed[0]["cause"].startswith("IndexError: list <index> out of range (misbehaving.py:")
    assert told.tally.failed == 3
    assert held.results["rounds"][0]["accuracy"]["01"]["03"]["of"] == 20


@pytest.mark.usefixtures("plugins")
def test_a_release_against_the_rules_is_refused_and_nobody_attacks_it(tmp_path: Path) -> None:
    held, told = hold(plan_of(*FIELD, ("leave-out", "link")), tmp_path / "run")
    release = held.results["rounds"][0]["releases"]["04"]
    assert release["state"] == "refused"
    assert "19 records" in release["cause"]
    assert "04" not in held.results["rounds"][0]["accuracy"]
    assert told.tally.skipped == 1 + 4, "its publication and the attacks on it"
    assert {failure["cause"] for failure in held.results["failures"] if failure["state"] == "skipped"} == {
        f"release of 04 (round): {release['cause']}"
    }


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize("workers", [arena.serial(), arena.processes(2)], ids=["serial", "processes"])
def test_a_job_past_its_time_limit_fails_and_gets_another_chance_under_a_longer_one(
    tmp_path: Path, workers: arena.Workers
) -> None:
    plan = plan_of(("blur", "sleepy:seconds=0.6"), ("blur:reach=2", "link"))
    held, _ = hold(plan, tmp_path / "run", workers, limit=0.25)
    assert [failure["cause"] for failure in held.results["failures"]] == ["it took longer than its time limit of 0.25 s"]
    _, again = hold(plan, tmp_path / "run", workers, limit=0.25)
    assert not again.started
    held, longer = hold(plan, tmp_path / "run", workers, limit=20.0)
    assert len(longer.started) == 1
    assert not held.results["failures"]


@pytest.mark.usefixtures("plugins")
def test_a_job_that_cannot_be_interrupted_loses_its_process_and_nobody_else_loses_anything(tmp_path: Path) -> None:
    plan = plan_of(("blur", "deaf"), ("blur:reach=2", "link"))
    begun = time.monotonic()
    held, _ = hold(plan, tmp_path / "run", arena.processes(2), limit=2.0)
    assert time.monotonic() - begun < 40
    assert [(failure["attacker"], failure["cause"]) for failure in held.results["failures"]] == [
        ("01", "it took longer than its time limit of 2 s")
    ]


@pytest.mark.usefixtures("plugins")
def test_a_job_that_kills_its_worker_is_given_up_and_the_others_play_on(tmp_path: Path) -> None:
    plan = plan_of(("blur", "deadly"), ("blur:reach=2", "link"))
    held, told = hold(plan, tmp_path / "run", arena.processes(2))
    assert [(failure["attacker"], failure["state"]) for failure in held.results["failures"]] == [("01", "failed")]
    assert "process died" in held.results["failures"][0]["cause"]
    assert told.tally.done == told.tally.total - 1


@pytest.mark.usefixtures("plugins")
def test_a_worker_that_is_killed_once_loses_nothing(tmp_path: Path) -> None:
    plan = plan_of(("blur", f"unlucky:marker={tmp_path / 'marker'}"), ("blur:reach=2", "link"))
    held, _ = hold(plan, tmp_path / "run", arena.processes(2))
    assert (tmp_path / "marker").exists()
    assert not held.results["failures"]


@pytest.mark.usefixtures("plugins")
def test_failed_jobs_are_played_again_when_asked(tmp_path: Path) -> None:
    plan = plan_of(*FIELD[:2], ("", "broken"))
    hold(plan, tmp_path / "run")
    _, again = hold(plan, tmp_path / "run", retry_failed=True)
    assert {job.attacker for job in again.started} == {"03"}


@pytest.mark.usefixtures("plugins")
def test_stored_files_that_were_damaged_are_made_again(tmp_path: Path) -> None:
    plan = plan_of(*FIELD)
    hold(plan, tmp_path / "run")
    before = documents(tmp_path / "run")
    store = Store(tmp_path / "run" / "store")
    found = play(plan, store, arena.serial(), Settings())
    released = next(result for job, result in found.items() if job.kind == RELEASE and job.team == "02")
    (store.tree(released.key, "release") / "release.csv").write_text("damaged\n")
    for job, result in found.items():
        if job.kind == ATTACK and job.team == "02":
            store.drop(result.key)
    jobs._memory.clear()  # a worker that has read the files before does not read them again
    hold(plan, tmp_path / "run")
    assert documents(tmp_path / "run") == before


@pytest.mark.usefixtures("plugins")
def test_folders_of_submitted_files_play_like_methods(tmp_path: Path) -> None:
    hold(plan_of(*FIELD), tmp_path / "methods")
    store = Store(tmp_path / "methods" / "store")
    found = play(plan_of(*FIELD), store, arena.serial(), Settings())
    folders = {}
    for name in ("release", "guesses"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
    for job, result in found.items():
        if job.kind == RELEASE and job.team == "02":
            (folders["release"] / "release.csv").write_bytes((store.tree(result.key, "release") / "release.csv").read_bytes())
        if job.kind == ATTACK and job.attacker == "02":
            (folders["guesses"] / f"{job.team}.csv").write_bytes((store.tree(result.key, "guess") / "guess").read_bytes())
    first, _, third = entrants(*FIELD)
    second = Entrant("02", "files", release=folders["release"], guesses=folders["guesses"])
    rulebook = load("rulebooks", "hide-and-seek")(size=20)
    by_files, _ = hold(arena.make_plan(rulebook, (first, second, third), 5), tmp_path / "files")
    by_methods = json.loads((tmp_path / "methods" / "results.json").read_bytes())
    assert by_files.results["rounds"][0]["accuracy"] == by_methods["rounds"][0]["accuracy"]
    assert by_files.results["standings"] == by_methods["standings"]


@pytest.mark.usefixtures("plugins")
def test_repeats_give_means_and_intervals(tmp_path: Path) -> None:
    held, _ = hold(plan_of(*FIELD, repeats=3), tmp_path / "run")
    cell = held.results["rounds"][0]["accuracy"]["02"]["01"]
    assert cell["n"] == 3
    assert cell["low"] <= cell["mean"] <= cell["high"]
    line = held.results["standings"]["anonymization"][0]
    low, high = line["interval"]
    assert low <= line["score"] <= high
    assert len(held.results["manifest"]["seeds"]) == 3
    assert held.results["manifest"]["seeds"]["0"] == "5"


@pytest.mark.usefixtures("plugins")
def test_a_second_run_is_kept_out_of_the_folder_of_the_first(tmp_path: Path) -> None:
    from kakurenbo.arena.running import locked

    with locked(tmp_path / "run"):
        (tmp_path / "run" / "run.json").write_text("{}")
        with pytest.raises(UsageError, match="another run"):
            hold(plan_of(*FIELD), tmp_path / "run")


@pytest.mark.usefixtures("plugins")
def test_a_folder_that_no_run_wrote_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="no run wrote"):
        hold(plan_of(*FIELD), tmp_path)


@pytest.mark.usefixtures("plugins")
def test_methods_of_another_rulebook_and_unknown_rounds_are_refused() -> None:
    rulebook = load("rulebooks", "hide-and-seek")()
    assert arena.make_plan(rulebook, entrants(("rr", "link")), 1).jobs, "rr takes any table of integers and categories"
    with pytest.raises(UsageError, match="rr does not fit the tables of hide-and-seek: there is no column 'sex'"):
        arena.make_plan(rulebook, entrants(("rr:columns=sex", "link")), 1)
    with pytest.raises(UsageError, match="crowds does not play hide-and-seek"):
        arena.make_plan(rulebook, entrants(("crowds", "link")), 1)
    with pytest.raises(UsageError, match="nearest does not play hide-and-seek"):
        arena.make_plan(rulebook, entrants(("rr", "nearest")), 1)
    with pytest.raises(UsageError, match="no round 'main'; there are only"):
        arena.make_plan(rulebook, entrants(("blur", "link")), 1, rounds=("main",))
    with pytest.raises(UsageError, match="nobody anonymizes"):
        arena.make_plan(rulebook, entrants(("", "link")), 1)
