"""``make results``: the tables of docs/results are played by the rulebooks' own steps, once, and whatever stops a run."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from scripts.results import __main__ as command
from scripts.results import cells, pages, tables
from scripts.results.cells import Cells, cell_key, release_key
from scripts.results.playing import Draw
from scripts.results.tables import Column, ResultsTable, read_tables
from tests.docs.pages import REPOSITORY

from kakurenbo.contest import misfit
from kakurenbo.methods import registry

SMALL = {"scale": "small", "data": "embedded"}
AMIC = ResultsTable(
    "amic2020",
    "amic2020",
    "Hits out of 100.",
    "amic2020",
    ({**SMALL, "vcm": 0.05},),
    2,
    {"rrp:p=0.99": 2, "synthetic": 1},
    (Column("blind", False, 2), Column("likelihood", True, 1)),
)
DARC = ResultsTable(
    "darc2019",
    "darc2019",
    "Shares of cells.",
    "darc2019",
    ({**SMALL, "mode": "rules"}, {**SMALL, "mode": "aicrowd"}),
    1,
    {"monthly_pseudonyms": 1},
    (Column("tfidf", False, 1),),
    beside=("buyer",),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which both small tables are played."""
    folder = tmp_path_factory.mktemp("results")
    for table in (AMIC, DARC):
        command.play(table, Cells(folder / f"{table.name}.jsonl"), folder / "made")
    return folder


def test_every_figure_of_a_table_is_a_mean_over_its_draws(out: Path) -> None:
    (noisy, synthetic) = pages.lines_of(AMIC, Cells(out / "amic2020.jsonl"), 0)
    blind, told = AMIC.columns
    assert sorted(noisy.credits[blind]) == [0, 1]
    assert sorted(noisy.credits[told]) == sorted(synthetic.credits[blind]) == [0], (
        "as many draws as were asked for"
    )
    assert noisy.credits[told][0].hits > 90, "the method is known and hides nobody"
    assert all(0 <= credit.hits <= 40 for credit in noisy.credits[blind].values())
    assert noisy.best() == [noisy.credits[told][0].hits]
    assert noisy.points() == [pytest.approx(1 - noisy.best()[0] / 100)], "the contest's own ranking"


def test_the_same_releases_are_judged_under_every_variant(out: Path) -> None:
    rules, aicrowd = (
        pages.lines_of(DARC, Cells(out / "darc2019.jsonl"), variant)[0] for variant in (0, 1)
    )
    for line in (rules, aicrowd):
        scores = line.scores[0]
        counting = [scores[f"S{number}"] for number in range(1, 8 if line is aicrowd else 7)]
        reid = max(*counting, *line.best())
        assert line.points() == [pytest.approx((scores["U"] + reid) / 2)]
    assert rules.scores[0]["E2"] > aicrowd.scores[0]["E2"] == 0, "the evaluator did not compute it"


def test_what_is_finished_is_not_played_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("this was played already")

    monkeypatch.setattr(Draw, "anonymize", fail)
    before = (out / "amic2020.jsonl").read_bytes()
    command.play(AMIC, Cells(out / "amic2020.jsonl"), out / "made")
    assert (out / "amic2020.jsonl").read_bytes() == before


def test_a_run_that_was_killed_while_it_wrote_goes_on(out: Path, tmp_path: Path) -> None:
    whole = (out / "amic2020.jsonl").read_text(encoding="utf-8")
    torn = tmp_path / "amic2020.jsonl"
    torn.write_text(whole[:-40], encoding="utf-8")
    command.play(AMIC, Cells(torn), out / "made")
    assert _content(torn) == _content(out / "amic2020.jsonl")


def _content(path: Path) -> dict[str, object]:
    """Cells without their times."""
    found = Cells(path)
    keys = [
        release_key(AMIC, name, draw)
        for name, draws in AMIC.anonymizers.items()
        for draw in range(draws)
    ]
    keys += [
        cell_key(AMIC, name, column, draw)
        for name, draws in AMIC.anonymizers.items()
        for column in AMIC.columns
        for draw in range(min(draws, column.draws))
    ]
    return {
        key: {name: value for name, value in (found.get(key) or {}).items() if name != "seconds"}
        for key in keys
    }


def test_no_cell_is_begun_after_the_time_is_over(tmp_path: Path) -> None:
    command.play(
        AMIC, Cells(tmp_path / "amic2020.jsonl"), tmp_path / "made", until=time.monotonic() - 1
    )
    assert not list(tmp_path.iterdir())


def test_an_attack_that_takes_long_plays_where_it_is_asked_to() -> None:
    column = Column("likelihood", True, 2, against=("synthetic",))
    assert [
        column.plays(name, draw)
        for name, draw in (("synthetic", 1), ("synthetic", 2), ("permute", 0))
    ] == [
        True,
        False,
        False,
    ]
    assert Column("likelihood", True, 2).plays("permute", 1)


def test_an_attack_that_was_not_played_yet_is_left_out(out: Path) -> None:
    more = replace(AMIC, columns=(*AMIC.columns, Column("nearest", False, 2)))
    (noisy, _) = pages.lines_of(more, Cells(out / "amic2020.jsonl"), 0)
    assert noisy.best() == [noisy.credits[AMIC.columns[1]][0].hits]
    assert len(noisy.points()) == 1
    assert "nearest" not in pages.section(more, Cells(out / "amic2020.jsonl"), {})


def test_other_rules_methods_parameters_or_draws_are_other_cells() -> None:
    column = Column("likelihood", False, 1)
    key = cell_key(AMIC, "synthetic", column, 0)
    others = {
        cell_key(AMIC, "synthetic:rows=900", column, 0),
        cell_key(AMIC, "synthetic", replace(column, told=True), 0),
        cell_key(AMIC, "synthetic", replace(column, attack="nearest"), 0),
        cell_key(AMIC, "synthetic", column, 1),
        cell_key(replace(AMIC, variants=({**SMALL, "vcm": 0.06},)), "synthetic", column, 0),
        cell_key(replace(AMIC, data="another file"), "synthetic", column, 0),
    }
    assert key not in others
    assert len(others) == 6
    assert key == cell_key(replace(AMIC, draws=99, about="other words"), "synthetic", column, 0)


def test_the_code_behind_a_name_is_followed_to_where_it_stands() -> None:
    assert (
        cells._home("kakurenbo.attacks.membership", "Nearest")
        == "kakurenbo.attacks.membership.nearest"
    )
    assert (
        cells._home("kakurenbo.rulebooks.amic2020", "files") == "kakurenbo.rulebooks.amic2020.files"
    )
    assert cells._code_of("kakurenbo.attacks.membership.nearest") != cells._code_of(
        "kakurenbo.attacks.membership.likelihood"
    )
    source = "from kakurenbo.attacks.membership import Nearest\nimport kakurenbo.core.table\nfrom numpy import array\n"
    assert list(cells._imports(source)) == [
        "kakurenbo.attacks.membership.nearest",
        "kakurenbo.core.table",
    ]


def test_a_page_keeps_its_words_and_gets_tables_and_figures(out: Path, tmp_path: Path) -> None:
    page = tmp_path / "amic2020.md"
    page.write_text(
        "before\n<!-- results: amic2020 -->\nold\n<!-- end of results -->\nafter\n",
        encoding="utf-8",
    )
    pages.write_page(AMIC, Cells(out / "amic2020.jsonl"), tmp_path)
    before, *lines, after = page.read_text(encoding="utf-8").splitlines()
    assert (before, after) == ("before", "after")
    head, _, noisy, synthetic, chance, seconds = (line for line in lines if line.startswith("|"))
    assert head.startswith(
        "| anonymizer | n | passes | `blind` | `likelihood, told` | best | points |"
    )
    assert noisy.startswith("| `rrp:p=0.99` | 2 | ")
    assert "(n = 1)" in noisy, "a figure of fewer draws than its row says so"
    assert "| 1 |" in synthetic
    assert chance.startswith("| *chance* |  |  | 10.0 | 10.0 |")
    assert seconds.startswith("| *seconds of an attack* |")
    (figures,) = json.loads((tmp_path / "amic2020.json").read_text(encoding="utf-8"))
    assert figures["rrp:p=0.99"]["attacks"]["blind"]["n"] == 2
    with pytest.raises(SystemExit, match="there is no line"):
        pages.write_page(replace(AMIC, name="other"), Cells(out / "amic2020.jsonl"), tmp_path)


def test_figures_of_the_release_stand_before_the_attacks(out: Path, tmp_path: Path) -> None:
    page = tmp_path / "darc2019.md"
    page.write_text("<!-- results: darc2019 -->\n<!-- end of results -->\n", encoding="utf-8")
    pages.write_page(DARC, Cells(out / "darc2019.jsonl"), tmp_path)
    heads = [
        line
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("| anonymizer")
    ]
    assert [
        head.startswith("| anonymizer | n | U | buyer | baselines | `tfidf` |") for head in heads
    ] == [True, True]
    rules, aicrowd = (
        pages.lines_of(DARC, Cells(out / "darc2019.jsonl"), variant)[0] for variant in (0, 1)
    )
    shown = [pages.baselines(line)[0] for line in (rules, aicrowd)]
    assert shown[0] == max(rules.scores[0][f"S{number}"] for number in range(1, 7)), (
        "the seventh counts in one mode alone"
    )
    assert shown[1] == max(aicrowd.scores[0][f"S{number}"] for number in range(1, 8))


def test_every_line_of_the_tables_plays_its_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DATA", (_files(tmp_path),))
    for name, table in read_tables(out=tmp_path / "out").items():
        assert isinstance(table, ResultsTable), table
        rulebook = registry.load("rulebooks", table.rulebook)
        for group, texts in (
            ("anonymizers", table.anonymizers),
            ("attacks", [column.attack for column in table.columns]),
        ):
            for text in texts:
                assert not misfit(rulebook, registry.build(group, text)), f"{name}: {text}"
        page = REPOSITORY / "docs" / "results" / f"{table.page}.md"
        assert f"<!-- results: {name} -->" in page.read_text(encoding="utf-8"), (
            f"{page} has a place for {name}"
        )


def _files(folder: Path) -> Path:
    """Stand-ins for the real data, which are looked at by name and digest alone."""
    for name in ("darc/ground_truth.csv.gz", "pwscup2024/Bi11.csv.gz", "pwscup2024/sampleBi.csv"):
        place = folder / "data" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"")
    return folder / "data"


def test_a_table_whose_file_is_missing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "DATA", (tmp_path,))
    told = [table for table in read_tables(out=tmp_path).values() if isinstance(table, str)]
    assert told
    assert all("KAKURENBO_DATA" in sentence for sentence in told)
