"""A small contest: everybody hides the same people in a table, its rows are shuffled, and attackers link them back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contracts import (
    Anonymizer,
    Attack,
    Chance,
    Credit,
    Files,
    Player,
    Preparation,
    Release,
    RoundResults,
    Rulebook,
    Score,
    Standings,
    Target,
    Threshold,
    Utility,
    rank,
)
from kakurenbo.parameters import parameter
from kakurenbo.rng import stream
from kakurenbo.tables import (
    Category,
    Integer,
    Layout,
    Problem,
    Problems,
    Schema,
    Severity,
    Source,
    Table,
    read_table,
    table_bytes,
)
from kakurenbo.tables.transitional import plain, taken

SCHEMA = Schema([Integer("age", 0, 99), Integer("height", 140, 200), Category("town", ("Aoba", "Izumi", "Taihaku"))])
PEOPLE, RELEASE, ANSWER = "people.csv", "release.csv", "answer.csv"


# --8<-- [start:types]
@dataclass(frozen=True, eq=False)
class Handout:
    """The people to hide, and whose copy this is."""

    team: str
    people: Table


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All people, and the released rows in another order."""

    people: Table
    shuffled: Table


@dataclass(frozen=True, eq=False)
class Links:
    """For each person the row that belongs to it; the answer, and a guess at it."""

    rows: NDArray[np.int64]


# --8<-- [end:types]


# -- methods -----------------------------------------------------------------------------------------------------------


# --8<-- [start:methods]
@dataclass(frozen=True)
class Blur(Anonymizer):
    """Move ages and heights at random by at most so many years and centimetres."""

    rulebooks: ClassVar[tuple[str, ...]] = ("hide-and-seek",)
    reach: int = parameter(5, "the farthest that a value moves", low=0, high=50)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        moved = {}
        for name in ("age", "height"):
            steps = rng.integers(-self.reach, self.reach + 1, len(table))
            moved[name] = np.clip(table.codes[name].astype(int) + steps, 0, table.schema[name].size - 1)
        return Release.of(table.with_codes(moved))


@dataclass(frozen=True)
class Link(Attack[Knowledge, Links]):
    """Link each person to the nearest row."""

    rulebooks: ClassVar[tuple[str, ...]] = ("hide-and-seek",)

    def __call__(self, knowledge: Knowledge, rng: np.random.Generator) -> Links:
        sides = [
            np.stack([table.codes[name].astype(float) for name in SCHEMA.names], axis=1)
            for table in knowledge_tables(knowledge)
        ]
        weights = np.array([1.0, 1.0, 100.0])  # the town is never changed
        squares = (((sides[0][:, None, :] - sides[1][None, :, :]) * weights) ** 2).sum(axis=2)
        return Links(squares.argmin(axis=1))


@dataclass(frozen=True)
class LinkBlindly(Attack[Knowledge, Links]):
    """Link people to rows at random."""

    rulebooks: ClassVar[tuple[str, ...]] = ("hide-and-seek",)

    def __call__(self, knowledge: Knowledge, rng: np.random.Generator) -> Links:
        return Links(rng.permutation(len(knowledge.people)))


# --8<-- [end:methods]


def knowledge_tables(knowledge: Knowledge) -> tuple[Table, Table]:
    return knowledge.people, knowledge.shuffled


# -- the rulebook ------------------------------------------------------------------------------------------------------


# --8<-- [start:facts]
@dataclass(frozen=True)
class HideAndSeek(Rulebook[Handout, Table, Knowledge, Links, Links]):
    """Hide people in a table; link the shuffled rows back to them."""

    name: ClassVar[str] = "hide-and-seek"
    title: ClassVar[str] = "link shuffled records back to people"
    rounds: ClassVar[tuple[str, ...]] = ("only",)
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {"prepare": ("size",), "run": ("size",)}
    default_players: ClassVar[tuple[Player, ...]] = tuple(
        Player(f"blur by {reach}", f"blur:reach={reach}", "link" if reach % 2 else "link-blindly") for reach in range(10)
    )

    size: int = parameter(60, "how many people there are", low=2, high=1000)
    # --8<-- [end:facts]

    # --8<-- [start:prepare]
    def prepare(self, seed: int, teams: Sequence[str]) -> Preparation[Handout]:
        rng = stream(seed, "hide-and-seek", "people")
        people = Table(SCHEMA, {column.name: rng.integers(0, column.size, self.size) for column in SCHEMA})
        folders: dict[str, dict[str, bytes]] = {f"teams/{team}": {PEOPLE: table_bytes(people)} for team in teams}
        hidden = {f"{folder}/{name}": data for folder, files in folders.items() for name, data in files.items()}
        commitments, opening = commit(seed, hidden)
        folders["public"] = {Path(COMMITMENTS_FILE).name: commitments}
        folders["secret"] = {Path(OPENING_FILE).name: opening}
        return Preparation({team: Handout(team, people) for team in teams}, folders, {"data": "drawn uniformly"})

    def read_preparation(self, path: Path) -> Preparation[Handout] | Problems:
        handouts = {folder.name: self.read_handout(folder) for folder in sorted((path / "teams").iterdir())}
        refused = [handout for handout in handouts.values() if isinstance(handout, Problems)]
        return Problems.of(*refused) if refused else Preparation(handouts, {}, {})

    def read_handout(self, path: Path) -> Handout | Problems:
        people = taken(read_table(Source.of(path / PEOPLE if path.is_dir() else path), SCHEMA))
        return people if isinstance(people, Problems) else Handout(path.name, people)

    # --8<-- [end:prepare]

    # --8<-- [start:anonymize]
    def anonymize(self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        return anonymizer(handout.people, rng)

    def release_files(self, handout: Handout, release: Release) -> Files:
        return {RELEASE: table_bytes(release.table)}

    def check_release(
        self, handout: Handout, sources: Sequence[Source], notices: list[Problem] | None = None
    ) -> Table | Problems:
        if len(sources) != 1:
            return Problems([plain(f"a release is one file; got {len(sources)}", f"give {RELEASE}", RELEASE)])
        count = len(handout.people)
        return taken(read_table(sources[0], SCHEMA, Layout(min_rows=count, max_rows=count)), notices)

    def measure(self, handout: Handout, submission: Table) -> Utility:
        moved = {
            name: float(np.abs(submission.values(name) - handout.people.values(name)).mean()) for name in ("age", "height")
        }
        worst = max(moved, key=lambda name: moved[name])
        return Utility({"moved": Score(moved[worst], False, {"column": worst}, moved)}, {"moved": Threshold(4, minimum=False)})

    # --8<-- [end:anonymize]

    # --8<-- [start:publish]
    def publish(
        self, preparation: Preparation[Handout], submissions: Mapping[str, Table], seed: int
    ) -> Mapping[str, Target[Knowledge, Links]]:
        targets = {}
        for team, released in submissions.items():
            order = stream(seed, "hide-and-seek", "shuffle", team).permutation(len(released))
            people, shuffled = preparation.handouts[team].people, released.take(order)
            targets[team] = Target(
                Knowledge(people, shuffled),
                Links(np.argsort(order)),
                {PEOPLE: table_bytes(people), RELEASE: table_bytes(shuffled)},
                {ANSWER: _links_bytes(np.argsort(order))},
            )
        return targets

    def read_knowledge(self, paths: Sequence[Path], declared: Anonymizer | None = None) -> Knowledge | Problems:
        tables = [taken(read_table(Source.of(path), SCHEMA)) for path in paths]
        refused = [table for table in tables if isinstance(table, Problems)]
        return Problems.of(*refused) if refused else Knowledge(*tables)

    # --8<-- [end:publish]

    # --8<-- [start:guess]
    def guess_bytes(self, guess: Links) -> bytes:
        return _links_bytes(guess.rows)

    def guess_files(self, guesses: Mapping[str, Links], attacker: str) -> Files:
        return {f"{target}.csv": self.guess_bytes(guess) for target, guess in guesses.items()}

    def check_guesses(
        self, targets: Mapping[str, Target[Knowledge, Links]], sources: Sequence[Source], attacker: str
    ) -> dict[str, Links] | Problems:
        by_name = {f"{target}.csv": target for target in targets}
        found = {
            by_name[source.name]: self.read_guess(targets[by_name[source.name]].answer, source)
            for source in sources
            if source.name in by_name
        }
        refused = [guess for guess in found.values() if isinstance(guess, Problems)]
        return Problems.of(*refused) if refused else found

    def read_answer(self, path: Path) -> Links | Problems:
        return _read_links(Source.of(path))

    def read_guess(self, answer: Links, source: Source) -> Links | Problems:
        return _read_links(source, len(answer.rows))

    def credit(self, answer: Links, guess: Links) -> Credit:
        count = len(answer.rows)
        return Credit(int((answer.rows == guess.rows).sum()), count, Chance(1.0, 0.0, 3.0))

    # --8<-- [end:guess]

    def read_results(self, source: Source) -> RoundResults | Problems:
        try:
            return RoundResults.from_json(json.loads(source.read()))
        except (ValueError, KeyError, TypeError, AttributeError):
            return Problems(
                [plain("this is not a results file", "give JSON that run wrote", source.name, severity=Severity.MALFORMED)]
            )

    # --8<-- [start:standings]
    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        (results,) = rounds.values()
        teams = [team for team in results.anonymizers if team not in results.out]
        share = {pair: Fraction(int(credit.hits), credit.of) for pair, credit in _credits(results)}
        hidden = {
            team: 1
            - max((share[team, other] for other in results.ranked_attackers if (team, other) in share), default=Fraction(0))
            for team in teams
        }
        found = {
            attacker: sum((value for (_, other), value in share.items() if other == attacker), Fraction(0))
            for attacker in results.ranked_attackers
        }
        anonymization = rank({**dict.fromkeys(results.out), **hidden}, results.out)
        return Standings(
            anonymization,
            rank(found),
            rank({team: hidden.get(team, Fraction(0)) + found.get(team, 0) for team in {*hidden, *found}}),
        )

    # --8<-- [end:standings]

    @property
    def sample_attack(self) -> Link:
        return Link()


def _credits(results: RoundResults) -> Any:
    return [((target, attacker), credit) for target, row in results.credits.items() for attacker, credit in row.items()]


def _links_bytes(rows: NDArray[np.int64]) -> bytes:
    return "".join(f"{row}\n" for row in rows.tolist()).encode()


def _read_links(source: Source, count: int | None = None) -> Links | Problems:
    table = taken(read_table(source, Schema([Integer("row", 0, 999)]), Layout(min_rows=count or 1, max_rows=count or 1000)))
    return table if isinstance(table, Problems) else Links(table.values("row").astype(np.int64))
