"""`Schedule`: the dates of a contest, and the TOML file that an organizer writes them in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest.phases import ANONYMIZE, ATTACK
from kakurenbo.core import InputError, Source, read_toml
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message, is_known, render

WAITING, OPEN, CLOSED = "waiting", "open", "closed"
"""States of a scheduled phase at some moment."""
_TABLES: Mapping[str, tuple[str, ...]] = {
    "phase": ("round", "phase", "opens", "closes"),
    "event": ("name", "name_ja", "date", "until"),
}
_OPTIONAL = ("name_ja", "until")


@dataclass(frozen=True)
class ScheduledPhase:
    """When submissions to one phase of a round are accepted."""

    round: str
    phase: str
    opens: dt.datetime
    closes: dt.datetime

    def title(self, language: str) -> str:
        phase, round_ = (
            render(f"schedule.{self.phase}", {}, language).message,
            round_title(self.round, language),
        )
        return (
            render("schedule.phase", {"phase": phase, "round": round_}, language).message
            if round_
            else phase
        )

    def state(self, now: dt.datetime) -> str:
        """Return ``waiting``, ``open`` or ``closed``."""
        if now < self.opens:
            return WAITING
        return OPEN if now < self.closes else CLOSED


@dataclass(frozen=True)
class ScheduledEvent:
    """A day, or the days from ``date`` to ``until``, of a contest."""

    name: str
    date: dt.date
    until: dt.date | None = None
    name_ja: str = ""

    def title(self, language: str) -> str:
        return self.name_ja if language == "ja" and self.name_ja else self.name


@dataclass(frozen=True)
class Schedule:
    """The dates of a contest: phases of its rounds, and other events."""

    phases: tuple[ScheduledPhase, ...] = ()
    events: tuple[ScheduledEvent, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.phases or self.events)

    def rows(self, language: str) -> Iterator[tuple[str, str]]:
        """Yield (dates, title) of every entry in order of time, as people read them."""
        entries: list[tuple[dt.date, str, str]] = []
        for phase in self.phases:
            dates = f"{moment(phase.opens)} – {moment(phase.closes)}"
            entries.append((phase.opens.date(), dates, phase.title(language)))
        for event in self.events:
            dates = f"{event.date} – {event.until}" if event.until else f"{event.date}"
            entries.append((event.date, dates, event.title(language)))
        for _, dates, title in sorted(entries, key=lambda entry: entry[0]):
            yield dates, title


NO_SCHEDULE = Schedule()


def round_title(name: str, language: str) -> str:
    """Return the name of a round for people; empty where a contest has only one."""
    if name == "round":
        return ""
    code = f"round.{name}" if is_known(f"round.{name}", language) else "round.other"
    return render(code, {"round": name}, language).message


def moment(when: dt.datetime) -> str:
    """Return a time as people read it: ``2020-08-27 00:00 +09:00``."""
    return when.isoformat(" ", "minutes").replace("+", " +").replace("Z", " +00:00")


def read_schedule(path: Path, rounds: tuple[str, ...]) -> Schedule:
    """Read the schedule of a contest from a TOML file.

    Raises
    ------
    UsageError
        Names the file, the key and what to write there.
    """
    try:
        content = read_toml(Source.of(path))
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=path) from error
    if unknown := [key for key in content if key not in _TABLES]:
        raise _wrong(path, unknown[0], "unknown", known=[f"[[{key}]]" for key in _TABLES])
    phases = [
        _phase(path, f"phase[{number}]", entry, rounds)
        for number, entry in enumerate(
            _entries(path, content, "phase", optional=("round",) if len(rounds) == 1 else ()),
            start=1,
        )
    ]
    events = [
        _event(path, f"event[{number}]", entry)
        for number, entry in enumerate(_entries(path, content, "event"), start=1)
    ]
    if not phases and not events:
        raise _wrong(path, "phase", "empty")
    for number, phase in enumerate(phases, start=1):
        if (phase.round, phase.phase) in [
            (other.round, other.phase) for other in phases[: number - 1]
        ]:
            raise _wrong(path, f"phase[{number}]", "twice", round=phase.round, phase=phase.phase)
        for other in phases:
            early = (
                phase.phase == ATTACK and other.phase == ANONYMIZE and phase.round == other.round
            )
            if early and phase.opens < other.closes:
                raise _wrong(
                    path,
                    f"phase[{number}].opens",
                    "early",
                    value=moment(phase.opens),
                    closes=moment(other.closes),
                )
    return Schedule(tuple(phases), tuple(events))


def _entries(
    path: Path, content: Mapping[str, Any], key: str, optional: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    entries = content.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _wrong(path, key, "no_tables", table=f"[[{key}]]")
    for number, entry in enumerate(entries, start=1):
        place = f"{key}[{number}]"
        for name in entry:
            if name not in _TABLES[key]:
                raise _wrong(path, f"{place}.{name}", "unknown", known=list(_TABLES[key]))
        for name in _TABLES[key]:
            if name not in entry and name not in (*_OPTIONAL, *optional):
                raise _wrong(path, f"{place}.{name}", "missing")
    return entries


def _phase(
    path: Path, place: str, entry: Mapping[str, Any], rounds: tuple[str, ...]
) -> ScheduledPhase:
    if len(rounds) == 1:
        entry = {"round": rounds[0], **entry}
    for key, known in (("round", rounds), ("phase", (ANONYMIZE, ATTACK))):
        if entry[key] not in known:
            raise _wrong(path, f"{place}.{key}", "choice", value=str(entry[key]), known=list(known))
    for key in ("opens", "closes"):
        if not isinstance(entry[key], dt.datetime) or entry[key].tzinfo is None:
            raise _wrong(path, f"{place}.{key}", "time", value=str(entry[key]))
    if entry["opens"] >= entry["closes"]:
        raise _wrong(
            path,
            f"{place}.closes",
            "order",
            value=moment(entry["closes"]),
            opens=moment(entry["opens"]),
        )
    return msgspec.convert(entry, ScheduledPhase)


def _event(path: Path, place: str, entry: Mapping[str, Any]) -> ScheduledEvent:
    for key in ("name", "name_ja"):
        if key in entry and not (
            isinstance(entry[key], str) and entry[key].strip() and entry[key].isprintable()
        ):
            raise _wrong(path, f"{place}.{key}", "text")
    for key in ("date", "until"):
        if key in entry and (
            not isinstance(entry[key], dt.date) or isinstance(entry[key], dt.datetime)
        ):
            raise _wrong(path, f"{place}.{key}", "date", value=str(entry[key]))
    if "until" in entry and entry["until"] < entry["date"]:
        raise _wrong(
            path, f"{place}.until", "order", value=str(entry["until"]), opens=str(entry["date"])
        )
    return msgspec.convert(entry, ScheduledEvent)


def _wrong(path: Path, key: str, code: str, **parameters: Any) -> UsageError:
    problem = Message(f"schedule.{code}", parameters)
    return UsageError("schedule.error", file=str(path), key=key, problem=problem)
