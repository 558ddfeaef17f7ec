"""darc2019 under the rules' own names: columns of T, A(T) and S, the file of T, the baselines."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call, run

OURS = "id_user,date,hours,id_item,price,qty"
RULES = "id_user,date,time,id_item,unit_price,quantity"
MIXED = "id_user,date,time,id_item,price,quantity"
HEADERS = (OURS, RULES, MIXED)


def shop(path: Path, header: str) -> Path:
    """A shop of eight customers who buy two or three items in each of three months."""
    lines = [
        f"{12000 + customer},2011/0{month}/{10 + customer},09:{10 + item},"
        f"2{item}{customer % 4}00,{1 + item}.25,{item + customer}"
        for month in (1, 2, 3)
        for customer in range(8)
        for item in range(2 + (customer + month) % 2)
    ]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def header_of(path: Path) -> str:
    return path.read_text().partition("\n")[0]


def under(path: Path, header: str, copy: Path) -> Path:
    """The same file under another header."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(header + "\n" + path.read_text().partition("\n")[2])
    return copy


def prepare(folder: Path, header: str, mode: str = "rules") -> Path:
    table = shop(folder / "shop.csv", header)
    asked = ("--teams", "2", "--table", table, "--seed", "1", "--mode", mode)
    assert run("prepare", "darc2019", "-o", folder / "contest", *asked)[0] == 0
    return folder / "contest"


@pytest.mark.parametrize("header", HEADERS)
def test_t_is_handed_out_and_anonymized_under_the_names_of_its_file(
    header: str, tmp_path: Path
) -> None:
    contest = prepare(tmp_path, header)
    for folder in ("teams/01", "teams/02", "attackers"):
        assert header_of(contest / folder / "ground_truth.csv") == header
    release = tmp_path / "A_01.csv"
    method = ("anonymize", "darc2019", "pipeline", contest / "teams" / "01", release)
    assert run(*method, "--steps", "dates|delete:share=0.1", "--seed", "1")[0] == 0
    assert header_of(release) == header
    assert run("verify", "darc2019", contest, "--again", "--table", tmp_path / "shop.csv")[0] == 0


def play(folder: Path, t_header: str, a_header: str, mode: str) -> dict[str, Any]:
    """All steps from prepare to standings, and every figure that they give."""
    folder.mkdir()
    contest, phase, guess = (
        prepare(folder, t_header, mode),
        folder / "phase",
        folder / "g" / "02" / "guess_01_02.csv",
    )
    made, release = folder / "made.csv", folder / "submissions" / "01" / "A_01.csv"
    handout = contest / "teams" / "01"
    steps = ("--steps", "swap_items:share=0.3|dates|delete:share=0.1", "--seed", "1")
    assert run("anonymize", "darc2019", "pipeline", handout, made, *steps)[0] == 0
    under(made, a_header, release)
    assert run("check", "darc2019", handout, release)[0] == 0
    measured = call("measure", "darc2019", handout, release).json
    assert call("publish", "darc2019", contest, folder / "submissions", "-o", phase).json[
        "published"
    ] == ["01"]
    published = (phase / "targets" / "01" / "S_01.csv").read_text().splitlines()
    assert published[0] == a_header
    assert (
        run("attack", "darc2019", "tfidf", phase / "targets" / "01", "-o", guess, "--seed", "1")[0]
        == 0
    )
    credit = call("credit", "darc2019", phase / "answers" / "01", guess).json
    assert (
        run("score", "darc2019", phase, folder / "g", "-o", folder / "results.json")[0] == 1
    )  # 02 has no table
    standings = call("standings", "darc2019", folder / "results.json").json
    return {"measured": measured, "rows": published[1:], "credit": credit, "standings": standings}


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
def test_scores_are_the_same_whatever_the_header(mode: str, tmp_path: Path) -> None:
    played = [
        play(tmp_path / str(number), t_header, a_header, mode)
        for number, (t_header, a_header) in enumerate(
            [(OURS, OURS), (RULES, RULES), (MIXED, OURS), (OURS, RULES)]
        )
    ]
    assert all(one == played[0] for one in played[1:])
    assert played[0]["standings"]["anonymization"][0]["team"] == "01"


def test_in_mode_aicrowd_names_of_neither_kind_become_ours_in_s(tmp_path: Path) -> None:
    contest, made, phase = (
        prepare(tmp_path, RULES, "aicrowd"),
        tmp_path / "made.csv",
        tmp_path / "phase",
    )
    assert (
        run(
            "anonymize",
            "darc2019",
            "monthly_pseudonyms",
            contest / "teams" / "01",
            made,
            "--seed",
            "1",
        )[0]
        == 0
    )
    release = under(made, "who,when,time,what,cost,quantity", tmp_path / "A_01.csv")
    assert call("publish", "darc2019", contest, release, "-o", phase).json["published"] == ["01"]
    assert (
        header_of(phase / "targets" / "01" / "S_01.csv")
        == "id_user,date,time,id_item,price,quantity"
    )


def test_a_message_names_a_column_as_the_file_does(tmp_path: Path) -> None:
    contest = prepare(tmp_path, OURS)
    release = under(contest / "teams" / "01" / "ground_truth.csv", RULES, tmp_path / "A.csv")
    release.write_text(release.read_text().replace(",1.25,", ",nan,", 1))
    code, told, said = call("check", "darc2019", contest / "teams" / "01", release)
    assert (code, [problem["column"] for problem in told["problems"]]) == (1, ["unit_price"])
    assert "A.csv:2: unit_price: " in said


def test_a_header_lacks_only_the_columns_that_have_neither_name(tmp_path: Path) -> None:
    contest = prepare(tmp_path, OURS)
    original = contest / "teams" / "01" / "ground_truth.csv"
    release = under(original, RULES.replace("unit_price", "cost"), tmp_path / "A.csv")
    code, told, said = call("check", "darc2019", contest / "teams" / "01", release)
    assert (code, told["problem_count"]) == (1, 1)
    assert re.search(r"A\.csv:1: .*\bprice\b", said)
    assert "hours" not in said
    swapped = under(original, "id_user,date,time,id_item,quantity,unit_price", tmp_path / "B.csv")
    assert run("check", "darc2019", contest / "teams" / "01", swapped)[0] == 1


@pytest.mark.parametrize("header", [RULES, MIXED])
def test_an_imported_table_of_the_rules_names_is_played(header: str, tmp_path: Path) -> None:
    assert run("data", "import", "online_retail", shop(tmp_path / "shop.csv", header))[0] == 0
    assert (
        run("prepare", "darc2019", "-o", tmp_path / "contest", "--teams", "1", "--seed", "1")[0]
        == 0
    )
    handout = tmp_path / "contest" / "teams" / "01" / "ground_truth.csv"
    assert handout.read_text() == shop(tmp_path / "ours.csv", OURS).read_text()


def test_folders_that_call_the_table_t_csv_are_read_as_before(tmp_path: Path) -> None:
    contest, release = prepare(tmp_path, OURS), tmp_path / "A_01.csv"
    handout = contest / "teams" / "01"
    (handout / "ground_truth.csv").rename(handout / "T.csv")
    assert (
        run("anonymize", "darc2019", "monthly_pseudonyms", handout, release, "--seed", "1")[0] == 0
    )
    assert run("measure", "darc2019", handout, release)[0] == 0
    (handout / "T.csv.gz").write_bytes(gzip.compress((handout / "T.csv").read_bytes()))
    (handout / "T.csv").unlink()
    assert run("check", "darc2019", handout, release)[0] == 0


def test_a_published_phase_that_calls_the_table_t_csv_is_attacked_and_scored(
    tmp_path: Path,
) -> None:
    contest, release, phase = prepare(tmp_path, RULES), tmp_path / "A_01.csv", tmp_path / "phase"
    run(
        "anonymize",
        "darc2019",
        "monthly_pseudonyms",
        contest / "teams" / "01",
        release,
        "--seed",
        "1",
    )
    for folder in ("teams/01", "teams/02", "attackers"):
        (contest / folder / "ground_truth.csv").rename(contest / folder / "T.csv")
    assert call("publish", "darc2019", contest, release, "-o", phase).json["published"] == ["01"]
    assert (phase / "attackers" / "T.csv").exists()
    guess = tmp_path / "guesses" / "02" / "guess_01_02.csv"
    assert run("attack", "darc2019", "keys", phase / "targets" / "01", "-o", guess)[0] == 0
    run("score", "darc2019", phase, tmp_path / "guesses", "-o", tmp_path / "results.json")
    assert (
        call("standings", "darc2019", tmp_path / "results.json").json["attack"][0]["team"] == "02"
    )


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
def test_measure_shows_the_rules_names_of_the_baselines_beside_their_numbers(
    mode: str, tmp_path: Path
) -> None:
    contest, release = prepare(tmp_path, OURS), tmp_path / "A_01.csv"
    handout = contest / "teams" / "01"
    run("anonymize", "darc2019", "monthly_pseudonyms", handout, release, "--seed", "1")
    names = ["datenum", "itemprice", "itemnum", "itemdate", "itempricenum", "itemdatenum"]
    measured = call("measure", "darc2019", handout, release, "--mode", mode).json
    assert measured["names"] == {f"S{number}": name for number, name in enumerate(names, start=1)}
    assert {f"S{number}" for number in range(1, 8)} <= set(measured["scores"])
    shown = run("measure", "darc2019", handout, release, "--mode", mode)[1]
    for number, name in enumerate(names, start=1):
        assert re.search(rf"^S{number} {name} ", shown, re.MULTILINE)
        assert f"\nS{number}: {name}: share of cells " in shown


def test_a_file_of_another_width_is_one_problem_however_many_rows_it_has(tmp_path: Path) -> None:
    contest = prepare(tmp_path, OURS)
    original = contest / "teams" / "01" / "ground_truth.csv"
    wide = tmp_path / "A.csv"
    header, *lines = original.read_text().splitlines()
    wide.write_text("\n".join([header, *(line + ",x" for line in lines)]) + "\n")
    code, told, said = call("check", "darc2019", contest / "teams" / "01", wide)
    assert (code, told["problem_count"], len(told["problems"])) == (2, len(lines), 1)
    assert told["problems"][0]["rows"] == [2, 3, 4, 5]
    assert told["problems"][0]["count"] == len(lines)
    assert said.count("A.csv") == 1
    assert "A.csv:2: the line has 7 columns instead of 6; " in said
    assert f" (also rows 3, 4, 5 and {len(lines) - 4} more)" in said
    assert "… and" not in said


def test_a_file_whose_header_has_the_wrong_width_too_is_one_problem(tmp_path: Path) -> None:
    contest = prepare(tmp_path, OURS)
    wide = tmp_path / "A.csv"
    lines = (contest / "teams" / "01" / "ground_truth.csv").read_text().splitlines()
    wide.write_text("".join(f"{line},x\n" for line in lines))
    code, told, _ = call("check", "darc2019", contest / "teams" / "01", wide)
    assert (code, told["problem_count"], len(told["problems"])) == (2, len(lines), 1)


def test_nobody_is_awarded_for_re_identification_at_a_best_rate_of_0(tmp_path: Path) -> None:
    results = tmp_path / "tables.csv"
    results.write_text("table,utility,S1,01,02\n01-1,0.1,0,,0\n02-1,0.3,0,0,\n")
    told = call("standings", "darc2019", results).json
    assert told["awards"] == {"anonymization": ["01", "02"], "re-identification": []}
    assert [(line["team"], line["score"]) for line in told["attack"] if line["rank"] == 1] == [
        ("02", 0)
    ]
    shown = run("standings", "darc2019", results)[1]
    assert "award for anonymization: 01, 02" in shown
    assert not re.search(r"award for re-identification: *0", shown)
    results.write_text("table,utility,S1,01,02\n01-1,0.1,0,,0.001\n02-1,0.3,0,0,\n")
    assert call("standings", "darc2019", results).json["awards"]["re-identification"] == ["02"]


def test_results_of_a_round_give_the_award_by_the_same_rule(tmp_path: Path) -> None:
    contest, phase = prepare(tmp_path, OURS), tmp_path / "phase"
    release = tmp_path / "submissions" / "01" / "A_01.csv"
    run(
        "anonymize",
        "darc2019",
        "monthly_pseudonyms",
        contest / "teams" / "01",
        release,
        "--seed",
        "1",
    )
    run("publish", "darc2019", contest, tmp_path / "submissions", "-o", phase)
    guess = tmp_path / "guesses" / "02" / "guess_01_02.csv"
    run("attack", "darc2019", "keys", phase / "targets" / "01", "-o", guess)
    nothing = [line.split(",")[0] + ",DEL" * 3 for line in guess.read_text().splitlines()[1:]]
    guess.write_text("\n".join(nothing) + "\n")
    run("score", "darc2019", phase, tmp_path / "guesses", "-o", tmp_path / "results.json")
    told = call("standings", "darc2019", tmp_path / "results.json").json
    assert told["awards"]["re-identification"] == []
