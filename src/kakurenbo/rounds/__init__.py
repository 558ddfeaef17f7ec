"""Rounds played by folders.

Nothing of one team touches another: a file that is bad, or that makes a step fail, costs its own team that file alone.
"""

from kakurenbo.rounds.publishing import PublishedRound, ReleaseRecord, judge_release, publish_round
from kakurenbo.rounds.scoring import Refusal, ScoredRound, credit_files, few_per_team, score_round
from kakurenbo.rounds.verifying import IN_PHASE, MADE_AGAIN, verify_round

__all__ = [
    "IN_PHASE",
    "MADE_AGAIN",
    "PublishedRound",
    "Refusal",
    "ReleaseRecord",
    "ScoredRound",
    "credit_files",
    "few_per_team",
    "judge_release",
    "publish_round",
    "score_round",
    "verify_round",
]
