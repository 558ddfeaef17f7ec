"""Commands to copy: one per verb and contest that works as typed, on the folders that ``prepare`` and ``publish`` write."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kakurenbo.contest import ANONYMIZE, ATTACK, AnyRulebook, FilePattern, fits
from kakurenbo.methods import registry

CONTEST, SUBMISSIONS, PHASE, GUESSES, RESULTS, RUN = (
    "contest",
    "submissions",
    "phase",
    "guesses",
    "results.json",
    "run",
)
TABLE = "table"
"""What stands in the place of a rulebook where there is no contest."""
_OWN, _OWN_RELEASE = "original.csv", "release.csv"
_FOR_OWN_TABLES = MappingProxyType(
    {"kanony": ("--columns", "sex,ward"), "pipeline": ("--steps", "swap|rr:p=0.9")}
)
"""What methods need whose defaults name columns of a contest, or do nothing; for the table of ``generate table hospital``."""
_GENERATE_TABLE = "kakurenbo generate table hospital -o original.csv --holdout holdout.csv"
_ANONYMIZER, _ATTACKER = "01", "02"
_HANDOUT, _TARGET = f"{CONTEST}/teams/{_ANONYMIZER}", f"{PHASE}/targets/{_ANONYMIZER}"


def prepare_example(rulebook: str) -> str:
    """What an organizer types first."""
    return f"kakurenbo prepare {rulebook} -o {CONTEST} --teams 2"


def publish_example(rulebook: str) -> str:
    """What an organizer types when the releases are in."""
    return f"kakurenbo publish {rulebook} {CONTEST} {SUBMISSIONS} -o {PHASE}"


def anonymize_example(rulebook: str, asked: str = "") -> str:
    """What a player types to make a release, by the method asked for or by one that plays well."""
    if rulebook == TABLE:
        needed = _FOR_OWN_TABLES.get(asked, ())
        return shlex.join(
            ["kakurenbo", "anonymize", TABLE, asked or "rr", _OWN, _OWN_RELEASE, *needed]
        )
    cls = registry.load("rulebooks", rulebook)
    method, options = _method(
        "anonymizers", cls, asked, [player.anonymizer for player in cls.default_players]
    )
    if method in registry.names("anonymizers"):
        repairs = registry.load("anonymizers", method).takes_release
        options += " --release release" if repairs else ""
    return f"kakurenbo anonymize {rulebook} {method} {_HANDOUT} {_release(rulebook)}{options}"


def attack_example(rulebook: str, asked: str = "") -> str:
    """What a player types to attack a release, by the method asked for or by one that plays well."""
    cls = registry.load("rulebooks", rulebook)
    method, options = _method(
        "attacks", cls, asked, [player.attack for player in cls.default_players]
    )
    return f"kakurenbo attack {rulebook} {method} {_TARGET} -o {_guess(rulebook)}{options}"


_EXAMPLES: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "prepare": prepare_example,
        "publish": publish_example,
        "attach": lambda rulebook: (
            f"kakurenbo attach {rulebook} {CONTEST} {PHASE} questionnaires -o {PHASE}-2"
        ),
        "check": lambda rulebook: f"kakurenbo check {rulebook} {_HANDOUT} {_release(rulebook)}",
        "measure": lambda rulebook: f"kakurenbo measure {rulebook} {_HANDOUT} {_release(rulebook)}",
        "generate": lambda rulebook: (
            _GENERATE_TABLE
            if rulebook == TABLE
            else f"kakurenbo generate {rulebook} -o population.csv"
        ),
        "sample": lambda rulebook: f"kakurenbo sample {rulebook} population.csv -o sample.csv",
        "credit": lambda rulebook: (
            f"kakurenbo credit {rulebook} {PHASE}/answers/{_ANONYMIZER} {_guess(rulebook)}"
        ),
        "score": lambda rulebook: f"kakurenbo score {rulebook} {PHASE} {GUESSES} -o {RESULTS}",
        "run": lambda rulebook: f"kakurenbo run {rulebook} -o {RUN}",
        "verify": lambda rulebook: f"kakurenbo verify {rulebook} {CONTEST} {PHASE}",
        "report": lambda _: f"kakurenbo report {RUN}",
        "backup": lambda _: "kakurenbo backup --home judge judge.backup",
        "restore": lambda _: "kakurenbo restore judge.backup --home judge-again",
        "schema": lambda _: "kakurenbo schema original.csv -o schema.toml",
        "audit": lambda _: (
            "kakurenbo audit original.csv release.csv --holdout holdout.csv -o report.html"
        ),
        "data": lambda _: "kakurenbo data import adult adult.data adult.test",
    }
)
_OF_METHODS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {"anonymize": anonymize_example, "attack": attack_example}
)


def example_of(begun: str) -> str:
    """A whole command like the one that was begun, ``kakurenbo measure amic2020``; empty where there is none."""
    _, verb, rulebook, method, *_ = [*begun.split(), "", "", ""]
    if verb in _OF_METHODS:
        return _OF_METHODS[verb](rulebook, method)
    return _EXAMPLES[verb](rulebook) if verb in _EXAMPLES else ""


def _release(rulebook: str) -> str:
    return release_place(registry.load("rulebooks", rulebook)(), _ANONYMIZER)


def release_place(rules: AnyRulebook, team: str) -> str:
    """Where a team's release would lie for ``publish``: a file, or a folder where it has several."""
    pattern, folder = rules.phase(ANONYMIZE).files[0], f"{SUBMISSIONS}/{team}"
    needed = [ways for ways in rules.phase(ANONYMIZE).ways() if not ways[0].optional]
    if "{number}" in pattern.template or len(needed) > 1:  # a release of several files is a folder
        return folder
    return f"{folder}/{pattern.name(team=team, round=rules.round_name)}"


def _guess(rulebook: str) -> str:
    rules = registry.load("rulebooks", rulebook)()
    files = rules.phase(ATTACK).files
    pattern: FilePattern = next((file for file in files if "{target}" in file.template), files[0])
    return f"{GUESSES}/{_ATTACKER}/{pattern.name(target=_ANONYMIZER, attacker=_ATTACKER, round=rules.round_name)}"


def _method(group: str, rulebook: type, asked: str, played: Sequence[str]) -> tuple[str, str]:
    """Name and options of a method: as it first plays in the default field; else that asked for, or any that is installed."""
    for told in played:
        name, _, parameters = told.partition(":")
        if name in registry.names(group) and (name == asked or (not asked and name != "pipeline")):
            pairs = (part.partition("=") for part in parameters.split(",") if "=" in part)
            return name, "".join(
                f" --{key.replace('_', '-')} {_quoted(value)}" for key, _, value in pairs
            )
    return asked or next(
        name for name in registry.names(group) if fits(rulebook, registry.load(group, name))
    ), ""


def _quoted(value: str) -> str:
    return f"'{value}'" if "|" in value else value
