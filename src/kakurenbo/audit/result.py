"""What an audit found, as one typed document: everything is computed here already, and renderers only lay it out.

Words are codes of the message catalogue (``audit.toml``): a document is the same whatever language its reader speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kakurenbo.audit.rates import (
    ABOVE,
    INCONCLUSIVE,
    NO_LIMIT,
    NOT_ASSESSED,
    RISKS,
    WITHIN,
    Excess,
    Rate,
    Risk,
    ThreatRow,
)
from kakurenbo.core import Problem

__all__ = [
    "ABOVE",
    "FEWEST_PEOPLE",
    "INCONCLUSIVE",
    "NOT_ASSESSED",
    "NO_LIMIT",
    "RISKS",
    "UNFIT",
    "WITHIN",
    "AuditResult",
    "Candidate",
    "DrivingColumn",
    "Excess",
    "ExposedRecord",
    "ExposedRecords",
    "FileRisk",
    "Method",
    "Rate",
    "RecodedColumn",
    "RegulationRow",
    "Risk",
    "SelfTest",
    "ThreatRow",
    "TrainedModel",
    "Utility",
    "Verdict",
]

UNFIT = ("holdout_unlike", "holdout_near", "holdout_overlap")
"""Codes of caveats by which a holdout is no control."""
FEWEST_PEOPLE = 40
"""People of a table below whom nothing can be said."""


@dataclass(frozen=True)
class ExposedRecord:
    """A record of the original that the release gives away.

    Attributes
    ----------
    digest : str
        First 16 hexadecimal digits of an HMAC of the record under a key that takes the whole original to make: a report must
        not hold the record itself.
    score, p_value : float
        Of the attack; the p-value is conformal, among people who are not in the original.
    row : int or None
        0-based row of the original; only with ``--show-records``.
    values : mapping of column to text
        The record itself; only with ``--show-records``.
    """

    digest: str
    score: float
    p_value: float
    row: int | None = None
    values: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        shown = {"row": self.row, "values": dict(self.values)} if self.row is not None else {}
        return {"digest": self.digest, "score": self.score, "p_value": self.p_value, **shown}


@dataclass(frozen=True)
class ExposedRecords:
    """The records that can be told to be in the original, false ones at most ``level`` of them on average
    (conformal p-values, Benjamini and Hochberg); None of ``flagged`` where there was no holdout to compare with.

    ``fewest`` is how many must stand out together to be flagged at all: fewer cannot be told from the strangest of so many.
    """

    assessed: bool
    level: float
    tested: int
    flagged: tuple[ExposedRecord, ...] = ()
    fewest: int = 1

    def as_json(self) -> dict[str, Any]:
        return {
            "assessed": self.assessed,
            "flagged": len(self.flagged) if self.assessed else None,
            "tested": self.tested,
            "level": self.level,
            "fewest": self.fewest if self.assessed else None,
            "listed": [record.as_json() for record in self.flagged],
        }


@dataclass(frozen=True)
class DrivingColumn:
    """How much of what one attack gains goes where a column is left out of the release.

    ``with_all`` is the excess of the likelihood attack where every column is there, ``without`` that without this one.
    """

    risk: str
    column: str
    with_all: float
    without: float

    @property
    def share(self) -> float:
        """The part of the excess that goes with the column, from 0 to 1: 0 where the risk is no lower without it."""
        return min(1.0, max(0.0, 1 - self.without / self.with_all))

    def as_json(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "column": self.column,
            "with_all": self.with_all,
            "without": self.without,
            "share": self.share,
        }


@dataclass(frozen=True)
class TrainedModel:
    """How well a model of one column predicts it for people of the holdout, trained on the release and on the original."""

    column: str
    on_release: float
    on_original: float
    majority: float

    def as_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "on_release": self.on_release,
            "on_original": self.on_original,
            "majority": self.majority,
        }


@dataclass(frozen=True)
class Utility:
    """What the release still tells.

    Attributes
    ----------
    marginals, pairs : float
        1 - total variation distance to the original, mean over columns, over pairs of columns: 1 is the same.
    by_column : mapping of column to float
        The same of each column.
    models : tuple of TrainedModel
    rows : int
        Of the release.
    columns_kept : int
        Columns of the original that the release still has.
    """

    marginals: float
    pairs: float
    by_column: Mapping[str, float]
    models: tuple[TrainedModel, ...] = ()
    rows: int = 0
    columns_kept: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "marginals": self.marginals,
            "pairs": self.pairs,
            "by_column": dict(self.by_column),
            "models": [model.as_json() for model in self.models],
            "rows": self.rows,
            "columns_kept": self.columns_kept,
        }


NAMES = "names"
"""How values are replaced where every one has another name, by no rule."""


@dataclass(frozen=True)
class RecodedColumn:
    """A column of the release whose values were given other names, and what was found of it.

    ``rule`` is how: ``names`` of a secret bijection, ``spelling``, a digest such as ``sha256``, or what was done to numbers.
    """

    column: str
    values: int
    recovered: int
    rule: str = NAMES

    def as_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "values": self.values,
            "recovered": self.recovered,
            "rule": self.rule,
        }


@dataclass(frozen=True)
class SelfTest:
    """An attack on a release whose answer is known: ``fresh`` (people nobody knows: must read about 0) or ``planted``
    (targets copied into it: must read about 1).
    """

    name: str
    attack: str
    read: float
    expected: float
    passed: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "attack": self.attack,
            "read": self.read,
            "expected": self.expected,
            "passed": self.passed,
        }


@dataclass(frozen=True)
class Candidate:
    """One of several releases on the frontier of risk and utility.

    ``risk`` is the worst excess over all risks, ``utility`` the mean similarity of pairs; ``on_frontier`` says that no
    other candidate is better in both. ``verdict`` is the code of its own verdict.
    """

    name: str
    risk: float
    utility: float
    exit_code: int
    on_frontier: bool
    verdict: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "risk": self.risk,
            "utility": self.utility,
            "exit_code": self.exit_code,
            "on_frontier": self.on_frontier,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class FileRisk:
    """One of several files, and how many people it links alone.

    ``order`` numbers the files that list people in the same order: equal numbers, one order. ``earlier`` says that it was
    released before.
    """

    name: str
    rows: int
    columns: tuple[str, ...]
    order: int
    earlier: bool
    rate: Rate

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": self.rows,
            "columns": list(self.columns),
            "order": self.order,
            "earlier": self.earlier,
            **self.rate.as_json(),
        }


@dataclass(frozen=True)
class RegulationRow:
    """Which risk speaks to which word of a text; no claim that anything complies.

    ``framework`` and ``term`` are codes, ``audit.regulation.NAME``.
    """

    framework: str
    term: str
    risks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"framework": self.framework, "term": self.term, "risks": list(self.risks)}


@dataclass(frozen=True)
class Verdict:
    """The one sentence: ``audit.verdict.CODE`` with its parameters, and the exit code of the command.

    Exit codes: 0 every upper bound within its limit; 1 some lower bound above its limit; 3 inconclusive or not assessed.
    """

    code: str
    exit_code: int
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "exit_code": self.exit_code, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class Caveat:
    """What could not be attacked, or not honestly: ``audit.caveat.CODE`` with its parameters.

    Attributes
    ----------
    blocks : bool
        Whether nobody may be told, because of it, that every risk is within its limit.
    leaks : bool
        Whether it shows by itself that people are given away.
    """

    code: str
    parameters: Mapping[str, Any]
    blocks: bool
    leaks: bool = False

    def without_cells(self) -> Caveat:
        """The same without the example of a released cell."""
        return replace(
            self,
            parameters={
                name: value for name, value in self.parameters.items() if name != "example"
            },
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "parameters": dict(self.parameters),
            "blocks": self.blocks,
            "leaks": self.leaks,
        }


@dataclass(frozen=True)
class Method:
    """How the figures were made, so that they can be made again.

    Attributes
    ----------
    version : str
        Of kakurenbo.
    seed : int
    options : mapping of str to object
        As given: ``know``, ``secret``, ``id``, ``limits``; of ``--run`` also ``run``, ``runs`` and ``time_limit``.
    files : mapping of str to mapping
        ``original``, ``holdout``, ``release``: name, rows, columns and sha256 of what was read. Of ``--run`` those of the
        first run, and all of them as ``runs``; the holdout is then ``drawn_from`` the original by lot, and the digest is of
        the rows as a CSV table.
    targets : int
        How many records the attacks were tried on.
    """

    version: str
    seed: int
    options: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Any]]
    targets: int

    def as_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "seed": self.seed,
            "options": dict(self.options),
            "files": {role: dict(facts) for role, facts in self.files.items()},
            "targets": self.targets,
        }


@dataclass(frozen=True, repr=False)
class AuditResult:
    """All that an audit of one release found.

    Attributes
    ----------
    verdict : Verdict
    risks : mapping of str to Risk
        By the names of ``RISKS``, every one of them.
    records : ExposedRecords
    driving : tuple of DrivingColumn
        The column that matters most first.
    utility : Utility
    recoded : tuple of RecodedColumn
        What was undone before anything else was measured.
    self_tests : tuple of SelfTest
        Of several runs, of each test the run in which it went worst.
    candidates : tuple of Candidate
        Empty where a single release was audited.
    regulation : tuple of RegulationRow
    method : Method
    not_proved : tuple of str
        Codes, ``audit.not_proved.NAME``: what this does not prove.
    regressions : tuple of str
        Risks that got worse since the baseline that was given.
    notices : tuple of Problem or str
        What was put right while reading: readers are told in their language, and the JSON is English.
    files : tuple of FileRisk
        Each of several files alone; all of them together are the linkability.
    caveats : tuple of Caveat
        What of the release was not attacked.
    """

    verdict: Verdict
    risks: Mapping[str, Risk]
    records: ExposedRecords
    driving: tuple[DrivingColumn, ...]
    utility: Utility
    recoded: tuple[RecodedColumn, ...]
    self_tests: tuple[SelfTest, ...]
    candidates: tuple[Candidate, ...]
    regulation: tuple[RegulationRow, ...]
    method: Method
    not_proved: tuple[str, ...]
    regressions: tuple[str, ...] = ()
    notices: tuple[Problem | str, ...] = ()
    files: tuple[FileRisk, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    def without_cells(self) -> AuditResult:
        """The same without cells of the release: what is told by default, as exposed records are by their hashes alone."""
        return replace(self, caveats=tuple(caveat.without_cells() for caveat in self.caveats))

    def as_json(self) -> dict[str, Any]:
        """The stable form that ``--json`` prints; there is no NaN in it."""
        return {
            "verdict": self.verdict.as_json(),
            "risks": {name: risk.as_json() for name, risk in self.risks.items()},
            "records": self.records.as_json(),
            "driving": [column.as_json() for column in self.driving],
            "utility": self.utility.as_json(),
            "recoded": [column.as_json() for column in self.recoded],
            "self_tests": [test.as_json() for test in self.self_tests],
            "candidates": [candidate.as_json() for candidate in self.candidates],
            "regulation": [row.as_json() for row in self.regulation],
            "method": self.method.as_json(),
            "not_proved": list(self.not_proved),
            "regressions": list(self.regressions),
            "notices": [
                one if isinstance(one, str) else one.in_language("en") for one in self.notices
            ],
            "files": [file.as_json() for file in self.files],
            "caveats": [caveat.as_json() for caveat in self.caveats],
        }

    def write_report(self, path: str | Path, *, language: str | None = None) -> None:
        """Write a report that its owner alone may read: it is as sensitive as the original.

        Parameters
        ----------
        path : path
            Ends in ``.html``, ``.md`` or ``.json``, which says what is written. The JSON is what ``baseline`` takes.
        language : str, optional
            ``en`` or ``ja``: of the Markdown, and in which the page opens; that of the moment by default. The JSON is the same.

        Raises
        ------
        UsageError
            Where the name ends otherwise, or nothing may be written there.
        """
        from kakurenbo.audit.writing import write_report  # which lays out what stands here

        write_report(self, path, language)

    def __repr__(self) -> str:
        """What a plain session shows: the verdict, and a line for each risk."""
        from kakurenbo.audit.report.notebook import plain_audit  # which lays out what stands here

        return plain_audit(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from kakurenbo.audit.report.notebook import (
            notebook_audit,
        )  # which lays out what stands here

        return notebook_audit(self)
