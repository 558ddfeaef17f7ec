"""Make the picture of the README again: the top of the amic2020 report that ``kakurenbo demo`` writes, by Chromium.

kakurenbo demo && python scripts/make_report_picture.py out/demo/amic2020.html
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the HTML report to show")
    report: Path = parser.parse_args().report
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        parser.error("there is no Chromium on this machine")
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--lang=en", "--window-size=1400,900"]
        command = [browser, *options, f"--user-data-dir={profile}", f"--screenshot={PICTURE}", report.resolve().as_uri()]
        subprocess.run(command, check=True, timeout=120)


if __name__ == "__main__":
    main()
