"""Run every benchmark (or those named) and print the table of ratios; all of them together also go into the README."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path
from typing import Literal

from benchmarks.common import Row

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    lines = ["| what | ours | compared with | that | ratio | target |", "| --- | ---: | --- | ---: | ---: | --- |"]
    print(*lines, sep="\n")
    for name in names:
        for row in importlib.import_module(f"benchmarks.bench_{name}").run():
            shown = (row["what"], _number(row, "ours_s"), row["reference"], _number(row, "reference_s"))
            lines.append(f"| {' | '.join(shown)} | {row['ratio']:.3g} | {row['target']} |")
            print(lines[-1], flush=True)
    if not sys.argv[1:]:
        machine = f"Python {platform.python_version()}, {os.cpu_count()} cores."
        (HERE / "RESULTS.md").write_text("# Benchmarks\n\n" + "\n".join(lines) + f"\n\n{machine} Made by `make bench`.\n")
        before, _, rest = README.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        README.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


def _number(row: Row, key: Literal["ours_s", "reference_s"]) -> str:
    value = row[key]
    if "MB" in row["what"]:
        return f"{value:,.0f} MB"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.3g} s"


if __name__ == "__main__":
    main()
