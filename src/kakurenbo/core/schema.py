"""`Schema` and `Column`: which values a table may hold, and the compact integer code of each value.

A small algebra, validated when it is made. Kinds: integer range, category list, date range, decimal, free text.
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message, shorten

Codes = NDArray[Any]
# Up to this many values a range is read by looking each text up; beyond it numbers are parsed and written back.
_LOOKUP_LIMIT = 4096
_WIDE = 10**9  # values of a range whose bounds are no help to who writes something else
_INTEGER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True)
class Column(ABC):
    """One column: a name and a domain.

    A *code* is what a table stores: the position of the value in the domain (0-based) for finite kinds, the number
    itself for decimals, the position in the table's own vocabulary for free text.

    ``alias`` is what a file calls the column, where a contest gives it a second name; it makes no other column.
    """

    name: str
    alias: str = field(default="", kw_only=True, compare=False, repr=False)

    @property
    def heading(self) -> str:
        """The name of the column in files."""
        return self.alias or self.name

    def __post_init__(self) -> None:
        if not self.name:
            raise ParameterError("name", "a column name that is not empty", self.name)

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Number of values in the domain; None where it is not finite."""

    @property
    @abstractmethod
    def domain(self) -> Message:
        """The domain in words, for messages: 'an integer from 17 to 90'."""

    @property
    def spellings(self) -> tuple[str, ...] | None:
        """The text of each code, in order, where the domain is small enough to look texts up in it."""
        return None

    def encode(self, texts: pl.Series) -> pl.Series:
        """Codes of the texts of a file; null where a text is not in the domain."""
        return texts.cast(pl.Enum(self.spellings or ()), strict=False).to_physical()

    @abstractmethod
    def decode(self, codes: Codes) -> pl.Series:
        """The texts that stand in a file for these codes."""

    @abstractmethod
    def values(self, codes: Codes) -> NDArray[Any]:
        """Codes as Python sees the values: numbers, strings, datetime64 days."""

    def explain(self, text: str) -> Message:
        """Why ``text`` is not in the domain, and what to do about it; the sentence shows the text as ``{value}``."""
        if text == "":
            return Message("cell.empty", {"domain": self.domain})
        if text != text.strip():
            return Message("cell.blanks", {"stripped": shorten(text.strip())})
        return Message("cell.not_in_domain", {"domain": self.domain, "advice": self._advice(text)})

    def _advice(self, text: str) -> Message:
        return Message("advice.give", {"domain": self.domain})

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest integer type that holds every code."""
        if self.size is None or self.size > 2**31:
            return np.dtype(np.int64)
        return np.dtype(
            np.int8 if self.size <= 128 else np.int16 if self.size <= 32768 else np.int32
        )


@dataclass(frozen=True)
class Integer(Column):
    """Whole numbers from ``low`` to ``high``, both included; code = value - low.

    Examples
    --------
    >>> Integer("age", 17, 90).size
    74
    >>> from kakurenbo.core.messages import render
    >>> why = Integer("age", 17, 90).explain("39.0")
    >>> render(why.code, {**why.params, "value": "39.0"}, "en")
    Wording(message='39.0 is not an integer from 17 to 90', fix='write 39')
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high < self.low:
            raise ParameterError("high", f"at least {self.low}", self.high)
        if self.low < -(2**62) or self.high >= 2**62:  # so that value - low is a 64-bit number
            raise ParameterError("low and high", "from -2^62 to 2^62 - 1", (self.low, self.high))

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def domain(self) -> Message:
        return Message("domain.integer", {"low": self.low, "high": self.high})

    def explain(self, text: str) -> Message:
        """Bounds that nobody comes near are told to whoever passes them, and to nobody else."""
        why = super().explain(text)
        if "domain" not in why.params or self.size <= _WIDE or _INTEGER.fullmatch(text):
            return why
        told = {**why.params, "domain": Message("domain.any_integer")}
        if told.get("advice", Message("")).code == "advice.give":
            told["advice"] = Message("advice.digits")
        return Message(why.code, told)

    @property
    def spellings(self) -> tuple[str, ...] | None:
        return (
            tuple(map(str, range(self.low, self.high + 1))) if self.size <= _LOOKUP_LIMIT else None
        )

    def encode(self, texts: pl.Series) -> pl.Series:
        if self.size <= _LOOKUP_LIMIT:
            return super().encode(texts)
        numbers = texts.cast(pl.Int64, strict=False)
        # "+3", "03" and "3.0" are refused: a number is only what would be written back the same.
        canonical = (numbers.cast(pl.String) == texts) & numbers.is_between(self.low, self.high)
        return (numbers - self.low).set(~canonical.fill_null(False), None)

    def decode(self, codes: Codes) -> pl.Series:
        return pl.Series(self.name, self.values(codes)).cast(pl.String)

    def values(self, codes: Codes) -> NDArray[Any]:
        return codes.astype(np.int64) + self.low

    def _advice(self, text: str) -> Message:
        try:
            number = float(text)
        except ValueError:
            return super()._advice(text)
        if math.isfinite(number) and number.is_integer() and self.low <= number <= self.high:
            return Message("advice.write", {"text": str(int(number))})
        return super()._advice(text)


@dataclass(frozen=True)
class Category(Column):
    """One of a fixed list of words; code = position in the list.

    Examples
    --------
    >>> from kakurenbo.core.messages import render
    >>> why = Category("sex", ("Female", "Male")).explain("male")
    >>> render(why.code, {**why.params, "value": "male"}, "en")
    Wording(message='"male" is not one of Female, Male', fix='did you mean "Male"?')
    """

    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ParameterError("levels", "a list of different words", self.levels)

    @property
    def size(self) -> int:
        return len(self.levels)

    @property
    def domain(self) -> Message:
        if self.size <= 16:
            return Message("domain.one_of", {"levels": self.levels})
        return Message("domain.one_of_many", {"levels": self.levels[:8], "count": self.size})

    @property
    def spellings(self) -> tuple[str, ...]:
        return self.levels

    def decode(self, codes: Codes) -> pl.Series:
        return pl.Series(self.name, self.levels, dtype=pl.String).gather(codes)

    def values(self, codes: Codes) -> NDArray[Any]:
        return np.asarray(self.levels, dtype=object)[codes]

    def code(self, level: str) -> int:
        """Code of one level."""
        return self.levels.index(level)

    def _advice(self, text: str) -> Message:
        folded = {level.casefold(): level for level in self.levels}
        near = difflib.get_close_matches(text[:200].casefold(), folded, n=1, cutoff=0.75)
        return (
            Message("advice.did_you_mean", {"level": shorten(folded[near[0]])})
            if near
            else Message("advice.letter_for_letter")
        )


@dataclass(frozen=True)
class Date(Column):
    """A day from ``first`` to ``last``, both included; code = days since ``first``.

    ``pattern`` is how a day is written, as for ``strftime``; a text must be what the pattern would write.
    """

    first: datetime.date
    last: datetime.date
    pattern: str = "%Y/%m/%d"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.last < self.first:
            raise ParameterError("last", f"at or after {self.first}", self.last)

    @property
    def size(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def domain(self) -> Message:
        return Message(
            "domain.date",
            {"first": f"{self.first:{self.pattern}}", "last": f"{self.last:{self.pattern}}"},
        )

    @property
    def spellings(self) -> tuple[str, ...]:
        return tuple(
            (self.first + datetime.timedelta(days)).strftime(self.pattern)
            for days in range(self.size)
        )

    def decode(self, codes: Codes) -> pl.Series:
        return pl.Series(self.name, self.spellings, dtype=pl.String).gather(codes)

    def values(self, codes: Codes) -> NDArray[Any]:
        return np.datetime64(self.first, "D") + codes.astype("timedelta64[D]")

    def _advice(self, text: str) -> Message:
        parts = re.fullmatch(r"(\d{4})\D(\d{1,2})\D(\d{1,2})", text)
        if parts:
            try:
                day = datetime.date(*map(int, parts.groups()))
            except ValueError:
                return Message("advice.no_such_day")
            if self.first <= day <= self.last:
                return Message("advice.write", {"text": f"{day:{self.pattern}}"})
        return super()._advice(text)


@dataclass(frozen=True)
class Decimal(Column):
    """A finite number from ``low`` to ``high``; its code is the number itself (float64)."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def size(self) -> None:
        return None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def domain(self) -> Message:
        if self.low == -math.inf and self.high == math.inf:
            return Message("domain.number")
        if self.high == math.inf:
            return Message("domain.number_at_least", {"low": f"{self.low:g}"})
        return Message("domain.number_between", {"low": f"{self.low:g}", "high": f"{self.high:g}"})

    def encode(self, texts: pl.Series) -> pl.Series:
        numbers = texts.cast(pl.Float64, strict=False)
        permitted = numbers.is_finite() & numbers.is_between(self.low, self.high)
        return numbers.set(~permitted.fill_null(False), None)

    def decode(self, codes: Codes) -> pl.Series:
        return pl.Series(self.name, codes).cast(pl.String)

    def values(self, codes: Codes) -> NDArray[Any]:
        return codes


@dataclass(frozen=True)
class Text(Column):
    """Any text that is not empty; the table keeps its own sorted vocabulary, and a code is a position in it."""

    @property
    def size(self) -> None:
        return None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int32)

    @property
    def domain(self) -> Message:
        return Message("domain.text")

    def encode(self, texts: pl.Series) -> pl.Series:
        return texts.set(texts == "", None)

    def decode(self, codes: Codes) -> pl.Series:
        raise TypeError("free text is decoded by its table, which holds the vocabulary")

    def values(self, codes: Codes) -> NDArray[Any]:
        raise TypeError("free text is decoded by its table, which holds the vocabulary")


class Schema:
    """The columns of a table, in order.

    Examples
    --------
    >>> schema = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
    >>> schema.names
    ('age', 'sex')
    >>> schema["sex"].size
    2
    """

    __slots__ = ("_position", "columns")

    def __init__(self, columns: Iterable[Column]) -> None:
        self.columns: tuple[Column, ...] = tuple(columns)
        self._position = {column.name: index for index, column in enumerate(self.columns)}
        if not self.columns or len(self._position) < len(self.columns):
            raise ParameterError(
                "columns",
                "at least one column, no name twice",
                [column.name for column in self.columns],
            )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._position)

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns in files."""
        return tuple(column.heading for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        return self.columns[self._position[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._position

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.columns == other.columns

    def __hash__(self) -> int:
        return hash(self.columns)

    def __repr__(self) -> str:
        return f"Schema({', '.join(self.names)})"

    def __reduce__(self) -> tuple[type[Schema], tuple[tuple[Column, ...]]]:
        return type(self), (self.columns,)

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of some columns, in the given order; an unknown name is an error that lists the known ones."""
        names = tuple(names)
        for name in names:
            if name not in self:
                raise ParameterError("columns", f"among {', '.join(self.names)}", name)
        return Schema(self[name] for name in names)
