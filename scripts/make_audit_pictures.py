"""Make the pictures and example reports of docs/tutorial/audit.md again, from the reports that its commands write.

python scripts/make_audit_pictures.py noisy.html compared.html
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
EXAMPLES = IMAGES.parent / "examples" / "audit"
_FRONTIER = re.compile(r'href="data:image/svg\+xml;base64,([^"]+)" download="audit-frontier.svg"')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", type=Path, help="the report whose top is shown")
    parser.add_argument(
        "compared", type=Path, help="the report of several releases, of which the frontier is taken"
    )
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("there is no Chromium on this machine; make browser")
    found = _FRONTIER.search(given.compared.read_text(encoding="utf-8"))
    if found is None:
        parser.error(f"{given.compared} compares no releases")
    (IMAGES / "audit-frontier.svg").write_bytes(base64.b64decode(found[1]))
    EXAMPLES.mkdir(parents=True, exist_ok=True)
    for path in (given.report, given.compared):
        (EXAMPLES / path.name).write_bytes(
            path.read_bytes()
        )  # readable by everybody, unlike the reports themselves
    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(
            viewport={"width": 1300, "height": 860}, locale="en-US", color_scheme="light"
        )
        page.goto(given.report.resolve().as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.screenshot(path=IMAGES / "audit.png")
        browser.close()


if __name__ == "__main__":
    main()
