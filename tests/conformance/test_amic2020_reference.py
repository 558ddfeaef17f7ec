"""amic2020 against the real Census files and the reference values of an independent plain implementation."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo.cli import main
from kakurenbo.core import Moments, Problems, Source, Table, read_table
from kakurenbo.data.adult import SCHEMA, adult_statistics, read_uci
from kakurenbo.rulebooks.amic2020 import Amic2020, Handout, Questionnaire, Submission

CASES = ("rrp90", "swap20", "fresh_sample")


@pytest.fixture(scope="module")
def census(reference_data: Path) -> Callable[[str], Table]:
    def read(name: str) -> Table:
        found = attempt(read_uci, Source.of(reference_data / "adult" / name))
        assert not isinstance(found, Problems), found
        return found.value

    return read


def test_a_has_the_check_values_of_the_rules(census: Callable[[str], Table]) -> None:
    personal = census("adult.data.gz")
    moments = Moments.of(personal)
    assert len(personal) == 30_162
    assert len(np.unique(personal.keys())) == 25_014
    age, hours = 0, 1 + 8 + 16 + 7 + 14 + 6 + 2
    covariance = moments.covariance
    assert moments.mean[[age, hours]] == pytest.approx([38.437902, 40.931238], abs=5e-7)
    assert np.sqrt(np.diag(covariance))[[age, hours]] == pytest.approx(
        [13.134665, 11.979984], abs=5e-7
    )
    assert covariance[age, hours] == pytest.approx(15.986877, abs=5e-7)
    assert np.trace(covariance) == pytest.approx(320.37676, abs=5e-6)
    assert np.abs(covariance).sum() == pytest.approx(443.51468, abs=5e-6)


def test_the_test_rows_are_the_complete_rows_of_the_test_file(
    census: Callable[[str], Table],
) -> None:
    assert len(census("adult.test.gz")) == 15_060


def test_the_embedded_statistics_are_those_of_the_real_files(
    census: Callable[[str], Table],
) -> None:
    for part, name in (("train", "adult.data.gz"), ("test", "adult.test.gz")):
        real, embedded = Moments.of(census(name)), adult_statistics(part)
        assert real.count == embedded.count
        assert (real.products == embedded.products).all()
        assert all(
            (a == b).all() for a, b in zip(real.histograms, embedded.histograms, strict=True)
        )


@pytest.mark.parametrize("case", CASES)
def test_every_measure_equals_the_reference(
    case: str, reference_data: Path, census: Callable[[str], Table]
) -> None:
    folder = reference_data / "amic2020" / "reference"
    reference: dict[str, Any] = json.loads((folder / "reference.json").read_text())
    expected = reference["cases"][case]
    read = [
        attempt(read_table, Source.of(folder / name), SCHEMA)
        for name in ("C.csv.gz", f"D_{case}.csv.gz")
    ]
    sample, released = (table.value for table in read if not isinstance(table, Problems))
    handout, submission = (
        Handout("01", sample, census("adult.test.gz")),
        Submission(released, Questionnaire()),
    )
    scores = Amic2020().measure(handout, submission).scores
    for name in ("histogram", "vcm_edition1", "vcm_edition2", "max_correlation_difference"):
        assert scores[name].value == pytest.approx(expected[name], abs=1e-9)
    assert scores["histogram"].parts == expected["histogram_abs_difference"]
    tolerance = 1e-9 if version("scikit-learn") == reference["versions"]["scikit-learn"] else 0.01
    for name in ("dta_relationship", "dta_income", "dta_income_gt50k"):
        assert scores[name].value == pytest.approx(expected[name], abs=tolerance)
    other_class = Amic2020(positive=">50K").measure(handout, submission).scores
    assert other_class["dta_income"] == scores["dta_income_gt50k"]
    assert other_class["dta_income_le50k"] == scores["dta_income"]


def test_imported_files_are_used_and_named(
    reference_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KAKURENBO_HOME", str(tmp_path / "store"))

    def run(*arguments: object) -> tuple[int, dict[str, Any]]:
        with pytest.raises(SystemExit) as left:
            main([*map(str, arguments), "--json"])
        return int(left.value.code or 0), json.loads(capsys.readouterr().out)

    files = [reference_data / "adult" / name for name in ("adult.test.gz", "adult.data.gz")]
    assert run("data", "import", "adult", files[0])[0] == 2, "both files are needed"
    code, report = run("data", "import", "adult", *files)
    assert code == 0
    assert (report["train"]["rows"], report["test"]["rows"]) == (30_162, 15_060)
    code, report = run("prepare", "amic2020", "-o", tmp_path / "pre", "--teams", "1", "--seed", "1")
    assert code == 0
    assert report["data"] == "Census Income, imported files"
    assert len((tmp_path / "pre" / "teams" / "01" / "test.csv").read_text().splitlines()) == 15_060
    assert (
        len((tmp_path / "pre" / "attackers" / "pre_syntheticdata.csv").read_text().splitlines())
        == 100_000
    )
    facts = json.loads((tmp_path / "pre" / "public" / "contest.json").read_text())
    assert facts["settings"]["data"] == "imported", "auto was resolved"
    monkeypatch.setenv("KAKURENBO_HOME", str(tmp_path / "nothing"))
    code, report = run("verify", "amic2020", tmp_path / "pre", "--again")
    assert code == 1
    broken = [finding for finding in report["findings"] if finding["state"] != "kept"]
    assert [finding["state"] for finding in broken] == ["cannot be made again"], "nobody is accused"
    assert "data import adult" in broken[0]["why"]
    monkeypatch.setenv("KAKURENBO_HOME", str(tmp_path / "store"))
    (tmp_path / "store" / "adult" / "train.csv").write_text("damaged")
    code, report = run("prepare", "amic2020", "-o", tmp_path / "other", "--teams", "1")
    assert code == 2
    assert "import it again" in report["error"]


def test_measure_takes_the_sample_file_and_the_census_test_file(
    reference_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = reference_data / "amic2020" / "reference"
    with pytest.raises(SystemExit) as left:
        main(
            [
                "measure",
                "amic2020",
                str(folder / "C.csv.gz"),
                str(folder / "D_rrp90.csv.gz"),
                "--test",
                str(reference_data / "adult" / "adult.test.gz"),
                "--json",
            ]
        )
    found = json.loads(capsys.readouterr().out)
    assert left.value.code == 1, "vcm is below .4"
    assert found["scores"]["dta_income"] == pytest.approx(0.9314982056236937, abs=0.01)
    assert found["limits"]["vcm"]["pair"] == ["hours-per-week", "hours-per-week"]
