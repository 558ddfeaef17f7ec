"""Who plays what: the players of a tournament from a TOML file, or the rulebook's own, with sweeps spread out.

Names, folders and parameters in the file are somebody else's text: names are only ever shown, teams go by number.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
        """How it anonymizes, for people."""
        if self.anonymizer is not None:
            return self.anonymizer.text(self.swept)
        return f"files in {self.release.name}" if self.release else ""

    @property
    def attack_text(self) -> str:
        """How it attacks, for people."""
        if self.attack is not None:
            return self.attack.text(self.swept)
        return f"files in {self.guesses.name}" if self.guesses else ""


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
    """The rulebook's own players; where it names none, every installed method that fits it, with its defaults."""
    players = rulebook.field() or tuple(_all_methods(rulebook))
    if not players:
        raise UsageError("error.no_method", rulebook=rulebook.name)
    return teams_of(players)


def teams_of(players: Iterable[Player]) -> TeamsFile:
    """Return the teams of players, numbered in their order."""
    entrants = [
        Entrant(
            "",
            player.name,
            MethodCall.parsed("anonymizers", player.anonymizer) if player.anonymizer else None,
            MethodCall.parsed("attacks", player.attack) if player.attack else None,
        )
        for player in players
    ]
    return TeamsFile(_numbered(entrants))


def _all_methods(rulebook: AnyRulebook) -> Iterator[Player]:
    fitting = {
        group: [
            name
            for name in registry.names(group)
            if _plays_by_default(rulebook, registry.load(group, name))
        ]
        for group in ("anonymizers", "attacks")
    }
    for anonymizer, attack in itertools.zip_longest(fitting["anonymizers"], fitting["attacks"]):
        yield Player(anonymizer or attack, anonymizer or "", attack or "")


def _plays_by_default(rulebook: AnyRulebook, method: Any) -> bool:
    needs_nothing = all(described.default is not MISSING for described in parameters_of(method))
    return fits(type(rulebook), method) and needs_nothing and not misfit(type(rulebook), method())


def read_teams_file(path: Path) -> TeamsFile:
    """The players of a TOML file; raises ``UsageError`` that names the file, the player and what to write instead."""
    try:
        content = read_toml(Source.of(path))
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=path) from error
    try:
        return _teams_file(
            _checked(content, _FileContent, Message("error.the_file")),
            Path() if path == STANDARD_INPUT else path.parent,
        )
    except (UsageError, ParameterError) as error:
        raise UsageError(error.message, at=path) from None


T = TypeVar("T", bound=msgspec.Struct)


def _checked(content: Mapping[str, Any], kind: type[T], what: str | Message) -> T:
    """Plain data as a typed table; says what to write where it is something else."""
    for key in content:
        if key not in kind.__struct_fields__:
            raise UsageError(
                "error.no_entry", what=what, key=repr(key), keys=list(kind.__struct_fields__)
            )
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        place = re.search(r"\$\.(\w+)", str(error)) or re.search(r"field `(\w+)`", str(error))
        key = place.group(1) if place else ""
        raise UsageError(
            _EXPECTED.get(key, f"{key}: {str(error).partition(' - at ')[0]}")
        ) from None


def _teams_file(content: _FileContent, base: Path) -> TeamsFile:
    if len(set(content.rounds)) < len(content.rounds):
        raise UsageError(_EXPECTED["rounds"])
    entrants: list[Entrant] = []
    for number, table in enumerate(content.players, start=1):
        name = str(table.get("name") or f"player {number}")[:_MAX_NAME]
        try:
            entrants.extend(_entrants(_checked(table, _PlayerTable, "a player"), name, base))
        except (UsageError, ParameterError) as error:
            raise UsageError(
                error.message, at=Message("error.player", {"name": repr(name)})
            ) from None
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
    """A player as one entrant, or one for each combination where parameters are lists."""
    for one, other in (("anonymizer", "release"), ("attack", "guesses")):
        if getattr(player, one) is not None and getattr(player, other) is not None:
            raise UsageError("error.either_or", one=one, other=other)
    anonymizers, attacks = (
        _calls("anonymizers", player.anonymizer),
        _calls("attacks", player.attack),
    )
    release, guesses = _folder(base, player.release), _folder(base, player.guesses)
    plain = Entrant(player.team, name, release=release, guesses=guesses, unranked=player.unranked)
    if max(len(anonymizers), len(attacks)) <= 1:
        entrant = replace(
            plain, anonymizer=next(iter(anonymizers), None), attack=next(iter(attacks), None)
        )
        if not entrant.anonymizes and not entrant.attacks:
            raise UsageError("error.does_nothing")
        return [entrant]
    swept = _swept(anonymizers), _swept(attacks)
    # An attack that is not swept plays once, beside the first release of the sweep, and the other way round.
    return [
        replace(
            plain,
            team=plain.team if number == 0 else "",
            name=_shown(anonymizer, swept[0]) or _shown(attack, swept[1]) or name,
            anonymizer=anonymizer,
            attack=attack,
            release=release if number == 0 else None,
            guesses=guesses if number == 0 else None,
            sweep=name,
            swept=frozenset(swept[0] | swept[1]),
        )
        for number, (anonymizer, attack) in enumerate(itertools.zip_longest(anonymizers, attacks))
    ]


def _swept(calls: Sequence[MethodCall]) -> set[str]:
    """The parameters in which the calls of a sweep differ."""
    every = [set(one.parameters) for one in calls]
    common = set.intersection(*every) if every else set()
    return {name for one in every for name, _ in one - common}


def _shown(call: MethodCall | None, swept: Container[str]) -> str:
    """A call of a sweep by what tells it from the others: ``rrp p=0.9``."""
    if call is None or not swept:
        return ""
    return " ".join(
        [
            call.name,
            *(
                f"{name}={text}"
                for name, text in call.shown_parameters(swept).items()
                if name in swept
            ),
        ]
    )


def _calls(group: str, given: str | Mapping[str, Any] | None) -> list[MethodCall]:
    """``"rr:p=0.9"``, or ``{method = "rr", p = 0.9}`` where any parameter may be a list of values to try."""
    if given is None:
        return []
    if isinstance(given, str):
        return [MethodCall.parsed(group, given)]
    name = given.get("method")
    if not isinstance(name, str):
        raise UsageError(_EXPECTED[group.rstrip("s")])
    kinds = {
        described.name: described.kind for described in parameters_of(registry.find(group, name))
    }
    choices = [
        [(key, as_text(value)) for value in _values(kinds.get(key, str), value)]
        for key, value in given.items()
        if key != "method"
    ]
    count = math.prod(map(len, choices))
    if count > MOST_ENTRANTS:
        raise UsageError("error.combinations", at=name, count=count, most=MOST_ENTRANTS)
    return [MethodCall.given(group, name, dict(chosen)) for chosen in itertools.product(*choices)]


def _values(kind: type, value: object) -> list[Any]:
    """The values to try: a list is a sweep, except that a parameter that takes names is swept by a list of lists."""
    if not isinstance(value, list):
        return [value]
    if not value:
        raise UsageError("error.nothing_to_try")
    if kind is tuple and not any(isinstance(item, list) for item in value):
        return [value]
    return value


def _numbered(entrants: Iterable[Entrant]) -> tuple[Entrant, ...]:
    """Teams by number: the one a player asks for, else the next that is free."""
    listed = list(entrants)
    taken = [entrant.team for entrant in listed if entrant.team]
    for team in taken:
        if not re.fullmatch(r"[0-9]{2,4}", team) or taken.count(team) > 1:
            raise UsageError("error.team_number", at=Message("error.team", {"name": team}))
    digits = max(2, len(str(len(listed))))
    free = (
        f"{number:0{digits}d}"
        for number in itertools.count(1)
        if f"{number:0{digits}d}" not in taken
    )
    return tuple(
        entrant if entrant.team else replace(entrant, team=next(free)) for entrant in listed
    )


def _folder(base: Path, given: str | None) -> Path | None:
    if given is None:
        return None
    if "\0" in given or not (base / given).is_dir():
        raise UsageError("error.no_folder_from", at=repr(given), base=base.resolve().name)
    return (base / given).resolve()
