"""Repair of releases that lie in files, unchanged releases, and probabilities, on the command line."""

from __future__ import annotations

import csv
import shutil
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.calling import call, run
from tests.pwscup2024 import small_original
from tests.reading import Read, attempt

from kakurenbo.contest import Release
from kakurenbo.contest.engine import prepare
from kakurenbo.core import Source, write_folder
from kakurenbo.methods import registry
from kakurenbo.rulebooks.amic2020 import Amic2020
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.darc2019.files import Handout as DarcHandout
from kakurenbo.rulebooks.darc2019.files import read_original
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024
from kakurenbo.rulebooks.pwscup2024.files import handout_files

REPAIR = ("anonymize", "pwscup2024", "crosstab_repair")


@pytest.fixture
def handout(tmp_path: Path) -> Path:
    """The folder of team 07: three candidates of different ZIP-codes."""
    candidates = [small_original(), small_original(seed=2), small_original(seed=3)]
    candidates[0] = candidates[0].take(candidates[0].codes["ZIP-code"] > 4)
    files = handout_files("07", candidates)
    files["contest.json"] = prepare(Pwscup2024(scale="small", data="embedded"), 1, ["07"]).folders[
        "teams/07"
    ]["contest.json"]
    write_folder(tmp_path / "07", files)
    return tmp_path / "07"


def noisy(handout: Path, out: Path) -> Path:
    assert (
        call("anonymize", "pwscup2024", "pseudo_olh", handout / "Bi07-2.csv", out, "--seed", 1).code
        == 0
    )
    return out


def utility(handout: Path, release: Path) -> float:
    measured: float = call("measure", "pwscup2024", handout, release).json["scores"]["U"]
    return measured


def test_a_repair_brings_a_release_of_the_chosen_candidate_closer(
    handout: Path, tmp_path: Path
) -> None:
    release = noisy(handout, tmp_path / "C")
    trace, figure = tmp_path / "trace.csv", tmp_path / "figure.svg"
    options = (
        "--release",
        release,
        "--rows",
        10,
        "--pairs",
        "scored",
        "--iterations",
        30,
        "--seed",
        1,
    )
    done = call(*REPAIR, handout, tmp_path / "D", *options, "--trace", trace, "--figure", figure)
    assert done.code == 0
    before, after = utility(handout, release), utility(handout, tmp_path / "D")
    assert after > before + 3
    rows = list(csv.DictReader(trace.read_text().splitlines()))
    assert list(rows[0]) == ["iteration", *(f"U_{number}" for number in range(10)), "U"]
    assert [row["iteration"] for row in rows] == [str(number) for number in range(31)]
    assert (float(rows[0]["U"]), float(rows[-1]["U"])) == pytest.approx((before, after))
    assert all(
        float(row["U"]) == min(float(row[f"U_{number}"]) for number in range(10)) for row in rows
    )
    drawn = ElementTree.parse(figure).getroot()
    assert len(drawn.findall(".//{http://www.w3.org/2000/svg}polyline")) == 10


def test_a_zip_is_repaired_and_a_zip_holds_the_number_of_its_team(
    handout: Path, tmp_path: Path
) -> None:
    packed = noisy(handout, tmp_path / "C.zip")
    assert zipfile.ZipFile(packed).read("id.txt") == b"07\n"
    done = call(
        "anonymize",
        "pwscup2024",
        "crosstab_repair_fast",
        handout,
        tmp_path / "D.zip",
        "--release",
        packed,
    )
    assert done.code == 0
    assert call("check", "pwscup2024", handout, tmp_path / "D.zip").code == 0


def test_a_release_is_checked_before_it_is_repaired(handout: Path, tmp_path: Path) -> None:
    release = noisy(handout, tmp_path / "C")
    file = release / "C07_3.csv"
    file.write_text(file.read_text().replace("\n", ",0\n", 1))
    checked = call("check", "pwscup2024", handout, release)
    repaired = call(*REPAIR, handout, tmp_path / "D", "--release", release)
    assert checked.code == repaired.code != 0
    assert checked.json["problems"] == repaired.json["problems"]
    assert not (tmp_path / "D").exists()


def test_a_forgotten_choice_is_named_with_the_candidate_that_fits(
    handout: Path, tmp_path: Path
) -> None:
    release = noisy(handout, tmp_path / "C")
    (release / "C07_choice.json").unlink()
    refused = call("check", "pwscup2024", handout, release)
    assert refused.code == 1
    (problem,) = refused.json["problems"]
    assert problem["code"] == "pwscup2024.other_candidate"
    assert "candidate 2" in problem["message"]
    (release / "C07_choice.json").write_text('{"candidate": 2}')
    assert call("check", "pwscup2024", handout, release).code == 0


def test_a_release_of_another_candidate_than_the_named_one_is_refused(
    handout: Path, tmp_path: Path
) -> None:
    release = noisy(handout, tmp_path / "C.zip")
    named = handout / "Bi07-1.csv"
    repair = (*REPAIR, named, tmp_path / "D", "--release", release)
    for arguments in (("check", "pwscup2024", named, release), repair):
        refused = call(*arguments)
        assert refused.code == 1
        (problem,) = refused.json["problems"]
        assert problem["message"] == "you named candidate 1, but the release says 2"
        assert problem["fix"] == "name Bi07-2.csv"
    assert not (tmp_path / "D").exists()
    assert call("check", "pwscup2024", handout / "Bi07-2.csv", release).code == 0


def test_files_of_another_team_are_refused_in_one_line(handout: Path, tmp_path: Path) -> None:
    release = noisy(handout, tmp_path / "C")
    for file in list(release.iterdir()):
        file.rename(release / file.name.replace("C07", "C09"))
    code, _, err = run("check", "pwscup2024", handout, release)
    assert code == 1
    assert err.count("team 09") == 1


def test_files_of_no_candidate_are_checked_as_they_are(handout: Path, tmp_path: Path) -> None:
    release = noisy(handout, tmp_path / "C")
    (release / "C07_choice.json").unlink()
    for file in release.glob("C07_*.csv"):
        lines = file.read_text().splitlines()
        file.write_text("\n".join([lines[0], *("9999" + line for line in lines[1:])]) + "\n")
    refused = call("check", "pwscup2024", handout, release)
    assert refused.code != 0
    assert "pwscup2024.other_candidate" not in {one["code"] for one in refused.json["problems"]}


@pytest.mark.parametrize(
    ("option", "able"),
    [
        ("--release", "crosstab_repair, crosstab_repair_fast"),
        ("--trace", "crosstab_repair, crosstab_repair_fast"),
    ],
)
def test_options_without_use_for_a_method_are_refused_with_the_methods_that_have_one(
    option: str, able: str, handout: Path, tmp_path: Path
) -> None:
    code, _, err = run(
        "anonymize", "pwscup2024", "pseudo_olh", handout, tmp_path / "D", option, tmp_path / "x.csv"
    )
    assert code == 2
    assert "pseudo_olh" in err
    assert able in err
    assert not (tmp_path / "D").exists()
    shown = {
        method: run("anonymize", "pwscup2024", method, "--help")[1]
        for method in ("pseudo_olh", "crosstab_repair")
    }
    assert option not in shown["pseudo_olh"]
    assert option in shown["crosstab_repair"]


def test_a_repair_without_a_release_says_that_nothing_was_changed(
    handout: Path, tmp_path: Path
) -> None:
    done = call(*REPAIR, handout, tmp_path / "C")
    assert done.code == 0
    assert [notice["code"] for notice in done.json["notices"]] == ["release.unchanged"]
    assert "nothing was changed" in done.err
    assert (
        call("anonymize", "pwscup2024", "shuffle_rows", handout, tmp_path / "D").json["notices"]
        == []
    )


def test_an_unchanged_release_is_noted_in_the_organizers_record_alone(tmp_path: Path) -> None:
    assert (
        run(
            "prepare", "pwscup2024", "-o", tmp_path / "main", "--teams", "01,02", "--scale", "small"
        )[0]
        == 0
    )
    for team, method in (("01", "crosstab_repair"), ("02", "permute_columns")):
        handout, out = tmp_path / "main" / "teams" / team, tmp_path / "in" / team
        assert call("anonymize", "pwscup2024", method, handout, out).code == 0
    code, _, err = run(
        "publish", "pwscup2024", tmp_path / "main", tmp_path / "in", "-o", tmp_path / "phase"
    )
    assert code == 0
    assert "notice: 01: the published data is the table that the team was given" in err
    assert "nothing was changed" in (tmp_path / "phase" / "answers" / "releases.json").read_text()
    assert (
        "nothing was changed" not in (tmp_path / "phase" / "public" / "releases.json").read_text()
    )


def test_amic2020_repairs_a_file_d_and_notices_the_rows_of_c_in_any_order(tmp_path: Path) -> None:
    prepared = prepare(Amic2020(scale="small", data="embedded"), 1, ["01"])
    write_folder(tmp_path / "01", prepared.folders["teams/01"])
    handout, noisy_file, repaired = tmp_path / "01", tmp_path / "D.csv", tmp_path / "E.csv"
    assert (
        call("anonymize", "amic2020", "rr", handout, noisy_file, "--p", 0.5, "--seed", 1).code == 0
    )
    done = call(
        "anonymize", "amic2020", "repair", handout, repaired, "--release", noisy_file, "--seed", 1
    )
    assert done.code == 0
    assert done.json["notices"] == []
    before, after = (
        call("measure", "amic2020", handout, file).json["scores"]["vcm"]
        for file in (noisy_file, repaired)
    )
    assert after > before
    alone = call("anonymize", "amic2020", "repair", handout, tmp_path / "F.csv")
    assert [notice["code"] for notice in alone.json["notices"]] == ["release.unchanged"]
    tree = call(
        "anonymize", "amic2020", "tree_repair", handout, tmp_path / "G.csv", "--release", noisy_file
    )
    assert tree.code == 0
    code, _, err = run(
        "anonymize", "amic2020", "rr", handout, tmp_path / "H.csv", "--release", noisy_file
    )
    assert (code, "repair, tree_repair" in err) == (2, True)


def test_a_table_of_ones_own_is_repaired_beside_its_original(tmp_path: Path) -> None:
    original, release, repaired = (
        tmp_path / f"{name}.csv" for name in ("original", "release", "repaired")
    )
    rows = [(number % 7, "a" if number % 7 < 4 else "b") for number in range(200)]
    original.write_text("n,w\n" + "".join(f"{n},{w}\n" for n, w in rows))
    release.write_text(
        "n,w\n"
        + "".join(f"{n},{w}\n" for n, w in zip((n for n, _ in rows), "ab" * 100, strict=True))
    )
    done = call(
        "anonymize",
        "table",
        "repair",
        original,
        repaired,
        "--release",
        release,
        "--vcm",
        10,
        "--seed",
        1,
    )
    assert done.code == 0
    agreeing = [
        line
        for line in repaired.read_text().splitlines()[1:]
        if (line[0] < "4") == (line[2] == "a")
    ]
    assert len(agreeing) > 150
    release.write_text("n\n1\n")
    refused = call(
        "anonymize", "table", "repair", original, tmp_path / "x.csv", "--release", release
    )
    assert refused.code != 0
    assert not (tmp_path / "x.csv").exists()


# -- probabilities -----------------------------------------------------------------------------------------------------

POSTER = {"Gender": (2, 0.88), "Age": (7, 0.55), "ZIP-code": (495, 0.01), "56": (6, 0.60)}


@pytest.fixture
def poster(tmp_path: Path) -> Path:
    """A B whose columns have as many values as the poster's."""
    table = small_original(600)
    lines = ["Name,Gender,Age,Occupation,ZIP-code," + ",".join(table.schema.names[5:])]
    for number, row in enumerate(table.rows()):
        lines.append(",".join(map(str, (*row[:4], 100 + number % 495, *row[5:]))))
    (tmp_path / "Bi09.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "Bi09.csv"


@pytest.mark.parametrize("steps", [(), ("pseudo_olh:epsilon=2|crosstab_repair_fast:utility=60",)])
def test_pseudo_olh_tells_the_posters_four_probabilities(
    steps: tuple[str, ...], poster: Path, tmp_path: Path
) -> None:
    method = (
        ("pipeline", poster, tmp_path / "C", "--steps", *steps)
        if steps
        else ("pseudo_olh", poster, tmp_path / "C")
    )
    done = call("anonymize", "pwscup2024", *method)
    told = done.json["claims"]["steps"][0] if steps else done.json["claims"]
    for column, (values, keep) in POSTER.items():
        assert told["keep"][column] == pytest.approx(keep, abs=0.005)
        assert told["change"][column] == pytest.approx((1 - told["keep"][column]) / (values - 1))
    shutil.rmtree(tmp_path / "C")
    shown = run("anonymize", "pwscup2024", *method)[1]
    assert all(f"{told['keep'][column]:.4f}" in shown for column in POSTER)


def test_olh_and_rr_tell_their_probabilities(poster: Path, tmp_path: Path) -> None:
    olh = call("anonymize", "pwscup2024", "olh", poster, tmp_path / "C").json["claims"]
    assert 0 < olh["keep"]["ZIP-code"] < olh["keep"]["Gender"] < 1
    table = tmp_path / "table.csv"
    table.write_text("sex\n" + "F\nM\n" * 20)
    rr = call("anonymize", "table", "rr", table, tmp_path / "out.csv", "--p", 0.5).json["claims"]
    assert (rr["keep"]["sex"], rr["change"]["sex"]) == (0.75, 0.25)
    assert isinstance(rr["epsilon"], float)


def test_t_itself_is_an_unchanged_release_of_darc2019_and_monthly_pseudonyms_are_none() -> None:
    rules = Darc2019(scale="small", data="embedded")
    original = attempt(
        read_original,
        Source("T.csv", prepare(rules, 1, ["01"]).folders["teams/01"]["ground_truth.csv"]),
    )
    assert isinstance(original, Read)
    handout = DarcHandout("01", original.value)
    assert rules.is_unchanged(handout, Release.of(original.value))
    release = rules.anonymize(
        handout, registry.build("anonymizers", "pipeline"), np.random.default_rng(1)
    )
    assert not rules.is_unchanged(handout, release)


def test_deleted_rows_alone_change_no_row_of_pwscup2021(tmp_path: Path) -> None:
    prepared = ("prepare", "pwscup2021", "-o", tmp_path / "p", "--teams", "01", "--scale", "small")
    assert run(*prepared)[0] == 0
    handout = tmp_path / "p" / "teams" / "01"
    same = call("anonymize", "pwscup2021", "pipeline", handout, tmp_path / "same").json["notices"]
    other = call("anonymize", "pwscup2021", "rr", handout, tmp_path / "other").json["notices"]
    assert [notice["code"] for notice in same] == ["release.unchanged"]
    assert other == []
