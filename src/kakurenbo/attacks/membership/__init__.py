"""Membership attacks: which rows of a population were the source of a release?"""

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.blind import Blind
from kakurenbo.attacks.membership.champion import BestOfShadows
from kakurenbo.attacks.membership.kernel import Kernel
from kakurenbo.attacks.membership.likelihood import (
    Likelihood,
    estimate_mechanism,
    membership_odds,
)
from kakurenbo.attacks.membership.nearest import Nearest
from kakurenbo.attacks.membership.tracing import Tracing
from kakurenbo.attacks.records.nearest_rows import Neighbours, nearest_rows
from kakurenbo.methods.threats import MembershipGuess, MembershipKnowledge

__all__ = [
    "BestOfShadows",
    "Blind",
    "Kernel",
    "Likelihood",
    "MembershipAttack",
    "MembershipGuess",
    "MembershipKnowledge",
    "Nearest",
    "Neighbours",
    "Tracing",
    "estimate_mechanism",
    "membership_odds",
    "nearest_rows",
]
