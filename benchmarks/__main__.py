"""Run every benchmark (or those named) and print the table of ratios.

All of them together are written to RESULTS.md, and the most telling rows to the README.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path

from benchmarks.common import TABLE_HEAD, in_readme, table_line

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"


def main() -> None:
    names = sys.argv[1:] or sorted(
        path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py")
    )
    lines = [*TABLE_HEAD]
    print(*lines, sep="\n")
    for name in names:
        for row in importlib.import_module(f"benchmarks.bench_{name}").run():
            lines.append(table_line(row))
            print(lines[-1], flush=True)
    if not sys.argv[1:]:
        machine = f"Python {platform.python_version()}, {os.cpu_count()} cores."
        (HERE / "RESULTS.md").write_text(
            "# Benchmarks\n\n" + "\n".join(lines) + f"\n\n{machine} Made by `make bench`.\n"
        )
        before, _, rest = README.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        README.write_text(f"{before}{BEGIN}\n" + "\n".join(in_readme(lines)) + f"\n{END}{after}")


if __name__ == "__main__":
    main()
