"""Documents of any size, made up by formulas: the same figures on every machine, with names in two languages."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

from kakurenbo.contest import (
    AnyRulebook,
    Chance,
    Credit,
    Figure,
    Measurement,
    RoundResults,
    Standings,
    Unit,
    rank_scores,
)
from kakurenbo.contest.records import ReleaseRecord, threshold_cause
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.reports import Document, PlayerEntry, make_document

OF = 100
HOSTILE = (
    '<img src=x onerror="window.hacked=1">&]]></text><script>window.hacked=1</script>\x1b\u202e=1+1'
)
NAMES = (
    "uniform noise",
    "rare values suppressed",
    "合成データ班",
    "swaps",
    "東京匿名加工研究会",
    "nothing at all",
    "k-anonymous crowd",
)
METHODS = (
    "rr:p=0.97",
    "kanony:k=3,columns=age,education",
    "synthetic:generator=omth17",
    "rrp:p=0.8",
    "shuffle_rows",
)
ATTACKS = ("nearest", "likelihood", "nearest:metric=onehot", "blind", "posterior")


def synthetic_document(
    releases: int, attackers: int, repeats: int = 1, first_name: str = ""
) -> Document:
    """A round in which ``attackers`` teams attack the releases of the first ``releases`` of them."""
    teams = [f"{number + 1:02d}" for number in range(max(releases, attackers))]
    results = [_results(teams[:releases], teams[:attackers], repeat) for repeat in range(repeats)]
    records = [[_record(team, repeat) for team in teams[:releases]] for repeat in range(repeats)]
    players = [_player(team, releases, attackers) for team in teams]
    if first_name:
        players[0] = PlayerEntry(teams[0], first_name, METHODS[0], ATTACKS[0])
    report = {"data": "made-up figures"}
    return make_document(
        RULEBOOK,
        {"main": results},
        {"main": records},
        players=players,
        reports={"main": report},
        manifest={"versions": {}},
    )


def _player(team: str, releases: int, attackers: int) -> PlayerEntry:
    number = int(team) - 1
    sweep = {"sweep": "noise", "parameters": {"p": str(number)}} if number in (3, 8, 13) else {}
    return PlayerEntry(
        team,
        NAMES[number % len(NAMES)] + (f" {number}" if number >= len(NAMES) else ""),
        METHODS[number % len(METHODS)] if number < releases else "",
        ATTACKS[number % len(ATTACKS)] if number < attackers else "",
        **sweep,  # type: ignore[arg-type]
    )


def _results(targets: Sequence[str], attackers: Sequence[str], repeat: int) -> RoundResults:
    credits = {
        target: {
            attacker: _credit(int(target), int(attacker), repeat)
            for attacker in attackers
            if attacker != target
        }
        | {"sample attack": _credit(int(target), 0, repeat)}
        for target in targets
    }
    utility = {target: _utility(int(target), repeat) for target in targets}
    out = {target: "disqualified" for target in targets if utility[target] < 0.6}
    return RoundResults(
        credits,
        tuple(targets),
        (*attackers, "sample attack"),
        utility,
        out,
        frozenset({"sample attack"}),
    )


def _credit(target: int, attacker: int, repeat: int) -> Credit:
    ease, skill = (target * 37) % 90, 0.2 + 0.8 * ((attacker * 29) % 17) / 16
    hits = min(OF, round(8 + ease * skill) + (target * attacker + 3 * repeat) % 5)
    return Credit(hits, OF, Chance(10, 5, 16), 12)


def _utility(target: int, repeat: int) -> float:
    return round(0.5 + 0.5 * ((target * 53) % 89) / 89 + 0.004 * repeat, 4)


def _record(team: str, repeat: int) -> ReleaseRecord:
    utility, error = _utility(int(team), repeat), ((int(team) * 31) % 41) / 400
    state = PUBLISHED if utility >= 0.6 else "disqualified"
    limit = {
        "pair": ["marital-status=Separated", "occupation=Priv-house-serv"],
        "difference": error,
    }
    measurements = (
        Measurement("U", utility, minimum=0.6, passes=utility >= 0.6),
        Measurement(
            "max_error",
            error,
            higher_is_better=False,
            limit=limit,
            parts={"age": error, "income": error / 3},
        ),
    )
    cause = "" if state == PUBLISHED else threshold_cause(measurements)
    return ReleaseRecord(team, team, state, cause=cause, measurements=measurements)


def _standings(rounds: dict[str, RoundResults]) -> Standings:
    (results,) = rounds.values()
    least = {
        target: min(1 - Fraction(credit.hits, OF) for credit in row.values())
        for target, row in results.credits.items()
    }
    anonymization = {
        target: None if target in results.out else value for target, value in least.items()
    }
    attack = {
        name: sum(
            (Fraction(row[name].hits, OF) for row in results.credits.values() if name in row),
            Fraction(0),
        )
        for name in results.ranked_attackers
    }
    overall = {
        team: value and value + attack.get(team, 0) / len(results.targets)
        for team, value in anonymization.items()
    }
    notes = dict.fromkeys(results.out, "disqualified")
    return Standings(
        rank_scores(anonymization, notes),
        rank_scores(attack),
        rank_scores(overall, notes),
        {"anonymization": tuple(anonymization)[:1]},
    )


RULEBOOK = cast(
    AnyRulebook,
    SimpleNamespace(
        name="toy",
        title="a toy contest of made-up figures",
        version="1",
        rounds=("main",),
        utility_score="U",
        only_shown=frozenset[str](),
        utility_range=(0, 1),
        figures={
            "U": Figure(Unit.SIMILARITY, 1),
            "max_error": Figure(Unit.DISTANCE),
            "anonymization": Figure(Unit.SIMILARITY, 1),
        },
        standings=_standings,
    ),
)
