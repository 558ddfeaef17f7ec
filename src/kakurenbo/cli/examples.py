"""Commands to copy: one per contest that works as typed, on the folders that ``prepare`` and ``publish`` write."""

from __future__ import annotations

from kakurenbo import registry
from kakurenbo.contracts import ANONYMIZE, ATTACK, FilePattern, fits

CONTEST, SUBMISSIONS, PHASE, GUESSES = "contest", "submissions", "phase", "guesses"
_ANONYMIZER, _ATTACKER = "01", "02"


def prepare_example(rulebook: str) -> str:
    """What an organizer types first."""
    return f"kakurenbo prepare {rulebook} -o {CONTEST} --teams 2"


def publish_example(rulebook: str) -> str:
    """What an organizer types when the releases are in."""
    return f"kakurenbo publish {rulebook} {CONTEST} {SUBMISSIONS} -o {PHASE}"


def anonymize_example(rulebook: str) -> str:
    """What a player types to make a release."""
    cls = registry.load("rulebooks", rulebook)
    pattern = cls().phase(ANONYMIZE).files[0]
    out = f"{SUBMISSIONS}/{_ANONYMIZER}"
    if "{number}" not in pattern.template:  # a release of several files is a folder
        out += f"/{pattern.name(team=_ANONYMIZER, round=cls().round_name)}"
    method, options = _method("anonymizers", cls, [player.anonymizer for player in cls.default_players])
    return f"kakurenbo anonymize {rulebook} {method} {CONTEST}/teams/{_ANONYMIZER} {out}{options}"


def attack_example(rulebook: str) -> str:
    """What a player types to attack a release."""
    cls = registry.load("rulebooks", rulebook)
    files = cls().phase(ATTACK).files
    pattern: FilePattern = next((file for file in files if "{target}" in file.template), files[0])
    guess = pattern.name(target=_ANONYMIZER, attacker=_ATTACKER, round=cls().round_name)
    method, options = _method("attacks", cls, [player.attack for player in cls.default_players])
    target = f"{PHASE}/targets/{_ANONYMIZER}"
    return f"kakurenbo attack {rulebook} {method} {target} -o {GUESSES}/{_ATTACKER}/{guess}{options}"


def _method(group: str, rulebook: type, played: list[str]) -> tuple[str, str]:
    """Name and options of a method that plays: the first of the default field, else the first that is installed."""
    for told in played:
        name, _, parameters = told.partition(":")
        if name in registry.names(group) and name != "pipeline":
            pairs = (part.partition("=") for part in parameters.split(",") if "=" in part)
            return name, "".join(f" --{key.replace('_', '-')} {value}" for key, _, value in pairs)
    return next(name for name in registry.names(group) if fits(rulebook, registry.load(group, name))), ""
