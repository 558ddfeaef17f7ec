"""Make the picture of the README again: the top of the amic2020 report that ``kakurenbo demo`` writes, by Chromium.

kakurenbo demo && python scripts/make_report_picture.py out/demo/amic2020.html
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", type=Path, help="the HTML report to show")
    report: Path = parser.parse_args().report
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("there is no Chromium on this machine; make browser")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(
            viewport={"width": 1400, "height": 900}, locale="en-US", color_scheme="light"
        )
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
