"""The table of docs/darc2019.md: every anonymizer against every attack on the real T, with U and score in both modes.

``python scripts/make_darc_table.py T.csv[.gz] --draws 3`` writes it into the page; a draw takes some minutes for each process.
``--keep FOLDER`` keeps what each draw gave, so that a run that was stopped goes on; it is for one version of the software.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.core import InputError
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import counts_in, reid
from kakurenbo.rulebooks.darc2019.utility import baselines, buyer_share, errors_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "darc2019.md"
SEED = 2019
ANONYMIZERS = (
    "monthly_pseudonyms",
    "monthly_pseudonyms:period=year",
    "delete:share=0.3",
    "delete:share=0.3,which=rare_items",
    "delete:share=0.3,which=outlying_customers",
    "dates",
    "dates:method=noise",
    "values",
    "swap_items:share=0.2",
    "swap_items:share=0.8,within=price",
    "pipeline:steps=swap_items:share=0.5|dates|values",
    "pipeline:steps=swap_items:share=0.8|dates|values",
    "pipeline:steps=swap_items:share=0.9|dates|values",
    "swap_baskets",
    "swap_baskets:pseudonym=customer",
    "crowds",
    "mixed_crowds",
)
ATTACKS = (
    "tfidf:one_to_one=false",
    "tfidf",
    "fellegi_sunter",
    "profile",
    "rhythm",
    "rhythm:link_months=false",
    "two_owners",
)
MODES = ("rules", "aicrowd")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path, help="T, such as the contest's ground_truth.csv")
    parser.add_argument("--draws", type=int, default=3, help="releases of each anonymizer")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--keep", type=Path, help="folder that keeps the figures of each draw for the next run"
    )
    given = parser.parse_args()
    cases = [
        (given.table, given.keep, text, draw)
        for draw, text in product(range(given.draws), ANONYMIZERS)
    ]
    with ProcessPoolExecutor(given.jobs) as pool:
        found = []
        play = map if given.jobs == 1 else pool.map
        for figures_of_one in play(_figures_of, cases):
            found.append(figures_of_one)
            print(f"{len(found)} of {len(cases)}", file=sys.stderr)
    summary = [f"{figure}, {mode}" for mode in MODES for figure in ("U", "reid", "score")]
    names = ["S1–S6", "S7", *ATTACKS, *summary, "buyer"]
    lines = [
        f"| anonymizer | {' | '.join(names)} |",
        f"| --- | {' | '.join(['---:'] * len(names))} |",
    ]
    widest = 0.0
    for text in ANONYMIZERS:
        draws = np.array(
            [figures for case, figures in zip(cases, found, strict=True) if case[2] == text]
        )
        widest = max(widest, *half_widths(draws))
        shown = text.removeprefix("pipeline:steps=").replace("|", " + ")
        lines.append(
            f"| `{shown}` | {' | '.join(f'{value:.3f}' for value in draws.mean(axis=0))} |"
        )
    said = f"Means of {given.draws} draws with seed {SEED}; no 95 % interval (Student's t) reaches farther than ± {widest:.3f}."
    if given.draws == 1:
        said = f"One draw with seed {SEED}."
    table = "\n".join(["<!-- table -->", said, "", *lines, "<!-- end of table -->"])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- table -->.*<!-- end of table -->", lambda _: table, page, flags=re.S),
        encoding="utf-8",
    )


def half_widths(draws: NDArray[np.float64]) -> Sequence[float]:
    """Half the 95 % interval of each column's mean; (draws, figures) -> (figures,)."""
    count = len(draws)
    if count == 1:
        return [float("inf")]
    spread = draws.std(axis=0, ddof=1) / count**0.5
    return [float(value) for value in student.ppf(0.975, count - 1) * spread]


def _figures_of(case: tuple[Path, Path | None, str, int]) -> list[float]:
    path, keep, text, draw = case
    known = json.dumps([path.name, text, draw, ATTACKS])
    kept = (
        None if keep is None else keep / f"{hashlib.sha256(known.encode()).hexdigest()[:16]}.json"
    )
    if kept is not None and kept.exists():
        found: list[float] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    try:
        handout = Darc2019().read_handout(path)
    except InputError as error:
        sys.exit("\n".join(map(str, error.problems)))
    found = figures(handout, text, draw)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def figures(handout: Handout, text: str, draw: int) -> list[float]:
    """Rates of the baselines and the attacks under the rules; U, highest rate and score in each mode; then the buyers told."""
    original = handout.original
    method = registry.build("anonymizers", text)
    released = Darc2019().anonymize(handout, method, stream(SEED, "table", text, draw)).table
    answer, rows = answer_of(original, released)
    known = ReidentificationKnowledge(
        original, rows.take(stream(SEED, "order", text, draw).permutation(len(rows)))
    )
    guesses = {
        name: registry.build("attacks", name)(known, stream(SEED, name, draw)) for name in ATTACKS
    }
    shown: list[float] = []
    summary: list[float] = []
    for mode in MODES:
        rates = {
            name: reid(answer, attack(known, stream(0, name)), mode)
            for name, attack in baselines(mode).items()
        }
        rates |= {name: reid(answer, guess, mode) for name, guess in guesses.items()}
        if mode == "rules":
            shown = [
                max(rates[f"S{number}"] for number in range(1, 7)),
                *(rates[name] for name in ("S7", *ATTACKS)),
            ]
        loss = min(1.0, max(errors_of(original, released, mode).values()))
        highest = max(rate for name, rate in rates.items() if counts_in(mode, name))
        summary += [loss, highest, (loss + highest) / 2]
    return [*shown, *summary, buyer_share(original, released)]


if __name__ == "__main__":
    main()
