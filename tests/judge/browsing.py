"""Debian's Chromium for tests: pages as people see them, each looked over by axe, with pictures where they are asked for.

``KAKURENBO_PICTURES`` names a folder for screenshots of every page that a test visits: narrow and wide, light and dark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from tests.e2e.browser import CHROMIUM, started

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1400, "height": 900}
_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


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
        self._context = chromium.new_context(viewport=WIDE, locale=language, timezone_id="Europe/Berlin")  # type: ignore[arg-type]
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(15_000)
        self.faults: list[str] = []
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
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
        found = self.page.get_by_role("button", name=name, exact=True).or_(self.page.get_by_role("link", name=name, exact=True))
        found.first.click()

    def says(self, words: str) -> None:
        """Wait until the page says something."""
        self.page.get_by_text(words).first.wait_for()

    def look_over(self, name: str) -> None:
        """Note what axe complains of, and what is wider than the screen: wide and light, narrow and dark; a picture of each."""
        pictures = os.environ.get("KAKURENBO_PICTURES")
        for size, viewport, theme in (("wide", WIDE, "light"), ("narrow", NARROW, "dark")):
            self.page.set_viewport_size(viewport)  # type: ignore[arg-type]
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            if pictures:
                self.page.screenshot(path=Path(pictures) / f"{name}-{size}-{theme}.png", full_page=True)
            found = Axe().run(self.page, options=_RULES).response["violations"]
            self.faults += [f"{name} {size} {theme}: {_told(one)}" for one in found]
            across = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.faults += [f"{name} {size}: {across} px too wide"] * (across > 0)
        self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        self.page.emulate_media(color_scheme="light")

    def close(self) -> None:
        """Go, having met with no fault."""
        self._context.close()
        assert not self.faults, "\n".join(self.faults)


def _told(violation: dict[str, object]) -> str:
    nodes = violation["nodes"]
    places = [re.sub(r"\s+", " ", str(node["html"]))[:120] for node in nodes] if isinstance(nodes, list) else []
    return f"{violation['id']}: {violation['help']} at {places[:3]}"
