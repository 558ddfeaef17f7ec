"""What every registered plugin must do, whoever wrote it: the checks that `kakurenbo.testing` ships for everybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kakurenbo import testing
from kakurenbo.anonymizers.ratings.even_tables import EvenTables
from kakurenbo.anonymizers.ratings.split_files import PermuteColumns
from kakurenbo.anonymizers.tables.hideout import MomentMatching
from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse
from kakurenbo.anonymizers.tables.suppression import SuppressRare
from kakurenbo.anonymizers.tables.swap import SwapNear
from kakurenbo.anonymizers.transactions.rows import Pseudonyms
from kakurenbo.contest import AnyRulebook, fits, rulebooks_for
from kakurenbo.methods import registry

RULEBOOKS: dict[str, AnyRulebook] = {
    name: registry.load("rulebooks", name)(scale="small", data="embedded")
    for name in ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
}
DEFENCES = {
    "amic2020": ProportionalResponse(),
    "darc2019": Pseudonyms(),
    "pwscup2021": SwapNear(),
    "pwscup2024": PermuteColumns(),
}
PRIVATE = pytest.mark.skip(
    reason="fitting takes minutes and needs pip install 'kakurenbo[dp]': see test_private_synthesis.py"
)
SKIPPED = {"aim": PRIVATE, "mst": PRIVATE}
FITTED = {
    ("amic2020", "hideout"): MomentMatching(round="main"),
    ("pwscup2021", "kanony"): SuppressRare(k=7, columns=("race", "edu", "mar")),
    ("pwscup2024", "even_tables"): EvenTables(utility=70),
}
"""Methods whose defaults are another contest's columns, or take long for a few records."""


def of_methods(group: str) -> Iterator[object]:
    """Every installed method of a group with every rulebook that it plays, check by check."""
    for name in registry.names(group):
        cls = registry.load(group, name)
        for title, rulebook in RULEBOOKS.items():
            if not fits(type(rulebook), cls):
                continue
            checks = (
                testing.anonymizer_checks(FITTED.get((title, name)) or cls(), rulebook)
                if group == "anonymizers"
                else testing.attack_checks(cls(), rulebook, DEFENCES[title])
            )
            for check in checks:
                skipped = name in SKIPPED and any(
                    words in str(check) for words in ("same valid release", "fits the rulebook")
                )
                yield pytest.param(
                    check, id=f"{title}-{name}-{check}", marks=[SKIPPED[name]] if skipped else []
                )


@pytest.mark.parametrize("check", list(of_methods("anonymizers")))
def test_an_anonymizer(check: testing.Check) -> None:
    check()


@pytest.mark.parametrize("check", list(of_methods("attacks")))
def test_an_attack(check: testing.Check) -> None:
    check()


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{name}-{check}")
        for name, rulebook in RULEBOOKS.items()
        for check in testing.rulebook_checks(rulebook, DEFENCES[name])
    ],
)
def test_a_rulebook(check: testing.Check) -> None:
    check()


@pytest.mark.parametrize(
    ("group", "name"),
    [(group, name) for group in ("anonymizers", "attacks") for name in registry.names(group)],
)
def test_a_built_in_method_plays_some_built_in_rulebook(group: str, name: str) -> None:
    assert rulebooks_for(registry.load(group, name))
