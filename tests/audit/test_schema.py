"""Any table is read as texts, and its schema inferred, written out, edited and read back."""

from __future__ import annotations

import datetime
import gzip
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from tests.reading import Read, attempt

from kakurenbo.audit.frames import MOST_CELLS, Frame, frame_of, read_frame
from kakurenbo.audit.schema import TableSchema, infer_schema, read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.core import Problems, Source
from kakurenbo.core.errors import ParameterError

CSV = "age,zip,wage,born,sex\n31,01234,10.5,2001-02-03,F\n?,09999,3,1999-12-31,M\n44,01234,2e3,2001-02-03,\n"


def frame(text: str) -> Frame:
    path = [part.split(",") for part in text.split()]
    return frame_of(
        "t", pl.DataFrame({name: list(values) for name, *values in zip(*path, strict=True)})
    )


def read(path: Path) -> Frame:
    reading = attempt(read_frame, path)
    assert isinstance(reading, Read), reading
    return reading.value


def codes(path: Path) -> list[str]:
    reading = attempt(read_frame, path)
    assert isinstance(reading, Problems)
    return [problem.code for problem in reading]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    return path


def test_kinds_are_inferred_and_missing_values_are_kept_apart(table: Path) -> None:
    schema = infer_schema(read(table))
    assert [column.kind for column in schema] == [
        "integer",
        "category",
        "decimal",
        "date",
        "category",
    ]
    assert schema["age"].missing == ("?",)
    assert (schema["age"].low, schema["age"].high) == (31, 44)
    assert schema["zip"].levels == ("01234", "09999")
    assert schema["born"].first == datetime.date(1999, 12, 31)
    assert schema["sex"].missing == ("",)


def test_free_text_is_a_column_of_many_texts_most_of_them_different() -> None:
    texts = pl.DataFrame(
        {"note": [f"note {number}" for number in range(1500)], "kind": ["a", "b", "c"] * 500}
    )
    assert [column.kind for column in infer_schema(frame_of("t", texts))] == ["text", "category"]


def test_a_schema_file_is_read_back_as_it_was_written(table: Path, tmp_path: Path) -> None:
    schema = infer_schema(read(table))
    (tmp_path / "s.toml").write_text(schema.as_toml())
    again = attempt(read_schema, Source.of(tmp_path / "s.toml"))
    assert isinstance(again, Read)
    assert again.value == schema


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[a", "toml.syntax"),
        ("# nothing", "audit.no_columns"),
        ('[a]\nkind = "number"', "audit.schema_kind"),
        ("a = 3", "audit.schema_kind"),
        ('[a]\nkind = "text"\ncolour = 1', "audit.schema_field"),
        ('[a]\nkind = "category"\nlevels = [1]', "audit.schema_field"),
        ('[a]\nkind = "integer"\nlow = 5\nhigh = 1', "audit.schema_bounds"),
        ('[a]\nkind = "date"', "audit.schema_bounds"),
    ],
)
def test_a_schema_file_that_says_something_else_is_refused(
    content: str, code: str, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(content)
    reading = attempt(read_schema, Source.of(tmp_path / "s.toml"))
    assert isinstance(reading, Problems)
    assert reading[0].code == code


def test_csv_gzip_parquet_polars_and_pandas_give_the_same_cells(
    table: Path, tmp_path: Path
) -> None:
    plain = read(table).cells
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert read(tmp_path / "t.csv.gz").cells.equals(plain)
    numbers = pl.DataFrame(
        {"age": [31, None, 44], "wage": [1.0, 2.0, None], "born": [datetime.date(2001, 2, 3)] * 3}
    )
    numbers.write_parquet(tmp_path / "t.parquet")
    texts = pl.DataFrame(
        {"age": ["31", "", "44"], "wage": ["1", "2", ""], "born": ["2001-02-03"] * 3}
    )
    assert read(tmp_path / "t.parquet").cells.equals(texts)
    assert frame_of("t", numbers).cells.equals(texts)
    pandas = pd.DataFrame(
        {"age": [31, None, 44], "wage": [1.0, 2.0, None], "born": ["2001-02-03"] * 3}
    )
    assert frame_of("t", pandas).cells.equals(texts)


def test_files_of_a_folder_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "1.csv").write_text("a,b\n1,2\n")
    (folder / "2.csv").write_text("b,a\n4,3\n")
    assert read(folder).cells.rows() == [("1", "2"), ("3", "4")]
    (folder / "3.csv").write_text("b,c\n4,3\n")
    assert codes(folder) == ["audit.other_columns"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "text.empty"),
        (b"a,b\n", "audit.no_records"),
        (b"a,a\n1,2\n", "audit.column_twice"),
        (b"a,\n1,2\n", "audit.unnamed_column"),
        (b"a,b\n1\n", "line.wrong_width"),
        (b"PAR1 and nothing else", "audit.not_parquet"),
        (b"a\n" + b"1\n" * (MOST_CELLS + 1), "audit.too_many_cells"),
        (b",".join(b"c%d" % number for number in range(300)) + b"\n", "audit.too_many_columns"),
        (b"a,b\n\xff,1\n", "text.not_utf8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_table_is_refused_with_its_place(
    content: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert codes(path) == [code]


def test_a_parquet_file_of_too_many_rows_is_refused_by_its_footer(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": pl.repeat(1, MOST_CELLS + 1, eager=True)}).write_parquet(path)
    assert codes(path) == ["audit.too_many_cells"]


def test_lists_are_no_plain_values(tmp_path: Path) -> None:
    pl.DataFrame({"a": [[1], [2]]}).write_parquet(tmp_path / "t.parquet")
    assert codes(tmp_path / "t.parquet") == ["audit.nested_column"]
    with pytest.raises(ParameterError):
        frame_of("t", pl.DataFrame({"a": [[1], [2]]}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b\n1;2\n", "delimiter=';'"),
        (b"a\tb\n1\t2\n", r"delimiter='\t'"),
        ("名前,b\n1,2\n".encode("cp932"), "iconv -f CP932 -t UTF-8 t.csv > t-utf8.csv"),
        ("größe,b\n1,2\n".encode("cp1252"), "iconv -f WINDOWS-1252 -t UTF-8 t.csv > t-utf8.csv"),
        ("a\tb\n1\t2\n".encode("utf-16"), "iconv -f UTF-16 -t UTF-8 t.csv > t-utf8.csv"),
    ],
)
def test_a_table_in_another_form_is_refused_with_the_line_that_converts_it(
    content: bytes, words: str, table: Path
) -> None:
    table.write_bytes(content)
    reading = attempt(read_frame, table)
    assert isinstance(reading, Problems)
    for language in ("en", "ja"):
        assert words in reading[0].in_language(language)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_what_excel_saves_as_unicode_text_is_told_as_utf_16_and_not_as_no_text(
    order: str, table: Path
) -> None:
    table.write_bytes(("\ufeff" + "name\tage\nä\t2\n").encode(order))
    assert codes(table) == ["text.utf16"]
    reading = attempt(read_frame, table)
    assert isinstance(reading, Problems)
    assert "UTF-16" in reading[0].in_language("en")
    assert "CSV UTF-8" in reading[0].in_language("ja")


def test_recipes_for_several_files_write_to_as_many_places(tmp_path: Path) -> None:
    told = []
    for name in ("original.csv", "my holdout.csv"):
        (tmp_path / name).write_bytes(b"a;b\n1;2\n")
        reading = attempt(read_frame, tmp_path / name)
        assert isinstance(reading, Problems)
        told.append(reading[0].fix)
    assert told[0].endswith("< original.csv > original-commas.csv")
    assert told[1].endswith("< 'my holdout.csv' > 'my holdout-commas.csv'")


def test_the_line_that_is_told_converts_semicolons(table: Path) -> None:
    table.write_text('a;"b;c"\n1;"3,5"\n')
    reading = attempt(read_frame, table)
    assert isinstance(reading, Problems)
    command = reading[0].fix.partition(": ")[2].replace("python3", sys.executable, 1)
    subprocess.run(command, shell=True, check=True, cwd=table.parent)
    assert read(table.parent / "t-commas.csv").cells.rows() == [("1", "3,5")]


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        (["3,5", "", "12"], "audit.decimal_commas"),
        (["1.234,5", "-0,25"], "audit.decimal_commas"),
        (["1,234", "999"], "audit.thousands_commas"),
        (["1,234,567.5", "1,000"], "audit.thousands_commas"),
        (["3,5", "tall"], ""),
        (["12", "3.5"], ""),
        (["1,2,3", "4"], ""),
    ],
)
def test_numbers_with_commas_stay_words_and_a_notice_names_the_column(
    cells: list[str], code: str, table: Path
) -> None:
    pl.DataFrame({"size": cells, "other": ["x"] * len(cells)}).write_csv(table)
    reading = attempt(read_frame, table)
    assert isinstance(reading, Read)
    told = [notice for notice in reading.notices if notice.code.endswith("commas")]
    assert [(notice.code, notice.column) for notice in told] == ([(code, "size")] if code else [])
    assert infer_schema(reading.value)["size"].kind == (
        "category" if code or "tall" in cells or "4" in cells else "decimal"
    )
    assert not any(cell in str(notice) for notice in told for cell in cells if len(cell) > 2)


def test_the_line_that_is_told_makes_them_numbers(table: Path) -> None:
    table.write_text('size\n"3,5"\n"0,25"\n')
    reading = attempt(read_frame, table)
    assert isinstance(reading, Read)
    command = reading.notices[0].fix.partition(": ")[2].replace("python3", sys.executable, 1)
    subprocess.run(command, shell=True, check=True, cwd=table.parent)
    assert infer_schema(read(table.parent / "t-points.csv"))["size"].kind == "decimal"


@pytest.mark.parametrize(
    ("cells", "pattern", "first", "last"),
    [
        (["2024/1/5", "2024/12/31", "2024/01/07"], "%Y/%m/%d", "2024-01-05", "2024-12-31"),
        (["2024年1月5日", "2024年11月25日"], "%Y年%m月%d日", "2024-01-05", "2024-11-25"),
        (["2024-1-5", "2024-12-5"], "%Y-%m-%d", "2024-01-05", "2024-12-05"),
        (["5.1.2024", "25.12.2024"], "%d.%m.%Y", "2024-01-05", "2024-12-25"),
        (["1/5/2024", "12/25/2024"], "%m/%d/%Y", "2024-01-05", "2024-12-25"),
        (["1/5/2024", "25/12/2024"], "%d/%m/%Y", "2024-05-01", "2024-12-25"),
    ],
)
def test_dates_without_leading_zeros_are_dates(
    cells: list[str], pattern: str, first: str, last: str
) -> None:
    column = infer_schema(frame_of("t", pl.DataFrame({"seen": cells})))["seen"]
    assert (column.kind, column.pattern, str(column.first), str(column.last)) == (
        "date",
        pattern,
        first,
        last,
    )
    assert column.numbers(pl.Series(cells)).null_count() == 0
    check_cells(TableSchema((column,)), frame_of("t", pl.DataFrame({"seen": cells})))


@pytest.mark.parametrize(
    "cell", ["24/1/5", "1/5/24", "2024/1/5x", "2024/001/5", "2024/13/1", "2024-1/5", "2024/1"]
)
def test_what_only_looks_like_a_date_is_a_word(cell: str) -> None:
    assert infer_schema(frame_of("t", pl.DataFrame({"seen": [cell]})))["seen"].kind == "category"
