"""Play the poster of pwscup2024 again and write its page of the documentation, docs/replays/pwscup2024.md.

    python scripts/replay_pwscup2024.py poster B.csv ... [--seeds 20] [--jobs 2]

B files may be gzipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.attacks.reconstruction.types import Identification, Reconstructing
from kakurenbo.contest import Credit
from kakurenbo.core import InputError, Table
from kakurenbo.core.rng import stream
from kakurenbo.data.ratings import NOT_SEEN
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, rehearse
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores

DOCS = Path(__file__).resolve().parent.parent / "docs"
BOOK = Pwscup2024()
KINDS = ("identification", "reconstruction")
ROW = ":reconstruction=row"


def read_original(path: Path) -> Table:
    """Read B from its file; end the script with every problem of a file that is not one."""
    try:
        return BOOK.read_handout(path).table
    except InputError as error:
        raise SystemExit("\n".join(map(str, error.problems))) from error


class Played(NamedTuple):
    """Utility of one release, what "always 0" reconstructs, and what each attack earns."""

    utility: float
    always_0: int
    credits: dict[str, Credit]


def play(original: Table, anonymizer: str, attacks: Sequence[str], seed: int) -> Played:
    """One release under attack."""
    handout = Handout("01", (original,))
    release = BOOK.anonymize(
        handout, registry.build("anonymizers", anonymizer), stream(seed, "replay", anonymizer)
    )
    utility = crosstab_scores(original, release.tables)["U"].value
    knowledge, answer = rehearse(original, release.tables, seed)
    identified: dict[
        str, Identification
    ] = {}  # several attacks build on one identification: find it once
    credits = {}
    for attack in attacks:
        method = registry.build("attacks", attack)
        finder = (
            method.identification
            if isinstance(method, Reconstructing)
            else attack.removesuffix(ROW)
        )
        if finder not in identified:
            found = registry.build("attacks", finder).identify(
                knowledge, stream(seed, "replay", anonymizer, finder)
            )
            identified[finder] = found
        values = identified[finder].values
        if isinstance(method, Reconstructing):
            values = method.reconstruct(
                knowledge, identified[finder], stream(seed, "replay", anonymizer, attack)
            )
        credits[attack] = BOOK.score_guess(answer, RatingsGuess(identified[finder].people, values))
    return Played(utility, int((answer.values == NOT_SEEN).sum()), credits)


def interval(values: Sequence[float]) -> str:
    """Mean with the half width of its 95 % interval (normal approximation)."""
    return f"{np.mean(values):.1f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("poster",))
    parser.add_argument("originals", nargs="+", type=Path, metavar="B.csv")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument(
        "--sections", nargs="*", choices=("noise", "filtering", "repair", "readings")
    )
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    from poster_pwscup2024 import SECTIONS, page

    target = DOCS / "replays" / "pwscup2024.md"
    sections = given.sections or SECTIONS
    made = page(
        given.originals, given.seeds, given.jobs, sections, target.read_text(encoding="utf-8")
    )
    target.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
