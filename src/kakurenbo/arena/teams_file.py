"""Who plays what: the players of a tournament from a TOML file, or the rulebook's own, with sweeps spread out.

Names, folders and parameters in the file are somebody else's text: names are only ever shown, teams go by number.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from kakurenbo.arena.calls import MethodCall, as_text
from kakurenbo.contest import AnyRulebook, Player, fits, misfit
from kakurenbo.core import STANDARD_INPUT, InputError, Source, read_toml
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

_MAX_NAME = 60
MOST_REPEATS = 1000
MOST_ENTRANTS = 1000


class _PlayerTable(msgspec.Struct, forbid_unknown_fields=True):
    """A ``[[players]]`` table as it may be written."""

    name: str = ""
    team: str = ""
    anonymizer: str | dict[str, Any] | None = None
    attack: str | dict[str, Any] | None = None
    release: str | None = None
    guesses: str | None = None
    unranked: bool = False


class _FileContent(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file as it may be written."""

    players: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]
    rounds: list[str] = []
    options: dict[str, Any] = {}
    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    repeat: Annotated[int, msgspec.Meta(ge=1, le=MOST_REPEATS)] | None = None
    preparation: str | None = None
    phase: str | None = None


_METHOD = '"name:parameter=value" or { method = "name", parameter = value }'
_EXPECTED = {
    "players": Message("error.players"),
    "rounds": Message("error.rounds"),
    "options": Message("error.options"),
    "seed": Message("error.seed"),
    "repeat": Message("error.repeat", {"most": MOST_REPEATS}),
    "anonymizer": Message("error.write_anonymizer", {"example": _METHOD}),
    "attack": Message("error.write_attack", {"example": _METHOD}),
}
"""What to write instead, by key; of other keys the library's own words will do."""


@dataclass(frozen=True)
class Entrant:
    """One team of a tournament.

    Attributes
    ----------
    team : str
        Its number, ``01`` ...
    name : str
        What it is called; any text.
    anonymizer, attack : MethodCall or None
        Its methods, where it plays with methods.
    release, guesses : Path or None
        Folders of submitted files, where it plays with files.
    sweep : str
        The player of the file whose parameter list this entrant comes from; empty for none.
    swept : frozenset of str
        The parameters of its method in which that player's entrants differ.
    unranked : bool
        Takes part without rank or award, such as the organizers' own team.
    """

    team: str
    name: str
    anonymizer: MethodCall | None = None
    attack: MethodCall | None = None
    release: Path | None = None
    guesses: Path | None = None
    sweep: str = ""
    swept: frozenset[str] = frozenset()
    unranked: bool = False

    @property
    def anonymizes(self) -> bool:
        return self.anonymizer is not None or self.release is not None

    @property
    def attacks(self) -> bool:
        return self.attack is not None or self.guesses is not None

    @property
    def anonymizer_text(self) -> str:
        """Its anonymizer or its files, for people."""
        if self.anonymizer is not None:
            return self.anonymizer.text(self.swept)
        return files_in(self.release) if self.release else ""

    @property
    def attack_text(self) -> str:
        """Its attack or its files, for people."""
        if self.attack is not None:
            return self.attack.text(self.swept)
        return files_in(self.guesses) if self.guesses else ""


def files_in(folder: Path) -> str:
    """Name the files of a folder, for people."""
    return Message("word.files_in", {"name": folder.name}).stored()


@dataclass(frozen=True)
class TeamsFile:
    """What a teams file says; what it leaves out is None or empty.

    Attributes
    ----------
    entrants : tuple of Entrant
    rounds : tuple of str
    options : tuple of (name, text)
        Parameters of the rulebook.
    seed, repeat : int or None
    preparation, phase : Path or None
        Folders that ``prepare`` and ``publish`` wrote, to play on.
    """

    entrants: tuple[Entrant, ...]
    rounds: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    seed: int | None = None
    repeat: int | None = None
    preparation: Path | None = None
    phase: Path | None = None


def default_teams(rulebook: AnyRulebook) -> TeamsFile:
    """Return the rulebook's own players; if it names none, every installed method that fits it, with its defaults."""
    players = rulebook.field() or _all_methods(rulebook)
    if not players:
        raise UsageError("error.no_method", rulebook=rulebook.name)
    return teams_of(players)


def teams_of(players: Iterable[Player]) -> TeamsFile:
    """Return the teams of players, numbered in their order."""
    return TeamsFile(_numbered(_entrant(player) for player in players))


def _entrant(player: Player) -> Entrant:
    anonymizer = MethodCall.parsed("anonymizers", player.anonymizer) if player.anonymizer else None
    attack = MethodCall.parsed("attacks", player.attack) if player.attack else None
    return Entrant("", player.name, anonymizer, attack)


def _all_methods(rulebook: AnyRulebook) -> list[Player]:
    anonymizers, attacks = (
        [name for name in registry.names(group) if _plays_by_default(rulebook, group, name)]
        for group in ("anonymizers", "attacks")
    )
    pairs = itertools.zip_longest(anonymizers, attacks, fillvalue="")
    return [Player(anonymizer or attack, anonymizer, attack) for anonymizer, attack in pairs]


def _plays_by_default(rulebook: AnyRulebook, group: str, name: str) -> bool:
    method = registry.load(group, name)
    if any(parameter.default is MISSING for parameter in parameters_of(method)):
        return False
    return fits(type(rulebook), method) and not misfit(type(rulebook), method())


def read_teams_file(path: Path) -> TeamsFile:
    """Return the players of a TOML file; raise UsageError that names the file, the player and what to write instead."""
    try:
        content = read_toml(Source.of(path))
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=path) from error
    try:
        base = Path() if path == STANDARD_INPUT else path.parent
        return _teams_file(_checked(content, _FileContent, Message("error.the_file")), base)
    except (UsageError, ParameterError) as error:
        raise UsageError(error.message, at=path) from None


T = TypeVar("T", bound=msgspec.Struct)


def _checked(content: Mapping[str, Any], kind: type[T], what: str | Message) -> T:
    """Return plain data as a typed table; raise UsageError that says what to write."""
    for key in content:
        if key not in kind.__struct_fields__:
            keys = list(kind.__struct_fields__)
            raise UsageError("error.no_entry", what=what, key=repr(key), keys=keys)
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        place = re.search(r"\$\.(\w+)|field `(\w+)`", str(error))
        key = (place[1] or place[2]) if place else ""
        problem = f"{key}: {str(error).partition(' - at ')[0]}"
        raise UsageError(_EXPECTED.get(key, problem)) from None


def _teams_file(content: _FileContent, base: Path) -> TeamsFile:
    if len(set(content.rounds)) < len(content.rounds):
        raise UsageError(_EXPECTED["rounds"])
    entrants: list[Entrant] = []
    for number, table in enumerate(content.players, start=1):
        name = str(table.get("name") or f"player {number}")[:_MAX_NAME]
        try:
            entrants.extend(_entrants(_checked(table, _PlayerTable, "a player"), name, base))
        except (UsageError, ParameterError) as error:
            player = Message("error.player", {"name": repr(name)})
            raise UsageError(error.message, at=player) from None
        if len(entrants) > MOST_ENTRANTS:
            raise UsageError("error.players_many", most=MOST_ENTRANTS)
    return TeamsFile(
        _numbered(entrants),
        tuple(content.rounds),
        tuple((name, as_text(value)) for name, value in content.options.items()),
        content.seed,
        content.repeat,
        _folder(base, content.preparation),
        _folder(base, content.phase),
    )


def _entrants(player: _PlayerTable, name: str, base: Path) -> list[Entrant]:
    """Return a player as one entrant, or one for each combination where parameters are lists."""
    for method, files in (("anonymizer", "release"), ("attack", "guesses")):
        if getattr(player, method) is not None and getattr(player, files) is not None:
            raise UsageError("error.either_or", one=method, other=files)
    anonymizers = _calls("anonymizers", player.anonymizer)
    attacks = _calls("attacks", player.attack)
    first = Entrant(
        player.team,
        name,
        next(iter(anonymizers), None),
        next(iter(attacks), None),
        _folder(base, player.release),
        _folder(base, player.guesses),
        unranked=player.unranked,
    )
    if not first.anonymizes and not first.attacks:
        raise UsageError("error.does_nothing")
    if max(len(anonymizers), len(attacks)) <= 1:
        return [first]
    swept = frozenset(_swept(anonymizers) | _swept(attacks))
    entrants: list[Entrant] = []
    # An attack that is not swept plays once, beside the first release of the sweep, and the other way round.
    for anonymizer, attack in itertools.zip_longest(anonymizers, attacks):
        label = _label(anonymizer, _swept(anonymizers)) or _label(attack, _swept(attacks)) or name
        template = first if not entrants else Entrant("", "", unranked=player.unranked)
        entrant = replace(template, name=label, anonymizer=anonymizer, attack=attack)
        entrants.append(replace(entrant, sweep=name, swept=swept))
    return entrants


def _swept(calls: Sequence[MethodCall]) -> set[str]:
    """Return the parameters in which the calls of a sweep differ."""
    settings = [set(call.parameters) for call in calls]
    common = set.intersection(*settings) if settings else set()
    return {name for parameters in settings for name, _ in parameters - common}


def _label(call: MethodCall | None, swept: Container[str]) -> str:
    """Return a call of a sweep by what distinguishes it from the others: ``rrp p=0.9``."""
    if call is None or not swept:
        return ""
    settings = call.shown_parameters(swept).items()
    return " ".join([call.name, *(f"{name}={text}" for name, text in settings if name in swept)])


def _calls(group: str, method: str | Mapping[str, Any] | None) -> list[MethodCall]:
    """Read ``"rr:p=0.9"``, or ``{method = "rr", p = 0.9}`` where any parameter may be a list of values to try."""
    if method is None:
        return []
    if isinstance(method, str):
        return [MethodCall.parsed(group, method)]
    name = method.get("method")
    if not isinstance(name, str):
        raise UsageError(_EXPECTED[group.rstrip("s")])
    kinds = {item.name: item.kind for item in parameters_of(registry.find(group, name))}
    choices = {
        key: [as_text(choice) for choice in _values(kinds.get(key, str), value)]
        for key, value in method.items()
        if key != "method"
    }
    count = math.prod(map(len, choices.values()))
    if count > MOST_ENTRANTS:
        raise UsageError("error.combinations", at=name, count=count, most=MOST_ENTRANTS)
    combinations = itertools.product(*choices.values())
    return [
        MethodCall.given(group, name, dict(zip(choices, texts, strict=True)))
        for texts in combinations
    ]


def _values(kind: type, value: object) -> list[Any]:
    """Return the values to try: a list is a sweep, except that a parameter that takes names is swept by a list of lists."""
    if not isinstance(value, list):
        return [value]
    if not value:
        raise UsageError("error.nothing_to_try")
    if kind is tuple and not any(isinstance(item, list) for item in value):
        return [value]
    return value


def _numbered(entrants: Iterable[Entrant]) -> tuple[Entrant, ...]:
    """Number teams: the number a player asks for, else the next that is free."""
    listed = list(entrants)
    taken = [entrant.team for entrant in listed if entrant.team]
    for team in taken:
        if not re.fullmatch(r"[0-9]{2,4}", team) or taken.count(team) > 1:
            raise UsageError("error.team_number", at=Message("error.team", {"name": team}))
    digits = max(2, len(str(len(listed))))
    numbers = (f"{number:0{digits}d}" for number in itertools.count(1))
    free = (number for number in numbers if number not in taken)
    return tuple(
        entrant if entrant.team else replace(entrant, team=next(free)) for entrant in listed
    )


def _folder(base: Path, folder: str | None) -> Path | None:
    if folder is None:
        return None
    if "\0" in folder or not (base / folder).is_dir():
        raise UsageError("error.no_folder_from", at=repr(folder), base=base.resolve().name)
    return (base / folder).resolve()
