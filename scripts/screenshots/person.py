"""Somebody with a browser: goes to pages, fills in, presses, takes pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from playwright.sync_api import Browser, Error, Locator, Page
from scripts.screenshots.palette import paletted

from kakurenbo.core.messages import text

_WIDTH, _MARGIN, _TALLEST = 1000, 12, 760
_BETWEEN = ("ERR_ABORTED", "interrupted by another navigation")
"""How a browser tells that a page was on its way to be loaded again already."""


class Person:
    """Somebody with a browser of their own, in which pictures are taken."""

    def __init__(
        self,
        browser: Browser,
        address: str,
        language: str,
        zone: str,
        keep: Callable[[str, bytes], None],
    ) -> None:
        self._address, self._keep = address, keep
        context = browser.new_context(
            viewport={"width": _WIDTH, "height": 900},
            locale={"en": "en-GB", "ja": "ja-JP"}[language],
            timezone_id=zone,
            color_scheme="light",
            reduced_motion="reduce",
        )
        self.page: Page = context.new_page()
        self.page.set_default_timeout(120_000)
        self._drawing: Page = browser.new_page()

    def go(self, path: str) -> None:
        """Open a page of the judge; one that loads itself again when a phase ends may come between."""
        try:
            self.page.goto(path if "://" in path else self._address + path)
        except Error as error:
            if not any(words in str(error) for words in _BETWEEN):
                raise
            self.page.wait_for_load_state()
            self.page.goto(path if "://" in path else self._address + path)

    def fill(self, fields: Mapping[str, str]) -> None:
        """Fill in fields by the ends of their names."""
        for name, value in fields.items():
            self.page.locator(f'main [name$="{name}"]').first.fill(value)

    def press(self, code: str, within: str = "body") -> None:
        """Press a button, or follow a link, that says what the catalogue has for a page."""
        name = text(f"page.{code}")
        place = self.page.locator(within)
        place.get_by_role("button", name=name, exact=True).or_(
            place.get_by_role("link", name=name, exact=True)
        ).first.click()

    def says(self, code: str, **values: str) -> None:
        """Wait until the page says something from the catalogue."""
        self.page.get_by_text(text(f"page.{code}", **values)).first.wait_for()

    def download(self, code: str, folder: Path) -> Path:
        """What a link gives, under the name that the judge gives it."""
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name=text(f"page.{code}"), exact=True).first.click()
        place = folder / download.value.suggested_filename
        download.value.save_as(place)
        return place

    def picture(self, name: str, *selectors: str) -> None:
        """Keep a picture of some parts of the page, from the first to the last, as wide as the page."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
        boxes = [
            self._box(self.page.locator(selector))
            for selector in selectors or ("main > *:first-child", "main > *")
        ]
        top = max(0.0, min(above for above, _ in boxes) - _MARGIN)
        height = min(max(below for _, below in boxes) + _MARGIN - top, _TALLEST)
        clip = {"x": 0, "y": top, "width": _WIDTH, "height": height}
        taken = self.page.screenshot(full_page=True, clip=clip, animations="disabled")  # type: ignore[arg-type]
        self._keep(name, paletted(self._drawing, taken))

    @staticmethod
    def _box(found: Locator) -> tuple[float, float]:
        """From where to where the last of the parts goes that a selector names."""
        found.last.wait_for()
        box = found.last.bounding_box()
        if box is None:
            raise RuntimeError(f"nothing is seen of {found}")
        return box["y"], box["y"] + box["height"]
