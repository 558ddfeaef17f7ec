"""darc2019 on the command line, from preparation to standings and verification."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.cli import main
from kakurenbo.core import README_FILES

Run = Callable[..., tuple[int, Any, str]]
SMALL = ("--scale", "small", "--data", "embedded", "--seed", "7")


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
    folder = tmp_path_factory.mktemp("contest") / "darc"
    with pytest.raises(SystemExit) as left:
        main(["prepare", "darc2019", "-o", str(folder), "--teams", "2", *SMALL])
    assert not left.value.code
    return folder


def test_a_contest_from_preparation_to_credit(run: Run, contest: Path, tmp_path: Path) -> None:
    handout, release = contest / "teams" / "02", tmp_path / "A_02-1.csv"
    code, _, _ = run(
        "anonymize",
        "darc2019",
        "pipeline",
        handout,
        release,
        "--steps",
        "dates|delete:share=0.1",
        "--seed",
        "1",
    )
    assert code == 0
    assert run("check", "darc2019", handout, release, "--json") == (
        0,
        {"valid": True, "notices": []},
        "",
    )
    for mode in ("rules", "aicrowd"):
        code, measured, _ = run("measure", "darc2019", handout, release, "--mode", mode, "--json")
        assert code == 0
        names = (
            [f"E{number}" for number in range(1, 7)]
            + ["U"]
            + [f"S{number}" for number in range(1, 8)]
            + ["buyer"]
        )
        assert list(measured["scores"]) == names
        assert measured["scores"]["E6"] == pytest.approx(0.1, abs=1e-3)
        assert measured["limits"]["U"]["by"] == max(
            names[:6], key=lambda name: measured["scores"][name]
        )

    phase = tmp_path / "phase"
    code, published, _ = run("publish", "darc2019", contest, release, "-o", phase, "--json")
    assert (code, published["published"]) == (1, ["02-1"]), "team 01 handed in nothing"
    assert [entry["team"] for entry in published["missing"]] == ["01"]
    assert {path.name for path in (phase / "targets" / "02-1").iterdir()} == {
        "S_02-1.csv",
        "contest.json",
        *README_FILES,
    }
    assert {path.name for path in (phase / "attackers").iterdir()} == {
        "ground_truth.csv",
        "contest.json",
        *README_FILES,
    }
    assert run("verify", "darc2019", contest, phase)[0] == 0
    assert run("verify", "darc2019", contest, "--again")[0] == 0

    guess, answer = tmp_path / "guess_02-1_01.csv", phase / "answers" / "02-1"
    assert (
        run(
            "attack",
            "darc2019",
            "fellegi_sunter",
            phase / "targets" / "02-1",
            "-o",
            guess,
            "--seed",
            "1",
        )[0]
        == 0
    )
    code, credit, _ = run("credit", "darc2019", answer, guess, "--json")
    assert code == 0
    assert credit["reid"] == pytest.approx(credit["hits"] / credit["of"])
    assert credit["reid"] > 0.99
    assert credit["reid_of_all_cells"] < credit["reid"]
    known = (contest / "attackers" / "ground_truth.csv", phase / "targets" / "02-1" / "S_02-1.csv")
    single = tmp_path / "single.csv"
    assert run("attack", "darc2019", "fellegi_sunter", *known, "-o", single, "--seed", "1")[0] == 0
    assert single.read_bytes() == guess.read_bytes()
    assert run("credit", "darc2019", answer / "F_02-1.csv", single, "--json")[1] == credit
    code, old, _ = run("credit", "darc2019", answer, guess, "--mode", "aicrowd", "--json")
    assert (code, old["of"] < credit["of"]) == (0, True)


def test_results_that_were_scored_in_one_mode_are_not_ranked_in_another(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    release, guesses, results = (
        tmp_path / "A_02-1.csv",
        tmp_path / "guesses",
        tmp_path / "results.json",
    )
    guesses.mkdir()
    run(
        "anonymize",
        "darc2019",
        "monthly_pseudonyms",
        contest / "teams" / "02",
        release,
        "--seed",
        "1",
    )
    run("publish", "darc2019", contest, release, "-o", tmp_path / "phase")
    run("score", "darc2019", tmp_path / "phase", guesses, "-o", results)
    assert run("standings", "darc2019", results, "--mode", "rules")[0] == 0, "its own"
    code, _, said = run("standings", "darc2019", results, "--mode", "aicrowd")
    assert code == 1
    assert (
        "results.json: these results were scored with mode rules, but aicrowd is asked for" in said
    )


def test_figures_mean_in_each_mode_what_is_computed_in_it(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    handout, release = contest / "teams" / "02", tmp_path / "A.csv"
    run("anonymize", "darc2019", "monthly_pseudonyms", handout, release, "--seed", "1")
    by_rules, by_evaluator = (
        run("measure", "darc2019", handout, release, "--mode", mode)[1]
        for mode in ("rules", "aicrowd")
    )
    assert (
        "E2: the same where the quantity of an item that a user bought in all counts as 0 from 6 on"
        in by_rules
    )
    assert (
        "E3: the same for the 180 items with most rows in T (ties at the edge by item code)"
        in by_rules
    )
    assert "E2: always 0" in by_evaluator
    assert "or the Jaccard distance of the two lists" in by_evaluator
    assert "item's first two characters" not in by_evaluator
    assert (
        "S6: itemdatenum: share of cells that the organizers' baseline re-identifies by the whole item code, date and price"
        in by_evaluator
    )


def test_a_release_against_the_rules_exits_with_1_and_names_the_row(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    handout, release = contest / "teams" / "01", tmp_path / "A.csv"
    run("anonymize", "darc2019", "monthly_pseudonyms", handout, release, "--seed", "1")
    lines = release.read_text().splitlines()
    cells = lines[4].split(",")
    lines[4] = ",".join([cells[0], "2011/02/30", cells[2], "nothing", "nan", cells[5]])
    release.write_text("\n".join(lines) + "\n")
    code, report, said = run("check", "darc2019", handout, release, "--json")
    assert (code, report["valid"], report["problem_count"]) == (1, False, 3)
    assert {
        (problem["row"], problem["record"], problem["column"]) for problem in report["problems"]
    } == {
        (5, 3, "date"),
        (5, 3, "id_item"),
        (5, 3, "price"),
    }
    assert "A.csv:5: price: " in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("measure", "darc2019", "missing", "A.csv"),
        ("attack", "darc2019", "overlap", "T.csv", "-o", "g.csv"),
        ("standings", "darc2019", "missing.csv"),
        ("prepare", "darc2019", "-o", "out", "--teams", "1", "--data", "imported"),
        ("prepare", "darc2019", "-o", "out", "--teams", "1", "--data", "own"),
        ("prepare", "darc2019", "-o", "out", "--teams", "1", "--table", "missing.csv"),
        (
            "prepare",
            "darc2019",
            "-o",
            "out",
            "--teams",
            "1",
            "--table",
            "T.csv",
            "--data",
            "embedded",
        ),
        ("publish", "darc2019", "missing", "A.csv", "-o", "out"),
        ("score", "darc2019", "missing", "guesses", "-o", "out"),
        (
            "publish",
            "darc2019",
            "contest",
            "A.csv",
            "-o",
            "out",
            "--mode",
            "aicrowd",
        ),  # a contest has one mode
        ("score", "darc2019", "phase", "guesses", "-o", "out", "--mode", "aicrowd"),
        ("data", "import", "online_retail", "missing.csv"),
    ],
)
def test_a_call_that_cannot_work_exits_with_2_and_writes_nothing(
    run: Run, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, said = run(*arguments)
    assert code == 2
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


# -- T of one's own -----------------------------------------------------------------------------------------------------


def _shop_of_another_year(contest: Path, path: Path) -> None:
    """The contest's simulated shop eight years later, three months of it, as another shop might send it."""
    lines = (contest / "attackers" / "ground_truth.csv").read_text().splitlines()
    later = [
        line.replace(",2011/", ",2019/", 1)
        for line in lines[1:]
        if ",2011/03/" in line or ",2011/05/" in line
    ]
    path.write_text("\r\n".join([lines[0], *later]) + "\r\n")


def test_a_contest_is_prepared_from_another_shops_table_and_told_by_its_digest(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    shop, made = tmp_path / "shop.csv", tmp_path / "made"
    _shop_of_another_year(contest, shop)
    code, report, _ = run(
        "prepare", "darc2019", "-o", made, "--teams", "1", "--table", shop, "--seed", "3", "--json"
    )
    assert (code, report["months"]) == (0, 3)
    facts = json.loads((made / "public" / "contest.json").read_text())
    assert facts["settings"] == {"mode": "rules", "scale": "full", "data": "own"}
    assert len(facts["data"]["sha256"]) == 64
    assert str(tmp_path) not in (made / "public" / "contest.json").read_text()

    assert run("verify", "darc2019", made, "--again", "--table", shop)[0] == 0
    code, told, _ = run("verify", "darc2019", made, "--again", "--json")
    assert code == 1
    assert [
        (one["state"], "--table" in one["why"])
        for one in told["findings"]
        if one["state"] != "kept"
    ] == [("cannot be made again", True)]
    shop.write_text("\n".join(shop.read_text().splitlines()[:-1]) + "\n")
    code, told, _ = run("verify", "darc2019", made, "--again", "--table", shop, "--json")
    assert code == 1
    assert {one["state"] for one in told["findings"]} == {"kept", "cannot be made again"}


def test_another_shops_table_is_imported_and_played(
    run: Run, contest: Path, tmp_path: Path
) -> None:
    shop, made = tmp_path / "shop.csv", tmp_path / "made"
    _shop_of_another_year(contest, shop)
    shop.write_bytes(shop.read_bytes().rstrip())
    code, report, said = run("data", "import", "online_retail", shop, "--json")
    assert (code, report["equals_contest"]) == (0, False)
    assert "the last line has no line end" in said
    assert run("prepare", "darc2019", "-o", made, "--teams", "1", "--seed", "3")[0] == 0
    facts = json.loads((made / "public" / "contest.json").read_text())
    assert (facts["settings"]["data"], facts["data"]["months"]) == ("imported", 3)
    release, phase, guess = tmp_path / "A_01.csv", tmp_path / "phase", tmp_path / "guess.csv"
    assert (
        run(
            "anonymize",
            "darc2019",
            "monthly_pseudonyms",
            made / "teams" / "01",
            release,
            "--seed",
            "1",
        )[0]
        == 0
    )
    assert run("publish", "darc2019", made, release, "-o", phase)[0] == 0
    assert (
        run("attack", "darc2019", "tfidf", phase / "targets" / "01", "-o", guess, "--seed", "1")[0]
        == 0
    )
    assert guess.read_text().splitlines()[0] == "id_user,2019/03,2019/04,2019/05"
    assert run("credit", "darc2019", phase / "answers" / "01", guess)[0] == 0


def test_ground_truth_csv_is_prepared_from(run: Run, reference_data: Path, tmp_path: Path) -> None:
    table = reference_data / "darc" / "ground_truth.csv.gz"
    code, report, _ = run(
        "prepare", "darc2019", "-o", tmp_path / "made", "--teams", "1", "--table", table, "--json"
    )
    assert code == 0
    assert (report["rows"], report["customers"], report["months"]) == (307_054, 4034, 13)


# -- standings --------------------------------------------------------------------------------------------------------


def test_standings_show_awards(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "table,utility,S7,02,03\n01,0.1,0.05,0.08,0.1\n02,0.5,0.9,,0.99\n"
    )
    code, found, _ = run("standings", "darc2019", tmp_path / "r.csv", "--json")
    assert code == 0
    assert found["awards"] == {"anonymization": ["01", "02"], "re-identification": ["03"]}
    ranked = [(line["team"], line["rank"], line.get("note")) for line in found["attack"]]
    assert ranked == [
        ("03", 1, None),
        ("02", 2, None),
        ("01", None, "owns the table"),
        ("S7", None, "not ranked"),
    ]


def test_standings_tell_u_and_reid_of_every_table_and_who_is_awarded(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_text(
        "table,utility,S1,02\n01-1,0.125,0.5,0.25\n01-2,0.25,0.125,0.5\n02,0.0625,1,\n"
    )
    code, said, _ = run("standings", "darc2019", tmp_path / "r.csv")
    assert code == 0
    lines = [line.split() for line in said.splitlines()]
    assert ["table", "U", "reid", "score"] in lines
    assert ["01-1", "0.125", "50.0", "%", "0.312"] in lines
    assert ["01-2", "0.250", "50.0", "%", "0.375"] in lines
    assert ["02", "0.062", "100.0", "%", "0.531"] in lines
    assert "award for anonymization: 01, 02" in said
    assert "award for re-identification: 02" in said


def test_a_table_without_baselines_is_ranked_with_a_notice(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("table,utility,02\n01,0.1,0.08\n")
    code, _, said = run("standings", "darc2019", tmp_path / "r.csv", "--json")
    assert (code, "there are no baselines S1 to S7" in said) == (0, True)


def test_a_table_is_disqualified_by_its_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("table,utility,S1\n01-1,0.1,0\n01-2,0.4,0\n02,0.3,0\n")
    code, found, _ = run(
        "standings", "darc2019", tmp_path / "r.csv", "--disqualified", "01-1", "--json"
    )
    assert code == 0
    assert [(line["team"], line["score"]) for line in found["anonymization"]] == [
        ("02", 0.15),
        ("01", 0.2),
    ]


def test_a_round_in_the_arena_counts_every_baseline(run: Run, tmp_path: Path) -> None:
    (tmp_path / "teams.toml").write_text(
        '[[players]]\nanonymizer = "delete:share=0.2"\nattack = "tfidf"\n'
        '[[players]]\nanonymizer = "crowds"\nattack = "fellegi_sunter"\n'
    )
    settings = ("--scale", "small", "--data", "embedded", "--seed", "3", "--jobs", "1")
    code, played, _ = run(
        "run",
        "darc2019",
        "--teams",
        tmp_path / "teams.toml",
        *settings,
        "-o",
        tmp_path / "run",
        "--json",
    )
    assert code == 0
    standings = played["standings"]
    baselines = {f"S{number}" for number in range(1, 8)}
    assert {line["team"] for line in standings["attack"] if line["rank"] is None} == baselines | {
        "02"
    }
    assert [line["team"] for line in standings["anonymization"]] == ["02", "01"]
    attacks = json.loads((tmp_path / "run" / "results.json").read_text())["rounds"][0]["attacks"][
        "01"
    ]
    assert set(attacks) == {"02", *baselines}
    rates = {attacker: entry["accuracy"]["mean"] for attacker, entry in attacks.items()}
    assert standings["tables"]["01"]["reid"] == pytest.approx(max(rates.values()))
    assert max(rates, key=lambda attacker: rates[attacker]) == "02"
