"""What anonymizers, measures, attacks and rulebooks promise each other, and the few types that cross layers."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from kakurenbo.contest.credit import Chance, Credit
from kakurenbo.contest.declarations import (
    ANONYMIZE,
    ATTACK,
    Counting,
    Feedback,
    FilePattern,
    Phase,
    Tries,
)
from kakurenbo.contest.facts import CONTEST_FILE, ContestFacts, read_facts
from kakurenbo.contest.fitting import fits, misfit, rulebooks_for
from kakurenbo.contest.guesses import FoundGuess, Guesses, whole_numbers
from kakurenbo.contest.measure import (
    Figure,
    Measurement,
    Score,
    Threshold,
    Unit,
    Utility,
    json_number,
)
from kakurenbo.contest.preparation import (
    Files,
    Preparation,
    PreparedRound,
    Publication,
    RoundData,
    Secrets,
)
from kakurenbo.contest.results import (
    RoundResults,
    Standing,
    Standings,
    as_decimal,
    awarded,
    by_number,
    rank,
    shown_unranked,
    team_of,
    two_digits,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.rulebook import AnyRulebook, Player, Rulebook, Target
from kakurenbo.contest.schedule import Schedule, read_schedule
from kakurenbo.methods.base import (
    Anonymizer,
    Attack,
    Mechanism,
    Release,
    has_columns,
    unknown_column,
)

__all__ = [
    "ANONYMIZE",
    "ATTACK",
    "CONTEST_FILE",
    "Anonymizer",
    "AnyRulebook",
    "Attack",
    "Chance",
    "ContestFacts",
    "Counting",
    "Credit",
    "Feedback",
    "Figure",
    "FilePattern",
    "Files",
    "FoundGuess",
    "Guesses",
    "Measurement",
    "Mechanism",
    "Phase",
    "Player",
    "Preparation",
    "PreparedRound",
    "Publication",
    "Release",
    "RoundData",
    "RoundResults",
    "Rulebook",
    "Schedule",
    "Score",
    "Secrets",
    "Standing",
    "Standings",
    "Target",
    "Threshold",
    "Tries",
    "Unit",
    "Utility",
    "as_decimal",
    "awarded",
    "by_number",
    "fits",
    "has_columns",
    "json_number",
    "misfit",
    "rank",
    "read_facts",
    "read_schedule",
    "rulebooks_for",
    "shown_unranked",
    "team_of",
    "two_digits",
    "unknown_column",
    "whole_numbers",
    "why_no_attack",
    "why_out",
]


class _CallablePackage(ModuleType):
    """The package as a function: ``kakurenbo.contest("amic2020")`` gives the steps of a contest."""

    def __call__(self, name: str, **options: Any) -> Any:
        # By name, because the API stands above this package.
        return import_module("kakurenbo.api").contest(name, **options)


sys.modules[__name__].__class__ = _CallablePackage
