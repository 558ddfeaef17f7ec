"""Transaction tables: the months of any shop's dates, prices as numbers and as texts, and every method in another calendar."""

from __future__ import annotations

import datetime
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.core import Problems, Source, Table, table_bytes
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import (
    CONTEST,
    SCHEMA,
    Calendar,
    comparable_prices,
    evaluator_schema,
    kept,
    kept_rows,
    months,
    narrowed,
    price_changes,
    prices,
    release_bytes,
    transaction_schema,
)
from kakurenbo.methods import registry
from kakurenbo.rulebooks.darc2019.checks import read_release
from kakurenbo.rulebooks.darc2019.files import read_original
from kakurenbo.rulebooks.darc2019.matrices import GuessForm, answer_of, guess_bytes, read_guess
from kakurenbo.rulebooks.darc2019.scores import reid

HEADER = "id_user,date,hours,id_item,price,qty"


def read(*lines: str) -> Table | Problems:
    found = attempt(read_original, Source("T.csv", "\n".join([HEADER, *lines, ""]).encode()))
    return found if isinstance(found, Problems) else found.value


# -- calendars --------------------------------------------------------------------------------------------------------


def test_the_contest_has_thirteen_months() -> None:
    assert (CONTEST.months, CONTEST.names[0], CONTEST.names[-1]) == (13, "2010/12", "2011/12")
    assert CONTEST.month_length.tolist() == [31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    assert CONTEST.last_day == datetime.date(2011, 12, 31)


@given(st.dates(datetime.date(1950, 1, 1), datetime.date(2050, 1, 1)), st.integers(0, 3000))
def test_a_day_lies_in_the_month_that_is_named_so(first: datetime.date, later: int) -> None:
    last = first + datetime.timedelta(later)
    calendar = Calendar.spanning(first, last)
    assert calendar.names[calendar.month_of_day[calendar.day(last)]] == f"{last:%Y/%m}"
    assert calendar.names[calendar.month_of_day[calendar.day(first)]] == f"{first:%Y/%m}"
    assert calendar.days == calendar.month_length.sum() == calendar.day(calendar.last_day) + 1
    month = calendar.month_of_day[calendar.day(last)]
    assert calendar.day(last) - calendar.month_start[month] == last.day - 1
    assert calendar.month_of_year[month] == last.month - 1


def test_a_calendar_has_1_to_120_whole_months() -> None:
    for first, count in (
        (datetime.date(2010, 12, 2), 3),
        (datetime.date(2010, 12, 1), 0),
        (datetime.date(2010, 12, 1), 121),
    ):
        with pytest.raises(ParameterError):
            Calendar(first, count)


def test_the_months_of_t_are_those_of_its_dates() -> None:
    table = read("a,2019/03/05,08:00,A,1.0,1", "b,2019/08/31,08:00,A,-1.5,-2")
    assert isinstance(table, Table)
    assert Calendar.of(table).names == (
        "2019/03",
        "2019/04",
        "2019/05",
        "2019/06",
        "2019/07",
        "2019/08",
    )
    assert months(table).tolist() == [0, 5]
    assert table.texts("date").to_list() == ["2019/03/05", "2019/08/31"]
    within = read(
        "a,2011/02/05,08:00,A,1.0,1", "b,2011/04/30,08:00,A,1.0,1"
    )  # the contest's dates, but three months
    assert isinstance(within, Table)
    assert Calendar.of(within).names == ("2011/02", "2011/03", "2011/04")


def test_more_than_120_months_and_dates_that_are_none_are_refused_with_their_row() -> None:
    assert isinstance(read("a,2001/01/31,08:00,A,1.0,1", "b,2010/12/01,08:00,A,1.0,1"), Table)
    found = read("a,2001/01/31,08:00,A,1.0,1", "b,2011/01/01,08:00,A,1.0,1")
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].column, found[0].value) == (3, "date", "2011/01/01")
    found = read("a,2019/02/29,08:00,A,1.0,1", "b,2019/02/28,08:00,A,1.0,1")
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].column, "no such day" in found[0].fix) == (2, "date", True)


def test_t_has_no_deleted_rows_and_may_have_crlf_and_a_byte_order_mark() -> None:
    assert isinstance(read("DEL,2019/02/28,08:00,A,1.0,1"), Problems)
    data = b"\xef\xbb\xbf" + f"{HEADER}\r\na,2011/02/28,08:00,A,1.0,1\r\n".encode()
    found = attempt(read_original, Source("T.csv", data))
    assert isinstance(found, Read)
    assert [notice.code for notice in found.notices] == ["text.bom", "text.line_ends"]


# -- prices -----------------------------------------------------------------------------------------------------------


def test_a_price_text_equals_the_number_that_is_written_just_so() -> None:
    texts = ["2.5", "2.50", "0.0", "1e3", "1000.0"]
    rows = [["a", "2010/12/01", "08:00", "A", text, "1"] for text in texts]
    as_texts, as_numbers = (
        Table.from_rows(schema, rows)
        for schema in (evaluator_schema(CONTEST, rows_deleted=True), SCHEMA)
    )
    assert (
        prices(as_texts).tolist() == prices(as_numbers).tolist() == [2.5, 2.5, 0.0, 1000.0, 1000.0]
    )
    same = comparable_prices(as_texts) == comparable_prices(as_numbers)
    assert same.tolist() == [True, False, True, False, True]


def test_zero_and_minus_zero_are_one_price() -> None:
    rows = [["a", "2010/12/01", "08:00", "A", text, "1"] for text in ("0", "-0.0")]
    assert len(set(comparable_prices(Table.from_rows(SCHEMA, rows)).tolist())) == 1


def test_e5_counts_1_for_a_price_that_is_not_positive_unless_both_are_0() -> None:
    first, second = (
        np.array([2.0, 2.0, 0.0, 0.0, 4.0, 1.0]),
        np.array([1.0, 0.0, 0.0, 3.0, -4.0, np.inf]),
    )
    assert price_changes(first, second).tolist() == [0.5, 1, 0, 1, 1, 1]


# -- every method in another calendar ---------------------------------------------------------------------------------


@cache
def half_a_year() -> Table:
    """A simulated shop from 2011/03 to 2011/08, six months."""
    shop = simulate_shop(stream(1, "half a year"), customers=150)
    there = shop.take((months(shop) >= 3) & (months(shop) <= 8))
    texts = {name: there.texts(name) for name in there.schema.names}
    calendar = Calendar.spanning(datetime.date(2011, 3, 1), datetime.date(2011, 8, 31))
    return Table.from_texts(transaction_schema(calendar), texts)


ANONYMIZERS = (
    "monthly_pseudonyms",
    "delete",
    "dates",
    "dates:method=noise",
    "values",
    "swap_items",
    "swap_baskets",
    "crowds",
)


@pytest.mark.parametrize("method", ANONYMIZERS)
def test_anonymizers_keep_the_months_of_another_shop(method: str) -> None:
    table = half_a_year()
    assert narrowed(table) == table
    released = registry.build("anonymizers", method)(table, stream(2, method)).table
    assert Calendar.of(released) == Calendar.of(table)
    alive = kept(released)
    assert (months(released)[alive] == months(table)[alive]).all()


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
@pytest.mark.parametrize(
    "method", ["keys", "overlap", "tfidf", "fellegi_sunter", "profile", "rhythm"]
)
def test_attacks_guess_the_months_of_another_shop(method: str, mode: str) -> None:
    table = half_a_year()
    released = registry.build("anonymizers", "monthly_pseudonyms")(table, stream(2, "names")).table
    read_back = attempt(read_release, Source("A.csv", release_bytes(released)), table, mode)
    assert isinstance(read_back, Read)
    answer, rows = answer_of(table, read_back.value)
    known = ReidentificationKnowledge(table, rows.take(stream(3, "order").permutation(len(rows))))
    guess = registry.build("attacks", method)(known, stream(4, method))
    form = GuessForm(answer.customers, answer.pseudonyms, answer.calendar, mode)
    again = attempt(read_guess, Source("g", guess_bytes(guess, mode)), form)
    assert isinstance(again, Read)
    assert again.value.cells.shape[1:] == (6, 3)
    assert reid(answer, again.value, mode) == pytest.approx(reid(answer, guess, mode))
    assert reid(answer, guess, mode) > (0.05 if method in ("keys", "rhythm") else 0.8)


def test_t_and_s_have_one_calendar() -> None:
    with pytest.raises(ParameterError):
        ReidentificationKnowledge(half_a_year(), simulate_shop(stream(1, "x"), customers=5))


def test_kept_rows_name_nobody_who_is_deleted() -> None:
    table = half_a_year()
    released = registry.build("anonymizers", "delete")(table, stream(2, "s")).table
    rows = kept_rows(released)
    assert (
        rows.texts("id_user").to_list()
        == released.texts("id_user").filter(kept(released)).to_list()
    )
    assert set(rows.vocabularies["id_user"]) == set(rows.texts("id_user"))
    assert table_bytes(rows) == table_bytes(released.take(kept(released)))
