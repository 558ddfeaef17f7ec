"""``kakurenbo.audit(original, release, holdout=...)`` for data frames and paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kakurenbo.audit.baselines import given_baseline
from kakurenbo.audit.candidates import frontier
from kakurenbo.audit.comma_numbers import note_comma_numbers, notices_that_hold
from kakurenbo.audit.commands import Anonymizing, Remaking
from kakurenbo.audit.defaults import MOST_TARGETS
from kakurenbo.audit.frames import Frame, frame_of, read_frame
from kakurenbo.audit.functions import Calling
from kakurenbo.audit.limits import given_limits, read_limits
from kakurenbo.audit.meant import suggesting_columns
from kakurenbo.audit.options import Options
from kakurenbo.audit.persons import persons_of
from kakurenbo.audit.rerunning import audit_command
from kakurenbo.audit.result import AuditResult
from kakurenbo.audit.running import run_audit, with_rival
from kakurenbo.audit.schema import TableSchema, infer_schema, read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.core import InputError, Problem, Source, collect_notices
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message, text


def audit(
    original: object,
    release: object = None,
    *,
    holdout: object = None,
    run: Callable[..., object] | str | None = None,
    runs: int = 3,
    time_limit: float = 600.0,
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
    schema: TableSchema | str | Path | None = None,
    limits: Mapping[str, float] | str | Path | None = None,
    baseline: AuditResult | Mapping[str, Any] | str | Path | None = None,
    strict: bool = False,
    seed: int = 0,
    show_records: bool = False,
    targets: int = MOST_TARGETS,
) -> AuditResult:
    """What a planned release gives away.

    Parameters
    ----------
    original, release, holdout : Polars or pandas data frame, or path
        ``release`` may be a folder of files of different columns of the same people; or a mapping of names to releases: the
        first is the one that is planned, and ``candidates`` of the result show all of them by risk and utility.
        ``holdout``: people like those of the original whom the release was not made of. Without one, membership is not
        assessed, and the other risks are compared with what could be told without the release.
    run : callable or str, optional
        Instead of ``release`` and ``holdout``: what anonymizes a data frame. It is run on halves of the original with made-up
        records planted, and the other half is the holdout. A function gets a data frame of the original's library and types
        (of a path: a Polars one), and a number as ``seed`` where it has such a parameter; a text is a command with ``{in}``
        and ``{out}``, as ``--run`` takes it.
    runs : int
        Halves that ``run`` anonymizes.
    time_limit : float
        Seconds that a command of ``run`` may take.
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
    schema : TableSchema or path, optional
        What the columns are, as ``kakurenbo schema`` writes it; inferred by default. Columns that it does not name are left
        out, and the cells of the original must be what it allows.
    limits : mapping of str to float, or path, optional
        The most that a risk may be over its control: ``{"membership": 0.02}``; or the TOML file that ``--limits`` takes.
    baseline : AuditResult, mapping or path, optional
        An earlier result, its JSON or the file of that: the verdict also fails where a risk is clearly worse than there.
    strict : bool
        Whether what could not be assessed counts as a failure.
    seed : int
        Fixes all randomness.
    show_records : bool
        Show exposed records as they are, by default by keyed hashes; and an example of released cells that could not be read.
    targets : int
        People of the original, and as many of the holdout, whose membership is tried; drawn by lot where there are more.

    Returns
    -------
    AuditResult
        Shows itself in a notebook, and writes a report: :meth:`AuditResult.write_report`.

    Raises
    ------
    UsageError
        Where a file cannot be read, a cell is not what the schema allows, or a command of ``run`` fails.
    ParameterError
        Where an argument is off.

    Examples
    --------
    >>> import kakurenbo, polars as pl
    >>> people = pl.DataFrame({"age": [20 + row % 60 for row in range(240)], "town": [row * row % 97 for row in range(240)]})
    >>> result = kakurenbo.audit(people[:120], people[:120], holdout=people[120:], seed=1)
    >>> result.verdict.exit_code, result.risks["membership"].assessed
    (1, True)
    >>> compared = kakurenbo.audit(people[:120], {"ages": people[:120].select("age"), "all": people[:120]}, seed=1)
    >>> [candidate.name for candidate in compared.candidates]
    ['ages', 'all']
    >>> def shuffled(frame, seed):
    ...     return frame.with_columns(pl.col("town").shuffle(seed))
    >>> kakurenbo.audit(people, run=shuffled, runs=1, seed=1).method.options["run"]
    'shuffled'
    """
    notices: list[Problem] = []
    released: list[Problem] = []
    frame = _frame("original", original, notices)
    columns = _schema(schema, frame)
    options = Options(
        _names(know),
        _names(secret),
        _names(identifiers),
        _limits(limits),
        seed,
        show_records=show_records,
        strict=strict,
        baseline=given_baseline(baseline),
        schema=columns,
        persons=persons_of(
            person, time, period, None if key is None else _frame("key", key, notices)
        ),
        targets=targets,
        ignored=_names(ignored),
        earlier=tuple(_frame("earlier", data, released, several=True) for data in earlier),
    )
    if run is not None:
        _check_alone(release=release, holdout=holdout, person=person or None, method=method or None)
        remaking = _remaking(run, original, frame, columns, time_limit, shown=show_records)
        with suggesting_columns(frame), _refusing_use():
            made = audit_command(frame, remaking, options, runs)
        return _told(made, notices_that_hold(notices, released), show_records)
    releases = _releases(release, released)
    held = None if holdout is None else _frame("holdout", holdout, notices)
    if method and len(releases) > 1:
        raise ParameterError("method", Message("expects.of_one_release"), method)
    with suggesting_columns(frame, [*releases, *options.earlier]):
        if method:
            options = with_rival(options, method, (frame, releases[0], held))
        results = [run_audit(frame, one, held, options) for one in releases]
    result = replace(results[0], candidates=frontier(results)) if len(results) > 1 else results[0]
    return _told(result, notices_that_hold(notices, released), show_records)


def _names(columns: Sequence[str]) -> tuple[str, ...]:
    """Names of columns; a single one need not stand in a list."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _told(result: AuditResult, notices: Sequence[Problem], show_records: bool) -> AuditResult:
    shown = result if show_records else result.without_cells()
    return replace(shown, notices=tuple(notices))


def _check_alone(**beside: object) -> None:
    """Refuse what makes no sense beside ``run``."""
    for name, value in beside.items():
        if value is not None:
            raise ParameterError(name, Message("expects.nothing_beside_run"), name)


def _remaking(
    run: Callable[..., object] | str,
    data: object,
    original: Frame,
    schema: TableSchema | None,
    time_limit: float,
    *,
    shown: bool,
) -> Remaking:
    if isinstance(run, str):
        return Anonymizing.parsed(run, time_limit, shown=shown)
    if not callable(run):
        raise ParameterError("run", Message("expects.function_or_command"), type(run).__name__)
    return Calling(run, data, original, schema or infer_schema(original))


def _releases(release: object, notices: list[Problem]) -> list[Frame]:
    if release is None:
        raise UsageError("usage.audit_no_release")
    if not isinstance(release, Mapping):
        return [_frame("release", release, notices, several=True)]
    if not release:
        raise ParameterError("release", Message("expects.some_release"), text("expects.no_records"))
    return [
        replace(_frame(str(name), data, notices, several=True), name=str(name))
        for name, data in release.items()
    ]


def _schema(schema: TableSchema | str | Path | None, original: Frame) -> TableSchema | None:
    with _refusing_use():
        if isinstance(schema, str | Path):
            schema = read_schema(Source.of(schema))
        if schema is not None:
            check_cells(schema, original)
    return schema


@contextmanager
def _refusing_use() -> Iterator[None]:
    """Raise the first problem of an input as UsageError."""
    try:
        yield
    except InputError as error:
        raise UsageError(error.message) from error


def _limits(limits: Mapping[str, float] | str | Path | None) -> Mapping[str, float]:
    if not isinstance(limits, str | Path):
        return given_limits(limits or {})
    with _refusing_use():
        return read_limits(Source.of(limits))


def _frame(name: str, data: object, notices: list[Problem], *, several: bool = False) -> Frame:
    with _refusing_use(), collect_notices() as told:
        if isinstance(data, str | Path):
            frame = read_frame(data, several=several)
        else:
            frame = frame_of(name, data)
            note_comma_numbers(frame.cells, name)
    notices.extend(told)
    return frame
