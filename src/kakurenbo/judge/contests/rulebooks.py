"""The rulebook of a contest with its options: the one place where the judge builds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kakurenbo.contest import AnyRulebook
from kakurenbo.contest import Phase as DeclaredPhase
from kakurenbo.core import InputError, Problems
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.judge.contests.models import Contest, Phase, Round
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Parameter, parameters_of

_VERBS = ("prepare", "standings")
"""What these verbs take makes a contest; what others take beside it is about files that the judge lays there itself."""
_OF_ROUNDS = "round"


def rules_of(contest: Contest, round: Round | None = None) -> AnyRulebook:
    """The rules of a contest, for one of its rounds where one is given."""
    rules: AnyRulebook = _rulebook(contest.rulebook)(**_constructed(contest.options))
    return rules if round is None else rules.for_round(round.name)


def declared_phase(phase: Phase) -> DeclaredPhase:
    """What the rulebook declares of a phase: files, which entries count, feedback."""
    declared: DeclaredPhase = rules_of(phase.round.contest).phase(phase.kind)
    return declared


def contest_options(rulebook: str) -> tuple[Parameter, ...]:
    """The options of a rulebook that an organizer chooses for a contest, in the order they are declared.

    The round is none of them: a contest has all that its schedule names.
    """
    cls = _rulebook(rulebook)
    wanted = {name for verb in _VERBS for name in cls.options.get(verb, ())} - {_OF_ROUNDS}
    return tuple(described for described in parameters_of(cls) if described.name in wanted)


def chosen_options(rulebook: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a contest keeps them, from texts of a form or from values; problems name the option."""
    known = {described.name: described for described in contest_options(rulebook)}
    chosen: dict[str, Any] = {}
    wrong: list[Problems] = []
    for name, value in given.items():
        described = known.get(name)
        if described is None:
            wrong.append(
                Problems.of("contests.unknown_option", "", column=name, options=list(known))
            )
            continue
        try:
            parsed = (
                described.parse(value)
                if isinstance(value, str)
                else tuple(value)
                if isinstance(value, list)
                else value
            )
            described.check(parsed)
        except ParameterError as error:
            wrong.append(
                Problems.of(
                    "contests.bad_option",
                    "",
                    column=name,
                    value=str(value),
                    expectation=error.expectation,
                )
            )
        else:
            chosen[name] = list(parsed) if isinstance(parsed, tuple) else parsed
    Problems.join(wrong).check()
    return chosen


def find_rulebook(name: str) -> type[AnyRulebook] | None:
    """The class of an installed rulebook; None where there is no such."""
    try:
        rulebook: type[AnyRulebook] = _rulebook(name)
    except UsageError:
        return None
    return rulebook


def known_rulebook(name: str) -> type[AnyRulebook]:
    """The class of an installed rulebook."""
    rulebook = find_rulebook(name)
    if rulebook is None:
        names = list(registry.names("rulebooks"))
        raise InputError.of("contests.unknown_rulebook", "", value=name, rulebooks=names)
    return rulebook


def _rulebook(name: str) -> Any:
    return registry.load("rulebooks", name)


def _constructed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options from JSON as a constructor takes them."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in options.items()
    }
