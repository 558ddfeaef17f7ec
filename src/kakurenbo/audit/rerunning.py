"""Audits without a holdout: half of the original is anonymized anew by the user's own command, the other half is the holdout.

Several times, with other halves; made-up records, *canaries*, are planted in each, and as many kept out, which nothing but the
release could tell apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.anonymizing import csv_bytes
from kakurenbo.audit.caveats import baseline_caveats
from kakurenbo.audit.commands import Remaking
from kakurenbo.audit.encoding import encode
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import held_to, verdict_of, worse_than
from kakurenbo.audit.membership import likelihood_scores
from kakurenbo.audit.options import Options
from kakurenbo.audit.readying import shared_columns
from kakurenbo.audit.renaming import renamed
from kakurenbo.audit.result import ABOVE, AuditResult, Caveat, Rate, Risk, SelfTest, ThreatRow
from kakurenbo.audit.rivals import REHEARSALS, Rehearsal
from kakurenbo.audit.running import run_audit
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.steps import step
from kakurenbo.audit.tasks import FEWEST, Crew, Told
from kakurenbo.core import rng
from kakurenbo.core.errors import UsageError

CANARIES = "canaries"
_PER_HALF, _MOST_CANARIES = 0.01, 100  # planted ones of a half, and at most
_FEWEST_CANARIES = 20
_MISTAKEN = 0.1  # share of those kept out that may be taken for planted
_BESIDE = 5000  # people of each half who are scored with the canaries, so that common rows have somebody else to explain them


@dataclass(frozen=True, eq=False)
class _Run:
    """One split and what came of it: the audit, and how the planted canaries and those kept out were told."""

    result: AuditResult
    rows: np.ndarray
    planted: Rate
    kept_out: Rate


def audit_command(
    original: Frame,
    command: Remaking,
    options: Options,
    runs: int,
    tell: Told = lambda _: None,
    crew: Crew | None = None,
) -> AuditResult:
    """Audit what a command makes of halves of the original.

    Parameters
    ----------
    original : Frame
    command : Remaking
    options : Options
    runs : int
        Halves that are drawn and anonymized.

    Returns
    -------
    AuditResult
        Hits and tries of all runs together.

    Raises
    ------
    InputError
        Where the command failed, or something is wrong with a release.
    """
    if len(original) < 4 * FEWEST:
        raise UsageError("usage.audit_run_small", rows=len(original), least=4 * FEWEST)
    options = replace(options, schema=options.schema or infer_schema(original))
    made = [_made(original, command, options, number, tell) for number in range(runs)]
    audits = [_audited(one, made, options, tell, crew) for one in made]
    return _combined(original, command, options, audits)


@dataclass(frozen=True, eq=False)
class _Made:
    """What came of one split.

    Attributes
    ----------
    rows, others : arrays of int64
        Of the original: the half that was released, and the one that was held out.
    ours, held : Frame
        The same as tables.
    canaries : DataFrame
        Those that were planted, and as many that were not.
    release : Frame
    lot : Generator
        What else is drawn for this run.
    """

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    ours: Frame
    held: Frame
    canaries: pl.DataFrame
    release: Frame
    lot: np.random.Generator


def _made(original: Frame, command: Remaking, options: Options, number: int, tell: Told) -> _Made:
    lot = rng.stream(options.seed, "audit", "run", str(number))
    order = lot.permutation(len(original))
    rows, others = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    ours, held = (_half(original, part) for part in (rows, others))
    count = min(max(int(_PER_HALF * len(rows)), _FEWEST_CANARIES), _MOST_CANARIES)
    made = canaries(original, 2 * count, lot)
    given = pl.concat([ours.cells, made[:count]])[lot.permutation(len(rows) + count)]
    with step(tell, "run"):
        release = command.release_of(given, int(lot.integers(2**31)))
    return _Made(rows, others, ours, held, made, replace(release, name=_name(number)), lot)


def _audited(
    one: _Made, every: Sequence[_Made], options: Options, tell: Told, crew: Crew | None
) -> _Run:
    """Audit one run; the others are what a rival made who has the same command."""
    asked = np.concatenate([one.rows, one.others])
    others = [
        other
        for other in every
        if other is not one and set(one.release.columns) <= set(other.release.columns)
    ]
    rehearsals = tuple(
        Rehearsal(other.release, np.isin(asked, other.rows)) for other in others[:REHEARSALS]
    )
    seed = int(one.lot.integers(2**63))
    own = replace(
        options, seed=seed, rehearsals=rehearsals, baseline={}
    )  # all runs together are compared with a baseline
    result = run_audit(one.ours, one.release, one.held, own, tell, crew)
    return _Run(
        result, one.rows, *_told(one.ours, one.release, one.held, one.canaries, options, one.lot)
    )


def _name(number: int) -> str:
    """Of what one run made."""
    return f"release {number + 1}"


def _half(original: Frame, rows: NDArray[np.int64]) -> Frame:
    """Some rows of the original; the digest is of the table that they are, which no file holds."""
    cells = original.cells[rows]
    return Frame(original.name, cells, hashlib.sha256(csv_bytes(cells)).hexdigest())


def canaries(original: Frame, count: int, lot: np.random.Generator) -> pl.DataFrame:
    """Records that nobody has: every cell a value that occurs in its column, each value as likely as any other.

    Common values are as rare in them as rare ones, so that what they combine hardly ever occurs; none is a record of the
    original, or another canary.
    """
    found: pl.DataFrame | None = None
    for _ in range(100):
        columns = []
        for column in original.cells:
            values = column.unique().sort()
            columns.append(values.gather(lot.integers(0, len(values), 2 * count)))
        drawn = pl.DataFrame(columns).join(
            original.cells, on=original.columns, how="anti", maintain_order="left"
        )
        found = (drawn if found is None else pl.concat([found, drawn])).unique(maintain_order=True)
        if found.height >= count:
            return found[:count]
    raise UsageError("usage.audit_run_canaries", count=count)


def _told(
    ours: Frame,
    release: Frame,
    held: Frame,
    made: pl.DataFrame,
    options: Options,
    lot: np.random.Generator,
) -> tuple[Rate, Rate]:
    """How many canaries that were planted, and that were not, score above what one in ten of those kept out exceeds."""
    assert options.schema is not None
    release, _ = renamed(options.schema, ours, release, held)
    names = shared_columns((ours, release, held), options)
    count = made.height // 2
    frames = [
        replace(frame, cells=pl.concat([half, frame.cells]))
        for frame, half in ((ours, made[:count]), (held, made[count:]))
    ]
    coded = encode(options.schema, names, frames[0], release, frames[1])
    beside = [
        count + lot.permutation(len(table) - count)[:_BESIDE]
        for table in (coded.original, coded.holdout)
    ]
    parts = [
        coded.original[:count],
        coded.holdout[:count],
        coded.original[beside[0]],
        coded.holdout[beside[1]],
    ]
    scores = np.round(likelihood_scores(coded, np.concatenate(parts)), 9)
    return told_apart(scores[:count], scores[count : 2 * count])


def told_apart(planted: NDArray[np.float64], kept_out: NDArray[np.float64]) -> tuple[Rate, Rate]:
    """How many of each score above a threshold; as many were planted as kept out.

    The threshold of each half is told by those kept out in the other half: all of both kinds count, and none of them is judged
    by a threshold that it set itself.
    """
    first = np.arange(len(planted)) < len(planted) // 2
    found = mistaken = 0
    for sets, judged in ((first, ~first), (~first, first)):
        line = statistics.threshold(kept_out[sets], _MISTAKEN)
        found += int((planted[judged] > line).sum())
        mistaken += int((kept_out[judged] > line).sum())
    return statistics.rate(found, len(planted)), statistics.rate(mistaken, len(kept_out))


# -- all runs together ------------------------------------------------------------------------------------------------


def _combined(
    original: Frame, command: Remaking, options: Options, runs: Sequence[_Run]
) -> AuditResult:
    first = runs[0].result
    risks, p_values = {}, {}
    for name in first.risks:
        every = [run.result.risks[name] for run in runs]
        if not all(one.assessed and one.control is not None for one in every):
            # One run that could not tell must not be hidden by others; one that leaks hides nothing.
            risks[name] = max(every, key=lambda one: (one.standing == ABOVE, not one.assessed))
            continue
        risks[name] = pooled(every)
        p_values[name] = statistics.fisher(_rate(risks[name].rate), _rate(risks[name].control))
    risks["membership"] = _with_canaries(risks["membership"], first, runs)
    corrected = statistics.holm(p_values)
    for name in p_values:
        risks[name] = held_to(replace(risks[name], p_value=corrected[name]), options.limits)
    records = replace(
        first.records,
        flagged=tuple(
            one if one.row is None else replace(one, row=int(runs[0].rows[one.row]))
            for one in first.records.flagged
        ),
    )
    regressions = worse_than(risks, options.baseline)
    caveats = (
        *_caveats(runs),
        *baseline_caveats(options.baseline, original.facts(cells=True), risks),
    )
    verdict = verdict_of(
        risks, records, options.limits, regressions, strict=options.strict, caveats=caveats
    )
    told = {**first.method.options, **command.facts(), "runs": len(runs)}
    method = replace(first.method, seed=options.seed, options=told, files=_files(original, runs))
    told_all = replace(first, verdict=verdict, risks=risks, records=records, method=method)
    tests = worst_tests([run.result.self_tests for run in runs])
    return replace(told_all, self_tests=tests, regressions=regressions, caveats=caveats)


def worst_tests(runs: Sequence[Sequence[SelfTest]]) -> tuple[SelfTest, ...]:
    """Of every self-test the run in which it went worst: one that failed, so that no other run hides it, else the furthest off.

    Where nothing is to be read, only reading something is off.
    """
    by_name: dict[str, list[SelfTest]] = {}
    for test in (test for tests in runs for test in tests):
        by_name.setdefault(test.name, []).append(test)
    return tuple(max(tests, key=_badness) for tests in by_name.values())


def _badness(test: SelfTest) -> tuple[bool, float]:
    return not test.passed, test.expected - test.read if test.expected else test.read


def _files(original: Frame, runs: Sequence[_Run]) -> dict[str, dict[str, Any]]:
    """What was read and made: a release and a half that was held out for each run, and the first run's in their place."""
    files: dict[str, dict[str, Any]] = {"original": original.facts(cells=True)}
    for role in ("release", "holdout"):
        made = [dict(run.result.method.files[role]) for run in runs]
        files[role] = {**made[0], "runs": made}
    files["holdout"]["drawn_from"] = "original"
    return files


def _caveats(runs: Sequence[_Run]) -> list[Caveat]:
    """What any run could not attack, once."""
    found: dict[tuple[str, str], Caveat] = {}
    for caveat in (caveat for run in runs for caveat in run.result.caveats):
        found.setdefault((caveat.code, str(caveat.parameters.get("column"))), caveat)
    return list(found.values())


def _rate(rate: Rate | None) -> Rate:
    return rate or statistics.rate(0, 0)


def pooled(risks: Sequence[Risk]) -> Risk:
    """The hits and tries of one risk in several runs together; below them those of each run, and those of each attack."""
    reported = [next(row for row in risk.rows if row.reported) for risk in risks]
    worst = _together(reported)
    by_attacker: dict[tuple[object, ...], list[ThreatRow]] = {}
    for risk in risks:
        for row in risk.rows:
            by_attacker.setdefault((row.threat, row.knows, row.wants, row.attack), []).append(
                replace(row, reported=False)
            )
    by_run = [
        replace(row, reported=False, files=(_name(number),)) for number, row in enumerate(reported)
    ]
    attacks = [_together(some) for some in by_attacker.values() if len(some) == len(risks)]
    return replace(
        risks[0],
        why=next((risk.why for risk in risks if risk.why), ""),
        rate=worst.rate,
        control=worst.control,
        excess=worst.excess,
        baseline=worst.baseline,
        rows=(worst, *by_run, *attacks),
        figures={
            name: float(np.mean([risk.figures[name] for risk in risks]))
            for name in risks[0].figures
        },
    )


def _together(rows: Sequence[ThreatRow]) -> ThreatRow:
    """One attacker's success in several runs."""
    rate = _added([row.rate for row in rows])
    if any(row.control is None for row in rows):
        return replace(rows[0], rate=rate, control=None, excess=None)
    control = _added([_rate(row.control) for row in rows])
    baseline = _mean([row.baseline for row in rows])
    return replace(
        rows[0],
        rate=rate,
        control=control,
        excess=statistics.excess(rate, control),
        baseline=baseline,
    )


def _added(rates: Sequence[Rate]) -> Rate:
    return statistics.rate(sum(rate.hits for rate in rates), sum(rate.of for rate in rates))


def _mean(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return float(np.mean(told)) if told else None


def _with_canaries(membership: Risk, first: AuditResult, runs: Sequence[_Run]) -> Risk:
    """Membership with the canaries of all runs as a row and a figure of their own."""
    planted, kept_out = (
        _added([run.planted for run in runs]),
        _added([run.kept_out for run in runs]),
    )
    above = statistics.excess(planted, kept_out)
    columns = tuple(first.utility.by_column)
    row = ThreatRow(
        "data_holder", columns, (), CANARIES, planted, kept_out, above, _MISTAKEN, _MISTAKEN
    )
    return replace(
        membership,
        rows=(*membership.rows, row),
        figures={**membership.figures, CANARIES: planted.value},
    )
