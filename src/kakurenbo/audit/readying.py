"""Tables made ready for attacks: by the original's names for columns and values, a row per person, as codes.

What is noticed on the way, and would make a verdict worth less, comes with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kakurenbo.audit.caveats import (
    column_caveats,
    digest_caveats,
    form_caveats,
    near_caveats,
    notation_caveats,
    overlap_caveats,
    unlike_caveats,
    unread_caveats,
)
from kakurenbo.audit.copies import Tables, copy_caveats, released_caveats, row_caveats, whole_rows
from kakurenbo.audit.encoding import Coded, Codes, encode
from kakurenbo.audit.files import Several, arranged
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import RECORDS
from kakurenbo.audit.masks import put_back
from kakurenbo.audit.options import Options
from kakurenbo.audit.recoding import undo_recoding
from kakurenbo.audit.renaming import renamed
from kakurenbo.audit.result import UNFIT, Caveat, RecodedColumn
from kakurenbo.audit.rivals import Rehearsal
from kakurenbo.audit.schema import TableSchema, infer_schema
from kakurenbo.audit.steps import step
from kakurenbo.audit.tasks import FEWEST, Told
from kakurenbo.audit.unit import Unit, by_person
from kakurenbo.core import rng
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message

Three = tuple[Frame, Frame, Frame | None]
"""The original, the release and the holdout, if there is one."""


@dataclass(frozen=True, eq=False)
class Ready:
    """What attacks work on.

    Attributes
    ----------
    coded : Coded
    asked : array of int32, shape (n, columns)
        People of the original who may be asked about, where names of values were undone by the others.
    recoded : tuple of RecodedColumn
        Columns whose values went by other names.
    tables : tuple of Frame
        Whose rows the codes stand for.
    unit : Unit
    several : Several or None
        The files of a release that has several, or of earlier ones beside it.
    caveats : tuple of Caveat
    rehearsed : tuple of pairs of Coded and Rehearsal
        What a rival made of the same people, of the same columns.
    no_control : str
        The code of why the holdout that was given is none; empty where it is one, or there is none.
    as_read : mapping of str to object
        Facts of the release that its files tell otherwise, for their columns have other names.
    """

    coded: Coded
    asked: Codes
    recoded: tuple[RecodedColumn, ...]
    tables: Three
    unit: Unit
    several: Several | None
    caveats: tuple[Caveat, ...]
    rehearsed: tuple[tuple[Coded, Rehearsal], ...]
    no_control: str = ""
    as_read: Mapping[str, object] = field(default_factory=dict)


def made_ready(tables: Three, options: Options, tell: Told) -> Ready:
    """Make the tables of an audit ready.

    Raises
    ------
    ParameterError
        Where columns are named that are not there, the tables share none, or a holdout is none.
    UsageError
        Where rows of a table of several per person name nobody or no time.
    """
    _check_names(tables, options)
    as_read = tables[1]
    tables, options, taken = by_own_names(tables, options)
    tables, options, undone, caveats = _with_own_values(tables, options, tell)
    tables, options, unit = _of_people(tables, options, tell)
    tables, several = _with_files(tables, options)
    names = shared_columns(tables, options)
    with step(tell, "encode"):
        schema = schema_of(tables, options)
        coded = encode(schema, names, *tables)
        unlike = [
            *unlike_caveats(coded),
            *near_caveats(coded, rng.stream(options.seed, "audit", "near")),
        ]
        unfit = bool(unlike) or any(caveat.code in UNFIT for caveat in caveats)
        held = coded.holdout
        if unfit:  # whoever is compared with people who are unlike the original's is accused of being like them
            coded = replace(coded, holdout=coded.holdout[:0])
        naming, asked = _who_names(coded, options.seed)
        coded, recoded = undo_recoding(coded, naming)
    compared = [frame for frame in tables if frame is not None][: 2 if unfit else 3]
    caveats = [
        *taken,
        *caveats,
        *unlike,
        *_code_caveats(coded, held, recoded, compared, unit, options),
    ]
    return Ready(
        coded,
        asked if recoded else coded.original,
        (*(one for one in undone if one.column in names), *recoded),
        tables,
        unit,
        several,
        tuple(caveats),
        () if unfit else tuple(_rehearsed(tables, schema, names, options)),
        "unfit_holdout" if unfit else "",
        _facts_as_read(as_read) if taken else {},
    )


def schema_of(tables: Three, options: Options) -> TableSchema:
    """The schema that was given, or what the people of the tables suggest."""
    original, _, holdout = tables
    return options.schema or infer_schema(
        *(frame for frame in (original, holdout) if frame is not None)
    )


def _check_names(tables: Three, options: Options) -> None:
    """Refuse columns that are not there before anybody waits.

    Raises
    ------
    ParameterError
    """
    original, release, _ = tables
    schema = () if options.schema is None else options.schema.names
    asked = {
        "know": options.know,
        "secret": options.secret,
        "id": options.identifiers,
        "schema": schema,
    }
    for what, columns in asked.items():
        for column in columns:
            if column not in original.columns:
                raise ParameterError(
                    what,
                    Message("expects.columns_of_original", {"columns": original.columns}),
                    column,
                )
    released = tuple(
        dict.fromkeys(
            name for frame in (release, *release.parts, *options.earlier) for name in frame.columns
        )
    )
    for column in options.ignored:
        if column not in released:
            raise ParameterError(
                "ignore", Message("expects.columns_of_release", {"columns": released}), column
            )


# -- columns and values by the original's names ---------------------------------------------------------------------------


def by_own_names(tables: Three, options: Options) -> tuple[Three, Options, list[Caveat]]:
    """The release and earlier ones with the original's names for their columns, and what was taken for what."""
    original, release, holdout = tables
    if not _lacking(original, (release, *options.earlier)):
        return tables, options, []
    schema = schema_of(tables, options)
    found = [renamed(schema, original, frame, holdout) for frame in (release, *options.earlier)]
    told = [caveat for _, caveats in found for caveat in caveats]
    return (
        (original, found[0][0], holdout),
        replace(options, earlier=tuple(frame for frame, _ in found[1:])),
        told,
    )


def _lacking(original: Frame, releases: Sequence[Frame]) -> bool:
    """Whether some table has columns that the original has not: most have none, and nobody waits for a schema then."""
    tables = [table for release in releases for table in (release.parts or (release,))]
    return any(set(table.columns) - set(original.columns) for table in tables)


def _facts_as_read(release: Frame) -> dict[str, object]:
    kept = (
        "files" if release.parts else "columns"
    )  # of several files the columns of all together stand in no file
    return {kept: release.facts()[kept]}


def _with_own_values(
    tables: Three, options: Options, tell: Told
) -> tuple[Three, Options, tuple[RecodedColumn, ...], list[Caveat]]:
    """The release and earlier ones with the original's values, the schema to read them by, which columns that took, and what
    their cells can carry that no attack reads."""
    original, release, holdout = tables
    identifying = (
        options.identifiers
        if options.persons is None
        else (*options.identifiers, options.persons.column)
    )
    with step(tell, "recoding"):
        schema = schema_of(tables, options)
        release, read, undone = put_back(schema, original, release, holdout, identifying)
        earlier = tuple(
            put_back(read, original, one, holdout, identifying)[0] for one in options.earlier
        )
    named = None if options.schema is None else options.schema.names
    caveats = [
        *notation_caveats(schema, original, tables[1], options.ignored),
        *digest_caveats(undone, identifying),
        *column_caveats(
            original,
            release,
            options.identifiers,
            options.ignored,
            named,
            {one.column for one in undone},
        ),
    ]
    if release.beside:
        caveats.append(Caveat("beside_the_table", {"notes": list(release.beside)}, blocks=True))
    caveats += form_caveats(read, original, release, options.ignored)
    if holdout is not None:
        caveats += overlap_caveats(original, holdout)
    return (
        (original, release, holdout),
        replace(options, earlier=earlier, schema=read),
        undone,
        caveats,
    )


# -- a row per person ------------------------------------------------------------------------------------------------------


def _of_people(tables: Three, options: Options, tell: Told) -> tuple[Three, Options, Unit]:
    """The tables with a row for each person, where people have several and their pseudonyms last."""
    if options.persons is None:
        return tables, options, Unit()
    with step(tell, "pseudonyms"):
        shared_columns(tables, options)
        schema = schema_of(tables, options)
        stream = rng.stream(options.seed, "audit", "pseudonyms")
        found = by_person(options.persons, schema, options.identifiers, tables, stream)
    made = found.original, found.release, found.holdout
    told = None if found.unit.lines is not None else schema.without(options.persons.column)
    return made, replace(options, schema=told), found.unit


def _with_files(tables: Three, options: Options) -> tuple[Three, Several | None]:
    """The files of a release beside each other, and earlier ones beside them."""
    original, release, holdout = tables
    if not release.parts and not options.earlier:
        return tables, None
    if options.persons is not None:
        raise ParameterError(
            "person", Message("expects.no_person_of_files"), options.persons.column
        )
    release, several = arranged(
        schema_of(tables, options), options.identifiers, tables, options.earlier
    )
    return (original, release, holdout), several


def shared_columns(tables: Three, options: Options) -> list[str]:
    """The columns that take part: those that original and release share, identifiers aside."""
    original, release, holdout = tables
    told = original.columns if options.schema is None else options.schema.names
    names = [name for name in told if name in release.columns and name not in options.identifiers]
    if not names:
        raise ParameterError(
            "release",
            Message("expects.some_columns", {"columns": original.columns}),
            f"{release.name} ({', '.join(release.columns)})",
        )
    if holdout is not None and (lacking := [name for name in names if name not in holdout.columns]):
        raise UsageError("usage.audit_holdout_column", file=holdout.name, column=lacking[0])
    return names


# -- codes -----------------------------------------------------------------------------------------------------------------


def _who_names(coded: Coded, seed: int) -> tuple[Codes, Codes]:
    """By whom renamed values are told, and who may be asked about afterwards, shapes (k, columns) and (n, columns).

    With a holdout everybody is both: names then know nothing of who is a member. Without one they would be fitted to the very
    people who are asked about, so half of the original names and the other half is asked.
    """
    if len(coded.holdout) >= FEWEST:
        return np.concatenate([coded.original, coded.holdout]), coded.original
    order = rng.stream(seed, "audit", "naming").permutation(len(coded.original))
    half = len(order) // 2
    return coded.original[np.sort(order[:half])], coded.original[np.sort(order[half:])]


def _code_caveats(
    coded: Coded,
    held: Codes,
    recoded: Sequence[RecodedColumn],
    tables: Sequence[Frame],
    unit: Unit,
    options: Options,
) -> Iterator[Caveat]:
    """What the codes show: values that nobody reads, a holdout of released people, copies."""
    yield from unread_caveats(coded, recoded)
    if unit.why_not:
        yield from row_caveats(coded)
        return
    given = replace(coded, holdout=held)
    compared = Tables(given)
    yield from released_caveats(given, compared)
    if len(coded.holdout) < len(held):
        compared = Tables(coded)
    rows = [whole_rows(frame, coded.names) for frame in tables]
    yield from copy_caveats(coded, compared, options.limits[RECORDS], rows)


def _rehearsed(
    tables: Three, schema: TableSchema, names: Sequence[str], options: Options
) -> Iterator[tuple[Coded, Rehearsal]]:
    """What a rival made that has the columns of the release."""
    original, _, holdout = tables
    for one in options.rehearsals:
        there, _ = renamed(schema, original, one.release, holdout)
        there, _, _ = put_back(schema, original, there, holdout)
        if set(names) <= set(there.columns):
            yield encode(schema, names, original, there, holdout), one
