"""pwscup2021 by hand: checks, modes, test tables for each pair, credit, scores, awards."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.anonymizers.tables.swap import SwapNear
from kakurenbo.attacks.linkage import LinkageGuess
from kakurenbo.contest import Credit, PreparedRound, Release, RoundResults
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.rounds import publish_round, score_round
from kakurenbo.core import Problems, Source, Table, write_folder
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data import health as nhanes
from kakurenbo.rulebooks.pwscup2021 import Answer, GuessForm, Handout, Pwscup2021, Submission
from kakurenbo.rulebooks.pwscup2021.release import as_entry, least_rows
from kakurenbo.rulebooks.pwscup2021.scores import RoundScores, count_credit
from kakurenbo.rulebooks.pwscup2021.utility import unique_share

ROWS = 300
ROW = "Female,40.0,White,College,Married,25.0,0,1,0,0,Q2,0"


@cache
def handout() -> Handout:
    """People of whom no two are alike, each level among them."""
    rng = np.random.default_rng(5)
    codes = {column.name: rng.integers(0, column.size or 1, ROWS) for column in nhanes.SCHEMA}
    codes |= {nhanes.AGE: rng.integers(20, 81, ROWS), nhanes.BMI: 18 + np.arange(ROWS) / 10}
    return Handout("07", Table(nhanes.SCHEMA, codes))


def files(kept: int = 200, *, change: Mapping[int, str] | None = None) -> list[Source]:
    """D with the first rows of B, but for lines that are changed, and the X that goes with it."""
    lines = [",".join(map(str, row)) for row in handout().table.rows()[:kept]]
    for number, line in (change or {}).items():
        lines[number] = line
    deleted = "".join(f"{row}\n" for row in range(kept, ROWS))
    data = "".join(f"{line}\n" for line in lines).encode()
    return [Source("main_anony_07_d.csv", data), Source("main_anony_07_x.csv", deleted.encode())]


def checked(sources: list[Source], mode: str = "rules") -> Read[Submission] | Problems:
    return attempt(Pwscup2021(round="main", mode=mode).read_release, handout(), sources)


def codes_of(sources: list[Source], mode: str = "rules") -> list[str]:
    read = checked(sources, mode)
    return [problem.code for problem in read] if isinstance(read, Problems) else []


# -- checks ----------------------------------------------------------------------------------------------------------------


def test_an_entry_is_d_and_x_and_the_rows_of_d_are_those_of_b_that_x_does_not_list() -> None:
    read = checked(files())
    assert isinstance(read, Read)
    assert read.value.kept.tolist() == list(range(200))
    assert read.value.release.rows() == handout().table.rows()[:200]
    for wrong in ([], files()[:1], [*files(), files()[0]]):
        assert codes_of(wrong) == ["pwscup2021.two_files"]


@pytest.mark.parametrize(
    ("line", "rules", "scripts"),
    [
        (ROW.replace("0,1,0,0,Q2", "0.5,1,0,0,Q2"), ["pwscup2021.no_flag"], []),
        (ROW.replace("0,1,0,0,Q2", "0,1,3,0,Q2"), ["pwscup2021.not_zero"], []),
        (ROW.replace("College", "Missing"), ["cell.not_in_domain"], []),
        (ROW.replace("College", ""), ["cell.empty"], []),
        (ROW.replace("Married", "Partner"), ["cell.not_in_domain"], ["cell.not_in_domain"]),
        (ROW.replace("40.0", "85.1"), ["cell.not_in_domain"], ["cell.not_in_domain"]),
        (ROW.replace("25.0", "12.9"), ["cell.not_in_domain"], ["cell.not_in_domain"]),
        (ROW.replace("0,1,0,0,Q2", "2,1,0,0,Q2"), ["cell.not_in_domain"], ["cell.not_in_domain"]),
        (ROW.rpartition(",")[0], ["line.wrong_width"], ["line.wrong_width"]),
    ],
)
def test_the_script_lets_values_pass_that_the_rules_do_not(
    line: str, rules: list[str], scripts: list[str]
) -> None:
    assert codes_of(files(change={3: line})) == rules
    assert codes_of(files(change={3: line}), "scripts") == scripts


def test_a_value_between_0_and_1_and_an_empty_education_are_measured_by_the_script() -> None:
    change = {3: ROW.replace("0,1,0,0,Q2", "0.5,1,7,0,Q2"), 4: ROW.replace("College", "")}
    read = checked(files(change=change), "scripts")
    assert isinstance(read, Read)
    utility = Pwscup2021(round="main", mode="scripts").measure(handout(), read.value)
    assert utility.scores["iloss"].value >= 1
    assert utility.scores["uniqrt"].value == pytest.approx(200 / 4190)


def test_half_of_the_rows_are_enough_by_the_rules_and_not_by_the_script() -> None:
    assert (least_rows(ROWS, "rules"), least_rows(ROWS, "scripts")) == (150, 151)
    assert codes_of(files(150)) == []
    assert codes_of(files(150), "scripts") == ["pwscup2021.rows_left"]
    assert codes_of(files(149)) == ["pwscup2021.rows_left"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("".join(f"{row}\n" for row in [200, *range(200, 299)]), "pwscup2021.row_twice"),
        ("".join(f"{row}\n" for row in range(201, 301)), "cell.not_in_domain"),
        ("".join(f"{row}\n" for row in range(201, 300)), "pwscup2021.other_rows"),
        ("".join(f"{row},1\n" for row in range(200, 300)), "line.wrong_width"),
        ("".join(f"{row}.5\n" for row in range(200, 300)), "cell.not_in_domain"),
        ("", "text.empty"),
        ("200\n", "pwscup2021.other_rows"),
    ],
)
def test_x_lists_different_rows_of_b_as_many_as_d_lacks(data: str, code: str) -> None:
    wrong = [files()[0], Source("main_anony_07_x.csv", data.encode())]
    assert code in codes_of(wrong)


WRONG_ENTRIES = {
    "fewer than half left": (
        files(149),
        "main_anony_07_d.csv: 149 of the 300 rows of B are left in D; keep at least 150",
    ),
    "a number that is none": (
        files(change={3: ROW.replace("25.0", "nan")}),
        'main_anony_07_d.csv:4: bmi: "nan" is not a number from 13 to 75; give a number from 13 to 75',
    ),
    "a huge number": (
        files(change={3: ROW.replace("40.0", "1e308")}),
        'main_anony_07_d.csv:4: age: "1e308" is not a number from 13 to 85; give a number from 13 to 85',
    ),
    "half an illness": (
        files(change={3: ROW.replace("0,1,0,0,Q2", "0.5,1,0,0,Q2")}),
        "main_anony_07_d.csv:4: dep: 0.5 is neither 0 nor 1; write a value that B has",
    ),
    "a header of other names": (
        files(
            change={
                0: "Gender,Years,Race,Education,Marital,BMI,Low,Poor,HbA1c,METs,Activity,Diabetes"
            }
        ),
        "main_anony_07_d.csv:1: the first line is a header; files of this contest have none: remove it",
    ),
    "X with a row of another B": (
        [
            files()[0],
            Source(
                "main_anony_07_x.csv",
                "".join(f"{row}\n" for row in [*range(200, 299), 4000]).encode(),
            ),
        ],
        "main_anony_07_x.csv:100: row: 4000 is not an integer from 0 to 299; give an integer from 0 to 299",
    ),
    "X with a row twice": (
        [
            files()[0],
            Source(
                "main_anony_07_x.csv",
                "".join(f"{row}\n" for row in [*range(200, 299), 203]).encode(),
            ),
        ],
        "main_anony_07_x.csv:100: row: row number 203 is named twice (first in line 4); name each deleted row once",
    ),
    "X alone": (
        files()[1:],
        "main_anony_07_x.csv: an entry is two files; got main_anony_07_x.csv; give the table D as",
    ),
}


@pytest.mark.parametrize("case", WRONG_ENTRIES)
def test_a_wrong_entry_is_told_with_its_place_the_value_and_the_remedy_in_both_languages(
    case: str,
) -> None:
    sources, told = WRONG_ENTRIES[case]
    problems = checked(sources)
    assert isinstance(problems, Problems)
    assert problems[0].in_language("en").startswith(told)
    place = told[: told.index(": ")]
    assert problems[0].in_language("ja").startswith(place)
    assert problems[0].wording("ja") != problems[0].wording("en")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["a,b,c", *["1,2,3"] * 100],
            "guess.csv:1: the first line is a header; files of this contest have none: remove it",
        ),
        (["1,2,3"] * 99, "guess.csv: the number of records is 99; exactly 100 are allowed"),
        (
            ["1,2"] * 100,
            "guess.csv:1: the line has 2 columns instead of 3; give every column once, separated by commas",
        ),
        (
            ["1,2,3", "1,200,3"] * 50,
            "guess.csv:2: second: 200 is not an integer from -1 to 199; give an integer from",
        ),
        (
            ["1,2,3", "1,2,-2"] * 50,
            "guess.csv:2: third: -2 is not an integer from -1 to 199; give an integer from",
        ),
        (["5.0,2,3"] * 100, "guess.csv:1: first: 5.0 is not an integer from -1 to 199; write 5"),
    ],
)
def test_a_wrong_guess_is_told_with_its_place_the_value_and_the_remedy(
    lines: list[str], told: str
) -> None:
    source = Source("guess.csv", "".join(f"{line}\n" for line in lines).encode())
    problems = attempt(Pwscup2021(round="main").read_guess, GuessForm(100, 200), source)
    assert isinstance(problems, Problems)
    assert any(problem.in_language("en").startswith(told) for problem in problems)


def test_fewer_than_50_deleted_rows_make_no_test_table() -> None:
    assert codes_of(files(251)) == ["pwscup2021.rows_left"]
    made = as_entry(handout(), Release.of(handout().table), np.random.default_rng(1))
    assert made.rows is not None
    assert len(made.rows) == ROWS - 50
    thinned = as_entry(handout(), Release.of(handout().table), np.random.default_rng(1), unique=0.6)
    assert thinned.rows is not None
    assert unique_share(handout().table.take(thinned.rows), ROWS).value <= 0.6
    with pytest.raises(KakurenboError, match="does not say which rows of B it kept"):
        as_entry(
            handout(), Release.of(handout().table.take(np.arange(9))), np.random.default_rng(1)
        )


# -- limits ----------------------------------------------------------------------------------------------------------------


def test_limits_are_those_of_the_round_and_settings_of_a_contest() -> None:
    common = {"uniqrt": 0.5, "rate": 0.05, "odds_ratio": 0.1, "cor": 0.1}
    assert Pwscup2021(round="pre").limits() == {**common, "iloss": 6}
    assert Pwscup2021(round="main").limits() == {**common, "iloss": 4}
    assert Pwscup2021(round="main", iloss=5.5).limits()["iloss"] == 5.5


def test_a_level_that_d_lost_counts_by_the_rules_and_is_passed_over_by_the_script() -> None:
    women = handout().table.with_codes({"gen": np.zeros(ROWS, dtype=int)})
    submission = Submission(women, np.arange(ROWS), np.arange(0))
    books = (Pwscup2021(round="main", mode=mode) for mode in ("rules", "scripts"))
    rules, scripts = (book.measure(handout(), submission).scores for book in books)
    assert rules["odds_ratio"].value == np.inf
    assert rules["rate"].value > 0.1
    assert rules["cor"].value > 0.9, "Female and Male"
    assert np.isfinite(scripts["odds_ratio"].value)
    assert all(scripts[name].value < rules[name].value for name in ("odds_ratio", "cor"))


def test_diabetes_that_can_be_told_perfectly_breaks_the_limit() -> None:
    table = handout().table
    told = table.with_codes({"dia": (table.values("age") > 50).astype(int)})
    utility = Pwscup2021(round="main").measure(
        handout(), Submission(told, np.arange(ROWS), np.arange(0))
    )
    assert utility.scores["odds_ratio"].value == np.inf
    assert "odds_ratio" in utility.failed


# -- credit ----------------------------------------------------------------------------------------------------------------


def credit(answer: list[int], guess: list[tuple[int, int, int]], d: float = 0.0) -> Credit:
    return count_credit(Answer(np.array(answer), 10), LinkageGuess(guess), d, 10)


def test_the_first_guess_alone_says_who_was_deleted_but_all_three_count_for_topk() -> None:
    found = credit([5, 6, -1, -1], [(-1, 5, 7), (6, 0, 1), (-1, -1, -1), (3, 4, 5)])
    assert found.details == {"recall": 0.5, "precision": 0.5, "topk": 1.0}
    assert found.hits == 0.25


def test_who_takes_everybody_for_deleted_has_precision_0() -> None:
    found = credit([5, -1], [(-1, -1, -1)] * 2)
    assert found.details == {"recall": 0.0, "precision": 0.0, "topk": 0.0}
    assert (found.hits, credit([5, -1], [(-1, -1, -1)] * 2, 0.01).hits) == (0, 1e-6)


def test_answering_every_row_gives_the_figures_that_fill_the_published_sheet() -> None:
    expected = [0.005, 0.015, 0.026, 0.036, 0.046, 0.057, 0.067, 0.077]
    answer = [*range(50), *[-1] * 50]
    for linked, told in enumerate(expected):
        guess = [(row if row < linked else 99, 99, 99) for row in range(100)]
        assert round(credit(answer, guess, 0.01).hits, 3) == told


def test_d_is_0_in_the_preliminary_and_a_hundredth_in_the_main_round_unless_it_is_set() -> None:
    assert [Pwscup2021(round=name).smoothing for name in ("pre", "main")] == [0, 0.01]
    assert Pwscup2021(round="main", d=0.0).smoothing == 0


def test_a_guess_names_rows_of_d_by_the_rules_and_any_row_of_b_by_the_script() -> None:
    line = b"-1,-1,-1\n" * 99
    for mode, highest in (("rules", 199), ("scripts", 299)):
        book = Pwscup2021(mode=mode, rows=ROWS)
        form = book.answer_form(Answer(np.zeros(100, dtype=int), 200))
        assert form == GuessForm(100, highest + 1)
        assert isinstance(
            attempt(book.read_guess, form, Source("E.csv", line + f"{highest},0,0\n".encode())),
            Read,
        )
        for wrong in (f"{highest + 1},0,0\n", "-2,0,0\n", "1.5,0,0\n", "1,2\n", ""):
            assert isinstance(
                attempt(book.read_guess, form, Source("E.csv", line + wrong.encode())), Problems
            )


# -- scores ----------------------------------------------------------------------------------------------------------------


def results(**dangers: Mapping[str, float]) -> RoundResults:
    credits = {
        name.removeprefix("on_"): {
            attacker.removeprefix("by_"): Credit(value, 1.030301) for attacker, value in row.items()
        }
        for name, row in dangers.items()
    }
    return RoundResults(credits, tuple(credits), tuple(credits))


ROUND = results(
    on_01={"02": 0.3, "03": 0.1, "04": 0.2},
    on_02={"01": 0.1, "03": 0.2, "04": 0.1},
    on_03={"01": 0.5, "02": 0.4, "04": 0.1},
    on_04={"01": 0.2, "02": 0.6},
)


def test_a_release_is_as_dangerous_as_its_worst_attack_and_an_attacker_is_scored_on_the_first_three_without_its_own() -> (
    None
):
    scores = RoundScores.of(ROUND)
    assert scores.anonymization == {
        "01": Fraction("0.3"),
        "02": Fraction("0.2"),
        "03": Fraction("0.5"),
        "04": Fraction("0.6"),
    }
    assert scores.first == ("02", "01", "03")
    assert scores.attack["01"] == Fraction("0.6") / 2, "own entry dropped"
    assert scores.attack["04"] == Fraction("0.4") / 3
    assert scores.attack["03"] == Fraction("0.3") / 2


def test_a_missing_guess_counts_0_in_the_mean_and_cannot_raise_the_maximum() -> None:
    silent = RoundResults(
        {**ROUND.credits, "02": {"01": Credit(0.1, 1)}}, ROUND.targets, ROUND.attackers
    )
    scores = RoundScores.of(silent)
    assert scores.anonymization["02"] == Fraction("0.1")
    assert scores.attack["04"] == Fraction("0.3") / 3


def test_a_disqualified_release_has_danger_1_and_is_not_among_the_attacked() -> None:
    standings = Pwscup2021().standings({"main": ROUND.without(["02"])})
    lines = {line.team: line for line in standings.anonymization}
    assert (lines["02"].score, lines["02"].rank, lines["02"].note) == (1, 4, "disqualified")
    assert standings.details["rounds"]["main"]["attacked"] == ["01", "03", "04"]
    assert "02" not in standings.awards["anonymization"] + standings.awards["overall"]
    assert standings.lower_is_better == {"anonymization", "overall"}


def test_rounds_weigh_1_to_9_and_the_overall_score_is_the_sum_of_both_ranks() -> None:
    other = results(on_01={"02": 1.0}, on_02={"01": 0.5}, on_03={"01": 0.5}, on_04={"01": 0.1})
    standings = Pwscup2021().standings({"pre": other, "main": ROUND})
    danger = {line.team: line.score for line in standings.anonymization}
    assert danger["01"] == Fraction(1, 10) + Fraction(27, 100)
    ranks = [
        {line.team: line.rank for line in lines}
        for lines in (standings.anonymization, standings.attack)
    ]
    assert {line.team: line.score for line in standings.overall} == {
        team: ranks[0][team] + ranks[1][team] for team in danger
    }
    assert [line.rank for line in standings.overall] == sorted(
        line.rank for line in standings.overall
    )


def test_who_ties_with_the_third_is_among_the_three() -> None:
    tied = results(on_01={"02": 0.1}, on_02={"01": 0.2}, on_03={"01": 0.3}, on_04={"01": 0.3})
    assert RoundScores.of(tied).first == ("01", "02", "03", "04")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x,y\n1,2\n",
        "attacker,R_on_01\n",
        "attacker,R_on_01\n01,2\n",
        "attacker,R_on_01,R_on_1\n01,0,0\n",
    ],
)
def test_a_table_that_is_no_published_matrix_is_refused(text: str) -> None:
    assert isinstance(
        attempt(Pwscup2021().read_published, Source("m.csv", text.encode())), Problems
    )


# -- a round by folders ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The preparation and the phase of a main round of three teams."""
    folder = tmp_path_factory.mktemp("played")
    rules = Pwscup2021(round="main", data="embedded", rows=400, uniqrt=1.0)
    write_folder(folder / "preparation", prepare(rules, 5, ["01", "02", "03"]).files())
    prepared: PreparedRound[Handout] = PreparedRound(rules, folder / "preparation")
    for team in ("01", "02"):
        release = rules.anonymize(prepared.handout(team), SwapNear(), stream(1, team))
        write_folder(
            folder / "submissions" / team, rules.release_files(prepared.handout(team), release)
        )
    published = publish_round(
        rules, folder / "preparation", folder / "submissions", with_disqualified=True
    )
    write_folder(folder / "phase", published.files)
    return folder / "preparation", folder / "phase"


def test_in_the_main_round_every_team_has_a_b_of_its_own_that_attackers_do_not_get(
    played: tuple[Path, Path],
) -> None:
    tables = {path.read_bytes() for path in played[0].glob("teams/*/main_B_*.csv")}
    assert len(tables) == 3
    assert {path.name for path in (played[0] / "attackers").iterdir()} == {
        "contest.json",
        "README.md",
        "README.ja.md",
    }


def test_in_the_preliminary_everybody_has_the_same_b_and_attackers_get_it() -> None:
    made = prepare(Pwscup2021(round="pre", data="embedded", rows=400), 5, ["01", "02"]).folders
    assert (
        made["teams/01"]["pre_B.csv"]
        == made["teams/02"]["pre_B.csv"]
        == made["attackers"]["pre_B.csv"]
    )


def test_each_attacker_is_dealt_a_test_table_of_its_own(played: tuple[Path, Path]) -> None:
    phase = played[1]
    names = sorted(
        path.relative_to(phase).as_posix() for path in phase.glob("targets/01/**/*_ct.csv")
    )
    assert names == [
        "targets/01/for_02/main_anony_01_for_02_ct.csv",
        "targets/01/for_03/main_anony_01_for_03_ct.csv",
        "targets/01/main_anony_01_ct.csv",
    ]
    assert len({(phase / name).read_bytes() for name in names}) == 3
    book = Pwscup2021()
    whole, part = (phase / "targets/01", phase / "targets/01/for_02")
    read = {
        "everybody": attempt(book.read_target, whole),
        "02": attempt(book.read_target, part),
        "02 by name": attempt(book.read_target, whole, attacker="02"),
    }
    people = {
        name: one.value.knowledge.people.rows()
        for name, one in read.items()
        if isinstance(one, Read)
    }
    assert people["02"] == people["02 by name"] != people["everybody"]


def test_a_guess_is_credited_by_the_table_that_its_attacker_was_dealt(
    played: tuple[Path, Path], tmp_path: Path
) -> None:
    phase, book = played[1], Pwscup2021()
    answer = attempt(
        book.in_folder(phase / "answers/01/for_02").read_answer, phase / "answers/01/for_02"
    )
    assert isinstance(answer, Read)
    right = LinkageGuess(np.repeat(answer.value.rows[:, None], 3, axis=1))
    for attacker in ("02", "03"):
        name = f"main_attack_01_from_{attacker}.csv"
        write_folder(tmp_path / "guesses" / attacker, {name: book.guess_bytes(right)})
    scored = score_round(book, phase, tmp_path / "guesses")
    assert not scored.refused
    earned = scored.results.credits["01"]
    assert earned["02"].hits == pytest.approx(1.030301)
    assert earned["03"].hits < 0.5
    assert set(scored.results.credits["01"]) == {"02", "03", "sample_rlink"}


def test_a_guess_for_another_round_is_refused_by_its_name(
    played: tuple[Path, Path], tmp_path: Path
) -> None:
    write_folder(tmp_path / "guesses" / "02", {"pre_attack_01_from_02.csv": b"-1,-1,-1\n" * 100})
    scored = score_round(Pwscup2021(), played[1], tmp_path / "guesses", sample_attacks=False)
    assert [refusal.problems[0].code for refusal in scored.refused] == ["release.other_round"]


def test_one_test_table_for_all_is_an_option_and_so_is_its_order() -> None:
    submission = Submission(
        handout().table.take(np.arange(200)), np.arange(200), np.arange(200, ROWS)
    )
    for rules, sorted_ in (
        (Pwscup2021(order="sorted"), True),
        (Pwscup2021(order="shuffled"), False),
        (Pwscup2021(round="pre"), True),
        (Pwscup2021(round="main"), False),
    ):
        _, places = rules.test_table(handout(), submission, np.random.default_rng(1))
        kept = places[places >= 0]
        assert (places < 0).sum() == len(kept) == 50
        assert (kept.tolist() == sorted(kept)) is sorted_


def test_a_table_of_ones_own_is_b_in_the_preliminary_and_the_source_of_all_in_the_main_round(
    tmp_path: Path,
) -> None:
    own = tmp_path / "B.csv"
    own.write_bytes(
        b"".join(f"{','.join(map(str, row))}\n".encode() for row in handout().table.rows())
    )
    pre = prepare(Pwscup2021(round="pre", table=str(own)), 1, ["01"])
    assert pre.folders["teams/01"]["pre_B.csv"] == own.read_bytes()
    assert (
        pre.facts.settings["data"],
        pre.facts.settings["rows"],
        "table" in pre.facts.settings,
    ) == ("own", ROWS, False)
    main = prepare(Pwscup2021(round="main", table=str(own)), 1, ["01"])
    assert main.folders["teams/01"]["main_B_01.csv"] != own.read_bytes()
    with pytest.raises(UsageError, match="name its file with --table"):
        prepare(Pwscup2021(data="own"), 1, ["01"])
    with pytest.raises(UsageError, match="give one of the two"):
        prepare(Pwscup2021(data="embedded", table=str(own)), 1, ["01"])
    with pytest.raises(UsageError, match="NHANES is not imported"):
        prepare(Pwscup2021(data="imported"), 1, ["01"])
