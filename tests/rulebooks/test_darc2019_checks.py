"""darc2019, rules 6 to 8, 11 and 13: what A(T) and F^ may be, and that a refusal names row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.contest import Target
from kakurenbo.core import Problem, Problems, Source, Table, table_bytes
from kakurenbo.data.online_retail import read_online_retail
from kakurenbo.data.transactions import CONTEST, SCHEMA, delete_rows, release_bytes, with_users
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.checks import read_published, read_release
from kakurenbo.rulebooks.darc2019.matrices import (
    GuessForm,
    answer_bytes,
    answer_of,
    read_answer,
    read_guess,
)
from kakurenbo.rulebooks.darc2019.scores import read_published as read_results

HEADER = "id_user,date,hours,id_item,price,qty"
T = [
    "alice,2010/12/01,08:26,22693,1.25,24",
    "alice,2010/12/15,14:12,22694,2.5,6",
    "alice,2011/02/03,10:00,22693,1.25,12",
    "bob,2010/12/02,09:00,85123A,2.55,2",
    "bob,2011/12/05,09:30,22693,1.25,1",
    "carol,2011/02/28,16:45,22694,2.5,3",
]
A = [
    "p1,2010/12/31,08:26,22693,1.25,24",
    "p1,2010/12/15,00:00,85123A,0,6",
    "p2,2011/02/28,10:00,22693,1.25,12",
    "p3,2010/12/02,09:00,85123A,2.55,-2",
    "DEL,,,,,",
    "p1,2011/02/28,16:45,22694,1e3,3",
]


def handout() -> Handout:
    table = Table.from_rows(SCHEMA, [line.split(",") for line in T])
    return Handout("01", table)


def check(lines: list[str], mode: str = "rules", header: str = HEADER) -> Read[Table] | Problems:
    data = "\n".join([header, *lines, ""]).encode()
    return attempt(Darc2019(mode=mode).read_release, handout(), [Source("A_01.csv", data)])


def changed(record: int, line: str) -> list[str]:
    return [*A[:record], line, *A[record + 1 :]]


def only_problem(lines: list[str], mode: str = "rules", header: str = HEADER) -> Problem:
    found = check(lines, mode, header)
    assert isinstance(found, Problems)
    assert found.total == len(found) == 1, list(map(str, found))
    return found[0]


def test_a_valid_release_is_read_with_deleted_rows_marked() -> None:
    found = check(A)
    assert isinstance(found, Read)
    assert found.value.values("id_user").tolist() == ["p1", "p1", "p2", "p3", "DEL", "p1"]


def test_a_row_that_begins_with_del_is_deleted_whatever_else_it_holds() -> None:
    assert isinstance(check(changed(4, "DEL,2099/13/77,x,unknown,nan,some")), Read)


def test_two_customers_may_share_a_pseudonym_and_a_customer_may_keep_one_all_year() -> None:
    shared = [line if line.startswith("DEL") else "p," + line.split(",", 1)[1] for line in A]
    assert isinstance(check(shared), Read)


@pytest.mark.parametrize(
    ("record", "line", "column", "said"),
    [
        (1, "p1,2011/02/30,00:00,85123A,0,6", "date", "no such day"),
        (2, "p2,2011/02/30,10:00,22693,1.25,12", "date", "no such day"),
        (2, "p2,2011/03/01,10:00,22693,1.25,12", "date", "month was changed"),
        (0, "p1,2011/12/31,08:26,22693,1.25,24", "date", "month was changed"),
        (0, "p1,2010-12-31,08:26,22693,1.25,24", "date", "write 2010/12/31"),
        (3, "p3,2010/12/02,09:00,99999,2.55,2", "id_item", "an item of T"),
        (3, "p3,2010/12/02,09:00,85123A,nan,2", "price", "a number"),
        (3, "p3,2010/12/02,09:00,85123A,inf,2", "price", "a number"),
        (3, "p3,2010/12/02,09:00,85123A,2.55,2.5", "qty", "an integer"),
        (3, "p3,2010/12/02,9:00,85123A,2.55,2", "hours", "HH:MM"),
        (3, ",2010/12/02,09:00,85123A,2.55,2", "id_user", "the cell is empty"),
        (3, "p3,2010/12/02,,85123A,2.55,2", "hours", "the cell is empty"),
        (1, "p9,2010/12/15,00:00,85123A,0,6", "id_user", "another pseudonym"),
        (5, "DEL,,,,,", "id_user", "every row of this row's customer"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_column(
    record: int, line: str, column: str, said: str
) -> None:
    problem = only_problem(changed(record, line))
    assert (problem.row, problem.record, problem.column) == (record + 2, record, column)
    assert said in str(problem)


def test_all_that_is_wrong_is_told_at_once() -> None:
    lines = changed(0, "p1,2011/01/01,08:26,22693,1.25,24")
    lines[3] = ",2010/12/02,09:00,unknown,nan,2"
    found = check(lines)
    assert isinstance(found, Problems)
    assert sorted((problem.row, problem.column) for problem in found) == [
        (2, "date"),
        (5, "id_item"),
        (5, "id_user"),
        (5, "price"),
    ]


def test_rows_in_another_order_are_one_problem_of_each_rule_with_their_number() -> None:
    rows = [f"alice,2011/{month:02d}/01,08:00,22693,1,1" for month in range(1, 13)] * 5
    original = Table.from_rows(SCHEMA, [row.split(",") for row in rows])
    lines = [row.replace("alice", f"p{row[11:13]}") for row in rows]
    found = attempt(
        read_release,
        Source("A.csv", "\n".join([HEADER, *lines[::-1], ""]).encode()),
        original,
        "rules",
    )
    assert isinstance(found, Problems)
    (problem,) = found
    assert (problem.code, problem.rows, problem.count) == (
        "darc2019.month_changed",
        (2, 3, 4, 5),
        60,
    )


def test_swapped_columns_are_refused_by_the_header_and_by_their_cells() -> None:
    problem = only_problem(A, header="id_user,date,hours,id_item,qty,price")
    assert (problem.row, "another order" in problem.message) == (1, True)
    swapped = [
        ",".join([user, date, hours, price, item, qty])
        for user, date, hours, item, price, qty in (a.split(",") for a in A)
    ]
    found = check(swapped)
    assert isinstance(found, Problems)
    assert {row for problem in found for row in problem.rows or (problem.row,)} == {2, 3, 4, 5, 7}


def test_exactly_half_deleted_is_too_much_and_the_row_that_is_one_too_many_is_named() -> None:
    lines = [
        *A[:2],
        "DEL,,,,,",
        "DEL,,,,,",
        "p3,2011/12/05,09:30,22693,1.25,1",
        "p1,2011/02/28,16:45,22694,2.5,3",
    ]
    assert isinstance(check(lines), Read)
    lines[1] = "DEL,,,,,"
    problem = only_problem(lines)
    assert (problem.row, "3 of 6 rows are deleted" in problem.message) == (5, True)
    assert isinstance(check(lines, "aicrowd"), Read)


def test_another_number_of_rows_is_refused() -> None:
    assert "the number of records is 5" in only_problem(A[:5]).message
    assert "the number of records is 7" in only_problem([*A, A[0]]).message
    assert "instead of 6" in only_problem(changed(3, "p3,2010/12/02,09:00,85123A,2.55")).message


def test_price_is_any_finite_number_and_qty_any_integer() -> None:
    found = check(changed(3, "p3,2010/12/02,09:00,85123A,-1.5,-123456789012345"))
    assert isinstance(found, Read)
    assert found.value.rows()[3][4:] == (-1.5, -123456789012345)


def test_pseudonyms_are_any_strings_but_del_and_without_colon_in_mode_aicrowd() -> None:
    lines = changed(3, "p3:p4,2010/12/02,09:00,85123A,2.55,2")
    assert isinstance(check(lines), Read)
    problem = only_problem(lines, "aicrowd")
    assert (problem.row, problem.column, problem.value) == (5, "id_user", "p3:p4")


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_a_pseudonym_that_a_spreadsheet_would_compute_is_taken_with_a_notice(sign: str) -> None:
    found = check([line.replace("p1,", f"{sign}p1,") for line in A])
    assert isinstance(found, Read)
    (notice,) = found.notices
    assert (notice.code, notice.row, notice.column, notice.value) == (
        "darc2019.formula",
        2,
        "id_user",
        f"{sign}p1",
    )
    assert notice.params["count"] == 3


def test_crlf_and_a_byte_order_mark_are_accepted_with_a_notice() -> None:
    data = b"\xef\xbb\xbf" + "\r\n".join([HEADER, *A, ""]).encode()
    for mode in ("rules", "aicrowd"):
        read = attempt(read_release, Source("A.csv", data), handout().original, mode)
        assert isinstance(read, Read)
        assert [notice.code for notice in read.notices] == ["text.bom", "text.line_ends"]


def test_a_deleted_row_gets_the_values_of_t() -> None:
    found = check(changed(4, "DEL,2099/13/77,x,unknown,nan,some"))
    assert isinstance(found, Read)
    assert found.value.rows()[4][1:] == handout().original.rows()[4][1:]


# -- mode aicrowd (darc2019-evaluator.md, 11 to 14) -------------------------------------------------------------------


def test_11_the_evaluator_compared_the_number_of_the_month_only() -> None:
    assert isinstance(check(changed(0, "p1,2011/12/31,08:26,22693,1.25,24"), "aicrowd"), Read)
    problem = only_problem(changed(2, "p2,2011/03/01,10:00,22693,1.25,12"), "aicrowd")
    assert (problem.row, problem.column) == (4, "date")


def test_12_two_pseudonyms_in_a_month_pass_and_f_holds_the_one_newly_seen_last() -> None:
    """Alice has p, q, p in one month: q is the last that was new, though p stands in the last row."""
    lines = [f"alice,2010/12/0{day},08:00,22693,1,1" for day in (1, 2, 3)]
    original = Table.from_rows(SCHEMA, [line.split(",") for line in lines])
    data = "\n".join(
        [
            HEADER,
            *(line.replace("alice", name) for line, name in zip(lines, "pqp", strict=True)),
            "",
        ]
    )
    released = attempt(read_release, Source("A.csv", data.encode()), original, "aicrowd")
    assert isinstance(released, Read)
    answer, _ = answer_of(original, released.value)
    assert answer.pseudonyms[answer.cells[0, 0]] == "q"
    refused = attempt(read_release, Source("A.csv", data.encode()), original, "rules")
    assert isinstance(refused, Problems)
    assert (refused[0].row, refused.total) == (3, 1)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (5, "DEL,,,,,"),  # carol's only row
        (3, "p3,2010/12/02,in the morning,85123A,2.55,2"),
        (3, "p3,2010/12/2,09:00,85123A,2.55,2"),
        (2, "p2,2011/2/8,10:00,22693,1.25,12"),
        (3, "p3,2010/12/02,09:00,85123A,inf,2"),
        (3, "p3,2010/12/02,09:00,85123A,nan,2"),
    ],
)
@pytest.mark.parametrize("deleted", [True, False])
def test_13_the_evaluator_also_accepted(record: int, line: str, deleted: bool) -> None:
    lines = changed(record, line)
    if not deleted:
        lines[4] = "p3,2011/12/05,09:30,22693,1.25,1"
    assert isinstance(check(lines, "aicrowd"), Read)
    assert isinstance(check(lines, "rules"), Problems)


def test_13_the_evaluator_accepted_other_header_names() -> None:
    assert isinstance(check(A, "aicrowd", "who,when,hour,what,paid,pieces"), Read)
    assert isinstance(check(A, "aicrowd", "who,when,hour,what,paid"), Problems)
    assert isinstance(check(A, "rules", "who,when,hour,what,paid,pieces"), Problems)


def test_14_when_rows_are_deleted_prices_keep_their_text_through_s_and_its_file() -> None:
    lines = changed(3, "p3,2010/12/02,09:00,85123A,2.550,2")
    found = check(lines, "aicrowd")
    assert isinstance(found, Read)
    _, rows = answer_of(handout().original, found.value)
    assert rows.texts("price").to_list() == ["1.25", "0", "1.25", "2.550", "1e3"]
    published = attempt(
        read_published,
        Source("S.csv", table_bytes(rows, header=True)),
        handout().original,
        "aicrowd",
    )
    assert isinstance(published, Read)
    assert published.value == rows
    lines[4] = "p3,2011/12/05,09:30,22693,1.25,1"  # nothing is deleted: prices are numbers
    found = check(lines, "aicrowd")
    assert isinstance(found, Read)
    assert found.value.values("price")[3] == 2.55
    _, rows = answer_of(handout().original, found.value)
    published = attempt(
        read_published,
        Source("S.csv", table_bytes(rows, header=True)),
        handout().original,
        "aicrowd",
    )
    assert isinstance(published, Read)
    assert published.value == rows


def test_s_is_read_back_as_it_was_published() -> None:
    found = check(A)
    assert isinstance(found, Read)
    _, rows = answer_of(handout().original, found.value)
    again = attempt(
        read_published, Source("S.csv", table_bytes(rows, header=True)), handout().original, "rules"
    )
    assert isinstance(again, Read)
    assert again.value == rows


def test_a_release_is_one_file() -> None:
    several = attempt(
        Darc2019().read_release, handout(), [Source("A_01.csv", b""), Source("notes.txt", b"")]
    )
    nothing = attempt(Darc2019().read_release, handout(), [])
    assert isinstance(several, Problems)
    assert isinstance(nothing, Problems)
    assert several[0].message == "a release is one file; got A_01.csv, notes.txt"
    assert nothing[0].message == "a release is one file; got none"


def test_items_and_pseudonyms_with_commas_and_quotation_marks_survive_their_file() -> None:
    rows = [
        ["alice", "2010/12/01", "08:26", 'BOX, "RED"', "1.25", "24"],
        ["bob", "2010/12/01", "08:26", "22693", "1.25", "2"],
    ]
    table = Table.from_rows(SCHEMA, [*rows, ["bob", "2010/12/02", "09:00", "22693", "1.25", "3"]])
    released = delete_rows(
        with_users(table, pl.Series(["p,1", 'p"2', 'p"2'])), np.array([False, False, True])
    )
    data = release_bytes(released)
    assert data.splitlines()[-1] == b"DEL,,,,,"
    found = attempt(Darc2019().read_release, Handout("01", table), [Source("A.csv", data)])
    assert isinstance(found, Read), found
    assert found.value.values("id_user").tolist() == ["p,1", 'p"2', "DEL"]
    assert found.value.values("id_item")[0] == 'BOX, "RED"'


# -- F and F^ ---------------------------------------------------------------------------------------------------------


def submission() -> Read[Table]:
    found = check(A)
    assert isinstance(found, Read)
    return found


def test_f_has_del_where_a_customer_has_no_kept_row(tmp_path: Path) -> None:

    answer, rows = answer_of(handout().original, submission().value)
    assert len(rows) == 5
    (tmp_path / "F.csv").write_bytes(answer_bytes(answer))
    lines = (tmp_path / "F.csv").read_text().splitlines()
    assert lines[1] == "alice,p1,DEL,p2" + ",DEL" * 10
    assert lines[2] == "bob,p3" + ",DEL" * 12
    assert lines[3] == "carol,DEL,DEL,p1" + ",DEL" * 10
    read = attempt(read_answer, Source.of(tmp_path / "F.csv"))
    assert isinstance(read, Read)
    again = read.value
    assert (again.customers, again.pseudonyms) == (answer.customers, answer.pseudonyms)
    assert (again.cells == answer.cells).all()


CUSTOMERS = ("alice", "bob", "carol")
GUESS = [
    "carol,DEL,DEL,p1:p2:p3" + ",DEL" * 10,
    "alice,p1:p3,DEL,p2" + ",DEL" * 10,
    "bob,p1" + ",DEL" * 12,
]


def test_an_eleventh_attack_on_a_table_is_refused_alone() -> None:
    book = Darc2019()
    answer, rows = answer_of(handout().original, submission().value)
    known = ReidentificationKnowledge(handout().original, rows)
    targets = {"01": Target("01", known, book.guess_form(known))}
    data = "\n".join(GUESS).replace(":", "").encode()
    names = [f"guess_01_02-{number}.csv" for number in range(1, 12)]
    found = book.read_guesses(targets, [Source(name, data) for name in names], "02")
    assert [guess.file for guess in found.found] == names[:10]
    assert [(file, problems[0].code) for file, problems in found.refused] == [
        ("guess_01_02-11.csv", "guess.too_many")
    ]
    assert answer.customers == CUSTOMERS


def test_a_second_file_for_the_same_attack_is_refused_and_takes_no_other_files_place() -> None:
    book = Darc2019()
    known = ReidentificationKnowledge(
        handout().original, answer_of(handout().original, submission().value)[1]
    )
    targets = {"01": Target("01", known, book.guess_form(known))}
    names = [*(f"guess_01_02-{number}.csv" for number in range(1, 11)), "guess_01_02.csv"]
    data = "\n".join(GUESS).replace(":", "").encode()
    found = book.read_guesses(targets, [Source(name, data) for name in names], "02")
    assert [guess.file for guess in found.found] == names[:10]
    assert [(file, problems[0].code) for file, problems in found.refused] == [
        ("guess_01_02.csv", "guess.twice")
    ]


# -- hostile bytes ----------------------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [*A, *GUESS, HEADER, "DEL", ",", ":", '"', "\n", "\r\n", "\0", "nan", "é", " "]
)
hostile = st.one_of(
    st.binary(max_size=200),
    st.lists(pieces, max_size=20).map(lambda parts: "\n".join(parts).encode()),
)


@given(hostile, st.sampled_from(["rules", "aicrowd"]))
def test_any_bytes_are_a_release_a_guess_or_problems(data: bytes, mode: str) -> None:
    assert isinstance(
        attempt(Darc2019(mode=mode).read_release, handout(), [Source("A.csv", data)]),
        Read | Problems,
    )
    assert isinstance(
        attempt(
            read_guess, Source("guess.csv", data), GuessForm(CUSTOMERS, ("p1", "p2"), CONTEST, mode)
        ),
        Read | Problems,
    )
    assert isinstance(attempt(read_results, Source("results.csv", data)), Read | Problems)
    assert isinstance(attempt(read_online_retail, Source("retail.csv", data)), Read | Problems)


# -- pseudonyms that tools change --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
@pytest.mark.parametrize("name", [" p2", "p2 ", "p\u200b2", "\u202ep2", "pe\u0301", "p2\u3000"])
def test_any_text_is_taken_as_a_pseudonym_as_it_is(name: str, mode: str) -> None:
    read = check(changed(2, f"{name},2011/02/28,10:00,22693,1.25,12"), mode)
    assert isinstance(read, Read)
    assert (read.value.texts("id_user")[2], read.notices) == (name, ())


def test_guesses_that_name_a_pseudonym_of_s_but_for_what_a_tool_took_off_are_told_so() -> None:
    form = GuessForm(("alice",), (" p1", "p\u200b2", "p3"), CONTEST, "rules")
    cells = ["p1", "p2", "p3", "nobody", *["DEL"] * 9]
    read = attempt(read_guess, Source("guess.csv", f"alice,{','.join(cells)}\n".encode()), form)
    assert isinstance(read, Read)
    assert {notice.code: notice.params["count"] for notice in read.notices} == {
        "darc2019.unknown_pseudonyms": 3,
        "darc2019.nearly_pseudonyms": 2,
    }
