"""The players' jobs: a method makes a release from its team's handout, an attack makes a guess from what was published.

Handouts are not remembered: nothing of one may be left in a process that runs other teams' attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kakurenbo.arena.requests import OWN, Outcome, PlayerRequest, accepted
from kakurenbo.contest import AnyRulebook, json_number, read_facts
from kakurenbo.contest.engine import sample_stream
from kakurenbo.contest.facts import ContestFacts
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.remembering import Memory, remembering_tables
from kakurenbo.core.rng import stream

GUESS_FILE = "guess"
_SEEN = ("target", "part", "attackers", OWN)
_TARGETS, _TABLES = Memory(4), Memory(4)


def anonymize(request: PlayerRequest) -> Outcome:
    """A team anonymizes what it was given."""
    assert request.method is not None
    folder = request.inputs["handout"].checked()
    rules: AnyRulebook = request.rulebook.make().in_folder(folder)
    handout = accepted(rules.read_handout, folder)
    release = rules.anonymize(
        handout, request.method.make(), stream(int(request.seed), "anonymize")
    )
    claims = {name: json_number(value) for name, value in release.claims.items()}
    return Outcome({"claims": claims}, {"release": dict(rules.release_files(handout, release))})


def attack(request: PlayerRequest) -> Outcome:
    """An attack on one target, from published files and, where the rules make it of use, the attacker's own handout."""
    seen = _Seen.read(request) if OWN in request.inputs else _Seen.remembered(request)
    if request.method is not None:
        method, rng = request.method.make(), stream(int(request.seed), "attack")
    else:
        method, rng = (
            seen.rules.sample_attacks[request.attacker],
            sample_stream(seen.facts, request.attacker, request.target),
        )
    return Outcome(
        {}, {"guess": {GUESS_FILE: seen.rules.bytes_of_attack(method(seen.knowledge, rng))}}
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """A target as attackers see it, and the rules as its folder fixes them."""

    rules: AnyRulebook
    facts: ContestFacts
    knowledge: Any

    @classmethod
    def remembered(cls, request: PlayerRequest) -> _Seen:
        inputs = tuple((role, tree.digest) for role, tree in request.inputs.items())

        def read() -> _Seen:
            with remembering_tables(_TABLES):
                return cls.read(request)

        return _TARGETS.remembered((inputs, request.rulebook), read)

    @classmethod
    def read(cls, request: PlayerRequest) -> _Seen:
        folder, *beside = (
            request.inputs[role].checked() for role in _SEEN if role in request.inputs
        )
        facts = read_facts(folder)
        if facts is None:
            raise KakurenboError("error.lacks_contest")
        rules: AnyRulebook = request.rulebook.make().under(facts)
        return cls(
            rules, facts, accepted(rules.read_target, folder, *beside, attacker="").knowledge
        )
