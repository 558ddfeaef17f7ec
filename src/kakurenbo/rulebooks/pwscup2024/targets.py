"""What attackers get of a release: 50 people (a), their ratings in another order with a star in each row (b); the answer."""

from __future__ import annotations

from collections.abc import Sequence
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
from kakurenbo.rulebooks.pwscup2024 import files
from kakurenbo.rulebooks.pwscup2024.files import TEST_ROWS
from kakurenbo.rulebooks.pwscup2024.release import read_released_alone, sort_release

MASKS_FILE = "masks.csv"
PEOPLE, RATINGS, ANSWER = "a", "b", "x"

TEST_LAYOUT = Layout(min_rows=TEST_ROWS, max_rows=TEST_ROWS)
Masks = NDArray[np.int64]
"""Position among the movies of the rating hidden in row i of b, shape (50,)."""


@dataclass(frozen=True, eq=False)
class Answer:
    """For each row of b its row of a (from 0), and the hidden rating; both of shape (50,)."""

    people: NDArray[np.int64]
    values: NDArray[np.int64]
    target: str = ""


def draw_masks(rng: np.random.Generator) -> Masks:
    """Draw a movie for every row of b."""
    return rng.integers(len(ratings.MOVIES), size=TEST_ROWS)


def draw_test(
    original: Table, tables: tuple[Table, ...], rng: np.random.Generator, masks: Masks
) -> tuple[RatingsKnowledge, Answer]:
    """Draw 50 rows of B: a in one random order, b in another with row i's masked column starred.

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
    codes = np.stack([shuffled.codes[name] for name in ratings.MOVIES], axis=1)  # (50, 46)
    codes = codes.astype(np.int64)
    values = codes[np.arange(TEST_ROWS), masks]
    codes[np.arange(TEST_ROWS), masks] = RATING_VALUES
    starred = Table(starred_schema(), dict(zip(ratings.MOVIES, codes.T, strict=True)))
    return RatingsKnowledge(people, starred, tables), Answer(order.astype(np.int64), values)


def rehearse(
    original: Table, tables: tuple[Table, ...], seed: int
) -> tuple[RatingsKnowledge, Answer]:
    """Put a release under attack outside any contest: the same people and masks for the same seed."""
    people, masks = (stream(seed, "pwscup2024", purpose, "01") for purpose in ("people", "masks"))
    return draw_test(original, tables, people, draw_masks(masks))


# -- files out and in ----------------------------------------------------------------------------------------------------


def target_files(team: str, knowledge: RatingsKnowledge) -> dict[str, bytes]:
    """Write files a and b."""
    return {
        files.attack_file(team, PEOPLE): table_bytes(knowledge.people, header=True),
        files.attack_file(team, RATINGS): table_bytes(knowledge.ratings, header=True),
    }


def answer_files(team: str, answer: Answer) -> dict[str, bytes]:
    """Write file x: no header, 50 rows of (row of a, hidden value)."""
    rows = zip(answer.people, answer.values, strict=True)
    lines = "".join(f"{person},{value}\n" for person, value in rows)
    return {files.attack_file(team, ANSWER): lines.encode()}


def read_answer(folder: ContestFolder, rulebook: str) -> Answer:
    """Read file x, or the folder that holds it."""
    named = {source: files.attack_letter(source.name) or ("", "") for source in folder.files}
    sources = [source for source, (_, letter) in named.items() if folder.file or letter == ANSWER]
    if len(sources) != 1:
        code, example = "pwscup2024.no_answer", files.attack_file("07", ANSWER)
        raise InputError.of(code, folder.name, severity=Severity.MALFORMED, example=example)
    person = Integer("row of a", 0, TEST_ROWS - 1)
    schema = Schema([person, Integer("rating", 0, RATING_VALUES - 1)])
    table = read_table(sources[0], schema, TEST_LAYOUT)
    facts = folder.facts(rulebook)
    target = (facts and facts.target) or named[sources[0]][0]
    return Answer(table.values("row of a"), table.values("rating"), target)


def masks_bytes(masks: Masks) -> bytes:
    """Write the movie hidden in row i of b, one per line."""
    return "".join(f"{ratings.MOVIES[movie]}\n" for movie in masks).encode()


def read_masks(source: Source) -> Masks:
    table = read_table(source, Schema([Category("movie", ratings.MOVIES)]), TEST_LAYOUT)
    return table.codes["movie"].astype(np.int64)


# -- what attackers know -------------------------------------------------------------------------------------------------


def read_knowledge(sources: Sequence[Source], declared: Anonymizer | None) -> RatingsKnowledge:
    """Read files a and b, by their names or else the first two, the ten released files, and tables of other people.

    These have the names of candidates B of the attacker's own handout, ``Bi03-1.csv``, and of the public ``A.csv``. A
    candidate that is named like one of the attacked team is left aside: whoever holds it has nothing to guess.
    """
    file_a, file_b = _test_files(sources)
    attacked = (files.attack_letter(file_a.name) or ("", ""))[0]
    with gather() as problems:
        people = _read_people(file_a)
        starred = problems.of(_read_starred, file_b, len(people))
        numbered = problems.of(sort_release, _released(sources, attacked), "", strict=False)
    of_others = [s for s in sources if files.candidate_team(s.name) not in (None, attacked)]
    public = [source for source in sources if files.is_public_table(source.name)]
    with gather() as problems:
        released = problems.of(read_released_alone, numbered)
        siblings = [problems.of(ratings.read_ratings, source) for source in of_others]
        published = [problems.of(ratings.read_public, source) for source in public[:1]]
    levels = ratings.attribute_levels((people, *released))
    tables = tuple(ratings.narrowed(table, levels) for table in released)
    return RatingsKnowledge(
        ratings.narrowed(people, levels),
        starred,
        tables,
        _mechanism(declared, tables),
        declared,
        tuple(siblings),
        next(iter(published), None),
    )


def _test_files(sources: Sequence[Source]) -> tuple[Source, Source]:
    """Return files a and b: by their names, else the first two files that are neither the ten nor tables of others."""
    by_letter: dict[str, Source] = {}
    others = []
    for source in sources:
        name = source.name
        if (fields := files.attack_letter(name)) is not None:
            by_letter.setdefault(fields[1], source)
        is_of_others = files.candidate_team(name) is not None or files.is_public_table(name)
        if files.release_number(name) is None and not is_of_others:
            others.append(source)
    if {PEOPLE, RATINGS} <= set(by_letter):
        return by_letter[PEOPLE], by_letter[RATINGS]
    if len(others) < 2:
        raise InputError.of("pwscup2024.knowledge_lacks", "attack", severity=Severity.MALFORMED)
    return others[0], others[1]


def _released(sources: Sequence[Source], attacked: str) -> list[Source]:
    """Return the ten files; where those of several teams lie together, the ones of the attacked team."""
    teams = {source: (files.release_number(source.name) or ("",))[0] for source in sources}
    is_known = bool(attacked) and attacked in teams.values()
    return [s for s, team in teams.items() if team and (not is_known or team == attacked)]


def _read_people(source: Source) -> Table:
    """Read file a."""
    schema = ratings.widest_schema().select((ratings.NAME, *ratings.ATTRIBUTES))
    return read_table(source, schema, Layout(header=True, min_rows=1))


def _read_starred(source: Source, rows: int) -> Table:
    """Read file b: as many rows as a, one star in each."""
    table = read_table(source, starred_schema(), Layout(True, rows, rows))
    starred = [table.codes[name] == RATING_VALUES for name in ratings.MOVIES]
    stars, problems = np.stack(starred, axis=1).sum(axis=1), ProblemCollector(source.name)
    for record in np.flatnonzero(stars != 1).tolist():
        count = int(stars[record])
        row = record + 2
        problems.add("pwscup2024.stars", row=row, record=record, value=str(count), count=count)
    problems.check()
    return table


def _mechanism(declared: Anonymizer | None, tables: Sequence[Table]) -> Mechanism | None:
    """Return the mechanism that the declared method would use on a table of all columns."""
    if declared is None:
        return None
    holders = {name: table for table in tables for name in table.schema.names}
    names = ratings.ATTRIBUTES + ratings.MOVIES
    schema = Schema(holders[name].schema[name] for name in names)
    return declared.mechanism(Table(schema, {name: holders[name].codes[name] for name in names}))
