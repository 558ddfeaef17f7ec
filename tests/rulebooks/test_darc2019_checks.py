"""darc2019, rules 6 to 8, 11 and 13: what A(T) and F^ may be, and that a refusal names row and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.attacks.reidentification import ReidentificationGuess
from kakurenbo.contracts import RoundResults
from kakurenbo.datasets.online_retail import read_online_retail
from kakurenbo.datasets.transactions import SCHEMA, delete_rows, release_bytes, with_users
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout, Submission
from kakurenbo.rulebooks.darc2019.matrices import answer_bytes, answer_of, guess_bytes, read_answer, read_guess
from kakurenbo.rulebooks.darc2019.scores import read_results
from kakurenbo.tables import Problem, Problems, Source, Table

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


def check(lines: list[str], mode: str = "rules", header: str = HEADER) -> Submission | Problems:
    data = "\n".join([header, *lines, ""]).encode()
    return Darc2019(mode=mode).check_release(handout(), [Source("A_01.csv", data)])


def changed(record: int, line: str) -> list[str]:
    return [*A[:record], line, *A[record + 1 :]]


def only_problem(lines: list[str], mode: str = "rules", header: str = HEADER) -> Problem:
    found = check(lines, mode, header)
    assert isinstance(found, Problems)
    assert found.total == len(found) == 1, list(map(str, found))
    return found[0]


def test_a_valid_release_is_read_with_deleted_rows_marked() -> None:
    found = check(A)
    assert isinstance(found, Submission)
    assert found.table.values("id_user").tolist() == ["p1", "p1", "p2", "p3", "DEL", "p1"]
    assert found.name == "01"


def test_a_row_that_begins_with_del_is_deleted_whatever_else_it_holds() -> None:
    assert isinstance(check(changed(4, "DEL,2099/13/77,x,unknown,nan,some")), Submission)


def test_two_customers_may_share_a_pseudonym_and_a_customer_may_keep_one_all_year() -> None:
    shared = [line if line.startswith("DEL") else "p," + line.split(",", 1)[1] for line in A]
    assert isinstance(check(shared), Submission)


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
        (3, "p3,2010/12/02,09:00,85123A,-1,2", "price", "at least 0"),
        (3, "p3,2010/12/02,09:00,85123A,2.55,2.5", "qty", "an integer"),
        (3, "p3,2010/12/02,9:00,85123A,2.55,2", "hours", "HH:MM"),
        (3, ",2010/12/02,09:00,85123A,2.55,2", "id_user", "the cell is empty"),
        (3, "p3,2010/12/02,,85123A,2.55,2", "hours", "the cell is empty"),
        (3, "p3:p4,2010/12/02,09:00,85123A,2.55,2", "id_user", '":"'),
        (1, "p9,2010/12/15,00:00,85123A,0,6", "id_user", "another pseudonym"),
        (5, "DEL,,,,,", "id_user", "every row of this row's customer"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_column(record: int, line: str, column: str, said: str) -> None:
    problem = only_problem(changed(record, line))
    assert (problem.row, problem.record, problem.column) == (record + 2, record, column)
    assert said in str(problem)


def test_all_that_is_wrong_is_told_at_once() -> None:
    lines = changed(0, "p1,2011/01/01,08:26,22693,1.25,24")
    lines[3] = "p3:x,2010/12/02,09:00,unknown,nan,2"
    found = check(lines)
    assert isinstance(found, Problems)
    assert sorted((problem.row, problem.column) for problem in found) == [
        (2, "date"),
        (5, "id_item"),
        (5, "id_user"),
        (5, "price"),
    ]


def test_swapped_columns_are_refused_by_the_header_and_by_their_cells() -> None:
    problem = only_problem(A, header="id_user,date,hours,id_item,qty,price")
    assert (problem.row, "another order" in problem.message) == (1, True)
    swapped = [
        ",".join([user, date, hours, price, item, qty]) for user, date, hours, item, price, qty in (a.split(",") for a in A)
    ]
    found = check(swapped)
    assert isinstance(found, Problems)
    assert {problem.row for problem in found} == {2, 3, 4, 5, 7}


def test_exactly_half_deleted_is_too_much_and_the_row_that_is_one_too_many_is_named() -> None:
    lines = [*A[:2], "DEL,,,,,", "DEL,,,,,", "p3,2011/12/05,09:30,22693,1.25,1", "p1,2011/02/28,16:45,22694,2.5,3"]
    assert isinstance(check(lines), Submission)
    lines[1] = "DEL,,,,,"
    problem = only_problem(lines)
    assert (problem.row, "3 of 6 rows are deleted" in problem.message) == (5, True)
    assert isinstance(check(lines, "aicrowd"), Submission)


def test_another_number_of_rows_is_refused() -> None:
    assert "5 records" in only_problem(A[:5]).message
    assert "7 records" in only_problem([*A, A[0]]).message
    assert "instead of 6" in only_problem(changed(3, "p3,2010/12/02,09:00,85123A,2.55")).message


def test_the_evaluator_compared_the_number_of_the_month_only_and_let_two_pseudonyms_pass() -> None:
    assert isinstance(check(changed(0, "p1,2011/12/31,08:26,22693,1.25,24"), "aicrowd"), Submission)
    assert isinstance(check(changed(1, "p9,2010/12/15,00:00,85123A,0,6"), "aicrowd"), Submission)
    assert only_problem(changed(3, "p3:p4,2010/12/02,09:00,85123A,2.55,2"), "aicrowd").row == 5
    assert only_problem(changed(2, "p2,2011/03/01,10:00,22693,1.25,12"), "aicrowd").row == 4


def test_a_release_is_one_file() -> None:
    source = Source("A_01.csv", b"")
    assert isinstance(Darc2019().check_release(handout(), [source, source]), Problems)
    assert isinstance(Darc2019().check_release(handout(), []), Problems)


def test_items_and_pseudonyms_with_commas_and_quotation_marks_survive_their_file() -> None:
    rows = [["alice", "2010/12/01", "08:26", 'BOX, "RED"', "1.25", "24"], ["bob", "2010/12/01", "08:26", "22693", "1.25", "2"]]
    table = Table.from_rows(SCHEMA, [*rows, ["bob", "2010/12/02", "09:00", "22693", "1.25", "3"]])
    released = delete_rows(with_users(table, pl.Series(["p,1", 'p"2', 'p"2'])), np.array([False, False, True]))
    data = release_bytes(released)
    assert data.splitlines()[-1] == b"DEL,,,,,"
    found = Darc2019().check_release(Handout("01", table), [Source("A.csv", data)])
    assert isinstance(found, Submission), found
    assert found.table.values("id_user").tolist() == ["p,1", 'p"2', "DEL"]
    assert found.table.values("id_item")[0] == 'BOX, "RED"'


# -- F and F^ ---------------------------------------------------------------------------------------------------------


def submission() -> Submission:
    found = check(A)
    assert isinstance(found, Submission)
    return found


def test_f_has_del_where_a_customer_has_no_kept_row(tmp_path: Path) -> None:

    answer, rows = answer_of(handout().original, submission().table)
    assert len(rows) == 5
    (tmp_path / "F.csv").write_bytes(answer_bytes(answer))
    lines = (tmp_path / "F.csv").read_text().splitlines()
    assert lines[1] == "alice,p1,DEL,p2" + ",DEL" * 10
    assert lines[2] == "bob,p3" + ",DEL" * 12
    assert lines[3] == "carol,DEL,DEL,p1" + ",DEL" * 10
    again = read_answer(tmp_path / "F.csv")
    assert not isinstance(again, Problems)
    assert (again.customers, again.pseudonyms) == (answer.customers, answer.pseudonyms)
    assert (again.cells == answer.cells).all()


CUSTOMERS = ("alice", "bob", "carol")
GUESS = ["carol,DEL,DEL,p1:p2:p3" + ",DEL" * 10, "alice,p1:p3,DEL,p2" + ",DEL" * 10, "bob,p1" + ",DEL" * 12]


def guess_problem(lines: list[str]) -> Problem:
    found = read_guess(Source("guess_01_02.csv", "\n".join(lines).encode()), CUSTOMERS)
    assert isinstance(found, Problems)
    assert found.total == 1, list(map(str, found))
    return found[0]


def test_a_guess_matrix_comes_in_any_order_with_or_without_header() -> None:
    numbers = "id_user," + ",".join(map(str, range(13)))
    for lines in (GUESS, [numbers, *GUESS]):
        guess = read_guess(Source("guess", "\n".join(lines).encode()), CUSTOMERS)
        assert not isinstance(guess, Problems), guess
        assert guess.customers == CUSTOMERS
        names = [*guess.pseudonyms, None]
        assert [[names[code] for code in guess.cells[row, 2]] for row in (0, 2)] == [["p2", None, None], ["p1", "p2", "p3"]]
        again = read_guess(Source("guess", guess_bytes(guess)), CUSTOMERS)
        assert not isinstance(again, Problems)
        assert (again.cells == guess.cells).all()


def test_four_guesses_in_a_cell_are_refused_with_row_and_column() -> None:
    problem = guess_problem([GUESS[0], GUESS[1].replace("p1:p3", "p1:p2:p3:p4"), GUESS[2]])
    assert (problem.row, problem.column, problem.value) == (2, "2010/12", "p1:p2:p3:p4")


def test_a_missing_a_doubled_and_an_unknown_customer_are_refused_with_their_row() -> None:
    assert "customer bob has no row" in guess_problem(GUESS[:2]).message
    assert guess_problem(GUESS[:2]).row == 2
    doubled = read_guess(Source("g", "\n".join([GUESS[0], GUESS[0], GUESS[2]]).encode()), CUSTOMERS)
    assert isinstance(doubled, Problems)
    assert [(problem.row, problem.value) for problem in doubled] == [(2, "carol"), (3, "alice")]
    unknown = read_guess(Source("g", "\n".join([*GUESS[:2], GUESS[2].replace("bob", "dave")]).encode()), CUSTOMERS)
    assert isinstance(unknown, Problems)
    assert {(problem.row, problem.value) for problem in unknown} == {(3, "dave"), (3, "bob")}


def test_empty_guesses_cells_and_rows_of_other_widths_are_refused() -> None:
    assert guess_problem([GUESS[0].replace("p1:p2", "p1:"), *GUESS[1:]]).row == 1
    assert guess_problem([GUESS[0], GUESS[1].replace("p2", ""), GUESS[2]]).column == "2011/02"
    assert guess_problem([GUESS[0], GUESS[1] + ",DEL", GUESS[2]]).row == 2


def test_an_eleventh_attack_on_a_table_is_refused() -> None:
    book = Darc2019()
    targets = book.publish(
        type("P", (), {"handouts": {"01": handout()}, "state": None})(),  # type: ignore[arg-type]
        {"01": submission()},
        5,
    )
    data = "\n".join(GUESS).encode()
    for name in ("guess_01_02.csv", "guess_01_02-10.csv"):
        found = book.check_guesses(targets, [Source(name, data)], "02")
        assert isinstance(found, dict)
        assert set(found) == {"01"}
    for name in ("guess_01_02-11.csv", "guess_01_03.csv"):
        assert isinstance(book.check_guesses(targets, [Source(name, data)], "02"), Problems)


# -- hostile bytes ----------------------------------------------------------------------------------------------------

pieces = st.sampled_from([*A, *GUESS, HEADER, "DEL", ",", ":", '"', "\n", "\r\n", "\0", "nan", "é", " "])
hostile = st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=20).map(lambda parts: "\n".join(parts).encode()))


@given(hostile, st.sampled_from(["rules", "aicrowd"]))
def test_any_bytes_are_a_release_a_guess_or_problems(data: bytes, mode: str) -> None:
    assert isinstance(Darc2019(mode=mode).check_release(handout(), [Source("A.csv", data)]), Submission | Problems)
    assert isinstance(read_guess(Source("guess.csv", data), CUSTOMERS), ReidentificationGuess | Problems)
    assert isinstance(read_results(Source("results.csv", data)), RoundResults | Problems)
    assert isinstance(read_online_retail(Source("retail.csv", data)), Table | Problems)
