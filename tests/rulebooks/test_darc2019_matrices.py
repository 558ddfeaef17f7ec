"""darc2019, rules 9a, 11, 12 and 13b: the matrices F and F^ as files, and the credit of a guess worked out by hand."""

from __future__ import annotations

import datetime
import math
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.attacks.reidentification import ReidentificationGuess
from kakurenbo.core import Problem, Problems, Severity, Source
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import CONTEST, Calendar
from kakurenbo.rulebooks.darc2019.matrices import (
    Answer,
    GuessForm,
    answer_bytes,
    guess_bytes,
    read_answer,
    read_guess,
)
from kakurenbo.rulebooks.darc2019.scores import blind_guessing, count_credit, counted_months, reid

CUSTOMERS = ("alice", "bob", "carol")
PSEUDONYMS = ("p1", "p2", "p3")
ONE = ["carol,DEL,DEL,p1" + ",DEL" * 10, "alice,p1,DEL,p2" + ",DEL" * 10, "bob,p1" + ",DEL" * 12]
LISTS = [
    "carol,DEL,DEL,p1:p2:p3" + ",DEL" * 10,
    "alice,p1:p3,DEL,p2" + ",DEL" * 10,
    "bob,p1" + ",DEL" * 12,
]


def form(mode: str = "rules", pseudonyms: tuple[str, ...] = PSEUDONYMS) -> GuessForm:
    return GuessForm(CUSTOMERS, pseudonyms, CONTEST, mode)


def read(lines: list[str], mode: str = "rules") -> Read[ReidentificationGuess] | Problems:
    return attempt(read_guess, Source("guess_01_02.csv", "\n".join(lines).encode()), form(mode))


def read_with_notices(lines: list[str], mode: str = "rules") -> Read[ReidentificationGuess]:
    found = read(lines, mode)
    assert not isinstance(found, Problems), list(map(str, found))
    return found


def guessed(lines: list[str], mode: str = "rules") -> ReidentificationGuess:
    return read_with_notices(lines, mode).value


def refused(lines: list[str], mode: str = "rules") -> Problem:
    found = read(lines, mode)
    assert isinstance(found, Problems)
    assert found.total == 1, list(map(str, found))
    return found[0]


def cell(guess: ReidentificationGuess, customer: str, month: int) -> list[str]:
    return [
        guess.pseudonyms[code]
        for code in guess.cells[guess.customers.index(customer), month]
        if code >= 0
    ]


# -- F^ as a file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["", "id_user," + ",".join(map(str, range(13))), "id_user," + ",".join(CONTEST.names)]
)
def test_a_guess_matrix_has_its_customers_in_any_order_with_or_without_header(header: str) -> None:
    guess = guessed([header, *LISTS] if header else LISTS, "aicrowd")
    assert guess.customers == CUSTOMERS
    assert [cell(guess, name, 2) for name in CUSTOMERS] == [["p2"], [], ["p1", "p2", "p3"]]
    again = attempt(read_guess, Source("guess", guess_bytes(guess, "aicrowd")), form("aicrowd"))
    assert not isinstance(again, Problems)
    assert (again.value.cells == guess.cells).all()


def test_a_header_must_name_the_months_in_order() -> None:
    reversed_months = ["id_user," + ",".join(reversed(CONTEST.names)), *ONE]
    found = read(reversed_months)
    assert isinstance(found, Problems)
    assert found.total == 12  # the middle one of thirteen stays where it was
    assert (found[0].row, found[0].column, found[0].value) == (1, "2010/12", "2011/12")
    assert isinstance(read(["id_user," + ",".join(map(str, range(12, -1, -1))), *ONE]), Problems)
    assert (
        refused(["who," + ",".join((*CONTEST.names[:-1], CONTEST.names[-2])), *ONE]).column
        == "2011/12"
    )


def test_in_mode_rules_a_cell_is_one_pseudonym_text() -> None:
    found = attempt(
        read_guess, Source("g", "\n".join(LISTS).encode()), form("rules", ("p1:p2:p3", "p1"))
    )
    assert not isinstance(found, Problems)
    guess = found.value
    assert cell(guess, "carol", 2) == ["p1:p2:p3"]


def test_in_mode_rules_only_the_first_guess_is_written() -> None:
    data = guess_bytes(guessed(LISTS, "aicrowd"), "rules")
    assert data.decode().splitlines()[3] == "carol,DEL,DEL,p1" + ",DEL" * 10


def test_four_guesses_in_a_cell_are_refused_with_row_and_column() -> None:
    problem = refused([LISTS[0], LISTS[1].replace("p1:p3", "a:b:c:d"), LISTS[2]], "aicrowd")
    assert (problem.row, problem.column, problem.value) == (2, "2010/12", "a:b:c:d")


def test_an_empty_guess_an_empty_cell_and_a_row_of_another_width_are_refused() -> None:
    assert refused([LISTS[0].replace("p1:p2", "p1:"), *LISTS[1:]], "aicrowd").row == 1
    assert refused([ONE[0], ONE[1].replace("p2", ""), ONE[2]]).column == "2011/02"
    assert refused([ONE[0], ONE[1] + ",DEL", ONE[2]]).row == 2


def test_a_missing_a_doubled_and_an_unknown_customer_are_refused_with_their_row() -> None:
    assert "customer bob has no row" in refused(ONE[:2]).message
    assert refused(ONE[:2]).row == 2
    doubled = read([ONE[0], ONE[0], ONE[2]])
    assert isinstance(doubled, Problems)
    assert [(problem.row, problem.value) for problem in doubled] == [(2, "carol"), (3, "alice")]
    unknown = read([*ONE[:2], ONE[2].replace("bob", "dave")])
    assert isinstance(unknown, Problems)
    assert {(problem.row, problem.value) for problem in unknown} == {(3, "dave"), (3, "bob")}


def test_a_truncated_guess_names_twenty_customers_and_counts_all_in_one_problem() -> None:
    many = GuessForm(tuple(f"c{number:03}" for number in range(100)), PSEUDONYMS, CONTEST, "rules")
    found = attempt(
        read_guess, Source("guess_01_02.csv", ("c000" + ",DEL" * 13 + "\n").encode()), many
    )
    assert isinstance(found, Problems)
    (problem,) = found
    named = ", ".join(f"c{number:03}" for number in range(1, 21))
    assert f"99 of 100 customers have no row: {named}, … (the file has 1)" in problem.message
    assert (problem.row, problem.column) == (1, "id_user")


def test_every_cell_with_too_many_guesses_is_counted_once() -> None:
    lines = [name + ",p1:p2:p3:p1:p2:p3" * 13 for name in CUSTOMERS]
    found = read(lines, "aicrowd")
    assert isinstance(found, Problems)
    assert (len(found), found.total) == (
        13,
        39,
    )  # one for each month, with the rows of three customers


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
def test_a_cell_longer_than_the_three_longest_pseudonyms_joined_is_refused(mode: str) -> None:
    """p1:p2:p3 has 8 characters; one more is too many (evaluator 16: all pseudonyms joined would match everybody)."""
    assert isinstance(read([ONE[0], ONE[1], "bob,p1p2p3xx" + ",DEL" * 12], mode), Read)
    problem = refused([ONE[0], ONE[1], "bob,p1p2p3xxx" + ",DEL" * 12], mode)
    assert (problem.row, problem.column, problem.value) == (3, "2010/12", "p1p2p3xxx")


def test_every_long_cell_of_a_row_is_counted() -> None:
    found = read([ONE[0], ONE[1], "bob,p1p2p3xxx,p1p2p3xxx" + ",DEL" * 11])
    assert isinstance(found, Problems)
    assert [(problem.row, problem.column) for problem in found] == [(3, "2010/12"), (3, "2011/01")]


def test_13b_pseudonyms_that_do_not_occur_in_s_get_a_notice_not_a_refusal() -> None:
    found = read_with_notices([ONE[0], ONE[1].replace("p2", "q"), ONE[2]])
    assert cell(found.value, "alice", 2) == ["q"]
    (notice,) = found.notices
    assert (notice.row, notice.column, notice.value, notice.severity) == (
        2,
        "2011/02",
        "q",
        Severity.NOTICE,
    )
    assert read_with_notices(ONE).notices == ()


def test_blanks_around_guesses_are_taken_off_with_a_notice_in_mode_aicrowd() -> None:
    found = read_with_notices([ONE[0], ONE[1].replace("p1", "p1 : p3"), ONE[2]], "aicrowd")
    assert cell(found.value, "alice", 0) == ["p1", "p3"]
    assert {problem.row for problem in found.notices} == {2}
    assert cell(guessed([ONE[0], ONE[1].replace("p1", " p1"), ONE[2]]), "alice", 0) == [
        " p1"
    ]  # rules: letter for letter


def test_crlf_and_a_byte_order_mark_are_accepted_with_a_notice() -> None:
    data = b"\xef\xbb\xbf" + "\r\n".join(["id_user," + ",".join(CONTEST.names), *ONE, ""]).encode()
    found = attempt(read_guess, Source("g", data), form())
    assert not isinstance(found, Problems)
    assert [notice.code for notice in found.notices] == ["text.bom", "text.line_ends"]


def test_f_and_its_guesses_have_a_column_per_month_of_the_shop(tmp_path: Path) -> None:
    calendar = Calendar.spanning(datetime.date(2019, 11, 5), datetime.date(2020, 1, 31))
    answer = Answer(("x",), ("a", "b:c"), np.array([[1, -1, 0]], dtype=np.int32), calendar)
    (tmp_path / "F.csv").write_bytes(answer_bytes(answer))
    assert (tmp_path / "F.csv").read_text() == "id_user,2019/11,2019/12,2020/01\nx,b:c,DEL,a\n"
    read = attempt(read_answer, Source.of(tmp_path / "F.csv"))
    assert not isinstance(read, Problems)
    again = read.value
    assert (again.customers, again.pseudonyms, again.calendar) == (
        answer.customers,
        answer.pseudonyms,
        calendar,
    )
    assert (again.cells == answer.cells).all()
    found = attempt(
        read_guess,
        Source("g", b"x,b:c,DEL,DEL\n"),
        GuessForm(("x",), answer.pseudonyms, calendar, "rules"),
    )
    assert not isinstance(found, Problems)
    credit = count_credit(answer, found.value, "rules")
    assert (credit.hits, credit.of) == (1, 2)
    with pytest.raises(ParameterError):
        count_credit(answer, guessed(ONE), "rules")


def test_f_must_be_a_matrix_of_its_customers_and_months() -> None:
    with pytest.raises(ParameterError):
        Answer(("x",), ("a",), np.zeros((1, 12), dtype=np.int32))


# -- credit by hand ---------------------------------------------------------------------------------------------------


def answer(*cells: tuple[int, int, str], pseudonyms: tuple[str, ...] = ("a", "b", "c")) -> Answer:
    """Two customers; (customer, month, pseudonym) for each cell that is not DEL."""
    table = np.full((2, 13), -1, dtype=np.int32)
    for customer, month, name in cells:
        table[customer, month] = pseudonyms.index(name)
    return Answer(("x", "y"), pseudonyms, table)


def guess(
    cells: dict[tuple[int, int], str], pseudonyms: tuple[str, ...] = ("a", "b", "c", "zz")
) -> ReidentificationGuess:
    table = np.full((2, 13, 3), -1, dtype=np.int32)
    for (customer, month), told in cells.items():
        for place, name in enumerate(told.split(":")):
            table[customer, month, place] = pseudonyms.index(name)
    return ReidentificationGuess(("x", "y"), pseudonyms, table)


def test_mode_aicrowd_up_to_three_guesses_are_worth_1_two_thirds_and_a_third_by_position() -> None:
    truth = answer((0, 0, "a"), (0, 1, "b"), (1, 2, "c"), (1, 11, "a"))
    told = guess({(0, 0): "a:b:c", (0, 1): "a:b", (1, 2): "b:a:c", (1, 3): "a"}, ("a", "b", "c"))
    credit = count_credit(truth, told, "aicrowd")
    assert (credit.hits, credit.of) == (pytest.approx(1 + 2 / 3 + 1 / 3), 4)
    assert credit.details["reid"] == 0.5  # 12b: cells that are not DEL
    assert credit.details["reid_of_all_cells"] == pytest.approx(2 / 26)  # 12a: 13 n


def test_mode_rules_one_guess_per_cell_and_exact_match() -> None:
    truth = answer((0, 0, "a"), (0, 1, "b"), (1, 2, "c"), (1, 12, "a"))
    told = guess({(0, 0): "a:b:c", (0, 1): "a:b", (1, 2): "zz:a:c", (1, 3): "a", (1, 12): "a"})
    credit = count_credit(truth, told, "rules")
    assert (credit.hits, credit.of) == (
        2,
        4,
    )  # the first of (0, 0) and (1, 12); second and third guesses earn nothing
    assert credit.details == {"reid": 0.5, "reid_of_all_cells": 2 / 26}


def test_a_guess_of_del_earns_nothing() -> None:
    for mode in ("rules", "aicrowd"):
        assert count_credit(answer((0, 0, "a")), guess({}), mode).hits == 0


def test_8_the_evaluator_left_out_the_last_of_thirteen_months() -> None:
    truth, told = answer((0, 12, "a"), (0, 1, "b")), guess({(0, 12): "a"})
    assert (reid(truth, told, "rules"), reid(truth, told, "aicrowd")) == (0.5, 0)
    assert count_credit(truth, told, "aicrowd").of == 1
    assert [counted_months(months, "aicrowd") for months in (12, 13, 14)] == [12, 12, 14]
    assert counted_months(13, "rules") == 13


def test_9_the_evaluator_took_a_part_for_the_whole_and_the_last_match() -> None:
    names = ("a", "b", "ab", "xaby")
    truth = answer((0, 0, "a"), (0, 1, "ab"), pseudonyms=names)
    told = guess({(0, 0): "b:xaby", (0, 1): "ab:b:xaby"}, names)
    assert count_credit(truth, told, "aicrowd").hits == pytest.approx(2 / 3 + 1 / 3)
    assert count_credit(truth, told, "rules").hits == 1
    whole = guess({(0, 0): "xaby"}, names)
    assert (
        count_credit(truth, whole, "aicrowd").hits,
        count_credit(truth, whole, "rules").hits,
    ) == (1, 0)
    twice = guess({(0, 0): "a:a"}, names)
    assert count_credit(truth, twice, "aicrowd").hits == pytest.approx(2 / 3)
    assert count_credit(truth, twice, "rules").hits == 1


def test_4_the_evaluator_rounded_s_to_six_decimals() -> None:
    truth, told = answer((0, 0, "a"), (0, 1, "a"), (0, 2, "a")), guess({(0, 0): "a"}, ("a",))
    assert (reid(truth, told, "aicrowd"), reid(truth, told, "rules")) == (0.333333, 1 / 3)


def test_blind_guessing_earns_one_or_three_guesses_among_the_pseudonyms_of_a_month() -> None:
    """100 cells of 100 pseudonyms: one guess each earns 1 in all; three earn 1 + 2/3 + 1/3 = 2."""
    cells = np.full((100, 13), -1, dtype=np.int32)
    cells[:, 4] = np.arange(100)
    names = tuple(f"{number:02d}" for number in range(100))
    chance = {
        mode: blind_guessing(Answer(names, names, cells), mode) for mode in ("rules", "aicrowd")
    }
    assert (chance["rules"].mean, chance["aicrowd"].mean) == (1, 2)
    spread = (
        1.96 * (100 * (0.01 - 0.0001)) ** 0.5
    )  # 1.95: the band is 0 to 2.95, in whole cells 0 to 3
    assert chance["rules"].high == 3 == math.ceil(1 + spread)
    assert chance["rules"].low == 0
    assert all(
        type(figure) is float
        for figure in (chance["rules"].mean, chance["rules"].low, chance["rules"].high)
    )
