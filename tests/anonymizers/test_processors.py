"""The same seed gives the same bytes whatever kernels the processor chooses for products of matrices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = ("", "Haswell", "Prescott")


@pytest.mark.slow
def test_hideout_gives_the_same_bytes_with_the_kernels_of_three_processors(tmp_path: Path) -> None:
    def run(*arguments: str, kernel: str = "") -> None:
        environment = {**os.environ, **({"OPENBLAS_CORETYPE": kernel} if kernel else {})}
        command = [sys.executable, "-m", "kakurenbo", *arguments]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)

    run("generate", "table", "hospital", "--rows", "300", "--seed", "1", "-o", "stays.csv")
    columns = "age,sex,prefecture,ward,insurance"
    lines = (tmp_path / "stays.csv").read_text().splitlines()
    places = [lines[0].split(",").index(name) for name in columns.split(",")]
    rows = [",".join(line.split(",")[place] for place in places) for line in lines]
    (tmp_path / "stays.csv").write_text("\n".join(rows) + "\n")
    for kernel in KERNELS:
        out = ("stays.csv", f"of-{kernel}.csv", "--seed", "4", "--population", "own")
        run("anonymize", "table", "hideout", *out, kernel=kernel)
    releases = {(tmp_path / f"of-{kernel}.csv").read_bytes() for kernel in KERNELS}
    assert len(releases) == 1
