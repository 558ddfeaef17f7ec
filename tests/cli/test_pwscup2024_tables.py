"""Published tables of pwscup2024 with blank cells, through ``standings``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.calling import call


def attack_scores(tmp_path: Path, *lines: str) -> dict[str, Any]:
    table = tmp_path / "totals.csv"
    table.write_text("".join(f"{line}\n" for line in lines))
    called = call("standings", "pwscup2024", table)
    assert called.code == 0, called.err
    assert isinstance(called.json, dict)
    return called.json


def ranks(standings: dict[str, Any]) -> dict[str, Any]:
    return {line["team"]: line["rank"] for line in standings["attack"]}


def test_a_team_whose_only_cell_is_its_own_release_has_no_attack_score(tmp_path: Path) -> None:
    shown = attack_scores(tmp_path, "anonymizer,01,02,utility", "01,5,30,80")
    assert ranks(shown) == {"01": None, "02": 1}
    assert shown["awards"]["attack"] == ["02"]


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_cell_is_no_guess(tmp_path: Path, blank: str) -> None:
    header = "anonymizer,01,02,03,utility"
    rows = (f"01,,30,{blank},80", f"02,60,,{blank},70", "03,10,25,,45")
    zeros = ("01,,30,0,80", "02,60,,0,70", "03,10,25,,45")
    with_blanks, with_zeros = (attack_scores(tmp_path, header, *lines) for lines in (rows, zeros))
    assert with_blanks["anonymization"] == with_zeros["anonymization"]
    assert ranks(with_blanks) == {"02": 1, "01": 2, "03": None}
    assert "03" not in with_blanks["awards"]["attack"]
    assert ranks(with_zeros)["03"] == 3


def test_half_a_guess_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "totals.csv"
    table.write_text("anonymizer,01i,01d,utility\n02,5,,70\n")
    called = call("standings", "pwscup2024", table)
    assert called.code != 0
    assert "is not a number of hits" in called.err


def test_a_blank_row_is_a_team_that_withdrew(tmp_path: Path) -> None:
    header, others = "anonymizer,01,02,03,utility", ("01,,30,,80", "02,60,,,70")
    blank, zeros = (
        attack_scores(tmp_path, header, *others, row) for row in ("03,,,,", "03,0,0,,0")
    )
    assert blank == zeros
