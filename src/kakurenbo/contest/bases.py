"""Bases for own contests: `MembershipContest` (who is in a table?) and `LinkageContest` (which row is whose?)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest.folders import ContestFolder
from kakurenbo.contest.measure import Chance, Credit, Score, Threshold, Utility
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, FilePattern, Phase
from kakurenbo.contest.preparation import Publication, RoundData, Secrets
from kakurenbo.contest.rulebook import Rulebook
from kakurenbo.core import (
    InputError,
    Integer,
    Layout,
    ProblemCollector,
    Schema,
    Severity,
    Source,
    Table,
    few_names,
    gather,
    json_bytes,
    read_json,
    read_table,
    table_bytes,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry
from kakurenbo.methods.base import Anonymizer, Attack, Release
from kakurenbo.methods.threats import (
    CHOICES,
    DELETED,
    LinkageGuess,
    LinkageKnowledge,
    MembershipGuess,
    MembershipKnowledge,
)

K = TypeVar("K")
G = TypeVar("G")
Rows = NDArray[np.int64]
"""Row numbers of a table, from 0."""
SIZE_FILE = "size.json"
"""Beside an answer: how many rows there are to choose from."""


@dataclass(frozen=True, eq=False)
class TeamTable:
    """A table to anonymize, and whose it is; the team is empty where nothing tells it."""

    team: str
    table: Table


@dataclass(frozen=True, eq=False)
class MembershipAnswer:
    """The rows of the population that are in a team's sample, and how many rows the population has."""

    rows: Rows
    population: int


@dataclass(frozen=True)
class LinkageForm:
    """What a linkage guess must look like: how many people there are, and of how many rows it may name some."""

    people: int
    rows: int


@dataclass(frozen=True, eq=False)
class LinkageAnswer:
    """The row of the release of each person, and how many rows the release has."""

    rows: Rows
    released: int


class TableContest(Rulebook[Any, Any, K, Any, Any, G]):
    """A contest in which each team anonymizes one table and attackers get it with its rows shuffled."""

    handout_file: ClassVar[str] = "table.csv"
    """Name of the table that a team is given; may contain ``{round}`` and ``{team}``, as all names here."""
    answer_file: ClassVar[str] = "answer.csv"
    utility_limits: ClassVar[Mapping[str, Threshold]] = {}
    """What scores must reach, by name: ``{"moved": at_most(4)}``."""
    sample_attack: ClassVar[str] = ""
    """The organizers' attack: the name of an installed attack, with parameters if need be."""
    sample_attack_name: ClassVar[str] = "sample attack"

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "utility_limits" in cls.__dict__:
            limits = cls.utility_limits.items()
            cls.upper_bounds = tuple(name for name, limit in limits if not limit.minimum)

    @abstractmethod
    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        """Measure a release; the scores in ``utility_limits`` decide whether it counts."""

    def release_rows(self, table: Table) -> tuple[int, int]:
        """Return the fewest and the most rows of a release of this table."""
        return len(table), len(table)

    def file_name(self, template: str, team: str = "") -> str:
        """Return the name of a file of this round."""
        return FilePattern(template).name(round=self.round_name, team=team)

    def threshold_values(self) -> Mapping[str, float | None]:
        return {name: limit.value for name, limit in self.utility_limits.items()}

    def read_handout(self, folder: Path | ContestFolder) -> Any:
        folder = ContestFolder.of(folder)
        facts = folder.facts(self.name)
        team = facts.team if facts else ""
        source = folder.required(self.file_name(self.handout_file, team))
        return TeamTable(team, read_table(source, self.schema))

    def answer_files(self, folder: ContestFolder) -> tuple[int, Source]:
        """Return how many rows there are to choose from, and the file of the answer."""
        facts = folder.facts(self.name)
        team = facts.team if facts else ""
        size = folder.source(SIZE_FILE)
        if size is None:
            raise InputError.of("source.missing", SIZE_FILE, severity=Severity.MALFORMED)
        content = read_json(size)
        rows = int(content["rows"]) if isinstance(content, dict) else 0
        return rows, folder.required(self.file_name(self.answer_file, team))

    def released(self, handout: Any, submission: Any) -> tuple[Any, Release]:
        return handout, Release.of(submission)

    def is_unchanged(self, handout: Any, release: Release) -> bool:
        return release.table.same_values(handout.table)

    def read_release(self, handout: Any, sources: Sequence[Source]) -> Any:
        source = only_file(sources, self.release_name(handout.team or "01"))
        fewest, most = self.release_rows(handout.table)
        return read_table(source, self.schema, Layout(min_rows=fewest, max_rows=most))

    def measure(self, handout: Any, submission: Any) -> Utility:
        return Utility(self.utility(handout.table, submission), self.utility_limits)

    @property
    def sample_attacks(self) -> Mapping[str, Attack[K, G]]:
        return {self.sample_attack_name: registry.build("attacks", self.sample_attack)}


class MembershipContest(TableContest[MembershipKnowledge, MembershipGuess]):
    """Membership inference: attackers who know the whole population say who is in a team's table.

    A contest says what the population is, who of it is in the table of a team, and how useful a release is. A guess is
    ``guesses`` different rows of the population; what it earns is how many of them are in the table. A release scores 1 minus
    the best accuracy against it, an attacker its mean accuracy; the overall score is the sum of both ranks.
    """

    handout_file: ClassVar[str] = "sample.csv"
    population_file: ClassVar[str] = "population.csv"
    answer_file: ClassVar[str] = "members.csv"
    guesses: ClassVar[int] = 100
    """Rows that a guess names."""
    repeated_row: ClassVar[str] = "guess.repeats"
    """Problem of a guess that names a row twice."""
    sample_attack: ClassVar[str] = "nearest"
    data_source: ClassVar[str] = "drawn by the rulebook"
    """Where the data come from, for ``contest.json``."""
    knowledge: ClassVar[type] = MembershipKnowledge
    guess_type: ClassVar[type] = MembershipGuess
    phases: ClassVar[tuple[Phase, ...]] = (
        Phase(ANONYMIZE, (FilePattern("release_{team}.csv"),)),
        Phase(ATTACK, (FilePattern("guess_{target}_{attacker}.csv"),)),
    )

    @abstractmethod
    def draw_population(self, rng: np.random.Generator) -> Table:
        """Draw the population, of which attackers know every row."""

    @abstractmethod
    def draw_members(self, population: Table, rng: np.random.Generator) -> Rows:
        """Draw the rows of the population that a team is given; in random order, as the release keeps it."""

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        population = self.draw_population(self.stream(seed, "population"))
        rows = {
            team: self.draw_members(population, self.stream(seed, "sample", team)) for team in teams
        }
        return self.round_data(seed, population, rows)

    def round_data(self, seed: int, population: Table, rows: Mapping[str, Rows]) -> RoundData:
        """Return the files of a round: the sample and the answer of each team, and the population for attackers."""
        return RoundData(
            handouts={
                team: {
                    self.file_name(self.handout_file, team): table_bytes(population.take(chosen))
                }
                for team, chosen in rows.items()
            },
            attackers={self.file_name(self.population_file): table_bytes(population)},
            secrets={
                team: {self.file_name(self.answer_file, team): rows_bytes(chosen)}
                for team, chosen in rows.items()
            },
            data={"source": self.data_source},
        )

    def is_unchanged(self, handout: Any, release: Release) -> bool:
        """Return whether a release has the rows of the sample, in any order."""
        rows = len(handout.table)
        if len(release.table) != rows or release.table.schema != handout.table.schema:
            return False
        keys = Table.stack([handout.table, release.table]).keys()
        return np.array_equal(np.sort(keys[:rows]), np.sort(keys[rows:]))

    def publish(self, secrets: Secrets[Any], submission: Any) -> Publication:
        order = secrets.stream("order").permutation(len(submission))
        population = self.read_population(secrets)
        answer = self.file_name(self.answer_file, secrets.team)
        rows = secrets.read(answer, lambda source: read_rows(source, len(population)))
        return Publication(
            {self.release_name(secrets.target): table_bytes(submission.take(order))},
            {answer: rows_bytes(rows), SIZE_FILE: json_bytes({"rows": len(population)})},
        )

    def read_population(self, secrets: Secrets[Any]) -> Table:
        """Return the population of a prepared round."""
        name = self.file_name(self.population_file)
        return secrets.read(name, lambda source: read_table(source, self.schema))

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> MembershipKnowledge:
        """Read the population and the release: the population by its name, else as the first of two files."""
        name = self.file_name(self.population_file)
        population_file, release_file = two_files(self, sources, name)
        layout = Layout(min_rows=1)
        with gather() as problems:
            population = problems.of(read_table, population_file, self.schema, layout)
            release = problems.of(read_table, release_file, self.schema, layout)
        mechanism = declared.mechanism(release) if declared is not None else None
        return MembershipKnowledge(population, release, self.guesses, mechanism, declared)

    def guess_form(self, knowledge: MembershipKnowledge) -> int:
        """Return the number of rows of the population."""
        return len(knowledge.population)

    def answer_form(self, answer: MembershipAnswer) -> int:
        return answer.population

    def read_guess(self, form: int, source: Source) -> MembershipGuess:
        return MembershipGuess(read_rows(source, form, self.guesses, self.repeated_row))

    def read_answer(self, folder: Path | ContestFolder) -> MembershipAnswer:
        population, source = self.answer_files(ContestFolder.of(folder))
        return MembershipAnswer(read_rows(source, population), population)

    def score_guess(self, answer: MembershipAnswer, guess: MembershipGuess) -> Credit:
        hits = int(np.isin(guess.rows, answer.rows).sum())
        chance = blind_membership(answer.population, len(answer.rows), self.guesses)
        return Credit(hits, self.guesses, chance)


class LinkageContest(TableContest[LinkageKnowledge, LinkageGuess]):
    """Record linkage: attackers who know the original records say which row of a shuffled release is whose.

    A contest says what the original table is and how useful a release is. A release has a row for each record, in the same
    order; it is published shuffled, with the original records. A guess names three rows of the release for each record; what
    it earns is how many records have their row among the three. Scores are those of `MembershipContest`.
    """

    handout_file: ClassVar[str] = "original.csv"
    people_file: ClassVar[str] = "people.csv"
    answer_file: ClassVar[str] = "rows.csv"
    sample_attack: ClassVar[str] = "rlink"
    data_source: ClassVar[str] = "drawn by the rulebook"
    """Where the data come from, for ``contest.json``."""
    knowledge: ClassVar[type] = LinkageKnowledge
    guess_type: ClassVar[type] = LinkageGuess
    phases: ClassVar[tuple[Phase, ...]] = MembershipContest.phases

    @abstractmethod
    def draw_original(self, rng: np.random.Generator) -> Table:
        """Draw the table of a team."""

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        tables = {team: self.draw_original(self.stream(seed, "original", team)) for team in teams}
        return RoundData(
            handouts={
                team: {self.file_name(self.handout_file, team): table_bytes(table)}
                for team, table in tables.items()
            },
            data={"source": self.data_source},
        )

    def publish(self, secrets: Secrets[Any], submission: Any) -> Publication:
        order = secrets.stream("order").permutation(len(submission))
        target = {
            self.release_name(secrets.target): table_bytes(submission.take(order)),
            self.people_file: table_bytes(secrets.handout.table),
        }
        answer = {
            self.file_name(self.answer_file, secrets.team): rows_bytes(np.argsort(order)),
            SIZE_FILE: json_bytes({"rows": len(submission)}),
        }
        return Publication(target, answer)

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> LinkageKnowledge:
        """Read the people and the release: the people by the name of their file, else as the first of two files."""
        people_file, release_file = two_files(self, sources, self.people_file)
        with gather() as problems:
            people = problems.of(read_table, people_file, self.schema, Layout(min_rows=1))
            release = problems.of(read_table, release_file, self.schema, Layout(min_rows=1))
        return LinkageKnowledge(people, release, len(people))

    def guess_form(self, knowledge: LinkageKnowledge) -> LinkageForm:
        """Return how many people there are, and rows of the release."""
        return LinkageForm(len(knowledge.people), len(knowledge.release))

    def answer_form(self, answer: Any) -> LinkageForm:
        return LinkageForm(len(answer.rows), answer.released)

    def read_guess(self, form: LinkageForm, source: Source) -> LinkageGuess:
        """Read three rows of the release for each person, or -1, the best first."""
        names = ("first", "second", "third")
        schema = Schema([Integer(name, DELETED, form.rows - 1) for name in names])
        table = read_table(source, schema, Layout(min_rows=form.people, max_rows=form.people))
        return LinkageGuess(np.stack([table.values(name) for name in names], axis=1))

    def read_answer(self, folder: Path | ContestFolder) -> Any:
        released, source = self.answer_files(ContestFolder.of(folder))
        return LinkageAnswer(read_rows(source, released), released)

    def score_guess(self, answer: Any, guess: LinkageGuess) -> Credit:
        hits = int((guess.rows == answer.rows[:, None]).any(axis=1).sum())
        return Credit(hits, len(answer.rows), blind_linkage(len(answer.rows), answer.released))


# -- files -----------------------------------------------------------------------------------------


def only_file(sources: Sequence[Source], example: str) -> Source:
    """Return the only submitted file, or refuse none and several."""
    if len(sources) == 1:
        return sources[0]
    listed = few_names(sources)
    file = sources[1].name if sources else example
    files = listed or Message("word.none")
    raise InputError.of("release.one_file", file, files=files, example=example)


def two_files(
    rulebook: TableContest[Any, Any], sources: Sequence[Source], name: str
) -> tuple[Source, Source]:
    """Return the file of this name and the other one; where neither has the name, both in their order."""
    if len(sources) != 2:
        release = rulebook.release_name("01")
        raise UsageError(
            "error.attack_files", rulebook=rulebook.name, population=name, release=release
        )
    first, second = sources
    return (second, first) if second.name.removesuffix(".gz") == name else (first, second)


def rows_bytes(rows: NDArray[np.int64]) -> bytes:
    """Return whole numbers as a file: one in each line, or one row of a matrix in each."""
    lines = (",".join(map(str, np.atleast_1d(row).tolist())) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def read_rows(
    source: Source, size: int, count: int | None = None, code: str = "guess.repeats"
) -> Rows:
    """Read different row numbers from 0, one in each line.

    Parameters
    ----------
    source : Source
    size : int
        How many rows there are.
    count : int or None
        How many numbers there must be; None for any number.
    code : str
        The problem of a number that comes twice; it is told the number, the line where it came first, and the count if there is one.
    """
    schema = Schema([Integer("row", 0, size - 1)])
    layout = Layout(min_rows=count or 1, max_rows=count or size)
    rows = read_table(source, schema, layout).values("row")
    first: dict[int, int] = {}
    problems = ProblemCollector(source.name)
    for record, row in enumerate(rows.tolist()):
        if row in first:
            details = {"number": row, "line": first[row] + 1}
            if count is not None:
                details["count"] = count
            where = {"row": record + 1, "record": record, "column": "row", "value": str(row)}
            problems.add(code, **where, **details)  # type: ignore[arg-type]
        first.setdefault(row, record)
    problems.check()
    return rows


# -- what guessing blindly earns -------------------------------------------------------------------


@cache
def blind_membership(population: int, members: int, guesses: int) -> Chance:
    """Return the hits of different rows drawn without looking: hypergeometric.

    Examples
    --------
    >>> blind_membership(100_000, 10_000, 100)
    Chance(mean=10.0, low=5.0, high=16.0)
    """
    from scipy.stats import hypergeom

    law = hypergeom(population, members, guesses)
    return Chance(float(law.mean()), float(law.ppf(0.025)), float(law.ppf(0.975)))


@cache
def blind_linkage(people: int, rows: int) -> Chance:
    """Return the hits of naming three random rows for each person: nearly binomial.

    Examples
    --------
    >>> blind_linkage(100, 100)
    Chance(mean=3.0, low=0.0, high=7.0)
    """
    from scipy.stats import binom

    law = binom(people, min(1.0, CHOICES / rows))
    return Chance(round(float(law.mean()), 9), float(law.ppf(0.025)), float(law.ppf(0.975)))
