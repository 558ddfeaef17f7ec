"""darc2019 on the command line, from preparation to standings and verification."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.cli import main

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
    folder = tmp_path_factory.mktemp("contest") / "darc"
    with pytest.raises(SystemExit) as left:
        main(
            ["prepare", "darc2019", "-o", str(folder), "--teams", "2", "--scale", "small", "--seed", "7", "--data", "embedded"]
        )
    assert not left.value.code
    return folder


def test_a_contest_from_preparation_to_credit(run: Run, contest: Path, tmp_path: Path) -> None:
    handout, release = contest / "teams" / "02", tmp_path / "A_02-1.csv"
    code, _, _ = run("anonymize", "darc2019", "pipeline", handout, release, "--steps", "dates|delete:share=0.1", "--seed", "1")
    assert code == 0
    assert run("check", "darc2019", handout, release, "--json") == (0, {"valid": True, "notices": []}, "")
    for mode in ("rules", "aicrowd"):
        code, measured, _ = run("measure", "darc2019", handout, release, "--mode", mode, "--json")
        assert code == 0
        names = [f"E{number}" for number in range(1, 7)] + ["U"] + [f"S{number}" for number in range(1, 8)]
        assert list(measured["scores"]) == names
        assert measured["scores"]["E6"] == pytest.approx(0.1, abs=1e-3)
        assert measured["limits"]["U"]["by"] == max(names[:6], key=lambda name: measured["scores"][name])

    phase = tmp_path / "phase"
    code, published, _ = run("publish", "darc2019", contest, release, "-o", phase, "--json")
    assert (code, published["teams"]) == (0, ["02"])
    assert {path.name for path in (phase / "attackers").iterdir()} == {"S_02-1.csv", "commitments.json"}
    assert run("verify", "darc2019", phase, "--commitments", phase / "attackers" / "commitments.json")[0] == 0
    assert run("verify", "darc2019", contest, "--again")[0] == 0

    guess = tmp_path / "guess_02-1_01.csv"
    known = (contest / "attackers" / "T.csv", phase / "attackers" / "S_02-1.csv")
    assert run("attack", "darc2019", "fellegi_sunter", *known, "-o", guess, "--seed", "1")[0] == 0
    code, credit, _ = run("credit", "darc2019", phase / "secret" / "F_02-1.csv", guess, "--json")
    assert code == 0
    assert credit["reid"] == pytest.approx(credit["hits"] / credit["of"])
    assert credit["reid"] > 0.99
    assert credit["reid_of_all_cells"] < credit["reid"]
    code, old, _ = run("credit", "darc2019", phase / "secret" / "F_02-1.csv", guess, "--mode", "aicrowd", "--json")
    assert (code, old["of"] < credit["of"]) == (0, True)


def test_a_release_against_the_rules_exits_with_1_and_names_the_row(run: Run, contest: Path, tmp_path: Path) -> None:
    handout, release = contest / "teams" / "01", tmp_path / "A.csv"
    run("anonymize", "darc2019", "monthly_pseudonyms", handout, release, "--seed", "1")
    lines = release.read_text().splitlines()
    cells = lines[4].split(",")
    lines[4] = ",".join([cells[0], "2011/02/30", cells[2], "nothing", "nan", cells[5]])
    release.write_text("\n".join(lines) + "\n")
    code, report, said = run("check", "darc2019", handout, release, "--json")
    assert (code, report["valid"], report["problem_count"]) == (1, False, 3)
    assert {(problem["row"], problem["record"], problem["column"]) for problem in report["problems"]} == {
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
        ("publish", "darc2019", "missing", "A.csv", "-o", "out"),
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


def test_an_organizer_without_a_preparation_publishes_from_t_alone(run: Run, contest: Path, tmp_path: Path) -> None:
    original, release = contest / "attackers" / "T.csv", tmp_path / "A.csv"
    run("anonymize", "darc2019", "dates", original, release, "--seed", "1")
    assert run("publish", "darc2019", original, release, "-o", tmp_path / "p", "--seed", "3")[0] == 0
    assert (tmp_path / "p" / "attackers" / "S_01.csv").exists()


def test_standings_show_awards(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("table,utility,S7,02,03\n01,0.1,0.05,0.08,0.1\n02,0.5,0.9,,0.99\n")
    code, found, _ = run("standings", "darc2019", tmp_path / "r.csv", "--json")
    assert code == 0
    assert found["awards"] == {"anonymization": ["01", "02"], "re-identification": ["03"]}
    assert [line["rank"] for line in found["attack"]] == [1, 2, None]


def test_a_round_in_the_arena_counts_the_six_baselines_of_the_rules(run: Run, tmp_path: Path) -> None:
    (tmp_path / "teams.toml").write_text(
        '[[players]]\nanonymizer = "delete:share=0.2"\nattack = "tfidf"\n'
        '[[players]]\nanonymizer = "crowds"\nattack = "fellegi_sunter"\n'
    )
    settings = ("--scale", "small", "--data", "embedded", "--seed", "3", "--jobs", "1")
    code, played, _ = run("run", "darc2019", "--teams", tmp_path / "teams.toml", *settings, "-o", tmp_path / "run", "--json")
    assert code == 0
    standings = played["standings"]
    baselines = {f"S{number}" for number in range(1, 7)}  # the seventh counts in mode aicrowd alone
    assert {line["team"] for line in standings["attack"] if line["rank"] is None} == baselines
    assert [line["team"] for line in standings["anonymization"]] == ["02", "01"]
    accuracy = json.loads((tmp_path / "run" / "results.json").read_text())["rounds"][0]["accuracy"]["01"]
    assert set(accuracy) == {"02", *baselines}
    rates = {attacker: figure["mean"] for attacker, figure in accuracy.items()}
    assert standings["tables"]["01"]["reid"] == pytest.approx(max(rates.values()))
    assert max(rates, key=lambda attacker: rates[attacker]) == "02"
