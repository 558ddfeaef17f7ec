"""pwscup2021 against what the contest's own scripts print, and against its published matrix: every digit that is given."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.attacks.linkage import LinkageKnowledge, NearestRows
from kakurenbo.attacks.linkage.nearest import squared_distances
from kakurenbo.contest import RoundResults, Utility
from kakurenbo.core import Source, Table
from kakurenbo.data.health import read_health
from kakurenbo.measures.covariance import one_hot_correlations
from kakurenbo.measures.crosstab import cell_counts
from kakurenbo.measures.regression import logistic_regression
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2021 import Answer, Handout, Pwscup2021, Submission
from kakurenbo.rulebooks.pwscup2021.fields import DEFAULT_PLAYERS
from kakurenbo.rulebooks.pwscup2021.release import COMPARED
from kakurenbo.rulebooks.pwscup2021.scores import RoundScores
from kakurenbo.rulebooks.pwscup2021.utility import BINS

MODES = ("rules", "scripts")
DIGITS = {"rel": 1e-9}
PUBLISHED = "published/pwscup2021-main.csv"


@pytest.fixture(scope="module")
def folder(reference_data: Path) -> Path:
    return reference_data / "pwscup2021" / "reference"


def accepted(read: object) -> object:
    assert isinstance(read, Read), read
    return read.value


@cache
def table_of(folder: Path, name: str) -> Table:
    table = accepted(attempt(read_health, Source.of(folder / name)))
    assert isinstance(table, Table)
    return table


@cache
def handout_of(folder: Path) -> Handout:
    return Handout("01", table_of(folder, "B_nhanes2017_18.csv.gz"))


def entry(folder: Path, mode: str, release: str = "D.csv.gz") -> Submission:
    sources = [Source.of(folder / release), Source.of(folder / "X.csv")]
    submission = accepted(attempt(Pwscup2021(mode=mode).read_release, handout_of(folder), sources))
    assert isinstance(submission, Submission)
    return submission


def measured(folder: Path, mode: str, release: str = "D.csv.gz") -> Utility:
    return Pwscup2021(mode=mode).measure(handout_of(folder), entry(folder, mode, release))


def numbers(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", dtype=np.int64)


def printed(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """A table that a script printed, by its first column."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return {
            line.pop(""): {key: float(value) for key, value in line.items()}
            for line in csv.DictReader(file)
        }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("release", "report"), [("D.csv.gz", "um_BD.csv"), ("C.csv.gz", "um_BC.csv")]
)
def test_rate_odds_ratio_and_correlation_are_what_umark_prints(
    folder: Path, mode: str, release: str, report: str
) -> None:
    scores, told = measured(folder, mode, release).scores, printed(folder, report)
    for name, column in (("rate", "rate"), ("odds_ratio", "OR"), ("cor", "cor")):
        assert scores[name].value == pytest.approx(told["max"][column], **DIGITS)
        assert scores[name].parts["mean"] == pytest.approx(told["mean"][column], **DIGITS)
    assert scores["rate"].parts["max_count"] == told["max"]["cnt"]
    assert scores["rate"].parts["mean_count"] == pytest.approx(told["mean"]["cnt"], **DIGITS)
    assert scores["odds_ratio"].parts["max_coefficient"] == pytest.approx(
        told["max"]["Coef"], **DIGITS
    )
    assert scores["odds_ratio"].parts["max_p"] == pytest.approx(told["max"]["pvalue"], **DIGITS)


def test_iloss_is_what_the_script_prints(folder: Path) -> None:
    score = measured(folder, "rules").scores["iloss"]
    assert score.value == 8
    assert (score.parts["age"], score.parts["bmi"], score.parts["cells"]) == (8, 4.5, 2)
    means = [score.parts[f"mean_{name}"] for name in ("age", "bmi", "cells")]
    assert means == pytest.approx([1.084231, 0.701796, 0.13157], abs=5e-7)


def test_unique_records_are_a_share_of_b_by_the_rules_and_of_4190_by_the_script(
    folder: Path,
) -> None:
    by_rules, by_script = (measured(folder, mode).scores["uniqrt"] for mode in MODES)
    assert by_rules.parts["count"] == by_script.parts["count"] == 2071
    assert by_script.value == 0.494272076372315
    assert by_rules.value == 2071 / 3985


def test_the_sample_breaks_the_limits_of_both_rounds(folder: Path) -> None:
    for round_ in ("pre", "main"):
        rules = Pwscup2021(round=round_)
        failed = rules.measure(handout_of(folder), entry(folder, "rules")).failed
        assert failed == ("uniqrt", "rate", "odds_ratio", "cor", "iloss")


def test_every_cell_is_counted_as_the_script_counts_it(folder: Path) -> None:
    counts = cell_counts(table_of(folder, "B_nhanes2017_18.csv.gz"), "dia", COMPARED, BINS).counts
    ours = {}
    for (variable, level, outcome), count in counts.items():
        label = f"{variable}_{level}" if variable in ("dep", "pir") else level
        ours[
            label.replace("(15, 18.5]", "(15.0, 18.5]").replace("(18.5, 25]", "(18.5, 25.0]"),
            outcome,
        ] = count
    told = {}
    with (folder / "ccount_B.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            label = line[""].replace("(25.0, 30.0]", "(25, 30]").replace("(30.0, 70.0]", "(30, 70]")
            told[label, line["11"]] = int(line["cnt"])
    assert len(told) == 66
    assert ours == told


@pytest.mark.parametrize(
    ("name", "report"), [("B_nhanes2017_18.csv.gz", "odds_B.csv"), ("D.csv.gz", "odds_D.csv")]
)
def test_every_coefficient_odds_ratio_and_p_value_is_the_printed_one(
    folder: Path, name: str, report: str
) -> None:
    regression = logistic_regression(table_of(folder, name), "dia", COMPARED)
    assert regression is not None
    told = {key.replace("[T.", "["): line for key, line in printed(folder, report).items()}
    assert regression.coefficients == pytest.approx(
        {key: line["Coef"] for key, line in told.items()}, **DIGITS
    )
    assert regression.odds_ratios == pytest.approx(
        {key: line["OR"] for key, line in told.items()}, **DIGITS
    )
    assert regression.p_values == pytest.approx(
        {key: line["pvalue"] for key, line in told.items()}, rel=1e-6
    )


def test_every_correlation_is_the_printed_one(folder: Path) -> None:
    table = table_of(folder, "B_nhanes2017_18.csv.gz")
    ours = one_hot_correlations(table)
    columns = {str(number): name for number, name in enumerate(table.schema.names)}
    names = {name: place for place, name in enumerate(ours.names)}
    compared = 0
    for row, line in printed(folder, "cor_B.csv").items():
        for column, value in line.items():
            first, second = (_renamed(name, columns) for name in (row, column))
            assert ours.matrix[names[first], names[second]] == pytest.approx(
                value, rel=1e-7, abs=1e-12
            )
            compared += 1
    assert compared == 27 * 27


def _renamed(name: str, columns: dict[str, str]) -> str:
    number, _, level = name.partition("_")
    return f"{columns[number]}={level}" if level else columns[number]


def test_recall_precision_and_topk_are_what_lmark_prints(folder: Path) -> None:
    answer = Answer(numbers(folder / "Ea.csv"))
    guess = attempt(
        Pwscup2021(mode="scripts", rows=3985).read_guess,
        Pwscup2021(mode="scripts", rows=3985).answer_form(answer),
        Source.of(folder / "E.csv"),
    )
    assert isinstance(guess, Read)
    for round_, danger in (("pre", 0.88 * 0.88 * 0.82), ("main", 0.89 * 0.89 * 0.83)):
        credit = Pwscup2021(round=round_, rows=3985).score_guess(answer, guess.value)
        assert credit.details == {"recall": 0.88, "precision": 0.88, "topk": 0.82}
        assert credit.hits == pytest.approx(danger)


def test_the_answer_follows_from_x_and_the_test_table(folder: Path) -> None:
    submission, places = entry(folder, "rules"), numbers(folder / "Ea.csv")
    people, original = table_of(folder, "CT.csv"), table_of(folder, "B_nhanes2017_18.csv.gz")
    assert (places >= 0).sum() == (places < 0).sum() == 50
    kept = original.take(submission.kept[places[places >= 0]])
    assert kept.rows() == people.take(places >= 0).rows()


def test_rlink_names_the_rows_that_the_sample_attack_named_but_for_ties(folder: Path) -> None:
    knowledge = LinkageKnowledge(table_of(folder, "CT.csv"), entry(folder, "rules").release, 50)
    ours, theirs = (
        NearestRows()(knowledge, np.random.default_rng(0)).rows,
        numbers(folder / "E.csv"),
    )
    assert ((ours[:, 0] < 0) == (theirs[:, 0] < 0)).all()
    distances, named = squared_distances(knowledge), ours[:, 0] >= 0
    for place in range(3):
        assert distances[named, ours[named, place]] == pytest.approx(
            distances[named, theirs[named, place]]
        )
    assert (ours == theirs).all(axis=1).sum() >= 85


def test_the_samples_steps_delete_the_rows_of_x(folder: Path) -> None:
    steps = next(player.anonymizer for player in DEFAULT_PLAYERS if "sample" in player.name)
    deleting = registry.build("anonymizers", steps.partition("|rr")[0])
    release = deleting(table_of(folder, "B_nhanes2017_18.csv.gz"), np.random.default_rng(0))
    assert (
        sorted(set(range(3985)) - set(release.rows.tolist())) == numbers(folder / "X.csv").tolist()
    )
    assert release.table.rows() == table_of(folder, "C.csv.gz").rows()


# -- the published matrix of the main round ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matrix(reference_data: Path) -> list[dict[str, str]]:
    text = (reference_data / PUBLISHED).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def results(reference_data: Path) -> RoundResults:
    found = accepted(attempt(Pwscup2021().read_published, Source.of(reference_data / PUBLISHED)))
    assert isinstance(found, RoundResults)
    return found


OUT = ("03", "07")
"""Whose means are not those of the three lowest unless these two, with lower maxima, broke a limit."""


def test_the_published_matrix_gives_its_maxima(
    matrix: list[dict[str, str]], results: RoundResults
) -> None:
    (line,) = (line for line in matrix if line["attacker"] == "max")
    told = {
        name.removeprefix("R_on_"): float(value)
        for name, value in line.items()
        if name.startswith("R_on")
    }
    assert len(told) == 14
    assert {
        team: float(value) for team, value in RoundScores.of(results).anonymization.items()
    } == told


def test_the_published_matrix_gives_its_means_on_the_first_three(
    matrix: list[dict[str, str]], results: RoundResults
) -> None:
    scores = RoundScores.of(results.without(OUT))
    assert scores.first == ("04", "06", "10")
    told = {
        line["attacker"]: float(line["A_mean_on_top3"]) for line in matrix if line["A_mean_on_top3"]
    }
    assert len(told) == 14
    assert {name: float(scores.attack[name]) for name in told} == pytest.approx(told, abs=0.000501)


def test_the_published_matrix_gives_its_ranks_by_the_rules(
    matrix: list[dict[str, str]], results: RoundResults
) -> None:
    standings = Pwscup2021().standings({"main": results.without(OUT)})
    (line,) = (line for line in matrix if line["attacker"] == "max")
    danger = {
        name.removeprefix("R_on_"): float(value)
        for name, value in line.items()
        if name.startswith("R_on")
    }
    danger |= dict.fromkeys(OUT, 1.0)
    expected = {
        team: 1 + sum(other < own for other in danger.values()) for team, own in danger.items()
    }
    anonymization = {line.team: line.rank for line in standings.anonymization}
    assert anonymization == expected
    assert [anonymization[team] for team in ("04", "06", "10", "13", "01", *OUT)] == [
        1,
        1,
        1,
        4,
        5,
        13,
        13,
    ]
    attack = {line.team: line.rank for line in standings.attack}
    assert attack.pop("sample_rlink") is None
    assert sorted(rank for rank in attack.values() if rank is not None)[:3] == [1, 2, 3]
    assert {line.team: line.score for line in standings.overall} == {
        team: expected[team] + attack[team] for team in expected
    }
    assert standings.awards["anonymization"] == ("04", "06", "10")
    assert standings.awards["attack"] == ("09", "05", "06")
    assert standings.awards["overall"][:2] == ("06", "10")
