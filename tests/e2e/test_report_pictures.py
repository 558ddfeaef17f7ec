"""What the report looks like: on phones, tablets and screens, light and dark, in English and Japanese.

The parts of the page are compared with ``pictures/*.png`` as thumbnails, which show what stands where in which colours, and not
how a machine draws letters; lines break alike because all use one font. After a change that is meant, KAKURENBO_NEW_PICTURES=1
writes them again; look at the page first. That nothing is cut off or covered is checked with the fonts that a machine has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.browser import (
    CHROMIUM,
    FONT,
    difference,
    has_font,
    opened,
    reference_of,
    started,
    thumbnails,
)
from tests.reports.synthetic import synthetic_document

from kakurenbo.reports import html_report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no browser: install Debian's chromium (make browser)"),
]

PICTURES = Path(__file__).parent / "pictures"
PARTS = ["header", ".standings", ".heatmap", ".frontier", ".teams"]
TOLERANCE = 12.0  # of 255; a part that is missing, cut or of other colours differs by 16 and more
LOOKS = [
    (width, theme, language)
    for width in (390, 768, 1400)
    for theme in ("light", "dark")
    for language in ("en", "ja")
]
WIDTHS = (360, 390, 768, 1024, 1920)

# Everything that people read is inside the window, and no text is cut off by the box that it stands in.
OUTSIDE = """() => [...document.querySelectorAll("header *, nav *, main *")].filter((element) => {
  if (element.closest(".heat, svg") || !element.checkVisibility()) return false;
  const box = element.getBoundingClientRect();
  if (box.width === 0) return false;
  const scrolls = element.matches(".heat-frame") || getComputedStyle(element).display === "inline";
  const cut = !scrolls && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
  return cut || box.left < -1 || box.right > innerWidth + 1;
}).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`)"""
# Pairs of labels that cover each other, and labels that leave their drawing.
COVERED = """() => {
  const visible = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const names = visible(".point-name, .mark-name").map((one) => [one.textContent, one.getBBox()]);
  const across = (a, b) => a.x < b.x + b.width && a.x + a.width > b.x;
  const down = (a, b) => a.y + 2 < b.y + b.height - 2 && a.y + a.height - 2 > b.y + 2;
  const pairs = names.flatMap(([one, a], at) => names.slice(at + 1)
    .filter(([, b]) => across(a, b) && down(a, b)).map(([other]) => `${one} / ${other}`));
  const leaving = visible(".frontier svg text").filter((element) => {
    const [box, room] = [element.getBoundingClientRect(), element.closest("svg").getBoundingClientRect()];
    return box.left < room.left - 1 || box.right > room.right + 1 || box.top < room.top - 2 || box.bottom > room.bottom + 2;
  }).map((element) => element.textContent);
  return [...pairs, ...leaving];
}"""
OPEN = """document.querySelectorAll('details[id^=team-01], details[id^=team-02], .manifest details')
  .forEach((one) => { one.open = true; })"""
FITTING = """[...document.querySelectorAll('.heat .found')].filter((one) => one.checkVisibility()).every(
  (one) => one.scrollWidth <= one.clientWidth + 1)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def drawing(browser: Any) -> Any:
    """An empty page, to shrink and compare pictures on."""
    return browser.new_page()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Rounds of several sizes, some with repeats."""
    folder = tmp_path_factory.mktemp("reports")
    documents = {
        "6 x 6": (6, 6, 1),
        "7 x 9": (7, 9, 3),
        "13 x 20": (13, 20, 3),
        "60 x 60": (60, 60, 1),
    }
    found = {}
    for name, size in documents.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(html_report(synthetic_document(*size), {}), encoding="utf-8")
    return found


def look(browser: Any, report: Path, width: int, theme: str, language: str) -> Any:
    return opened(
        browser, report, width, color_scheme=theme, locale={"en": "en-US", "ja": "ja-JP"}[language]
    )


@pytest.fixture(scope="module")
def compared(browser: Any, reports: dict[str, Path]) -> Any:
    """The page of which pictures are taken."""
    if not has_font():
        pytest.skip(f"no {FONT}: install Debian's fonts-noto-cjk (make browser)")
    page = opened(browser, reports["7 x 9"])
    page.add_style_tag(
        content=f"body, .figure, code, .mono {{ font-family: '{FONT}' !important; }}"
    )
    return page


@pytest.mark.parametrize(("width", "theme", "language"), LOOKS)
def test_the_page_looks_as_it_did(
    compared: Any, drawing: Any, width: int, theme: str, language: str
) -> None:
    compared.set_viewport_size({"width": width, "height": 900})
    for choice in (f"theme-{theme}", f"language-{language}"):
        compared.click(f"[data-choice='{choice.replace('-', ':')}']:visible")
    reference, seen = (
        PICTURES / f"{width}-{theme}-{language}.png",
        thumbnails(compared, drawing, PARTS),
    )
    if os.environ.get("KAKURENBO_NEW_PICTURES"):
        reference.write_bytes(seen)
    apart = dict(zip(PARTS, difference(drawing, seen, reference.read_bytes()), strict=True))
    assert all(value <= TOLERANCE for value in apart.values()), apart


@pytest.mark.parametrize(
    ("part", "style"),
    [
        (".heatmap", ".heat { visibility: hidden; }"),
        (".frontier", ".frontier svg { visibility: hidden; }"),
        (".teams", ":root { --panel: #d0d0d0 !important; }"),
        (".standings", ".standings table { display: none; }"),
        (".standings", ".three { display: block; }"),
        ("header", ".cards { display: block; }"),
    ],
)
def test_a_part_that_is_missing_or_laid_out_otherwise_is_another_look(
    compared: Any, drawing: Any, part: str, style: str
) -> None:
    compared.set_viewport_size({"width": 1400, "height": 900})
    for choice in ("theme-light", "language-en"):
        compared.click(f"[data-choice='{choice.replace('-', ':')}']:visible")
    sheet = compared.add_style_tag(content=style)
    reference = reference_of(drawing, PICTURES / "1400-light-en.png", PARTS.index(part))
    (apart,) = difference(drawing, thumbnails(compared, drawing, [part]), reference)
    sheet.evaluate("element => element.remove()")
    assert apart > TOLERANCE


@pytest.mark.parametrize(
    ("size", "language"),
    [("6 x 6", "en"), ("6 x 6", "ja"), ("13 x 20", "en"), ("13 x 20", "ja"), ("60 x 60", "ja")],
)
def test_nothing_is_cut_off_and_no_label_covers_another_from_360_to_1920_pixels(
    browser: Any, reports: dict[str, Path], size: str, language: str
) -> None:
    page = look(browser, reports[size], WIDTHS[0], "light", language)
    found = {}
    for width in WIDTHS if size != "60 x 60" else WIDTHS[::2]:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(OPEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found[width] = [*page.evaluate(OUTSIDE), *page.evaluate(COVERED)]
    assert not any(found.values()), found
    assert page.faults == []
    page.context.close()


def test_a_phone_shows_the_scores_before_anything_is_scrolled(
    browser: Any, reports: dict[str, Path]
) -> None:
    page = opened(
        browser,
        reports["13 x 20"],
        390,
        viewport={"width": 390, "height": 844},
        is_mobile=True,
        has_touch=True,
    )
    scores = page.locator(".winner em:visible")
    assert scores.count() == 3
    for number in range(3):
        box = scores.nth(number).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 844
    first = page.locator("#standings-anonymization-en table tbody tr").first
    lead, figure = (
        first.locator(f"td[data-place={place}]").bounding_box() for place in ("lead", "figure")
    )
    assert abs(lead["y"] - figure["y"]) < 12, "rank and score stand in the first line of a row"
    page.context.close()


def test_a_share_stands_in_every_cell_of_the_heat_map_large_enough_to_read(
    browser: Any, reports: dict[str, Path]
) -> None:
    for size, width in (("13 x 20", 390), ("60 x 60", 1400)):
        page = opened(browser, reports[size], width)
        shares = page.locator("#matrix-en .found").all_inner_texts()
        assert len(shares) == {"13 x 20": 13 * 21 - 13, "60 x 60": 60 * 61 - 60}[size]
        assert all(shares)
        assert (
            page.evaluate(
                "parseFloat(getComputedStyle(document.querySelector('.heat .found')).fontSize)"
            )
            >= 11
        )
        assert page.evaluate(FITTING)
        page.context.close()
