"""Membership attacks: which rows of a population were the source of a release?"""

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.blind import Blind
from kakurenbo.attacks.membership.champion import Champion
from kakurenbo.attacks.membership.kernel import Kernel
from kakurenbo.attacks.membership.knowledge import MembershipGuess, MembershipKnowledge
from kakurenbo.attacks.membership.likelihood import Likelihood, membership_odds
from kakurenbo.attacks.membership.nearest import Nearest
from kakurenbo.attacks.membership.neighbours import Neighbours, nearest_rows
from kakurenbo.attacks.membership.retention import estimate_mechanism
from kakurenbo.attacks.membership.tracing import Tracing

__all__ = [
    "Blind",
    "Champion",
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
