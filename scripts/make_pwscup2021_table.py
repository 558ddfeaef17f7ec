"""Play the linkage attacks on every release of pwscup2021's default field and write the tables of docs/pwscup2021.md.

    python scripts/make_pwscup2021_table.py [--draws 8] [--tables 4] [--rows 4190]

Every draw has a B of its own, drawn from the embedded statistics, releases of its own, and so many test tables of each release,
the same for all attacks and for both rounds (which only differ in what an attacker knows, and in d). Intervals are of the means
over the draws, and of the difference of two attacks on the same tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from kakurenbo.attacks.linkage import LinkageKnowledge
from kakurenbo.contest import Player
from kakurenbo.core import InputError, Source
from kakurenbo.core.rng import stream
from kakurenbo.data import health as nhanes
from kakurenbo.methods import registry
from kakurenbo.reports.estimates import estimate
from kakurenbo.rulebooks.pwscup2021 import Answer, Handout, Pwscup2021, Submission
from kakurenbo.rulebooks.pwscup2021.data import generated_table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "pwscup2021.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
SAMPLE, OURS, INDEX = "rlink", "likelihood_link", "index_link"
ATTACKS = {"main": (SAMPLE, "rlink:deleted=0", OURS), "pre": (SAMPLE, OURS, INDEX)}
GAINS = (("main", OURS), ("pre", OURS), ("pre", INDEX))
PLAYERS = Pwscup2021.default_players
MEASURES = ("uniqrt", "rate", "odds_ratio", "cor", "iloss")
WORKERS = 2


@dataclass(frozen=True)
class Draw:
    """One release of one B: what it scores, and the mean R of every attack of a round."""

    passes: bool
    measures: dict[str, float]
    earned: dict[tuple[str, str], float]


@cache
def handed_out(rows: int, number: int) -> Handout:
    """A B of so many rows."""
    return Handout(
        "01",
        generated_table(nhanes.embedded_statistics(), rows, stream(0, "table", "B", str(number))),
    )


def played(player: Player, tables: int, rows: int, number: int) -> Draw:
    """What one player's release of one B scores and loses."""
    main = Pwscup2021(round="main")
    handout = handed_out(rows, number)
    anonymizer = registry.build("anonymizers", player.anonymizer)
    release = main.anonymize(handout, anonymizer, stream(1, "table", player.name, str(number)))
    sources = [Source(name, data) for name, data in main.release_files(handout, release).items()]
    try:
        submission = main.read_release(handout, sources)
    except InputError as error:
        raise SystemExit(f"{player.name}: {error}") from error
    utility = main.measure(handout, submission)
    found = [
        attacked(handout, submission, stream(2, "table", player.name, str(number), str(table)))
        for table in range(tables)
    ]
    earned = {key: float(np.mean([table[key] for table in found])) for key in found[0]}
    return Draw(utility.passes, {name: utility.scores[name].value for name in MEASURES}, earned)


def attacked(
    handout: Handout, submission: Submission, rng: np.random.Generator
) -> dict[tuple[str, str], float]:
    """R of every attack of either round on one test table."""
    rounds = {round_: Pwscup2021(round=round_, order="shuffled") for round_ in ATTACKS}
    people, places = rounds["main"].test_table(handout, submission, rng)
    answer = Answer(places, len(submission.release))
    guesses = {}
    for attack in dict.fromkeys(name for names in ATTACKS.values() for name in names):
        known = handout.table if attack == INDEX else None  # the others make nothing of B
        knowledge = LinkageKnowledge(people, submission.release, len(people) // 2, known)
        guesses[attack] = registry.build("attacks", attack)(knowledge, rng)
    return {
        (round_, attack): rounds[round_].score_guess(answer, guesses[attack]).hits
        for round_, attacks in ATTACKS.items()
        for attack in attacks
    }


def shown(values: Sequence[float], signed: str = "") -> str:
    """Mean ± half width of the 95 % interval."""
    found = estimate(values)
    return f"{found.mean:{signed}.3f}" + ("" if found.half is None else f" ± {found.half:.3f}")


def table(head: Sequence[str], lines: Sequence[Sequence[str]], words: int) -> list[str]:
    """A Markdown table whose first columns are words."""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *lines)]


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--rows", type=int, default=nhanes.ROWS)
    given = parser.parse_args()
    scored, earned = [], []
    with ProcessPoolExecutor(WORKERS) as pool:
        for player in PLAYERS:
            draws = list(
                pool.map(partial(played, player, given.tables, given.rows), range(given.draws))
            )
            largest = [f"{max(draw.measures[name] for draw in draws):.3g}" for name in MEASURES]
            scored.append(
                [player.name, "yes" if all(draw.passes for draw in draws) else "no", *largest]
            )
            means = [
                shown([draw.earned[round_, name] for draw in draws])
                for round_, names in ATTACKS.items()
                for name in names
            ]
            gains = [
                [draw.earned[round_, name] - draw.earned[round_, SAMPLE] for draw in draws]
                for round_, name in GAINS
            ]
            earned.append([player.name, *means, *(shown(gain, "+") for gain in gains)])
            print(scored[-1], earned[-1], flush=True)
    attacks = [f"{name} ({round_})" for round_, names in ATTACKS.items() for name in names]
    gained = [f"{name} − {SAMPLE} ({round_})" for round_, name in GAINS]
    said = f"Of {given.draws} draws of a B of {given.rows:,} rows and its release, {given.tables} test tables each:"
    parts = [[said, ""], table(["release", "passes", *MEASURES], scored, 2), [""]]
    lines = [
        line for part in (*parts, table(["release", *attacks, *gained], earned, 1)) for line in part
    ]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(
        f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
