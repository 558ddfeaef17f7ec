"""Play pwscup2024's methods against each other and write the tables of the documentation.

    python scripts/replay_pwscup2024.py poster [B.csv] [--seeds 20]   docs/replays/pwscup2024.md, the poster's table again
    python scripts/replay_pwscup2024.py matrix [B.csv] [--seeds 5]    docs/pwscup2024.md, all against all

Without B.csv every seed draws a B of its own from the embedded statistics.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from kakurenbo import registry
from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.attacks.reconstruction.methods import Identification, Reconstructing
from kakurenbo.contracts import Credit, Preparation
from kakurenbo.generators.ratings import RatingsGenerator
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, Submission
from kakurenbo.rulebooks.pwscup2024.preparation import Secrets
from kakurenbo.rulebooks.pwscup2024.scores import total_score
from kakurenbo.tables import Problems, Table

DOCS = Path(__file__).resolve().parent.parent / "docs"
BOOK = Pwscup2024()
POSTER = {1: (55.2, 3, 23, 74), 2: (54.57, 1, 12, 87), 3: (55.68, 8, 31, 61)}
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


def play(original: Table, anonymizer: str, attacks: Sequence[str], seed: int) -> tuple[float, dict[str, Credit]]:
    """Utility of one release, and what each attack earns on it."""
    handout = Handout("01", (original,))
    release = BOOK.anonymize(handout, registry.build("anonymizers", anonymizer), stream(seed, "replay", anonymizer))
    submission = Submission(release.tables)
    utility = BOOK.measure(handout, submission).scores["U"].value
    preparation = Preparation({"01": handout}, {}, {}, Secrets())
    target = BOOK.publish(preparation, {"01": submission}, seed)["01"]
    identified: dict[str, Identification] = {}  # several attacks build on one identification: find it once
    credits = {}
    for attack in attacks:
        method = registry.build("attacks", attack)
        finder = method.identification if isinstance(method, Reconstructing) else attack.removesuffix(ROW)
        if finder not in identified:
            found = registry.build("attacks", finder).identify(target.knowledge, stream(seed, "replay", anonymizer, finder))
            identified[finder] = found
        values = identified[finder].values
        if isinstance(method, Reconstructing):
            values = method.reconstruct(target.knowledge, identified[finder], stream(seed, "replay", anonymizer, attack))
        credits[attack] = BOOK.credit(target.answer, RatingsGuess(identified[finder].people, values))
    return utility, credits


def originals(path: str | None, seeds: int) -> list[Table]:
    """The table of the file for every seed, or a table per seed from the embedded statistics."""
    if path is None:
        draw = RatingsGenerator(stream(0, "replay", "calibration"))
        return [draw(1, 10_000, stream(seed, "replay", "original"))[0] for seed in range(seeds)]
    handout = BOOK.read_handout(Path(path))
    if isinstance(handout, Problems):
        raise SystemExit("\n".join(map(str, handout)))
    return [handout.table] * seeds


def interval(values: Sequence[float]) -> str:
    """Mean with the half width of its 95 % interval (normal approximation)."""
    return f"{np.mean(values):.1f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


def poster(path: str | None, seeds: int) -> str:
    tables = originals(path, seeds)
    attacks = ("euclidean", "collaborative_filtering:variant=w50", "sample", "posterior")
    lines = [
        "| epsilon | | utility | identification | reconstruction | anonymity |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for epsilon, printed in POSTER.items():
        lines.append(f"| {epsilon} | the poster, one draw | {' | '.join(map(str, printed))} |")
        runs = [play(original, f"pseudo_olh:epsilon={epsilon}", attacks, seed) for seed, original in enumerate(tables)]
        utility = interval([run[0] for run in runs])
        for name, finders in (
            ("team 09's attacks", attacks[:2]),
            ("the sample attack", ("sample", "sample")),
            ("`posterior` with `bayes`", ("posterior", "posterior")),
        ):
            found = [run[1][finders[0]].details["identification"] for run in runs]
            rebuilt = [run[1][finders[1]].details["reconstruction"] for run in runs]
            anonymity = [100 - a - b for a, b in zip(found, rebuilt, strict=True)]
            lines.append(
                f"| {epsilon} | {name} | {utility} | {interval(found)} | {interval(rebuilt)} | {interval(anonymity)} |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def matrix(path: str | None, seeds: int) -> str:
    tables = originals(path, seeds)
    heads = [attack.replace("collaborative_filtering:variant=", "cf ").replace(ROW, " row") for attack in ATTACKS]
    lines = [
        f"| anonymizer | utility | {' | '.join(heads)} | anonymity | total |",
        f"| --- | ---: |{' ---: |' * (len(heads) + 2)}",
    ]
    for anonymizer in ANONYMIZERS:
        runs = [play(original, anonymizer, ATTACKS, seed) for seed, original in enumerate(tables)]
        anonymity = [100 - max(credit.hits for credit in credits.values()) for _, credits in runs]
        totals = [float(total_score(Fraction(a), Fraction(str(run[0])))) for a, run in zip(anonymity, runs, strict=True)]
        cells = [
            " + ".join(f"{np.mean([run[1][attack].details[kind] for run in runs]):.1f}" for kind in KINDS) for attack in ATTACKS
        ]
        shown = anonymizer.removeprefix("pipeline:steps=").replace("|", " then ")
        utility = f"{np.mean([run[0] for run in runs]):.1f}"
        lines.append(f"| `{shown}` | {utility} | {' | '.join(cells)} | {np.mean(anonymity):.1f} | {interval(totals)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("poster", "matrix"))
    parser.add_argument("original", nargs="?", metavar="B.csv")
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args()
    seeds = given.seeds or {"poster": 20, "matrix": 5}[given.what]
    table = {"poster": poster, "matrix": matrix}[given.what](given.original, seeds)
    page = {"poster": DOCS / "replays" / "pwscup2024.md", "matrix": DOCS / "pwscup2024.md"}[given.what]
    head, begin, rest = page.read_text().partition("<!-- table -->\n")
    _, end, tail = rest.partition("<!-- end of table -->\n")
    page.write_text(head + begin + table + end + tail)


if __name__ == "__main__":
    main()
