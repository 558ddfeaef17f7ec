"""Movie ratings: columns, splits, stored statistics, and tables drawn from them."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.core import Moments, Problems, Source, Table, table_bytes
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.core.statistics import crosstab_errors
from kakurenbo.data import ratings
from kakurenbo.data.generators import fidelity
from kakurenbo.data.ratings import RatingsGenerator, made_up_names
from kakurenbo.measures.crosstab import crosstab_utility, least_utility

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = REPOSITORY / "scripts" / "make_ratings_statistics.py"
STORED = REPOSITORY / "src" / "kakurenbo" / "data" / "stored" / ratings.STATISTICS_FILE


@pytest.fixture(scope="module")
def generator() -> RatingsGenerator:
    return RatingsGenerator(stream(1, "test", "calibration"))


@pytest.fixture(scope="module")
def drawn(generator: RatingsGenerator) -> list[Table]:
    return generator(3, 10_000, stream(1, "test", "draw"))


def test_there_are_46_movies_and_ten_files_that_hold_all_of_them() -> None:
    assert len(ratings.MOVIES) == 46
    assert len(ratings.SPLITS) == 10
    assert {movie for split in ratings.SPLITS for movie in split} == set(ratings.MOVIES)
    assert ratings.SPLITS[9] == (
        "260",
        "1097",
        "2628",
        "2174",
        "2797",
        "1073",
        "2100",
        "2968",
        "2105",
        "2193",
    )
    assert ratings.files_with("260") == (0, 1, 7, 9)
    with pytest.raises(ParameterError, match="name"):
        ratings.files_with("261")


def related(table: Table) -> Table:
    return Table.from_texts(
        ratings.related_schema(), {name: table.texts(name) for name in ratings.RELATED}
    )


def permuted_utility(table: Table, rng: np.random.Generator) -> float:
    """U of the ten files when every column is permuted by itself."""
    scores = []
    for part in ratings.split(table):
        permuted = part.with_codes(
            {name: rng.permutation(part.codes[name]) for name in part.schema.names}
        )
        scores.append(crosstab_utility(part, permuted, ratings.ATTRIBUTES))
    return least_utility(scores).value


# -- what is stored ----------------------------------------------------------------------------------------------------


def test_the_stored_statistics_are_those_of_a_real_b_file(reference_data: Path) -> None:
    made = runpy.run_path(str(SCRIPT))["statistics"](reference_data / "pwscup2024" / "Bi11.csv.gz")
    assert made == STORED.read_bytes()


def test_the_stored_statistics_are_small_and_relate_two_columns_at_most_and_no_zip_code() -> None:
    content = json.loads(STORED.read_text("utf-8"))
    assert len(STORED.read_bytes()) < 300_000
    assert set(content) == {"related", "zip_codes"}
    assert set(content["related"]) == {
        "count",
        "histograms",
        "products",
    }  # one-way tables, two-way tables
    assert set(content["related"]["histograms"]) == set(ratings.RELATED)
    assert ratings.ZIP_CODE not in ratings.RELATED
    assert ratings.NAME not in ratings.RELATED
    assert len(content["zip_codes"]) == 1000


# -- what is drawn -----------------------------------------------------------------------------------------------------


def test_a_drawn_table_has_as_many_zeros_as_a_real_one(drawn: list[Table]) -> None:
    for table in drawn:
        zeros = np.mean([table.codes[movie] == ratings.NOT_SEEN for movie in ratings.MOVIES])
        assert 0.33 < zeros < 0.37


def test_permuted_columns_have_the_utility_they_have_on_real_files(drawn: list[Table]) -> None:
    for seed, table in enumerate(drawn):
        assert 52 < permuted_utility(table, np.random.default_rng(seed)) < 60


def test_drawn_tables_have_the_stored_one_way_and_two_way_tables(drawn: list[Table]) -> None:
    source = ratings.ratings_statistics().related
    together = Table.stack([related(table) for table in drawn])
    assert max(fidelity(source, together).total_variation.values()) < 0.002
    # Cells of the two-way tables, of which there are 36 between two movies: sampling 10,000 rows alone moves 1/1000.
    difference = np.abs(
        Moments.of(together).products / len(together) - source.products / source.count
    )
    assert difference.mean() < 0.0005
    assert difference.max() < 0.01


def test_drawn_tables_are_as_close_to_a_real_one_as_a_sample_of_it(
    drawn: list[Table], reference_data: Path, record_property: Callable[[str, object], None]
) -> None:
    read = attempt(ratings.read_ratings, Source.of(reference_data / "pwscup2024" / "Bi11.csv.gz"))
    assert isinstance(read, Read)
    real = related(read.value)
    one_way, two_way = table_distances(real, related(drawn[0]))
    record_property("largest one-way total variation", float(one_way))
    record_property("mean two-way total variation", float(two_way))
    sample = real.take(np.random.default_rng(0).integers(len(real), size=len(real)))
    sampled_one_way, sampled_two_way = table_distances(real, sample)
    assert one_way < min(0.02, sampled_one_way)
    assert two_way < min(0.02, sampled_two_way)


def table_distances(first: Table, second: Table) -> tuple[float, float]:
    """The largest total variation of the one-way tables, and the mean of the two-way ones."""
    one_way = [
        np.abs(first.frequencies(name) / len(first) - second.frequencies(name) / len(second)).sum()
        / 2
        for name in ratings.RELATED
    ]
    pairs = list(combinations(ratings.RELATED, 2))
    assert len(first) == len(second)
    return max(one_way), float(crosstab_errors(first, second, pairs).mean() / len(first) / 2)


def test_the_strongest_tie_of_a_real_file_is_kept(drawn: list[Table]) -> None:
    # Of 10,000 people 3,833 saw neither movie, and nobody gave 1525 four stars without having seen 3877.
    for table in drawn:
        seen = related(table)
        neither = ((seen.codes["1525"] == 0) & (seen.codes["3877"] == 0)).mean()
        assert neither == pytest.approx(0.383, abs=0.015)
        assert ((seen.codes["1525"] == 4) & (seen.codes["3877"] == 0)).mean() < 0.003


def test_names_occur_once_and_zip_codes_are_those_of_the_statistics(drawn: list[Table]) -> None:
    names = [name for table in drawn for name in table.values(ratings.NAME)]
    assert len(set(names)) == len(names) == 30_000
    stored = ratings.ratings_statistics().zip_codes
    for table in drawn:
        assert {int(code) for code in table.values(ratings.ZIP_CODE)} == set(
            np.flatnonzero(stored).tolist()
        )


def test_the_same_stream_draws_the_same_tables(
    generator: RatingsGenerator, drawn: list[Table]
) -> None:
    again = generator(3, 10_000, stream(1, "test", "draw"))
    assert [table.digest() for table in again] == [table.digest() for table in drawn]


# -- files of an organizer ---------------------------------------------------------------------------------------------


def test_a_b_file_is_read_with_the_levels_that_occur(drawn: list[Table]) -> None:
    content = table_bytes(drawn[0].take(np.arange(60)), header=True).replace(b"\n", b"\r\n")
    read = attempt(ratings.read_ratings, Source("Bi07.csv", content))
    assert isinstance(read, Read)
    assert [notice.code for notice in read.notices] == ["text.line_ends"]
    assert len(read.value) == 60
    assert read.value.frequencies("Occupation").min() > 0


@pytest.mark.parametrize("name", ["Bi11.csv.gz", "sampleBi.csv"])
def test_the_contests_own_b_files_are_read(reference_data: Path, name: str) -> None:
    read = attempt(ratings.read_ratings, Source.of(reference_data / "pwscup2024" / name))
    assert isinstance(read, Read)
    assert len(read.value) == 10_000


def test_a_b_file_of_fewer_than_50_rows_or_with_a_rating_of_6_is_refused(
    drawn: list[Table],
) -> None:
    short = table_bytes(drawn[0].take(np.arange(49)), header=True)
    assert isinstance(attempt(ratings.read_ratings, Source("B.csv", short)), Problems)
    lines = table_bytes(drawn[0].take(np.arange(50)), header=True).splitlines(keepends=True)
    lines[3] = lines[3].rpartition(b",")[0] + b",6\n"
    problems = attempt(ratings.read_ratings, Source("B.csv", b"".join(lines)))
    assert isinstance(problems, Problems)
    assert (problems[0].row, problems[0].column, problems[0].value) == (4, "3889", "6")


# -- columns and names -------------------------------------------------------------------------------------------------


def test_attributes_have_only_the_levels_that_occur(drawn: list[Table]) -> None:
    for name in ratings.ATTRIBUTES:
        assert drawn[0].frequencies(name).min() > 0


def test_made_up_names_are_different_and_repeatable() -> None:
    first, second = (made_up_names(1000, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert len(set(first)) == 1000
    with pytest.raises(ParameterError, match="count"):
        made_up_names(10**9, np.random.default_rng(3))
