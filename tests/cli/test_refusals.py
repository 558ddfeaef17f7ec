"""What organizers and players are told of folders and files that cannot be taken as they are."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from tests.calling import call, run

PREPARE = ("prepare", "amic2020", "--scale", "small", "--round", "pre", "--seed", "7")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refusals") / "round"
    assert run(*PREPARE, "-o", folder, "--teams", "2")[0] == 0
    return folder


@pytest.fixture(scope="module")
def handed(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of each team."""
    folder = tmp_path_factory.mktemp("handed")
    for team in ("01", "02"):
        out = folder / team / f"pre_anonymizeddata_{team}.csv"
        given = prepared / "teams" / team
        assert run("anonymize", "amic2020", "rr", given, out, "--p", "0.999", "--seed", 1)[0] == 0
    return folder


def test_a_folder_of_thousands_of_files_is_reported_in_one_line(
    prepared: Path, handed: Path, tmp_path: Path
) -> None:
    shutil.copytree(handed, tmp_path / "handed")
    for number in range(1200):
        (tmp_path / "handed" / "02" / f"f{number:04d}.csv").touch()
    _, _, err = run("publish", "amic2020", prepared, tmp_path / "handed", "-o", tmp_path / "phase")
    lines = [line for line in err.splitlines() if "more than 200 files" in line]
    (line,) = lines
    assert line.startswith("02/f0200.csv, 02/f0201.csv, 02/f0202.csv and ")
    assert " more: " in line


def form(tmp_path: Path, **content: object) -> Path:
    path = tmp_path / "pre_questionnaire_01.json"
    path.write_text(json.dumps(content))
    return path


def test_an_unknown_declared_method_does_not_list_methods_of_other_contests(
    prepared: Path, tmp_path: Path
) -> None:
    declared = form(tmp_path, declared="pipeline:steps=../../etc/passwd")
    _, _, err = run("check", "amic2020", prepared / "teams/01", declared)
    assert "no anonymizer is called '../../etc/passwd'" in err
    assert "kakurenbo list anonymizers" in err
    assert "crosstab_repair" not in err


@pytest.mark.parametrize("sign", ["\x1b", "\u202e", "\u2066", "\x07"])
def test_signs_that_act_on_a_terminal_cost_the_form_and_not_the_release(
    prepared: Path, handed: Path, tmp_path: Path, sign: str
) -> None:
    asked = form(tmp_path, claims={"others": {"name": f"k{sign}[31m", "value": 1}})
    code, _, err = run("check", "amic2020", prepared / "teams/01", asked)
    assert code == 1
    assert "claims, others, name" in err
    assert sign not in err
    shutil.copytree(handed / "01", tmp_path / "01")
    shutil.copy(asked, tmp_path / "01")
    checked = call("check", "amic2020", prepared / "teams/01", tmp_path / "01")
    assert checked.json["valid"]
    assert checked.json["attachments"]


def test_words_in_any_language_and_line_ends_are_taken(prepared: Path, tmp_path: Path) -> None:
    written = form(tmp_path, methods={"Record Deletion": "約3,000件\n全角\u3000も可"})
    assert run("check", "amic2020", prepared / "teams/01", written)[0] == 0


def test_a_seed_that_is_a_number_is_read(prepared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "round"
    shutil.copytree(prepared, folder)
    opening = folder / "secret" / "opening.json"
    content = json.loads(opening.read_text())
    opening.write_text(json.dumps({**content, "seed": int(content["seed"])}))
    _, out, err = run("verify", "amic2020", folder)
    assert "not a number" not in err
    assert "opening.json" in out + err


@pytest.mark.parametrize("seed", [True, 4.0, -4, None, "４", "four"])
def test_what_is_no_seed_is_refused(prepared: Path, tmp_path: Path, seed: object) -> None:
    folder = tmp_path / "round"
    shutil.copytree(prepared, folder)
    opening = folder / "secret" / "opening.json"
    opening.write_text(json.dumps({**json.loads(opening.read_text()), "seed": seed}))
    code, _, err = run("verify", "amic2020", folder)
    assert code == 2
    assert "not a number" in err


def test_an_emptied_file_of_commitments_is_said_to_hold_none(
    prepared: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "round"
    shutil.copytree(prepared, folder)
    (folder / "public" / "commitments.json").write_text("{}")
    code, _, err = run("verify", "amic2020", folder)
    assert code == 2
    assert "there are no commitments in it" in err
    assert "''" not in err


@pytest.mark.parametrize("teams", ["０１,02", "３", "01-０３"])
def test_teams_are_written_with_plain_digits(tmp_path: Path, teams: str) -> None:
    code, _, err = run(*PREPARE, "-o", tmp_path / "round", "--teams", teams)
    assert code == 2
    assert "--teams" in err
    assert not (tmp_path / "round").exists()


def test_a_judge_cannot_be_unranked(tmp_path: Path) -> None:
    options = ("--teams", "3", "--judges", "01,02", "--unranked", "01")
    code, _, err = run(*PREPARE, "-o", tmp_path / "round", *options)
    assert code == 2
    assert "01: --judges and --unranked exclude each other" in err


def test_one_entry_of_the_operating_system_is_an_entry(tmp_path: Path) -> None:
    handout = tmp_path / "round"
    asked = ("--scale", "small", "--data", "embedded", "--seed", "7", "--teams", "1")
    assert run("prepare", "pwscup2024", "-o", handout, *asked)[0] == 0
    release = tmp_path / "C01.zip"
    run("anonymize", "pwscup2024", "pseudo_olh", handout / "teams/01", release, "--seed", 1)
    with zipfile.ZipFile(release, "a") as archive:
        archive.writestr("__MACOSX/._C01_0.csv", b"")
    _, _, err = run("check", "pwscup2024", handout / "teams/01", release)
    assert "1 entry of the operating system" in err


def test_a_choice_that_is_a_link_is_said_to_be_left_aside(tmp_path: Path) -> None:
    handout = tmp_path / "round"
    asked = ("--scale", "small", "--data", "embedded", "--seed", "7", "--teams", "1")
    assert run("prepare", "pwscup2024", "-o", handout, *asked)[0] == 0
    release = tmp_path / "handed" / "01"
    run("anonymize", "pwscup2024", "pseudo_olh", handout / "teams/01", release, "--seed", 1)
    choice = release / "C01_choice.json"
    choice.rename(tmp_path / "choice.json")
    choice.symlink_to(tmp_path / "choice.json")
    _, _, err = run("publish", "pwscup2024", handout, release.parent, "-o", tmp_path / "phase")
    assert "no regular file (links and pipes are left aside)" in err
    assert "01/C01_choice.json: " in err
