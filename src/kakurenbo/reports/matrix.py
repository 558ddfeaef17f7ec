"""The results of one round as ``score --json`` prints them, and back.

``{"credits": {target: {attacker: {"hits": 3, "of": 100, ...}}}, "utility": {...}, ...}``: small enough to write by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kakurenbo.contest import Chance, Credit, RoundResults, by_number, json_number
from kakurenbo.core import InputError

Number = int | float


class _Blind(msgspec.Struct):
    hits: Number
    band95: tuple[Number, Number]


class _Earned(msgspec.Struct):
    hits: Number
    of: Number
    accuracy: Number | None = None
    least: Number = 0
    chance: _Blind | None = None
    constant: Number | None = None


class _Matrix(msgspec.Struct):
    """Targets and attackers are those of the credits where they are not listed."""

    credits: dict[str, dict[str, _Earned]]
    tries: dict[str, dict[str, list[_Earned]]] = {}
    targets: tuple[str, ...] | None = None
    attackers: tuple[str, ...] | None = None
    unranked: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    utility: dict[str, Number] = {}
    beside: dict[str, dict[str, Number]] = {}
    out_of_play: dict[str, str] = {}
    round: str = ""


def results_json(results: RoundResults) -> dict[str, Any]:
    """The results of a round as verbs print them."""
    return {
        "credits": _plain(results.credits),
        "tries": _plain(results.tries),
        "targets": list(results.targets),
        "attackers": list(results.attackers),
        "unranked": sorted(results.unranked, key=by_number),
        "excluded": sorted(results.excluded, key=by_number),
        "utility": _plain(results.utility),
        "beside": _plain(results.beside),
        "out_of_play": dict(results.out),
    }


def _plain(value: Any) -> Any:
    """Turn credits and numbers into plain data, in mappings and sequences too."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return list(map(_plain, value))
    return value.as_json() if isinstance(value, Credit) else json_number(value)


def read_matrix(
    file: str, content: Mapping[str, Any], unnamed: str
) -> dict[str, tuple[RoundResults, ...]]:
    """The round that plain data hold; without a name of its own it is called ``unnamed``."""
    try:
        matrix = msgspec.convert(content, _Matrix)
        credits = {
            target: {
                attacker: _credit(earned, content["credits"][target][attacker])
                for attacker, earned in row.items()
            }
            for target, row in matrix.credits.items()
        }
        tries = {
            target: {
                attacker: tuple(map(_credit, earned, content["tries"][target][attacker]))
                for attacker, earned in row.items()
            }
            for target, row in matrix.tries.items()
        }
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError.of("results.not_a_document", file, error=str(error)) from error
    attacking = dict.fromkeys(attacker for row in credits.values() for attacker in row)
    results = RoundResults(
        credits=credits,
        targets=tuple(credits) if matrix.targets is None else matrix.targets,
        attackers=tuple(attacking) if matrix.attackers is None else matrix.attackers,
        utility=matrix.utility,
        out=matrix.out_of_play,
        unranked=matrix.unranked,
        excluded=matrix.excluded,
        tries=tries,
        beside=matrix.beside,
    )
    return {matrix.round or unnamed: (results,)}


def _credit(earned: _Earned, content: Mapping[str, Any]) -> Credit:
    """A credit; figures under other names are its details."""
    others = {
        name: value for name, value in content.items() if name not in _Earned.__struct_fields__
    }
    chance = Chance(earned.chance.hits, *earned.chance.band95) if earned.chance else None
    details = msgspec.convert(others, dict[str, Number])
    return Credit(earned.hits, earned.of, chance, earned.constant, details, least=earned.least)
