"""What pycanon says of ``cases.json``: makes an environment of its own, since pycanon pins versions that clash with ours.

    python tests/measures/pycanon/compare.py                          writes expected.json

Exit code 3 where pycanon cannot be installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYCANON = "pycanon==1.3.6"
ASK = """
import importlib.metadata, json, sys
import pandas
from pycanon import anonymity

KNOWN = ["age", "job"]
figures = {}
for name, rows in json.load(open(sys.argv[1], encoding="utf-8")).items():
    table = pandas.DataFrame(rows, columns=["age", "job", "pay", "ill"])
    figures[name] = {"k": int(anonymity.k_anonymity(table, KNOWN))}
    for title, measure in (
        ("l", anonymity.l_diversity), ("entropy l", anonymity.entropy_l_diversity), ("t", anonymity.t_closeness)
    ):
        for secret in ("pay", "ill"):
            figures[name][f"{title} of {secret}"] = float(measure(table, KNOWN, [secret]))
print(json.dumps({"pycanon": importlib.metadata.version("pycanon"), "figures": figures}, indent=1))
"""


def main() -> int:
    """Write pycanon's figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--environment", type=Path, help="where to make it; a folder that goes away by default"
    )
    parser.add_argument("-o", "--out", type=Path, default=HERE / "expected.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as beside:
        python = _environment(given.environment or Path(beside, "pycanon"))
        if python is None:
            print(
                f"pycanon cannot be installed here; with a network: pip install {PYCANON}",
                file=sys.stderr,
            )
            return 3
        asked = [str(python), "-c", ASK, str(HERE / "cases.json")]
        given.out.write_text(
            subprocess.run(asked, capture_output=True, text=True, check=True).stdout,
            encoding="utf-8",
        )
    return 0


def _environment(place: Path) -> Path | None:
    """The Python of an environment that has pycanon; None where it cannot be had."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    installed = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", PYCANON], capture_output=True, check=False
    )
    return python if installed.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
