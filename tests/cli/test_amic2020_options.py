"""amic2020 on the command line: thresholds that are switched off, rounds without awards, generators on any table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.calling import call, run

from kakurenbo.core import table_bytes
from kakurenbo.data.adult import COMPLETE_ROWS, embedded_adult
from kakurenbo.data.store import load_adult
from kakurenbo.rulebooks.amic2020 import Amic2020

TEXT = {"histogram": 0.99, "vcm": 0.4, "dta_relationship": 0.85, "dta_income": 0.85}
MAIN = {
    "dta_relationship": 0.95,
    "dta_income": 0.95,
    "max_histogram_error": 0.03,
    "max_correlation_difference": 0.1,
}
HITS = ",01,02,03\n01,,40,20\n02,10,,30\n03,25,35,\n"


def deciding(rules: Amic2020) -> dict[str, float]:
    return {name: value for name, value in rules.threshold_values().items() if value is not None}


@pytest.mark.parametrize("round_", ["pre", "main", "trial"])
def test_rules2020_gives_the_thresholds_of_the_text_in_every_round(round_: str) -> None:
    assert deciding(Amic2020(round=round_, thresholds="rules2020")) == TEXT


def test_single_thresholds_override_the_set_and_can_be_switched_off() -> None:
    assert deciding(Amic2020(round="main")) == MAIN
    assert deciding(Amic2020(round="main", thresholds="rules2020", vcm=0.1)) == {**TEXT, "vcm": 0.1}
    assert deciding(Amic2020(round="main", dta_income=None)) == MAIN, "none is the round's own"
    for name in MAIN:
        kept = {other: value for other, value in MAIN.items() if other != name}
        assert deciding(Amic2020(round="main").with_parameters(**{name: "off"})) == kept


@pytest.fixture(scope="module")
def contests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contests")
    common = (
        "--teams",
        "2",
        "--scale",
        "small",
        "--data",
        "embedded",
        "--seed",
        "1",
        "--round",
        "main",
    )
    assert (
        run(
            "prepare",
            "amic2020",
            "-o",
            folder / "text",
            *common,
            "--thresholds",
            "rules2020",
            "--vcm",
            "0.01",
        )[0]
        == 0
    )
    assert (
        run("prepare", "amic2020", "-o", folder / "off", *common, "--max-histogram-error", "off")[0]
        == 0
    )
    for name in ("text", "off"):
        release = folder / f"submissions/{name}/01/main_anonymizeddata_01.csv"
        release.parent.mkdir(parents=True)
        sample = folder / name / "teams/01/main_samplingdata_01.csv"
        release.write_bytes(sample.read_bytes())
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("text", {**TEXT, "vcm": 0.01}),
        ("off", {other: value for other, value in MAIN.items() if other != "max_histogram_error"}),
    ],
)
def test_the_thresholds_of_a_contest_are_recorded_and_honoured(
    contests: Path, name: str, expected: dict[str, float]
) -> None:
    settings = json.loads((contests / name / "public/contest.json").read_text())["settings"]
    assert settings["thresholds"] == ("rules2020" if name == "text" else "round")
    release = contests / f"submissions/{name}/01/main_anonymizeddata_01.csv"
    measured = call("measure", "amic2020", contests / name / "teams/01", release)
    assert {
        key: next(iter(limit.values())) for key, limit in measured.json["thresholds"].items()
    } == expected
    published = call(
        "publish",
        "amic2020",
        contests / name,
        contests / "submissions" / name,
        "-o",
        contests / f"phase-{name}",
    )
    assert published.json["published"] == ["01"]
    record = json.loads((contests / f"phase-{name}/public/releases.json").read_text())[0]
    decided = {line["name"] for line in record["measurements"] if line["passes"] is not None}
    assert decided == set(expected)
    assert run("verify", "amic2020", contests / name, contests / f"phase-{name}", "--again")[0] == 0


def test_measure_may_ask_for_another_set_than_the_contest(contests: Path) -> None:
    release = contests / "submissions/off/01/main_anonymizeddata_01.csv"
    measured = call(
        "measure", "amic2020", contests / "off/teams/01", release, "--thresholds", "rules2020"
    )
    assert set(measured.json["thresholds"]) == set(TEXT)


def test_a_threshold_is_a_number_off_or_none(tmp_path: Path) -> None:
    code, _, err = run("prepare", "amic2020", "-o", tmp_path / "x", "--teams", "2", "--vcm", "low")
    assert code == 2
    assert "off" in err


# -- awards ----------------------------------------------------------------------------------------


def test_the_preliminary_round_alone_has_rankings_and_no_awards(tmp_path: Path) -> None:
    hits = tmp_path / "hits.csv"
    hits.write_text(HITS)
    found = call("standings", "amic2020", "--pre", hits)
    assert [line["team"] for line in found.json["overall"]] == ["01", "03", "02"]
    assert found.json["awards"] == {}
    assert "preliminary" in found.json["no_awards"]
    _, out, _ = run("standings", "amic2020", "--pre", hits)
    assert "award for" not in out
    assert "No awards: the rules give none to the winners of the preliminary round." in out


@pytest.mark.parametrize("named", [[], ["--main"]])
def test_the_final_round_and_a_matrix_without_a_round_have_awards(
    tmp_path: Path, named: list[str]
) -> None:
    hits = tmp_path / "hits.csv"
    hits.write_text(HITS)
    found = call("standings", "amic2020", *named, hits)
    assert found.json["awards"]["overall"] == ["01", "03", "02"]
    assert "no_awards" not in found.json


def test_both_rounds_together_have_awards(tmp_path: Path) -> None:
    hits = tmp_path / "hits.csv"
    hits.write_text(HITS)
    found = call("standings", "amic2020", "--pre", hits, "--main", hits)
    assert found.json["awards"]["anonymization"] == ["01", "03", "02"]


def test_score_and_report_of_the_preliminary_round_say_why_there_are_no_awards(
    tmp_path: Path,
) -> None:
    settings = ("--teams", "2", "--scale", "small", "--data", "embedded", "--seed", "1")
    run("prepare", "amic2020", "-o", tmp_path / "pre", *settings)
    for team in ("01", "02"):
        release = tmp_path / f"submissions/{team}/D.csv"
        release.parent.mkdir(parents=True)
        release.write_bytes(
            (tmp_path / f"pre/teams/{team}/pre_samplingdata_{team}.csv").read_bytes()
        )
    run("publish", "amic2020", tmp_path / "pre", tmp_path / "submissions", "-o", tmp_path / "phase")
    (tmp_path / "guesses").mkdir()
    run(
        "score",
        "amic2020",
        tmp_path / "phase",
        tmp_path / "guesses",
        "-o",
        tmp_path / "results.json",
    )
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["awards"] == {}
    assert "preliminary" in results["details"]["no_awards"]
    assert "予備戦" in results["award_notices"]["no_awards"]["ja"]
    sentences = " ".join(results["verdicts"]["en"])
    assert "won" not in sentences
    assert run("report", tmp_path / "results.json", "-o", tmp_path / "report.html")[0] == 0
    assert "none to the winners of the preliminary round" in (tmp_path / "report.html").read_text()


# -- gen.py on any table ---------------------------------------------------------------------------


@pytest.mark.parametrize("generator", ["moments", "omth17"])
def test_the_generator_takes_a_table_of_nine_columns(tmp_path: Path, generator: str) -> None:
    train = embedded_adult().train
    men = train.take((train.texts("sex") == "Male").to_numpy().nonzero()[0])
    (tmp_path / "A.csv").write_bytes(table_bytes(men))
    (tmp_path / "A.csv.gz").write_bytes(gzip.compress(table_bytes(men)))
    options = ("--rows", 500, "--distinct", "--generator", generator, "--seed", 1)
    found = call(
        "generate", "amic2020", "--from", tmp_path / "A.csv", *options, "-o", tmp_path / "B.csv"
    )
    assert found.code == 0
    assert found.json["data"] == "A.csv"
    lines = (tmp_path / "B.csv").read_text().splitlines()
    assert len(set(lines)) == 500
    assert all(line.split(",")[6] == "Male" for line in lines), (
        "as in the table, not as in the contest's data"
    )
    run(
        "generate",
        "amic2020",
        "--from",
        tmp_path / "A.csv.gz",
        *options,
        "-o",
        tmp_path / "again.csv",
    )
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "B.csv").read_bytes()


def test_the_generator_takes_an_original_census_file(tmp_path: Path) -> None:
    rest = "1, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 0, 0, 40, Cuba, <=50K"
    (tmp_path / "adult.data").write_text(
        "".join(f"{age}, Private, {rest}\n" for age in range(20, 60)) + "\n"
    )
    found = call(
        "generate",
        "amic2020",
        "--from",
        tmp_path / "adult.data",
        "--rows",
        50,
        "-o",
        tmp_path / "B.csv",
    )
    assert found.code == 0
    assert len((tmp_path / "B.csv").read_text().splitlines()) == 50


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.csv").write_text("1,2\n")
    code, _, err = run(
        "generate", "amic2020", "--from", tmp_path / "A.csv", "-o", tmp_path / "B.csv"
    )
    assert code in (1, 2)
    assert "A.csv:1" in err
    assert not (tmp_path / "B.csv").exists()


def test_the_contests_own_files_of_nine_columns_can_be_imported(tmp_path: Path) -> None:
    adult = embedded_adult()
    (tmp_path / "census_income.data.csv").write_bytes(table_bytes(adult.train))
    (tmp_path / "test.csv").write_bytes(table_bytes(adult.test))
    found = call(
        "data", "import", "adult", tmp_path / "test.csv", tmp_path / "census_income.data.csv"
    )
    assert found.code == 0
    assert {part: found.json[part]["rows"] for part in COMPLETE_ROWS} == dict(COMPLETE_ROWS)
    assert load_adult() == adult
    (tmp_path / "test.csv").write_bytes(table_bytes(adult.test)[:-40].rpartition(b"\n")[0] + b"\n")
    code, _, err = run(
        "data", "import", "adult", tmp_path / "test.csv", tmp_path / "census_income.data.csv"
    )
    assert code == 2
    assert "train" in err


def test_naming_the_contests_own_set_of_thresholds_again_changes_nothing(contests: Path) -> None:
    handout, release = (
        contests / "text/teams/01",
        contests / "submissions/text/01/main_anonymizeddata_01.csv",
    )
    plain = call("measure", "amic2020", handout, release)
    again = call("measure", "amic2020", handout, release, "--thresholds", "rules2020")
    assert again.json["thresholds"] == plain.json["thresholds"]
