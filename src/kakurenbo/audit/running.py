"""The audit itself: reads nothing and writes nothing, from frames to one typed result."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo import __version__
from kakurenbo.audit import statistics
from kakurenbo.audit.caveats import baseline_caveats, mostly_unread
from kakurenbo.audit.copies import COPIED
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import RECORDS, UNREAD, held_to, verdict_of, worse_than
from kakurenbo.audit.membership import EXPOSED_LEVEL, Membership, Others, Rehearsed
from kakurenbo.audit.methods import build_table_method
from kakurenbo.audit.options import Options
from kakurenbo.audit.readying import (
    Ready,
    Three,
    by_own_names,
    made_ready,
    schema_of,
    shared_columns,
)
from kakurenbo.audit.regulation import NOT_PROVED, REGULATION
from kakurenbo.audit.result import (
    ABOVE,
    NO_LIMIT,
    RISKS,
    AuditResult,
    Caveat,
    ExposedRecord,
    ExposedRecords,
    FileRisk,
    Method,
    Risk,
    SelfTest,
)
from kakurenbo.audit.rivals import rehearsals
from kakurenbo.audit.tasks import TASKS, Crew, Prepared, Submit, Told, threads
from kakurenbo.core import rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message

Rows = NDArray[np.int64]
STEPS = ("recoding", "encode", *(name for name in TASKS if name != "columns"))
"""What every audit of a release does; which columns drive a risk is asked only where there is one."""


def with_rival(options: Options, method: str, tables: Three) -> Options:
    """The same options with what a rival rehearses who knows that the release was made by a method, ``NAME:param=value,...``.

    Raises
    ------
    ParameterError
        Where there is no holdout, or rows are not people.
    UsageError
        Where there is no such method, or it does not fit the table.
    """
    tables, _, _ = by_own_names(tables, options)
    original, release, holdout = tables
    if holdout is None:
        raise ParameterError("method", Message("expects.with_holdout"), method)
    if options.persons is not None or release.parts or options.earlier:
        raise ParameterError("method", Message("expects.one_row_per_person"), method)
    schema = schema_of(tables, options)
    shared_columns(tables, options)
    schema = schema.only([name for name in schema.names if name not in options.identifiers])
    made = rehearsals(
        build_table_method(method), (original, release, holdout), schema, options.seed
    )
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
    ready = made_ready((original, release, holdout), options, tell)
    return _Audit(ready, options, tell, crew or threads()).result()


class _Audit:
    """One audit, step by step."""

    def __init__(self, ready: Ready, options: Options, tell: Told, crew: Crew) -> None:
        self._ready, self._options, self._tell, self._crew = ready, options, tell, crew
        named = zip(("original", "release", "holdout"), ready.tables, strict=True)
        self._frames = {name: frame for name, frame in named if frame is not None}
        coded = ready.coded
        self._rows, others = self._drawn(len(coded.original), "members")
        held, held_others = self._drawn(len(coded.holdout), "controls")
        self._members = coded.original[self._rows]
        self._prepared = Prepared(
            coded,
            replace(coded, original=ready.asked),
            self._members,
            coded.holdout[held],
            Others(coded.original[others], coded.holdout[held_others]),
            options.know,
            options.secret,
            options.seed,
            ready.unit.why_not,
            ready.several,
            tuple(
                Rehearsed(
                    there,
                    np.concatenate([there.original[self._rows], there.holdout[held]]),
                    Others(there.original[others], there.holdout[held_others]),
                    one.of(self._rows, held, len(coded.original)),
                )
                for there, one in ready.rehearsed
            ),
        )

    def _drawn(self, count: int, name: str) -> tuple[Rows, Rows]:
        """Rows of those who are asked about, in the order of the table, and of all others, in that of the lot."""
        lot = rng.stream(self._options.seed, "audit", name).permutation(count)
        return np.sort(lot[: self._options.targets]), lot[self._options.targets :]

    def result(self) -> AuditResult:
        with self._crew(self._prepared, self._tell) as submit:
            return self._gathered(
                {name: submit(name) for name in TASKS if name != "columns"}, submit
            )

    def _gathered(self, tasks: Mapping[str, Future[Any]], submit: Submit) -> AuditResult:
        membership: Membership | None = tasks["membership"].result()
        risks = {name: Risk(name, False, "not_tried") for name in RISKS}
        risks["membership"] = (
            membership.risk
            if membership is not None
            else Risk("membership", False, self._why_not())
        )
        driving = submit("columns") if self._is_driven(risks["membership"]) else None
        p_values: dict[str, float] = (
            {} if membership is None else {"membership": membership.p_value}
        )
        risks["pseudonyms"] = self._ready.unit.pseudonyms
        if self._ready.unit.pseudonyms.assessed:
            p_values["pseudonyms"] = self._ready.unit.p_value
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
            noted = replace(
                risk,
                p_value=corrected.get(name),
                why=hidden if hidden and risk.assessed else risk.why,
            )
            risks[name] = held_to(noted if name in corrected else risk, self._options.limits)
        records = self._records(membership)
        method, baseline = self._method(), self._options.baseline
        regressions = worse_than(risks, baseline)
        caveats = (
            *self._ready.caveats,
            *self._standing_out(tasks["standing_out"].result(), risks),
            *baseline_caveats(baseline, method.files["original"], risks),
        )
        utility, copies = tasks["utility"].result()
        strict, limits = self._options.strict, self._options.limits
        verdict = verdict_of(
            risks, records, limits, regressions, strict=strict, copies=copies, caveats=caveats
        )
        return AuditResult(
            verdict,
            risks,
            records,
            () if driving is None else driving.result(),
            utility,
            self._ready.recoded,
            tests,
            (),
            REGULATION,
            method,
            NOT_PROVED,
            regressions,
            files=files,
            caveats=caveats,
        )

    def _standing_out(self, found: Caveat | None, risks: Mapping[str, Risk]) -> Iterator[Caveat]:
        """People who stand out together, where nothing else tells of them."""
        told = risks["membership"].standing == ABOVE or any(
            one.code in COPIED for one in self._ready.caveats
        )
        if found is not None and not told:
            yield replace(
                found,
                leaks=found.leaks and found.parameters["least"] > self._options.limits[RECORDS],
            )

    def _why_not(self) -> str:
        if self._ready.unit.why_not:
            return self._ready.unit.why_not
        if not self._prepared.places(self._options.know):
            return "nothing_known"
        return self._ready.no_control or ("too_few" if "holdout" in self._frames else "no_holdout")

    def _what_hides(self, tests: Sequence[SelfTest]) -> str:
        """Why no risk that was not found is shown to be absent; empty where none is hidden."""
        if mostly_unread(self._ready.coded, self._ready.recoded):
            return UNREAD
        return "too_weak" if any(not test.passed for test in tests) else ""

    def _recoding(self) -> Risk:
        count = len(self._ready.coded.columns)
        undone = statistics.rate(len(self._ready.recoded), count)
        return Risk("recoding", True, attack="histograms_and_pairs", rate=undone, standing=NO_LIMIT)

    # -- what else is told ------------------------------------------------------------------------------------------

    def _records(self, membership: Membership | None) -> ExposedRecords:
        if membership is None:
            return ExposedRecords(False, EXPOSED_LEVEL, 0)
        count = len(self._members)
        fewest = membership.fewest_exposed(count)
        if fewest > count:
            return ExposedRecords(
                False, EXPOSED_LEVEL, 0
            )  # beside so few controls nobody can stand out
        exposed = [
            self._record(place, score, p_value)
            for place, score, p_value in membership.exposed(count)
        ]
        flagged = sorted(exposed, key=lambda record: (record.p_value, -record.score, record.digest))
        return ExposedRecords(True, EXPOSED_LEVEL, count, tuple(flagged), fewest)

    @cached_property
    def _record_key(self) -> bytes:
        """Which only who holds the whole original can make: the seed stands in the report, and so do the files' digests."""
        salt = rng.salt(self._options.seed, "audit", "records")
        return hashlib.sha256(salt + self._frames["original"].cells.write_csv().encode()).digest()

    def _record(self, place: int, score: float, p_value: float) -> ExposedRecord:
        row = int(self._rows[place])
        values = dict(
            zip(
                self._frames["original"].columns,
                self._frames["original"].cells.row(row),
                strict=True,
            )
        )
        text = "\x1f".join(values.values()).encode()
        digest = hmac.new(self._record_key, text, hashlib.sha256).hexdigest()[:16]
        if self._options.show_records:
            line = row if self._ready.unit.lines is None else int(self._ready.unit.lines[row])
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
        frames = {**self._frames, **self._ready.unit.frames}
        # A baseline knows the original again by its cells; of large tables that takes seconds, and nobody compares the others.
        facts = {role: frame.facts(cells=role == "original") for role, frame in frames.items()}
        facts["release"] |= self._ready.as_read
        return Method(__version__, self._options.seed, options, facts, len(self._members))
