"""A round of amic2020 by folders: what lies where, which settings hold, and what each step reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo import testing
from kakurenbo.attacks.membership import MembershipGuess
from kakurenbo.contest import Preparation, PreparedRound, Utility, misfit
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.rounds import publish_round
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import (
    README_FILES,
    Problems,
    Source,
    Table,
    collect_notices,
    table_bytes,
    write_folder,
)
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import Adult
from kakurenbo.methods import registry
from kakurenbo.rulebooks.amic2020 import Amic2020, Handout, Questionnaire, Submission
from kakurenbo.rulebooks.amic2020.files import population_of

SMALL = Amic2020(scale="small", data="embedded")
ROW = "39,Private,Bachelors,Never-married,Adm-clerical,Not-in-family,Male,40,<=50K\n"


@pytest.fixture(scope="module")
def preparation() -> Preparation:
    return prepare(SMALL, 7, ("01", "03", "12"), ("12",))


@pytest.fixture(scope="module")
def contest(preparation: Preparation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("amic2020") / "pre"
    write_folder(folder, preparation.files())
    return folder


@pytest.fixture(scope="module")
def main_contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("amic2020") / "main"
    write_folder(
        folder,
        prepare(SMALL.with_parameters(round="main", dta_income=0.5), 7, ("01", "02")).files(),
    )
    return folder


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def settings(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "public" / "contest.json").read_text())
    return content["settings"]


@pytest.mark.parametrize("check", testing.rulebook_checks(SMALL), ids=str)
def test_amic2020_does_what_every_rulebook_must(check: testing.Check) -> None:
    check()


# -- the questioner prepares ---------------------------------------------------------------------------------------------


def test_every_folder_holds_the_files_of_the_rules(contest: Path) -> None:
    names = {path.relative_to(contest).as_posix() for path in contest.rglob("*") if path.is_file()}
    assert names == {
        "public/contest.json",
        "public/commitments.json",
        "attackers/contest.json",
        "attackers/pre_syntheticdata.csv",
        *(f"{place}/{readme}" for place in ("public", "attackers") for readme in README_FILES),
        "secret/contest.json",
        "secret/opening.json",
        *(f"secret/{team}/pre_answer_{team}.index" for team in ("01", "03", "12")),
        *(
            f"teams/{team}/{name}"
            for team in ("01", "03", "12")
            for name in (
                *README_FILES,
                *(
                    "contest.json",
                    "test.csv",
                    f"pre_samplingdata_{team}.csv",
                    f"questionnaire_{team}.json",
                ),
            )
        ),
    }


def test_samples_are_the_rows_of_b_that_the_answer_names_in_random_order(contest: Path) -> None:
    population = lines(contest / "attackers" / "pre_syntheticdata.csv")
    assert len(population) == len(set(population)) == 10_000
    for team in ("01", "03", "12"):
        rows = [int(line) for line in lines(contest / "secret" / team / f"pre_answer_{team}.index")]
        assert [population[row] for row in rows] == lines(
            contest / "teams" / team / f"pre_samplingdata_{team}.csv"
        )
        assert len(set(rows)) == 1000
        assert abs(np.corrcoef(rows, np.arange(1000))[0, 1]) < 0.2, (
            "in B's order the row order would tell which row is which"
        )


def test_test_csv_is_the_same_in_every_round_and_b_is_not(
    contest: Path, main_contest: Path
) -> None:
    assert (contest / "teams/01/test.csv").read_bytes() == (
        main_contest / "teams/01/test.csv"
    ).read_bytes()
    b = [
        lines(folder / "attackers" / f"{folder.name}_syntheticdata.csv")
        for folder in (contest, main_contest)
    ]
    assert b[0] != b[1], "one contest seed must not give the same people in pre and main"


def test_every_setting_is_stated_whole_in_contest_json(contest: Path, main_contest: Path) -> None:
    assert settings(contest) == {
        "round": "pre",
        "scale": "small",
        "generator": "moments",
        "data": "embedded",
        "rate": 0.1,
        "min_rows": 100,
        "max_rows": 10_000,
        "edition": 1,
        "positive": "<=50K",
        "thresholds": "round",
        "histogram": 0.99,
        "vcm": 0.4,
        "dta_relationship": 0.85,
        "dta_income": 0.85,
        "max_histogram_error": None,
        "max_correlation_difference": None,
    }
    final = settings(main_contest)
    assert {
        name: final[name] for name in ("histogram", "vcm", "dta_relationship", "dta_income")
    } == {
        "histogram": None,
        "vcm": None,
        "dta_relationship": 0.95,
        "dta_income": 0.5,
    }
    assert (final["max_histogram_error"], final["max_correlation_difference"]) == (0.03, 0.1)


def test_data_auto_is_resolved_and_digests_tell_which_rows_were_used() -> None:
    prepared = prepare(SMALL.with_parameters(data="auto"), 7, ("01",))
    assert prepared.facts.settings["data"] == "embedded"
    assert set(prepared.facts.data["sha256"]) == {"train", "test"}
    assert "embedded statistics" in prepared.report["data"]


def test_made_again_with_other_data_is_named_not_accused(
    contest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kakurenbo.rulebooks.amic2020 import data as module

    original = module.embedded_adult()
    monkeypatch.setattr(
        module,
        "embedded_adult",
        lambda: Adult(original.train.take(np.arange(10_000)), original.test),
    )
    findings = verify_round(Amic2020(), contest, again=True)
    assert [finding.name for finding in findings if finding.state != "kept"] == [
        "made again: the preparation"
    ]
    assert "made from" in findings[-1].why


def test_imported_data_that_is_not_here_is_named() -> None:
    with pytest.raises(UsageError, match="data import adult"):
        prepare(SMALL.with_parameters(data="imported"), 7, ("01",))


def test_the_sampling_rate_is_a_setting() -> None:
    prepared = prepare(SMALL.with_parameters(rate=0.123456), 7, ("01",))
    assert prepared.folders["teams/01"]["pre_samplingdata_01.csv"].count(b"\n") == 1235
    assert prepared.facts.settings["max_rows"] == 10_000, "row limits do not hang on it"
    with pytest.raises(ParameterError, match="at least one row"):
        prepare(SMALL.with_parameters(rate=0.00001), 7, ("01",))


def test_the_answer_tells_how_long_b_is_at_any_rate() -> None:
    assert population_of(1235, 0.123456) == 10_000
    assert population_of(50_000, 0.5) == 100_000
    assert population_of(7, 0.1) == 70


def test_the_trial_hands_everything_out_without_team_numbers(tmp_path: Path) -> None:
    write_folder(
        tmp_path / "trial", prepare(SMALL.with_parameters(round="trial"), 7, ("01", "02")).files()
    )
    for team in ("01", "02"):
        folder = tmp_path / "trial" / "teams" / team
        assert {path.name for path in folder.iterdir()} == {
            *README_FILES,
            "census_income.data.csv",
            "contest.json",
            "questionnaire.json",
            "test.csv",
            "trial_anonymizeddata.csv",
            "trial_answer.index",
            "trial_samplingdata.csv",
            "trial_syntheticdata.csv",
        }
        population = lines(folder / "trial_syntheticdata.csv")
        rows = [int(line) for line in lines(folder / "trial_answer.index")]
        assert [population[row] for row in rows] == lines(folder / "trial_samplingdata.csv")
        assert len(lines(folder / "trial_anonymizeddata.csv")) == 1000
        assert len(lines(folder / "census_income.data.csv")) == 30_162
    rules = Amic2020().in_folder(folder)
    handout = attempt(rules.read_handout, folder)
    assert not isinstance(handout, Problems)
    submission = attempt(
        rules.read_release, handout.value, [Source.of(folder / "trial_anonymizeddata.csv")]
    )
    assert not isinstance(submission, Problems)
    known = attempt(
        rules.read_target, folder / "trial_syntheticdata.csv", folder / "trial_anonymizeddata.csv"
    )
    assert not isinstance(known, Problems)
    guess = rules.sample_attacks["attack.py"](known.value.knowledge, stream(0))
    answer = attempt(rules.read_answer, folder / "trial_answer.index")
    assert not isinstance(answer, Problems)
    assert rules.score_guess(answer.value, guess).hits > 80, "hardly anything was changed"


def test_the_generator_runs_on_its_own_with_any_number_of_rows() -> None:
    rules = Amic2020(data="embedded")
    content, report = rules.generate(500, stream(1), distinct=False)
    assert content.count(b"\n") == 500
    assert set(report["fidelity"]) == {
        "total_variation",
        "covariance_sum",
        "covariance_max",
        "covariance_pair",
    }
    assert rules.generate(500, stream(1), distinct=False)[0] == content
    different, _ = rules.generate(700, stream(1), distinct=True)
    assert len(set(different.splitlines())) == 700


def test_the_sampling_function_runs_on_its_own_with_any_rate(contest: Path) -> None:
    source = Source.of(contest / "teams" / "01" / "pre_samplingdata_01.csv")
    everybody = lines(contest / "teams" / "01" / "pre_samplingdata_01.csv")
    for rate, count in ((0, 0), (0.29, 290), (1, 1000)):
        content, rows = Amic2020().sample(source, rate, stream(1))
        assert [everybody[row] for row in rows] == content.decode().splitlines()
        assert len(set(rows)) == count
    wrong = attempt(Amic2020().sample, Source("B.csv", b"1,2\n"), 0.5, stream(1))
    assert isinstance(wrong, Problems)


# -- settings are followed, and explicit options respected ----------------------------------------------------------------


def test_an_explicit_option_is_respected_even_where_it_equals_the_default(
    main_contest: Path,
) -> None:
    folder = main_contest / "teams" / "01"
    assert set(_thresholds(Amic2020().in_folder(folder))) == {
        "dta_relationship",
        "dta_income",
        "max_histogram_error",
        "max_correlation_difference",
    }
    as_pre = Amic2020(round="pre").in_folder(folder)
    assert _thresholds(as_pre) == {
        "histogram": 0.99,
        "vcm": 0.4,
        "dta_relationship": 0.85,
        "dta_income": 0.85,
    }
    assert as_pre.scale == "small", "the rest is the contest's"


def test_a_contests_own_thresholds_hold_and_an_explicit_one_goes_before_them(
    main_contest: Path,
) -> None:
    folder = main_contest / "teams" / "01"
    assert _thresholds(Amic2020().in_folder(folder))["dta_income"] == 0.5
    assert _thresholds(Amic2020(dta_income=0.7).in_folder(folder))["dta_income"] == 0.7
    assert _thresholds(Amic2020(round="main").in_folder(folder))["dta_income"] == 0.5, (
        "the same round, given explicitly"
    )
    assert _thresholds(Amic2020(round="main"))["dta_income"] == 0.95


def test_edition_and_positive_class_given_explicitly_go_before_the_contests(tmp_path: Path) -> None:
    write_folder(
        tmp_path / "pre",
        prepare(SMALL.with_parameters(edition=2, positive=">50K"), 7, ("01",)).files(),
    )
    folder = tmp_path / "pre" / "teams" / "01"
    followed, explicit = (
        rules.in_folder(folder) for rules in (Amic2020(), Amic2020(edition=1, positive="<=50K"))
    )
    assert (followed.edition, followed.positive) == (2, ">50K")
    assert (explicit.edition, explicit.positive) == (1, "<=50K")


def _thresholds(rules: Amic2020) -> dict[str, float]:
    return {name: value for name, value in rules.threshold_values().items() if value is not None}


def test_row_limits_that_no_release_can_hold_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least min_rows"):
        prepare(SMALL.with_parameters(min_rows=6, max_rows=5), 7, ("01",))


def test_row_limits_are_followed(contest: Path, tmp_path: Path) -> None:
    own = SMALL.with_parameters(min_rows=3, max_rows=5)
    write_folder(tmp_path / "pre", prepare(own, 7, ("01",)).files())
    for folder, allowed in ((contest, (100, 10_000)), (tmp_path / "pre", (3, 5))):
        rules = Amic2020().in_folder(folder / "teams" / "01")
        handout = attempt(rules.read_handout, folder / "teams" / "01")
        assert not isinstance(handout, Problems)
        for rows in (allowed[0] - 1, allowed[0], allowed[1], allowed[1] + 1):
            found = attempt(
                rules.read_release, handout.value, [Source("D.csv", (ROW * rows).encode())]
            )
            assert isinstance(found, Problems) == (not allowed[0] <= rows <= allowed[1]), rows


# -- an anonymizer's task ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def handout(contest: Path) -> Handout:
    read = attempt(
        Amic2020().in_folder(contest / "teams" / "01").read_handout, contest / "teams" / "01"
    )
    assert not isinstance(read, Problems)
    return read.value


def test_a_handout_is_read_from_its_folder_or_its_file(contest: Path, handout: Handout) -> None:
    assert handout.team == "01"
    assert (len(handout.table), len(handout.test or ())) == (1000, 1506)
    folder = contest / "teams" / "03"
    by_file = attempt(Amic2020().in_folder(folder).read_handout, folder / "pre_samplingdata_03.csv")
    assert not isinstance(by_file, Problems)
    assert by_file.value.team == "03"
    with pytest.raises(UsageError, match="no such file or folder"):
        Amic2020().read_handout(contest / "teams" / "99")
    empty = attempt(Amic2020().read_handout, contest / "public")
    assert isinstance(empty, Problems)
    assert "ROUND_samplingdata.csv" in str(empty[0])


def test_a_release_may_go_by_any_name_and_windows_files_are_put_right_with_a_notice(
    handout: Handout,
) -> None:
    data = ("\ufeff" + ROW * 100).replace("\n", "\r\n").encode()
    read = attempt(SMALL.read_release, handout, [Source("D.csv", data)])
    assert not isinstance(read, Problems)
    assert (
        read.value.table.rows()
        == [tuple(int(cell) if cell.isdecimal() else cell for cell in ROW.strip().split(","))] * 100
    )
    assert [notice.code for notice in read.notices] == ["text.bom", "text.line_ends"]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ((), "release.one_file"),
        (("D.csv", "readme.txt"), "release.one_file"),
    ],
)
def test_a_release_is_one_table(handout: Handout, names: tuple[str, ...], code: str) -> None:
    found = attempt(
        SMALL.read_release, handout, [Source(name, (ROW * 100).encode()) for name in names]
    )
    assert isinstance(found, Problems)
    assert found[0].code == code


def test_a_claimed_k_above_the_computed_one_passes_with_a_notice(handout: Handout) -> None:
    release = SMALL.read_release(handout, [Source("D.csv", (ROW * 100).encode())])
    form = SMALL.check_attachments([Source("q.json", b'{"claims": {"k": 101}}')])
    with collect_notices() as notices:
        SMALL.attach(handout, release, form)
    assert [notice.code for notice in notices] == ["amic2020.claimed_k"]


def test_dta_income_gt50k_is_what_the_other_positive_class_gives(handout: Handout) -> None:
    figures = {
        positive: _measured(Amic2020(positive=positive), handout) for positive in ("<=50K", ">50K")
    }
    assert figures["<=50K"].scores["dta_income_gt50k"] == figures[">50K"].scores["dta_income"]
    assert figures[">50K"].scores["dta_income_le50k"] == figures["<=50K"].scores["dta_income"]


def _measured(rules: Amic2020, handout: Handout) -> Utility:
    # One in four rows says the opposite: many leaves are split evenly, and a tree then decides for the class it calls 0.
    rows = handout.table.take(np.arange(400))
    flipped = rows.with_codes({"income": 1 - rows.codes["income"]})
    even = Table.stack([rows, flipped.take(np.arange(0, 400, 4))])
    own = Handout("01", Table.stack([rows, flipped]), handout.test)
    return rules.measure(own, Submission(even, Questionnaire()))


def test_both_editions_and_both_classes_are_always_reported(handout: Handout) -> None:
    first, second = (_measured(Amic2020(edition=edition), handout) for edition in (1, 2))
    assert first.scores["vcm"] == first.scores["vcm_edition1"] == second.scores["vcm_edition1"]
    assert second.scores["vcm"] == second.scores["vcm_edition2"] == first.scores["vcm_edition2"]


def test_without_test_rows_a_notice_tells_what_the_trees_were_tested_on(handout: Handout) -> None:
    bare = Handout("01", handout.table, None)
    figures = Amic2020(data="embedded").measure(bare, Submission(handout.table, Questionnaire()))
    assert "embedded statistics" in str(figures.notices[0])
    assert figures.passes


# -- what attackers get --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def phase(contest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Team 01 handed in its sample with a questionnaire, team 03 without."""
    base = tmp_path_factory.mktemp("amic2020")
    for team, files in (
        ("01", {"q.json": b'{"declared": "rr:p=0.9", "claims": {"delta_presence": 0.5}}'}),
        ("03", {}),
    ):
        sample = (contest / "teams" / team / f"pre_samplingdata_{team}.csv").read_bytes()
        write_folder(base / "submissions" / team, {"D.csv": sample, **files})
    published = publish_round(Amic2020(), contest, base / "submissions")
    assert {record.team: record.state for record in published.records} == {
        "01": "published",
        "03": "published",
        "12": "missing",
    }
    (record, *_) = published.records
    assert any("delta-presence 0.5" in notice for notice in record.notices), "the judge sees B"
    write_folder(base / "phase", published.files)
    return base / "phase"


def test_a_target_holds_d_and_the_questionnaire_with_what_was_computed(phase: Path) -> None:
    assert {path.name for path in (phase / "targets" / "01").iterdir()} == {
        *README_FILES,
        "contest.json",
        "pre_anonymizeddata_01.csv",
        "questionnaire_01.json",
    }
    assert {path.name for path in (phase / "answers" / "01").iterdir()} == {
        "contest.json",
        "pre_answer_01.index",
        "submitted",
    }
    told = json.loads((phase / "targets" / "01" / "questionnaire_01.json").read_text())
    assert told["team"] == "01"
    assert told["declared"] == "rr:p=0.9"
    assert told["computed"]["k"] == 1
    assert told["computed"]["delta_presence"] == [0.0, 1.0]
    assert told["computed"]["epsilon"] == pytest.approx(
        sum(np.log((0.9 + 0.1 / size) / (0.1 / size)) for size in (74, 8, 16, 7, 14, 6, 2, 99, 2))
    )
    silent = json.loads((phase / "targets" / "03" / "questionnaire_03.json").read_text())
    assert set(silent["computed"]) == {"k", "l", "l_entropy", "t", "delta_presence"}


def test_attackers_know_b_and_d_and_the_declared_mechanism(phase: Path) -> None:
    rules = Amic2020().in_folder(phase / "targets" / "01")
    b, d = (
        phase / "attackers" / "pre_syntheticdata.csv",
        phase / "targets" / "01" / "pre_anonymizeddata_01.csv",
    )
    for paths in ((phase / "targets" / "01",), (b, d), (d, b)):
        target = attempt(rules.read_target, *paths)
        assert not isinstance(target, Problems)
        known = target.value.knowledge
        assert (len(known.population), len(known.release), known.guesses) == (10_000, 1000, 100)
        assert known.mechanism is not None, "the questionnaire beside D is read"
        assert known.declared is not None
        assert known.mechanism.transitions["sex"][0, 0] == pytest.approx(0.95)
    silent = attempt(rules.read_target, phase / "targets" / "03")
    assert not isinstance(silent, Problems)
    assert silent.value.knowledge.mechanism is None
    assert silent.value.knowledge.declared is None
    assert silent.value.name == "03"


def test_the_attackers_own_mechanism_goes_before_the_declared_one(phase: Path) -> None:
    assumed = registry.build("anonymizers", "rr:p=0.5")
    target = attempt(Amic2020().read_target, phase / "targets" / "01", declared=assumed)
    assert not isinstance(target, Problems)
    assert target.value.knowledge.mechanism is not None
    assert target.value.knowledge.declared is assumed
    assert target.value.knowledge.mechanism.transitions["sex"][0, 0] == pytest.approx(0.75)


def test_two_files_of_any_name_are_b_and_d_in_this_order(phase: Path, tmp_path: Path) -> None:
    b, d = tmp_path / "B.csv", tmp_path / "D.csv"
    b.write_bytes((phase / "attackers" / "pre_syntheticdata.csv").read_bytes())
    d.write_bytes(ROW.encode() * 3)
    target = attempt(Amic2020().read_target, b, d)
    assert not isinstance(target, Problems)
    assert (len(target.value.knowledge.population), target.value.form) == (10_000, 10_000)
    with pytest.raises(UsageError, match="B needs at least 100 rows"):
        Amic2020().read_target(d, b)
    with pytest.raises(UsageError, match="two files"):
        Amic2020().read_target(b)
    d.write_bytes(b"")
    assert isinstance(attempt(Amic2020().read_target, b, d), Problems)


def test_a_damaged_questionnaire_of_a_target_is_a_problem(phase: Path) -> None:
    sources = [
        Source.of(phase / "attackers" / "pre_syntheticdata.csv"),
        Source.of(phase / "targets" / "03" / "pre_anonymizeddata_03.csv"),
        Source("questionnaire_03.json", b"{"),
    ]
    assert isinstance(attempt(Amic2020().read_knowledge, sources), Problems)


# -- guesses and answers -------------------------------------------------------------------------------------------------


def index(rows: object) -> Source:
    return Source("inference_01_02.index", "".join(f"{row}\n" for row in np.asarray(rows)).encode())


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        (np.arange(100), ""),  # row 0 is valid
        (np.arange(9_900, 10_000), ""),
        (np.arange(9_901, 10_001), "0 to 9999"),  # row 10000 of 10000 is not
        (np.arange(99), "exactly 100"),
        (np.arange(101), "exactly 100"),
        ([*range(99), 0], "named twice (first in line 1)"),
        (["0.0", *range(1, 100)], "write 0"),
        (["row", *range(100)], "header"),
    ],
)
def test_a_guess_is_100_different_row_numbers_of_b_from_0(rows: object, word: str) -> None:
    found = attempt(SMALL.read_guess, 10_000, index(rows))
    if word:
        assert isinstance(found, Problems)
        assert any(word in str(problem) for problem in found)
    else:
        assert not isinstance(found, Problems)
        assert SMALL.guess_bytes(found.value) == index(rows).origin


def test_an_answer_is_read_from_its_folder_or_its_file(phase: Path, contest: Path) -> None:
    rules = Amic2020()
    by_folder = attempt(rules.read_answer, phase / "answers" / "01")
    by_file = attempt(rules.read_answer, contest / "secret" / "01" / "pre_answer_01.index")
    assert not isinstance(by_folder, Problems)
    assert not isinstance(by_file, Problems)
    assert (by_folder.value.rows == by_file.value.rows).all()
    assert rules.answer_form(by_file.value) == by_file.value.population == 10_000
    credit = rules.score_guess(by_file.value, MembershipGuess(by_file.value.rows[:100]))
    assert (credit.hits, credit.of) == (100, 100)
    assert isinstance(attempt(rules.read_answer, phase / "answers" / "12"), Problems)


def test_the_default_field_can_be_built_and_plays() -> None:
    for player in (*Amic2020().field(), *Amic2020(scale="small").field()):
        for group, text in (("anonymizers", player.anonymizer), ("attacks", player.attack)):
            assert not text or not misfit(Amic2020, registry.build(group, text)), text


def test_a_publication_does_not_depend_on_file_names(contest: Path) -> None:
    prepared: PreparedRound[Handout] = PreparedRound(Amic2020(), contest)
    handout = prepared.handout("01")
    publications = []
    for name in ("D.csv", "something else.txt"):
        read = attempt(
            prepared.rules.read_release, handout, [Source(name, table_bytes(handout.table))]
        )
        assert not isinstance(read, Problems)
        publications.append(prepared.rules.publish(prepared.secrets("01"), read.value))
    assert publications[0].target == publications[1].target
    assert set(publications[0].target) == {"pre_anonymizeddata_01.csv", "questionnaire_01.json"}


def test_a_file_of_another_round_is_refused_and_not_renamed(contest: Path, tmp_path: Path) -> None:
    sample = (contest / "teams" / "01" / "pre_samplingdata_01.csv").read_bytes()
    write_folder(tmp_path / "01", {"main_anonymizeddata_01.csv": sample})
    published = publish_round(Amic2020(), contest, tmp_path / "01", team="01")
    assert published.records[0].state == "refused"
    assert "the name says the round main, but this is pre" in published.records[0].cause
