"""Debian's Chromium by Playwright: reports opened from files, without a network, and what they look like in small."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
FONT = "Noto Sans CJK JP"
"""The font in which looks are compared; ``make browser`` installs it beside the browser."""
SIDE = 32
"""Pixels of a thumbnail, across and down: fine enough to show what is where, too coarse to show how letters are drawn."""

_THUMBNAILS = """async ([picture, boxes, side]) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const row = document.createElement("canvas");
  [row.width, row.height] = [side * boxes.length, side];
  for (const [at, box] of boxes.entries()) {
    let [drawn, x, y, width, height] = [image, box.x, box.y, box.width, box.height];
    // In halves: a browser that shrinks in one step leaves out most of the pixels.
    do {
      const smaller = document.createElement("canvas");
      [smaller.width, smaller.height] = [Math.max(side, Math.ceil(width / 2)), Math.max(side, Math.ceil(height / 2))];
      smaller.getContext("2d").drawImage(drawn, x, y, width, height, 0, 0, smaller.width, smaller.height);
      [drawn, x, y, width, height] = [smaller, 0, 0, smaller.width, smaller.height];
    } while (width > side || height > side);
    row.getContext("2d").drawImage(drawn, at * side, 0);
  }
  return row.toDataURL("image/png").split(",")[1];
}"""

# For each part the mean difference of the tenth of its pixels that differ most: a part is mostly ground, whatever stands on it.
_DIFFERENCE = """async ([one, other, side]) => {
  const pixels = async (picture) => {
    const image = new Image();
    image.src = "data:image/png;base64," + picture;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [first, second] = [await pixels(one), await pixels(other)];
  if (first.width !== second.width) return null;
  return Array.from({ length: first.width / side }, (_, part) => {
    const apart = [];
    for (let y = 0; y < side; y++) for (let x = part * side; x < (part + 1) * side; x++) {
      const at = 4 * (y * first.width + x);
      apart.push([0, 1, 2].reduce((sum, colour) => sum + Math.abs(first.data[at + colour] - second.data[at + colour]), 0) / 3);
    }
    const worst = apart.sort((a, b) => b - a).slice(0, side * side / 10);
    return worst.reduce((sum, value) => sum + value, 0) / worst.length;
  });
}"""
_BOXES = """(selectors) => selectors.map((selector) => {
  const shown = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
  const { left, top, width, height } = shown.getBoundingClientRect();
  return { x: left + scrollX, y: top + scrollY, width, height };
})"""


@contextmanager
def started() -> Iterator[Browser]:
    """The browser for as long as it is needed."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def has_font() -> bool:
    """Whether the machine has the font in which looks are compared."""
    listing = shutil.which("fc-list")
    return listing is not None and bool(
        subprocess.run([listing, FONT], capture_output=True, text=True).stdout
    )


def opened(browser: Browser, report: Path, width: int = 1400, **settings: Any) -> Page:
    """A page with the report in it, as a reader without a network has it; what goes wrong in it is listed in ``faults``."""
    known = {
        "locale": "en-US",
        "color_scheme": "light",
        "viewport": {"width": width, "height": 900},
    }
    context = browser.new_context(**{**known, **settings}, offline=True)
    page = context.new_page()
    faults: list[str] = []
    page.faults = faults  # type: ignore[attr-defined]
    page.on(
        "console",
        lambda message: (
            faults.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: faults.append(request.url) if request.url.startswith("http") else None,
    )
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    return page


def thumbnails(page: Page, drawing: Page, selectors: list[str]) -> bytes:
    """The parts of a page side by side, each shrunk to a square, as one small PNG; made on another, empty page."""
    page.evaluate("scrollTo(0, 0)")
    shot = base64.b64encode(
        page.screenshot(full_page=True, animations="disabled", scale="css")
    ).decode()
    return base64.b64decode(
        drawing.evaluate(_THUMBNAILS, [shot, page.evaluate(_BOXES, selectors), SIDE])
    )


def difference(drawing: Page, one: bytes, other: bytes) -> list[float]:
    """How far two rows of thumbnails are from each other: for each, from 0 to 255."""
    pictures = [base64.b64encode(data).decode() for data in (one, other)]
    found: list[float] | None = drawing.evaluate(_DIFFERENCE, [*pictures, SIDE])
    assert found is not None, "there are more parts than there were, or fewer"
    return found


def reference_of(drawing: Page, picture: Path, part: int) -> bytes:
    """One of the thumbnails of a row, as a PNG of its own."""
    box = {"x": part * SIDE, "y": 0, "width": SIDE, "height": SIDE}
    return base64.b64decode(
        drawing.evaluate(
            _THUMBNAILS, [base64.b64encode(picture.read_bytes()).decode(), [box], SIDE]
        )
    )
