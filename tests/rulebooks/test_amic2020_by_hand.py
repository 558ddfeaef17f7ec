"""amic2020: limits, thresholds and claims at their edges, small enough to be checked by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.contest import ANONYMIZE, ATTACK, Credit, RoundResults
from kakurenbo.contest.bases import blind_membership, read_rows
from kakurenbo.contest.engine import prepare
from kakurenbo.core import Problems, Severity, Source, Table
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.data.adult import SCHEMA, read_census
from kakurenbo.methods.threats import MembershipGuess
from kakurenbo.rulebooks.amic2020 import Amic2020, Answer, Handout, Questionnaire, Submission
from kakurenbo.rulebooks.amic2020.claims import exaggerated, exaggerated_presence
from kakurenbo.rulebooks.amic2020.data import PersonalData
from kakurenbo.rulebooks.amic2020.files import (
    ROW_TWICE,
    SCALES,
    population_of,
    read_answer,
    team_in,
)
from kakurenbo.rulebooks.amic2020.questionnaire import read_questionnaire
from kakurenbo.rulebooks.amic2020.scores import points
from kakurenbo.rulebooks.amic2020.utility import INCOME_DEPTH, RELATIONSHIP, measure

ADA = (
    39,
    "Private",
    "Bachelors",
    "Never-married",
    "Adm-clerical",
    "Not-in-family",
    "Male",
    40,
    "<=50K",
)
BOB = (50, "State-gov", "HS-grad", "Divorced", "Sales", "Unmarried", "Female", 20, ">50K")
FILE = "questionnaire_01.json"


def table(*rows: tuple[object, ...]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def form(content: object) -> Questionnaire:
    found = attempt(read_questionnaire, Source(FILE, json.dumps(content).encode()), Amic2020)
    assert isinstance(found, Read), found
    return found.value


# -- what the contest declares -------------------------------------------------------------------------------------------


def test_the_judge_is_told_which_files_an_entry_has_and_how_large_they_may_be() -> None:
    anonymize, attack = Amic2020.phases
    assert (anonymize.name, anonymize.cost, attack.name, attack.cost) == (
        ANONYMIZE,
        2.0,
        ATTACK,
        0.1,
    )
    release, questionnaire = anonymize.files
    assert (release.optional, release.max_bytes) == (False, 100_000_000)
    assert (questionnaire.optional, questionnaire.max_bytes) == (True, 20_000)
    (guess,) = attack.files
    assert (guess.optional, guess.max_bytes) == (False, 1_000_000)


def test_a_sample_has_at_least_one_row() -> None:
    """Of 10,000 rows a share of 0.0001 is one, and of 0.00001 none."""
    prepared = prepare(Amic2020(scale="small", data="embedded", rate=0.0001), 7, ("01",))
    assert prepared.folders["teams/01"]["pre_samplingdata_01.csv"].count(b"\n") == 1


def test_similarities_are_at_most_1_but_a_reciprocal_has_no_most_and_100_rows_are_guessed() -> None:
    most = {name: figure.of for name, figure in Amic2020.figures.items()}
    trees = ("dta_relationship", "dta_income", "dta_income_le50k", "dta_income_gt50k")
    rankings = {"anonymization": 1, "attack": 1, "overall": 1 / (1 + 1)}
    similarities = {"histogram": 1, **dict.fromkeys(trees, 1)}
    assert {name: of for name, of in most.items() if of is not None} == {
        **similarities,
        "hits": 100,
        **rankings,
    }
    assert most["vcm"] is None


def test_a_small_contest_has_a_tenth_of_the_rows() -> None:
    """Text, 3: B has 100,000 rows and test.csv 15,060."""
    assert (SCALES["full"].population, SCALES["full"].test) == (100_000, 15_060)
    assert (SCALES["small"].population, SCALES["small"].test) == (10_000, 1_506)


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("rate", (0, 1), (-0.01, 1.01)),
        ("min_rows", (1,), (0,)),
        ("max_rows", (1,), (0,)),
        ("edition", (1, 2), (0, 3)),
        ("histogram", (0, 1), (-0.01, 1.01)),
        ("vcm", (0, 50), (-0.01,)),
        ("dta_relationship", (0, 1), (-0.01, 1.01)),
        ("dta_income", (0, 1), (-0.01, 1.01)),
        ("max_histogram_error", (0, 3), (-0.01,)),
        ("max_correlation_difference", (0, 2), (-0.01, 2.01)),
    ],
)
def test_a_setting_has_limits(
    name: str, allowed: tuple[float, ...], refused: tuple[float, ...]
) -> None:
    for value in allowed:
        assert getattr(Amic2020(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(ParameterError, match=name):
            Amic2020(**{name: value})


@pytest.mark.parametrize(
    ("sample", "limits"),
    [(10_000, (1_000, 100_000)), (1_000, (100, 10_000)), (19, (1, 190)), (5, (1, 50))],
)
def test_a_release_has_a_tenth_to_ten_times_the_rows_of_the_sample(
    sample: int, limits: tuple[int, int]
) -> None:
    assert Amic2020().row_limits(sample) == limits


def test_equal_row_limits_hold_one_number_of_rows() -> None:
    assert Amic2020(min_rows=7, max_rows=7).row_limits(10_000) == (7, 7)


def test_the_tree_of_relationships_asks_three_questions_and_that_of_income_five() -> None:
    """Text, 4.1: max_depth is 3 for the relationship Husband, 5 for the income."""
    assert (RELATIONSHIP.target, RELATIONSHIP.positive, RELATIONSHIP.max_depth, INCOME_DEPTH) == (
        "relationship",
        "Husband",
        3,
        5,
    )


def test_only_figures_with_a_threshold_decide_and_those_called_largest_must_not_be_exceeded() -> (
    None
):
    rows = table(*[ADA, BOB] * 3)
    figures = measure(
        rows,
        rows,
        rows,
        thresholds={"histogram": 0.5, "vcm": None, "max_histogram_error": 0.0},
        edition=1,
        positive="<=50K",
    )
    assert {name: threshold.minimum for name, threshold in figures.thresholds.items()} == {
        "histogram": True,
        "max_histogram_error": False,
    }
    assert figures.passes


# -- the questionnaire ---------------------------------------------------------------------------------------------------


def test_a_questionnaire_has_at_most_20000_bytes() -> None:
    for extra, refused in ((0, False), (1, True)):
        data = b"{}" + b" " * (20_000 - 2 + extra)
        assert (
            isinstance(attempt(read_questionnaire, Source(FILE, data), Amic2020), Problems)
            == refused
        )


@pytest.mark.parametrize(
    ("content", "fits"),
    [
        ({"claims": {"epsilon": 0, "delta": 0, "k": 1, "Pk": 1, "delta_presence": 0}}, True),
        ({"claims": {"delta": 1, "delta_presence": 1}}, True),
        ({"claims": {"epsilon": -0.001}}, False),
        ({"claims": {"delta": 1.001}}, False),
        ({"claims": {"delta": -0.001}}, False),
        ({"claims": {"k": 0}}, False),
        ({"claims": {"Pk": 0.999}}, False),
        ({"methods": {"Noise Addition": {"attributes": [1, 9], "records": 0}}}, True),
        ({"methods": {"Noise Addition": {"attributes": [0]}}}, False),
        ({"methods": {"Noise Addition": {"attributes": [10]}}}, False),
        ({"methods": {"Noise Addition": {"attributes": [1] * 9}}}, True),
        ({"methods": {"Noise Addition": {"attributes": [1] * 10}}}, False),
        ({"methods": {"Top (Bottom) Coding": {"attributes": [1, 8]}}}, True),
        ({"methods": {"Top (Bottom) Coding": {"attributes": [2]}}}, False),
        ({"methods": {"Microaggregation": {"attributes": [7]}}}, False),
        ({"methods": {"Others": {"name": "x" * 500}}}, True),
        ({"methods": {"Others": {"name": "x" * 501}}}, False),
    ],
)
def test_every_line_of_the_form_has_its_limits(content: object, fits: bool) -> None:
    found = attempt(read_questionnaire, Source(FILE, json.dumps(content).encode()), Amic2020)
    assert isinstance(found, Read) == fits, found


def test_a_method_that_looks_at_data_tells_nothing_where_all_rows_of_the_sample_are_equal() -> None:
    """With one value in a column there is nothing to tell apart: epsilon is 0 in the sample, 9 ln 3 in the release."""
    claimed = form({"declared": "rrp:p=0.5", "claims": {"epsilon": 0.5}})
    assert exaggerated(claimed, table(ADA, ADA), table(ADA, BOB), FILE) == ()
    assert len(exaggerated(claimed, table(ADA, BOB), table(ADA, BOB), FILE)) == 1


def test_a_claim_may_be_rounded_by_one_percent() -> None:
    """ADA is in the release and twice in the population: presence 1/2; BOB is not in it."""
    population, release = table(ADA, ADA, BOB), table(ADA)
    for claimed, told in ((0.5, 0), (0.496, 0), (0.494, 1)):
        assert (
            len(
                exaggerated_presence(
                    form({"claims": {"delta_presence": claimed}}), release, population, FILE
                )
            )
            == told
        )
    (notice,) = exaggerated_presence(
        form({"claims": {"delta_presence": 0.25}}), release, population, FILE
    )
    assert (notice.params["claimed"], notice.params["computed"], notice.severity) == (
        "0.25",
        "0.5",
        Severity.NOTICE,
    )


# -- files ---------------------------------------------------------------------------------------------------------------


def test_row_numbers_are_those_of_b_and_a_repeated_one_is_told_with_both_lines() -> None:
    found = attempt(read_rows, Source("g.index", b"4\n0\n4\n0\n"), 5, 4, ROW_TWICE)
    assert isinstance(found, Problems)
    assert [
        (problem.row, problem.record, problem.value, problem.params["line"]) for problem in found
    ] == [
        (3, 2, "4", 1),
        (4, 3, "0", 2),
    ]
    for text, fits in (
        (b"4\n0\n", True),
        (b"5\n0\n", False),
        (b"-1\n0\n", False),
        (b"1\n", False),
        (b"1\n2\n3\n", False),
    ):
        assert isinstance(attempt(read_rows, Source("g.index", text), 5, 2), Read) == fits, text


@pytest.mark.parametrize("data", [b"5\n3\n9\n", b"5\n3\n9"])
def test_an_answer_without_a_last_line_end_has_as_many_rows(data: bytes) -> None:
    found = attempt(read_answer, Source("a.index", data), 0.3)
    assert isinstance(found, Read), found
    assert (found.value.rows.tolist(), found.value.population) == ([5, 3, 9], 10)


def test_b_has_at_least_the_rows_that_were_drawn_from_it() -> None:
    assert population_of(7, 1) == 7
    assert population_of(3, 0.9) == 3, "10 / 3 rows are rounded, but never below the sample"


@pytest.mark.parametrize(
    ("name", "team"),
    [
        ("main_samplingdata_07.csv", "07"),
        ("pre_answer_12.index.gz", "12"),
        ("trial_samplingdata.csv", ""),
        ("x_123.csv", ""),
    ],
)
def test_a_file_name_tells_the_team_by_two_digits(name: str, team: str) -> None:
    assert team_in(name) == team


def test_test_rows_are_read_as_nine_columns_or_as_the_census_file_of_fifteen() -> None:
    nine = ",".join(map(str, ADA)).encode() + b"\n"
    names = "Private, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 0, 0, 40, United-States"
    train, test = (f"39, {names}, <=50K{end}\n".encode() for end in ("", "."))
    for data in (nine, train, b"|1x3 Cross validator\n" + test):
        found = attempt(read_census, Source("test.csv", data))
        assert isinstance(found, Read), (data, found)
        assert found.value.rows() == [ADA]
    assert isinstance(attempt(read_census, Source("test.csv", b"")), Problems)


def test_a_handout_goes_by_the_number_in_its_name_where_no_contest_says_whose_it_is(
    tmp_path: Path,
) -> None:
    row = ",".join(map(str, ADA)) + "\n"
    for name, team in (("main_samplingdata_07.csv", "07"), ("sample.csv", "01")):
        (tmp_path / name).write_text(row * 2)
        found = attempt(Amic2020().read_handout, tmp_path / name)
        assert isinstance(found, Read), found
        assert (found.value.team, len(found.value.table), found.value.test) == (team, 2, None)
    (tmp_path / "rows.csv").write_text(row)
    named = attempt(Amic2020(test=str(tmp_path / "rows.csv")).read_handout, tmp_path / "sample.csv")
    assert isinstance(named, Read)
    assert named.value.test == table(ADA)


def test_an_attacker_knows_at_least_as_many_rows_of_b_as_there_are_guesses() -> None:
    def knowledge(rows: int) -> object:
        row = (",".join(map(str, ADA)) + "\n").encode()
        return attempt(
            Amic2020().read_knowledge, [Source("B.csv", row * rows), Source("D.csv", row)]
        )

    assert isinstance(knowledge(100), Read)
    with pytest.raises(UsageError, match="at least 100 rows"):
        knowledge(99)


def test_b_comes_first_unless_both_names_tell_otherwise() -> None:
    row = (",".join(map(str, ADA)) + "\n").encode()
    for first, second, swapped in (
        ("pre_anonymizeddata_01.csv", "D.csv", False),
        ("B.csv", "pre_syntheticdata.csv", False),
        ("pre_anonymizeddata_01.csv", "pre_syntheticdata.csv", True),
    ):
        rows = (1, 100) if swapped else (100, 1)
        read = attempt(
            Amic2020().read_knowledge, [Source(first, row * rows[0]), Source(second, row * rows[1])]
        )
        assert isinstance(read, Read)
        assert (len(read.value.population), len(read.value.release)) == (100, 1)


def test_attackers_are_given_at_most_one_questionnaire() -> None:
    row = (",".join(map(str, ADA)) + "\n").encode()
    sources = [
        Source("B.csv", row * 100),
        Source("D.csv", row),
        Source("a.json", b"{}"),
        Source("b.json", b"{}"),
    ]
    assert isinstance(attempt(Amic2020().read_knowledge, sources[:3]), Read)
    with pytest.raises(UsageError, match="two files"):
        Amic2020().read_knowledge(sources)


# -- scores --------------------------------------------------------------------------------------------------------------


def test_blind_guessing_is_hypergeometric() -> None:
    """2 of 4 rows are members and 1 is guessed: half a hit on average, 0 or 1."""
    chance = blind_membership(4, 2, 1)
    assert (chance.mean, chance.low, chance.high) == (0.5, 0.0, 1.0)
    credit = Amic2020().score_guess(
        Answer(np.arange(10_000), 100_000), MembershipGuess(np.arange(9_990, 10_090))
    )
    assert credit.chance is not None
    assert (credit.hits, credit.of, credit.chance.mean) == (10, 100, pytest.approx(10))


@pytest.mark.parametrize(
    ("score", "cut", "rounded"),
    [(Fraction(1, 2000), "0", "1"), (Fraction(1, 2001), "0", "0"), (Fraction(1), "1000", "1000")],
)
def test_points_are_thousandths_cut_or_rounded_half_up(
    score: Fraction, cut: str, rounded: str
) -> None:
    assert (points(score), points(score, "round")) == (cut, rounded)


def test_a_matrix_may_have_one_row_and_one_column() -> None:
    read = attempt(Amic2020().read_published, Source("matrix.csv", b",01\n02,100\n"))
    assert isinstance(read, Read)
    assert read.value.credits == {"01": {"02": Credit(100, 100)}}


def test_a_row_of_a_matrix_may_be_short_and_then_lacks_guesses() -> None:
    read = attempt(Amic2020().read_published, Source("matrix.csv", b",01,02\n03,5\n04,6,7\n"))
    assert isinstance(read, Read)
    assert read.value.credits == {
        "01": {"03": Credit(5, 100), "04": Credit(6, 100)},
        "02": {"04": Credit(7, 100)},
    }


def test_what_is_wrong_with_a_matrix_is_told_with_row_and_column() -> None:
    read = attempt(
        Amic2020().read_published, Source("matrix.csv", b",01,02\n03,5,x\n04,101,7\n05,1,2,3\n")
    )
    assert isinstance(read, Problems)
    assert [(problem.code, problem.row, problem.column, problem.value) for problem in read] == [
        ("amic2020.matrix_cell", 2, "02", "x"),
        ("amic2020.matrix_cell", 3, "01", "101"),
        ("amic2020.matrix_width", 4, None, None),
    ]
    twice = attempt(Amic2020().read_published, Source("matrix.csv", b",01,02\n03,5,1\n03,1,7\n"))
    assert isinstance(twice, Problems)
    assert [(problem.row, problem.value, problem.params["times"]) for problem in twice] == [
        (2, "03", 2)
    ]


def test_an_attacker_is_scored_on_three_releases_and_on_fewer_where_there_are_no_more() -> None:
    def attack(teams: int) -> Fraction:
        targets = tuple(f"0{number}" for number in range(1, teams + 1))
        credits = {team: {"09": Credit(10 * int(team), 100)} for team in targets}
        lines = Amic2020().standings({"pre": RoundResults(credits, targets, ("09",))}).attack
        return next(line.score for line in lines if line.team == "09") or Fraction(0)

    # 01 to 05 score .9 to .5: the first three are 01, 02, 03
    assert [attack(teams) for teams in (1, 2, 3, 5)] == [
        Fraction(1, 10),
        Fraction(15, 100),
        Fraction(2, 10),
        Fraction(2, 10),
    ]


def test_a_notice_tells_that_the_trees_were_tested_on_other_rows() -> None:
    sample = table(*[ADA, BOB] * 4)
    utility = Amic2020(data="embedded").measure(
        Handout("01", sample, None), Submission(sample, Questionnaire())
    )
    assert [(notice.code, notice.severity) for notice in utility.notices] == [
        ("amic2020.no_test_rows", Severity.NOTICE)
    ]
    told = Amic2020().measure(Handout("01", sample, sample), Submission(sample, Questionnaire()))
    assert told.notices == ()


def test_what_holds_tables_and_arrays_is_told_apart_as_a_thing() -> None:
    """Arrays have no single answer to whether they are equal; as things they can be keys of what was worked out for them."""
    rows = table(ADA)
    for one, other in (
        (Handout("01", rows, None), Handout("01", rows, None)),
        (Submission(rows, Questionnaire()), Submission(rows, Questionnaire())),
        (Answer(np.arange(3), 9), Answer(np.arange(3), 9)),
        (PersonalData(rows, rows, "embedded"), PersonalData(rows, rows, "embedded")),
    ):
        assert {one: 1, other: 2}[one] == 1


# -- tables of results, and what is handed in ----------------------------------------------------------------------------


def test_a_row_with_more_cells_than_targets_is_told_with_its_number_of_cells() -> None:
    refused = attempt(Amic2020().read_published, Source("r.csv", b",01,02\n03,1,2,3\n"))
    assert isinstance(refused, Problems)
    (problem,) = refused
    assert (problem.code, problem.row) == ("amic2020.matrix_width", 2)
    assert (problem.params["cells"], problem.params["targets"]) == (3, 2)


def test_a_target_that_stands_twice_is_told_in_the_line_of_the_names() -> None:
    refused = attempt(Amic2020().read_published, Source("r.csv", b"\n,01,01\n03,1,2\n".lstrip()))
    assert isinstance(refused, Problems)
    assert {(problem.code, problem.row, problem.value) for problem in refused} == {
        ("amic2020.matrix_name", 1, "01")
    }


def test_of_two_questionnaires_the_second_is_named() -> None:
    sources = [Source("questionnaire_01.json", b"{}"), Source("questionnaire_02.json", b"{}")]
    refused = attempt(Amic2020().check_attachments, sources)
    assert isinstance(refused, Problems)
    assert [(problem.code, problem.file) for problem in refused] == [
        ("amic2020.one_questionnaire", "questionnaire_02.json")
    ]


def test_a_release_may_be_asked_to_have_exactly_one_number_of_rows() -> None:
    rules = Amic2020(scale="small", data="embedded", min_rows=1000, max_rows=1000)
    assert prepare(rules, 7, ("01",)).facts.settings["max_rows"] == 1000


def test_a_release_that_no_ranked_team_attacked_scores_1() -> None:
    results = RoundResults({"01": {}}, ("01",), ("01",))
    assert [line.score for line in Amic2020().standings({"pre": results}).anonymization] == [
        Fraction(1)
    ]
