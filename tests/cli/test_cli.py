"""The command line's contract: exit codes, JSON, and that a failed call writes nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kakurenbo.cli import VERBS, main
from kakurenbo.methods import registry

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line; gives exit code, parsed JSON (or text) of stdout, and stderr."""

    def call(*arguments: object) -> tuple[int, Any, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), json.loads(out) if "--json" in arguments else out, err

    return call


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small prepared round with three teams."""
    folder = tmp_path_factory.mktemp("contest") / "pre"
    with pytest.raises(SystemExit) as left:
        main(
            [
                "prepare",
                "amic2020",
                "-o",
                str(folder),
                "--teams",
                "3",
                "--scale",
                "small",
                "--seed",
                "7",
            ]
        )
    assert not left.value.code
    return folder


def test_every_verb_has_help(run: Run) -> None:
    for verb in VERBS:
        code, text, _ = run(verb, "--help")
        assert code == 0
        assert "Usage: kakurenbo" in text


def test_a_contest_from_preparation_to_credit(run: Run, contest: Path, tmp_path: Path) -> None:
    handout = contest / "teams" / "02"
    release = tmp_path / "pre_anonymizeddata_02.csv"
    code, report, _ = run(
        "anonymize", "amic2020", "rr", handout, release, "--p", "0.999", "--seed", "1", "--json"
    )
    assert code == 0
    assert report["rows"] == 1000
    assert run("check", "amic2020", handout, release, "--json") == (
        0,
        {"valid": True, "notices": []},
        "",
    )

    code, measured, _ = run("measure", "amic2020", handout, release, "--json")
    assert set(measured) == {"valid", "passes", "scores", "thresholds", "limits"}
    names = {"histogram", "vcm", "vcm_edition1", "vcm_edition2", "dta_relationship", "dta_income"}
    assert names <= set(measured["scores"])
    assert measured["scores"]["vcm"] == measured["scores"]["vcm_edition1"]
    assert code == (0 if measured["passes"] else 1)

    published = tmp_path / "published"
    code, told, _ = run("publish", "amic2020", contest, release, "-o", published, "--json")
    assert code == 1, "01 and 03 handed in nothing"
    assert told["published"] == ["02"]
    assert [entry["team"] for entry in told["missing"]] == ["01", "03"]
    form = json.loads((published / "targets" / "02" / "questionnaire_02.json").read_text())
    assert form["computed"]["k"] >= 1
    population, target = (
        published / "attackers" / "pre_syntheticdata.csv",
        published / "targets" / "02" / release.name,
    )
    guess = tmp_path / "inference_02_01.index"
    assert run("attack", "amic2020", "nearest", population, target, "-o", guess, "--json")[0] == 0
    assert len(guess.read_text().split()) == 100
    code, credit, _ = run(
        "credit", "amic2020", published / "answers" / "02" / "pre_answer_02.index", guess, "--json"
    )
    assert code == 0
    assert credit["of"] == 100
    assert credit["hits"] > 80, "hardly anything was changed, so nearly every guess hits"
    assert credit["chance"] == {"hits": 10.0, "band95": [5.0, 16.0]}


def test_measure_shows_privacy_models_where_they_are_asked_for(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    handout, entry = contest / "teams" / "02", tmp_path / "entry"
    entry.mkdir()
    run(
        "anonymize",
        "amic2020",
        "rr",
        handout,
        entry / "pre_anonymizeddata_02.csv",
        "--p",
        "0.999",
        "--seed",
        "1",
    )
    (entry / "questionnaire_02.json").write_text('{"declared": "rr:p=0.999"}', encoding="utf-8")
    population = contest / "attackers" / "pre_syntheticdata.csv"
    asked = ("measure", "amic2020", handout, entry, "--privacy")
    _, all_columns, _ = run(*asked, "--json")
    assert set(all_columns["privacy"]) == {"k", "l", "l_entropy", "t", "epsilon", "Pk"}
    assert not set(all_columns["privacy"]) & set(all_columns["scores"]), "no score counts them"
    _, few, _ = run(
        *asked, "--known", "sex", "--secret", "age", "--population", population, "--json"
    )
    assert few["privacy"]["k"] > 100 > 1 == all_columns["privacy"]["k"]
    assert few["privacy"]["t"] < 0.2
    assert 0 <= few["privacy"]["delta_absence"] < few["privacy"]["delta_presence"] == 1
    _, shown, _ = run(*asked)
    assert "no score counts them" in shown
    assert "Pk-anonymity" in shown

    code, _, told = run("measure", "amic2020", handout, entry, "--known", "sex")
    assert (code, "give --privacy with it" in told) == (2, True)
    code, _, told = run(*asked, "--known", "shoe size")
    assert (code, "there is no column 'shoe size'" in told) == (2, True)
    assert run(*asked, "--population", handout / "test.csv")[0] in (0, 1)
    assert run(*asked, "--population", entry / "questionnaire_02.json")[0] == 2
    assert "--privacy" not in run("measure", "darc2019", "--help")[1], (
        "transactions have no such figures"
    )


def test_the_same_seed_gives_the_same_bytes(run: Run, contest: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert (
        run("prepare", "amic2020", "-o", again, "--teams", "3", "--scale", "small", "--seed", "7")[
            0
        ]
        == 0
    )
    for path in contest.rglob("*"):
        if path.is_file():
            assert (again / path.relative_to(contest)).read_bytes() == path.read_bytes()


def test_verify_after_the_reveal(run: Run, contest: Path, tmp_path: Path) -> None:
    code, found, _ = run("verify", "amic2020", contest, "--again", "--json")
    assert code == 0
    assert found["verified"]
    assert {finding["state"] for finding in found["findings"]} == {"kept"}
    assert "seed" in {finding["name"] for finding in found["findings"]}

    forged = tmp_path / "forged"
    shutil.copytree(contest, forged)
    answer = forged / "secret" / "02" / "pre_answer_02.index"
    lines = answer.read_text().split()
    answer.write_text("\n".join([*lines[1:], lines[0]]) + "\n")
    (forged / "secret" / "03" / "pre_answer_03.index").unlink()
    code, found, _ = run("verify", "amic2020", forged, "--json")
    assert code == 1
    states = {finding["name"]: finding["state"] for finding in found["findings"]}
    assert states["secret/01/pre_answer_01.index"] == "kept"
    assert states["secret/02/pre_answer_02.index"] == "broken"
    assert states["secret/03/pre_answer_03.index"] == "not revealed"


@pytest.mark.parametrize(
    ("language", "plain", "again"),
    [
        ("en", "uncommitted: {} files, 1 seed", "uncommitted: {} files, 1 seed; made again: {}"),
        (
            "ja",
            "ありません: {} ファイル、1 個の種",
            "ありません: {} ファイル、1 個の種。作り直して比べたもの: {}",
        ),
    ],
)
def test_verify_counts_every_file_once_and_seeds_apart(
    run: Run, contest: Path, monkeypatch: pytest.MonkeyPatch, language: str, plain: str, again: str
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    there = sum(path.is_file() for path in contest.rglob("*"))
    committed = there - 2  # the commitments and what opens them commit to the others
    assert run("verify", "amic2020", contest)[1].rstrip().endswith(plain.format(committed))
    assert (
        run("verify", "amic2020", contest, "--again")[1]
        .rstrip()
        .endswith(again.format(there, there))
    )


def test_verify_sums_up_what_was_kept_and_names_everything_else(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    code, text, _ = run("verify", "amic2020", contest)
    assert code == 0
    kept = [line.split()[1:] for line in text.splitlines() if line.startswith("kept")]
    assert ["attackers/:", "4", "files"] in kept
    assert ["public/:", "3", "files"] in kept
    assert ["seed"] in kept
    assert len(kept) == 5
    assert "secret/01/pre_answer_01.index" not in text
    assert (
        "kept             secret/01/pre_answer_01.index"
        in run("verify", "amic2020", contest, "--verbose")[1]
    )
    forged = tmp_path / "forged"
    shutil.copytree(contest, forged)
    (forged / "secret" / "02" / "pre_answer_02.index").write_text("0\n")
    (forged / "seed").write_text("7")
    code, text, _ = run("verify", "amic2020", forged)
    assert code == 1
    assert [line.split() for line in text.splitlines()[:2]] == [
        ["broken", "secret/02/pre_answer_02.index"],
        ["not", "committed", "seed"],
    ]


def without_entries(content: dict[str, Any]) -> None:
    content["commitments"].clear()


def with_the_seed_alone(content: dict[str, Any]) -> None:
    content["commitments"] = {"seed": content["commitments"]["seed"]}


def without_one_entry(content: dict[str, Any]) -> None:
    del content["commitments"]["secret/02/pre_answer_02.index"]


def of_another_contest(content: dict[str, Any]) -> None:
    content["scope"] = "darc2019 final preparation"


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (without_entries, 2, "there are no commitments in it"),
        (with_the_seed_alone, 1, "not committed"),
        (without_one_entry, 1, "not committed    secret/02/pre_answer_02.index"),
        (of_another_contest, 2, "these are the commitments of 'darc2019 final preparation'"),
    ],
)
@pytest.mark.parametrize("announced", [True, False])
def test_changed_commitments_are_never_kept(
    run: Run,
    contest: Path,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    code: int,
    word: str,
    announced: bool,
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(contest, forged)
    place = forged / "public" / "commitments.json"
    content = json.loads(place.read_bytes())
    change(content)
    data = json.dumps(content, indent=1, sort_keys=True) + "\n"
    if announced:
        (tmp_path / "announced.json").write_text(data)
    else:
        place.write_text(data)
    found, text, err = run(
        "verify",
        "amic2020",
        forged,
        *(["--commitments", tmp_path / "announced.json"] if announced else []),
    )
    assert found == code
    assert word in text + err
    assert not [line for line in text.splitlines() if line.startswith("every commitment was kept")]


def test_the_folder_of_another_rulebook_is_never_kept(run: Run, contest: Path) -> None:
    code, text, err = run("verify", "darc2019", contest)
    assert code == 2
    assert "contest of amic2020, not of darc2019" in err
    assert text == ""


ROW = "39,Private,Bachelors,Never-married,Adm-clerical,Not-in-family,Male,40,<=50K\n"


@pytest.mark.parametrize(
    ("content", "code", "row", "word"),
    [
        (ROW * 99, 1, None, "100 to 10,000 are allowed"),
        (ROW * 10_001, 1, None, "100 to 10,000 are allowed"),
        (ROW * 100 + ROW.replace("39", "91"), 1, 101, "17 to 90"),
        (ROW * 100 + ROW.replace("Private", " Private"), 1, 101, "blanks"),
        (
            "age,workclass,education,marital-status,occupation,relationship,sex,hours-per-week,income\n"
            + ROW * 100,
            1,
            1,
            "header",
        ),
        (ROW * 100 + "39,Private\n", 2, 101, "2 columns instead of 9"),
        ("", 2, None, "empty"),
        (ROW * 100 + ROW.replace("Private", "私企業"), 1, 101, "not one of"),
    ],
)
def test_traps_of_a_release_are_refused_with_row_and_reason(
    run: Run, contest: Path, tmp_path: Path, content: str, code: int, row: int | None, word: str
) -> None:
    path = tmp_path / "D.csv"
    path.write_text(content)
    found, report, err = run("check", "amic2020", contest / "teams" / "01", path, "--json")
    assert found == code
    assert report["valid"] is False
    assert report["problems"][0]["row"] == row
    assert word in report["problems"][0]["message"] + report["problems"][0]["fix"]
    assert err.startswith("D.csv")


def test_shift_jis_bytes_are_malformed(run: Run, contest: Path, tmp_path: Path) -> None:
    path = tmp_path / "D.csv"
    path.write_bytes((ROW * 100).encode() + ROW.replace("Private", "私企業").encode("cp932"))
    code, report, _ = run("measure", "amic2020", contest / "teams" / "01", path, "--json")
    assert code == 2
    assert report["problems"][0]["row"] == 101
    assert "Shift_JIS" in report["problems"][0]["message"]


def index_file(path: Path, rows: object) -> Path:
    path.write_text("".join(f"{row}\n" for row in np.asarray(rows)))
    return path


@pytest.mark.parametrize(
    ("rows", "code", "word"),
    [
        (np.arange(100), 0, ""),  # row 0 is valid
        (np.arange(9_901, 10_001), 1, "0 to 9999"),  # row 10000 of 10000 is not
        (np.arange(99), 1, "exactly 100"),
        (np.arange(101), 1, "exactly 100"),
        ([*range(99), 0], 1, "named twice (first in line 1)"),
        (["0.0", *range(1, 100)], 1, "write 0"),
        (["row", *range(100)], 1, "header"),
    ],
)
def test_traps_of_a_guess(
    run: Run, contest: Path, tmp_path: Path, rows: object, code: int, word: str
) -> None:
    guess = index_file(tmp_path / "guess.index", rows)
    found, report, _ = run(
        "credit", "amic2020", contest / "secret" / "01" / "pre_answer_01.index", guess, "--json"
    )
    assert found == code
    if word:
        assert any(word in problem["message"] + problem["fix"] for problem in report["problems"])


def test_standings_of_a_matrix_and_of_two_rounds(run: Run, tmp_path: Path) -> None:
    pre, final = tmp_path / "pre.csv", tmp_path / "main.csv"
    pre.write_text("attacker,01,02\n01,,50\n02,10,\nattack.py,5,5\n")
    final.write_text("attacker,01,02\n01,,20\n02,40,\n")
    code, found, _ = run("standings", "amic2020", pre, "--json")
    assert code == 0
    assert found["anonymization"][0] == {"team": "01", "score": 0.9, "rank": 1, "shown": "900"}
    assert found["attack"][-1]["note"] == "not ranked"
    code, found, _ = run("standings", "amic2020", "--pre", pre, "--main", final, "--json")
    assert [line["shown"] for line in found["anonymization"]] == ["770", "630"]
    code, found, _ = run("standings", "amic2020", pre, "--disqualified", "01", "--json")
    assert found["anonymization"][-1] == {
        "team": "01",
        "score": None,
        "rank": None,
        "note": "disqualified",
    }
    assert run("standings", "amic2020")[0] == 2
    assert run("standings", "amic2020", pre, "--disqualified", "99")[0] == 2
    code, text, _ = run("standings", "amic2020", pre)
    assert "Anonymization" in text
    assert "Overall" in text


def test_usage_errors_are_sentences_with_exit_code_2(
    run: Run, tmp_path: Path, contest: Path
) -> None:
    for arguments, word in [
        (("measure", "amic2021", "a", "b"), "did you mean 'amic2020'"),
        (("anonymize", "amic2020", "rrr", "a", "b"), "did you mean"),
        (
            (
                "anonymize",
                "amic2020",
                "rr",
                contest / "teams" / "01",
                tmp_path / "D.csv",
                "--p",
                "2",
            ),
            "2.0 is not in the range 0<=x<=1",
        ),
        (("check", "amic2020", tmp_path / "nothing", tmp_path), "no such file or folder"),
        (("prepare", "amic2020", "-o", contest, "--teams", "2"), "something already"),
        (
            ("prepare", "amic2020", "-o", tmp_path / "x", "--teams", "2", "--data", "imported"),
            "data import adult",
        ),
        (
            ("publish", "amic2020", contest / "teams" / "01", tmp_path, "-o", tmp_path / "y"),
            "organizer's folder",
        ),
        (("attack", "amic2020", "nearest", contest, "-o", tmp_path / "z"), "two files"),
        (("verify", "amic2020", tmp_path), "there is no public/commitments.json"),
        (("juggle",), "there is no command"),
    ]:
        code, _, err = run(*arguments)
        assert code == 2, arguments
        assert word in err, arguments
        assert "Traceback" not in err
    assert not (tmp_path / "D.csv").exists()
    assert not (tmp_path / "x").exists()


def test_a_refused_release_is_named_and_not_published(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "pre_anonymizeddata_01.csv"
    bad.write_text(ROW)
    code, told, _ = run("publish", "amic2020", contest, bad, "-o", tmp_path / "out", "--json")
    assert code == 1
    assert [(entry["team"], entry["files"]) for entry in told["refused"]] == [("01", [bad.name])]
    assert not (tmp_path / "out" / "targets").exists()


def test_listings_name_everything_that_is_installed(run: Run) -> None:
    assert "amic2020" in {entry["name"] for entry in run("rulebooks", "--json")[1]["rulebooks"]}
    anonymizers = {entry["name"]: entry for entry in run("anonymizers", "--json")[1]["anonymizers"]}
    assert {"rr", "rrp", "kanony", "synthetic"} <= set(anonymizers)
    assert anonymizers["rr"]["parameters"][0]["default"] == 0.9
    assert "nearest" in run("attacks")[1]


def test_the_doctor_finds_nothing_wrong_here(run: Run) -> None:
    code, found, _ = run("doctor", "--json")
    assert code == 0
    assert all(check["ok"] for check in found["checks"])


def test_a_bug_is_told_without_a_traceback_and_shown_with_debug(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(group: str) -> None:
        raise ZeroDivisionError(group)

    monkeypatch.setattr(registry, "names", broken)
    code, _, err = run("rulebooks")
    assert code == 2
    assert "bug in kakurenbo (ZeroDivisionError)" in err
    with pytest.raises(ZeroDivisionError):
        main(["rulebooks", "--debug"])


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "HANDOUT and RELEASE look swapped"), ("ja", "HANDOUT と RELEASE が逆のようです")],
)
@pytest.mark.parametrize("verb", ["check", "measure"])
def test_whoever_swaps_handout_and_release_is_given_the_right_command(
    run: Run,
    contest: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    language: str,
    said: str,
) -> None:
    release, handout = tmp_path / "D.csv", contest / "teams" / "01"
    shutil.copy(handout / "pre_samplingdata_01.csv", release)
    monkeypatch.setenv("KAKURENBO_LANG", language)
    code, _, err = run(verb, "amic2020", release, handout)
    assert code == 2
    assert said in err
    assert err.rstrip().endswith(f": kakurenbo {verb} amic2020 {handout} {release}")
    code, _, err = run(verb, "amic2020", release, handout / "pre_samplingdata_01.csv")
    assert said in err, "of a file one cannot be sure"
    assert code != 2
    assert said not in run(verb, "amic2020", handout, release)[2]


@pytest.mark.parametrize(
    ("language", "form"), [("en", "100 different row numbers"), ("ja", "100 個書いたファイル")]
)
def test_a_table_that_is_no_guess_has_one_problem_that_says_what_a_guess_is(
    run: Run, contest: Path, monkeypatch: pytest.MonkeyPatch, language: str, form: str
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    table = contest / "teams" / "01" / "pre_samplingdata_01.csv"
    code, _, err = run(
        "credit", "amic2020", contest / "secret" / "01" / "pre_answer_01.index", table
    )
    assert code == 2
    assert len(err.splitlines()) == 1
    assert err.startswith(f"{table}:1: ")
    assert form in err


def test_single_lines_of_a_guess_that_are_wrong_are_named(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    guess = tmp_path / "guess.index"
    guess.write_text("".join(f"{row}\n" for row in range(98)) + "1,2\n3,4\n")
    code, _, err = run(
        "credit", "amic2020", contest / "secret" / "01" / "pre_answer_01.index", guess
    )
    assert code == 2
    assert [line.partition(" ")[0] for line in err.splitlines()] == [f"{guess}:99:"]
    assert "(also row 100)" in err
