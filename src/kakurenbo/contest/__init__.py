"""Rulebook, folders, engine, standings."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from kakurenbo.contest.bases import LinkageContest, MembershipContest, Rows
from kakurenbo.contest.engine import (
    GuessesOutcome,
    ReleaseOutcome,
    ScoredGuess,
    judge_guesses,
    judge_release,
)
from kakurenbo.contest.folders import CONTEST_FILE, ContestFacts, ContestFolder, Files, read_facts
from kakurenbo.contest.measure import (
    Chance,
    Credit,
    Figure,
    Measurement,
    Score,
    Threshold,
    Unit,
    Utility,
    at_least,
    at_most,
    json_number,
)
from kakurenbo.contest.phases import (
    ANONYMIZE,
    ATTACK,
    Counting,
    Feedback,
    FilePattern,
    Phase,
    Player,
    Tries,
)
from kakurenbo.contest.preparation import (
    Preparation,
    PreparedRound,
    Publication,
    PublishedTargets,
    RoundData,
    Secrets,
    Target,
)
from kakurenbo.contest.records import FoundGuess, Guesses, Refusal, ReleaseRecord, limit_refusals
from kakurenbo.contest.results import (
    RoundResults,
    Standing,
    Standings,
    as_decimal,
    awarded,
    by_number,
    rank_scores,
    shown_unranked,
    team_of,
    two_digits,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.rounds import PublishedRound, ScoredRound, publish_round, score_round
from kakurenbo.contest.rulebook import AnyRulebook, Rulebook, fits, misfit, rulebooks_for
from kakurenbo.contest.schedule import Schedule, read_schedule
from kakurenbo.contest.verify import IN_PHASE, MADE_AGAIN, verify_round
from kakurenbo.methods.base import (
    Anonymizer,
    Attack,
    Mechanism,
    Release,
    has_columns,
    unknown_column,
)
from kakurenbo.methods.threats import whole_numbers

__all__ = [
    "ANONYMIZE",
    "ATTACK",
    "CONTEST_FILE",
    "IN_PHASE",
    "MADE_AGAIN",
    "Anonymizer",
    "AnyRulebook",
    "Attack",
    "Chance",
    "ContestFacts",
    "ContestFolder",
    "Counting",
    "Credit",
    "Feedback",
    "Figure",
    "FilePattern",
    "Files",
    "FoundGuess",
    "Guesses",
    "GuessesOutcome",
    "LinkageContest",
    "Measurement",
    "Mechanism",
    "MembershipContest",
    "Phase",
    "Player",
    "Preparation",
    "PreparedRound",
    "Publication",
    "PublishedRound",
    "PublishedTargets",
    "Refusal",
    "Release",
    "ReleaseOutcome",
    "ReleaseRecord",
    "RoundData",
    "RoundResults",
    "Rows",
    "Rulebook",
    "Schedule",
    "Score",
    "ScoredGuess",
    "ScoredRound",
    "Secrets",
    "Standing",
    "Standings",
    "Target",
    "Threshold",
    "Tries",
    "Unit",
    "Utility",
    "as_decimal",
    "at_least",
    "at_most",
    "awarded",
    "by_number",
    "fits",
    "has_columns",
    "json_number",
    "judge_guesses",
    "judge_release",
    "limit_refusals",
    "misfit",
    "publish_round",
    "rank_scores",
    "read_facts",
    "read_schedule",
    "rulebooks_for",
    "score_round",
    "shown_unranked",
    "team_of",
    "two_digits",
    "unknown_column",
    "verify_round",
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
