"""darc2019: limits, credits, results and matrices at their edges, small enough to be checked by hand."""

from __future__ import annotations

import gzip
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.darc2019 import disabled_e2
from tests.reading import Read, attempt

from kakurenbo.attacks.reidentification import ReidentificationGuess
from kakurenbo.contest import ANONYMIZE, ATTACK, ContestFolder, Counting, Credit, RoundResults
from kakurenbo.core import Problems, Source, Table
from kakurenbo.core.errors import UsageError
from kakurenbo.data.transactions import CONTEST, SCHEMA, Calendar
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.checks import read_published, read_release
from kakurenbo.rulebooks.darc2019.data import Original
from kakurenbo.rulebooks.darc2019.files import ANSWER, find_file, find_original, read_original
from kakurenbo.rulebooks.darc2019.matrices import Answer, GuessForm, read_answer, read_guess
from kakurenbo.rulebooks.darc2019.scores import blind_guessing, count_credit, reid, standings
from kakurenbo.rulebooks.darc2019.scores import read_published as read_results

HEADER = "id_user,date,hours,id_item,price,qty"
T = ["x,2010/12/01,08:00,A,1.0,1", "x,2010/12/02,08:00,B,2.0,3", "y,2010/12/03,08:00,A,1.0,1"]


def table(lines: list[str]) -> Table:
    return Table.from_rows(SCHEMA, [line.split(",") for line in lines])


def csv(lines: list[str], end: str = "\n") -> bytes:
    return ("\n".join([HEADER, *lines]) + end).encode()


# -- what the contest declares -------------------------------------------------------------------------------------------


def test_the_judge_is_told_that_the_last_three_tables_and_the_best_of_ten_attacks_count() -> None:
    anonymize, attack = Darc2019.phases
    assert (anonymize.name, anonymize.counts, anonymize.keep, anonymize.cost) == (
        ANONYMIZE,
        Counting.LAST_FEW,
        3,
        3.0,
    )
    assert (attack.name, attack.counts, attack.tries.per_target) == (ATTACK, Counting.BEST, 10)


def test_errors_and_scores_are_at_most_1_and_there_are_seven_baselines() -> None:
    figures = Darc2019().figures
    assert [name for name, figure in figures.items() if figure.of == 1] == [
        *(f"E{number}" for number in range(1, 7)),
        *("U", "anonymization", "overall", "score"),
    ]
    assert [name for name in figures if name.startswith("S")] == [
        f"S{number}" for number in range(1, 8)
    ]


# -- files ---------------------------------------------------------------------------------------------------------------


def test_a_release_has_at_most_a_million_bytes_and_400_for_each_row() -> None:
    data = csv(T)
    for extra, large in ((0, False), (1, True)):
        padded = data + b"x" * (1_000_000 + 400 * len(T) + extra - len(data))
        found = attempt(read_release, Source("A.csv", padded), table(T), "rules")
        assert isinstance(found, Problems)
        assert (found[0].code == "source.too_large") == large


@pytest.mark.parametrize("end", ["\n", ""])
def test_in_mode_aicrowd_s_of_fewer_rows_than_t_keeps_the_text_of_prices_with_or_without_a_last_line_end(
    end: str,
) -> None:
    """A row was deleted, so "1.00" is another price than 1.0 (evaluator, 14); where none was, prices are numbers."""
    rows = [line.replace("1.0,1", "1.00,1") for line in T]
    for kept, text in ((3, "1.0"), (2, "1.00")):
        read = attempt(read_published, Source("S.csv", csv(rows[:kept], end)), table(T), "aicrowd")
        assert isinstance(read, Read), read
        assert (len(read.value), read.value.texts("price")[0]) == (kept, text)


def test_s_has_at_least_one_row_and_at_most_those_of_t() -> None:
    for count, fits in ((0, False), (1, True), (3, True), (4, False)):
        found = attempt(read_published, Source("S.csv", csv([*T, T[0]][:count])), table(T), "rules")
        assert isinstance(found, Read) == fits, count


def test_a_row_moved_to_the_first_day_of_all_is_in_another_month() -> None:
    """2010/12/01 is the first day of the calendar; the row is one of February."""
    february = ["x,2010/12/01,08:00,A,1.0,1", "y,2011/02/03,08:00,A,1.0,1"]
    moved = [february[0].replace("x", "p"), "q,2010/12/01,08:00,A,1.0,1"]
    for mode in ("rules", "aicrowd"):
        found = attempt(read_release, Source("A.csv", csv(moved)), table(february), mode)
        assert isinstance(found, Problems)
        assert [(problem.code, problem.row, problem.value) for problem in found] == [
            ("darc2019.month_changed", 3, "2010/12/01")
        ]


def test_in_mode_aicrowd_texts_of_a_deleted_row_are_those_of_ts_first_row() -> None:
    """So that a row which may hold anything adds no price that does not occur."""
    original = table([T[0], T[1], "y,2010/12/03,08:00,A,7.5,1"])
    lines = ["p,2010/12/01,08:00,A,1.00,1", "DEL,x,x,x,x,x", "q,2010/12/03,08:00,A,7.5,1"]
    read = attempt(read_release, Source("A.csv", csv(lines)), original, "aicrowd")
    assert isinstance(read, Read), read
    assert read.value.texts("price").to_list() == ["1.00", "1.0", "7.5"]


def test_the_two_tables_that_were_read_last_are_kept() -> None:
    def read(customer: str) -> Table:
        found = attempt(
            read_original, Source("T.csv", csv([line.replace("x", customer, 1) for line in T]))
        )
        assert isinstance(found, Read)
        return found.value

    first, second = read("a"), read("b")
    assert read("a") is first
    assert read("b") is second
    read("c")
    assert read("b") is second
    assert read("a") is not first
    assert read("a") == first


def test_t_is_found_in_its_folder_packed_or_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        find_original(ContestFolder(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"no ground_truth\.csv"):
        find_original(ContestFolder(tmp_path))
    (tmp_path / "T.csv.gz").write_bytes(gzip.compress(csv(T)))
    assert find_original(ContestFolder(tmp_path)).origin == tmp_path / "T.csv.gz"
    read = attempt(Darc2019().read_handout, tmp_path)
    assert isinstance(read, Read)
    assert (read.value.team, read.value.original.rows()) == ("", table(T).rows())
    (tmp_path / "T.csv").write_bytes(csv(T))
    assert find_original(ContestFolder(tmp_path)).origin == tmp_path / "T.csv"
    assert find_original(ContestFolder(tmp_path / "T.csv.gz")).origin == tmp_path / "T.csv.gz"
    (tmp_path / "ground_truth.csv.gz").write_bytes(gzip.compress(csv(T)))
    assert find_original(ContestFolder(tmp_path)).origin == tmp_path / "ground_truth.csv.gz"


def test_f_is_found_in_its_folder_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="in this folder"):
        find_file(ContestFolder(tmp_path), ANSWER)
    for name in ("A_01.csv", "F_01.csv", "F_02.csv"):
        (tmp_path / name).write_bytes(b"")
    assert find_file(ContestFolder(tmp_path), ANSWER).origin == tmp_path / "F_01.csv"
    assert find_file(ContestFolder(tmp_path / "F_02.csv"), ANSWER).origin == tmp_path / "F_02.csv"


def test_a_damaged_t_is_named_by_its_file() -> None:
    found = attempt(read_original, Source("T.csv.gz", gzip.compress(b"id_user\n1\n")))
    assert isinstance(found, Problems)
    assert found[0].file == "T.csv.gz"


def test_attacks_know_t_and_s_by_name_or_in_this_order() -> None:
    t, s = csv(T), csv([line.replace("x", "p").replace("y", "q") for line in T[:2]])
    for sources in (
        [Source("T.csv", t), Source("S_01.csv", s)],
        [Source("S_01.csv", s), Source("T.csv", t)],
        [Source("a", t), Source("b", s)],
    ):
        read = attempt(Darc2019().read_knowledge, sources)
        assert isinstance(read, Read), read
        assert (read.value.customers, read.value.pseudonyms) == (("x", "y"), ("p",))
    for wrong in (
        ["T.csv"],
        ["S_01.csv", "S_02.csv"],
        ["T.csv", "S_01.csv", "S_02.csv"],
        ["T.csv", "a", "b"],
    ):
        with pytest.raises(UsageError, match="two files"):
            Darc2019().read_knowledge([Source(name, t) for name in wrong])


# -- the organizer's table -----------------------------------------------------------------------------------------------


def shop(customers: int) -> bytes:
    """Customer n bought in n % 3 + 1 rows."""
    lines = [
        f"c{number:03d},2010/12/0{day},08:00,A,1.0,1"
        for number in range(customers)
        for day in range(1, number % 3 + 2)
    ]
    return csv(lines)


@pytest.mark.parametrize(
    ("scale", "customers", "kept"), [("small", 401, 400), ("small", 400, 400), ("full", 401, 401)]
)
def test_at_scale_small_a_table_of_ones_own_is_cut_to_all_rows_of_400_customers(
    tmp_path: Path, scale: str, customers: int, kept: int
) -> None:
    (tmp_path / "own.csv").write_bytes(shop(customers))
    drawn = Darc2019(scale=scale, table=str(tmp_path / "own.csv")).draw(1, ["01"])
    lines = drawn.handouts["01"]["ground_truth.csv"].decode().splitlines()[1:]
    rows: dict[str, int] = {}
    for line in lines:
        rows[line[:4]] = rows.get(line[:4], 0) + 1
    assert len(rows) == kept
    assert all(count == int(name[1:]) % 3 + 1 for name, count in rows.items())
    assert drawn.report == {"rows": len(lines), "customers": kept, "items": 1, "months": 1}
    assert drawn.settings["data"] == "own"


def test_a_table_of_ones_own_and_other_data_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_bytes(csv(T))
    for data in ("embedded", "imported"):
        with pytest.raises(UsageError, match="one of the two"):
            Darc2019(data=data, table=str(tmp_path / "own.csv")).draw(1, ["01"])
    for data in ("auto", "own"):
        assert (
            Darc2019(data=data, table=str(tmp_path / "own.csv")).draw(1, ["01"]).report["rows"] == 3
        )
    with pytest.raises(UsageError, match="--table"):
        Darc2019(data="own").draw(1, ["01"])
    with pytest.raises(UsageError, match="data import online_retail"):
        Darc2019(data="imported").draw(1, ["01"])


# -- utility and credit --------------------------------------------------------------------------------------------------


def test_the_evaluators_disabled_e2_would_have_looked_below_the_median_of_ts_scores() -> None:
    """x has A = 1, B = 3 and y A = 1: median 1, nothing is below. With B = 2 and C = 3 the median of 1, 2, 3 is 2: only AA.

    In A(T) p has A = 1, B = 1 and C = 3, so AA, BB and twice AB are 1: |difference| 3 over 1.
    """
    original = table(
        ["x,2010/12/01,08:00,A,1.0,1", "x,2010/12/02,08:00,B,2.0,2", "x,2010/12/03,08:00,C,1.0,3"]
    )
    released = table(
        ["p,2010/12/01,08:00,A,1.0,1", "p,2010/12/02,08:00,B,2.0,1", "p,2010/12/03,08:00,C,1.0,3"]
    )
    assert disabled_e2(original, released) == pytest.approx(3)
    assert disabled_e2(original, original) == 0
    assert disabled_e2(table(T), table(T)) == 0


def answer(*columns: list[int]) -> Answer:
    """A column of codes for each of the first months."""
    cells = np.full((len(columns[0]), 13), -1, dtype=np.int32)
    for month, column in enumerate(columns):
        cells[:, month] = column
    names = tuple(f"p{code}" for code in range(9))
    return Answer(tuple(f"c{row}" for row in range(len(cells))), names, cells)


def test_blind_guessing_of_fewer_than_three_pseudonyms_by_hand() -> None:
    """Two cells, two pseudonyms: both guessed are worth (1 + 2/3) / 2 per cell, with variance (1 + 4/9) / 2 - 25/36 = 1/36."""
    chance = blind_guessing(answer([0, 1]), "aicrowd")
    spread = 1.96 * (2 / 36) ** 0.5
    assert chance.mean == 1.67
    assert (chance.low, chance.high) == (math.floor(5 / 3 - spread), math.ceil(5 / 3 + spread)), (
        "whole cells"
    )
    one = blind_guessing(answer([0, 1]), "rules")
    assert (one.mean, one.low, one.high) == (1, 0, 3), "1 + 1.96 * sqrt(0.5) is 2.39"


def test_blind_guessing_adds_up_over_the_months_that_count() -> None:
    alone = blind_guessing(answer([4, 4, -1]), "rules")
    assert (alone.mean, alone.low, alone.high) == (2, 2, 2), "one pseudonym is always right"
    both = blind_guessing(answer([4, 4, -1], [0, 1, 2]), "rules")
    assert both.mean == 3
    last = [[-1, -1]] * 12 + [[0, 0]]
    assert blind_guessing(answer(*last), "rules").mean == 2
    assert blind_guessing(answer(*last), "aicrowd").mean == 0, "December 2011 does not count"


def test_a_table_of_which_nothing_is_left_has_no_cell_to_be_identified() -> None:
    nothing = answer([-1, -1])
    told = ReidentificationGuess(
        nothing.customers, nothing.pseudonyms, np.zeros((2, 13, 3), dtype=np.int32)
    )
    for mode in ("rules", "aicrowd"):
        credit = count_credit(nothing, told, mode)
        assert (credit.hits, credit.of, credit.details) == (
            0,
            0,
            {"reid": 0.0, "reid_of_all_cells": 0.0},
        )
        assert reid(nothing, told, mode) == 0


# -- results -------------------------------------------------------------------------------------------------------------


def one_table(credit: Credit, **more: object) -> RoundResults:
    return RoundResults({"01": {"02": credit}}, ("01",), ("02",), {"01": 0.5}, **more)  # type: ignore[arg-type]


def test_a_credit_without_a_rate_is_hits_of_cells_in_exact_thirds() -> None:
    """5/3 of 7 cells is 5/21, not the nearest binary number."""
    found = standings({"main": one_table(Credit(5 / 3, 7))})
    assert found.attack[0].score == Fraction(5, 21)
    assert found.anonymization[0].score == (Fraction(1, 2) + Fraction(5, 21)) / 2
    assert standings({"main": one_table(Credit(0, 0))}).attack[0].score == 0


def test_an_attack_without_a_hit_is_not_awarded() -> None:
    assert standings({"main": one_table(Credit(0, 7))}).awards["re-identification"] == ()
    assert standings({"main": one_table(Credit(1, 7))}).awards["re-identification"] == ("02",)


def test_the_first_three_are_awarded() -> None:
    names = [f"0{number}" for number in range(1, 6)]
    given = RoundResults(
        {name: {} for name in names}, tuple(names), (), {name: int(name) / 10 for name in names}
    )
    assert standings({"main": given}).awards["anonymization"] == ("01", "02", "03")


def test_darc2019_has_one_round_and_every_table_its_utility() -> None:
    one = one_table(Credit(1, 7))
    for rounds in ({}, {"a": one, "b": one}):
        with pytest.raises(UsageError, match="one round"):
            standings(rounds)
    with pytest.raises(UsageError, match="no utility for the table 01"):
        standings({"main": RoundResults({"01": {}}, ("01",), (), {})})


def test_an_attacker_of_other_tables_only_did_not_attack_the_first_ranked_one() -> None:
    given = RoundResults(
        {"01": {}, "03": {"02": Credit(1, 2)}}, ("01", "03"), ("02",), {"01": 0.1, "03": 0.5}
    )
    assert [(line.team, line.rank, line.note) for line in standings({"main": given}).attack] == [
        ("01", None, "owns the table"),
        ("02", None, "did not attack the first-ranked table"),
        ("03", None, "missing"),
    ]


def results(text: str) -> Read[RoundResults] | Problems:
    return attempt(read_results, Source("r.csv", text.encode()))


def test_shares_are_from_0_to_1_and_a_utility_must_be_there() -> None:
    read = results("table,utility,02,S1\n01,0,1,0\n02,1,,\n")
    assert isinstance(read, Read), read
    assert read.value.utility == {"01": 0.0, "02": 1.0}
    assert read.value.credits["02"] == {}
    wrong = results("table,utility,02,S1\n01,,1.01,-0.01\n02,0.1,x,0.5\n")
    assert isinstance(wrong, Problems)
    assert [(problem.code, problem.row, problem.column, problem.value) for problem in wrong] == [
        ("darc2019.no_share", 2, "utility", ""),
        ("darc2019.no_share", 2, "02", "1.01"),
        ("darc2019.no_share", 2, "S1", "-0.01"),
        ("darc2019.no_share", 3, "02", "x"),
    ]


def test_a_line_of_another_width_without_a_name_or_named_twice_is_told_and_the_others_are_read() -> (
    None
):
    wrong = results("table,utility,02\n01,0.1\n02,0.1,0.5,0.5\n,0.1,0.5\n03,0.1,\n03,0.1,\n04,7,\n")
    assert isinstance(wrong, Problems)
    assert [(problem.code, problem.row, problem.value) for problem in wrong] == [
        ("darc2019.bad_results_row", 2, "01"),
        ("darc2019.bad_results_row", 3, "02"),
        ("darc2019.bad_results_row", 4, ""),
        ("darc2019.bad_results_row", 6, "03"),
        ("darc2019.no_share", 7, "7"),
    ]


def test_a_header_alone_is_no_table_of_results_and_an_attacker_is_named_once() -> None:
    for text in ("table,utility,02\n", "table,utility\n", "utility,table\n1,2\n"):
        found = results(text)
        assert isinstance(found, Problems)
        assert found[0].code == "darc2019.no_results_table"
    twice = results("table,utility,02,2\n01,0.1,,\n")
    assert isinstance(twice, Problems)
    assert [(problem.code, problem.row) for problem in twice] == [("darc2019.attacker_twice", 1)]


def test_baselines_are_s_and_a_number() -> None:
    read = results("table,utility,S,S7,S10,T1,S1a,02\n01,0.1,0,0,0,0,0,0\n")
    assert isinstance(read, Read)
    assert read.value.unranked == {"S7", "S10"}


def test_tries_are_told_where_there_are_several_and_the_best_one_is_the_credit() -> None:
    read = results("table,utility,S1,02-1,02-2,03-1\n01,0.1,0,0.25,0.75,0.5\n02,0.1,0,,0.5,0.25\n")
    assert isinstance(read, Read)
    assert {name: credit.hits for name, credit in read.value.credits["01"].items()} == {
        "S1": 0,
        "02": 0.75,
        "03": 0.5,
    }
    assert [credit.hits for credit in read.value.tries["01"]["02"]] == [0.25, 0.75]
    assert set(read.value.tries["01"]) == {"02"}
    assert read.value.tries["02"] == {}


# -- matrices ------------------------------------------------------------------------------------------------------------

BLANK = ",DEL" * 12
ROWS = [f"alice,p1{BLANK}", f"bob,p2{BLANK}"]


def guess(
    lines: list[str], mode: str = "rules", pseudonyms: tuple[str, ...] = ("p1", "p2", "p3")
) -> Read[object] | Problems:
    form = GuessForm(("alice", "bob"), pseudonyms, CONTEST, mode)
    return attempt(read_guess, Source("g.csv", "\n".join(lines).encode()), form)  # type: ignore[return-value]


def test_a_row_is_counted_from_the_header_where_there_is_one() -> None:
    header = "id_user," + ",".join(CONTEST.names)
    for start in ([], [header]):
        found = guess([*start, *ROWS, ROWS[1]])
        assert isinstance(found, Problems)
        found = guess([*start, ROWS[1], ROWS[1]])
        assert isinstance(found, Problems)
        twice, missing = found
        assert (twice.code, twice.row, twice.record, twice.params["first"]) == (
            "darc2019.customer_twice",
            2 + len(start),
            1,
            1 + len(start),
        )
        assert (missing.code, missing.row, missing.value) == (
            "darc2019.customer_missing",
            2 + len(start),
            "alice",
        )


def test_a_month_out_of_order_is_told_by_its_column_in_the_file() -> None:
    names = list(CONTEST.names)
    names[3], names[4] = names[4], names[3]
    found = guess(["id_user," + ",".join(names), *ROWS])
    assert isinstance(found, Problems)
    assert [
        (
            problem.row,
            problem.column,
            problem.value,
            problem.params["number"],
            problem.params["month"],
        )
        for problem in found
    ] == [
        (1, "2011/03", "2011/04", 5, "2011/03"),
        (1, "2011/04", "2011/03", 6, "2011/04"),
    ]


def test_a_row_of_a_customer_is_no_header_though_its_pseudonyms_look_like_months() -> None:
    """Pseudonyms may be any text, also the numbers 0 to 12."""
    numbers = tuple(str(number) for number in range(13))
    lines = [f"alice,{','.join(numbers)}", f"bob,{','.join(numbers)}"]
    read = guess(lines, pseudonyms=numbers)
    assert isinstance(read, Read), read
    assert (read.value.cells[:, :, 0] >= 0).all()  # type: ignore[attr-defined]
    assert isinstance(guess([f"nobody,{','.join(numbers)}", *lines], pseudonyms=numbers), Read), (
        "nobody is no customer"
    )


def test_a_customer_called_id_user_is_no_header() -> None:
    form = GuessForm(("alice", "id_user"), ("p1",), CONTEST, "rules")
    read = attempt(
        read_guess,
        Source("g.csv", "\n".join([f"id_user,p1{BLANK}", f"alice,p1{BLANK}"]).encode()),
        form,
    )
    assert isinstance(read, Read), read
    assert read.value.customers == ("alice", "id_user")


@pytest.mark.parametrize(
    ("pseudonyms", "longest"),
    [(("p",), 3), (("pseudo",), 6), (("pseudo", "nym"), 10), (("aaaa", "bbb", "cc", "d"), 11)],
)
def test_a_cell_is_as_long_as_the_three_longest_pseudonyms_joined_but_del_always_fits(
    pseudonyms: tuple[str, ...], longest: int
) -> None:
    assert isinstance(
        guess([f"alice,{'z' * longest}{BLANK}", f"bob,DEL{BLANK}"], pseudonyms=pseudonyms), Read
    )
    found = guess([f"alice,DEL{BLANK}", f"bob,{'z' * (longest + 1)}{BLANK}"], pseudonyms=pseudonyms)
    assert isinstance(found, Problems)
    assert [
        (problem.code, problem.row, problem.params["length"], problem.params["longest"])
        for problem in found
    ] == [("darc2019.long_cell", 2, longest + 1, longest)]


def test_too_many_and_empty_guesses_of_a_cell_are_told_with_their_number() -> None:
    found = guess([f"alice,p1:p2:p3:p1{BLANK}", f"bob,p1::p2{BLANK}"], "aicrowd")
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row, problem.params["count"]) for problem in found] == [
        ("darc2019.many_guesses", 1, 4),
        ("darc2019.empty_guess", 2, 3),
    ]


def test_blanks_are_kept_where_a_pseudonym_of_s_has_them_and_else_counted_in_a_notice() -> None:
    read = guess([f"alice, p1: p2{BLANK}", f"bob, p1{BLANK}"], "aicrowd", (" p1", "p2", "p3"))
    assert isinstance(read, Read)
    assert read.value.pseudonyms == (" p1", "p2")  # type: ignore[attr-defined]
    assert [(notice.code, notice.row, notice.params["count"]) for notice in read.notices] == [
        ("darc2019.blanks", 1, 1)
    ]


def test_unknown_pseudonyms_are_counted_by_cells() -> None:
    read = guess([f"alice,a:b{BLANK}", f"bob,p1:c{BLANK}"], "aicrowd")
    assert isinstance(read, Read)
    assert [(notice.code, notice.row, notice.params["count"]) for notice in read.notices] == [
        ("darc2019.unknown_pseudonyms", 1, 2)
    ]


def test_f_says_which_months_it_has_up_to_120() -> None:
    for months, known in ((1, True), (120, True), (121, False)):
        names = [f"{2000 + month // 12}/{month % 12 + 1:02d}" for month in range(months)]
        found = attempt(
            read_answer, Source("F.csv", f"id_user,{','.join(names)}\nx{',p' * months}\n".encode())
        )
        assert isinstance(found, Read) == known, months
    by_number = attempt(
        read_answer,
        Source("F.csv", f"id_user,{','.join(map(str, range(13)))}\nx{',p' * 13}\n".encode()),
    )
    assert isinstance(by_number, Read), "without names they are the contest's thirteen"
    assert by_number.value.calendar == CONTEST


def test_f_holds_each_customer_once() -> None:
    header = "id_user,2010/12,2011/01\n"
    read = attempt(read_answer, Source("F.csv", f"{header}y,b,DEL\nx,a,c\n".encode()))
    assert isinstance(read, Read)
    assert (read.value.customers, read.value.pseudonyms) == (("x", "y"), ("a", "b", "c"))
    assert read.value.cells.tolist() == [[0, 2], [1, -1]]
    assert read.value.calendar == Calendar(CONTEST.first_day, 2)
    assert isinstance(
        attempt(read_answer, Source("F.csv", f"{header}x,a,c\nx,a,c\n".encode())), Problems
    )


def test_a_release_goes_by_the_number_of_its_team_or_01() -> None:
    book = Darc2019()
    for team, name in (("07", "A_07.csv"), ("", "A_01.csv")):
        found = attempt(book.read_release, Handout(team, table(T)), [])
        assert isinstance(found, Problems)
        assert (found[0].code, found[0].file) == ("release.one_file", name)
    two = attempt(
        book.read_release,
        Handout("07", table(T)),
        [Source("first.csv", b""), Source("second.csv", b"")],
    )
    assert isinstance(two, Problems)
    named = ["first.csv", "second.csv"]
    assert (two[0].file, two[0].params["files"]) == ("second.csv", named)
    assert two[0].params["example"] == "A_07.csv"


def test_what_holds_tables_and_matrices_is_told_apart_as_a_thing() -> None:
    """Arrays have no single answer to whether they are equal; as things they can be keys of what was worked out for them."""
    for one, other in (
        (Handout("01", table(T)), Handout("01", table(T))),
        (answer([0, 1]), answer([0, 1])),
        (Original(table(T), "x", "own"), Original(table(T), "x", "own")),
    ):
        assert {one: 1, other: 2}[one] == 1


def test_a_file_that_was_cut_off_gets_one_problem_for_all_missing_customers() -> None:
    customers = tuple(f"c{number}" for number in range(9))
    form = GuessForm(customers, ("p1",), CONTEST, "rules")
    rows = "\n".join(f"{name},p1{BLANK}" for name in customers[:4])
    found = attempt(read_guess, Source("g.csv", rows.encode()), form)
    assert isinstance(found, Problems)
    (problem,) = found
    assert (problem.code, problem.row) == ("darc2019.customers_missing", 4)
    assert str(problem).startswith(
        "g.csv:4: id_user: 5 of 9 customers have no row: c4, c5, c6, c7, c8 (the file has 4)"
    )
