"""What anonymizers, measures, attacks and rulebooks promise each other, and the few types that cross layers."""

from kakurenbo.contracts.anonymizer import Anonymizer, Mechanism, Release, has_columns, unknown_column
from kakurenbo.contracts.attack import Attack
from kakurenbo.contracts.credit import Chance, Credit
from kakurenbo.contracts.declarations import ANONYMIZE, ATTACK, Counting, Feedback, FilePattern, Phase, Tries
from kakurenbo.contracts.facts import CONTEST_FILE, ContestFacts, read_facts
from kakurenbo.contracts.fitting import fits, misfit, rulebooks_for
from kakurenbo.contracts.guesses import FoundGuess, Guesses, whole_numbers
from kakurenbo.contracts.measure import Figure, Measurement, Score, Threshold, Unit, Utility, json_number
from kakurenbo.contracts.preparation import Files, Preparation, PreparedRound, Publication, RoundData, Secrets
from kakurenbo.contracts.results import (
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
from kakurenbo.contracts.rulebook import AnyRulebook, Player, Rulebook, Target

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
    "rulebooks_for",
    "shown_unranked",
    "team_of",
    "two_digits",
    "unknown_column",
    "whole_numbers",
    "why_no_attack",
    "why_out",
]
