"""Scripts that make figures of the documentation run with the software as it is; here on little data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.docs.pages import REPOSITORY

from kakurenbo.contest.engine import prepare
from kakurenbo.rulebooks.darc2019 import Darc2019

SCRIPTS = REPOSITORY / "scripts"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_table_of_darc2019_has_a_figure_for_every_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = script("make_darc_table")
    prepared = prepare(Darc2019(scale="small", data="embedded"), 1, ["01"])
    original = tmp_path / "T.csv"
    original.write_bytes(prepared.folders["teams/01"]["ground_truth.csv"])
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table -->\nold\n<!-- end of table -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(table, "PAGE", page)
    monkeypatch.setattr(table, "ANONYMIZERS", ("monthly_pseudonyms",))
    monkeypatch.setattr(table, "ATTACKS", ("tfidf",))
    keep = tmp_path / "kept"
    monkeypatch.setattr(
        sys, "argv", ["make_darc_table.py", str(original), "--draws", "2", "--keep", str(keep)]
    )
    table.main()
    before, *_, head, _, row, _, after = page.read_text(encoding="utf-8").splitlines()
    assert (before, after) == ("before", "after")
    assert head.split(" | ")[1:4] == ["S1–S6", "S7", "tfidf"]
    figures = [float(cell) for cell in row.strip("| ").split(" | ")[1:]]
    assert len(figures) == len(head.split(" | ")) - 1 == 10
    loss, highest, score = figures[3:6]
    assert score == pytest.approx((loss + highest) / 2, abs=0.001)
    assert figures[-1] == 1  # pseudonyms alone tell every buyer
    made = page.read_text(encoding="utf-8")
    monkeypatch.setattr(table, "figures", lambda *_: pytest.fail("what was kept is played again"))
    table.main()
    assert len(list(keep.iterdir())) == 2
    assert page.read_text(encoding="utf-8") == made


def test_an_interval_is_students_t_over_the_draws() -> None:
    widths = script("make_darc_table").half_widths(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))
    assert widths == pytest.approx(
        [4.3027 / 3**0.5, 0.0], abs=1e-3
    )  # t with two degrees of freedom, standard deviation 1


def test_the_page_of_the_poster_is_introduced_as_its_script_does(
    reference_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    page = (REPOSITORY / "docs" / "replays" / "pwscup2024.md").read_text(encoding="utf-8")
    originals = [reference_data / "pwscup2024" / name for name in ("Bi11.csv.gz", "sampleBi.csv")]
    assert script("poster_pwscup2024").page(originals, 20, 1, (), page) == page


def test_the_tables_of_strength_stand_in_the_page_each_in_its_own_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    strength = script("strength_pwscup2024")
    earned = {
        f"posterior + siblings: {kind}": text
        for kind, text in zip(strength.KINDS, ("9.0 ± 1.0", "25.0 ± 2.0"), strict=True)
    }
    rows = {
        "permute_columns": {"utility": "59.8 ± 0.2", **earned, "total + siblings": "123.1 ± 3.5"}
    }
    made = strength.table(rows, ["posterior"])
    assert (
        made.splitlines()[-1]
        == "| `permute_columns` | 59.8 ± 0.2 | 9.0 ± 1.0 + 25.0 ± 2.0 | 123.1 ± 3.5 |"
    )
    place = "<!-- strength on {} -->\n{}<!-- end of strength -->\n"
    page = "a\n" + place.format("x.csv", "old\n") + place.format("y.csv", "") + "b\n"
    for name in ("x.csv", "y.csv"):
        page = strength.written(page, name, f"{name}\n")
    assert (
        page == "a\n" + place.format("x.csv", "x.csv\n") + place.format("y.csv", "y.csv\n") + "b\n"
    )
    told = strength.PAGE.read_text(encoding="utf-8")
    assert all(
        told.count(f"<!-- strength on {name} -->\n") == 1 for name in ("Bi11.csv", "sampleBi.csv")
    )
