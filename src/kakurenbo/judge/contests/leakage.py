"""How many bits of the answers the feedback of a contest can tell a team that asks as often as it may.

While standings move with every guess, a valid guess at a target is a question to the judge, and its credit the answer. Of an
answer that can have n values nobody learns more than log2(n) bits. Boards that are frozen or hidden until the attack is over
answer nothing, and what a team learns of its own release needs no secret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kakurenbo.contest import ATTACK, AnyRulebook, Feedback
from kakurenbo.contest.information import DOUBLE_BITS
from kakurenbo.judge.contests.models import Contest, Visibility
from kakurenbo.judge.contests.queries import schedule
from kakurenbo.judge.contests.quotas import RATE, RATE_SPAN, Quota
from kakurenbo.judge.contests.rulebooks import rules_of

WARNED_SHARE = 0.01
"""An organizer is warned where feedback can tell more of an answer than this."""


class Played(Protocol):
    """A phase, or the plan of one."""

    @property
    def kind(self) -> str: ...
    @property
    def opens_at(self) -> datetime: ...
    @property
    def closes_at(self) -> datetime: ...
    @property
    def visibility(self) -> str: ...
    @property
    def tries_in_all(self) -> int | None: ...
    @property
    def tries_per_day(self) -> int | None: ...
    @property
    def tries_per_target(self) -> int | None: ...
    @property
    def reset_hour(self) -> int: ...


@dataclass(frozen=True)
class Leak:
    """What one team can learn of the answer to one target in one phase.

    Attributes
    ----------
    round, phase : str
    questions : int
        Valid guesses at the target at most, each of which the judge answers.
    bits_each : float
        What one answer tells at most.
    answer_bits : float or None
        What the whole answer to the target has at least; None where the rulebook does not tell.
    """

    round: str
    phase: str
    questions: int
    bits_each: float
    answer_bits: float | None

    @property
    def told(self) -> float:
        """What all answers tell at most, were there so much to tell."""
        return self.questions * self.bits_each

    @property
    def bits(self) -> float:
        """What all answers tell at most; no more than there is."""
        return self.told if self.answer_bits is None else min(self.told, self.answer_bits)

    @property
    def share(self) -> float | None:
        """Of the answer, 0 to 1; None where it is not known how large that is."""
        if not self.questions:
            return 0.0
        return (
            None
            if self.answer_bits is None
            else self.bits / self.answer_bits
            if self.answer_bits
            else 1.0
        )

    @property
    def warns(self) -> bool:
        """Whether it is too much, or may be."""
        return self.share is None or self.share > WARNED_SHARE


def leaks(contest: Contest) -> list[Leak]:
    """What the phases of a contest can tell, in the order they are played."""
    return [
        leak(rules_of(contest, phase.round), phase.round.name, phase, contest.zone)
        for phase in schedule(contest)
    ]


def leak(rules: AnyRulebook, round_name: str, phase: Played, zone: str) -> Leak:
    """What one phase can tell a team of the answer to one target.

    Parameters
    ----------
    rules : Rulebook
        For its round, with the options of its contest.
    round_name : str
    phase : Phase or PhasePlan
    zone : str
        Of the contest.
    """
    outcomes = rules.credit_outcomes()
    each = DOUBLE_BITS if outcomes is None else math.log2(max(1, outcomes))
    visible = phase.visibility or (Visibility.HIDDEN if phase.kind == ATTACK else Visibility.LIVE)
    answered = (
        phase.kind == ATTACK
        and visible == Visibility.LIVE
        and rules.phase(ATTACK).feedback is Feedback.SCORES
    )
    # On a live board stands also what the organizers' attacks found, and everybody can make the guesses they made.
    questions = most_tries(phase, zone) + len(rules.sample_attacks) if answered else 0
    return Leak(round_name, phase.kind, questions, each, rules.answer_bits())


def most_tries(phase: Played, zone: str) -> int:
    """How often a team can try one target in a phase, by every limit there is; that of how fast it may ask holds always."""
    spans = math.ceil((phase.closes_at - phase.opens_at) / RATE_SPAN)
    limits = [spans * RATE, phase.tries_in_all, phase.tries_per_target]
    if phase.tries_per_day is not None:
        limits.append(phase.tries_per_day * _days(phase, zone))
    return min(limit for limit in limits if limit is not None)


def _days(phase: Played, zone: str) -> int:
    """How many days, as tries are counted, a phase has a part of."""
    quota, count, at = Quota(reset_hour=phase.reset_hour, zone=zone), 0, phase.opens_at
    while at < phase.closes_at:
        count, at = count + 1, quota.day_of(at)[1]
    return count
