"""Tournaments on what an organizer prepared and published, with files that teams handed in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kakurenbo import arena
from kakurenbo.arena.jobs import ATTACK
from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.rounds import publish_round, score_round
from kakurenbo.core import read_folder, write_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.methods.registry import load
from kakurenbo.reports import Document

SEED = 77
Played = Callable[..., Document]


class Contest:
    """A round by folders: prepared for three teams, releases handed in, published; and perfect guesses to hand in."""

    def __init__(self, folder: Path, rulebook: str) -> None:
        self.rulebook: AnyRulebook = load("rulebooks", rulebook)(size=40)
        self.preparation, self.phase = folder / "contest", folder / "phase"
        self.submissions, self.guesses = folder / "submissions", folder / "guesses"
        prepared = prepare(self.rulebook, SEED, ["01", "02", "03"])
        write_folder(self.preparation, prepared.files(), private=("secret",))
        for team in ("01", "02", "03"):
            self.submit(
                team, "hidden.csv", (self.preparation / "teams" / team / "sample.csv").read_bytes()
            )

    def submit(self, team: str, name: str, data: bytes) -> None:
        (self.submissions / team).mkdir(parents=True, exist_ok=True)
        (self.submissions / team / name).write_bytes(data)

    def publish(self) -> None:
        write_folder(
            self.phase,
            publish_round(self.rulebook, self.preparation, self.submissions).files,
            private=("answers",),
        )

    def members(self, target: str) -> list[str]:
        return (self.phase / "answers" / target / "members.csv").read_text().splitlines()

    def guess(self, attacker: str, name: str, rows: list[str]) -> None:
        (self.guesses / attacker).mkdir(parents=True, exist_ok=True)
        (self.guesses / attacker / name).write_text("".join(f"{row}\n" for row in rows))

    def entrants(self, *, releases: bool = True, guesses: bool = True) -> list[arena.Entrant]:
        return [
            arena.Entrant(
                team,
                f"team {team}",
                release=self.submissions / team
                if releases and (self.submissions / team).exists()
                else None,
                guesses=self.guesses / team if guesses and (self.guesses / team).exists() else None,
            )
            for team in ("01", "02", "03")
        ]

    def plan(self, entrants: list[arena.Entrant], **folders: Any) -> arena.Plan:
        return arena.make_plan(type(self.rulebook)(), entrants, 1, **folders)


@pytest.fixture
def contest(plugins: Path, tmp_path: Path) -> Contest:
    assert plugins.is_dir()
    made = Contest(tmp_path, "hide-and-seek")
    made.publish()
    for attacker in ("01", "02", "03"):
        for target in {"01", "02", "03"} - {attacker}:
            made.guess(attacker, f"guess_{target}_{attacker}.csv", made.members(target)[:10])
    return made


@pytest.fixture
def played(here: arena.Workers, tmp_path: Path) -> Played:
    def play(plan: arena.Plan, out: str = "run") -> Document:
        return arena.play_tournament(plan, tmp_path / out, here, arena.Settings()).document

    return play


def credits(document: Document) -> dict[str, dict[str, float]]:
    (results,) = document.rounds[0].repeats
    return {
        target: {attacker: credit.hits for attacker, credit in row.items()}
        for target, row in results.credits.items()
    }


@pytest.mark.parametrize("given", ["preparation", "phase", "both"])
def test_guesses_that_score_all_by_score_score_all_in_a_run(
    contest: Contest, played: Played, given: str
) -> None:
    scored = score_round(contest.rulebook, contest.phase, contest.guesses)
    assert {
        credit.hits
        for row in scored.results.credits.values()
        for name, credit in row.items()
        if name.isdigit()
    } == {10}
    folders = {"preparation": contest.preparation, "phase": contest.phase}
    chosen = folders if given == "both" else {given: folders[given]}
    document = played(contest.plan(contest.entrants(releases=given != "phase"), **chosen))
    assert document.rounds[0].repeats[0].credits == scored.results.credits, (
        "the organizers' own attack included"
    )
    assert not document.failures
    assert document.rounds[0].name == "only"


@pytest.mark.parametrize("given", ["preparation", "phase"])
def test_a_run_attacks_the_very_bytes_that_were_published(
    contest: Contest, played: Played, tmp_path: Path, given: str
) -> None:
    played(
        contest.plan(
            contest.entrants(releases=given != "phase"), **{given: getattr(contest, given)}
        )
    )
    for target in ("01", "02", "03"):
        (stored,) = (tmp_path / "run" / "jobs").rglob(f"target-{target}")
        assert read_folder(stored) == read_folder(contest.phase / "targets" / target)
        (answer,) = (tmp_path / "run" / "jobs").rglob(f"answer-{target}")
        kept = read_folder(contest.phase / "answers" / target)
        assert read_folder(answer) == {
            name: data for name, data in kept.items() if not name.startswith("submitted/")
        }


def test_a_bad_guess_file_costs_that_file_alone_and_is_listed(
    contest: Contest, played: Played
) -> None:
    contest.guess("02", "guess_01_02.csv", ["0", "1"])
    contest.guess("02", "readme.txt", ["hello"])
    contest.guess("02", "guess_02_02.csv", contest.members("02")[:10])
    document = played(contest.plan(contest.entrants(), preparation=contest.preparation))
    assert {failure.file for failure in document.failed("refused")} == {
        "guess_01_02.csv",
        "readme.txt",
        "guess_02_02.csv",
    }
    assert {failure.team for failure in document.failures} == {"02"}
    (missing,) = document.failed("missing")
    assert missing.what == "guess of 02 at 01 (only)"
    assert credits(document)["03"]["02"] == 10
    assert "02" not in credits(document)["01"]


def test_a_bad_or_missing_release_costs_its_team_alone(contest: Contest, played: Played) -> None:
    contest.submit("01", "hidden.csv", b"age,height\n")
    document = played(
        contest.plan(
            [contest.entrants()[0], contest.entrants()[2]], preparation=contest.preparation
        )
    )
    states = {target: entry.state for target, entry in document.rounds[0].releases.items()}
    assert states == {"01": "refused", "02": "missing", "03": "published"}
    assert [
        (failure.team, failure.state)
        for failure in document.failures
        if failure.what.startswith("release")
    ] == [
        ("01", "refused"),
        ("02", "missing"),
    ]
    assert credits(document)["03"]["01"] == 10


def test_nothing_in_a_submitted_folder_stops_the_others(contest: Contest, played: Played) -> None:
    os.mkfifo(contest.submissions / "01" / "pipe.csv")
    (contest.submissions / "02" / "hidden.csv").unlink()
    (contest.submissions / "02" / "hidden.csv").symlink_to(
        contest.preparation / "teams" / "02" / "sample.csv"
    )
    (contest.guesses / "03" / "more").mkdir()
    (contest.guesses / "03" / "\x1b[31m.csv").write_text("red")
    document = played(contest.plan(contest.entrants(), preparation=contest.preparation))
    refused = {(failure.team, failure.file) for failure in document.failed("refused")}
    strangers = {("01", "pipe.csv"), ("02", "hidden.csv"), ("03", "more"), ("03", "\\x1b[31m.csv")}
    assert refused == strangers | {("01", "guess_02_01.csv"), ("03", "guess_02_03.csv")}, (
        "and guesses at what is not there"
    )
    states = {target: entry.state for target, entry in document.rounds[0].releases.items()}
    assert states == {"01": "published", "02": "missing", "03": "published"}
    assert credits(document)["01"]["03"] == 10


def test_a_file_that_names_another_team_is_refused(contest: Contest, played: Played) -> None:
    (contest.submissions / "01" / "hidden.csv").rename(
        contest.submissions / "01" / "release_02.csv"
    )
    document = played(
        contest.plan(contest.entrants(guesses=False), preparation=contest.preparation)
    )
    assert document.rounds[0].releases["01"].state == "refused"
    assert document.rounds[0].releases["02"].state == "published"


def test_methods_attack_what_was_published(contest: Contest, played: Played) -> None:
    nearest = arena.read_teams_file(
        _file(contest, '[[players]]\nteam = "09"\nattack = "nearest"\n')
    ).entrants
    document = played(contest.plan(list(nearest), phase=contest.phase))
    assert credits(document)["01"]["09"] == credits(document)["01"]["sample attack"] == 10
    assert {player.team for player in document.players} == {"01", "02", "03", "09"}


def test_a_phase_is_of_its_preparation_and_its_releases_are_those_it_was_published_from(
    contest: Contest,
) -> None:
    with pytest.raises(UsageError, match="give the folder that publish wrote"):
        contest.plan(contest.entrants(), phase=contest.preparation)
    with pytest.raises(UsageError, match="give the folder that prepare wrote"):
        contest.plan(contest.entrants(), preparation=contest.submissions)
    other = contest.preparation.parent / "other"
    write_folder(other, prepare(contest.rulebook, SEED + 1, ["01", "02", "03"]).files())
    with pytest.raises(UsageError, match="published from another preparation"):
        contest.plan(contest.entrants(), preparation=other, phase=contest.phase)
    contest.submit("02", "hidden.csv", b"something else")
    with pytest.raises(UsageError, match="published from other files"):
        contest.plan(contest.entrants(), phase=contest.phase)
    with pytest.raises(UsageError, match="team '07' is not in the organizer's folder"):
        contest.plan(
            [arena.Entrant("07", "x", release=contest.submissions / "01")],
            preparation=contest.preparation,
        )
    with pytest.raises(UsageError, match="holds one round"):
        arena.make_plan(
            contest.rulebook, contest.entrants(), 1, repeats=2, preparation=contest.preparation
        )


def test_the_settings_of_the_organizers_folder_hold(contest: Contest, played: Played) -> None:
    plan = contest.plan(contest.entrants(), preparation=contest.preparation)
    assert plan.rules.size == 40, "not the default of 60"  # type: ignore[attr-defined]
    assert played(plan).rounds[0].repeats[0].credits["01"]["02"].of == 10


def test_folders_of_submitted_files_play_like_methods(
    plugins: Path, played: Played, tmp_path: Path
) -> None:
    assert plugins.is_dir()
    path = tmp_path / "teams.toml"
    path.write_text('[[players]]\nanonymizer = "blur"\nattack = "nearest"\n' * 3)
    rulebook = load("rulebooks", "hide-and-seek")()
    first, second, third = arena.read_teams_file(path).entrants
    by_methods = played(arena.make_plan(rulebook, (first, second, third), 5), "methods")
    release, guesses = tmp_path / "release", tmp_path / "guesses"
    guesses.mkdir()
    (made,) = (tmp_path / "methods" / "jobs").rglob("release/release_02.csv")
    release.mkdir()
    (release / "release_02.csv").write_bytes(made.read_bytes())
    jobs = by_methods.manifest["jobs"]
    for target in ("01", "03"):
        key = jobs[f"02 attacks {target} (only)"]["key"]
        guess = tmp_path / "methods" / "jobs" / key[:2] / key / "files" / "guess" / "guess"
        (guesses / f"guess_{target}_02.csv").write_bytes(guess.read_bytes())
    by_hand = arena.Entrant("02", second.name, release=release, guesses=guesses)
    by_files = played(arena.make_plan(rulebook, (first, by_hand, third), 5), "files")
    assert by_files.rounds[0].repeats == by_methods.rounds[0].repeats
    assert by_files.rankings == by_methods.rankings
    assert len([job for job in by_files.manifest["jobs"] if f"02 {ATTACK}s" in job]) == 0


def _file(contest: Contest, text: str) -> Path:
    path = contest.preparation.parent / "teams.toml"
    path.write_text(text)
    return path


# -- several tables of a team, several tries at a target ---------------------------------------------------------------


@pytest.fixture
def several(plugins: Path, tmp_path: Path) -> Contest:
    """Team 01 hands in three tables, of which the last two count; team 02 tries twice, and best counts."""
    assert plugins.is_dir()
    made = Contest(tmp_path, "tables-and-tries")
    first = (made.submissions / "01" / "hidden.csv").read_bytes()
    (made.submissions / "01" / "hidden.csv").unlink()
    for name in ("release_01.csv", "release_01-2.csv", "release_01-3.csv"):
        made.submit("01", name, first)
    made.publish()
    rows = made.members("01-2")
    made.guess("02", "guess_01-2_02-1.csv", rows[:10])
    made.guess("02", "guess_01-2_02-2.csv", [*rows[:5], *_others(rows, 40, 5)])
    made.guess("02", "guess_01_02.csv", rows[:10])
    return made


def _others(rows: list[str], size: int, count: int) -> list[str]:
    return [str(row) for row in range(size) if str(row) not in rows][:count]


def test_each_table_of_a_team_is_a_target_and_the_last_few_count(
    several: Contest, played: Played
) -> None:
    several.submit("01", "readme.txt", b"the third one is our best")
    plan = several.plan(several.entrants(), preparation=several.preparation)
    assert plan.targets == {"01": ("01", "01-2", "01-3"), "02": ("02",), "03": ("03",)}
    document = played(plan)
    entry = document.rounds[0]
    assert {target: release.state for target, release in entry.releases.items()} == {
        "01": "superseded",
        "01-2": "published",
        "01-3": "published",
        "02": "published",
        "03": "published",
    }
    scored = score_round(several.rulebook, several.phase, several.guesses)
    assert entry.repeats[0].credits == scored.results.credits
    assert entry.repeats[0].tries == scored.results.tries
    assert entry.repeats[0].targets == scored.results.targets
    assert "01/readme.txt" in {failure.file for failure in document.failed("refused")}


def test_of_several_tries_the_best_counts(several: Contest, played: Played) -> None:
    document = played(several.plan(several.entrants(releases=False), phase=several.phase))
    results = document.rounds[0].repeats[0]
    assert results.credits["01-2"]["02"].hits == 10
    assert [credit.hits for credit in results.tries["01-2"]["02"]] == [10, 5]
    refused = {failure.file for failure in document.failed("refused")}
    assert refused == {"guess_01_02.csv"}, "the table was superseded, so there is no such target"
