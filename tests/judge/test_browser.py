"""A contest of two rounds in browsers, from the set-up page to awards and archive, every kind of page looked over by axe."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from tests.calling import call
from tests.judge.browsing import PASSWORD, Person
from tests.judge.players import ByCommand, ByPage, Player, contents, scores_of
from tests.judge.rejudged import ready_rejudging
from tests.judge.stage import Stage, on_page, ranks

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests.models import Contest

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

TOKYO = ZoneInfo("Asia/Tokyo")
LENIENT = {
    "histogram": 0.5, "vcm": 0.01, "dta_relationship": 0.4, "dta_income": 0.4,
    "max_histogram_error": 0.5, "max_correlation_difference": 0.9,
}  # fmt: skip
ORGANIZERS = "05"
REASON = "The release of main is the sample of pre."


def test_amic2020_is_held_over_two_rounds_from_the_set_up_page_to_the_awards_and_the_archive(
    stage: Stage, people: Callable[..., Person]
) -> None:
    organizer = people()
    _set_up(organizer)
    _make_contest(organizer)
    stage.contest = Contest.objects.get()
    kitsune = ByPage(
        stage, "01", _joined(organizer, people(), "Kitsune", "Kitsu", look="team-manage")
    )
    friend = ByPage(stage, "01", _joined(organizer, people(), "Kitsune", "Komori", new=False))
    tanuki = ByPage(stage, "02", _joined(organizer, people("ja"), "たぬき", "Tanu", look="join"))
    tanuki.person.look_over("team")
    usagi = _joined(organizer, people(), "Usagi", "Usa")
    by_command = ByCommand(stage, "03", _token(usagi))
    _add_team(organizer, "Organizers", number=ORGANIZERS, unranked=True)
    organizer.page.goto(_link(organizer, "Organizers"))
    organizer.page.click("main button.main")
    organizers = ByCommand(stage, ORGANIZERS, _token(organizer))
    organizer.look_over("profile")

    stage.open("pre", ANONYMIZE)
    _pre_releases(stage, kitsune, friend, tanuki, by_command, organizers)
    stage.open("pre", ATTACK)
    _attack(stage, kitsune, tanuki, by_command, organizers)
    kitsune.go()
    kitsune.person.look_over("attack")
    tanuki.person.look_over("guess")
    tanuki.person.go("/contests/cup/standings/")
    tanuki.person.look_over("standings")

    stage.open("main", ANONYMIZE)
    late = ByPage(stage, "04", _joined(organizer, people(), "Tsuru", "Tsuru"))
    for player, p in ((kitsune, 0.99), (tanuki, 0.95), (by_command, 0.97), (late, 0.9)):
        _release(stage, player, p)
    _disqualify(organizer, "Usagi", usagi)
    stage.open("main", ATTACK)
    _attack(stage, kitsune, tanuki, late)
    stage.close()
    _end(stage, organizer, tanuki.person)


def _set_up(organizer: Person) -> None:
    organizer.go("/")
    organizer.look_over("setup")
    organizer.fill(name="Mori Aoi", email="organizer@example.org", new_password=PASSWORD)
    organizer.press("Make the account")
    organizer.says("There is no contest yet")
    organizer.look_over("home-empty")
    organizer.press("Log out")
    organizer.press("Log in")
    organizer.look_over("login")
    organizer.fill(email="organizer@example.org", password=PASSWORD)
    organizer.page.click("main button.main")
    organizer.press("New contest")
    organizer.look_over("choose")


def _wall(days: float) -> str:
    """A moment so many days from now, as a field for a date and a time holds it."""
    moment: datetime = timezone.now() + timedelta(days=days)
    return moment.astimezone(TOKYO).strftime("%Y-%m-%dT%H:%M")


def _make_contest(organizer: Person) -> None:
    organizer.press("amic2020")
    organizer.look_over("make")
    organizer.fill(title="PWS Cup in an afternoon", slug="cup", places="6")
    organizer.page.select_option("[name=zone]", "Asia/Tokyo")
    organizer.page.select_option("[name=option-scale]", "small")
    organizer.page.select_option("[name=option-data]", "embedded")
    organizer.fill(**{f"option-{name}": str(value) for name, value in LENIENT.items()})
    for day, phase in enumerate(
        ("pre-anonymize", "pre-attack", "main-anonymize", "main-attack"), start=2
    ):
        organizer.fill(**{f"{phase}-opens_at": _wall(day), f"{phase}-closes_at": _wall(day + 0.5)})
    organizer.fill(**{"pre-attack-tries_per_target": "2"})
    organizer.press("Make the contest")
    organizer.says("The contest is there")
    organizer.fill(announcement_title="Welcome", announcement_text="The data is out.\n\nGood luck!")
    organizer.press("Announce")
    organizer.says("Good luck!")
    organizer.look_over("contest")
    organizer.go("/contests/cup/manage/")
    organizer.page.get_by_role("link", name="Change pre Attack").click()
    organizer.look_over("edit-phase")
    organizer.page.select_option("[name$=visibility]", "frozen")
    organizer.press("Save")
    organizer.says("Saved.")


def _add_team(organizer: Person, team: str, number: str = "", *, unranked: bool = False) -> None:
    organizer.go("/contests/cup/manage/teams/")
    organizer.fill(team_name=team, number=number)
    organizer.page.set_checked("[name=unranked]", unranked)
    organizer.page.click("main button.main")
    organizer.page.get_by_role("link", name=f"Open team {team}").wait_for()


def _link(organizer: Person, team: str) -> str:
    organizer.go("/contests/cup/manage/teams/")
    organizer.page.get_by_role("link", name=f"Open team {team}").click()
    organizer.page.get_by_role("button", name="Make a link").click()
    return organizer.page.inner_text("#link")


def _joined(
    organizer: Person, player: Person, team: str, name: str, *, new: bool = True, look: str = ""
) -> Person:
    """Somebody who followed a link to a team, which is new unless it has a member already."""
    if new:
        _add_team(organizer, team)
    link = _link(organizer, team)
    if look == "team-manage":
        organizer.look_over(look)
    if look == "join":
        player.page.goto(link)
        player.look_over(look)
    player.join(link, name)
    return player


def _token(person: Person) -> str:
    person.go("/profile")
    person.fill(label="of a program")
    person.press("Make a token")
    return person.page.inner_text("#secret")


def _made(stage: Stage, player: Player, p: float) -> tuple[Path, Path]:
    """The handout of a team, and a release for it."""
    handout = player.fetch() / "teams" / player.number
    given = {place.name for place in handout.parent.iterdir()}
    assert given == {player.number} or player.number == ORGANIZERS, (
        "nobody has what another team was given"
    )
    release = (
        stage.folder / f"{stage.round}-{p}" / f"{stage.round}_anonymizeddata_{player.number}.csv"
    )
    assert call("anonymize", "amic2020", "rrp", handout, release, "--p", p, "--seed", 1).code == 0
    return handout, release


def _release(stage: Stage, player: Player, p: float) -> dict[str, Any]:
    """A release that is judged as the command line does it, digit for digit."""
    handout, release = _made(stage, player, p)
    judged = player.hand_in(release)
    assert judged["state"] == "scored", judged
    assert scores_of(judged) == call("measure", "amic2020", handout, release).json["scores"]
    return judged


def _pre_releases(
    stage: Stage,
    kitsune: ByPage,
    friend: ByPage,
    tanuki: ByPage,
    by_command: ByCommand,
    organizers: ByCommand,
) -> None:
    _release(stage, kitsune, 0.99)
    assert _release(stage, friend, 0.98)["number"] == 2, (
        "the second of the team, from another of its members"
    )
    kitsune.go()
    kitsune.person.says("Komori")
    kitsune.person.look_over("history")
    friend.person.look_over("scored")
    friend.go()
    assert "larger" in friend.person.is_refused({"questionnaire_01.json": b" " * 20_001})
    handout, release = _made(stage, tanuki, 0.95)
    tanuki.go()
    tanuki.person.look_over("phase")
    broken = {release.name: release.read_bytes().replace(b"Male", b"male", 1)}
    tanuki.person.hand_in(broken)
    stage.go_on()
    tanuki.person.page.locator(
        ".mark.bad"
    ).first.wait_for()  # without a reload: the page asks by itself
    tanuki.person.says("ではありませんか")
    tanuki.person.look_over("invalid")
    _fill_in(tanuki, release)
    assert (
        scores_of(tanuki.judged(tanuki.person.handed_in()))
        == call("measure", "amic2020", handout, release).json["scores"]
    )
    _release(stage, by_command, 0.97)
    _release(stage, organizers, 0.96)


def _fill_in(player: ByPage, release: Path) -> None:
    """Hand in by the questionnaire's own form, with the release."""
    player.go()
    player.person.press("アンケートに記入")
    player.person.page.fill("[name='claims.epsilon']", "2.5")
    player.person.look_over("questionnaire")
    player.person.choose(contents(release))
    player.person.page.click("[name=hand_in]")


def _attack(stage: Stage, *players: Player) -> None:
    """Everybody attacks every release but the own."""
    for player in players:
        guesses = stage.folder / f"guesses-of-{player.number}-{stage.round}"
        targets = [
            one
            for one in sorted((player.fetch() / "targets").iterdir())
            if one.name != player.number
        ]
        for target in targets:
            guess = guesses / f"inference_{target.name}_{player.number}.index"
            assert call("attack", "amic2020", "nearest", target, "-o", guess).code == 0
        assert player.hand_in(guesses)["state"] == "scored"


def _disqualify(organizer: Person, team: str, member: Person) -> None:
    organizer.go("/contests/cup/manage/teams/")
    organizer.page.get_by_role("link", name=f"Open team {team}").click()
    of_main = organizer.page.locator("li", has=organizer.page.locator("b", has_text="main"))
    of_main.get_by_text("Disqualify…").click()
    decision = of_main.locator("form[action$='/disqualify']")
    decision.locator("[name=reason]").fill(REASON)
    decision.get_by_role("button", name="Disqualify").click()
    organizer.says(REASON)
    for page in ("team", "play/main/anonymize"):
        member.go(f"/contests/cup/{page}/")
        member.says(REASON)


def _end(stage: Stage, organizer: Person, player: Person) -> None:
    rejudging = ready_rejudging(stage.contest)
    pages = {
        "manage": "",
        "teams": "teams/",
        "announce": "announcements",
        "rejudgings": "rejudgings/",
    }
    for name, place in {**pages, "rejudging": f"rejudgings/{rejudging.pk}/"}.items():
        organizer.go(f"/contests/cup/manage/{place}")
        organizer.look_over(name)
    organizer.press("Cancel")
    organizer.says("Everything stays as it was")
    organizer.go("/contests/cup/manage/")
    organizer.fill(confirm="cup")
    organizer.press("End it")
    organizer.says("The contest is over")
    stage.go_on()
    player.go("/contests/cup/standings/?round=main")
    player.says("サンプル攻撃")
    player.look_over("standings-ended-ja")
    for board, place in {"pre": "rounds/pre/", "main": "rounds/main/", "all": ""}.items():
        told = stage.get(f"contests/cup/{place}standings")["standings"]
        organizer.go(f"/contests/cup/standings/?round={board}")
        assert organizer.rankings() == on_page(told)
    organizer.page.locator(".podium").first.wait_for()
    organizer.look_over("standings-ended")
    assert ORGANIZERS not in {line["team"] for line in told["overall"] if line["rank"]}, (
        "the organizers' own team has no rank"
    )
    organizer.go("/contests/cup/manage/")
    site = organizer.unpack("results-site.zip")
    assert "cup-results/index.html" in site.namelist()
    organizer.unpack("archive.zip").extractall(stage.folder / "archive")
    archive = stage.folder / "archive" / "cup"
    assert list(archive.glob("rounds/*/phase/answers/*"))
    assert ranks(told) == ranks(stage.standings_from_files(archive))
