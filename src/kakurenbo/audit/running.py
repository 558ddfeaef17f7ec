"""The audit itself: reads nothing and writes nothing, from frames to one typed result."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo import __version__, rng
from kakurenbo.audit import statistics
from kakurenbo.audit.caveats import (
    baseline_caveats,
    column_caveats,
    digest_caveats,
    form_caveats,
    mostly_unread,
    near_caveats,
    overlap_caveats,
    unlike_caveats,
    unread_caveats,
)
from kakurenbo.audit.copies import Tables, copy_caveats, released_caveats, row_caveats, whole_rows
from kakurenbo.audit.encoding import Coded, Codes, encode
from kakurenbo.audit.files import Several, arranged
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import DEFAULTS, RECORDS, UNREAD, held_to, verdict_of, worse_than
from kakurenbo.audit.masks import put_back
from kakurenbo.audit.membership import EXPOSED_LEVEL, Membership, Others, Rehearsed
from kakurenbo.audit.methods import build_table_method
from kakurenbo.audit.persons import Persons
from kakurenbo.audit.recoding import undo_recoding
from kakurenbo.audit.regulation import NOT_PROVED, REGULATION
from kakurenbo.audit.renaming import renamed
from kakurenbo.audit.result import (
    NO_LIMIT,
    RISKS,
    AuditResult,
    Caveat,
    ExposedRecord,
    ExposedRecords,
    FileRisk,
    Method,
    RecodedColumn,
    Risk,
    SelfTest,
)
from kakurenbo.audit.rivals import Rehearsal, rehearsals
from kakurenbo.audit.schema import TableSchema, infer_schema
from kakurenbo.audit.steps import step
from kakurenbo.audit.tasks import FEWEST, TASKS, Crew, Prepared, Submit, Told, threads
from kakurenbo.audit.unit import ByPerson, Unit, by_person
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.messages import text

Rows = NDArray[np.int64]
MOST_TARGETS = 10_000  # members, and as many controls, where nothing else is asked for
STEPS = ("recoding", "encode", *(name for name in TASKS if name != "columns"))
"""What every audit of a release does; which columns drive a risk is asked only where there is one."""


@dataclass(frozen=True)
class Options:
    """What an audit is told.

    Attributes
    ----------
    know : tuple of str
        Columns that attackers may know; empty: all.
    secret : tuple of str
        Columns that they want; empty: every column in turn.
    identifiers : tuple of str
        Columns that are left out: they are removed before any release.
    limits : mapping of str to float
    seed : int
    show_records : bool
        Whether exposed records are shown as they are, and not by their hashes alone.
    strict : bool
        Whether what could not be assessed counts as a failure.
    baseline : mapping
        The JSON of an earlier audit.
    schema : TableSchema or None
        Inferred where there is none.
    persons : Persons or None
        What tells the rows of one person; None where every row is a person.
    targets : int
        People of the original, and as many of the holdout, whose membership is tried; drawn by lot where there are more.
    earlier : tuple of Frame
        What was released before of the same people.
    rehearsals : tuple of Rehearsal
        What a rival made of the same people, by the method that made the release.
    method : str
        That method, where it is known.
    ignored : tuple of str
        Columns of the release alone that are known to tell nothing of anybody.
    """

    know: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULTS))
    seed: int = 0
    show_records: bool = False
    strict: bool = False
    baseline: Mapping[str, object] = field(default_factory=dict)
    schema: TableSchema | None = None
    persons: Persons | None = None
    targets: int = MOST_TARGETS
    earlier: tuple[Frame, ...] = ()
    rehearsals: tuple[Rehearsal, ...] = ()
    method: str = ""
    ignored: tuple[str, ...] = ()


def with_rival(options: Options, method: str, tables: tuple[Frame, Frame, Frame | None]) -> Options:
    """The same options with what a rival rehearses who knows that the release was made by a method, ``NAME:param=value,...``.

    Raises
    ------
    ParameterError
        Where there is no holdout, or rows are not people.
    UsageError
        Where there is no such method, or it does not fit the table.
    """
    original, release, holdout = tables
    release, _, _ = _by_own_names(original, release, holdout, options)
    if holdout is None:
        raise ParameterError("method", text("expects.with_holdout"), method)
    if options.persons is not None or release.parts or options.earlier:
        raise ParameterError("method", text("expects.one_row_per_person"), method)
    schema = options.schema or infer_schema(original, holdout)
    shared_columns(original, release, holdout, options)
    schema = schema.only([name for name in schema.names if name not in options.identifiers])
    made = rehearsals(build_table_method(method), (original, release, holdout), schema, options.seed)
    return replace(options, rehearsals=made, method=method)


def run_audit(
    original: Frame,
    release: Frame,
    holdout: Frame | None,
    options: Options,
    tell: Told = lambda _: None,
    crew: Crew | None = None,
) -> AuditResult:
    """Audit one release.

    Parameters
    ----------
    original, release, holdout : Frame
        ``holdout``: people like those of the original whom the release was not made of, or None.
    options : Options
    tell : callable
        Is told the code of every step that begins, ``audit.step.NAME``; and that it ended, where it is a
        :class:`kakurenbo.audit.steps.Watcher`.
    crew : callable, optional
        Who does the tasks, see :mod:`kakurenbo.audit.tasks`; threads of this process by default. The result is the same.

    Raises
    ------
    ParameterError
        Where columns are named that are not there, or the tables share none.
    UsageError
        Where rows of a table of several per person name nobody or no time.
    """
    _check_names(original, release, options)
    read = release
    release, earlier, taken = _by_own_names(original, release, holdout, options)
    named = None if options.schema is None else options.schema.names
    with step(tell, "recoding"):
        schema = options.schema or infer_schema(*(frame for frame in (original, holdout) if frame is not None))
        release, schema, unmasked = put_back(schema, original, release, holdout, _identifying(options))
        earlier = tuple(put_back(schema, original, one, holdout, _identifying(options))[0] for one in earlier)
    options = replace(options, earlier=earlier, schema=schema)
    caveats = [
        *taken,
        *digest_caveats(unmasked, _identifying(options)),
        *column_caveats(original, release, options.identifiers, options.ignored, named, {one.column for one in unmasked}),
    ]
    if release.beside:
        caveats.append(Caveat("beside_the_table", {"notes": list(release.beside)}, blocks=True))
    caveats += form_caveats(schema, original, release, options.ignored)
    if holdout is not None:
        caveats += overlap_caveats(original, holdout)
    unit = Unit()
    if options.persons is not None:
        with step(tell, "pseudonyms"):
            found = _by_person(options.persons, original, release, holdout, options)
        original, release, holdout, unit = found.original, found.release, found.holdout, found.unit
        told = None if options.schema is None or unit.lines is not None else options.schema.without(options.persons.column)
        options = replace(options, schema=told)
    several = None
    if release.parts or options.earlier:
        release, several = _with_files(original, release, holdout, options)
    names = shared_columns(original, release, holdout, options)
    with step(tell, "encode"):
        schema = options.schema or infer_schema(*(frame for frame in (original, holdout) if frame is not None))
        coded = encode(schema, names, original, release, holdout)
        naming, asked = _who_names(coded, options.seed)
        coded, recoded = undo_recoding(coded, naming)
    caveats += [*unlike_caveats(coded), *unread_caveats(coded, recoded)]
    if unit.why_not:
        caveats += row_caveats(coded)
    else:
        tables = Tables(coded)
        caveats += released_caveats(coded, tables)
        caveats += near_caveats(coded, rng.stream(options.seed, "audit", "near"))
        frames_of = (original, release) if holdout is None else (original, release, holdout)
        caveats += copy_caveats(coded, tables, options.limits[RECORDS], [whole_rows(frame, names) for frame in frames_of])
        del tables  # which are large
    asked = asked if recoded else coded.original
    recoded = (*(one for one in unmasked if one.column in names), *recoded)
    frames = original, release, holdout
    rehearsed = [
        (encode(schema, names, original, there, holdout), one)
        for one in options.rehearsals
        for there in [put_back(schema, original, renamed(schema, original, one.release, holdout)[0], holdout)[0]]
        if set(names) <= set(there.columns)
    ]
    result = _Audit(coded, asked, recoded, frames, options, tell, unit, several, caveats, crew or threads(), rehearsed).result()
    return _with_names_as_read(result, read) if taken else result


def _identifying(options: Options) -> tuple[str, ...]:
    """Columns of names of people."""
    return options.identifiers if options.persons is None else (*options.identifiers, options.persons.column)


def _by_own_names(
    original: Frame, release: Frame, holdout: Frame | None, options: Options
) -> tuple[Frame, tuple[Frame, ...], list[Caveat]]:
    """The release and earlier ones with the original's names for their columns, and what was taken for what."""
    if not _lacking(original, (release, *options.earlier)):
        return release, options.earlier, []
    schema = options.schema or infer_schema(*(frame for frame in (original, holdout) if frame is not None))
    found = [renamed(schema, original, frame, holdout) for frame in (release, *options.earlier)]
    return found[0][0], tuple(frame for frame, _ in found[1:]), [caveat for _, told in found for caveat in told]


def _with_names_as_read(result: AuditResult, release: Frame) -> AuditResult:
    """The same, where the facts of the release name its columns as its files do."""
    kept = ("files",) if release.parts else ("columns",)  # of several files the columns of all together stand in no file
    facts = {name: value for name, value in release.facts().items() if name in kept}
    files = {**result.method.files, "release": {**result.method.files["release"], **facts}}
    return replace(result, method=replace(result.method, files=files))


def _lacking(original: Frame, releases: Sequence[Frame]) -> bool:
    """Whether some table has columns that the original has not: most have none, and nobody waits for a schema then."""
    tables = [table for release in releases for table in (release.parts or (release,))]
    return any(set(table.columns) - set(original.columns) for table in tables)


def _by_person(persons: Persons, original: Frame, release: Frame, holdout: Frame | None, options: Options) -> ByPerson:
    shared_columns(original, release, holdout, options)
    schema = options.schema or infer_schema(*(frame for frame in (original, holdout) if frame is not None))
    stream = rng.stream(options.seed, "audit", "pseudonyms")
    return by_person(persons, schema, options.identifiers, (original, release, holdout), stream)


def _with_files(original: Frame, release: Frame, holdout: Frame | None, options: Options) -> tuple[Frame, Several]:
    if options.persons is not None:
        raise ParameterError("person", text("expects.no_person_of_files"), options.persons.column)
    schema = options.schema or infer_schema(*(frame for frame in (original, holdout) if frame is not None))
    return arranged(schema, options.identifiers, (original, release, holdout), options.earlier)


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


def shared_columns(original: Frame, release: Frame, holdout: Frame | None, options: Options) -> list[str]:
    """The columns that take part: those that original and release share, identifiers aside."""
    told = original.columns if options.schema is None else options.schema.names
    names = [name for name in told if name in release.columns and name not in options.identifiers]
    if not names:
        raise ParameterError(
            "release",
            text("expects.some_columns", columns=original.columns),
            f"{release.name} ({', '.join(release.columns)})",
        )
    if holdout is not None and (lacking := [name for name in names if name not in holdout.columns]):
        raise UsageError(text("usage.audit_holdout_column", file=holdout.name, column=lacking[0]))
    return names


def _check_names(original: Frame, release: Frame, options: Options) -> None:
    """Refuse columns that are not there before anybody waits.

    Raises
    ------
    ParameterError
    """
    schema = () if options.schema is None else options.schema.names
    asked = {"know": options.know, "secret": options.secret, "id": options.identifiers, "schema": schema}
    for what, columns in asked.items():
        for column in columns:
            if column not in original.columns:
                raise ParameterError(what, text("expects.columns_of_original", columns=original.columns), column)
    released = tuple(dict.fromkeys(name for frame in (release, *release.parts, *options.earlier) for name in frame.columns))
    for column in options.ignored:
        if column not in released:
            raise ParameterError("ignore", text("expects.columns_of_release", columns=released), column)


class _Audit:
    """One audit, step by step."""

    def __init__(
        self,
        coded: Coded,
        asked: Codes,
        recoded: tuple[RecodedColumn, ...],
        frames: tuple[Frame, Frame, Frame | None],
        options: Options,
        tell: Told,
        unit: Unit,
        several: Several | None,
        caveats: Sequence[Caveat],
        crew: Crew,
        rehearsed: Sequence[tuple[Coded, Rehearsal]],
    ) -> None:
        self._unit, self._crew, self._caveats = unit, crew, tuple(caveats)
        self._coded, self._recoded, self._options, self._tell = coded, recoded, options, tell
        named = zip(("original", "release", "holdout"), frames, strict=True)
        self._frames = {name: frame for name, frame in named if frame is not None}
        self._rows, others = self._drawn(len(coded.original), "members")
        held, held_others = self._drawn(len(coded.holdout), "controls")
        self._members = coded.original[self._rows]
        self._prepared = Prepared(
            coded,
            replace(coded, original=asked),
            self._members,
            coded.holdout[held],
            Others(coded.original[others], coded.holdout[held_others]),
            options.know,
            options.secret,
            options.seed,
            unit.why_not,
            several,
            tuple(
                Rehearsed(
                    there,
                    np.concatenate([there.original[self._rows], there.holdout[held]]),
                    Others(there.original[others], there.holdout[held_others]),
                    one.of(self._rows, held, len(coded.original)),
                )
                for there, one in rehearsed
            ),
        )

    def _drawn(self, count: int, name: str) -> tuple[Rows, Rows]:
        """Rows of those who are asked about, in the order of the table, and of all others, in that of the lot."""
        lot = rng.stream(self._options.seed, "audit", name).permutation(count)
        return np.sort(lot[: self._options.targets]), lot[self._options.targets :]

    def result(self) -> AuditResult:
        with self._crew(self._prepared, self._tell) as submit:
            return self._gathered({name: submit(name) for name in TASKS if name != "columns"}, submit)

    def _gathered(self, tasks: Mapping[str, Future[Any]], submit: Submit) -> AuditResult:
        membership: Membership | None = tasks["membership"].result()
        risks = {name: Risk(name, False, "not_tried") for name in RISKS}
        risks["membership"] = membership.risk if membership is not None else Risk("membership", False, self._why_not())
        driving = submit("columns") if self._is_driven(risks["membership"]) else None
        p_values: dict[str, float] = {} if membership is None else {"membership": membership.p_value}
        risks["pseudonyms"] = self._unit.pseudonyms
        if self._unit.pseudonyms.assessed:
            p_values["pseudonyms"] = self._unit.p_value
        risks["recoding"] = self._recoding()
        files: tuple[FileRisk, ...] = tasks["linkability"].result()[2]
        for name in ("singling_out", "linkability", "inference"):
            risks[name], p_value, *_ = tasks[name].result()
            if risks[name].assessed:
                p_values[name] = p_value
        tests: tuple[SelfTest, ...] = tasks["self_tests"].result()
        corrected = statistics.holm(p_values)
        hidden = self._what_hides(tests)
        for name, risk in risks.items():
            noted = replace(risk, p_value=corrected.get(name), why=hidden if hidden and risk.assessed else risk.why)
            risks[name] = held_to(noted if name in corrected else risk, self._options.limits)
        records = self._records(membership)
        method, baseline = self._method(), self._options.baseline
        regressions = worse_than(risks, baseline)
        caveats = (*self._caveats, *baseline_caveats(baseline, method.files["original"], risks))
        utility, copies = tasks["utility"].result()
        strict, limits = self._options.strict, self._options.limits
        verdict = verdict_of(risks, records, limits, regressions, strict=strict, copies=copies, caveats=caveats)
        return AuditResult(
            verdict,
            risks,
            records,
            () if driving is None else driving.result(),
            utility,
            self._recoded,
            tests,
            (),
            REGULATION,
            method,
            NOT_PROVED,
            regressions,
            files=files,
            caveats=caveats,
        )

    def _why_not(self) -> str:
        if self._unit.why_not:
            return self._unit.why_not
        if not self._prepared.places(self._options.know):
            return "nothing_known"
        return "too_few" if "holdout" in self._frames else "no_holdout"

    def _what_hides(self, tests: Sequence[SelfTest]) -> str:
        """Why no risk that was not found is shown to be absent; empty where none is hidden."""
        if mostly_unread(self._coded, self._recoded):
            return UNREAD
        return "too_weak" if any(not test.passed for test in tests) else ""

    def _recoding(self) -> Risk:
        count = len(self._coded.columns)
        undone = statistics.rate(len(self._recoded), count)
        return Risk("recoding", True, attack="histograms_and_pairs", rate=undone, standing=NO_LIMIT)

    # -- what else is told ------------------------------------------------------------------------------------------

    def _records(self, membership: Membership | None) -> ExposedRecords:
        if membership is None:
            return ExposedRecords(False, EXPOSED_LEVEL, 0)
        count = len(self._members)
        exposed = [self._record(place, score, p_value) for place, score, p_value in membership.exposed(count)]
        flagged = sorted(exposed, key=lambda record: (record.p_value, -record.score, record.digest))
        return ExposedRecords(True, EXPOSED_LEVEL, count, tuple(flagged), membership.fewest_exposed(count))

    @cached_property
    def _record_key(self) -> bytes:
        """Which only who holds the whole original can make: the seed stands in the report, and so do the files' digests."""
        salt = rng.salt(self._options.seed, "audit", "records")
        return hashlib.sha256(salt + self._frames["original"].cells.write_csv().encode()).digest()

    def _record(self, place: int, score: float, p_value: float) -> ExposedRecord:
        row = int(self._rows[place])
        values = dict(zip(self._frames["original"].columns, self._frames["original"].cells.row(row), strict=True))
        text = "\x1f".join(values.values()).encode()
        digest = hmac.new(self._record_key, text, hashlib.sha256).hexdigest()[:16]
        if self._options.show_records:
            line = row if self._unit.lines is None else int(self._unit.lines[row])
            return ExposedRecord(digest, score, p_value, line, values)
        return ExposedRecord(digest, score, p_value)

    @staticmethod
    def _is_driven(membership: Risk) -> bool:
        """Whether there is anything that a column could drive."""
        return membership.excess is not None and membership.excess.low > 0

    def _method(self) -> Method:
        options: dict[str, object] = {
            "know": list(self._options.know),
            "secret": list(self._options.secret),
            "id": list(self._options.identifiers),
            "limits": dict(self._options.limits),
        }
        if self._options.persons is not None:
            persons = self._options.persons
            options |= {"person": persons.column, "time": persons.time, "period": persons.period}
        if self._options.method:
            options |= {"method": self._options.method}
        if self._options.earlier:
            options |= {"earlier": [frame.name for frame in self._options.earlier]}
        facts = {role: frame.facts() for role, frame in {**self._frames, **self._unit.frames}.items()}
        return Method(__version__, self._options.seed, options, facts, len(self._members))
