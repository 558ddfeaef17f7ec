"""Examples of commands that work as typed, on the folders that ``prepare`` and ``publish`` write."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from kakurenbo.methods import registry

TABLE = "table"
"""What takes the place of a rulebook where there is no contest."""
_TEAM, _ATTACKER = "01", "02"
_TEMPLATES = {
    "prepare": "kakurenbo prepare {rulebook} -o contest --teams 2",
    "publish": "kakurenbo publish {rulebook} contest submissions -o phase",
    "attach": "kakurenbo attach {rulebook} contest phase questionnaires -o phase-2",
    "anonymize": "kakurenbo anonymize {rulebook} {anonymizers} contest/teams/01 {release}{options}",
    "attack": "kakurenbo attack {rulebook} {attacks} phase/targets/01 -o {guess}{options}",
    "check": "kakurenbo check {rulebook} contest/teams/01 {release}",
    "measure": "kakurenbo measure {rulebook} contest/teams/01 {release}",
    "generate": "kakurenbo generate {rulebook} -o population.csv",
    "sample": "kakurenbo sample {rulebook} population.csv -o sample.csv",
    "credit": "kakurenbo credit {rulebook} phase/answers/01 {guess}",
    "score": "kakurenbo score {rulebook} phase guesses -o results.json",
    "run": "kakurenbo run {rulebook} -o run",
    "verify": "kakurenbo verify {rulebook} contest phase",
    "report": "kakurenbo report run",
    "backup": "kakurenbo judge backup --home judge judge.backup",
    "restore": "kakurenbo judge restore judge.backup --home judge-again",
    "schema": "kakurenbo schema original.csv -o schema.toml",
    "audit": "kakurenbo audit original.csv release.csv --holdout holdout.csv -o report.html",
    "data": "kakurenbo data import adult adult.data adult.test",
}
_GENERATE_TABLE = "kakurenbo generate table hospital -o original.csv --holdout holdout.csv"
_TABLE_OPTIONS = {
    "kanony": ("--columns", "sex,ward"),
    "pipeline": ("--steps", "swap|rr:p=0.9"),
}
"""Options for the table of ``generate table hospital``, where defaults are those of a contest."""


def example_of(command_path: str) -> str:
    """Return a whole command like one that was begun, such as ``kakurenbo measure amic2020``."""
    return example(*command_path.split()[1:])


def example(command: str, rulebook: str = "", method: str = "", *_: str) -> str:
    """Return a whole command, with a method that plays well if none is named."""
    if command == "judge" and rulebook:
        command, rulebook = rulebook, ""
    template = _TEMPLATES.get(command, "")
    if rulebook == TABLE and command == "anonymize":
        method = method or "rr"
        words = ("kakurenbo", "anonymize", TABLE, method, "original.csv", "release.csv")
        template = shlex.join([*words, *_TABLE_OPTIONS.get(method, ())])
    elif rulebook == TABLE and command == "generate":
        template = _GENERATE_TABLE
    elif not rulebook and "{rulebook}" in template:
        template = ""
    return template.format_map(_parts(template, rulebook, method))


def _parts(template: str, rulebook: str, method: str) -> dict[str, str]:
    """Return the values of the placeholders; loads only what they need."""
    parts = {"rulebook": rulebook}
    if "{release}" in template:
        parts["release"] = _release(registry.load("rulebooks", rulebook)())
    if "{guess}" in template:
        parts["guess"] = _guess(registry.load("rulebooks", rulebook)())
    for group in ("anonymizers", "attacks"):
        if f"{{{group}}}" in template:
            cls = registry.load("rulebooks", rulebook)
            played = [getattr(player, group.removesuffix("s")) for player in cls.default_players]
            parts[group], parts["options"] = _method(group, cls, method, played)
            if getattr(registry.find(group, parts[group]), "takes_release", False):
                parts["options"] = " ".join((parts["options"], "--release", "release"))
    return parts


def _release(rules: Any) -> str:
    """Return where a team's release would be for ``publish``: a folder if it has several files."""
    from kakurenbo.contest import ANONYMIZE

    phase, folder = rules.phase(ANONYMIZE), f"submissions/{_TEAM}"
    pattern = phase.files[0]
    needed = [ways for ways in phase.ways() if not ways[0].optional]
    if "{number}" in pattern.template or len(needed) > 1:
        return folder
    return f"{folder}/{pattern.name(team=_TEAM, round=rules.round_name)}"


def _guess(rules: Any) -> str:
    from kakurenbo.contest import ATTACK

    files = rules.phase(ATTACK).files
    pattern = next((file for file in files if "{target}" in file.template), files[0])
    names = {"target": _TEAM, "attacker": _ATTACKER, "round": rules.round_name}
    return f"guesses/{_ATTACKER}/{pattern.name(**names)}"


def _method(group: str, rulebook: type, name: str, played: Sequence[str]) -> tuple[str, str]:
    """Return name and options of a method as it first plays by default, else any that fits."""
    installed = registry.names(group)
    for spec in played:
        player = registry.name_of(spec)
        is_meant = player == name if name else player != "pipeline"
        if player in installed and is_meant:
            settings = registry.settings_of(spec).items()
            options = [
                f" --{key.replace('_', '-')} {shlex.quote(value)}" for key, value in settings
            ]
            return player, "".join(options)
    if name:
        return name, ""
    from kakurenbo.contest import fits

    return next(other for other in installed if fits(rulebook, registry.load(group, other))), ""
