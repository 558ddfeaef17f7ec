"""How many members of amic2020 the membership attacks name, at full size: mean hits of 100 over many draws, chance 10.

    python -m benchmarks.membership_hits --draws 20 --releases "synthetic;permute" --attacks "tracing;champion"

Each draw takes another sample C of 10,000 rows of one B of 100,000, and lets a method anonymize it. Two releases are no methods
of the library: `others` holds records of other people with the exact histograms of C and covariances repaired towards C's;
`fresh` is the null, a sample that has nothing to do with C, in which no attack may find anything. With `--kept FILE` every draw
is kept as it is done, and a run that was cut short goes on there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import reference_data
from kakurenbo.anonymizers.tables.hideout_targets import with_histograms
from kakurenbo.anonymizers.tables.repair import Repair
from kakurenbo.anonymizers.tables.synthetic import draw_population
from kakurenbo.attacks.membership import MembershipAttack, MembershipKnowledge
from kakurenbo.contest import Anonymizer, Release
from kakurenbo.core import Source, Table, read_table
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import SCHEMA, adult_statistics
from kakurenbo.data.generators import GENERATORS, generate
from kakurenbo.methods import registry

FRESH, OTHERS = "fresh", "others"
RELEASES = (
    "rr:p=0.5", "rrp:p=0.5", "rr:p=0.3", "rrp:p=0.3", "swap:share=0.5", "swap:share=0.8", "synthetic", "permute", OTHERS, FRESH,
)  # fmt: skip
ATTACKS = (
    "nearest",
    "likelihood",
    "kernel",
    "tracing",
    "tracing:shadows=8",
    "champion",
)
REFERENCE = "reference"
POPULATIONS = (REFERENCE, *sorted(GENERATORS))
SAMPLED = 0.1


@dataclass(frozen=True, eq=False)
class Draw:
    """One release, what attackers know of it, and who its members are."""

    knowledge: MembershipKnowledge
    members: NDArray[np.int64]


@dataclass(frozen=True)
class OtherPeople(Anonymizer):
    """Records of a fresh run of the public generator, with the input's histograms, repaired towards its covariances."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        people = draw_population(table, "auto", rng)
        others = people.take(rng.permutation(len(people))[: len(table)])
        counted = with_histograms(
            others, {name: table.frequencies(name) for name in table.schema.names}, rng
        )
        return Repair().after(table, Release.of(counted), rng)


def population(which: str) -> Table:
    """B: that of the reference data, or drawn by a generator from the embedded statistics."""
    if which != REFERENCE:
        return generate(
            GENERATORS[which],
            adult_statistics("train"),
            100_000,
            stream(1, "hits", "B"),
            distinct=True,
        )
    folder = reference_data()
    if folder is None:
        raise SystemExit(
            "the reference data is not here; give --population " + " or ".join(POPULATIONS[1:])
        )
    return read_table(Source.of(folder / "amic2020" / "reference" / "B.csv.gz"), SCHEMA)


def draw(base: Table, release: str, number: int, *, declared: bool) -> Draw:
    """One draw of a method, by name and parameters, of ``others``, or of ``fresh``."""
    size = round(SAMPLED * len(base))
    members, rng = (
        stream(number, "hits", "sample").permutation(len(base))[:size],
        stream(number, "hits", release),
    )
    if release == FRESH:
        return Draw(
            MembershipKnowledge(base, base.take(rng.permutation(len(base))[:size])), members
        )
    method = OtherPeople() if release == OTHERS else registry.build("anonymizers", release)
    table = method(base.take(members), rng).table
    told = (method.mechanism(table), method) if declared else (None, None)
    return Draw(MembershipKnowledge(base, table, 100, *told), members)


def hits(attack: MembershipAttack, drawn: Draw, number: int) -> int:
    """Members among the rows that an attack names."""
    guess = attack(drawn.knowledge, stream(number, "hits", "attack"))
    return int(np.isin(guess.rows, drawn.members).sum())


class Kept:
    """What was found before, by population, knowledge, release, attack and draw; a line of JSON for each draw."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._found = file, dict[str, int]()
        if file is not None and file.exists():
            self._found = dict(json.loads(line) for line in file.read_text().splitlines())

    def get(self, key: Sequence[Any]) -> int | None:
        return self._found.get(json.dumps(key))

    def put(self, key: Sequence[Any], found: int) -> None:
        self._found[json.dumps(key)] = found
        if self._file is not None:
            with self._file.open("a") as lines:
                lines.write(json.dumps([json.dumps(key), found]) + "\n")


def table_lines(given: argparse.Namespace) -> Iterator[str]:
    """A line for each release: mean hits of each attack, plus and minus twice their standard error."""
    kept, base, attacks = Kept(given.kept), population(given.population), given.attacks.split(";")
    yield f"| release | {' | '.join(attacks)} |"
    yield f"| --- |{' ---: |' * len(attacks)}"
    for release in given.releases.split(";"):
        found: dict[str, list[int]] = {name: [] for name in attacks}
        for number in range(given.draws):
            drawn = None
            for name in attacks:
                key = (given.population, given.declared, release, name, number)
                if (known := kept.get(key)) is None:
                    drawn = drawn or draw(base, release, number, declared=given.declared)
                    known = hits(registry.build("attacks", name), drawn, number)
                    kept.put(key, known)
                found[name].append(known)
        yield f"| {release} | {' | '.join(map(_shown, found.values()))} |"


def _shown(found: list[int]) -> str:
    """The mean, and twice its standard error where there are draws to tell it from."""
    spread = f" ± {2 * np.std(found, ddof=1) / np.sqrt(len(found)):.1f}" if len(found) > 1 else ""
    return f"{np.mean(found):.1f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument(
        "--releases",
        default=";".join(RELEASES),
        help="methods with parameters, separated by semicolons",
    )
    parser.add_argument(
        "--attacks",
        default=";".join(ATTACKS),
        help="attacks with parameters, separated by semicolons",
    )
    parser.add_argument("--declared", action="store_true", help="tell the attackers the method")
    parser.add_argument(
        "--population", choices=POPULATIONS, default=REFERENCE if reference_data() else "moments"
    )
    parser.add_argument(
        "--kept", type=Path, help="a file to keep what was found in, and to go on from"
    )
    for line in table_lines(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
