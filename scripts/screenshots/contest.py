"""The contest of the tutorial, held step by step."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.sync_api import Browser, FilePayload
from scripts.screenshots import COMMANDS, MOST_BYTES, NAMES
from scripts.screenshots.judge import until
from scripts.screenshots.person import Person

from kakurenbo.core.messages import text

_PASSWORD = "hide and seek 7"
_SLUG = "afternoon"
_ZONES = (
    "Asia/Tokyo",
    "Asia/Bangkok",
    "Asia/Kolkata",
    "Asia/Dubai",
    "Europe/Berlin",
    "Europe/London",
    "America/Sao_Paulo",
    "America/New_York",
    "America/Los_Angeles",
    "Pacific/Honolulu",
    "Pacific/Auckland",
)
_WORDS = {
    "en": {
        "organizer": "Mori Aoi",
        "title": "Hide and seek in an afternoon",
        "teams": ("Foxes", "Badgers"),
        "players": ("Reina", "Pat"),
        "news": (
            "Welcome",
            "The data is out. Hand in your release before the phase closes.",
        ),
        "token": "my laptop",
    },
    "ja": {
        "organizer": "森 葵",
        "title": "午後のかくれんぼ",
        "teams": ("きつね", "たぬき"),
        "players": ("玲奈", "健太"),
        "news": ("ようこそ", "データを配布しました。締切までに匿名加工データを提出してください。"),
        "token": "手元のノートパソコン",
    },
}


@dataclass
class Contest:
    """The contest of the tutorial, held by one organizer and two players."""

    browser: Browser
    address: str
    folder: Path
    language: str
    out: Path

    def __post_init__(self) -> None:
        self.taken: set[str] = set()
        self.words = _WORDS[self.language]
        self.zone = _where_it_is_noon()
        self.out.mkdir(parents=True, exist_ok=True)

    def hold(self) -> None:
        """From the set-up page to the archive."""
        self._set_up()
        self._make()
        self._rehearse()
        for number in (0, 1):
            self._invite(number)
        self._wait_for_the_rehearsal()
        self._announce()
        self._hand_in_on_the_page()
        self._hand_in_by_command()
        self._close("anonymize", "attack")
        self._attack_on_the_page()
        self._attack_by_command()
        self._close("attack")
        self._end()
        self._check()

    @cached_property
    def organizer(self) -> Person:
        """Who holds the contest."""
        return self._person()

    @cached_property
    def foxes(self) -> Person:
        """Who plays on the pages."""
        return self._person()

    @cached_property
    def badgers(self) -> Person:
        """Who plays on the command line."""
        return self._person()

    def _person(self) -> Person:
        return Person(self.browser, self.address, self.language, self.zone.key, self._keep)

    def _keep(self, name: str, picture: bytes) -> None:
        if name not in NAMES:
            raise ValueError(f"the tutorial has no picture {name}")
        if len(picture) > MOST_BYTES:
            raise ValueError(f"{name} has {len(picture):,} bytes, more than {MOST_BYTES:,}")
        (self.out / f"{name}.png").write_bytes(picture)
        self.taken.add(name)
        print(f"{self.language}: {name} ({len(picture):,} bytes)", flush=True)

    def _wall(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime("%Y-%m-%dT%H:%M")

    # -- before it begins

    def _set_up(self) -> None:
        person = self.organizer
        person.go("/")
        person.fill({"name": str(self.words["organizer"]), "email": "aoi@example.org"})
        person.picture("setup")
        person.fill({"new_password": _PASSWORD})
        person.press("setup_button")
        person.says("no_contests_organizer")

    def _make(self) -> None:
        person, now = self.organizer, datetime.now(self.zone)
        person.press("new_contest")
        person.picture("choose")
        person.page.get_by_role("link", name="amic2020", exact=True).click()
        person.fill({"title": str(self.words["title"]), "slug": _SLUG, "places": "4"})
        person.page.select_option("[name=zone]", self.zone.key)
        person.page.uncheck("[name=played][value=main]")
        person.fill(
            {
                "pre-anonymize-opens_at": self._wall(now),
                "pre-anonymize-closes_at": self._wall(now + timedelta(hours=2)),
                "pre-attack-opens_at": self._wall(now + timedelta(hours=2, minutes=15)),
                "pre-attack-closes_at": self._wall(now + timedelta(hours=3, minutes=45)),
                "option-vcm": "0.02",
                "option-dta_income": "0.7",
            }
        )
        person.page.select_option("[name=option-scale]", "small")
        person.page.select_option("[name=option-data]", "embedded")
        panels = [
            f"main form section:has([name={name}])"
            for name in ("title", "pre-anonymize-opens_at", "option-scale")
        ]
        person.picture("new-contest", panels[0])
        person.picture(
            "phases", f"{panels[1]} h2", f"{panels[1]} fieldset:has([name=pre-attack-closes_at])"
        )
        person.picture("options", panels[2])
        person.press("make_button")
        person.says("contest_made")

    def _rehearse(self) -> None:
        person = self.organizer
        person.go(f"/contests/{_SLUG}/manage/")
        person.fill({"minutes": "1"})
        person.press("rehearse", "form:has([name$=minutes])")
        person.says("rehearsal_made", minutes="1")

    def _invite(self, number: int) -> None:
        organizer, player = self.organizer, (self.foxes, self.badgers)[number]
        team, name = self.words["teams"][number], self.words["players"][number]
        organizer.go(f"/contests/{_SLUG}/manage/teams/")
        organizer.fill({"team_name": team})
        organizer.press("add_team", "main form")
        organizer.says("team_added", team=team)
        if number == 1:
            organizer.picture("teams")
        organizer.page.get_by_role(
            "link", name=text("page.open_team", name=team), exact=True
        ).click()
        organizer.press("make_invite")
        link = organizer.page.inner_text("#link")
        if number == 0:
            organizer.picture("invite", "main section:has(#invites)")
        player.go(link)
        player.fill({"name": name, "email": f"player{number}@example.org"})
        if number == 0:
            player.picture("join")
        player.fill({"new_password": _PASSWORD})
        player.press("join_button_new")
        player.says("joined", team=team)

    def _wait_for_the_rehearsal(self) -> None:
        person = self.organizer

        def over() -> bool:
            person.go(f"/contests/{_SLUG}-rehearsal-1/standings/")
            return person.page.locator(".podium").count() > 0

        until(over, "the rehearsal is over", pause=3)
        person.picture("rehearsal", "#contest-title", "#board")

    def _announce(self) -> None:
        person = self.organizer
        person.go(f"/contests/{_SLUG}/manage/")
        title, said = self.words["news"]
        person.fill({"announcement_title": title, "announcement_text": said})
        person.press("announce")
        person.says("announced")
        person.go(f"/contests/{_SLUG}/manage/")
        person.picture("manage", "#contest-title", "main > *")
        self.foxes.go(f"/contests/{_SLUG}/")
        self.foxes.picture("overview", "#contest-title", "main > *")

    # -- releases

    def _hand_in_on_the_page(self) -> None:
        person, folder = self.foxes, self._folder("foxes")
        self._when_open(person, "anonymize")
        person.picture("handout")
        person.download("download_all", folder)
        self._run("foxes", folder)
        release = folder / "pre_anonymizeddata_01.csv"
        lines = release.read_text().splitlines(keepends=True)
        lines[100] = "91" + lines[100][lines[100].index(",") :]
        self._hand_in(person, release.name, "".join(lines).encode())
        person.says("entry_says.invalid")
        if person.page.get_by_text("91").count() == 0:
            raise RuntimeError("the page does not name the value that is wrong")
        person.picture("refused")
        person.go(f"/contests/{_SLUG}/play/")
        self._hand_in(person, release.name, release.read_bytes())
        person.says("entry_says.scored")
        if person.page.get_by_text(text("page.fails"), exact=True).count():
            raise RuntimeError("the release falls short of a threshold")
        person.picture("scored")

    def _hand_in_by_command(self) -> None:
        person, folder = self.badgers, self._folder("badgers")
        person.go("/profile")
        person.fill({"label": str(self.words["token"])})
        person.press("make_token")
        token = person.page.inner_text("#secret")
        person.picture("token", "main section:has(#secret)")
        (folder / "token").write_text(token)
        self._run("badgers", folder)
        self.foxes.go(f"/contests/{_SLUG}/play/")
        self.foxes.picture("history", "main section:has(#history)")

    @staticmethod
    def _hand_in(person: Person, name: str, content: bytes) -> None:
        person.page.set_input_files(
            "#files", FilePayload(name=name, mimeType="text/csv", buffer=content)
        )
        person.press("hand_in", "#upload")
        person.page.wait_for_url("**/submissions/**")

    # -- phases

    def _close(self, kind: str, following: str = "") -> None:
        """Let a phase be over within seconds, and the next one begin with the next minute that is left to it."""
        self._edit(kind)
        self.organizer.page.get_by_text(text("page.move.close"), exact=True).click()
        if following:
            self.organizer.picture("move", "main > *:first-child", "section:has(#moves)")
        self.organizer.press("move_yes.close")
        self.organizer.says("moved.close")
        if not following:
            until(self._all_closed, "every phase is closed", pause=2)
            return
        opens = (datetime.now(self.zone) + timedelta(seconds=75)).replace(second=0, microsecond=0)
        self._edit(following)
        self.organizer.fill(
            {"opens_at": self._wall(opens), "closes_at": self._wall(opens + timedelta(minutes=90))}
        )
        self.organizer.press("save")
        self.organizer.says("saved")
        self._when_open(self.foxes, following)

    def _edit(self, kind: str) -> None:
        self.organizer.go(f"/contests/{_SLUG}/manage/")
        label = f"{text('page.edit_phase', round='pre')} {text(f'page.kind.{kind}')}"
        self.organizer.page.get_by_role("link", name=label, exact=True).click()

    def _when_open(self, person: Person, kind: str) -> None:
        """Wait until a phase takes files."""

        def is_open() -> bool:
            person.go(f"/contests/{_SLUG}/play/pre/{kind}/")
            downloads = person.page.get_by_role("link", name=text("page.download_all"), exact=True)
            return person.page.locator("#files").count() > 0 and downloads.count() > 0

        until(is_open, f"{kind} is open", pause=2)

    def _all_closed(self) -> bool:
        self.organizer.go(f"/contests/{_SLUG}/")
        return self.organizer.page.locator('[data-state]:not([data-state="closed"])').count() == 0

    # -- attacks, and the end

    def _attack_on_the_page(self) -> None:
        person, folder = self.foxes, self._folder("foxes")
        person.picture("attack")
        person.download("download_all", folder)
        self._run("foxes attack", folder)
        guess = folder / "inference_02_01.index"
        self._hand_in(person, guess.name, guess.read_bytes())
        person.says("accepted")
        person.picture("guesses")

    def _attack_by_command(self) -> None:
        self._run("badgers attack", self._folder("badgers"))

    def _end(self) -> None:
        person = self.organizer
        person.go(f"/contests/{_SLUG}/manage/")
        person.fill({"confirm": _SLUG})
        person.picture("end", "section:has(#end-title)")
        person.press("end_button")
        person.says("ended")

        def final() -> bool:
            person.go(f"/contests/{_SLUG}/standings/")
            return person.page.locator(".podium").count() > 0

        until(final, "the awards are there", pause=2)
        person.picture("standings")

    def _check(self) -> None:
        person, folder = self.foxes, self._folder("everybody")

        def ready() -> bool:
            person.go(f"/contests/{_SLUG}/")
            return person.page.locator("main a[href$='archive.zip']").count() > 0

        until(ready, "the archive is there", pause=2)
        person.picture("archive", "section:has(#about)", "section:has(#archive-title)")
        archive = person.download("download_archive", folder)
        if not any("/answers/" in name for name in zipfile.ZipFile(archive).namelist()):
            raise RuntimeError("the archive holds no answers after the end")
        self._run("everybody", folder)

    # -- on the command line

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _run(self, who: str, folder: Path) -> None:
        """Give the commands of the tutorial, each of which must succeed."""
        token = folder / "token"
        environment = {
            **os.environ,
            "KAKURENBO_LANG": self.language,
            "KAKURENBO_SERVER": self.address,
        }
        environment["KAKURENBO_TOKEN"] = token.read_text() if token.exists() else ""
        kakurenbo = f'kakurenbo() {{ {shlex.quote(sys.executable)} -m kakurenbo "$@"; }}\n'
        for command in COMMANDS[who]:
            done = subprocess.run(
                ["bash", "-c", kakurenbo + command],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            print(f"$ {command}\n{done.stdout}{done.stderr}", flush=True)
            if done.returncode:
                raise RuntimeError(f"exit code {done.returncode}: {command}")


def _where_it_is_noon() -> ZoneInfo:
    """A zone in which an afternoon begins now: pictures show times that make sense whenever they are taken."""

    def from_noon(zone: ZoneInfo) -> int:
        now = datetime.now(zone)
        return abs(now.hour * 60 + now.minute - 12 * 60 - 45)

    return min(map(ZoneInfo, _ZONES), key=from_noon)
