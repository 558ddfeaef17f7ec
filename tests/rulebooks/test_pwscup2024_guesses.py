"""Guesses of pwscup2024: one E file for all targets, of which a bad pair of columns costs that target alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, small_original, zipped
from tests.reading import Read, attempt

from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.cli import main
from kakurenbo.contest import Guesses, Target
from kakurenbo.core import Problems, Source, table_bytes
from kakurenbo.rulebooks.pwscup2024 import Answer
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm

GUESS = RatingsGuess(np.arange(50), np.arange(50) % 6)
ZEROS = np.zeros(50, dtype=np.int64)
PAIR = [f"{row},{row % 6}" for row in range(50)]


def targets(*teams: str) -> dict[str, Target]:
    return {team: Target(team, None, GuessForm(50, team)) for team in teams}


def side_by_side(*pairs: list[str] | str) -> bytes:
    """An E file of these pairs of columns, each 50 lines or one text for all lines."""
    columns = [[pair] * 50 if isinstance(pair, str) else pair for pair in pairs]
    return "".join(",".join(cells) + "\n" for cells in zip(*columns, strict=True)).encode()


def read(
    files: dict[str, bytes], attacker: str = "03", teams: tuple[str, ...] = ("01", "02", "03", "04")
) -> Guesses:
    return BOOK.read_guesses(
        targets(*teams), [Source(name, data) for name, data in files.items()], attacker
    )


def found(guesses: Guesses) -> list[str]:
    return [guess.target for guess in guesses.found]


def codes(guesses: Guesses) -> list[str]:
    return [problems[0].code for _, problems in guesses.refused]


def test_guesses_for_all_teams_stand_side_by_side_and_own_and_absent_teams_are_stars() -> None:
    (name, data), *_ = BOOK.guess_files({"01": GUESS, "04": GUESS}, "03").items()
    assert name == "E03.csv"
    assert data.decode().splitlines()[7] == "7,1,*,*,*,*,7,1"
    for content in (
        data,
        data.replace(b"*", b""),
        data.replace(b"*", b" ").replace(b"\n", b"\r\n"),
    ):
        guesses = read({name: content})
        assert found(guesses) == ["01", "04"]
        assert np.array_equal(guesses.found[1].guess.people, GUESS.people)
        assert not guesses.refused


def test_an_invalid_cell_in_the_columns_of_one_team_costs_that_target_alone() -> None:
    bad = [*PAIR[:6], "7,1.0", *PAIR[7:]]
    guesses = read({"E03.csv": side_by_side(PAIR, bad, "*,*", PAIR)})
    assert found(guesses) == ["01", "04"]
    ((file, problems),) = guesses.refused
    assert (file, problems[0].row, problems[0].column, problems[0].value) == (
        "E03.csv",
        7,
        "4",
        "1.0",
    )


def test_left_out_columns_of_ones_own_team_are_refused_since_all_others_are_shifted() -> None:
    guesses = read({"E03.csv": side_by_side(PAIR, PAIR, PAIR)})
    assert found(guesses) == []
    assert codes(guesses) == ["pwscup2024.too_few_columns"]


def test_left_out_columns_of_numbers_that_no_team_has_are_refused() -> None:
    guesses = read({"E01.csv": side_by_side("*,*", PAIR, PAIR)}, "01", ("01", "03", "07"))
    assert codes(guesses) == ["pwscup2024.too_few_columns"]
    assert "columns 13, 14" in str(guesses.refused[0][1][0])


def test_ones_own_columns_may_be_left_out_at_the_end() -> None:
    assert found(read({"E04.csv": side_by_side(PAIR, PAIR, PAIR)}, "04")) == ["01", "02", "03"]


def test_columns_of_teams_that_do_not_exist_are_refused_where_they_are_filled_and_cost_nothing_else() -> (
    None
):
    guesses = read(
        {"E01.csv": side_by_side("*,*", PAIR, PAIR, "*,*", PAIR, PAIR)}, "01", ("01", "03", "05")
    )
    assert found(guesses) == ["03", "05"]
    assert codes(guesses) == ["pwscup2024.columns_of_nobody"] * 2
    assert [problems[0].column for _, problems in guesses.refused] == ["3 4", "11 12"]


def test_further_columns_without_anything_are_no_fault() -> None:
    guesses = read({"E03.csv": side_by_side(PAIR, PAIR, "*,*", PAIR, ",", "*,*")})
    assert found(guesses) == ["01", "02", "04"]
    assert not guesses.refused


def test_filled_columns_of_ones_own_team_are_refused_and_the_shift_is_suspected() -> None:
    guesses = read({"E03.csv": side_by_side(PAIR, PAIR, PAIR, "*,*")})
    assert codes(guesses) == ["pwscup2024.own_columns"]
    assert "shifted" in str(guesses.refused[0][1][0])


@pytest.mark.parametrize("id_text", [None, b"03", b"3\r\n"])
def test_a_zip_of_the_e_file_and_id_txt_is_accepted(id_text: bytes | None) -> None:
    files = {"E03.csv": side_by_side(PAIR, PAIR, "*,*", PAIR)} | (
        {} if id_text is None else {"id.txt": id_text}
    )
    assert found(read({"E03.zip": zipped(files)})) == ["01", "02", "04"]
    boxed = {f"mine/{name}": data for name, data in files.items()} | {
        "__MACOSX/mine/._E03.csv": b"junk"
    }
    guesses = read({"anything.zip": zipped(boxed)})
    assert found(guesses) == ["01", "02", "04"]
    told = [notice.code for guess in guesses.found for notice in guess.notices]
    assert set(told) >= {"archive.one_folder", "archive.left_behind"}
    assert len(set(told)) == len(told), "what was put right in a file is told once"


def test_an_id_txt_of_another_team_costs_the_files_it_came_with() -> None:
    data = side_by_side(PAIR, PAIR, "*,*", PAIR)
    guesses = read({"E03.zip": zipped({"E03.csv": data, "id.txt": b"02"})})
    assert (found(guesses), codes(guesses)) == ([], ["pwscup2024.id_other_team"])


def test_files_of_other_attackers_and_of_strange_names_cost_themselves_alone() -> None:
    data = side_by_side(PAIR, PAIR, "*,*", PAIR)
    guesses = read({"E03.csv": data, "E02.csv": data, "readme.txt": b"hello\n"})
    assert found(guesses) == ["01", "02", "04"]
    assert codes(guesses) == ["guess.other_attacker", "guess.unknown_name"]


def test_single_guesses_as_attack_writes_them_are_taken_by_target() -> None:
    pair = BOOK.guess_bytes(GUESS)
    guesses = read({"E03_01.csv": pair, "E03_04.csv": pair, "E03_03.csv": pair, "E03_09.csv": pair})
    assert found(guesses) == ["01", "04"]
    assert codes(guesses) == ["guess.own_target", "guess.unknown_target"]


def test_a_second_guess_at_a_target_is_refused() -> None:
    guesses = read(
        {"E03.csv": side_by_side(PAIR, "*,*", "*,*", "*,*"), "E03_01.csv": BOOK.guess_bytes(GUESS)}
    )
    assert (found(guesses), codes(guesses)) == (["01"], ["pwscup2024.guess_twice"])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"0,0\n",
        b"0,0,0\n" * 50,
        b"\xff\xfe" * 100,
        b"0,0,0,0,*,*,0,0\n" * 49,
        b"0,0,0,0,*,*,0\n" * 50,
    ],
)
def test_a_file_of_another_shape_is_refused_whole(data: bytes) -> None:
    guesses = read({"E03.csv": data})
    assert not guesses.found
    assert len(guesses.refused) == 1


def test_a_line_without_columns_of_the_others_is_refused_with_its_row() -> None:
    lines = side_by_side(PAIR, PAIR, "*,*", PAIR).splitlines(keepends=True)
    ((_, problems),) = read({"E03.csv": b"".join([*lines[:9], b"1,2\n", *lines[10:]])}).refused
    assert problems[0].row == 10


# -- one guess, as credit reads it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("50,1", (3, "1")),
        ("1,6", (3, "2")),
        ("1,1.0", (3, "2")),
        ("-1,0", (3, "1")),
        ("x,0", (3, "1")),
    ],
)
def test_a_bad_guess_is_told_with_row_and_column(line: str, place: tuple[int, str]) -> None:
    lines = ["0,0"] * 50
    lines[2] = line
    result = attempt(BOOK.read_guess, GuessForm(), Source("E.csv", "\n".join(lines).encode()))
    assert isinstance(result, Problems)
    assert (result[0].row, result[0].column) == place


@pytest.mark.parametrize(
    "data",
    [b"", b"0,0\n", b"0,0,0\n" * 50, b"0,0,0,0\n" * 50, b"\xff\xfe" * 100, b"0,0\n" * 49 + b"0\n"],
)
def test_a_guess_of_another_shape_is_refused(data: bytes) -> None:
    assert isinstance(attempt(BOOK.read_guess, GuessForm(), Source("E.csv", data)), Problems)


def test_of_an_e_file_the_columns_of_the_target_are_taken() -> None:
    bad = ["x,x"] * 50
    data = side_by_side(bad, PAIR, "*,*")
    for source in (
        Source("E03.csv", data),
        Source("E03.zip", zipped({"E03.csv": data, "id.txt": b"3"})),
    ):
        result = attempt(BOOK.read_guess, GuessForm(50, "02"), source)
        assert isinstance(result, Read), result
        assert np.array_equal(result.value.values, GUESS.values)
        assert isinstance(attempt(BOOK.read_guess, GuessForm(50, "01"), source), Problems)
        assert isinstance(attempt(BOOK.read_guess, GuessForm(50, "04"), source), Problems)
        assert isinstance(attempt(BOOK.read_guess, GuessForm(), source), Problems)


def test_an_archive_of_anything_else_is_no_guess() -> None:
    for files in (
        {"notes.txt": b"x"},
        {"E03.csv": b"0,0\n" * 50, "E04.csv": b"0,0\n" * 50},
        {"id.txt": b"03"},
    ):
        assert isinstance(
            attempt(BOOK.read_guess, GuessForm(), Source("E.zip", zipped(files))), Problems
        )


def test_hits_are_equal_cells_beside_chance_and_what_always_0_earns() -> None:
    answer = Answer(np.array([1, 0, 2]), np.array([5, 0, 3]))
    credit = BOOK.score_guess(answer, RatingsGuess(np.array([1, 2, 2]), np.array([5, 0, 0])))
    assert (credit.hits, credit.of) == (4, 6)
    assert credit.details == {"identification": 2, "reconstruction": 2}
    assert credit.constant == 2, "0,0 in every row: one person is row 0, one rating is 0"
    assert credit.chance is not None


def test_a_release_of_a_single_b_file_can_be_attacked_and_credited_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a contest: anonymize, check and measure take the table alone."""

    def run(*words: object) -> dict:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in (*words, "--json")])
        out = json.loads(capsys.readouterr().out)
        assert left.value.code == 0, out
        return out

    original = tmp_path / "B07.csv"
    original.write_bytes(table_bytes(small_original(), header=True))
    run(
        "anonymize",
        "pwscup2024",
        "pseudo_olh",
        original,
        tmp_path / "C",
        "--epsilon",
        "4",
        "--seed",
        "1",
    )
    assert run("check", "pwscup2024", original, tmp_path / "C")["valid"]
    measured = run("measure", "pwscup2024", original, tmp_path / "C")
    assert set(measured["scores"]) == {"U", *(f"U_{j}" for j in range(10)), "sample_anonymity"}
    assert "50 others" in measured["notices"][0]
