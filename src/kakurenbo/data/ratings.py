"""Movie ratings with four attributes of the viewer: the columns of pwscup2024, its ten overlapping files, its tables B."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from kakurenbo.core import (
    Category,
    Column,
    Integer,
    Layout,
    Moments,
    Problems,
    Schema,
    Source,
    Table,
    Text,
    gather,
    read_table,
)
from kakurenbo.core.arrays import Ints, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.data import moments
from kakurenbo.data.statistics import quota_codes, stored_statistics

NAME = "Name"
USER = "User ID"
ZIP_CODE = "ZIP-code"
ATTRIBUTES = ("Gender", "Age", "Occupation", ZIP_CODE)
_MOVIES = (
    "2 56 247 260 653 673 810 885 1009 1073 1097 1126 1525 1654 1702 1750 1881 1920 1967 2017 2021 2043 2086 2087 2093 2100 "
    "2105 2138 2143 2174 2193 2253 2399 2628 2797 2872 2968 3393 3438 3439 3440 3466 3479 3489 3877 3889"
)
MOVIES = tuple(_MOVIES.split())
RELATED = (*ATTRIBUTES[:-1], *MOVIES)
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
_FEWEST_DRAWN = 20_000  # the generator steers its draws: the more at once, the closer they come
_SYLLABLES = (
    "Ba Ce Dro Eli Fa Gwi Ho Iska Jo Kel Lu Mi Nor Oda Pe Quo Ri Sa Tov Una Ve Wy Xa Yo Za",
    "bri den fal gar lin mor nel pra quil ras sev tam vor wen zim",
    "a an by con dal el eth ia is o on or ra ric us",
)


def rating(name: str) -> Integer:
    """Return the column of one movie: 0 for not seen, else 1 to 5."""
    return Integer(name, NOT_SEEN, HIGHEST_RATING)


def widest_schema(*, names: bool = True) -> Schema:
    """Return every value that the contest's data may hold; a table's own schema (:func:`narrowed`) has only what occurs."""
    attributes = [Category(name, levels) for name, levels in _DOMAINS.items()]
    return Schema([*([Text(NAME)] * names), *attributes, *map(rating, MOVIES)])


def related_schema() -> Schema:
    """Return the columns that the stored statistics relate, ratings as categories: their two-way tables are no straight lines."""
    values = tuple(map(str, range(NOT_SEEN, HIGHEST_RATING + 1)))
    return Schema(Category(name, _DOMAINS.get(name, values)) for name in RELATED)


def read_ratings(source: Source) -> Table:
    """Read a table B as the contest dealt it: a header, a name, four attributes and 46 ratings, at least 50 rows.

    The attributes get the levels that occur, since only those may occur in a release of it.
    """
    layout = Layout(header=True, min_rows=FEWEST_ROWS)
    return narrowed(read_table(source, widest_schema(), layout))


def read_public(source: Source) -> Table:
    """Read the table A that the contest published: the number of a user, four attributes and 46 ratings, any number of rows."""
    schema = Schema([Text(USER), *widest_schema(names=False)])
    return narrowed(read_table(source, schema, Layout(header=True, min_rows=1)))


def import_files(sources: Sequence[Source]) -> Mapping[str, Table]:
    """Read one or several tables B."""
    tables: dict[str, Table] = {}
    digests: dict[str, str] = {}  # of a table: the file that held it first
    with gather() as problems:
        for number, source in enumerate(sources, start=1):
            table = problems.of(read_ratings, source)
            if table is None:
                continue
            digest = table.digest()
            if digest in digests:
                problems.add(Problems.of("ratings.twice", source.name, first=digests[digest]))
            digests.setdefault(digest, source.name)
            tables[f"B{number:02d}"] = table
    return tables


def attribute_levels(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """Return for each attribute the values that occur in any of the tables, in the order of the domain."""
    tables = list(tables)
    levels = {}
    for name, domain in _DOMAINS.items():
        occurring = set[str]().union(*(table.texts(name).unique() for table in tables))
        levels[name] = tuple(level for level in domain if level in occurring)
    return levels


def narrowed(table: Table, levels: dict[str, tuple[str, ...]] | None = None) -> Table:
    """Return the same table with attributes that have only the given levels (those that occur in it, by default)."""
    levels = attribute_levels([table]) if levels is None else levels
    codes, columns = dict(table.codes), list[Column]()
    for column in table.schema:
        if isinstance(column, Category) and column.name in levels:
            kept = levels[column.name]
            recode = [kept.index(level) if level in kept else -1 for level in column.levels]
            codes[column.name] = np.array(recode)[codes[column.name]]
            column = Category(column.name, kept)
        columns.append(column)
    return Table(Schema(columns), codes, table.vocabularies)


def split(table: Table) -> tuple[Table, ...]:
    """Return the ten files of a table of all columns (or of all but the name)."""
    return tuple(table.select(columns) for columns in SPLIT_COLUMNS)


def files_with(name: str) -> tuple[int, ...]:
    """Return the numbers of the files that hold a column."""
    numbers = tuple(number for number, columns in enumerate(SPLIT_COLUMNS) if name in columns)
    if not numbers:
        raise ParameterError("name", f"one of {', '.join(ATTRIBUTES + MOVIES)}", name)
    return numbers


def is_split(tables: Sequence[Table]) -> bool:
    """Return whether these are the ten files, rather than one table of all columns."""
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
    zip_codes: Ints


@cache
def ratings_statistics() -> RatingsStatistics:
    """Return the stored statistics of a B file.

    Examples
    --------
    >>> ratings_statistics().related.count, int(ratings_statistics().zip_codes.sum())
    (10000, 10000)
    """
    content = stored_statistics(STATISTICS_FILE)
    zip_codes = np.array(content["zip_codes"], dtype=np.int64)
    return RatingsStatistics(Moments.from_json(content["related"], related_schema()), zip_codes)


class RatingsGenerator:
    """Draws tables B: one- and two-way tables of a real one, ZIP-codes in its proportions, a made-up name each.

    Calibrated once; then every team's tables come from a stream of its own.
    """

    def __init__(self, rng: Rng) -> None:
        self._related = moments.calibrated(ratings_statistics().related, rng)

    def __call__(self, tables: int, rows: int, rng: Rng) -> list[Table]:
        """Draw ``tables`` tables of ``rows`` rows (10,000 in the contest) at once and deal them out.

        Returns
        -------
        list of Table
            Name, four attributes with the levels that occur, 46 movies. No name occurs twice in any of them.
        """
        related = self._related(max(tables * rows, _FEWEST_DRAWN), rng)
        names = Table.from_texts(Schema([Text(NAME)]), {NAME: made_up_names(tables * rows, rng)})
        dealt = []
        for start in range(0, tables * rows, rows):
            part = slice(start, start + rows)
            codes = {
                name: values[part] for name, values in {**related.codes, **names.codes}.items()
            }
            codes[ZIP_CODE] = quota_codes(ratings_statistics().zip_codes, rows, rng)
            dealt.append(narrowed(Table(widest_schema(), codes, names.vocabularies)))
        return dealt


def made_up_names(count: int, rng: Rng) -> list[str]:
    """Put different names together from syllables, a given and a family part, so that they are nobody's.

    Examples
    --------
    >>> names = made_up_names(10_000, np.random.default_rng(1))
    >>> len(set(names)), len(names[0].split())
    (10000, 2)
    """
    words = ["".join(parts) for parts in product(*(part.split() for part in _SYLLABLES))]
    if count > len(words) ** 2:
        raise ParameterError("count", f"at most {len(words) ** 2:,}", count)
    numbers: Ints = np.zeros(0, dtype=np.int64)
    # A repeated draw is drawn again; the order of first appearance is random.
    while len(numbers) < count:
        drawn = np.concatenate((numbers, rng.integers(len(words) ** 2, size=count)))
        numbers = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    pairs = (divmod(number, len(words)) for number in numbers[:count].tolist())
    return [f"{words[given]} {words[family]}" for given, family in pairs]
