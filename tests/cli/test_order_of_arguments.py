"""Arguments in the wrong order, and guesses against an answer that is not theirs, are told as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kakurenbo.cli import main

STEPS = "thin:columns=gen,age,race,edu,mar,bmi,dep,pir,qm|swap_near"


def exit_code(call: Sequence[object]) -> int:
    """Call the command line."""
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in call])
    return int(left.value.code or 0)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small main round with parts that are dealt to single attackers, and the guess of 02 at 01."""
    here = tmp_path_factory.mktemp("held")
    calls = [
        [
            "prepare",
            "pwscup2021",
            "-o",
            here / "main",
            "--round",
            "main",
            "--teams",
            "01,02,03",
            "--scale",
            "small",
            "--seed",
            "1",
        ]
    ]
    for team in ("01", "02", "03"):
        out = here / "submissions" / team
        calls.append(
            [
                "anonymize",
                "pwscup2021",
                "pipeline",
                here / "main" / "teams" / team,
                out,
                "--steps",
                STEPS,
                "--seed",
                "1",
            ]
        )
    calls.append(
        ["publish", "pwscup2021", here / "main", here / "submissions", "-o", here / "phase"]
    )
    target, guess = (
        here / "phase" / "targets" / "01" / "for_02",
        here / "main_attack_01_from_02.csv",
    )
    calls.append(["attack", "pwscup2021", "rlink", target, "-o", guess, "--seed", "1"])
    for call in calls:
        assert exit_code(call) == 0
    return here


def told(capsys: pytest.CaptureFixture[str], *call: object) -> tuple[int, str]:
    """Exit code and standard error."""
    capsys.readouterr()
    return exit_code(call), capsys.readouterr().err


def test_exchanged_arguments_are_told_as_exchanged(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, guess = (
        held / "phase" / "answers" / "01" / "for_02",
        held / "main_attack_01_from_02.csv",
    )
    code, err = told(capsys, "credit", "pwscup2021", guess, answer)
    assert (code, "ANSWER and GUESS look swapped" in err) == (2, True)
    code, err = told(capsys, "verify", "pwscup2021", held / "phase", held / "main")
    assert (code, "PREPARATION and PHASE look swapped" in err) == (2, True)
    handout = held / "main" / "teams" / "01"
    before = sorted(handout.iterdir())
    code, err = told(capsys, "anonymize", "pwscup2021", "swap_near", held / "none.csv", handout)
    assert (code, "IN and OUT look swapped" in err) == (2, True)
    assert sorted(handout.iterdir()) == before


def test_a_guess_is_credited_with_the_answer_to_its_own_part_alone(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, guess = held / "phase" / "answers" / "01", held / "main_attack_01_from_02.csv"
    assert told(capsys, "credit", "pwscup2021", answers / "for_02", guess) == (0, "")
    for other in (answers / "for_03", answers):
        code, err = told(capsys, "credit", "pwscup2021", other, guess)
        assert code == 1
        assert str(answers / "for_02") in err, "the message names the right answer"


def test_an_attack_on_the_table_of_everybody_names_the_parts(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = held / "phase" / "targets" / "01"
    code, err = told(
        capsys, "attack", "pwscup2021", "rlink", target, "-o", held / "common.csv", "--seed", "1"
    )
    assert code == 0
    assert str(target / "for_02") in err
    assert told(
        capsys,
        "attack",
        "pwscup2021",
        "rlink",
        target / "for_02",
        "-o",
        held / "own.csv",
        "--seed",
        "1",
    ) == (0, "")


def test_a_mechanism_that_no_release_of_the_contest_has_is_refused(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, out = held / "phase" / "targets" / "01" / "for_02", held / "never.csv"
    code, err = told(
        capsys, "attack", "pwscup2021", "rlink", target, "-o", out, "--mechanism", "crowds"
    )
    assert (code, "crowds does not play pwscup2021" in err) == (2, True)
    assert not out.exists()


@pytest.mark.parametrize(
    ("call", "argument", "example"),
    [
        (("anonymize", "pwscup2021", "main/teams/01", "thin", "D"), "IN", "anonymize pwscup2021 "),
        (("anonymize", "table", "t.csv", "rr", "D.csv"), "IN", "anonymize table rr original.csv"),
        (("attack", "pwscup2021", "phase/targets/01", "rlink", "-o", "g"), "TARGET", "attack "),
    ],
)
def test_a_folder_in_the_place_of_the_method_is_told_as_such(
    capsys: pytest.CaptureFixture[str], call: Sequence[str], argument: str, example: str
) -> None:
    code, err = told(capsys, *call)
    assert code == 2
    assert f"METHOD and {argument} look swapped" in err
    assert f"kakurenbo {example}" in err
