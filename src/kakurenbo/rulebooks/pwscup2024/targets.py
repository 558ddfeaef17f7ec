"""What attackers get of a release: 50 people (a), their ratings in another order with a star in each row (b); the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.types import (
    RATING_VALUES,
    RatingsKnowledge,
    starred_schema,
)
from kakurenbo.contest import Anonymizer, ContestFolder, Mechanism
from kakurenbo.core import (
    Category,
    InputError,
    Integer,
    Layout,
    ProblemCollector,
    Schema,
    Severity,
    Source,
    Table,
    gather,
    read_table,
    table_bytes,
)
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.handout import TEST_ROWS
from kakurenbo.rulebooks.pwscup2024.release import read_released_alone, sort_release

MASKS_FILE = "masks.csv"
PEOPLE, RATINGS, ANSWER = "a", "b", "x"

Masks = NDArray[np.int64]
"""Position among the movies of the rating hidden in row i of b, shape (50,)."""


@dataclass(frozen=True, eq=False)
class Answer:
    """For each row of b its row of a (from 0), and the hidden rating; both of shape (50,)."""

    people: NDArray[np.int64]
    values: NDArray[np.int64]
    target: str = ""


def draw_masks(rng: np.random.Generator) -> Masks:
    """A random movie for every row of b."""
    return rng.integers(len(ratings.MOVIES), size=TEST_ROWS)


def draw_test(
    original: Table, tables: tuple[Table, ...], rng: np.random.Generator, masks: Masks
) -> tuple[RatingsKnowledge, Answer]:
    """50 random rows of B: a in one random order, b in another with row i's masked column starred.

    Parameters
    ----------
    original : Table
        B.
    tables : tuple of Table
        The ten released files of it.
    rng : Generator
    masks : array, shape (50,)
    """
    rows = rng.choice(len(original), TEST_ROWS, replace=False)
    order = rng.permutation(TEST_ROWS)  # row i of b is row order[i] of a
    people = original.take(rows).select((ratings.NAME, *ratings.ATTRIBUTES))
    shuffled = original.take(rows[order])
    codes = np.stack([shuffled.codes[name] for name in ratings.MOVIES], axis=1).astype(
        np.int64
    )  # (50, 46)
    each = np.arange(TEST_ROWS)
    values = codes[each, masks]
    codes[each, masks] = RATING_VALUES
    starred = Table(starred_schema(), dict(zip(ratings.MOVIES, codes.T, strict=True)))
    return RatingsKnowledge(people, starred, tables), Answer(order.astype(np.int64), values)


def rehearse(
    original: Table, tables: tuple[Table, ...], seed: int
) -> tuple[RatingsKnowledge, Answer]:
    """A release under attack outside any contest, for experiments: the same people and masks for the same seed."""
    people, masks = (stream(seed, "pwscup2024", purpose, "01") for purpose in ("people", "masks"))
    return draw_test(original, tables, people, draw_masks(masks))


# -- files out and in ----------------------------------------------------------------------------------------------------


def target_files(team: str, knowledge: RatingsKnowledge) -> dict[str, bytes]:
    """Files a and b."""
    return {
        names.attack_file(team, PEOPLE): table_bytes(knowledge.people, header=True),
        names.attack_file(team, RATINGS): table_bytes(knowledge.ratings, header=True),
    }


def answer_files(team: str, answer: Answer) -> dict[str, bytes]:
    """File x: no header, 50 rows of (row of a, hidden value)."""
    lines = (
        f"{person},{value}\n" for person, value in zip(answer.people, answer.values, strict=True)
    )
    return {names.attack_file(team, ANSWER): "".join(lines).encode()}


def read_answer(folder: ContestFolder, rulebook: str) -> Answer:
    """File x, or the folder that holds it."""
    source = folder.file
    if source is None:
        named = [(source, names.attack_letter(source.name)) for source in folder.sources]
        found = [source for source, fields in named if fields and fields[1] == ANSWER]
        if len(found) != 1:
            example = names.attack_file("07", ANSWER)
            raise InputError.of(
                "pwscup2024.no_answer", folder.name, severity=Severity.MALFORMED, example=example
            )
        (source,) = found
    schema = Schema(
        [Integer("row of a", 0, TEST_ROWS - 1), Integer("rating", 0, RATING_VALUES - 1)]
    )
    table = read_table(source, schema, Layout(min_rows=TEST_ROWS, max_rows=TEST_ROWS))
    facts = folder.facts(rulebook)
    told = names.attack_letter(source.name)
    target = facts.target if facts and facts.target else told[0] if told else ""
    return Answer(table.values("row of a"), table.values("rating"), target)


def masks_bytes(masks: Masks) -> bytes:
    """The movie hidden in row i of b, one per line."""
    return "".join(f"{ratings.MOVIES[movie]}\n" for movie in masks).encode()


def read_masks(source: Source) -> Masks:
    schema = Schema([Category("movie", ratings.MOVIES)])
    table = read_table(source, schema, Layout(min_rows=TEST_ROWS, max_rows=TEST_ROWS))
    return table.codes["movie"].astype(np.int64)


# -- what attackers know -------------------------------------------------------------------------------------------------


def read_knowledge(sources: Sequence[Source], declared: Anonymizer | None) -> RatingsKnowledge:
    """Files a and b, by their names or else the first two, and the ten released files; beside them tables of other people.

    Those are told by their names: candidates B of the attacker's own handout, ``Bi03-1.csv``, and the public ``A.csv``. A
    candidate that is named like one of the attacked team is left aside: whoever holds it has nothing to guess.
    """
    of_test = _named_tests(sources)
    if of_test is None:
        raise InputError.of("pwscup2024.knowledge_lacks", "attack", severity=Severity.MALFORMED)
    people = _read_people(of_test[0])
    with gather() as problems:
        starred = problems.of(_read_starred, of_test[1], len(people))
        files = _released(sources, of_test[0].name)
        numbered = problems.of(sort_release, files, "", strict=False)
    candidates, public = _of_others(sources, of_test[0].name)
    with gather() as problems:
        released = problems.of(read_released_alone, numbered)
        siblings = problems.of(_read_all, ratings.read_ratings, candidates)
        published = problems.of(_read_all, ratings.read_public, public[:1])
    levels = ratings.attribute_levels((people, *released))
    tables = tuple(ratings.narrowed(table, levels) for table in released)
    mechanism = _declared_mechanism(declared, tables)
    known_people = ratings.narrowed(people, levels)
    return RatingsKnowledge(
        known_people,
        starred,
        tables,
        mechanism,
        declared,
        siblings,
        next(iter(published), None),
    )


def _of_others(sources: Sequence[Source], beside: str) -> tuple[list[Source], list[Source]]:
    """The tables of other people among the files of a target: candidates B, and A."""
    attacked = (names.attack_letter(beside) or ("", ""))[0]
    candidates = [
        source for source in sources if names.candidate_team(source.name) not in (None, attacked)
    ]
    public = [
        source
        for source in sources
        if names.is_of_others(source.name) and names.candidate_team(source.name) is None
    ]
    return candidates, public


def _read_all(read: Callable[[Source], Table], sources: Sequence[Source]) -> tuple[Table, ...]:
    with gather() as problems:
        tables = [problems.of(read, source) for source in sources]
    return tuple(tables)


def _named_tests(sources: Sequence[Source]) -> tuple[Source, Source] | None:
    """Files a and b: by their names, else the first two files that are none of the ten."""
    by_letter: dict[str, Source] = {}
    for source in sources:
        fields = names.attack_letter(source.name)
        if fields is not None:
            by_letter.setdefault(fields[1], source)
    if {PEOPLE, RATINGS} <= set(by_letter):
        return by_letter[PEOPLE], by_letter[RATINGS]
    others = [
        s
        for s in sources
        if names.release_number(s.name) is None and not names.is_of_others(s.name)
    ]
    return (others[0], others[1]) if len(others) > 1 else None


def _released(sources: Sequence[Source], beside: str) -> list[Source]:
    """The ten files; where those of several teams lie together, the ones of the team that file a names."""
    named = [
        (source, fields[0]) for source in sources if (fields := names.release_number(source.name))
    ]
    asked = (names.attack_letter(beside) or ("", ""))[0]
    told = asked in {team for _, team in named}
    return [source for source, team in named if not told or team == asked]


def _read_people(source: Source) -> Table:
    """File a."""
    schema = ratings.widest_schema().select((ratings.NAME, *ratings.ATTRIBUTES))
    return read_table(source, schema, Layout(header=True, min_rows=1))


def _read_starred(source: Source, rows: int) -> Table:
    """File b: as many rows as a, one star in each."""
    layout = Layout(header=True, min_rows=rows, max_rows=rows)
    table = read_table(source, starred_schema(), layout)
    starred = [table.codes[name] == RATING_VALUES for name in ratings.MOVIES]
    stars = np.stack(starred, axis=1).sum(axis=1)
    found = ProblemCollector(source.name)
    for record in np.flatnonzero(stars != 1).tolist():
        count = int(stars[record])
        found.add("pwscup2024.stars", row=record + 2, record=record, value=str(count), count=count)
    found.check()
    return table


def _declared_mechanism(declared: Anonymizer | None, tables: Sequence[Table]) -> Mechanism | None:
    """The mechanism that the declared method would use on a table of all columns."""
    if declared is None:
        return None
    columns = {
        column.name: (column, table.codes[column.name])
        for table in tables
        for column in table.schema
    }
    schema = Schema(columns[name][0] for name in ratings.ATTRIBUTES + ratings.MOVIES)
    return declared.mechanism(Table(schema, {name: codes for name, (_, codes) in columns.items()}))
