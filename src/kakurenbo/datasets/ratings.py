"""Movie ratings with four attributes of the viewer: the columns of pwscup2024, its ten overlapping files, its tables B."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.tables import Category, Column, Integer, Layout, Moments, Reading, Schema, Source, Table, Text, read_table

NAME = "Name"
USER = "User ID"
ATTRIBUTES = ("Gender", "Age", "Occupation", "ZIP-code")
_MOVIES = (
    "2 56 247 260 653 673 810 885 1009 1073 1097 1126 1525 1654 1702 1750 1881 1920 1967 2017 2021 2043 2086 2087 2093 2100 "
    "2105 2138 2143 2174 2193 2253 2399 2628 2797 2872 2968 3393 3438 3439 3440 3466 3479 3489 3877 3889"
)
MOVIES = tuple(_MOVIES.split())
ZIP_CODE = "ZIP-code"
RELATED = tuple(name for name in ATTRIBUTES if name != ZIP_CODE) + MOVIES
"""Columns whose relations the stored statistics hold."""
FEWEST_ROWS = 50
"""Rows that a table B has at least: as many people are attacked."""
STATISTICS_FILE = "ratings.json"
HIGHEST_RATING = 5
NOT_SEEN = 0

SPLITS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in (
        "260 653 1525 2105 2193 2253 2628 2872 3438 3439 3440 3877 3889",
        "2 56 260 653 673 1009 1073 1525 1750 1881 1967 2043 2093 2105 2143 2193 2399 2628 2968 3479 3489 3877 3889",
        "673 1881 1920 2087 2138",
        "2 56 673 810 885 1009 1073 1097 1525 1654 1702 1750 1881 1920 1967 2017 2043 2087 2093 2138 2399 3438 3439 3440",
        "673 810 1073 1126 1702 2100 2174 2253 2797 3393 3466",
        "247 885 1097 1654 2086 2138 2872",
        "247 2100 2143 2872 3479",
        "260 1097 1750 2021 2093 2105 2628 2968",
        "247 1920 2017 2087",
        "260 1097 2628 2174 2797 1073 2100 2968 2105 2193",
    )
)
"""Movies of each of the ten files, in the order of its columns; every file holds the four attributes before them."""

SPLIT_COLUMNS = tuple(ATTRIBUTES + movies for movies in SPLITS)

_DOMAINS = {
    "Gender": ("F", "M"),
    "Age": ("1", "18", "25", "35", "45", "50", "56"),
    "Occupation": tuple(map(str, range(21))),
    "ZIP-code": tuple(map(str, range(1000))),
}


def rating(name: str) -> Integer:
    """The column of one movie: 0 for not seen, else 1 to 5."""
    return Integer(name, NOT_SEEN, HIGHEST_RATING)


def widest_schema(*, names: bool = True) -> Schema:
    """Every value that the contest's data may hold; a table's own schema (:func:`narrowed`) has only what occurs."""
    columns: list[Column] = [Text(NAME)] if names else []
    columns += [Category(name, _DOMAINS[name]) for name in ATTRIBUTES]
    return Schema(columns + [rating(name) for name in MOVIES])


def related_schema() -> Schema:
    """The columns that the stored statistics relate, ratings as categories: their two-way tables are no straight lines."""
    values = tuple(map(str, range(NOT_SEEN, HIGHEST_RATING + 1)))
    return Schema([Category(name, _DOMAINS.get(name, values)) for name in RELATED])


def read_ratings(source: Source) -> Reading[Table]:
    """A table B as the contest dealt it: a header, a name, four attributes and 46 ratings, at least 50 rows.

    The attributes get the levels that occur, since only those may occur in a release of it.
    """
    return read_table(source, widest_schema(), Layout(header=True, min_rows=FEWEST_ROWS)).map(narrowed)


def read_public(source: Source) -> Reading[Table]:
    """The table A that the contest published: the number of a user, four attributes and 46 ratings, any number of rows."""
    schema = Schema([Text(USER), *widest_schema(names=False)])
    return read_table(source, schema, Layout(header=True, min_rows=1)).map(narrowed)


def attribute_levels(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """For each attribute, the values that occur in any of the tables, in the order of the domain."""
    occurring: dict[str, set[str]] = {name: set() for name in ATTRIBUTES}
    for table in tables:
        for name in ATTRIBUTES:
            column = table.schema[name]
            assert isinstance(column, Category)
            occurring[name].update(column.levels[code] for code in np.unique(table.codes[name]))
    return {name: tuple(level for level in _DOMAINS[name] if level in occurring[name]) for name in ATTRIBUTES}


def narrowed(table: Table, levels: dict[str, tuple[str, ...]] | None = None) -> Table:
    """The same table with attributes that have only the given levels (those that occur in it, by default)."""
    levels = attribute_levels([table]) if levels is None else levels
    codes = dict(table.codes)
    columns: list[Column] = []
    for column in table.schema:
        if column.name not in levels:
            columns.append(column)
            continue
        assert isinstance(column, Category)
        position = {level: code for code, level in enumerate(levels[column.name])}
        recode = np.array([position.get(level, -1) for level in column.levels])
        codes[column.name] = recode[table.codes[column.name]]
        columns.append(Category(column.name, levels[column.name]))
    return Table(Schema(columns), codes, table.vocabularies)


def split(table: Table) -> tuple[Table, ...]:
    """The ten files of a table of all columns (or of all but the name)."""
    return tuple(table.select(columns) for columns in SPLIT_COLUMNS)


def files_with(name: str) -> tuple[int, ...]:
    """Numbers of the files that hold a column."""
    found = tuple(number for number, columns in enumerate(SPLIT_COLUMNS) if name in columns)
    if not found:
        raise ParameterError("name", f"one of {', '.join(ATTRIBUTES + MOVIES)}", name)
    return found


def is_split(tables: Sequence[Table]) -> bool:
    """Whether these are the ten files, rather than one table of all columns."""
    return len(tables) == len(SPLITS)


@dataclass(frozen=True, eq=False)
class RatingsStatistics:
    """Stored statistics of one of the contest's B files, 10,000 rows: its one- and two-way tables and nothing else.

    No row is in them: names are not, and no table relates more than two columns.

    Attributes
    ----------
    related : Moments
        Of gender, age, occupation and the ratings as categories (:func:`related_schema`), so that the cross products are
        the two-way frequency tables.
    zip_codes : array, shape (1000,)
        How often each ZIP-code occurs; with 20 people each, their relation to ratings would come close to somebody's.
    """

    related: Moments
    zip_codes: NDArray[np.int64]


@cache
def ratings_statistics() -> RatingsStatistics:
    """The stored statistics of a B file.

    Examples
    --------
    >>> ratings_statistics().related.count, int(ratings_statistics().zip_codes.sum())
    (10000, 10000)
    """
    content = json.loads(resources.files("kakurenbo.datasets").joinpath("data", STATISTICS_FILE).read_text("utf-8"))
    zip_codes = np.array(content["zip_codes"], dtype=np.int64)
    return RatingsStatistics(Moments.from_json(content["related"], related_schema()), zip_codes)
