"""A whole small contest in browsers: from the set-up page to awards and archive, every page looked over by axe."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from playwright.sync_api import Browser
from tests.judge.browsing import Person, chromium_browser
from tests.judge.scoring_helpers import anonymized, exported

from kakurenbo.judge.contests.models import Contest, Phase, Round
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.contests.rules import advance
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.rng import stream
from kakurenbo.tables import Problems

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "hide and seek 7"
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with chromium_browser() as browser:
        yield browser


@pytest.fixture
def worker(judge_home: Path, settings: Any) -> Iterator[Worker]:
    settings.HOME = judge_home
    made = Worker()
    yield made
    made.close()


def wall(moment: datetime) -> str:
    """As a field for a date and a time holds it."""
    return moment.astimezone(TOKYO).strftime("%Y-%m-%dT%H:%M")


def play_on(worker: Worker) -> None:
    """What the sweep and the workers do, until nothing is left to do."""
    while advance(timezone.now()) or worker.drain():
        pass


def close(phase: Phase, worker: Worker) -> None:
    """Let a phase's time be over, and the next one's come."""
    past = timezone.now() - timedelta(seconds=30)
    Phase.objects.filter(pk=phase.pk).update(opens_at=past - timedelta(hours=1), closes_at=past)
    later = phase.round.phases.exclude(pk=phase.pk).filter(state="waiting")
    later.update(opens_at=past, closes_at=past + timedelta(hours=2))
    play_on(worker)


def guesses(round_: Round, attacker: str, target: str, folder: Path) -> Mapping[str, bytes]:
    """What an attacker finds with the organizers' own attack."""
    exported(round_, f"targets/{target}/", folder)
    exported(round_, "attackers/", folder)
    rules = rules_of(round_.contest, round_)
    read = rules.read_target(folder / "targets" / target)
    assert not isinstance(read, Problems)
    attack = next(iter(rules.sample_attacks.values()))
    return rules.guess_files({target: attack(read.value.knowledge, stream(7, attacker))}, attacker)


def hand_in(person: Person, files: Mapping[str, bytes]) -> None:
    """Choose files on the page of a phase and send them."""
    person.page.set_input_files(
        "input[type=file]", [{"name": name, "mimeType": "text/csv", "buffer": data} for name, data in files.items()]
    )
    person.page.click("#upload button.main")
    person.page.wait_for_url("**/submissions/**")


def unpacked(person: Person, label: str) -> zipfile.ZipFile:
    """A zip that a link gives."""
    with person.page.expect_download() as download:
        person.page.get_by_role("link", name=label, exact=True).click()
    return zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))


def test_a_contest_is_held_from_the_set_up_page_to_the_awards_and_the_archive(
    live_server: Any, chromium: Browser, worker: Worker, tmp_path: Path
) -> None:
    organizer = Person(chromium, live_server.url)
    _set_up(organizer)
    _make_contest(organizer)
    contest = Contest.objects.get()
    play_on(worker)
    players = {
        number: _joined(organizer, Person(chromium, live_server.url, language), name)
        for number, name, language in (("01", "Kitsune", "en"), ("02", "たぬき", "ja"))
    }
    round_ = contest.rounds.get()
    _anonymize(players, round_, worker, tmp_path)
    close(round_.phases.get(kind="anonymize"), worker)
    _attack(players, round_, worker, tmp_path)
    close(round_.phases.get(kind="attack"), worker)
    _end(organizer, players["02"], worker)
    for person in (organizer, *players.values()):
        person.close()


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


def _make_contest(organizer: Person) -> None:
    now = timezone.now()
    organizer.press("amic2020")
    organizer.look_over("make")
    organizer.fill(title="PWS Cup in an afternoon", slug="cup", places="4")
    organizer.page.uncheck("[name=played][value=main]")
    organizer.page.select_option("[name=option-scale]", "small")
    organizer.page.select_option("[name=option-data]", "embedded")
    organizer.fill(
        pre__anonymize__opens_at=wall(now - timedelta(minutes=5)),
        pre__anonymize__closes_at=wall(now + timedelta(hours=3)),
        pre__attack__opens_at=wall(now + timedelta(hours=4)),
        pre__attack__closes_at=wall(now + timedelta(hours=6)),
        pre__anonymize__tries_per_day="3",
        pre__attack__tries_per_target="2",
    )
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


def _joined(organizer: Person, player: Person, team: str) -> Person:
    organizer.go("/contests/cup/manage/teams/")
    organizer.fill(team_name=team)
    organizer.page.click("main button.main")
    organizer.page.get_by_role("link", name=f"Open team {team}").click()
    organizer.page.get_by_role("button", name="Make a link").click()
    link = organizer.page.inner_text("#link")
    if team == "Kitsune":
        organizer.look_over("team-manage")
    player.page.goto(link)
    if team != "Kitsune":
        player.look_over("join")
    player.fill(name=f"{team} さん", email=f"{len(team)}@example.org", new_password=PASSWORD)
    player.page.click("main button.main")
    player.says(team)
    if team != "Kitsune":
        player.look_over("team")
    return player


def _anonymize(players: Mapping[str, Person], round_: Round, worker: Worker, folder: Path) -> None:
    for player, (number, person) in enumerate(players.items()):
        person.go("/contests/cup/play/")
        handout = unpacked(person, {"01": "Download all", "02": "すべてダウンロード"}[number])
        assert any(name.startswith(f"teams/{number}/") for name in handout.namelist())
        assert not any(name.startswith(("secret", "answers")) for name in handout.namelist())
        assert not any(name.startswith("teams/") and f"teams/{number}/" not in name for name in handout.namelist())
        if number == "02":
            person.look_over("phase")
        release = anonymized(round_, number, folder / number, player)
        name = rules_of(round_.contest, round_).release_pattern.name(round=round_.name, team=number)
        (data,) = (content for own, content in release.items() if own == name)
        hand_in(person, {name: data.replace(b"Male", b"male", 1)})
        play_on(worker)
        person.page.locator(".mark.bad").first.wait_for()
        person.says({"01": "did you mean", "02": "ではありませんか"}[number])
        if number == "02":
            person.look_over("invalid")
        person.go("/contests/cup/play/")
        if number == "02":
            _fill_in(person, release)
        else:
            hand_in(person, release)
        play_on(worker)
        person.page.locator(".mark.good").first.wait_for()
        if number == "01":
            person.look_over("scored")
            person.go("/contests/cup/play/")
            person.look_over("history")


def _fill_in(person: Person, release: Mapping[str, bytes]) -> None:
    """Hand in by the questionnaire's own form, with the release."""
    person.press("アンケートに記入")
    person.page.fill("[name='claims.epsilon']", "2.5")
    person.look_over("questionnaire")
    files = [{"name": name, "mimeType": "text/csv", "buffer": data} for name, data in release.items() if name.endswith(".csv")]
    person.page.set_input_files("input[type=file]", files)
    person.page.click("[name=hand_in]")
    person.page.wait_for_url("**/submissions/**")


def _attack(players: Mapping[str, Person], round_: Round, worker: Worker, folder: Path) -> None:
    for number, target in (("01", "02"), ("02", "01")):
        person = players[number]
        person.go("/contests/cup/play/")
        targets = unpacked(person, {"01": "Download all", "02": "すべてダウンロード"}[number])
        assert any(name.startswith(f"targets/{target}/") for name in targets.namelist())
        if number == "01":
            person.look_over("attack")
        hand_in(person, guesses(round_, number, target, folder / f"attack-{number}"))
        play_on(worker)
        person.page.locator(".mark.good").first.wait_for()
        if number == "02":
            person.look_over("guess")
            person.go("/contests/cup/standings/")
            person.look_over("standings")


def _end(organizer: Person, player: Person, worker: Worker) -> None:
    for name, place in {"manage": "", "teams": "teams/", "announce": "announcements"}.items():
        organizer.go(f"/contests/cup/manage/{place}")
        organizer.look_over(name)
    organizer.go("/contests/cup/manage/")
    organizer.fill(confirm="cup")
    organizer.press("End it")
    organizer.says("The contest is over")
    play_on(worker)
    organizer.go("/contests/cup/standings/")
    organizer.says("Who found whom")
    organizer.look_over("standings-ended")
    player.go("/contests/cup/standings/")
    player.says("サンプル攻撃")
    player.look_over("standings-ended-ja")
    organizer.go("/contests/cup/manage/")
    archive = unpacked(organizer, "Download the archive")
    assert any("/answers/" in name for name in archive.namelist())
    site = unpacked(organizer, "Download the results site")
    assert "cup-results/index.html" in site.namelist()
    organizer.go("/profile")
    organizer.look_over("profile")
