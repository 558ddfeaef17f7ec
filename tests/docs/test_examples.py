"""The plugins of the documentation: as short as it says, and playing whatever fits them. Its pages play them in full."""

from __future__ import annotations

import importlib.util
from collections import Counter
from types import ModuleType

import pytest
from tests.docs.pages import REPOSITORY

import kakurenbo as kb
from kakurenbo.contest import fits
from kakurenbo.methods import registry

EXAMPLES = REPOSITORY / "docs" / "examples"


def loaded(path: str) -> ModuleType:
    file = EXAMPLES / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("part", ["anonymizer", "attack"])
def test_methods_of_the_tutorial_are_about_thirty_lines_each(part: str) -> None:
    text = (EXAMPLES / "careful-methods" / "careful_methods.py").read_text(encoding="utf-8")
    section = text.partition(f"# [start:{part}]\n")[2].partition(f"# [end:{part}]")[0]
    assert 10 <= len(section.strip().splitlines()) <= 35


def test_the_rulebook_of_the_how_to_has_at_most_40_lines() -> None:
    text = (EXAMPLES / "hide-and-seek" / "hide_and_seek.py").read_text(encoding="utf-8")
    section = text.partition("# [start:contest]\n")[2].partition("# [end:contest]")[0]
    assert 20 <= len(section.strip().splitlines()) <= 40


def test_swapping_ranks_keeps_every_histogram() -> None:
    schema = kb.Schema([kb.Integer("age", 0, 9), kb.Category("sex", ("F", "M"))])
    table = kb.Table.from_texts(
        schema, {"age": [str(number % 7) for number in range(40)], "sex": ["F", "M"] * 20}
    )
    release = (
        loaded("careful-methods/careful_methods.py")
        .RankSwap(reach=10)(table, kb.stream(1, "swap"))
        .table
    )
    assert Counter(release.values("age").tolist()) == Counter(table.values("age").tolist())
    assert release.values("age").tolist() != table.values("age").tolist()
    assert release.codes["sex"].tolist() == table.codes["sex"].tolist()


def test_methods_that_know_nothing_of_each_others_contests_play_them() -> None:
    town, careful = (
        loaded("hide-and-seek/hide_and_seek.py"),
        loaded("careful-methods/careful_methods.py"),
    )
    built_in = (registry.load("anonymizers", "rr"), registry.load("attacks", "nearest"))
    for method in (*built_in, careful.RankSwap, careful.Rarest):
        assert fits(town.HideAndSeek, method)
        assert fits(registry.load("rulebooks", "amic2020"), method)
    assert not fits(registry.load("rulebooks", "amic2020"), town.Blur), (
        "there are no heights in census records"
    )
