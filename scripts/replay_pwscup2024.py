"""Play pwscup2024's methods against each other and write pages and tables of the documentation.

    python scripts/replay_pwscup2024.py poster B.csv ... [--seeds 20] [--jobs 2]   docs/replays/pwscup2024.md, the poster again
    python scripts/replay_pwscup2024.py matrix [B.csv] [--seeds 5]                 the table of docs/pwscup2024.md

B files may be gzipped. Without one, ``matrix`` draws a B per seed from the embedded statistics.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kakurenbo import registry
from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.attacks.reconstruction.methods import Identification, Reconstructing
from kakurenbo.contracts import Credit
from kakurenbo.datasets.ratings import NOT_SEEN
from kakurenbo.generators.ratings import RatingsGenerator
from kakurenbo.measures.constant_answer import constant_answer
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, rehearse
from kakurenbo.rulebooks.pwscup2024.scores import total_score
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores
from kakurenbo.tables import Table
from plot_repair import read_original

DOCS = Path(__file__).resolve().parent.parent / "docs"
BOOK = Pwscup2024()
KINDS = ("identification", "reconstruction")
ANONYMIZERS = (
    "pseudo_olh:epsilon=1",
    "pseudo_olh:epsilon=2",
    "pseudo_olh:epsilon=3",
    "pseudo_olh:epsilon=2,per_file=false",
    "olh:epsilon=2",
    "shuffle_rows",
    "pipeline:steps=pseudo_olh:epsilon=2|shuffle_rows",
    "permute_columns",
    "group_shuffle",
    "swap_cells:swaps=20000",
    "pipeline:steps=group_shuffle|swap_cells",
    "pipeline:steps=pseudo_olh:epsilon=2|crosstab_repair:iterations=3000",
    "pipeline:steps=pseudo_olh:epsilon=2|crosstab_repair_fast:utility=85",
    "pipeline:steps=permute_columns|crosstab_repair_fast:utility=85",
    "pipeline:steps=permute_columns|crosstab_repair_fast:utility=90",
    "just_enough:utility=77",
)
ROW = ":reconstruction=row"
ATTACKS = (
    "sample",
    "euclidean",
    "all_pairs",
    "collaborative_filtering:variant=all0",
    "collaborative_filtering:variant=user",
    "collaborative_filtering:variant=item",
    "collaborative_filtering:variant=w",
    "collaborative_filtering:variant=w50",
    "bayes" + ROW,
    "posterior",
)


class Played(NamedTuple):
    """Utility of one release, what "always 0" reconstructs, and what each attack earns."""

    utility: float
    always_0: int
    credits: dict[str, Credit]


def play(original: Table, anonymizer: str, attacks: Sequence[str], seed: int) -> Played:
    """One release under attack."""
    handout = Handout("01", (original,))
    release = BOOK.anonymize(handout, registry.build("anonymizers", anonymizer), stream(seed, "replay", anonymizer))
    utility = crosstab_scores(original, release.tables)["U"].value
    knowledge, answer = rehearse(original, release.tables, seed)
    identified: dict[str, Identification] = {}  # several attacks build on one identification: find it once
    credits = {}
    for attack in attacks:
        method = registry.build("attacks", attack)
        finder = method.identification if isinstance(method, Reconstructing) else attack.removesuffix(ROW)
        if finder not in identified:
            found = registry.build("attacks", finder).identify(knowledge, stream(seed, "replay", anonymizer, finder))
            identified[finder] = found
        values = identified[finder].values
        if isinstance(method, Reconstructing):
            values = method.reconstruct(knowledge, identified[finder], stream(seed, "replay", anonymizer, attack))
        credits[attack] = BOOK.credit(answer, RatingsGuess(identified[finder].people, values))
    return Played(utility, constant_answer(answer.values, NOT_SEEN).hits, credits)


def originals(path: Path | None, seeds: int) -> list[Table]:
    """The table of the file for every seed, or a table per seed from the embedded statistics."""
    if path is None:
        draw = RatingsGenerator(stream(0, "replay", "calibration"))
        return [draw(1, 10_000, stream(seed, "replay", "original"))[0] for seed in range(seeds)]
    return [read_original(path)] * seeds


def interval(values: Sequence[float]) -> str:
    """Mean with the half width of its 95 % interval (normal approximation)."""
    return f"{np.mean(values):.1f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


def titled_matrix(path: Path | None, seeds: int) -> str:
    """The table below the name of its B file and the number of draws."""
    data = "a B per draw from the embedded statistics" if path is None else f"`{path.name.removesuffix('.gz')}`"
    return f"On {data}, {seeds} draws of noise, people and masks:\n\n{matrix(path, seeds)}"


def matrix(path: Path | None, seeds: int) -> str:
    tables = originals(path, seeds)
    heads = [attack.replace("collaborative_filtering:variant=", "cf ").replace(ROW, " row") for attack in ATTACKS]
    lines = [
        f"| anonymizer | utility | {' | '.join(heads)} | anonymity | total |",
        f"| --- | ---: |{' ---: |' * (len(heads) + 2)}",
    ]
    for anonymizer in ANONYMIZERS:
        runs = [play(original, anonymizer, ATTACKS, seed) for seed, original in enumerate(tables)]
        anonymity = [100 - max(credit.hits for credit in run.credits.values()) for run in runs]
        totals = [float(total_score(Fraction(a), Fraction(str(run.utility)))) for a, run in zip(anonymity, runs, strict=True)]
        cells = [
            " + ".join(f"{np.mean([run.credits[attack].details[kind] for run in runs]):.1f}" for kind in KINDS)
            for attack in ATTACKS
        ]
        shown = anonymizer.removeprefix("pipeline:steps=").replace("|", " then ")
        utility = f"{np.mean([run.utility for run in runs]):.1f}"
        lines.append(f"| `{shown}` | {utility} | {' | '.join(cells)} | {np.mean(anonymity):.1f} | {interval(totals)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("poster", "matrix"))
    parser.add_argument("originals", nargs="*", type=Path, metavar="B.csv")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--sections", nargs="*", choices=("noise", "filtering", "repair"))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if given.what == "poster":
        from poster_pwscup2024 import SECTIONS, page

        if not given.originals:
            parser.error("the poster's table is re-made on B files: name at least one")
        target = DOCS / "replays" / "pwscup2024.md"
        sections = given.sections or SECTIONS
        made = page(given.originals, given.seeds or 20, given.jobs, sections, target.read_text(encoding="utf-8"))
        target.write_text(made, encoding="utf-8")
        return
    table = "\n".join(titled_matrix(path, given.seeds or 5) for path in given.originals or [None])
    target = DOCS / "pwscup2024.md"
    head, begin, rest = target.read_text(encoding="utf-8").partition("<!-- table -->\n")
    _, end, tail = rest.partition("<!-- end of table -->\n")
    target.write_text(head + begin + table + end + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
