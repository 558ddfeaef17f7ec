"""Reading CSV: every problem is found, and named by file, row, column and value."""

from __future__ import annotations

import datetime
import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.core import (
    Category,
    Date,
    Decimal,
    Integer,
    Layout,
    Problems,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    read_table,
    table_bytes,
)

SCHEMA = Schema(
    [Integer("age", 17, 90), Category("sex", ("Female", "Male")), Integer("hours", 1, 99)]
)
GOOD = b"39,Male,40\n17,Female,1\n90,Male,99\n"


def read(data: bytes, layout: Layout | None = None, schema: Schema = SCHEMA) -> Table | Problems:
    """The table alone, or the problems."""
    reading = attempt(read_table, Source("D.csv", data), schema, layout)
    return reading.value if isinstance(reading, Read) else reading


def problems(data: bytes, layout: Layout | None = None, schema: Schema = SCHEMA) -> Problems:
    found = read(data, layout, schema)
    assert isinstance(found, Problems), f"expected problems, got {found}"
    return found


def test_a_flawless_file_becomes_codes() -> None:
    table = read(GOOD)
    assert isinstance(table, Table)
    assert table.rows() == [(39, "Male", 40), (17, "Female", 1), (90, "Male", 99)]
    assert table.codes["age"].tolist() == [22, 0, 73]
    assert table.codes["age"].dtype == np.int8


def test_a_missing_last_line_end_is_no_problem() -> None:
    assert read(GOOD[:-1]) == read(GOOD)


def test_quotation_marks_around_a_value_are_the_same_value() -> None:
    assert read(b'"39","Male",40\n17,Female,1\n90,"Male","99"\n') == read(GOOD)


@pytest.mark.parametrize(
    ("cell", "column", "fix"),
    [
        (b"91", "age", "give an integer from 17 to 90"),
        (b"39.0", "age", "write 39"),
        (b"+39", "age", "write 39"),
        (b"039", "age", "write 39"),
        (b"", "age", "give an integer from 17 to 90"),
        (b"nan", "age", "give an integer from 17 to 90"),
        (b" 39", "age", "write 39"),
    ],
)
def test_a_number_outside_its_domain_is_named_with_its_fix(
    cell: bytes, column: str, fix: str
) -> None:
    (problem,) = problems(GOOD.replace(b"39", cell, 1))
    assert (problem.file, problem.row, problem.record, problem.column) == ("D.csv", 1, 0, column)
    assert problem.value == cell.decode()
    assert problem.fix == fix


def test_a_category_with_a_blank_or_other_case_is_told_the_right_word() -> None:
    first, second = problems(b"39, Male,40\n17,female,1\n")
    assert str(first) == 'D.csv:1: sex: " Male" has blanks around the value; write "Male"'
    assert (
        str(second) == 'D.csv:2: sex: "female" is not one of Female, Male; did you mean "Female"?'
    )


def test_every_problem_is_found_not_only_the_first() -> None:
    found = problems(b"16,Male,40\n\n39,Male\n39,Other,100\n39,Male,40,1\n")
    assert [(problem.row, problem.column) for problem in found] == [
        (1, "age"),
        (2, None),
        (3, None),
        (4, "sex"),
        (4, "hours"),
        (5, None),
    ]
    assert found.total == 6
    assert [problem.record for problem in found if problem.column] == [0, 3, 3]


def test_twenty_problems_are_listed_and_all_are_counted() -> None:
    found = problems(b"".join(b"%d,Other%d,40\n" % (100 + row, row) for row in range(5_000)))
    assert len(found) == 20
    assert found.total == 10_000


def test_problems_that_differ_only_in_their_row_are_listed_once() -> None:
    age, sex = found = problems(b"16,Other,40\n" * 5_000)
    assert found.total == age.count + sex.count == 10_000
    assert (age.row, age.record, age.column, age.value, age.rows) == (
        1,
        0,
        "age",
        "16",
        (1, 2, 3, 4),
    )
    assert str(age).endswith(" (also rows 2, 3, 4 and 4,996 more)")
    assert str(age).startswith("D.csv:1: age: 16 is not an integer from 17 to 90; ")


def test_other_values_and_other_columns_are_problems_of_their_own() -> None:
    found = problems(b"16,Male,40\n15,Male,40\n16,Male,100\n")
    assert [(problem.row, problem.column, problem.value, problem.rows) for problem in found] == [
        (1, "age", "16", (1, 3)),
        (2, "age", "15", ()),
        (3, "hours", "100", ()),
    ]
    assert str(found[0]).endswith(" (also row 3)")


@pytest.mark.parametrize("quoted", [b"", b'"39",Male,40\n'])
def test_lines_of_one_wrong_width_are_one_problem_whatever_they_hold(quoted: bytes) -> None:
    lines = quoted + b"39,Male,40,1\n38,Female,41,2\n\n1,2\n37,Male,42,3\n\n"
    first = 1 + bool(quoted)
    found = problems(lines)
    assert [(problem.code, problem.row, problem.count) for problem in found] == [
        ("line.wrong_width", first, 3),
        ("line.empty", first + 2, 2),
        ("line.wrong_width", first + 3, 1),
    ]
    assert (
        found[0].message
        == f"the line has 4 columns instead of 3 (also rows {first + 1}, {first + 4})"
    )
    assert found.total == 6


def test_the_json_of_a_grouped_problem_lists_its_first_rows_and_counts_all() -> None:
    (problem,) = problems(b"16,Male,40\n" * 7)
    told = problem.as_json("en")
    assert (told["row"], told["record"], told["column"], told["value"]) == (1, 0, "age", "16")
    assert (told["rows"], told["count"]) == ([1, 2, 3, 4], 7)
    assert "rows" not in problems(b"16,Male,40\n")[0].as_json("en")


def test_ragged_lines_beyond_the_list_are_counted_too() -> None:
    assert problems(b"1,2\n" * 300 + b"16,Male,40\n" * 7).total == 307


def test_a_header_where_none_belongs_is_one_problem_not_three() -> None:
    (problem,) = problems(b"age,sex,hours\n" + GOOD)
    assert problem.row == 1
    assert "header" in problem.message
    assert "remove" in problem.fix


@pytest.mark.parametrize(
    ("data", "word", "row", "severity"),
    [
        (b"", "empty", None, Severity.MALFORMED),
        (b"\n\n", "empty", None, Severity.MALFORMED),
        (b"39,Ma\0le,40\n", "NUL", 1, Severity.MALFORMED),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "this is a zip", None, Severity.MALFORMED),
        (GOOD + "39,男,40\n".encode("cp932"), "Shift_JIS", 4, Severity.MALFORMED),
        ("39,Male,40\n".encode("utf-16"), "UTF-16", 1, Severity.MALFORMED),
        (GOOD + b'39,"Male,40\n', "quotation mark", 4, Severity.MALFORMED),
    ],
)
def test_a_file_that_is_not_plain_text_is_refused(
    data: bytes, word: str, row: int | None, severity: Severity
) -> None:
    (problem,) = problems(data)
    assert word in problem.message
    assert problem.row == row
    assert problem.severity is severity
    assert problem.fix


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_a_byte_order_mark_and_foreign_line_ends_are_put_right_with_a_notice_in_every_contest(
    ends: bytes,
) -> None:
    reading = attempt(
        read_table, Source("D.csv", b"\xef\xbb\xbf" + GOOD.replace(b"\n", ends)), SCHEMA
    )
    assert isinstance(reading, Read)
    assert reading.value == read(GOOD)
    assert [str(notice) for notice in reading.notices] == [
        "D.csv:1: the file begins with a byte-order mark: put right",
        "D.csv:1: the line ends are not LF but CRLF or CR: put right",
    ]
    assert [notice.severity for notice in reading.notices] == [Severity.NOTICE] * 2


def test_a_line_of_200_megabytes_is_refused_without_holding_much_more() -> None:
    data = b"9" * 90_000_000
    tracemalloc.start()
    (problem,) = problems(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "longer than" in problem.message
    assert problem.row == 1
    assert peak < 1_000_000_000
    (problem,) = problems(b"9" * 200_000_000)
    assert "larger than 100,000,000 bytes" in problem.message


def test_a_packed_file_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(b"39,Male,40\n" * 10_000_000)
    found = attempt(read_table, Source("D.csv.gz", bomb), SCHEMA)
    assert isinstance(found, Problems)
    assert "larger than" in found[0].message


@pytest.mark.parametrize(
    "data", [b"not gzip", gzip.compress(GOOD, mtime=0)[:-9], b""], ids=["text", "cut off", "empty"]
)
def test_a_damaged_packed_file_is_refused(data: bytes) -> None:
    found = attempt(read_table, Source("D.csv.gz", data), SCHEMA)
    assert isinstance(found, Problems)
    assert found.malformed


def test_the_number_of_records_is_checked() -> None:
    assert "the number of records is 3; 4 to 9 are allowed" in str(
        problems(GOOD, Layout(min_rows=4, max_rows=9))[0]
    )
    assert "exactly 2 are allowed" in str(problems(GOOD, Layout(min_rows=2, max_rows=2))[0])
    assert isinstance(read(GOOD, Layout(min_rows=3, max_rows=3)), Table)


def test_a_header_is_taken_off_and_checked_where_the_contest_has_one() -> None:
    layout = Layout(header=True)
    assert read(b"age,sex,hours\n" + GOOD, layout) == read(GOOD)
    assert "another order" in problems(b"sex,age,hours\n" + GOOD, layout)[0].message
    assert "lacks hours" in problems(b"age,sex,minutes\n" + GOOD, layout)[0].message
    assert problems(b"age,sex,hours\n16,Male,40\n", layout)[0].row == 2
    assert problems(b"age,sex,hours\n16,Male,40\n", layout)[0].record == 0


def test_dates_decimals_and_texts_are_read_by_their_own_rules() -> None:
    days = Date("day", datetime.date(2011, 1, 31), datetime.date(2011, 3, 1))
    schema = Schema([days, Decimal("price", low=0), Text("who"), Integer("quantity", 1, 100_000)])
    table = read(b"2011/02/01,2.55,b,6\n2011/01/31,0,a,100000\n", schema=schema)
    assert isinstance(table, Table)
    assert table.codes["day"].tolist() == [1, 0]
    assert table.values("price").tolist() == [2.55, 0.0]
    assert table.vocabularies["who"] == ("a", "b")
    assert table.values("who").tolist() == ["b", "a"]
    assert table.values("quantity").tolist() == [6, 100_000]
    found = problems(b"2011/02/30,nan,,3.0\n2011/2/1,-1,x,0\n", schema=schema)
    assert [(problem.row, problem.column) for problem in found] == [
        (1, "day"),
        (1, "price"),
        (1, "who"),
        (1, "quantity"),
        (2, "day"),
        (2, "price"),
        (2, "quantity"),
    ]
    assert found[0].fix == "there is no such day in the calendar"
    assert found[4].fix == "write 2011/02/01"
    assert found[3].fix == "write 3"


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path) -> None:  # type: ignore[no-untyped-def]
    missing = attempt(read_table, Source.of(tmp_path / "none.csv"), SCHEMA)
    folder = attempt(read_table, Source.of(tmp_path), SCHEMA)
    assert isinstance(missing, Problems)
    assert isinstance(folder, Problems)
    assert "no such file" in missing[0].message
    assert "folder" in folder[0].message
    assert str(tmp_path) not in str(missing[0]).removeprefix("none.csv"), (
        "messages never show the machine's paths"
    )


def test_control_characters_never_reach_a_message() -> None:
    (problem,) = problems(b"39,\x1b[31mMale,40\n")
    assert "\x1b" not in str(problem)
    assert "\x1b" not in (problem.value or "")


rows = st.lists(
    st.tuples(st.integers(17, 90), st.sampled_from(["Female", "Male"]), st.integers(1, 99)),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_what_is_written_is_read_back_the_same(values: list[tuple[int, str, int]]) -> None:
    table = Table.from_rows(SCHEMA, values)
    data = table_bytes(table)
    again = read(data)
    assert again == table
    assert isinstance(again, Table)
    assert table_bytes(again) == data


@given(st.binary(max_size=200))
def test_no_bytes_at_all_raise_an_exception(data: bytes) -> None:
    assert isinstance(read(data), Table | Problems)
    assert isinstance(read(data, Layout(header=True)), Table | Problems)


@given(st.text(alphabet='39,MaleF \n"\r.+', max_size=80))
def test_both_lanes_agree_on_texts_that_are_nearly_right(text: str) -> None:
    """A file is accepted exactly when each of its lines is three cells of the domains."""
    data = GOOD + text.encode()
    found = read(data)
    lines = data.decode().removesuffix("\n").split("\n")
    if '"' not in text and "\r" not in text:
        flawless = all(
            len(cells := line.split(",")) == 3
            and cells[0] in map(str, range(17, 91))
            and cells[1] in ("Female", "Male")
            and cells[2] in map(str, range(1, 100))
            for line in lines
        )
        assert isinstance(found, Table) == flawless
