"""Playing a plan: the same bytes on any executor, failures that stop nobody, nothing lost and nothing repeated."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kakurenbo import arena
from kakurenbo.arena import pool
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ANONYMIZE, ATTACK, CREDIT, JUDGE, PREPARE
from kakurenbo.arena.plan import Job
from kakurenbo.arena.runner import Settings, Tally, play
from kakurenbo.arena.store import Result, ResultStore
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.methods.registry import load

Entrant = arena.Entrant


def entrants(*pairs: tuple[str, str]) -> tuple[Entrant, ...]:
    return tuple(
        Entrant(
            f"{number:02d}",
            f"player {number}",
            MethodCall.parsed("anonymizers", anonymizer) if anonymizer else None,
            MethodCall.parsed("attacks", attack) if attack else None,
        )
        for number, (anonymizer, attack) in enumerate(pairs, start=1)
    )


def plan_of(
    *pairs: tuple[str, str], seed: int = 5, repeats: int = 1, rulebook: str = "hide-and-seek"
) -> arena.Plan:
    return arena.make_plan(
        load("rulebooks", rulebook)(size=20), entrants(*pairs), seed, repeats=repeats
    )


FIELD = (("blur:reach=1", "nearest"), ("blur:reach=5", "blind"), ("blur:reach=20", "nearest"))


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


Play = Callable[..., tuple[arena.Tournament, Played]]


@pytest.fixture
def play_plan(plugins: Path, here: arena.Workers) -> Play:
    """Plays a plan in a folder, in this process unless told otherwise."""
    assert plugins.is_dir()

    def run(
        plan: arena.Plan, out: Path, workers: arena.Workers = here, **settings: Any
    ) -> tuple[arena.Tournament, Played]:
        told = Played()
        return arena.play_tournament(plan, out, workers, Settings(**settings), told), told

    return run


def missing(*_: object) -> None:
    """Fail where it is called."""
    raise OSError


def documents(out: Path) -> dict[str, bytes]:
    """What a run gave: the documents, and every file of every job."""
    kept = {name: (out / name).read_bytes() for name in ("results.json", "results.csv")}
    for path in sorted((out / "jobs").rglob("*")):
        if path.is_file() and path.name != "meta.json":
            kept[path.relative_to(out).as_posix()] = path.read_bytes()
    return kept


def test_one_job_at_a_time_and_three_give_the_same_bytes(play_plan: Play, tmp_path: Path) -> None:
    plan = plan_of(*FIELD, repeats=2)
    play_plan(plan, tmp_path / "here")
    for count in (1, 3):
        play_plan(plan, tmp_path / f"pool-{count}", arena.processes(count))
        assert documents(tmp_path / f"pool-{count}") == documents(tmp_path / "here")


def test_everybody_attacks_everybody_else_and_so_does_the_sample_attack(
    play_plan: Play, tmp_path: Path
) -> None:
    played, told = play_plan(plan_of(*FIELD), tmp_path / "run")
    (entry,) = played.document.rounds
    assert set(entry.attacks["02"]) == {"01", "03", "sample attack"}
    assert Counter(job.kind for job in told.started) == {
        PREPARE: 1,
        ANONYMIZE: 3,
        JUDGE: 3,
        ATTACK: 9,
        CREDIT: 3,
    }
    assert told.tally.done == told.tally.total == 19
    assert entry.attacks["01"]["sample attack"].accuracy.mean > 0.8
    assert entry.chance is not None
    assert entry.chance.mean == 1 / 2
    assert played.document.standings()["anonymization"][0]["rank"] == 1
    last = played.document.standings()["anonymization"][-1]
    assert (last["team"], last["rank"], last["note"]) == ("03", None, "disqualified"), (
        "a reach of 20 moves people too far"
    )
    assert set(entry.attacks["03"]) == {"01", "02", "sample attack"}, (
        "but it is attacked all the same"
    )


def test_each_release_is_checked_measured_and_published_once(
    play_plan: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    play_plan(plan_of(*FIELD, rulebook="counted"), tmp_path / "run", arena.processes(2))
    noted = [line.split() for line in (tmp_path / "counted").read_text().splitlines()]
    counts = Counter(what for what, _ in noted)
    assert counts == {"anonymize": 3, "check": 3, "measure": 3, "publish": 3, "guess": 9}
    by = {what: {process for noted_what, process in noted if noted_what == what} for what in counts}
    judges, attackers = by["check"] | by["measure"] | by["publish"], by["guess"]
    assert not judges & attackers, "the judge and the attackers have processes of their own"
    assert not by["anonymize"] & (judges | attackers), "and so have those who see handouts"


def test_a_second_start_repeats_nothing(play_plan: Play, tmp_path: Path) -> None:
    play_plan(plan_of(*FIELD), tmp_path / "run")
    before = documents(tmp_path / "run")
    _, told = play_plan(plan_of(*FIELD), tmp_path / "run")
    assert not told.started
    assert told.tally.stored == told.tally.total
    assert documents(tmp_path / "run") == before


def test_a_team_that_joins_later_leaves_the_others_releases_and_attacks_valid(
    play_plan: Play, tmp_path: Path
) -> None:
    play_plan(plan_of(*FIELD), tmp_path / "run")
    larger = plan_of(*FIELD, ("blur:reach=3", "nearest"))
    _, told = play_plan(larger, tmp_path / "run", replace_results=True)
    attacks = {(job.team, job.attacker) for job in told.started if job.kind == ATTACK}
    assert attacks == {(team, "04") for team in ("01", "02", "03")} | {
        ("04", who) for who in ("01", "02", "03", "sample attack")
    }
    assert [job.team for job in told.started if job.kind == ANONYMIZE] == ["04"]
    play_plan(larger, tmp_path / "at-once")
    assert (tmp_path / "at-once" / "results.csv").read_bytes() == (
        tmp_path / "run" / "results.csv"
    ).read_bytes()


def test_another_parameter_or_seed_is_another_job(play_plan: Play, tmp_path: Path) -> None:
    play_plan(plan_of(*FIELD), tmp_path / "run")
    _, other_seed = play_plan(plan_of(*FIELD, seed=6), tmp_path / "run", replace_results=True)
    assert len(other_seed.started) == other_seed.tally.total
    changed = plan_of(("blur:reach=2", "nearest"), *FIELD[1:])
    _, other_parameter = play_plan(changed, tmp_path / "run", replace_results=True)
    assert {job.team for job in other_parameter.started if job.kind in (ANONYMIZE, JUDGE)} == {"01"}
    assert PREPARE not in {job.kind for job in other_parameter.started}


def test_a_job_that_raises_is_shown_with_its_cause_and_the_others_go_on(
    play_plan: Play, tmp_path: Path
) -> None:
    played, told = play_plan(plan_of(*FIELD, ("", "broken")), tmp_path / "run")
    failed = played.document.failed("failed")
    assert [(failure.what, failure.team) for failure in failed] == [
        (f"04 attacks {target} (only)", "04") for target in ("01", "02", "03")
    ]
    assert failed[0].cause.startswith("IndexError: list <index> out of range (misbehaving.py:")
    assert told.tally.failed == 3
    assert played.document.rounds[0].attacks["01"]["03"].of == 10


LEAVING = {
    "exit 0": "SystemExit: 0 (misbehaving.py:",
    "exit 7": "SystemExit: 7 (misbehaving.py:",
    "interrupt": "KeyboardInterrupt (misbehaving.py:",
    "generator": "GeneratorExit (misbehaving.py:",
    "unspeakable": "_Unspeakable: its message cannot be read (SystemExit) (misbehaving.py:",
    "damage": "a stored folder was changed after it was written",
}


@pytest.mark.parametrize("count", [0, 1])
def test_a_method_that_exits_or_interrupts_costs_its_own_job_and_the_run_goes_on(
    play_plan: Play, here: arena.Workers, tmp_path: Path, count: int
) -> None:
    leaving = [("", f"leave:way={way}") for way in LEAVING]
    plan = plan_of(*FIELD[:2], *leaving, ("leave-early:way=exit 7", ""))
    played, told = play_plan(plan, tmp_path / "run", arena.processes(count) if count else here)
    failed = {
        (failure.what, failure.team): failure.cause for failure in played.document.failed("failed")
    }
    expected = {
        (f"{number:02d} attacks {target} (only)", f"{number:02d}"): cause
        for number, cause in enumerate(LEAVING.values(), start=3)
        for target in ("01", "02")
    }
    for early in ("09 anonymizes (only)", "release of 09 (only)"):
        assert "SystemExit: 7 (misbehaving.py:" in failed.pop((early, "09"))
    assert failed.keys() == expected.keys()
    assert all(failed[job].startswith(cause) for job, cause in expected.items()), failed
    assert told.tally.failed == 2 * len(LEAVING) + 1
    assert set(played.document.rounds[0].attacks["01"]) == {"02", "sample attack"}


@pytest.mark.filterwarnings("error")
def test_an_attack_that_returns_no_guess_or_no_numbers_fails_in_one_short_sentence(
    play_plan: Play, tmp_path: Path
) -> None:
    mumbling = [("", f"mumble:what={what}") for what in ("text", "nothing", "nan")]
    played, _ = play_plan(plan_of(FIELD[0], *mumbling), tmp_path / "run")
    assert {failure.team: failure.cause for failure in played.document.failed("failed")} == {
        "02": "the attack did not return a guess of this contest (got str)",
        "03": "the attack did not return a guess of this contest (got NoneType)",
        "04": "parameter 'rows' must be whole numbers; got nan",
    }


def test_a_guess_against_the_rules_costs_itself_alone(play_plan: Play, tmp_path: Path) -> None:
    played, _ = play_plan(plan_of(*FIELD, ("", "babble")), tmp_path / "run")
    assert {(failure.team, failure.file) for failure in played.document.failed("refused")} == {
        ("04", f"guess of 04 at {target}") for target in ("01", "02", "03")
    }
    assert set(played.document.rounds[0].attacks["01"]) == {"02", "03", "sample attack"}


def test_a_release_against_the_rules_is_refused_and_nobody_attacks_it(
    play_plan: Play, tmp_path: Path
) -> None:
    played, told = play_plan(plan_of(*FIELD, ("leave-out", "nearest")), tmp_path / "run")
    release = played.document.rounds[0].releases["04"]
    assert (release.state, release.verdict) == ("refused", "refused")
    assert "the number of records is 9" in release.cause
    assert "04" not in played.document.rounds[0].attacks
    assert told.tally.skipped == 4 + 1, "the attacks on it, and their credit"
    (refused,) = played.document.failed("refused")
    assert (refused.team, refused.file, refused.cause) == ("04", "release_04.csv", release.cause)
    assert {failure.cause for failure in played.document.failed("skipped")} == {
        f"release of 04 (only): {release.cause}"
    }


def test_a_job_past_its_time_limit_fails_and_gets_another_chance_under_a_longer_one(
    play_plan: Play, tmp_path: Path
) -> None:
    plan, workers = (
        plan_of(("blur", "sleepy:seconds=1.2"), ("blur:reach=2", "blind")),
        arena.processes(2),
    )
    played, _ = play_plan(plan, tmp_path / "run", workers, limit=0.6)
    late = [failure.cause for failure in played.document.failed("failed") if failure.team == "01"]
    assert late == ["it took longer than its time limit of 0.6 s"]
    _, again = play_plan(plan, tmp_path / "run", workers, limit=0.6)
    assert not again.started
    played, longer = play_plan(plan, tmp_path / "run", workers, limit=60.0)
    assert {job.kind for job in longer.started} == {ATTACK, CREDIT}
    assert not played.document.failures


def test_a_job_that_cannot_be_interrupted_loses_its_process_and_nobody_else_loses_anything(
    play_plan: Play, tmp_path: Path
) -> None:
    plan = plan_of(("blur", "deaf"), ("blur:reach=2", "blind"))
    begun = time.monotonic()
    played, _ = play_plan(plan, tmp_path / "run", arena.processes(2), limit=2.0)
    assert time.monotonic() - begun < 60
    assert [(failure.team, failure.cause) for failure in played.document.failures] == [
        ("01", "it took longer than its time limit of 2 s")
    ]


def test_a_job_that_kills_its_worker_is_given_up_and_the_others_play_on(
    play_plan: Play, tmp_path: Path
) -> None:
    plan = plan_of(("blur", "deadly"), ("blur:reach=2", "blind"))
    played, told = play_plan(plan, tmp_path / "run", arena.processes(2))
    (failure,) = played.document.failures
    assert (failure.team, failure.state) == ("01", "failed")
    assert "process died" in failure.cause
    assert told.tally.done == told.tally.total - 1


def test_a_worker_that_is_killed_once_loses_nothing(play_plan: Play, tmp_path: Path) -> None:
    plan = plan_of(("blur", f"unlucky:marker={tmp_path / 'marker'}"), ("blur:reach=2", "blind"))
    played, _ = play_plan(plan, tmp_path / "run", arena.processes(2))
    assert (tmp_path / "marker").exists()
    assert not played.document.failures


def test_workers_that_cannot_even_start_end_the_run_in_a_sentence(
    play_plan: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_set_up", missing)  # a process that ends at once
    with pytest.raises(KakurenboError, match="the workers are gone"):
        play_plan(plan_of(*FIELD), tmp_path / "run", arena.processes(2))


def test_failed_jobs_are_played_again_when_asked(play_plan: Play, tmp_path: Path) -> None:
    plan = plan_of(*FIELD[:2], ("", "broken"))
    play_plan(plan, tmp_path / "run")
    _, again = play_plan(plan, tmp_path / "run", retry_failed=True)
    assert {job.attacker for job in again.started} == {"03"}


@pytest.mark.parametrize(("name", "lost"), [("store/target-02", ATTACK), ("answer-02", CREDIT)])
def test_stored_files_that_were_damaged_are_made_again(
    play_plan: Play, here: arena.Workers, tmp_path: Path, name: str, lost: str
) -> None:
    plan = plan_of(*FIELD)
    play_plan(plan, tmp_path / "run")
    before = documents(tmp_path / "run")
    store = ResultStore(tmp_path / "run")
    found = play(plan, store, here, Settings())
    judged = next(result for job, result in found.items() if job.kind == JUDGE and job.team == "02")
    folder = store.folder(judged.key) / "files" / name
    next(file for file in folder.iterdir() if file.suffix == ".csv").write_text("damaged\n")
    for job, result in found.items():
        if job.kind == lost and job.team == "02":
            store.drop(result.key)
    play_plan(plan, tmp_path / "run")
    assert documents(tmp_path / "run") == before


def test_repeats_give_means_and_intervals(play_plan: Play, tmp_path: Path) -> None:
    played, _ = play_plan(plan_of(*FIELD, repeats=3), tmp_path / "run")
    accuracy = played.document.rounds[0].attacks["02"]["01"].accuracy
    assert accuracy.n == 3
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low <= accuracy.mean <= accuracy.high
    line = played.document.standings()["anonymization"][0]
    low, high = line["interval"]
    assert low <= line["score"] <= high
    assert len(played.document.manifest["seeds"]) == 3
    assert played.document.manifest["seeds"]["0"] == "5"


def test_a_second_run_is_kept_out_of_the_folder_of_the_first(
    play_plan: Play, tmp_path: Path
) -> None:
    from kakurenbo.arena.runner import locked

    with locked(tmp_path / "run"):
        (tmp_path / "run" / "run.json").write_text("{}")
        with pytest.raises(UsageError, match="another run"):
            play_plan(plan_of(*FIELD), tmp_path / "run")


def test_a_folder_that_no_run_wrote_is_left_alone(play_plan: Play, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="no run wrote"):
        play_plan(plan_of(*FIELD), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_the_judge_keeps_and_what_teams_were_given_is_for_its_owner_alone(
    play_plan: Play, tmp_path: Path
) -> None:
    play_plan(plan_of(*FIELD), tmp_path / "run")
    assert (tmp_path / "run" / "jobs").stat().st_mode & 0o777 == 0o700
    shutil.rmtree(tmp_path / "run" / "jobs")
    holding = [path for path in (tmp_path / "run").iterdir() if b"members" in path.read_bytes()]
    assert {path.stat().st_mode & 0o777 for path in holding} <= {0o600}


def test_documents_that_hold_the_seed_are_for_their_owner_alone_also_when_they_are_written_again(
    play_plan: Play, tmp_path: Path
) -> None:
    run, plan = tmp_path / "run", plan_of(*FIELD, seed=314159265358979323846264338327950288)
    for _ in range(2):
        play_plan(plan, run)
        holding = {
            path
            for path in run.iterdir()
            if path.is_file() and str(plan.seed).encode() in path.read_bytes()
        }
        assert {path.name for path in holding} == {"run.json", "results.json", "report.html"}
        assert {path.stat().st_mode & 0o777 for path in holding} == {0o600}
        for path in holding:
            path.chmod(0o644)


@pytest.mark.usefixtures("plugins")
def test_methods_of_another_rulebook_and_unknown_rounds_are_refused() -> None:
    rulebook = load("rulebooks", "hide-and-seek")()
    with pytest.raises(UsageError, match="olh does not play hide-and-seek"):
        arena.make_plan(rulebook, entrants(("olh", "nearest")), 1)
    with pytest.raises(UsageError, match="no round 'main'; there are only"):
        arena.make_plan(rulebook, entrants(("blur", "nearest")), 1, rounds=("main",))
    with pytest.raises(UsageError, match="team '100': hide-and-seek has teams up to 99"):
        arena.make_plan(rulebook, [replace(one, team="100") for one in entrants(("blur", ""))], 1)
    with pytest.raises(UsageError, match="nobody anonymizes"):
        arena.make_plan(rulebook, entrants(("", "nearest")), 1)
