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
    "anonymize": "kakurenbo anonymize {rulebook} {anonymizer} contest/teams/01 {release}{options}",
    "attack": "kakurenbo attack {rulebook} {attack} phase/targets/01 -o {guess}{options}",
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
    _, command, rulebook, method, *_ = [*command_path.split(), "", "", ""]
    if command == "judge":
        command = rulebook
    if rulebook == TABLE:
        return anonymize_example(TABLE, method) if command == "anonymize" else _GENERATE_TABLE
    template = _TEMPLATES.get(command, "")
    return _filled(template, rulebook, method) if template else ""


def prepare_example(rulebook: str) -> str:
    return example_of(f"kakurenbo prepare {rulebook}")


def publish_example(rulebook: str) -> str:
    return example_of(f"kakurenbo publish {rulebook}")


def anonymize_example(rulebook: str, method: str = "") -> str:
    """Return a command with a method, or with one that plays well."""
    if rulebook == TABLE:
        words = ("kakurenbo", "anonymize", TABLE, method or "rr", "original.csv", "release.csv")
        return shlex.join([*words, *_TABLE_OPTIONS.get(method, ())])
    return example_of(f"kakurenbo anonymize {rulebook} {method}")


def attack_example(rulebook: str, method: str = "") -> str:
    return example_of(f"kakurenbo attack {rulebook} {method}")


def _filled(template: str, rulebook: str, method: str) -> str:
    parts = {"rulebook": rulebook}
    if "{release}" in template:
        parts["release"] = _release(registry.load("rulebooks", rulebook)())
    if "{guess}" in template:
        parts["guess"] = _guess(registry.load("rulebooks", rulebook)())
    for kind in ("anonymizer", "attack"):
        if f"{{{kind}}}" in template:
            cls = registry.load("rulebooks", rulebook)
            played = [getattr(player, kind) for player in cls.default_players]
            name, options = _method(f"{kind}s", cls, method, played)
            if kind == "anonymizer" and registry.find("anonymizers", name).takes_release:
                options = " ".join((options, "--release", "release"))
            parts |= {kind: name, "options": options}
    return template.format_map(parts)


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


def _method(group: str, rulebook: type, asked: str, played: Sequence[str]) -> tuple[str, str]:
    """Return name and options of a method as it first plays by default, else any that fits."""
    installed = registry.names(group)
    for spec in played:
        name = registry.name_of(spec)
        if name in installed and (name == asked or (not asked and name != "pipeline")):
            settings = registry.settings_of(spec).items()
            options = (f" --{key.replace('_', '-')} {_quoted(value)}" for key, value in settings)
            return name, "".join(options)
    if asked:
        return asked, ""
    from kakurenbo.contest import fits

    return next(name for name in installed if fits(rulebook, registry.load(group, name))), ""


def _quoted(value: str) -> str:
    return f"'{value}'" if "|" in value else value
