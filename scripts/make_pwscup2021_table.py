"""Play the linkage attacks on every release of pwscup2021's default field and write the table of docs/pwscup2021.md.

    python scripts/make_pwscup2021_table.py [--tables 12] [--rows 4190]

B is drawn from the embedded statistics. Every figure is the mean R over so many test tables of each round, the same for all
attacks; what a release scores is that of the main round.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from kakurenbo import registry
from kakurenbo.attacks.linkage import LinkageKnowledge
from kakurenbo.contracts import Player
from kakurenbo.datasets import nhanes
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2021 import Answer, Handout, Pwscup2021
from kakurenbo.rulebooks.pwscup2021.preparation import generated_table
from kakurenbo.tables import Problems, Source

PAGE = Path(__file__).resolve().parent.parent / "docs" / "pwscup2021.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
ATTACKS = {"main": ("rlink", "rlink:deleted=0", "likelihood_link"), "pre": ("rlink", "index_link")}
PLAYERS = Pwscup2021.default_players
MEASURES = ("uniqrt", "rate", "odds_ratio", "cor", "iloss")


def line(player: Player, handout: Handout, tables: int) -> str:
    """One row of the table."""
    main = Pwscup2021(round="main")
    anonymizer = registry.build("anonymizers", player.anonymizer)
    release = main.anonymize(handout, anonymizer, stream(1, "table", player.name))
    sources = [Source(name, data) for name, data in main.release_files(handout, release).items()]
    read = main.check_release(handout, sources)
    if isinstance(read, Problems):
        raise SystemExit(f"{player.name}: {read[0]}")
    utility = main.measure(handout, read.value)
    cells = [player.name, "yes" if utility.passes else "no"]
    cells += [f"{utility.scores[name].value:.3g}" for name in MEASURES]
    for round_, attacks in ATTACKS.items():
        rules = Pwscup2021(round=round_, order="shuffled")
        earned: dict[str, list[float]] = {attack: [] for attack in attacks}
        for number in range(tables):
            people, places = rules.test_table(handout, read.value, stream(2, "table", player.name, str(number)))
            everybody = handout.table if round_ == "pre" else None
            knowledge = LinkageKnowledge(people, read.value.release, len(people) // 2, everybody)
            for attack in attacks:
                guess = registry.build("attacks", attack)(knowledge, stream(3, "table", str(number)))
                earned[attack].append(rules.credit(Answer(places, len(read.value.release)), guess).hits)
        cells += [f"{np.mean(found):.3f}" for found in earned.values()]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--rows", type=int, default=nhanes.ROWS)
    given = parser.parse_args()
    handout = Handout("01", generated_table(nhanes.embedded_statistics(), given.rows, stream(0, "table", "B")))
    head = ["release", "passes", *MEASURES, *(f"{attack} ({round_})" for round_, names in ATTACKS.items() for attack in names)]
    lines = [f"| {' | '.join(head)} |", f"| --- | --- | {' | '.join(['---:'] * (len(head) - 2))} |"]
    for player in PLAYERS:
        lines.append(line(player, handout, given.tables))
        print(lines[-1], flush=True)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
