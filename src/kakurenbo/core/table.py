"""`Table`: a schema and its columns as compact codes. Immutable; every operation returns a new table and keeps row order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core.errors import ParameterError
from kakurenbo.core.schema import Category, Codes, Column, Decimal, Schema, Text

T = TypeVar("T")


class Table:
    """Rows of one schema.

    Parameters
    ----------
    schema : Schema
    codes : mapping of str to array, shape (n,)
        The codes of each column (see :class:`Column`); copied to the column's own type and made read-only.
    vocabularies : mapping of str to sequence of str, optional
        For each free-text column the sorted texts that its codes point to.

    Examples
    --------
    >>> from kakurenbo.core import Category, Integer, Schema
    >>> schema = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
    >>> table = Table.from_rows(schema, [(39, "Male"), (50, "Female")])
    >>> table.codes["age"].tolist(), table.codes["sex"].tolist()
    ([22, 33], [1, 0])
    >>> table.take([1]).rows()
    [(50, 'Female')]
    """

    __slots__ = ("_cache", "codes", "schema", "vocabularies")

    def __init__(
        self,
        schema: Schema,
        codes: Mapping[str, Codes],
        vocabularies: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.schema = schema
        self.vocabularies: Mapping[str, tuple[str, ...]] = MappingProxyType(
            {name: tuple(texts) for name, texts in (vocabularies or {}).items() if name in schema}
        )
        self.codes: Mapping[str, Codes] = MappingProxyType(
            {column.name: self._frozen(column, np.asarray(codes[column.name])) for column in schema}
        )
        lengths = {name: len(array) for name, array in self.codes.items()}
        if len(set(lengths.values())) > 1:
            raise ParameterError("codes", "columns of one length", lengths)
        self._cache: dict[Hashable, Any] = {}

    def _frozen(self, column: Column, codes: Codes) -> Codes:
        size = len(self.vocabularies[column.name]) if isinstance(column, Text) else column.size
        # Looked at before the cast: a code that is too large must not wrap around into the domain.
        if size is not None and len(codes) and (codes.min() < 0 or codes.max() >= size):
            raise ParameterError(
                "codes", f"from 0 to {size - 1} in column {column.name}", (codes.min(), codes.max())
            )
        if codes.flags.writeable or codes.dtype != column.dtype:
            codes = codes.astype(column.dtype)
            codes.setflags(write=False)
        return codes

    @classmethod
    def from_texts(cls, schema: Schema, texts: Mapping[str, Iterable[str]]) -> Table:
        """A table from the texts of its cells; a text outside its domain is an error (see ``read_table`` for files)."""
        encoded = {}
        for column in schema:
            series = pl.Series(column.name, list(texts[column.name]), dtype=pl.String)
            encoded[column.name] = column.encode(series)
            if encoded[column.name].null_count():
                bad = series.filter(encoded[column.name].is_null())[0]
                raise ParameterError(column.name, column.domain.text("en"), bad)
        return cls.from_encoded(schema, encoded)

    @classmethod
    def from_rows(cls, schema: Schema, rows: Iterable[Sequence[object]]) -> Table:
        """A table from Python rows, values in schema order."""
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        return cls.from_texts(
            schema,
            {name: map(str, values) for name, values in zip(schema.names, columns, strict=True)},
        )

    @classmethod
    def from_encoded(cls, schema: Schema, encoded: Mapping[str, pl.Series]) -> Table:
        """A table from what :meth:`Column.encode` gave; free text gets its vocabulary here."""
        codes: dict[str, Codes] = {}
        vocabularies: dict[str, list[str]] = {}
        for column in schema:
            series = encoded[column.name]
            if isinstance(column, Text):
                vocabulary = series.unique().sort()
                vocabularies[column.name] = vocabulary.to_list()
                series = series.cast(pl.Enum(vocabulary)).to_physical()
            codes[column.name] = series.to_numpy()
        return cls(schema, codes, vocabularies)

    @classmethod
    def stack(cls, tables: Sequence[Table]) -> Table:
        """The rows of several tables of one schema, one below the other."""
        schema = tables[0].schema
        for table in tables:
            if table.schema != schema:
                raise ParameterError(
                    "tables", f"tables of the columns {', '.join(schema.names)}", table.schema.names
                )
        codes: dict[str, Codes] = {}
        vocabularies: dict[str, list[str]] = {}
        for column in schema:
            if isinstance(column, Text):
                merged = cls.from_encoded(
                    Schema([column]),
                    {column.name: pl.concat([t.texts(column.name) for t in tables])},
                )
                codes[column.name] = merged.codes[column.name]
                vocabularies[column.name] = list(merged.vocabularies[column.name])
            else:
                codes[column.name] = np.concatenate([table.codes[column.name] for table in tables])
        return cls(schema, codes, vocabularies)

    # -- looking --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.schema.names)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table) or self.schema != other.schema or len(self) != len(other):
            return NotImplemented if not isinstance(other, Table) else False
        return all(
            np.array_equal(self.values(column.name), other.values(column.name))
            if isinstance(column, Text)
            else np.array_equal(self.codes[column.name], other.codes[column.name])
            for column in self.schema
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.schema, dict(self.codes), dict(self.vocabularies))

    def values(self, name: str) -> NDArray[Any]:
        """The values of a column as Python sees them, shape (n,)."""
        column = self.schema[name]
        if isinstance(column, Text):
            return np.asarray(self.vocabularies[name], dtype=object)[self.codes[name]]
        return column.values(self.codes[name])

    def texts(self, name: str) -> pl.Series:
        """The cells of a column as they stand in a file."""
        column = self.schema[name]
        if isinstance(column, Text):
            return pl.Series(name, self.vocabularies[name], dtype=pl.String).gather(
                self.codes[name]
            )
        return column.decode(self.codes[name])

    def same_values(self, other: Table) -> bool:
        """Whether the rows of ``other`` have the same values in this table's columns, whatever the domains are."""
        return len(self) == len(other) and all(
            np.array_equal(self.values(name), other.values(name)) for name in self.schema.names
        )

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as Python tuples; for small tables and tests."""
        return list(zip(*(self.values(name).tolist() for name in self.schema.names), strict=True))

    def frequencies(self, name: str) -> NDArray[np.int64]:
        """How often each value of the domain occurs, shape (size,)."""
        size = self.schema[name].size
        if size is None:
            raise ParameterError("name", "a column with a finite domain", name)
        return np.bincount(self.codes[name], minlength=size)

    def dummies(
        self,
        *,
        drop_first: bool = False,
        names: Iterable[str] | None = None,
        dtype: Any = np.float64,
    ) -> NDArray[Any]:
        """The numeric view: numbers as they are, each category as one 0/1 column per level.

        Parameters
        ----------
        drop_first : bool
            Leave out the first level of each category.
        names : iterable of str, optional
            Only these columns, in this order.

        Returns
        -------
        array, shape (n, d), column-major
            Columns named by :func:`dummy_names`.
        """
        names = self.schema.names if names is None else tuple(names)

        def stacked(_: Table) -> NDArray[Any]:
            parts = [self._numeric(self.schema[name], drop_first, dtype) for name in names]
            matrix = np.asfortranarray(np.hstack(parts))
            matrix.setflags(write=False)
            return matrix

        return self.derived((names, drop_first, np.dtype(dtype)), stacked)

    def derived(self, what: Hashable, make: Callable[[Table], T]) -> T:
        """What ``make`` computes of this table; kept with the table under the name ``what``, and computed once."""
        if what not in self._cache:
            self._cache[what] = make(self)
        found: T = self._cache[what]
        return found

    def _numeric(self, column: Column, drop_first: bool, dtype: Any) -> NDArray[Any]:
        codes = self.codes[column.name]
        if not isinstance(column, Category):
            return column.values(codes).astype(dtype)[:, None]
        levels = np.arange(int(drop_first), column.size)
        indicators: NDArray[Any] = (codes[:, None] == levels).astype(dtype)
        return indicators

    def keys(self, names: Iterable[str] | None = None) -> NDArray[np.int64]:
        """One number per row that is equal exactly for rows equal on ``names`` (all columns by default), shape (n,)."""
        key = np.zeros(len(self), dtype=np.int64)
        span = 1
        for name in self.schema.names if names is None else names:
            codes, size = self._discrete(name)
            if span > (2**62) // size:
                # Too many combinations for 63 bits: renumber the ones that occur.
                distinct, key = np.unique(key, return_inverse=True)
                span = len(distinct)
            key = key * size + codes
            span *= size
        return key

    def _discrete(self, name: str) -> tuple[Codes, int]:
        column = self.schema[name]
        if isinstance(column, Decimal):
            distinct, codes = np.unique(self.codes[name], return_inverse=True)
            return codes, max(1, len(distinct))
        size = len(self.vocabularies[name]) if isinstance(column, Text) else column.size
        return self.codes[name], max(1, size or 0)

    def digest(self) -> str:
        """SHA-256 of the table as a file without header, hexadecimal."""
        from kakurenbo.core.csv import table_bytes

        return hashlib.sha256(table_bytes(self)).hexdigest()

    # -- new tables from old --------------------------------------------------------------------------------------

    def take(self, rows: Any) -> Table:
        """The given rows (numbers, or a mask as long as the table), in the given order."""
        rows = np.asarray(rows)
        if rows.size == 0:
            rows = rows.astype(np.int64)
        return Table(
            self.schema,
            {name: codes[rows] for name, codes in self.codes.items()},
            self.vocabularies,
        )

    def select(self, names: Iterable[str]) -> Table:
        """Some columns, in the given order."""
        return Table(self.schema.select(names), self.codes, self.vocabularies)

    def with_codes(self, changed: Mapping[str, Codes]) -> Table:
        """The same table with other codes in some columns."""
        for name in changed:
            self.schema.select([name])
        return Table(self.schema, {**self.codes, **changed}, self.vocabularies)


def dummy_names(
    schema: Schema, *, drop_first: bool = False, names: Iterable[str] | None = None
) -> tuple[tuple[str, str | None], ...]:
    """(column, level) of each column of :meth:`Table.dummies`; level is None for a number."""
    return tuple(
        (column.name, level)
        for column in (schema if names is None else schema.select(names))
        for level in (column.levels[int(drop_first) :] if isinstance(column, Category) else (None,))
    )
