"""How many members of amic2020 the membership attacks name, at full size: mean hits of 100 over many draws, chance 10.

    python -m benchmarks.membership_hits --draws 20 --releases "synthetic;permute" --attacks "tracing;max_entropy"

Each draw takes another sample C of 10,000 rows of one B of 100,000, and lets a method anonymize it. `fresh` is the null: a
sample that has nothing to do with C, in which no attack may find anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import reference_data
from kakurenbo import registry
from kakurenbo.attacks.membership import MembershipAttack, MembershipKnowledge
from kakurenbo.datasets.adult import SCHEMA, adult_statistics
from kakurenbo.generators import GENERATORS, generate
from kakurenbo.rng import stream
from kakurenbo.tables import Read, Source, Table, read_table

FRESH = "fresh"
RELEASES = ("rr:p=0.5", "rrp:p=0.5", "rr:p=0.3", "rrp:p=0.3", "swap:share=0.5", "swap:share=0.8", "synthetic", "permute", FRESH)
ATTACKS = ("nearest", "likelihood", "kernel", "tracing", "max_entropy", "champion")
SAMPLED = 0.1


@dataclass(frozen=True, eq=False)
class Draw:
    """One release, what attackers know of it, and who its members are."""

    knowledge: MembershipKnowledge
    members: NDArray[np.int64]


def population() -> Table:
    """B: that of the reference data where it is, else drawn from the embedded statistics."""
    folder = reference_data()
    if folder is not None:
        read = read_table(Source.of(folder / "amic2020" / "reference" / "B.csv.gz"), SCHEMA)
        if isinstance(read, Read):
            return read.value
    return generate(GENERATORS["moments"], adult_statistics("train"), 100_000, stream(1, "hits", "B"), distinct=True)


def draws(base: Table, release: str, count: int, *, declared: bool) -> Iterator[Draw]:
    """So many draws of a method, by name and parameters, or of ``fresh``: a sample of B that does not depend on C."""
    size = round(SAMPLED * len(base))
    for number in range(count):
        order = stream(number, "hits", "sample").permutation(len(base))
        members, rng = order[:size], stream(number, "hits", release)
        if release == FRESH:
            yield Draw(MembershipKnowledge(base, base.take(rng.permutation(len(base))[:size])), members)
            continue
        method = registry.build("anonymizers", release)
        table = method(base.take(members), rng).table
        told = (method.mechanism(table), method) if declared else (None, None)
        yield Draw(MembershipKnowledge(base, table, 100, *told), members)


def hits(attack: MembershipAttack, drawn: Draw, number: int) -> int:
    """Members among the rows that an attack names."""
    guess = attack(drawn.knowledge, stream(number, "hits", "attack"))
    return int(np.isin(guess.rows, drawn.members).sum())


def table_lines(releases: Sequence[str], attacks: Sequence[str], count: int, *, declared: bool) -> Iterator[str]:
    """A line for each release: mean hits of each attack, plus and minus twice their standard error."""
    base = population()
    yield f"| release | {' | '.join(attacks)} |"
    yield f"| --- |{' ---: |' * len(attacks)}"
    for release in releases:
        found: dict[str, list[int]] = {name: [] for name in attacks}
        for number, drawn in enumerate(draws(base, release, count, declared=declared)):
            for name in attacks:
                found[name].append(hits(registry.build("attacks", name), drawn, number))
        yield f"| {release} | {' | '.join(map(_shown, found.values()))} |"


def _shown(found: list[int]) -> str:
    """The mean, and twice its standard error where there are draws to tell it from."""
    spread = f" ± {2 * np.std(found, ddof=1) / np.sqrt(len(found)):.1f}" if len(found) > 1 else ""
    return f"{np.mean(found):.1f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--releases", default=";".join(RELEASES), help="methods with parameters, separated by semicolons")
    parser.add_argument("--attacks", default=";".join(ATTACKS), help="attacks with parameters, separated by semicolons")
    parser.add_argument("--declared", action="store_true", help="tell the attackers the method")
    given = parser.parse_args()
    for line in table_lines(given.releases.split(";"), given.attacks.split(";"), given.draws, declared=given.declared):
        print(line, flush=True)


if __name__ == "__main__":
    main()
