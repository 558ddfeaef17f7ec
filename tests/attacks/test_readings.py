"""The poster's completed b, and two readings of its vote."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.calling import call, run
from tests.pwscup2024 import BOOK, Handout, hits, small_original, under_attack

from kakurenbo.core import write_folder
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024.release import split_files
from kakurenbo.rulebooks.pwscup2024.targets import target_files

RNG = np.random.default_rng


@pytest.fixture
def target(tmp_path: Path) -> Path:
    handout = Handout("01", (small_original(),))
    release = BOOK.anonymize(handout, registry.build("anonymizers", "swap_cells:swaps=50"), RNG(1))
    known, _ = under_attack(small_original(), release.tables)
    write_folder(
        tmp_path / "01", {**target_files("01", known), **split_files("01", release.tables)}
    )
    return tmp_path / "01"


def test_the_completed_b_is_b_with_the_guess_in_place_of_each_star(
    target: Path, tmp_path: Path
) -> None:
    guess, completed = tmp_path / "E.csv", tmp_path / "b_E.csv"
    options = ("--on", "b", "-o", guess, "--completed-b", completed, "--seed", 1)
    assert call("attack", "pwscup2024", "collaborative_filtering", target, *options).code == 0
    values = [row[1] for row in csv.reader(guess.read_text().splitlines())]
    before, after = (
        list(csv.reader(file.read_text().splitlines())) for file in (target / "B01b.csv", completed)
    )
    assert before[0] == after[0]
    for starred, full, value in zip(before[1:], after[1:], values, strict=True):
        assert full == [value if cell == "*" else cell for cell in starred]


def test_an_attack_that_completes_nothing_refuses_and_names_those_that_do(
    target: Path, tmp_path: Path
) -> None:
    options = ("-o", tmp_path / "E.csv", "--completed-b", tmp_path / "b.csv")
    code, _, err = run("attack", "pwscup2024", "euclidean", target, *options)
    assert code == 2
    assert "collaborative_filtering" in err
    assert not (tmp_path / "E.csv").exists()


@pytest.mark.parametrize("votes", ["a_row", "c_row"])
@pytest.mark.parametrize("completion", ["mode", "collaborative"])
def test_every_reading_finds_people_whose_rows_are_close(votes: str, completion: str) -> None:
    handout = Handout("01", (small_original(),))
    release = BOOK.anonymize(handout, registry.build("anonymizers", "swap_cells:swaps=50"), RNG(1))
    known, answer = under_attack(small_original(), release.tables)
    attack = registry.build("attacks", f"euclidean:votes={votes},completion={completion}")
    assert hits(answer, attack(known, RNG(1)))[0] > 35
