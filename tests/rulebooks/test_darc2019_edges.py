"""darc2019: what the other files leave open of figures and credits, each small enough to be checked by hand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from tests.darc2019 import disabled_e2
from tests.reading import attempt

from kakurenbo.attacks.reidentification import ReidentificationGuess
from kakurenbo.contest import Anonymizer, Credit, Release, RoundResults
from kakurenbo.core import Problems, Source, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import CONTEST, SCHEMA, Calendar
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019 import data as organizer
from kakurenbo.rulebooks.darc2019.matrices import Answer, GuessForm, read_guess
from kakurenbo.rulebooks.darc2019.scores import blind_guessing, count_credit, reid, standings


def test_every_figure_has_the_sentence_of_its_name_and_what_is_ranked_shares_one() -> None:
    for name, figure in Darc2019().figures.items():
        assert (
            figure.code
            == f"darc2019.figure.{'anonymization' if name in ('overall', 'score') else name}"
        )
        assert len(set(figure.definitions.values())) == 2


def one_month(*names: str) -> Answer:
    """A customer for each name, all in one month."""
    customers = tuple(f"c{row}" for row in range(len(names)))
    codes = np.array([sorted(names).index(name) for name in names], dtype=np.int32)
    return Answer(
        customers, tuple(sorted(names)), codes.reshape(-1, 1), Calendar(CONTEST.first_day, 1)
    )


def told(
    answer: Answer, pseudonyms: tuple[str, ...], *guesses: tuple[int, int, int]
) -> ReidentificationGuess:
    cells = np.array(guesses, dtype=np.int32).reshape(len(guesses), 1, 3)
    return ReidentificationGuess(answer.customers, pseudonyms, cells, answer.calendar)


def test_one_cell_is_all_cells_and_no_cell_earns_nothing() -> None:
    one = one_month("p")
    assert count_credit(one, told(one, ("p",), (0, -1, -1)), "rules").details == {
        "reid": 1,
        "reid_of_all_cells": 1,
    }
    nobody = Answer((), (), np.zeros((0, 1), dtype=np.int32), one.calendar)
    guess = ReidentificationGuess((), (), np.zeros((0, 1, 3), dtype=np.int32), one.calendar)
    assert count_credit(nobody, guess, "rules").details == {"reid": 0, "reid_of_all_cells": 0}


def test_for_the_evaluator_a_guess_that_holds_the_pseudonym_is_enough_whatever_its_other_letters() -> (
    None
):
    """F has p, which is in "xp" and not in "xy"; by the rules it must be p itself."""
    one = one_month("p")
    for name, evaluator, rules in (("p", 1, 1), ("xp", 1, 0), ("xy", 0, 0)):
        guess = told(one, (name,), (0, -1, -1))
        assert (reid(one, guess, "aicrowd"), reid(one, guess, "rules")) == (evaluator, rules)


def test_for_the_evaluator_a_later_guess_of_the_same_is_worth_less_and_by_the_rules_there_is_one() -> (
    None
):
    one = one_month("p")
    for cells, thirds in (
        ((0, -1, -1), 3),
        ((-1, 0, -1), 2),
        ((-1, -1, 0), 1),
        ((0, 0, 0), 1),
        ((0, 0, -1), 2),
    ):
        assert count_credit(one, told(one, ("p",), cells), "aicrowd").hits == pytest.approx(
            thirds / 3
        )
        assert count_credit(one, told(one, ("p",), cells), "rules").hits == (cells[0] == 0)


def test_the_band_of_blind_guessing_is_in_whole_cells_rounded_outward() -> None:
    """Twelve cells, two pseudonyms: 6 on average with variance 12 / 4, so 6 -+ 1.96 sqrt(3) = 2.605 to 9.395."""
    cells = np.array([0, 1] * 6, dtype=np.int32).reshape(-1, 1)
    answer = Answer(
        tuple(f"c{row:02d}" for row in range(12)), ("p", "q"), cells, Calendar(CONTEST.first_day, 1)
    )
    chance = blind_guessing(answer, "rules")
    assert (chance.mean, chance.low, chance.high) == (6, 2, 10)


# -- the organizer's table -----------------------------------------------------------------------------------------------

T = ["x,2010/12/01,08:00,A,1.0,1", "x,2010/12/02,08:00,B,2.0,3", "y,2011/01/03,08:00,A,1.0,1"]


def shop(lines: list[str]) -> Table:
    return Table.from_rows(SCHEMA, [line.split(",") for line in lines])


@pytest.mark.parametrize(
    ("data", "there", "source"),
    [
        ("auto", True, "imported"),
        ("imported", True, "imported"),
        ("auto", False, "embedded"),
        ("embedded", True, "embedded"),
    ],
)
def test_an_imported_shop_is_taken_unless_it_is_not_there_or_not_wanted(
    monkeypatch: pytest.MonkeyPatch, data: str, there: bool, source: str
) -> None:
    monkeypatch.setattr(organizer, "load_part", lambda *_: shop(T) if there else None)
    monkeypatch.setattr(
        "kakurenbo.data.shop.simulate_shop",
        lambda _, customers: shop(T[: 2 if customers == 400 else 1]),
    )
    for scale, simulated in (("small", 2), ("full", 1)):
        drawn = Darc2019(data=data, scale=scale).draw(1, ["01", "02"])
        assert drawn.settings == {"data": source}
        assert drawn.report["rows"] == (3 if source == "imported" else simulated)
        assert set(drawn.handouts) == {"01", "02"}
        assert ("sha256" in drawn.data) == (source == "imported")
    if source == "imported":
        assert drawn.report == {"rows": 3, "customers": 2, "items": 2, "months": 2}
        assert (
            drawn.data["sha256"] == hashlib.sha256(drawn.attackers["ground_truth.csv"]).hexdigest()
        )


# -- a team anonymizes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Renaming(Anonymizer):
    """Puts these names in the place of the customers'."""

    names: tuple[str, ...] = ()

    def __call__(self, original: Table, rng: np.random.Generator) -> Release:
        lines = [line.split(",") for line in T]
        return Release(
            (
                shop(
                    [
                        ",".join([name, *cells[1:]])
                        for name, cells in zip(self.names, lines, strict=True)
                    ]
                ),
            )
        )


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("p", "p", "q"), True),
        (("y", "y", "x"), True),
        (("p", "x", "q"), False),
        (("x", "x", "y"), False),
    ],
)
def test_pseudonyms_are_drawn_where_a_method_leaves_anybody_under_their_own_name(
    names: tuple[str, ...], kept: bool
) -> None:
    made = Darc2019().anonymize(Handout("01", shop(T)), Renaming(names), np.random.default_rng(1))
    found = made.table.texts("id_user").to_list()
    assert (found == list(names)) == kept
    assert all(name != own for name, own in zip(found, ("x", "x", "y"), strict=True))


# -- credit of strange matrices ------------------------------------------------------------------------------------------


def test_a_guess_is_of_the_customers_and_of_the_months_of_f() -> None:
    one = one_month("p")
    for customers, calendar in (
        (("other",), one.calendar),
        (one.customers, Calendar(CONTEST.last_day.replace(day=1), 1)),
    ):
        guess = ReidentificationGuess(
            customers, ("p",), np.zeros((1, 1, 3), dtype=np.int32), calendar
        )
        with pytest.raises(ParameterError, match="customers and months"):
            count_credit(one, guess, "rules")


def test_where_f_names_nobody_every_guess_is_wrong_whatever_its_length() -> None:
    empty = Answer(("c0",), (), np.full((1, 1), -1, dtype=np.int32), Calendar(CONTEST.first_day, 1))
    for mode in ("rules", "aicrowd"):
        assert count_credit(empty, told(empty, ("p", "long"), (0, 1, -1)), mode).hits == 0


def test_a_name_that_f_lacks_is_not_taken_for_a_blank_cell() -> None:
    """c0 is p, c1 has no pseudonym: q is wrong at both, though F holds it nowhere."""
    cells = np.array([[0], [-1]], dtype=np.int32)
    two = Answer(("c0", "c1"), ("p",), cells, Calendar(CONTEST.first_day, 1))
    credit = count_credit(two, told(two, ("q",), (0, -1, -1), (0, -1, -1)), "rules")
    assert (credit.hits, credit.of, credit.details["reid_of_all_cells"]) == (0, 1, 0)


def test_a_line_that_begins_with_id_user_is_a_header_whatever_it_calls_the_months() -> None:
    """Thirteen names that are no months are told one by one; the line is not taken for a customer's."""
    form = GuessForm(("alice",), ("p",), CONTEST, "rules")
    lines = ["id_user," + ",".join(f"m{month}" for month in range(13)), "alice" + ",p" * 13]
    found = attempt(read_guess, Source("g.csv", "\n".join(lines).encode()), form)
    assert isinstance(found, Problems)
    assert {(problem.code, problem.row) for problem in found} == {("darc2019.month_order", 1)}
    assert [problem.value for problem in found] == [f"m{month}" for month in range(13)]


# -- results -------------------------------------------------------------------------------------------------------------


def test_a_table_that_nobody_attacked_scores_half_its_utility_and_attackers_without_an_attack_on_it_show_0() -> (
    None
):
    """Table 01: U = 0.4, no attack; table 02: U = 0.8 and half of its cells found by S1."""
    credits = {"01": {}, "02": {"S1": Credit(1, 2)}}
    given = RoundResults(
        credits, ("01", "02"), ("S1",), {"01": 0.4, "02": 0.8}, unranked=frozenset({"S1"})
    )
    found = standings({"main": given})
    assert [(line.team, line.rank, line.score) for line in found.anonymization] == [
        ("01", 1, Fraction(2, 10)),
        ("02", 2, Fraction(65, 100)),
    ]
    assert found.details["tables"] == {
        "01": {"U": 0.4, "reid": 0.0, "score": 0.2},
        "02": {"U": 0.8, "reid": 0.5, "score": 0.65},
    }
    assert [(line.team, line.rank, line.score) for line in found.attack] == [
        ("01", None, None),
        ("02", None, None),
        ("S1", None, 0),
    ]


def test_the_better_of_two_rates_on_tables_that_tie_is_taken_in_either_order() -> None:
    for first, second in ((1, 3), (3, 1)):
        credits = {"01": {"03": Credit(first, 8)}, "02": {"03": Credit(second, 8)}}
        utility = {"01": 0.5 + (3 - first) / 8, "02": 0.5 + (3 - second) / 8}
        found = standings({"main": RoundResults(credits, ("01", "02"), ("03",), utility)})
        assert [line.rank for line in found.anonymization] == [1, 1]
        assert [(line.team, line.score) for line in found.attack if line.score] == [
            ("03", Fraction(3, 8))
        ]


def test_the_evaluators_disabled_e2_would_have_been_of_plain_cosines() -> None:
    """Below the median of 1, 1, 1, 9, 9, 9 are A = B = 1 of x and A = 1 of y: AB is 1 / sqrt(2), which A(T) loses."""
    lines = [
        f"{user},2010/12/01,08:00,{item},1.0,{qty}"
        for user, item, qty in ("xA1", "xB1", "xC9", "yA1", "yC9", "yD9")
    ]
    apart = [line.replace("x", "q") if ",B," in line else line for line in lines]
    assert disabled_e2(shop(lines), shop(apart)) == pytest.approx(2 * 0.5**0.5 / (2 + 2 * 0.5**0.5))
