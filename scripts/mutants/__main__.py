"""``python -m scripts.mutants``: try a sample of mutants and print what survived; exit code 1 below 95 % killed."""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.mutations import Mutant, mutants_of
from scripts.mutants.report import LEAST_SHARE, as_change, share_killed, table
from scripts.mutants.trials import FailingTests, Laboratory, MeasuredTests, Outcome

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "kakurenbo"
MEMORY = ROOT / "out" / "mutants"
EQUIVALENT = Path(__file__).resolve().parent / "equivalent.toml"
# Sources, and the tests that must notice a change in them.
FOLDERS = {
    "commitments": (
        "contest/commitments.py",
        ("tests/core/test_commitments*.py", "tests/rounds/test_*.py"),
    ),
    "measures": ("measures/*.py", ("tests/measures/test_*.py",)),
    "rulebooks/pwscup2024": (
        "rulebooks/pwscup2024/*.py",
        ("tests/rulebooks/test_pwscup2024_*.py",),
    ),
    "rulebooks/darc2019": (
        "rulebooks/darc2019/*.py",
        ("tests/rulebooks/test_darc2019_*.py", "tests/measures/test_darc2019_*.py"),
    ),
    "rulebooks/amic2020": ("rulebooks/amic2020/*.py", ("tests/rulebooks/test_amic2020_*.py",)),
    "rulebooks/pwscup2021": (
        "rulebooks/pwscup2021/*.py",
        ("tests/rulebooks/test_pwscup2021_*.py",),
    ),
    "rulebooks": (
        "rulebooks/*.py",
        ("tests/rulebooks/test_amic2020_*.py", "tests/rulebooks/test_pwscup2021_*.py"),
    ),
}


@dataclass(frozen=True)
class Equivalent:
    """A mutant that no test can tell from the code, and why."""

    file: str
    before: str
    after: str
    reason: str

    def fits(self, mutant: Mutant) -> bool:
        """Whether this is it; the mutant is made only where file and line are those of the entry."""
        if mutant.path != ROOT / self.file:
            return False
        line = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.start[0] - 1].strip()
        return line == self.before and mutant.lines == ((self.before,), (self.after,))


def main() -> int:
    options = _options()
    equivalent = [
        Equivalent(**entry)
        for entry in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    ]
    mutants = {name: _mutants(sources, options.only) for name, (sources, _) in FOLDERS.items()}
    everything = [mutant for several in mutants.values() for mutant in several]
    stale = [
        one for one in equivalent if options.only in one.file and not any(map(one.fits, everything))
    ]
    for one in stale:
        print(
            f"{EQUIVALENT.name}: no mutant of {one.file} turns\n  - {one.before}\n  + {one.after}",
            file=sys.stderr,
        )
    if stale:
        return 2
    if options.survivors:
        known = set(_survivors_file(options.memory).read_text(encoding="utf-8").splitlines())
        everything = [mutant for mutant in everything if _label(mutant) in known]
    chosen = set(_sample(everything, options.mutants, options.seed))
    if not chosen:
        print("no mutant is asked for: see --mutants, --only and --survivors", file=sys.stderr)
        return 2
    print(f"{len(chosen):,} of {len(everything):,} mutants, seed {options.seed}", flush=True)
    outcomes: dict[str, list[Outcome]] = {}
    options.memory.mkdir(parents=True, exist_ok=True)
    _survivors_file(options.memory).write_text("", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        laboratory = Laboratory(ROOT, Path(folder))
        for name, (sources, tests) in FOLDERS.items():
            drawn = [mutant for mutant in mutants[name] if mutant in chosen]
            if drawn:
                files = options.tests or sorted(
                    str(path.relative_to(ROOT)) for glob in tests for path in ROOT.glob(glob)
                )
                measured = sorted(
                    str(path.relative_to(ROOT / "src")) for path in PACKAGE.glob(sources)
                )
                reach = laboratory.measure(files, measured, options.memory)
                outcomes[name] = _try_all(laboratory, drawn, reach, equivalent, options.memory)
    print(table(outcomes))
    killed, of = share_killed([outcome for several in outcomes.values() for outcome in several])
    return 0 if killed >= LEAST_SHARE * of else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.add_argument("--mutants", default="400", help="how many are drawn, or all")
    parser.add_argument("--seed", type=int, default=1, help="by which they are drawn")
    parser.add_argument(
        "--only", default="", help="sources whose path has this part, e.g. darc2019/scores.py"
    )
    parser.add_argument(
        "--survivors",
        action="store_true",
        help="only those that survived, or timed out, in the last run",
    )
    parser.add_argument(
        "--memory", type=Path, default=MEMORY, help="folder for what is remembered between runs"
    )
    parser.add_argument(
        "--tests", nargs="+", help="test files to run in place of those of the folder"
    )
    return parser.parse_args()


def _mutants(sources: str, only: str) -> list[Mutant]:
    paths = sorted(PACKAGE.glob(sources))
    return [
        mutant
        for path in paths
        if only in str(path.relative_to(ROOT))
        for mutant in mutants_of(path)
    ]


def _survivors_file(memory: Path) -> Path:
    return memory / "survivors.txt"


def _label(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(ROOT)}/{mutant.name}"


def _sample(mutants: list[Mutant], size: str, seed: int) -> list[Mutant]:
    ordered = sorted(mutants, key=lambda mutant: mutant.draw(seed))
    return ordered if size == "all" else ordered[: int(size)]


def _try_all(
    laboratory: Laboratory,
    mutants: list[Mutant],
    tests: MeasuredTests,
    equivalent: list[Equivalent],
    memory: Path,
) -> list[Outcome]:
    outcomes = []
    for number, mutant in enumerate(mutants, 1):
        known = any(one.fits(mutant) for one in equivalent)
        outcomes.append(Outcome.EQUIVALENT if known else laboratory.try_out(mutant, tests))
        if outcomes[-1] in (Outcome.SURVIVED, Outcome.TIMED_OUT):
            with _survivors_file(memory).open("a", encoding="utf-8") as file:
                print(_label(mutant), file=file)
            print(
                f"{outcomes[-1]}: {as_change(mutant, str(mutant.path.relative_to(ROOT)))}",
                flush=True,
            )
        if sys.stderr.isatty():
            print(f"{number} of {len(mutants)}", end="\r", file=sys.stderr)
    return outcomes


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FailingTests as failure:
        print(
            f"{failure}\nThese tests fail on the code as it is; no mutant was tried.",
            file=sys.stderr,
        )
        sys.exit(2)
