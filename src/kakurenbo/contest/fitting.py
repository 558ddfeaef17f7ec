"""Which methods play which rulebooks: by the data they take, so that neither needs to know the other's name."""

from __future__ import annotations

from typing import Any

from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry
from kakurenbo.methods.base import Anonymizer, Attack

AnyMethod = Anonymizer | Attack[Any, Any]


def fits(rulebook: type[AnyRulebook], method: type[AnyMethod]) -> bool:
    """Whether a method, with parameters of some kind, plays a rulebook.

    An anonymizer does where it accepts the schema of the tables that it would be given, an attack where the knowledge that
    the rulebook gives is the one it takes.
    """
    if issubclass(method, Anonymizer):
        return method.accepts(rulebook.schema)
    return issubclass(rulebook.knowledge, method.knowledge)


def misfit(rulebook: type[AnyRulebook], method: AnyMethod) -> str | Message:
    """Why a method with its parameters does not play a rulebook, as the end of a sentence; empty where it does."""
    if not fits(rulebook, type(method)):
        return Message("misfit.contest", {"rulebook": rulebook.name})
    reason = method.unfit(rulebook.schema) if isinstance(method, Anonymizer) else ""
    return Message("misfit.tables", {"rulebook": rulebook.name, "reason": reason}) if reason else ""


def rulebooks_for(method: type[AnyMethod]) -> tuple[str, ...]:
    """Names of the installed rulebooks that a method plays."""
    return tuple(
        name
        for name in registry.names("rulebooks")
        if fits(registry.load("rulebooks", name), method)
    )
