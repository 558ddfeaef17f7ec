"""pwscup2024: what the other files leave open of widths, draws, choices and laws of chance, each checked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, small_original, under_attack

from kakurenbo.contracts import Guesses, Target
from kakurenbo.datasets import ratings
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import Handout, Pwscup2024, preparation
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm
from kakurenbo.rulebooks.pwscup2024.preparation import draw_candidates
from kakurenbo.rulebooks.pwscup2024.release import split_files
from kakurenbo.rulebooks.pwscup2024.targets import target_files
from kakurenbo.tables import Problems, Read, Source, sources_of, table_bytes, write_folder

ROW = b"0,0"


def wide(pairs: int) -> bytes:
    """An E file with guesses in its first pair of columns, and so many pairs."""
    return (b"0,0" + b",*,*" * (pairs - 1) + b"\n") * 50


def guesses(files: dict[str, bytes], attacker: str, teams: list[str]) -> Guesses:
    targets = {team: Target(team, None, GuessForm(50, team)) for team in teams}
    return BOOK.read_guesses(targets, [Source(name, data) for name, data in files.items()], attacker)


def test_every_figure_has_the_sentence_of_its_name_and_the_ten_utilities_share_one() -> None:
    shared = {**{f"U_{number}": "U_j" for number in range(10)}, "anonymization": "total", "overall": "total"}
    for name, figure in Pwscup2024.figures.items():
        assert figure.code == f"pwscup2024.figure.{shared.get(name, name)}"
        assert len(set(figure.definitions.values())) == 2


# -- E files -------------------------------------------------------------------------------------------------------------


def test_an_e_file_has_columns_for_99_teams_and_no_more() -> None:
    assert [guess.target for guess in guesses({"E99.csv": wide(99)}, "99", ["01"]).found] == ["01"]
    ((_, problems),) = guesses({"E99.csv": wide(100)}, "99", ["01"]).refused
    assert [(problem.code, problem.row, problem.parameters["most"]) for problem in problems] == [
        ("pwscup2024.too_many_columns", 1, 198)
    ]


def test_an_odd_line_is_the_first_record() -> None:
    found = BOOK.check_guess(GuessForm(), Source("E.csv", b"0,0,0\n" * 50))
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].record) == (1, 0)


def test_the_width_of_an_e_file_is_that_of_its_first_line_though_the_line_begins_or_ends_with_a_blank_cell() -> None:
    """Line 2 begins with a comma, line 1 ends with one: neither is taken for the other's."""
    lines = [b"0,", b",0", *[b"0,0"] * 48]
    assert isinstance(BOOK.check_guess(GuessForm(), Source("E.csv", b"\n".join(lines) + b"\n")), Read)
    assert isinstance(BOOK.check_guess(GuessForm(), Source("E.csv", b"\n".join(lines))), Read)


def test_an_e_file_may_end_with_the_last_team_that_is_not_ones_own() -> None:
    for attacker, teams, pairs, targets in (
        ("03", ["01", "03"], 1, ["01"]),
        ("03", ["01", "02", "03"], 2, ["01"]),
        ("01", ["01"], 1, []),
    ):
        assert [guess.target for guess in guesses({f"E{attacker}.csv": wide(pairs)}, attacker, teams).found] == targets
    ((_, problems),) = guesses({"E03.csv": wide(1)}, "03", ["01", "02", "03", "04"]).refused
    assert (problems[0].code, list(problems[0].parameters["columns"])) == ("pwscup2024.too_few_columns", [7, 8])


# -- handouts ------------------------------------------------------------------------------------------------------------


def test_a_single_table_is_the_first_of_one_and_what_is_released_of_it_needs_no_choice(tmp_path: Path) -> None:
    for name in ("Bi07.csv", "anything.csv"):
        (tmp_path / name).write_bytes(table_bytes(small_original(60), header=True))
        read = BOOK.read_handout(tmp_path / name)
        assert isinstance(read, Read)
        assert (read.value.chosen, len(read.value.candidates)) == (0, 1)


def test_the_choice_by_the_teams_own_name_is_obeyed_before_a_plain_one(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"Bi07-{number}.csv").write_bytes(table_bytes(small_original(60, seed=number), header=True))
    (tmp_path / "C07_choice.json").write_text('{"candidate": 2}')
    (tmp_path / "choice.json").write_text('{"candidate": 1}')
    read = BOOK.read_handout(tmp_path)
    assert isinstance(read, Read)
    assert read.value.chosen == 1
