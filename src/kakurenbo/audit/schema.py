"""The schema of any table, inferred from its texts, and the TOML file in which a person puts it right.

Kinds: integer, decimal, date, category, text. A missing value is a level of its own in every kind.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from kakurenbo.audit.frames import Frame
from kakurenbo.core import (
    Category,
    Column,
    Date,
    Decimal,
    InputError,
    Integer,
    Schema,
    Source,
    Text,
    read_toml,
)
from kakurenbo.core.messages import text
from kakurenbo.core.problems import ProblemCollector, Severity

KINDS = ("integer", "decimal", "date", "category", "text")
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "?")
"""Texts that stand for a missing value."""
DATE_PATTERNS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%Y年%m月%d日",
)
"""How dates may be written; days and months also without a leading zero, as spreadsheets write them."""
MOST_LEVELS = (
    1000  # different texts of a category; a column of more, most of them different, is free text
)
_INTEGER = r"^[+-]?[0-9]{1,18}$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class ColumnSchema:
    """One column.

    Attributes
    ----------
    name, kind : str
    missing : tuple of str
        The texts that stand for a missing value and occur.
    low, high : float or None
        Of numbers; whole for integers.
    levels : tuple of str
        Of categories, sorted; free text has none.
    pattern : str
        Of dates, as for ``strftime``.
    first, last : date or None
        Of dates.
    """

    name: str
    kind: str
    missing: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    levels: tuple[str, ...] = ()
    pattern: str = ""
    first: datetime.date | None = None
    last: datetime.date | None = None

    @property
    def numeric(self) -> bool:
        """Whether values have an order and a distance."""
        return self.kind in ("integer", "decimal", "date")

    def numbers(self, texts: pl.Series) -> pl.Series:
        """The texts of a numeric column as numbers (dates as days), null where a text is none."""
        if self.kind == "date":
            return dates_of(texts, self.pattern).to_physical().cast(pl.Float64)
        numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
        return numbers.set(~numbers.is_finite().fill_null(False), None)

    def as_column(self) -> Column:
        """The column as methods for tables know it. One with missing values is a category of all that occurs."""
        if self.kind == "category" or (self.missing and self.levels):
            return Category(self.name, tuple(dict.fromkeys((*self.levels, *self.missing))))
        if self.kind == "integer":
            return Integer(self.name, int(self.low or 0), int(self.high or 0))
        if self.kind == "decimal":
            return Decimal(
                self.name, *(float(bound) for bound in (self.low, self.high) if bound is not None)
            )
        if self.kind == "date" and self.first is not None and self.last is not None:
            return Date(self.name, self.first, self.last, self.pattern)
        return Text(self.name)


@dataclass(frozen=True)
class TableSchema:
    """The columns of a table, in order."""

    columns: tuple[ColumnSchema, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def __iter__(self) -> Iterator[ColumnSchema]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> ColumnSchema:
        return self.columns[self.names.index(name)]

    def without(self, name: str) -> TableSchema:
        """The other columns."""
        return TableSchema(tuple(column for column in self.columns if column.name != name))

    def only(self, names: Sequence[str]) -> TableSchema:
        """Some columns, in this table's order."""
        return TableSchema(tuple(column for column in self.columns if column.name in names))

    def as_schema(self) -> Schema:
        """As methods for tables know it."""
        return Schema(column.as_column() for column in self.columns)

    def as_toml(self) -> str:
        """The file to edit; :func:`read_schema` takes it back."""
        head = "".join(f"# {line}\n" for line in text("schema.head").splitlines())
        return "\n".join([head, *(_column_toml(column) for column in self.columns)])


def dates_of(texts: pl.Series, pattern: str, read_by: str = "") -> pl.Series:
    """The dates that texts are, null where one is none; a day or a month may lack its leading zero.

    Parameters
    ----------
    texts : Series of str
    pattern : str
        How they are written, as for ``strftime``.
    read_by : str, optional
        The pattern of whole dates of which the texts are the beginnings.
    """
    whole = (
        texts
        if not read_by
        else texts + datetime.date(2000, 1, 1).strftime(read_by.removeprefix(pattern))
    )
    dates = whole.str.to_date(read_by or pattern, strict=False)
    # Read as dates only what is written as one: Polars would take the beginning of a longer text.
    same = _unpadded(dates.dt.strftime(pattern)) == _unpadded(texts)
    return dates.set(~same.fill_null(False), None)


def _unpadded(texts: pl.Series) -> pl.Series:
    """Texts without the leading zeros of numbers of two digits."""
    return texts.str.replace_all(r"(?-u:\b)0([0-9])(?-u:\b)", "$1")


def infer_schema(*frames: Frame) -> TableSchema:
    """The schema of the columns of the first frame, by what stands in all frames that have them."""
    columns = []
    for name in frames[0].columns:
        texts = pl.concat([frame.cells[name] for frame in frames if name in frame.columns])
        columns.append(_infer(name, texts))
    return TableSchema(tuple(columns))


def _infer(name: str, texts: pl.Series) -> ColumnSchema:
    different = texts.unique().sort()
    stripped = different.str.strip_chars()
    is_missing = stripped.is_in(MISSING)
    missing = tuple(different.filter(is_missing).to_list())
    told = different.filter(~is_missing)
    if not len(told):
        return ColumnSchema(name, "category", missing, levels=missing)
    found = _infer_number(name, told) or _infer_date(name, told)
    if found is not None:
        # Levels only where a missing value makes the column a category for methods that know no missing numbers.
        levels = tuple(told.to_list()) if missing and len(told) <= MOST_LEVELS else ()
        return replace(found, missing=missing, levels=levels)
    if len(told) > MOST_LEVELS and 2 * len(told) > len(texts):
        return ColumnSchema(name, "text", missing)
    return ColumnSchema(name, "category", missing, levels=tuple(told.to_list()))


def _infer_number(name: str, told: pl.Series) -> ColumnSchema | None:
    plain = told.str.strip_chars()
    whole = bool(plain.str.contains(_INTEGER).all())
    # Numbers with leading zeros are codes: 01234 is no number to whoever wrote it.
    if bool(plain.str.contains(r"^[+-]?0[0-9]").any()) or not (
        whole or plain.str.contains(_DECIMAL).all()
    ):
        return None
    numbers = ColumnSchema(name, "decimal").numbers(told)
    if numbers.null_count():
        return None
    low, high = (float(bound) for bound in (numbers.min(), numbers.max()))  # type: ignore[arg-type]
    if whole and max(abs(low), abs(high)) < 2**53:
        return ColumnSchema(name, "integer", low=int(low), high=int(high))
    return ColumnSchema(name, "decimal", low=low, high=high)


def _infer_date(name: str, told: pl.Series) -> ColumnSchema | None:
    for pattern in DATE_PATTERNS:
        column = ColumnSchema(name, "date", pattern=pattern)
        days = column.numbers(told)
        if not days.null_count():
            limits = (int(day) for day in (days.min(), days.max()))  # type: ignore[arg-type]
            first, last = (datetime.date(1970, 1, 1) + datetime.timedelta(day) for day in limits)
            return replace(column, first=first, last=last)
    return None


# -- the file -----------------------------------------------------------------------------------------------------------


def _column_toml(column: ColumnSchema) -> str:
    lines = [f"[{_key(column.name)}]", f"kind = {_quoted(column.kind)}"]
    if column.missing:
        lines.append(f"missing = {_quoted(list(column.missing))}")
    if column.low is not None and column.high is not None:
        lines += [f"low = {column.low!r}", f"high = {column.high!r}"]
    if column.pattern and column.first and column.last:
        lines += [
            f"pattern = {_quoted(column.pattern)}",
            f"first = {column.first}",
            f"last = {column.last}",
        ]
    if column.levels:
        lines.append(f"levels = {_quoted(list(column.levels))}")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(value: object) -> str:
    # A JSON text is a TOML text, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_settings(source: Source) -> dict[str, Any]:
    """A TOML file that somebody may leave out: of one that is empty no records are wanted."""
    try:
        return read_toml(source)
    except InputError as error:
        if error.problems[0].code != "document.empty":
            raise
        code, severity = "audit.empty_settings", Severity.MALFORMED
        raise InputError.of(code, source.name, severity=severity) from error


def read_schema(source: Source) -> TableSchema:
    """The schema of a file that :meth:`TableSchema.as_toml` wrote, and that somebody may have edited."""
    content, found = read_settings(source), ProblemCollector(source.name)
    columns = [_read_column(name, entry, found) for name, entry in content.items()]
    if not columns:
        found.add("audit.no_columns", severity=Severity.MALFORMED)
    found.check()
    return TableSchema(tuple(column for column in columns if column is not None))


_FIELDS: Mapping[str, tuple[type, ...]] = {
    "kind": (str,),
    "missing": (list,),
    "low": (int, float),
    "high": (int, float),
    "levels": (list,),
    "pattern": (str,),
    "first": (datetime.date,),
    "last": (datetime.date,),
}


def _read_column(name: str, entry: Any, found: ProblemCollector) -> ColumnSchema | None:
    if not isinstance(entry, dict) or entry.get("kind") not in KINDS:
        given = entry.get("kind") if isinstance(entry, dict) else entry
        found.add(
            "audit.schema_kind",
            column=name,
            value=str(given),
            severity=Severity.MALFORMED,
            kinds=KINDS,
        )
        return None
    for field, value in entry.items():
        wrong_list = isinstance(value, list) and not all(isinstance(part, str) for part in value)
        if (
            field not in _FIELDS
            or not isinstance(value, _FIELDS[field])
            or isinstance(value, bool)
            or wrong_list
        ):
            found.add(
                "audit.schema_field",
                column=name,
                value=field,
                severity=Severity.MALFORMED,
                fields=tuple(_FIELDS),
            )
            return None
    known = {
        **entry,
        "missing": tuple(entry.get("missing", ())),
        "levels": tuple(entry.get("levels", ())),
    }
    column = ColumnSchema(name, **known)
    if not _bounds_are_fit(column):
        found.add(
            "audit.schema_bounds", column=name, value=column.kind, severity=Severity.MALFORMED
        )
        return None
    return column


def _bounds_are_fit(column: ColumnSchema) -> bool:
    """Whether a column has what its kind needs, the lower bound not above the upper one."""
    if column.kind in ("integer", "decimal"):
        return column.low is not None and column.high is not None and column.low <= column.high
    if column.kind == "date":
        return (
            bool(column.pattern)
            and column.first is not None
            and column.last is not None
            and column.first <= column.last
        )
    return column.kind != "category" or bool(
        _all_different(column.levels) and (column.levels or column.missing)
    )


def _all_different(levels: Sequence[str]) -> bool:
    return len(set(levels)) == len(levels)
