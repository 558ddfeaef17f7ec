"""``kakurenbo.audit(original, release, holdout=...)`` for data frames and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kakurenbo.audit.frames import Frame, frame_of, read_frame
from kakurenbo.audit.limits import given_limits
from kakurenbo.audit.persons import persons_of
from kakurenbo.audit.result import AuditResult
from kakurenbo.audit.running import MOST_TARGETS, Options, run_audit, with_rival
from kakurenbo.errors import UsageError
from kakurenbo.tables import Problem, Problems


def audit(
    original: object,
    release: object,
    *,
    holdout: object = None,
    know: Sequence[str] = (),
    secret: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    ignored: Sequence[str] = (),
    person: str = "",
    time: str = "",
    period: str = "month",
    key: object = None,
    earlier: Sequence[object] = (),
    method: str = "",
    limits: Mapping[str, float] | None = None,
    seed: int = 0,
    show_records: bool = False,
    targets: int = MOST_TARGETS,
) -> AuditResult:
    """What a planned release gives away.

    Parameters
    ----------
    original, release, holdout : Polars or pandas data frame, or path
        ``release`` may be a folder of files of different columns of the same people.
        ``holdout``: people like those of the original whom the release was not made of. Without one, membership is not
        assessed, and the other risks are compared with what could be told without the release.
    know, secret, identifiers : sequence of str
        Columns that attackers know (all), want (each in turn), and that are removed before any release (none).
    ignored : sequence of str
        Columns of the release alone that you know to tell nothing of anybody. Others that the original has not keep the verdict
        open: no attack looks at them.
    person, time, period : str
        For tables of several rows per person: the column of people (of pseudonyms in the release), that of dates, and how
        long a pseudonym is kept: ``week``, ``month``, ``quarter`` or ``year``.
    key : Polars or pandas data frame, or path, optional
        Whom each pseudonym stands for, where the order of the rows does not tell: the person column and ``pseudonym``.
    earlier : sequence of data frames or paths
        What was released before of the same people: what all of it tells together is part of the linkability.
    method : str
        The method that made the release, ``NAME:param=value,...`` as ``kakurenbo anonymize table`` knows it: a rival who knows
        it rehearses it. Takes a holdout, and one file without ``person``.
    limits : mapping of str to float, optional
        The most that a risk may be over its control: ``{"membership": 0.02}``.
    seed : int
        Fixes all randomness.
    show_records : bool
        Show exposed records as they are; by default by keyed hashes.
    targets : int
        People of the original, and as many of the holdout, whose membership is tried; drawn by lot where there are more.

    Raises
    ------
    UsageError
        Where a file cannot be read.
    ParameterError
        Where an argument is off.
    """
    notices: list[Problem] = []
    frames = [_frame("original", original, notices), _frame("release", release, notices, several=True)]
    held = None if holdout is None else _frame("holdout", holdout, notices)
    options = Options(
        tuple(know),
        tuple(secret),
        tuple(identifiers),
        given_limits(limits or {}),
        seed,
        show_records=show_records,
        persons=persons_of(person, time, period, None if key is None else _frame("key", key, notices)),
        targets=targets,
        ignored=tuple(ignored),
        earlier=tuple(_frame("earlier", data, notices, several=True) for data in earlier),
    )
    if method:
        options = with_rival(options, method, (frames[0], frames[1], held))
    return replace(run_audit(frames[0], frames[1], held, options), notices=tuple(notices))


def _frame(name: str, data: object, notices: list[Problem], *, several: bool = False) -> Frame:
    if not isinstance(data, str | Path):
        return frame_of(name, data)
    reading = read_frame(data, several=several)
    if isinstance(reading, Problems):
        raise UsageError(str(reading[0]))
    notices.extend(reading.notices)
    return reading.value
