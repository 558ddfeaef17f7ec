"""Debian's Chromium for tests: pages as people see and use them, looked over by axe, with pictures where they are asked for.

``KAKURENBO_PICTURES`` names a folder for screenshots of every page that a test visits: narrow and wide, light and dark.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page
from tests.e2e.browser import CHROMIUM, started
from tests.judge.waiting import PATIENCE

from kakurenbo.judge.accounts.models import User

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1400, "height": 900}
PASSWORD = "hide and seek 7"
_RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    }
}
# A page may round what it shows: all digits are in the cell's data, or they are what it shows.
_DIGITS = "(cell) => (cell.closest('[data-value]') ?? cell.querySelector('[data-value]'))?.dataset.value ?? cell.innerText.trim()"
_SCORES = f"""(rows) => Object.fromEntries(rows.filter((row) => row.querySelector("td.number")).map((row) => [
  row.querySelector("th").innerText.split("\\n")[0].trim(), ({_DIGITS})(row.querySelector("td.number")),
]))"""
_RANKINGS = f"""(boards) => Object.fromEntries(boards.map((board) => [
  board.getAttribute("aria-labelledby").replace("ranking-", ""),
  [...board.querySelectorAll("tbody tr")].map((row) => [
    row.querySelector("th").innerText.trim().match(/^\\d\\S*|.*/)[0].trim(),
    ({_DIGITS})([...row.querySelectorAll("td")].at(-1)),
    row.querySelector("td").innerText.trim(),
  ]),
]))"""


@contextmanager
def chromium_browser() -> Iterator[Browser]:
    """A browser, for as long as tests need it."""
    if not CHROMIUM:
        pytest.skip("no browser: install Debian's chromium (make browser)")
    # Playwright's loop runs in this thread, in which Django would refuse to ask the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with started() as browser:
        yield browser
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Person:
    """Somebody with a browser of their own.

    Parameters
    ----------
    chromium : Browser
    address : str
        Of the judge.
    language : str
    """

    def __init__(self, chromium: Browser, address: str, language: str = "en") -> None:
        self._context = chromium.new_context(
            viewport=WIDE, locale=language, timezone_id="Europe/Berlin"
        )  # type: ignore[arg-type]
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.faults: list[str] = []
        self.page.on(
            "console", lambda said: self.faults.append(said.text) if said.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self._address = address

    def go(self, path: str) -> None:
        """Open a page of the judge."""
        self.page.goto(self._address + path)

    def fill(self, **fields: str) -> None:
        """Fill in fields by their names; ``__`` stands for a dash."""
        for name, value in fields.items():
            self.page.fill(f'main [name="{name.replace("__", "-")}"]', value)

    def press(self, name: str) -> None:
        """Press a button, or follow a link, by what it says."""
        found = self.page.get_by_role("button", name=name, exact=True).or_(
            self.page.get_by_role("link", name=name, exact=True)
        )
        found.first.click()

    def says(self, words: str) -> None:
        """Wait until the page says something."""
        self.page.get_by_text(words).first.wait_for()

    def be(self, user: User) -> None:
        """Be logged in as somebody, without a form."""
        client = Client()
        client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[-1])
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        self._context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": self._address}]
        )

    def join(self, link: str, name: str) -> None:
        """Follow an invite link as somebody new."""
        self.page.goto(link)
        self.fill(name=name, email=f"{name.lower()}@example.org", new_password=PASSWORD)
        self.page.click("main button.main")
        self.page.locator("#next, #rounds").first.wait_for()

    def unpack(self, ending: str) -> zipfile.ZipFile:
        """What a link gives whose address ends so."""
        with self.page.expect_download() as download:
            self.page.locator(f"main a[href$='{ending}']").first.click()
        return zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))

    def choose(self, files: Mapping[str, bytes]) -> None:
        """Choose files of a form."""
        given = [
            {"name": name, "mimeType": "text/csv", "buffer": content}
            for name, content in files.items()
        ]
        self.page.set_input_files("input[type=file]", given)  # type: ignore[arg-type]

    def hand_in(self, files: Mapping[str, bytes]) -> str:
        """Choose files on the page of a phase and send them; the number by which the judge knows them."""
        self.choose(files)
        self.page.click("#upload button.main")
        return self.handed_in()

    def handed_in(self) -> str:
        """What was handed in last, on whose page this is."""
        self.page.wait_for_url("**/submissions/*/")
        return self.page.url.rstrip("/").rsplit("/", 1)[-1]

    def is_refused(self, files: Mapping[str, bytes]) -> str:
        """Try to hand in, and be told on the spot why not."""
        self.choose(files)
        self.page.click("#upload button.main")
        self.page.locator("#upload-problems p").first.wait_for()
        self.faults = [
            fault for fault in self.faults if not re.search(r"status of 4(09|13|22)", fault)
        ]  # what a refusal is
        return self.page.inner_text("#upload-problems")

    def scores(self) -> dict[str, str]:
        """The scores on the page of something handed in, with all the digits that the page has."""
        found: dict[str, str] = self.page.locator("#judged tbody tr").evaluate_all(_SCORES)
        return found

    def rankings(self) -> dict[str, list[list[str]]]:
        """Team, score and rank of each line on a page of standings, with all the digits that the page has."""
        found: dict[str, list[list[str]]] = self.page.locator(
            "[aria-labelledby^=ranking-]"
        ).evaluate_all(_RANKINGS)
        return found

    def ask(self, path: str) -> Any:
        """What the API says to who is logged in here."""
        return self.page.request.get(f"{self._address}/api/v1/{path}").json()

    def look_over(self, name: str) -> None:
        """Note what axe complains of, and what is wider than the screen: wide and light, narrow and dark; a picture of each."""
        pictures = os.environ.get("KAKURENBO_PICTURES")
        for size, viewport, theme in (("wide", WIDE, "light"), ("narrow", NARROW, "dark")):
            self.page.set_viewport_size(viewport)  # type: ignore[arg-type]
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            if pictures:
                self.page.screenshot(
                    path=Path(pictures) / f"{name}-{size}-{theme}.png", full_page=True
                )
            found = Axe().run(self.page, options=_RULES).response["violations"]
            self.faults += [f"{name} {size} {theme}: {_told(one)}" for one in found]
            across = self.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            self.faults += [f"{name} {size}: {across} px too wide"] * (across > 0)
        self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        self.page.emulate_media(color_scheme="light")

    def close(self) -> None:
        """Go, having met with no fault."""
        self._context.close()
        assert not self.faults, "\n".join(self.faults)


def _told(violation: dict[str, object]) -> str:
    nodes = violation["nodes"]
    places = (
        [re.sub(r"\s+", " ", str(node["html"]))[:120] for node in nodes]
        if isinstance(nodes, list)
        else []
    )
    return f"{violation['id']}: {violation['help']} at {places[:3]}"
