"""How strong the attacks of pwscup2024 are with everything an attacker may know, and what the defences are worth against them.

    python scripts/strength_pwscup2024.py B.csv ... [--anonymizers NAME ...] [--known siblings] [--draws 10] [--write]

B files may be gzipped. Every attack is played without and with tables of other people ("siblings"). There is one B of each
source here, so its own rows other than the 50 under attack stand for them; the declared method is known.
``permute_columns`` hides nearly everything, so that what is earned there with siblings is what no release can hide.

Prints mean ± half width of the 95 % interval (normal approximation); the seed of draw i is i, counted from 0. Totals are the
contest's, of the most hits of any attack in each draw. ``--write`` puts the table of what is earned with siblings into
docs/pwscup2024.md, for each B by itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from kakurenbo.attacks.reconstruction import RatingsKnowledge
from kakurenbo.contest import Anonymizer, Credit
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data.ratings import NAME, NOT_SEEN
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, rehearse
from kakurenbo.rulebooks.pwscup2024.scores import total_score
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores
from replay_pwscup2024 import DOCS, interval, read_original

PAGE = DOCS / "pwscup2024.md"
BOOK = Pwscup2024()
ANONYMIZERS = (
    "permute_columns",
    *(f"just_enough:utility={utility}" for utility in (72, 77, 82)),
    *(f"even_tables:utility={utility}" for utility in (76, 80, 83, 86)),
)
ATTACKS = ("posterior", "shadow_ratings")
KINDS = ("identification", "reconstruction")
ALONE, WITH_SIBLINGS = "", " + siblings"


def siblings_of(original: Table, knowledge: RatingsKnowledge) -> Table:
    """The rows of B other than those under attack, told by their names."""
    attacked = set(knowledge.people.texts(NAME).to_list())
    return original.take(
        np.flatnonzero([name not in attacked for name in original.texts(NAME).to_list()])
    )


def draw(
    original: Table, anonymizer: str, attacks: Sequence[str], known: Sequence[str], seed: int
) -> dict[str, float]:
    """One release under attack: utility, what "always 0" earns, hits of both kinds of each attack, totals."""
    method = registry.build("anonymizers", anonymizer)
    assert isinstance(method, Anonymizer)
    release = BOOK.anonymize(Handout("01", (original,)), method, stream(seed, "replay", anonymizer))
    utility = crosstab_scores(original, release.tables)["U"].value
    target, answer = rehearse(original, release.tables, seed)
    target = replace(target, declared=method)
    figures = {"utility": utility, "always 0": float(int((answer.values == NOT_SEEN).sum()))}
    most = {ALONE: figures["always 0"], WITH_SIBLINGS: figures["always 0"]}
    for attack in attacks:
        for knows in known:
            given = replace(target, siblings=(siblings_of(original, target),)) if knows else target
            guess = registry.build("attacks", attack)(
                given, stream(seed, "strength", anonymizer, attack)
            )
            credit: Credit = BOOK.score_guess(answer, guess)
            figures |= {f"{attack}{knows}: {kind}": float(credit.details[kind]) for kind in KINDS}
            most[knows] = max(most[knows], float(credit.hits))
    for knows in known:
        hits = max(most[ALONE], most[knows])
        figures[f"total{knows}"] = float(
            total_score(Fraction(100) - Fraction(hits), Fraction(str(utility)))
        )
    return figures


Shown = Mapping[str, str]
"""Mean and interval of each figure."""


def show(title: str, draws: Sequence[Mapping[str, float]]) -> Shown:
    shown = {name: interval([one[name] for one in draws]) for name in draws[0]}
    print(f"\n{title}, {len(draws)} draws")
    for name, text in shown.items():
        print(f"  {name}: {text}", flush=True)
    return shown


def table(rows: Mapping[str, Shown], attacks: Sequence[str]) -> str:
    """What attacks with siblings earn, a row per anonymizer: people + ratings."""
    heads = ["anonymizer", "utility", *(f"`{attack}`" for attack in attacks), "total"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for anonymizer, shown in rows.items():
        earned = [
            " + ".join(shown[f"{attack}{WITH_SIBLINGS}: {kind}"] for kind in KINDS)
            for attack in attacks
        ]
        utility = shown["utility"].removesuffix(" ± 0.0")
        lines.append(
            f"| {' | '.join([f'`{anonymizer}`', utility, *earned, shown[f'total{WITH_SIBLINGS}']])} |"
        )
    return "\n".join(lines) + "\n"


def written(page: str, name: str, made: str) -> str:
    """A page with the table of one B in its place."""
    head, begin, rest = page.partition(f"<!-- strength on {name} -->\n")
    _, end, tail = rest.partition("<!-- end of strength -->\n")
    return head + begin + made + end + tail


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("originals", nargs="+", type=Path, metavar="B.csv")
    parser.add_argument("--anonymizers", nargs="+", default=ANONYMIZERS)
    parser.add_argument("--attacks", nargs="+", default=ATTACKS)
    parser.add_argument("--known", choices=("alone", "siblings", "both"), default="both")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/pwscup2024.md"
    )
    given = parser.parse_args()
    if given.write and given.known == "alone":
        parser.error("the tables of the page are of attackers with siblings")
    known = {"alone": (ALONE,), "siblings": (WITH_SIBLINGS,), "both": (ALONE, WITH_SIBLINGS)}[
        given.known
    ]
    for path in given.originals:
        original, name, rows = read_original(path), path.name.removesuffix(".gz"), {}
        for anonymizer in given.anonymizers:
            played = [
                draw(original, anonymizer, given.attacks, known, seed)
                for seed in range(given.draws)
            ]
            rows[anonymizer] = show(f"{anonymizer} on {name}", played)
        if given.write:
            made = f"On `{name}`, {given.draws} draws:\n\n{table(rows, given.attacks)}"
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, made), encoding="utf-8")


if __name__ == "__main__":
    main()
