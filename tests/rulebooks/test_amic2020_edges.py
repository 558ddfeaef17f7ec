"""amic2020: what the other files leave open of figures, data, rows for the trees and what is handed in, each by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.reading import Read, attempt

from kakurenbo.contest import ContestFolder, Credit, RoundResults
from kakurenbo.core import Problems, Source, Table
from kakurenbo.core.errors import UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import SCHEMA, Adult, read_census
from kakurenbo.data.generators import sample_rows
from kakurenbo.rulebooks.amic2020 import Amic2020, Handout, Questionnaire
from kakurenbo.rulebooks.amic2020 import data as questioner
from kakurenbo.rulebooks.amic2020.claims import exaggerated_presence
from kakurenbo.rulebooks.amic2020.data import TRIAL_ANONYMIZER, personal_data
from kakurenbo.rulebooks.amic2020.files import SAMPLE, find_file
from kakurenbo.rulebooks.amic2020.questionnaire import Claims

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
CENSUS = "77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 0, 0, 40, United-States"


def table(*rows: tuple[object, ...]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def line(row: tuple[object, ...]) -> bytes:
    return ",".join(map(str, row)).encode() + b"\n"


def test_every_figure_has_the_sentence_of_its_name() -> None:
    for name, figure in Amic2020.figures.items():
        assert figure.code == f"amic2020.figure.{name}"
        assert len(set(figure.definitions.values())) == 2


# -- the questioner's data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "there", "source"),
    [
        ("auto", True, "imported"),
        ("imported", True, "imported"),
        ("embedded", True, "embedded"),
        ("auto", False, "embedded"),
        ("embedded", False, "embedded"),
    ],
)
def test_imported_files_are_taken_unless_they_are_not_there_or_not_wanted(
    monkeypatch: pytest.MonkeyPatch, data: str, there: bool, source: str
) -> None:
    real, drawn = Adult(table(ADA), table(BOB)), Adult(table(BOB), table(ADA))
    monkeypatch.setattr(questioner, "load_adult", lambda: real if there else None)
    monkeypatch.setattr(questioner, "embedded_adult", lambda: drawn)
    found, wanted = personal_data(data), real if source == "imported" else drawn
    assert (found.source, found.personal, found.test) == (source, wanted.train, wanted.test)
    assert found.facts()["sha256"] == {"train": wanted.train.digest(), "test": wanted.test.digest()}


def test_imported_files_that_are_asked_for_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questioner, "load_adult", lambda: None)
    with pytest.raises(UsageError, match="not imported"):
        personal_data("imported")


@pytest.mark.parametrize(("size", "left"), [(3, 3), (4, 4), (5, 4)])
def test_rows_for_the_trees_are_all_or_always_the_same_ones(size: int, left: int) -> None:
    rows = table(*((age, *ADA[1:]) for age in (20, 30, 40, 50)))
    found = questioner.tree_rows(rows, size)
    assert len(set(found.rows())) == left
    if size == 3:
        assert found == rows.take(sample_rows(4, 3, stream(0, "amic2020", "test rows", "3")))
    else:
        assert found == rows


def test_the_release_of_the_trial_keeps_995_of_1000_cells() -> None:
    assert TRIAL_ANONYMIZER.p == 0.995


# -- files ---------------------------------------------------------------------------------------------------------------


def test_a_census_file_of_several_lines_is_known_by_its_first() -> None:
    lines = [f"{age}, Private, {CENSUS}, <=50K\n".encode() for age in (39, 40)]
    found = attempt(read_census, Source("test.csv", b"".join(lines)))
    assert isinstance(found, Read), found
    assert [row[0] for row in found.value.rows()] == [39, 40]
    assert isinstance(attempt(read_census, Source("test.csv", line(ADA) * 2)), Read)


def test_a_folder_must_hold_one_sample_and_the_count_and_the_name_are_told(tmp_path: Path) -> None:
    for names, count in (((), 0), (("pre_samplingdata_01.csv", "pre_samplingdata_02.csv"), 2)):
        for name in names:
            (tmp_path / name).write_bytes(line(ADA))
        found = attempt(find_file, ContestFolder(tmp_path), SAMPLE)
        assert isinstance(found, Problems)
        assert (found[0].code, found[0].params["count"], found[0].params["name"]) == (
            "amic2020.not_one_file",
            count,
            "ROUND_samplingdata.csv",
        )


def test_rows_for_the_trees_beside_the_sample_are_taken_unpacked_before_packed(
    tmp_path: Path,
) -> None:
    (tmp_path / "sample.csv").write_bytes(line(ADA))
    (tmp_path / "test.csv").write_bytes(line(BOB))
    (tmp_path / "test.csv.gz").write_bytes(line(ADA))
    found = attempt(Amic2020().read_handout, tmp_path / "sample.csv")
    assert isinstance(found, Read), found
    assert found.value.test == table(BOB)


def test_of_two_tables_the_second_is_named_and_of_none_the_one_that_is_wanted() -> None:
    handout = Handout("07", table(ADA), None)
    found = attempt(
        Amic2020().read_release,
        handout,
        [Source("one.csv", b""), Source("two.csv", b""), Source("three.csv", b"")],
    )
    assert isinstance(found, Problems)
    assert (found[0].file, list(found[0].params["files"])) == (
        "two.csv",
        ["one.csv", "two.csv", "three.csv"],
    )
    found = attempt(Amic2020().read_release, handout, [])
    assert isinstance(found, Problems)
    assert (found[0].file, found[0].params["example"]) == (
        "pre_anonymizeddata_07.csv",
        "pre_anonymizeddata_07.csv",
    )


@pytest.mark.parametrize(("claimed", "told"), [(1.0, 0), (0.99, 0), (0.98, 1), (0.0, 1)])
def test_a_claim_that_is_99_percent_of_the_truth_is_rounded_and_one_below_is_wrong(
    claimed: float, told: int
) -> None:
    """The only row of the population is in the release: presence 1."""
    form = Questionnaire(Claims(delta_presence=claimed))
    assert len(exaggerated_presence(form, table(ADA), table(ADA), "q.json")) == told


def test_a_true_claim_of_0_is_not_wrong() -> None:
    assert (
        exaggerated_presence(
            Questionnaire(Claims(delta_presence=0)), table(BOB), table(ADA), "q.json"
        )
        == ()
    )


# -- settings and knowledge ----------------------------------------------------------------------------------------------


def test_each_round_has_the_thresholds_of_its_rules() -> None:
    pre = {"histogram": 0.99, "vcm": 0.4, "dta_relationship": 0.85, "dta_income": 0.85}
    main = {
        "dta_relationship": 0.95,
        "dta_income": 0.95,
        "max_histogram_error": 0.03,
        "max_correlation_difference": 0.1,
    }
    for round_, wanted in (("pre", pre), ("trial", pre), ("main", main)):
        found = Amic2020(round=round_).threshold_values()
        assert {name: value for name, value in found.items() if value is not None} == wanted
        assert len(found) == 6
    assert Amic2020(round="main", dta_income=0.5, vcm=0.0).threshold_values()["dta_income"] == 0.5
    assert Amic2020(round="main", dta_income=0.5, vcm=0.0).threshold_values()["vcm"] == 0


@pytest.mark.parametrize(
    ("scale", "limits"), [("full", (1_000, 100_000)), ("small", (100, 10_000))]
)
def test_a_contest_states_the_row_limits_of_a_sample_of_a_tenth(
    scale: str, limits: tuple[int, int]
) -> None:
    settings = Amic2020(scale=scale, rate=0.5).row_settings()
    assert (settings["min_rows"], settings["max_rows"]) == limits


def test_an_attacker_needs_a_release_with_a_row_and_files_that_can_be_read() -> None:
    def known(population: bytes, release: bytes, *form: bytes) -> object:
        forms = [Source("questionnaire.json", content) for content in form]
        return attempt(
            Amic2020().read_knowledge,
            [Source("B.csv", population), Source("D.csv", release), *forms],
        )

    people = line(ADA) * 100
    assert isinstance(known(people, line(BOB)), Read)
    assert isinstance(known(people, line(BOB), b"{}"), Read)
    for wrong in (
        known(people, b""),
        known(people, b"x\n"),
        known(b"x\n", line(BOB)),
        known(people, line(BOB), b"["),
    ):
        assert isinstance(wrong, Problems)


def test_a_matrix_needs_a_row_and_a_column() -> None:
    for text in (b"", b",01\n", b"\n02\n", b"x\n02\n"):
        found = attempt(Amic2020().read_published, Source("matrix.csv", text))
        assert isinstance(found, Problems)


# -- scores --------------------------------------------------------------------------------------------------------------


def test_who_can_attack_nobody_or_attacks_in_one_round_alone_has_nothing_for_the_rest() -> None:
    alone = RoundResults({"01": {}}, ("01",), ("01",))
    assert [(line.team, line.score) for line in Amic2020().standings({"pre": alone}).attack] == [
        ("01", 0)
    ]
    pre = RoundResults({"01": {}, "02": {}}, ("01", "02"), ("01", "02"))
    main = RoundResults({"01": {"03": Credit(50, 100)}}, ("01",), ("03",))
    found = Amic2020().standings({"pre": pre, "main": main})
    assert {line.team: line.score for line in found.attack} == {
        "01": 0,
        "02": 0,
        "03": Fraction(9, 10) * Fraction(1, 2),
    }
    assert {line.team: line.score for line in found.anonymization} == {
        "01": Fraction(1, 10) + Fraction(9, 10) * Fraction(1, 2),
        "02": Fraction(1, 10),
        "03": None,
    }
