"""Census Income: the original files in, nine columns of complete rows out, and our own statistics of them."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.core import Moments, Problems, Source, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.adult import (
    COMPLETE_ROWS,
    SCHEMA,
    adult_statistics,
    embedded_adult,
    read_part,
    read_uci,
)
from kakurenbo.data.generators import fidelity

REPOSITORY = Path(__file__).resolve().parents[2]
LINE = b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K\n"
ROW = (
    39,
    "State-gov",
    "Bachelors",
    "Never-married",
    "Adm-clerical",
    "Not-in-family",
    "Male",
    40,
    "<=50K",
)
TEST_HEAD = b"|1x3 Cross validator\n"
TEST_LINE = LINE.replace(b"<=50K", b"<=50K.")


def read(data: bytes) -> Table | Problems:
    reading = attempt(read_uci, Source("adult.data", data))
    return reading if isinstance(reading, Problems) else reading.value


def told(data: bytes) -> list[str]:
    problems = read(data)
    assert isinstance(problems, Problems)
    return [str(problem) for problem in problems]


def test_a_training_file_gives_the_nine_columns() -> None:
    assert attempt(read_part, Source("a", LINE * 2 + b"\n")) == Read(
        ("train", Table.from_rows(SCHEMA, [ROW, ROW]))
    )


def test_a_test_file_is_told_by_its_first_line_and_its_labels_lose_their_period() -> None:
    assert attempt(read_part, Source("a", TEST_HEAD + TEST_LINE + b"\n")) == Read(
        ("test", Table.from_rows(SCHEMA, [ROW]))
    )


@pytest.mark.parametrize("field", [b"77516", b"State-gov", b"Cuba", b"White", b"2174"])
def test_a_question_mark_in_any_field_drops_the_row(field: bytes) -> None:
    table = read(LINE.replace(field, b"?") + LINE)
    assert isinstance(table, Table)
    assert table.rows() == [ROW]


def test_packed_files_and_windows_line_ends_are_read() -> None:
    packed = gzip.compress(LINE.replace(b"\n", b"\r\n"))
    assert attempt(read_uci, Source("adult.data.gz", packed)) == Read(
        Table.from_rows(SCHEMA, [ROW])
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (LINE + b"39, Private\n" + LINE, "adult.data:2: the line has 2 columns instead of 15"),
        (
            LINE.replace(b"Cuba", b"?") + LINE.replace(b"39", b"91"),
            "adult.data:2: age: 91 is not an integer from 17 to 90",
        ),
        (LINE + TEST_LINE, 'adult.data:2: income: "<=50K." is not one of >50K, <=50K'),
        (TEST_HEAD + TEST_LINE + LINE, 'adult.data:3: income: "<=50K" is not one of >50K., <=50K.'),
        (TEST_HEAD + TEST_LINE + b"39\n", "adult.data:3: the line has 1 column instead of 15"),
        (LINE + b"\n" + LINE, "adult.data:2: the line is empty"),
        (LINE.replace(b"Cuba", b"?"), "adult.data: every row misses a value"),
        (LINE + b"\xff" + LINE, "adult.data:2: the file is not UTF-8 text"),
        (b"", "adult.data: the file is empty"),
        (TEST_HEAD, "adult.data: the file is empty"),
        (LINE + b"39\r39", "adult.data:2: "),
    ],
)
def test_malformed_input_is_told_with_its_row(data: bytes, message: str) -> None:
    assert any(text.startswith(message) for text in told(data))


def test_every_bad_row_is_told_not_only_the_first() -> None:
    bad = LINE.replace(b"Male", b"male")
    other = LINE.replace(b"Male", b"MALE")
    assert [text.split(":")[1] for text in told(bad + LINE + other)] == ["1", "3"]


def test_rows_with_the_same_bad_cell_are_told_at_once_with_their_lines_in_the_file() -> None:
    bad = LINE.replace(b"Male", b"male")
    (text,) = told(bad + LINE + bad + bad)
    assert text.split(":")[1] == "1"
    assert text.endswith(" (also rows 3, 4)")


@given(st.binary(max_size=80), st.booleans())
def test_no_input_whatsoever_raises(data: bytes, test: bool) -> None:
    content = (TEST_HEAD if test else b"") + TEST_LINE + data
    assert isinstance(read(content), Table | Problems)


def test_the_statistics_have_the_rules_check_values() -> None:
    moments = adult_statistics("train")
    age, hours = 0, 54
    assert moments.count == 30_162
    assert moments.mean[[age, hours]] == pytest.approx([38.437902, 40.931238], abs=1e-6)
    assert np.sqrt(np.diag(moments.covariance)[[age, hours]]) == pytest.approx(
        [13.134665, 11.979984], abs=1e-6
    )
    assert moments.covariance[age, hours] == pytest.approx(15.986877, abs=1e-6)
    assert np.trace(moments.covariance) == pytest.approx(320.37676, abs=1e-5)
    assert np.abs(moments.covariance).sum() == pytest.approx(443.51468, abs=1e-5)


def test_unknown_statistics_are_refused() -> None:
    with pytest.raises(ParameterError, match="train, test"):
        adult_statistics("validation")


@pytest.mark.parametrize("part", COMPLETE_ROWS)
def test_the_embedded_rows_are_those_that_the_embedded_statistics_give(part: str) -> None:
    script = runpy.run_path(str(REPOSITORY / "scripts" / "make_embedded_adult.py"))
    assert getattr(embedded_adult(), part) == script["draw_embedded_rows"](part)


def test_the_embedded_rows_are_as_many_as_the_real_ones_and_have_their_moments() -> None:
    for part, table in (("train", embedded_adult().train), ("test", embedded_adult().test)):
        assert len(table) == COMPLETE_ROWS[part]
        assert fidelity(adult_statistics(part), table).covariance_sum < 2


# -- the real files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "part"), [("adult.data.gz", "train"), ("adult.test.gz", "test")])
def test_the_real_files_give_the_embedded_statistics_byte_for_byte(
    reference_data: Path, name: str, part: str
) -> None:
    script = runpy.run_path(str(REPOSITORY / "scripts" / "make_adult_statistics.py"))
    stored = REPOSITORY / "src" / "kakurenbo" / "data" / "stored" / f"adult-{part}.json"
    assert script["statistics"](reference_data / "adult" / name) == (
        stored.name,
        stored.read_bytes(),
    )


def test_the_real_training_file_has_25014_distinct_rows(reference_data: Path) -> None:
    reading = attempt(read_uci, Source.of(reference_data / "adult" / "adult.data.gz"))
    assert isinstance(reading, Read)
    table = reading.value
    assert len(table) == COMPLETE_ROWS["train"]
    assert len(np.unique(table.keys())) == 25_014
    assert (Moments.of(table).products == adult_statistics("train").products).all()
