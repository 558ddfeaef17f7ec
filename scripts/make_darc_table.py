"""The table of docs/darc2019.md: every anonymizer against every attack on the real T, with U and score in both modes.

``python scripts/make_darc_table.py T.csv[.gz]`` prints it as Markdown; it takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kakurenbo import registry
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.rng import stream
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.credit import reid
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.utility import baselines, counts_in, errors_of
from kakurenbo.tables import Problems

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
    "swap_baskets",
    "swap_baskets:pseudonym=customer",
    "share_baskets",
    "crowds",
)
ATTACKS = (
    "tfidf:one_to_one=false",
    "tfidf",
    "fellegi_sunter",
    "profile",
    "rhythm",
    "rhythm:link_months=false",
)
MODES = ("rules", "aicrowd")


def main(path: str) -> None:
    handout = Darc2019().read_handout(Path(path))
    if isinstance(handout, Problems):
        sys.exit("\n".join(map(str, handout)))
    names = ["S1–S6", "S7", *ATTACKS, *(f"{figure}, {mode}" for mode in MODES for figure in ("U", "reid", "score"))]
    print(f"| anonymizer | {' | '.join(names)} |\n| --- | {' | '.join(['---:'] * len(names))} |")
    for text in ANONYMIZERS:
        cells = [f"{value:.3f}" for value in figures(handout, text)]
        print(f"| `{text.removeprefix('pipeline:steps=').replace('|', ' + ')}` | {' | '.join(cells)} |", flush=True)


def figures(handout: Handout, text: str) -> list[float]:
    """Rates of the baselines and the attacks under the rules; then U, highest rate and score in each mode."""
    original = handout.original
    method = registry.build("anonymizers", text)
    released = Darc2019().anonymize(handout, method, stream(2019, "table", text)).table
    answer, rows = answer_of(original, released)
    known = ReidentificationKnowledge(original, rows.take(stream(2019, "order", text).permutation(len(rows))))
    guesses = {name: registry.build("attacks", name)(known, stream(2019, name)) for name in ATTACKS}
    shown: list[float] = []
    summary: list[float] = []
    for mode in MODES:
        rates = {name: reid(answer, attack(known, stream(0, name)), mode) for name, attack in baselines(mode).items()}
        rates |= {name: reid(answer, guess, mode) for name, guess in guesses.items()}
        if mode == "rules":
            shown = [max(rates[f"S{number}"] for number in range(1, 7)), *(rates[name] for name in ("S7", *ATTACKS))]
        loss = min(1.0, max(errors_of(original, released, mode).values()))
        highest = max(rate for name, rate in rates.items() if counts_in(mode, name))
        summary += [loss, highest, (loss + highest) / 2]
    return [*shown, *summary]


if __name__ == "__main__":
    main(*sys.argv[1:])
