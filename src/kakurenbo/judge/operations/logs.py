"""What the judge writes down for whoever runs it: one line for each thing, as text or as JSON, and never a secret.

Lines of our own are written as they are: they name things by their ids. Of what a library says, only the words that its author
wrote are kept, not what was filled in, which may be an address with an invitation in it. Of an exception its kind and where it
came from are kept, not its message, which may quote what somebody sent.
"""

from __future__ import annotations

import json
import logging
import logging.config
import re
import sys
import threading
import traceback
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.urls import ResolverMatch

TEXT, JSON = "text", "json"
REQUESTS, JOBS = "kakurenbo.requests", "kakurenbo.jobs"
FORMATS = (TEXT, JSON)
_OWN = "kakurenbo"
_TRUSTED = ("psycopg.pool",)
"""Libraries whose words tell what an operator needs, such as why there is no connection, and no secret."""
_WARNINGS = "py.warnings"
_WHERE_AND_WHAT = re.compile(r"(.+?:\d+: \w+): ")
_LONGEST_FOREIGN = 200
_MOST_FRAMES = 12
log = logging.getLogger(__name__)


@dataclass
class Noted:
    """What the log may say of a request.

    Attributes
    ----------
    id : str
        By which somebody who saw an error page names it.
    route : str
        The pattern of its address, never the address.
    about : dict
        Ids of what it was about: contest, team, submission, user.
    """

    id: str
    route: str = ""
    about: dict[str, str] = field(default_factory=dict)


current: ContextVar[Noted | None] = ContextVar("request", default=None)
"""The request that is being answered, if there is one."""


def request_id() -> str:
    """Of the request that is being answered; empty where there is none."""
    noted = current.get()
    return "" if noted is None else noted.id


def route_of(match: ResolverMatch) -> str:
    """The pattern by which an address was found."""
    return match.route or "home"


def configuration(form: str) -> dict[str, Any]:
    """How Python's logging is set up for a form."""
    line = {"()": f"{__name__}.{'JsonLines' if form == JSON else 'TextLines'}"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": line},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            _OWN: {"level": "INFO"},
            # People read the start and the end of a judge; each request and each job are for programs.
            **{name: {"level": "INFO" if form == JSON else "WARNING"} for name in (REQUESTS, JOBS)},
            # Requests that were refused are the business of who made them; errors come by django.request at ERROR.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # Its lines are names and addresses with words between; ``logins`` tells of failures without them.
            "axes": {"level": "CRITICAL"},
            _WARNINGS: {"level": "WARNING"},
        },
    }


def begin(form: str) -> None:
    """Write lines of a form from now on, also of what nobody caught."""
    logging.config.dictConfig(configuration(form))
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable


class TextLines(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        told = _told(record)
        request = (
            f" (request {told['request']} {told.get('route', '')})" if "request" in told else ""
        )
        fields = "".join(
            f" {name}={value}" for name, value in getattr(record, "fields", {}).items()
        )
        lines = [
            f"{told['time']} {told['process']} {told['level']} {told['logger']}: {told['event']}{fields}{request}"
        ]
        if "error" in told:
            lines += [f"  {told['error']}", *(f"    {frame}" for frame in told["frames"])]
        return "\n".join(lines)


class JsonLines(logging.Formatter):
    """A line for programs: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(
            {**_told(record), **getattr(record, "fields", {})}, ensure_ascii=False, default=str
        )


def _told(record: logging.LogRecord) -> dict[str, Any]:
    told: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "process": record.processName,
        "logger": record.name,
        "event": _event(record),
    }
    noted = current.get()
    if noted is not None:
        told |= {
            "request": noted.id,
            **({"route": noted.route} if noted.route else {}),
            **noted.about,
        }
    match = getattr(getattr(record, "request", None), "resolver_match", None)
    if match is not None:
        told["route"] = route_of(match)
    if record.exc_info and record.exc_info[1] is not None:
        told |= {"error": _kinds(record.exc_info[1]), "frames": _frames(record.exc_info[1])}
    return told


def _event(record: logging.LogRecord) -> str:
    if record.name.split(".")[0] == _OWN or record.name in _TRUSTED:
        return record.getMessage()
    if hasattr(record, "status_code"):  # Django's, whose words are all filled in
        return f"the answer was {record.status_code}"
    if record.name == _WARNINGS:
        place = _WHERE_AND_WHAT.match(record.getMessage())
        return place[1] if place else "a warning"
    return str(record.msg).partition("\n")[0][:_LONGEST_FOREIGN]


def _kinds(error: BaseException) -> str:
    """An exception and those that led to it, by their kinds."""
    kinds = [type(error).__qualname__]
    while (error := error.__cause__ or error.__context__) is not None and len(kinds) < _MOST_FRAMES:  # type: ignore[assignment]
        kinds.append(type(error).__qualname__)
    return " from ".join(kinds)


def _frames(error: BaseException) -> list[str]:
    """Where it came from: files, lines and functions, without their values."""
    frames = traceback.extract_tb(error.__traceback__, limit=-_MOST_FRAMES)
    return [
        f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno} {frame.name}"
        for frame in frames
    ]


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.critical("something failed that nobody caught", exc_info=(kind, error, trace))


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if told.exc_value is not None:
        log.error("a thread failed", exc_info=(told.exc_type, told.exc_value, told.exc_traceback))


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    if told.exc_value is not None:
        log.error(
            "something failed while it was cleared away",
            exc_info=(told.exc_type, told.exc_value, told.exc_traceback),
        )
