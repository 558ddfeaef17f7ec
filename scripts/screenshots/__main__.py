"""``python -m scripts.screenshots``: hold the contest of the tutorial, and take its pictures."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import sync_playwright
from scripts import screenshots
from scripts.screenshots.contest import Contest
from scripts.screenshots.judge import judge

from kakurenbo.core.messages import speaking


def main() -> None:
    parser = argparse.ArgumentParser(
        description=screenshots.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--language",
        choices=screenshots.LANGUAGES,
        action="append",
        help="only this one (default: each)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=screenshots.PICTURES,
        help="where they go (default: docs/images/judge)",
    )
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("there is no Chromium on this machine; make browser")
    for language in given.language or screenshots.LANGUAGES:
        _take(language, chromium, given.out / language)


def _take(language: str, chromium: str, out: Path) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(
            0o711
        )  # under root the database has an account of its own, which passes through here
        stack.enter_context(speaking(language))
        address = stack.enter_context(judge(folder / "home"))
        playwright = stack.enter_context(sync_playwright())
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        contest = Contest(browser, address, folder, language, out)
        contest.hold()
        browser.close()
    missing = sorted(set(screenshots.NAMES) - contest.taken)
    if missing:
        sys.exit(f"no picture was taken of {', '.join(missing)}")


if __name__ == "__main__":
    main()
