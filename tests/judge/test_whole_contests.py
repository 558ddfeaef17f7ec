"""Whole contests in which some teams play on the pages and others by the command line, digit for digit as by files."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call
from tests.judge import making
from tests.judge.browsing import Person
from tests.judge.players import ByCommand, ByPage, Player, scores_of
from tests.judge.stage import Stage, on_page, ranks
from tests.pwscup2024 import zipped

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests.models import Contest

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
Meet = Callable[..., Person]


def check_standings(stage: Stage, person: Person) -> Path:
    """The page, the API, the archive and the command line have the same standings; the archive comes back."""
    slug = stage.contest.slug
    told = stage.get(f"contests/{slug}/standings")["standings"]
    person.go(f"/contests/{slug}/standings/")
    assert person.rankings() == on_page(told)
    archive = stage.archive()
    assert json.loads((archive / "standings.json").read_text())["standings"] == told
    assert ranks(told) == ranks(stage.standings_from_files(archive))
    for folder in (
        archive / "rounds"
    ).iterdir():  # to the byte, order and all: verify makes the file again
        prepared, published = (
            list(_settings(folder / part).items()) for part in ("preparation", "phase")
        )
        assert prepared == published
    return archive


def _settings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "public" / "contest.json").read_text())["settings"]
    return found


def test_a_contest_of_a_plugin_runs_with_no_change_to_the_judge(stage: Stage, people: Meet) -> None:
    organizer = people()
    organizer.be(making.organizer())
    organizer.go("/contests/new/hide-and-seek/")
    organizer.fill(title="Hide and seek", slug="cup", places="3")
    organizer.page.fill("[name=option-size]", "40")
    organizer.press("Make the contest")
    organizer.says("The contest is there")
    stage.contest = Contest.objects.get()
    for number in ("01", "02", "03"):
        making.team(stage.contest, f"team {number}")
    players: list[Player] = [ByPage.of(stage, number, people()) for number in ("01", "02")]
    players.append(ByCommand(stage, "03", stage.token("03")))
    stage.open("only", ANONYMIZE)
    for player, reach in zip(players, (0, 2, 4), strict=True):
        handout = player.fetch() / "teams" / player.number
        release = stage.folder / f"release_{player.number}.csv"
        assert (
            call(
                "anonymize",
                "hide-and-seek",
                "blur",
                handout,
                release,
                "--reach",
                reach,
                "--seed",
                7,
            ).code
            == 0
        )
        judged = player.hand_in(release)
        assert (judged["state"], judged["number"]) == ("scored", 1), judged
        assert (
            scores_of(judged) == call("measure", "hide-and-seek", handout, release).json["scores"]
        )
    stage.open("only", ATTACK)
    for player in players:
        guesses = stage.folder / f"guesses{player.number}"
        for target in sorted((player.fetch() / "targets").iterdir()):
            if target.name != player.number:
                guess = guesses / f"guess_{target.name}_{player.number}.csv"
                assert (
                    call(
                        "attack", "hide-and-seek", "nearest", target, "-o", guess, "--seed", 1
                    ).code
                    == 0
                )
        assert player.hand_in(guesses)["state"] == "scored"
    stage.close()
    organizer.go("/contests/cup/manage/")
    organizer.fill(confirm="cup")
    organizer.press("End it")
    stage.go_on()
    archive = check_standings(stage, organizer)
    assert call("verify", "hide-and-seek", archive / "rounds" / "only" / "preparation").code == 0
    site = zipfile.ZipFile(io.BytesIO(stage.download("contests/cup/results-site.zip")))
    assert {"cup-results/index.html", "cup-results/results.json"} <= set(site.namelist())


def test_darc2019_takes_the_last_three_tables_of_a_team_and_the_best_of_ten_attacks_on_each(
    stage: Stage, people: Meet
) -> None:
    stage.hold("darc2019", ("round",), teams=2, scale="small", data="embedded")
    owner, attacker = ByPage.of(stage, "01", people()), ByPage.of(stage, "02", people())
    handout = owner.fetch() / "teams" / "01"
    for number, method in enumerate(("monthly_pseudonyms", "dates", "values", "crowds"), start=1):
        release = stage.folder / f"A_01-{number}.csv"
        assert call("anonymize", "darc2019", method, handout, release, "--seed", 1).code == 0
        judged = owner.hand_in(release)
        assert (judged["state"], scores_of(judged)) == (
            "scored",
            call("measure", "darc2019", handout, release).json["scores"],
        )
    owner.go()
    counting = owner.person.page.locator(
        "#history tr", has=owner.person.page.locator(".mark", has_text="Counts")
    )
    assert [re.findall(r"\d+", line)[0] for line in counting.locator("th").all_inner_texts()] == [
        "4",
        "3",
        "2",
    ]
    stage.open("round", ATTACK)
    targets = attacker.fetch() / "targets"
    assert sorted(target.name for target in targets.iterdir()) == ["01-2", "01-3", "01-4"]
    made = {method: stage.folder / f"{method}.csv" for method in ("tfidf", "keys")}
    for method, place in made.items():
        assert (
            call("attack", "darc2019", method, targets / "01-2", "-o", place, "--seed", 1).code == 0
        )
    by_program = ByCommand(stage, "02")
    for number in range(1, 12):
        guess = stage.folder / f"guess_01-2_02-{number}.csv"
        guess.write_bytes(made["keys" if number == 4 else "tfidf"].read_bytes())
        player: Player = attacker if number in (1, 4, 10) else by_program
        if number <= 10:
            assert player.hand_in(guess)["state"] == "scored"
    attacker.go()
    assert "01-2" in attacker.person.is_refused({guess.name: guess.read_bytes()})
    refused = stage.call("02", "submit", "cup", guess, "--wait", 0)
    assert (refused.code, refused.json["problems"][0]["code"]) == (
        2,
        "submissions.no_try_on_target",
    )
    for target in ("01-3", "01-4"):
        guess = stage.folder / f"guess_{target}_02.csv"
        assert (
            call("attack", "darc2019", "tfidf", targets / target, "-o", guess, "--seed", 1).code
            == 0
        )
        assert by_program.hand_in(guess)["state"] == "scored"
    stage.finish()
    check_standings(stage, attacker.person)


def test_pwscup2024_takes_zips_as_macos_and_others_pack_them(stage: Stage, people: Meet) -> None:
    stage.hold("pwscup2024", ("pre",), teams=2, scale="small", data="embedded")
    first, second = ByPage.of(stage, "01", people()), ByPage.of(stage, "02", people("ja"))
    for player, box in ((first, ""), (second, "our release 02/")):
        team = player.number
        handout = player.fetch() / "teams" / team
        made = stage.folder / f"made{team}"
        candidate = handout / f"Bi{team}-1.csv"
        assert (
            call(
                "anonymize",
                "pwscup2024",
                "pseudo_olh",
                candidate,
                made,
                "--epsilon",
                4,
                "--seed",
                1,
            ).code
            == 0
        )
        packed = {f"{box}{file.name}": file.read_bytes() for file in sorted(made.iterdir())}
        junk = {f"__MACOSX/{box}._C{team}_0.csv": b"junk", f"{box}.DS_Store": b"junk"}
        release = stage.folder / f"C{team}.zip"
        release.write_bytes(zipped({**packed, **junk}))
        judged = player.hand_in(release)
        assert (judged["state"], scores_of(judged)) == (
            "scored",
            call("measure", "pwscup2024", handout, made).json["scores"],
        )
    stage.open("pre", ATTACK)
    for attacker, target in ((first, "02"), (ByCommand(stage, "02"), "01")):
        guess = stage.folder / f"E{attacker.number}_{target}.csv"
        place = attacker.fetch() / "targets" / target
        assert call("attack", "pwscup2024", "all_pairs", place, "-o", guess, "--seed", 1).code == 0
        assert attacker.hand_in(guess)["state"] == "scored"
    stage.finish()
    check_standings(stage, first.person)


def test_pwscup2021_deals_each_attacker_a_test_table_of_its_own(stage: Stage) -> None:
    stage.hold(
        "pwscup2021",
        ("main",),
        teams=3,
        rows=400,
        data="embedded",
        uniqrt=1.0,
        odds_ratio=9.0,
        rate=1.0,
        cor=1.0,
    )
    players = [ByCommand(stage, number) for number in ("01", "02", "03")]
    for player in players:
        handout = player.fetch() / "teams" / player.number
        made = stage.folder / f"made{player.number}"
        assert call("anonymize", "pwscup2021", "swap_near", handout, made, "--seed", 1).code == 0
        judged = player.hand_in(*sorted(made.iterdir()))
        assert (judged["state"], scores_of(judged)) == (
            "scored",
            call("measure", "pwscup2021", handout, made).json["scores"],
        )
    stage.open("main", ATTACK)
    for player in players[:2]:
        fetched = player.fetch() / "targets"
        assert {part.name for part in fetched.glob("*/for_*")} == {f"for_{player.number}"}, (
            "no part of anybody else"
        )
        guesses = [
            stage.folder / f"main_attack_{target}_from_{player.number}.csv"
            for target in {"01", "02"} - {player.number}
        ]
        for guess in guesses:
            target = fetched / guess.name.split("_")[2]
            assert (
                call(
                    "attack", "pwscup2021", "likelihood_link", target, "-o", guess, "--seed", 1
                ).code
                == 0
            )
        assert player.hand_in(*guesses)["state"] == "scored"
    stage.finish()
    told = stage.get(f"contests/{stage.contest.slug}/standings")["standings"]
    archive = stage.archive()
    assert ranks(told) == ranks(stage.standings_from_files(archive))
    phase = archive / "rounds" / "main" / "phase"
    answers = {
        place.parent.name: place.read_bytes()
        for place in (phase / "answers" / "01").glob("for_*/*_ea.csv")
    }
    assert len(set(answers.values())) == len(answers) >= 2
