"""darc2019, rules 10 and 14: E1..E6 and S1..S7 worked out by hand in both modes, and S1..S7 once more in plain Python."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import attempt

from kakurenbo.core import Problems, Source, Table
from kakurenbo.data.transactions import SCHEMA, Calendar, narrowed, transaction_schema
from kakurenbo.rulebooks.darc2019.checks import read_release
from kakurenbo.rulebooks.darc2019.scores import counts_in
from kakurenbo.rulebooks.darc2019.utility import errors_of, measure

HEADER = "id_user,date,hours,id_item,price,qty"


def table(lines: Sequence[str]) -> Table:
    return Table.from_rows(SCHEMA, [line.split(",") for line in lines])


def released(lines: Sequence[str], original: Table, mode: str) -> Table:
    found = attempt(
        read_release, Source("A.csv", "\n".join([HEADER, *lines, ""]).encode()), original, mode
    )
    assert not isinstance(found, Problems), list(map(str, found))
    return found.value


def errors(before: Sequence[str], after: Sequence[str], mode: str = "rules") -> dict[str, float]:
    original = table(before)
    return errors_of(original, released(after, original, mode), mode)


def row(user: str, item: str, qty: int = 1, month: str = "2010/12", price: str = "1.0") -> str:
    return f"{user},{month}/05,08:00,{item},{price},{qty}"


# -- E1..E3 -----------------------------------------------------------------------------------------------------------

TWO_BUYERS = [row("x", "A", 3), row("x", "B", 4), row("y", "A", 4), row("y", "B", 7, "2011/01")]
MONTHLY = [row("p", "A", 3), row("p", "B", 4), row("q", "A", 4), row("r", "B", 7, "2011/01")]


def test_e1_of_the_rules_sums_over_users_who_bought_both() -> None:
    """M_AB = (12 + 28) / (5 sqrt 65); in A(T) only p bought both: 12 / (3 * 4) = 1. The diagonals are 1."""
    m = 40 / (5 * 65**0.5)
    assert errors(TWO_BUYERS, MONTHLY)["E1"] == pytest.approx(2 * (1 - m) / (2 + 2 * m), rel=1e-12)


def test_e1_of_the_evaluator_is_the_plain_cosine() -> None:
    """M_AB as above; in A(T) 12 / (5 sqrt 65), the norms being those of whole columns."""
    m = 40 / (5 * 65**0.5)
    assert errors(TWO_BUYERS, MONTHLY, "aicrowd")["E1"] == pytest.approx(
        2 * (28 / (5 * 65**0.5)) / (2 + 2 * m), rel=1e-12
    )


def test_e2_zeroes_scores_of_six_or_more_in_each_table_by_its_own_sums() -> None:
    """In T x has A = 3 + 3 = 6, which is zeroed, and B = 1: only M_BB = 1. In A(T) p has A = 3, B = 1 and q A = 3: all 1."""
    before = [row("x", "A", 3), row("x", "B"), row("x", "A", 3, "2011/01")]
    after = [row("p", "A", 3), row("p", "B"), row("q", "A", 3, "2011/01")]
    assert errors(before, after)["E2"] == 3  # |0 - 1| of AA, twice of AB; over 1
    assert errors(before, after, "aicrowd")["E2"] == 0  # the evaluator's always is
    five = [row("x", "A", 3), row("x", "B"), row("x", "A", 2, "2011/01")]
    assert (
        errors(five, [row("p", "A", 3), row("p", "B"), row("q", "A", 2, "2011/01")])["E2"] == 0
    )  # 5 is not zeroed


def test_e3_of_the_rules_looks_at_the_180_items_with_most_rows_of_t() -> None:
    """One customer bought 181 items, all but the last twice: every similarity is 1, and the top 180 have 180^2 of them."""
    items = [f"{number:03d}" for number in range(1, 182)]
    before = [*(row("x", item) for item in items), *(row("x", item) for item in items[:180])]
    as_it_is = [line.replace("x", "p", 1) for line in before]
    without_181 = ["DEL,,,,," if ",181," in line else line for line in as_it_is]
    assert errors(before, without_181)["E3"] == 0
    assert errors(before, without_181)["E1"] == (2 * 180 + 1) / 181**2
    without_180 = ["DEL,,,,," if ",180," in line else line for line in as_it_is]
    assert errors(before, without_180)["E3"] == (2 * 179 + 1) / 180**2


@pytest.mark.parametrize(("items", "wanted"), [(40, 6 / 4), (39, 0.0)])
def test_e3_of_the_evaluator_takes_the_top_twentieth_of_each_table(
    items: int, wanted: float
) -> None:
    """Of 40 items two are top: {1, 2} in T, {1, 3} in A(T), where 2 rows of item 2 became 3. Of 39 items one is: {1} in both.

    One customer, so all similarities are 1: of 4 in M and 4 in M' only M_11 agrees, 6 / 4, more than Jaccard's 2 / 3.
    """
    names = [f"{number:02d}" for number in range(1, items + 1)]
    before = [*(row("x", name) for name in names), *[row("x", "01")] * 3, *[row("x", "02")] * 2]
    after = [*(row("p", name) for name in names), *[row("p", "01")] * 3, *[row("p", "03")] * 2]
    assert errors(before, after, "aicrowd")["E3"] == pytest.approx(wanted)


def test_e3_of_the_evaluator_is_at_least_the_jaccard_distance_of_the_top_lists() -> None:
    """60 items, three top: {1, 2, 3} and {1, 2, 4}. Jaccard 1 - 2/4; cosines: 33 is lost and 44 new, 2 of 5."""
    names = [f"{number:02d}" for number in range(4, 61)]
    before = [
        *[row("x", "01")] * 3,
        *[row("x", "02")] * 3,
        row("y", "03"),
        row("y", "03"),
        *(row("z", name) for name in names),
    ]
    after = [
        *[row("p", "01")] * 3,
        *[row("p", "02")] * 3,
        row("q", "03"),
        row("q", "04"),
        *(row("r", name) for name in names),
    ]
    assert errors(before, after, "aicrowd")["E3"] == 0.5


# -- E4..E6 and U -----------------------------------------------------------------------------------------------------

SIX = [
    f"x,2010/12/0{day},08:00,A,{price},1"
    for day, price in enumerate([2.0, 4.0, 2.0, 4.0, 0.0, 3.0], start=1)
]
CHANGED = [
    "p,2010/12/04,09:00,A,1.0,1",  # 3 days, half the price
    "p,2010/12/02,08:00,A,-4.0,1",  # a price that is not positive counts 1
    "DEL,,,,,",
    "p,2010/12/01,08:00,A,4.0,1",  # 3 days
    "p,2010/12/05,08:00,A,0,1",  # both 0: no change
    "p,2010/12/06,08:00,A,4.0,1",  # 1 - 3/4
]


def test_e4_e5_e6_by_hand() -> None:
    found = errors(SIX, CHANGED)
    assert found["E4"] == pytest.approx(6 / 31 / 6, rel=1e-12)
    assert found["E5"] == pytest.approx((0.5 + 1 + 0 + 0 + 0 + 0.25) / 6, rel=1e-12)
    assert found["E6"] == 1 / 6


def test_e4_e5_e6_of_the_evaluator_are_rounded() -> None:
    found = errors(SIX, CHANGED, "aicrowd")
    assert (found["E4"], found["E5"], found["E6"]) == (
        round(1 / 31, 10),
        round(1.75 / 6, 10),
        0.1667,
    )


def test_inf_and_nan_are_all_the_way_off() -> None:
    after = [line.replace("x,", "p,", 1) for line in SIX]
    after[0], after[1] = after[0].replace("2.0", "inf"), after[1].replace("4.0", "nan")
    assert errors(SIX, after, "aicrowd")["E5"] == round(2 / 6, 10)


def test_u_is_the_largest_error_capped_at_1_and_names_it() -> None:
    original = table([row("x", "A", 3), row("x", "B"), row("x", "A", 3, "2011/01")])
    after = released(
        [row("p", "A", 3), row("p", "B"), row("q", "A", 3, "2011/01")], original, "rules"
    )
    found = measure(original, after, "rules").scores
    assert (found["U"].value, found["U"].limit, found["E2"].value) == (1, {"by": "E2"}, 1)


# -- S1..S7 -----------------------------------------------------------------------------------------------------------

T = [
    "x,2010/12/01,08:00,11A,1.0,1",
    "x,2011/01/05,08:00,12B,2.0,2",
    "y,2010/12/01,08:00,11C,1.0,1",
    "y,2011/12/07,08:00,22D,5.0,3",
]
NAMED = [line.replace(line[0], name, 1) for line, name in zip(T, "pqrs", strict=True)]


def rates(before: Sequence[str], after: Sequence[str], mode: str) -> list[float]:
    original = table(before)
    found = measure(original, released(after, original, mode), mode).scores
    return [found[f"S{number}"].value for number in range(1, 8)]


def test_s1_to_s7_of_the_rules_by_hand() -> None:
    """F has 4 cells. x and y of December 2010 agree in date, quantity, price and "11": one of the two is guessed for both.

    Items tell them apart only as a whole, which baseline 7 looks at; all its first guesses are right.
    """
    assert rates(T, NAMED, "rules") == [0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 1.0]


def test_s1_to_s7_of_the_evaluator_by_hand() -> None:
    """3 cells count, as December 2011 does not. Only baseline 1 looks at no item; the others are right in all."""
    assert rates(T, NAMED, "aicrowd") == [0.666667, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_14_when_rows_are_deleted_a_price_must_be_written_as_t_has_it() -> None:
    """y's second row is deleted, 3 cells are left. "2.00" for 2.0 in January is lost to the keys with a price: S2, S5, S6."""
    texts = [*NAMED[:3], "DEL,,,,,"]
    assert rates(T, texts, "aicrowd")[1:6] == [1.0] * 5
    texts[1] = texts[1].replace("2.0", "2.00")
    assert rates(T, texts, "aicrowd")[1:6] == [0.666667, 1.0, 1.0, 0.666667, 0.666667]
    assert rates(T, texts, "rules")[1:6] == [2 / 3] * 5  # 2.00 is 2.0, but "11" tells nobody apart


def test_baseline_7_counts_in_mode_aicrowd_and_is_shown_by_its_first_guess_in_mode_rules() -> None:
    """x shares item A with p (ties go by name: a, which is y's, comes first), so x's own p is the second guess."""
    before = [row("x", "A"), row("y", "A")]
    after = [row("p", "A"), row("a", "A")]
    assert rates(before, after, "rules")[6] == 0.5  # a for both: right for y
    assert rates(before, after, "aicrowd")[6] == round((2 / 3 + 1) / 2, 6)
    assert [counts_in(mode, "S7") for mode in ("rules", "aicrowd")] == [False, True]
    assert counts_in("rules", "S6")


# -- S1..S7 in plain Python -------------------------------------------------------------------------------------------

lines = st.tuples(
    st.sampled_from("xyz"),
    st.sampled_from(["2010/12/01", "2010/12/31", "2011/05/02", "2011/05/03", "2011/12/07"]),
    st.sampled_from(["11A", "11B", "12A"]),
    st.sampled_from(["1.0", "2.5"]),
    st.integers(1, 2),
    st.booleans(),
)
RULES_KEYS = {1: "dq", 2: "ip", 3: "iq", 4: "id", 5: "ipq", 6: "idq"}
EVALUATOR_KEYS = {**RULES_KEYS, 6: "idp"}


def plain_rates(before: list[list[str]], after: list[list[str]], mode: str) -> list[float]:
    """S1..S7 from the sentences of the rules pages, row by row."""
    month = {"2010/12": 0, "2011/05": 5, "2011/12": 12}
    truth = {(t[0], month[t[1][:7]]): a[0] for t, a in zip(before, after, strict=True)}
    order = np.random.RandomState(2019).permutation(len(after))
    shuffled = [after[place] for place in order]
    found = []
    for number in range(1, 7):

        def key(line: list[str], number: int = number) -> tuple[str, ...]:
            parts = {
                "d": line[1],
                "i": line[3][:2] if mode == "rules" else line[3],
                "p": line[4],
                "q": line[5],
            }
            names = (RULES_KEYS if mode == "rules" else EVALUATOR_KEYS)[number]
            return tuple(parts[name] for name in names) + (
                (line[1][:7],) if mode == "rules" else ()
            )

        last = {key(line): line[0] for line in shuffled}
        guesses = {(t[0], month[t[1][:7]]): [last[key(t)]] for t in before if key(t) in last}
        found.append(plain_rate(truth, guesses, mode))
    seen_before, seen_after = (
        [line for line in part if mode == "rules" or line[1] != "2010/12/31"]
        for part in (before, after)
    )
    guesses = {}
    for customer, number in truth:
        own = {
            line[3] for line in seen_before if line[0] == customer and month[line[1][:7]] == number
        }
        there = sorted({line[0] for line in seen_after if month[line[1][:7]] == number})
        shared = {
            name: len(
                own & {a[3] for a in seen_after if a[0] == name and month[a[1][:7]] == number}
            )
            for name in there
        }
        if own:
            guesses[customer, number] = sorted(there, key=lambda name: -shared[name])[:3]
    return [*found, plain_rate(truth, guesses, mode)]


def plain_rate(
    truth: dict[tuple[str, int], str], guesses: dict[tuple[str, int], list[str]], mode: str
) -> float:
    counted = {cell: name for cell, name in truth.items() if mode == "rules" or cell[1] != 12}
    credit = 0.0
    for cell, name in counted.items():
        told = guesses.get(cell, [])
        if mode == "rules":
            credit += told[:1] == [name]
        elif name in told:
            credit += (3 - told.index(name)) / 3
    rate = credit / len(counted) if counted else 0.0
    return round(rate, 6) if mode == "aicrowd" else rate


@given(st.lists(lines, min_size=1, max_size=12), st.sampled_from(["rules", "aicrowd"]))
def test_s1_to_s7_equal_a_plain_computation(
    drawn: list[tuple[str, str, str, str, int, bool]], mode: str
) -> None:
    before = [
        [user, date, "08:00", item, price, str(qty)] for user, date, item, price, qty, _ in drawn
    ]
    after = [[f"{line[1][5:7]}{ord(line[0]):03d}", *line[1:]] for line in before]
    for line, (*_, other) in zip(after, drawn, strict=True):
        if other:  # another row's price
            line[4] = "2.5"
    original = Table.from_rows(SCHEMA, before)
    found = measure(original, Table.from_rows(SCHEMA, after), mode).scores
    wanted = plain_rates(before, after, mode)
    assert [found[f"S{number}"].value for number in range(1, 8)] == pytest.approx(wanted, abs=1e-12)


# -- another shop -----------------------------------------------------------------------------------------------------


def test_a_shop_of_other_months_is_measured_in_its_own_calendar() -> None:
    """The same rows eight years later have the same figures; but mode aicrowd leaves out no month of six."""
    moved = [
        line.replace("2010/12", "2019/03")
        .replace("2011/01", "2019/04")
        .replace("2011/12", "2019/08")
        for line in T
    ]
    calendar = Calendar.spanning(datetime.date(2019, 3, 1), datetime.date(2019, 8, 31))
    original = Table.from_rows(transaction_schema(calendar), [line.split(",") for line in moved])
    assert narrowed(original) == original
    after = [line.replace(line[0], name, 1) for line, name in zip(moved, "pqrs", strict=True)]
    scores = measure(original, released(after, original, "rules"), "rules").scores
    assert [scores[f"S{number}"].value for number in range(1, 8)] == [0.75] * 6 + [1.0]
    scores = measure(original, released(after, original, "aicrowd"), "aicrowd").scores
    assert [scores[f"S{number}"].value for number in (1, 2, 7)] == [0.75, 1.0, 1.0]
