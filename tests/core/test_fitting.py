"""Methods fit data: which of them play a rulebook that none of them knows."""

from __future__ import annotations

from typing import ClassVar

import pytest

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.teams_file import Entrant
from kakurenbo.attacks.membership import MembershipKnowledge
from kakurenbo.contest import AnyRulebook, fits, misfit, rulebooks_for
from kakurenbo.core import Category, Integer, Schema
from kakurenbo.core.errors import UsageError
from kakurenbo.methods import registry


class BirdKnowledge(MembershipKnowledge):
    """What a contest to come gives its attackers: more than membership attacks ask for."""


class Birds(AnyRulebook):
    """A rulebook written by somebody else: only what decides who plays it."""

    name: ClassVar[str] = "birds"
    knowledge: ClassVar[type] = BirdKnowledge
    schema: ClassVar[Schema] = Schema(
        [Integer("grams", 1, 30_000), Category("colour", ("red", "grey"))]
    )


def playing(rulebook: type[AnyRulebook], group: str) -> set[str]:
    return {name for name in registry.names(group) if fits(rulebook, registry.load(group, name))}


def test_built_in_methods_play_a_rulebook_that_was_written_later() -> None:
    assert playing(Birds, "anonymizers") >= {"rr", "rrp", "kanony", "synthetic", "pipeline"}
    assert not playing(Birds, "anonymizers") & {
        "crowds",
        "monthly_pseudonyms",
        "pseudo_olh",
        "just_enough",
    }
    assert playing(Birds, "attacks") >= {"nearest", "likelihood", "blind"}
    assert not playing(Birds, "attacks") & {"tfidf", "sample", "posterior"}


@pytest.mark.parametrize(
    ("group", "name", "rulebooks"),
    [
        ("anonymizers", "rr", {"amic2020", "pwscup2021"}),
        ("anonymizers", "top", {"amic2020", "pwscup2021"}),
        ("anonymizers", "crowds", {"darc2019"}),
        ("anonymizers", "crosstab_repair", {"pwscup2024"}),
        ("anonymizers", "pipeline", {"amic2020", "darc2019", "pwscup2021", "pwscup2024"}),
        ("attacks", "nearest", {"amic2020"}),
        ("attacks", "tfidf", {"darc2019"}),
        ("attacks", "rlink", {"pwscup2021"}),
        ("attacks", "posterior", {"pwscup2024"}),
    ],
)
def test_built_in_methods_play_the_contests_whose_data_they_take(
    group: str, name: str, rulebooks: set[str]
) -> None:
    built_in = {"amic2020", "darc2019", "pwscup2021", "pwscup2024"}
    assert set(rulebooks_for(registry.load(group, name))) & built_in == rulebooks


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rr", ""),
        ("rr:columns=colour", ""),
        (
            "rr:columns=foo",
            "does not fit the tables of birds: there is no column 'foo'; there are grams, colour",
        ),
        ("kanony:columns=none", ""),
        ("crowds", "does not play birds"),
        ("pipeline:steps=rr|kanony:columns=grams", ""),
        (
            "pipeline:steps=rr|crowds",
            "does not fit the tables of birds: step crowds: it takes tables of other columns",
        ),
    ],
)
def test_a_method_with_its_parameters_fits_or_says_why_not(text: str, reason: str) -> None:
    assert str(misfit(Birds, registry.build("anonymizers", text))) == reason


def test_bad_parameters_are_refused_before_anything_runs() -> None:
    rulebook = registry.load("rulebooks", "amic2020")()
    entrant = Entrant("01", "wrong", MethodCall.parsed("anonymizers", "rr:columns=foo"))
    with pytest.raises(
        UsageError,
        match="player 'wrong': rr does not fit the tables of amic2020: there is no column 'foo'",
    ):
        arena.make_plan(rulebook, [entrant], 1)
