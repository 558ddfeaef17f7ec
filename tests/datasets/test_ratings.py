"""Movie ratings: columns, splits, stored statistics, and tables drawn from them."""

from __future__ import annotations

import importlib.util
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from kakurenbo.datasets import ratings
from kakurenbo.datasets.names import made_up_names
from kakurenbo.errors import ParameterError
from kakurenbo.generators.ratings import RatingsGenerator
from kakurenbo.rng import stream
from kakurenbo.tables import Table

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_ratings_statistics.py"


@pytest.fixture(scope="module")
def drawn() -> list[Table]:
    return RatingsGenerator(stream(1, "test", "calibration"))(2, 3000, stream(1, "test", "draw"))


def test_there_are_46_movies_and_ten_files_that_hold_all_of_them() -> None:
    assert len(ratings.MOVIES) == 46
    assert len(ratings.SPLITS) == 10
    assert {movie for split in ratings.SPLITS for movie in split} == set(ratings.MOVIES)
    assert ratings.SPLITS[9] == ("260", "1097", "2628", "2174", "2797", "1073", "2100", "2968", "2105", "2193")
    assert ratings.files_with("260") == (0, 1, 7, 9)
    with pytest.raises(ParameterError, match="name"):
        ratings.files_with("261")


def test_the_stored_statistics_are_those_of_a(reference_data: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_ratings_statistics", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.statistics(reference_data / "pwscup2024" / "A.csv")
    stored = resources.files("kakurenbo.datasets").joinpath("data", ratings.STATISTICS_FILE).read_bytes()
    assert made == stored


def test_the_stored_statistics_relate_no_zip_code_to_anything() -> None:
    content = json.loads(resources.files("kakurenbo.datasets").joinpath("data", ratings.STATISTICS_FILE).read_text("utf-8"))
    assert ratings.ZIP_CODE not in content["related"]["histograms"]
    assert set(content) == {"related", "zip_codes"}
    assert len(content["zip_codes"]) == 1000


def test_a_drawn_table_has_the_histograms_of_a_and_names_that_occur_once(drawn: list[Table]) -> None:
    statistics = ratings.ratings_statistics()
    names = [name for table in drawn for name in table.values(ratings.NAME)]
    assert len(set(names)) == len(names) == 6000
    shares = {movie: np.mean([table.frequencies(movie) / len(table) for table in drawn], axis=0) for movie in ratings.MOVIES}
    source = dict(zip(statistics.related.schema.names, statistics.related.histograms, strict=True))
    gaps = [np.abs(shares[movie] - source[movie] / statistics.related.count).max() for movie in ratings.MOVIES]
    assert np.mean(gaps) < 0.02
    zip_codes = {int(code) for table in drawn for code in table.values(ratings.ZIP_CODE)}
    assert zip_codes <= set(np.flatnonzero(statistics.zip_codes).tolist())


def test_a_drawn_table_keeps_how_ratings_go_together(drawn: list[Table]) -> None:
    statistics = ratings.ratings_statistics().related
    source = statistics.correlation[-46:, -46:]
    ours = np.corrcoef(np.concatenate([np.stack([t.values(m) for m in ratings.MOVIES]) for t in drawn], axis=1))
    upper = np.triu_indices(46, 1)
    assert np.corrcoef(source[upper], ours[upper])[0, 1] > 0.8


def test_attributes_have_only_the_levels_that_occur(drawn: list[Table]) -> None:
    for name in ratings.ATTRIBUTES:
        assert drawn[0].frequencies(name).min() > 0


def test_made_up_names_are_different_and_repeatable() -> None:
    first, second = (made_up_names(1000, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert len(set(first)) == 1000
    with pytest.raises(ParameterError, match="count"):
        made_up_names(10**9, np.random.default_rng(3))
