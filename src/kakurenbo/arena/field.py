"""Who plays what: the field of a tournament from a TOML file, or the rulebook's own, with sweeps spread out.

Names, folders and parameters in the file are somebody else's text: names are only ever shown, teams go by number.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Any

from kakurenbo import registry
from kakurenbo.arena.calls import Call, as_text
from kakurenbo.contracts import Player, Rulebook, fits, misfit
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.parameters import parameters_of

AnyRulebook = Rulebook[Any, Any, Any, Any, Any]
_MAX_BYTES = 1_000_000
_MAX_NAME = 60
_FILE_KEYS = ("players", "rounds", "options", "seed", "repeat", "preparation")
_PLAYER_KEYS = ("name", "team", "anonymizer", "attack", "release", "guesses")


@dataclass(frozen=True)
class Entrant:
    """One team of a tournament.

    Attributes
    ----------
    team : str
        Its number, ``01`` ...
    name : str
        What it is called; any text.
    anonymizer, attack : Call or None
        Its methods, where it plays with methods.
    release, guesses : Path or None
        Folders of submitted files, where it plays with files.
    sweep : str
        The player of the file whose parameter list this entrant comes from; empty for none.
    """

    team: str
    name: str
    anonymizer: Call | None = None
    attack: Call | None = None
    release: Path | None = None
    guesses: Path | None = None
    sweep: str = ""

    @property
    def anonymizes(self) -> bool:
        return self.anonymizer is not None or self.release is not None

    @property
    def attacks(self) -> bool:
        return self.attack is not None or self.guesses is not None

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"team": self.team, "name": self.name}
        for key, value in (("anonymizer", self.anonymizer), ("attack", self.attack)):
            if value is not None:
                shown[key] = str(value)
        for key, folder in (("release", self.release), ("guesses", self.guesses)):
            if folder is not None:
                shown[key] = f"files in {folder.name}"
        if self.sweep:
            shown["sweep"] = self.sweep
            shown["parameters"] = dict(self.anonymizer.parameters) if self.anonymizer else {}
        return shown


@dataclass(frozen=True)
class Field:
    """What a teams file says; what it leaves out is None or empty."""

    entrants: tuple[Entrant, ...]
    rounds: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    seed: int | None = None
    repeat: int | None = None
    preparation: Path | None = None


def default_field(rulebook: AnyRulebook) -> Field:
    """The rulebook's own players; where it names none, every installed method that fits it, with its defaults."""
    players = rulebook.default_players or tuple(_all_methods(rulebook))
    if not players:
        raise UsageError(f"no method for {rulebook.name} is installed; name players with --teams FILE")
    entrants = [
        Entrant(
            "",
            player.name,
            Call.parsed("anonymizers", player.anonymizer) if player.anonymizer else None,
            Call.parsed("attacks", player.attack) if player.attack else None,
        )
        for player in players
    ]
    return Field(_numbered(entrants))


def _all_methods(rulebook: AnyRulebook) -> Iterator[Player]:
    fitting = {
        group: [name for name in registry.names(group) if _plays_by_default(rulebook, registry.load(group, name))]
        for group in ("anonymizers", "attacks")
    }
    for anonymizer, attack in itertools.zip_longest(fitting["anonymizers"], fitting["attacks"]):
        yield Player(anonymizer or attack, anonymizer or "", attack or "")


def _plays_by_default(rulebook: AnyRulebook, method: Any) -> bool:
    needs_nothing = all(described.default is not MISSING for described in parameters_of(method))
    return fits(type(rulebook), method) and needs_nothing and not misfit(type(rulebook), method())


def read_field(path: Path) -> Field:
    """The field of a TOML file; raises ``UsageError`` that names the file, the player and what to write instead."""
    try:
        data = path.read_bytes()
        content = tomllib.loads(data[:_MAX_BYTES].decode()) if len(data) <= _MAX_BYTES else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: the file is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: this is not TOML ({error})") from None
    if content is None:
        raise UsageError(f"{path}: the file is larger than {_MAX_BYTES:,} bytes")
    try:
        return _field(content, path.parent)
    except (UsageError, ParameterError) as error:
        raise UsageError(f"{path}: {error}") from None


def _field(content: Mapping[str, Any], base: Path) -> Field:
    _only_keys(content, _FILE_KEYS, "the file")
    players = content.get("players", [])
    if not isinstance(players, list) or not players or not all(isinstance(player, dict) for player in players):
        raise UsageError("there are no players; write a [[players]] table for each")
    entrants: list[Entrant] = []
    for number, player in enumerate(players, start=1):
        name = str(player.get("name") or f"player {number}")[:_MAX_NAME]
        try:
            entrants.extend(_entrants(player, name, base))
        except (UsageError, ParameterError) as error:
            raise UsageError(f"player {name!r}: {error}") from None
    rounds = content.get("rounds", [])
    if not isinstance(rounds, list) or not all(isinstance(name, str) for name in rounds) or len(set(rounds)) < len(rounds):
        raise UsageError('rounds must be a list of different names, such as ["pre", "main"]')
    options = content.get("options", {})
    if not isinstance(options, dict):
        raise UsageError("[options] must be a table of the rulebook's parameters")
    preparation = content.get("preparation")
    return Field(
        _numbered(entrants),
        tuple(rounds),
        tuple((str(name), as_text(value)) for name, value in options.items()),
        _whole(content, "seed", 0),
        _whole(content, "repeat", 1),
        None if preparation is None else _folder(base, preparation),
    )


def _entrants(player: Mapping[str, Any], name: str, base: Path) -> list[Entrant]:
    """A player as one entrant, or one for each combination where parameters are lists."""
    _only_keys(player, _PLAYER_KEYS, "a player")
    for one, other in (("anonymizer", "release"), ("attack", "guesses")):
        if one in player and other in player:
            raise UsageError(f"give either {one} (a method) or {other} (a folder), not both")
    release, guesses = (_folder(base, player[key]) if key in player else None for key in ("release", "guesses"))
    anonymizers = _calls("anonymizers", player["anonymizer"]) if "anonymizer" in player else []
    attacks = _calls("attacks", player["attack"]) if "attack" in player else []
    plain = Entrant(str(player.get("team", "")), name, release=release, guesses=guesses)
    if max(len(anonymizers), len(attacks)) <= 1:
        entrant = replace(plain, anonymizer=next(iter(anonymizers), None), attack=next(iter(attacks), None))
        if not entrant.anonymizes and not entrant.attacks:
            raise UsageError("it does nothing; give anonymizer or release, attack or guesses")
        return [entrant]
    # An attack that is not swept plays once, beside the first release of the sweep, and the other way round.
    return [
        replace(
            plain,
            team=plain.team if number == 0 else "",
            name=f"{name} {_differences(anonymizer, anonymizers) or _differences(attack, attacks)}".strip(),
            anonymizer=anonymizer,
            attack=attack,
            release=release if number == 0 else None,
            guesses=guesses if number == 0 else None,
            sweep=name,
        )
        for number, (anonymizer, attack) in enumerate(itertools.zip_longest(anonymizers, attacks))
    ]


def _differences(call: Call | None, calls: Sequence[Call]) -> str:
    """The parameters in which a call of a sweep differs from the others."""
    if call is None or len(calls) < 2:
        return ""
    every = [set(one.parameters) for one in calls]
    swept = {name for one in every for other in every for name, _ in one - other}
    shown = {described.name: as_text(described.default) for described in parameters_of(registry.load(call.group, call.name))}
    shown |= dict(call.parameters)
    return " ".join(f"{name}={shown[name]}" for name in shown if name in swept)


def _calls(group: str, given: object) -> list[Call]:
    """``"rr:p=0.9"``, or ``{method = "rr", p = 0.9}`` where any parameter may be a list of values to try."""
    if isinstance(given, str):
        return [Call.parsed(group, given)]
    if not isinstance(given, dict) or not isinstance(given.get("method"), str):
        raise UsageError(f'write {group.rstrip("s")} = "name:parameter=value" or {{ method = "name", parameter = value }}')
    name = given["method"]
    kinds = {described.name: described.kind for described in parameters_of(registry.load(group, name))}
    choices = [
        [(key, as_text(value)) for value in _values(kinds.get(key, str), value)]
        for key, value in given.items()
        if key != "method"
    ]
    return [Call.given(group, name, dict(chosen)) for chosen in itertools.product(*choices)]


def _values(kind: type, value: object) -> list[Any]:
    """The values to try: a list is a sweep, except that a parameter that takes names is swept by a list of lists."""
    if not isinstance(value, list):
        return [value]
    if not value:
        raise UsageError("a list of values to try must not be empty")
    if kind is tuple and not any(isinstance(item, list) for item in value):
        return [value]
    return value


def _numbered(entrants: Iterable[Entrant]) -> tuple[Entrant, ...]:
    """Teams by number: the one a player asks for, else the next that is free."""
    listed = list(entrants)
    taken = [entrant.team for entrant in listed if entrant.team]
    for team in taken:
        if not re.fullmatch(r"[0-9]{2,4}", team) or taken.count(team) > 1:
            raise UsageError(f"team {team!r}: a team is a number of its own with at least two digits, such as 07")
    digits = max(2, len(str(len(listed))))
    free = (f"{number:0{digits}d}" for number in itertools.count(1) if f"{number:0{digits}d}" not in taken)
    return tuple(entrant if entrant.team else replace(entrant, team=next(free)) for entrant in listed)


def _folder(base: Path, given: object) -> Path:
    if not isinstance(given, str) or not (base / given).is_dir():
        raise UsageError(f"{given!r}: there is no such folder (looked from {base.resolve().name})")
    return (base / given).resolve()


def _whole(content: Mapping[str, Any], key: str, low: int) -> int | None:
    value = content.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < low):
        raise UsageError(f"{key} must be a whole number of at least {low}; got {value!r}")
    return value


def _only_keys(content: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in content:
        if key not in known:
            raise UsageError(f"{what} has no entry {key!r}; there are {', '.join(known)}")
