"""Make ``docs/images/demo.svg``, the README's picture: what ``kakurenbo demo`` prints, as a terminal shows it."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "demo.svg"


def main() -> None:
    done = subprocess.run([sys.executable, "-m", "kakurenbo", "demo"], check=True, capture_output=True, text=True)
    console = Console(record=True, file=io.StringIO(), width=120)
    console.print(Text("$ make demo"))
    console.print(Text(done.stdout.strip()))
    PICTURE.write_text(console.export_svg(title="kakurenbo", unique_id="demo"))


if __name__ == "__main__":
    main()
