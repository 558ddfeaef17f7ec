"""Interfaces of methods: `Anonymizer` with its `Release` and `Mechanism`, and `Attack`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import Method

Knowledge = TypeVar("Knowledge", contravariant=True)
Guess = TypeVar("Guess", covariant=True)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A randomizer that treats cells independently: for each column, how values turn into values.

    Attributes
    ----------
    transitions : mapping of column name to array, shape (size, size)
        ``transitions[c][x, y]`` = P(released code y | original code x); rows sum to 1. A column that is not named is
        released as it is.
    inputs : mapping of column name to array of bool, shape (size,)
        Which codes can occur at all before the release; all where a column is not named.
    """

    transitions: Mapping[str, NDArray[np.float64]]
    inputs: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, matrix in self.transitions.items():
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or (matrix < 0).any():
                raise ParameterError(
                    "transitions", f"a square matrix of probabilities for {name}", matrix.shape
                )
            if not np.allclose(matrix.sum(axis=1), 1):
                raise ParameterError(
                    "transitions", f"rows that sum to 1 for {name}", matrix.sum(axis=1)
                )

    def then(self, later: Mechanism | None) -> Mechanism | None:
        """Chain one mechanism after the other; unknown where the later one is."""
        if later is None:
            return None
        chained = {
            name: self.transitions[name] @ matrix if name in self.transitions else matrix
            for name, matrix in later.transitions.items()
        }
        return Mechanism({**self.transitions, **chained}, self.inputs)

    def column_epsilon(self, name: str) -> float:
        """Local differential privacy of one column: the largest log ratio of two rows in any output value."""
        matrix = self.transitions.get(name)
        if matrix is None:
            return math.inf
        matrix = matrix[self.inputs.get(name, np.ones(len(matrix), dtype=bool))]
        reachable = matrix[:, matrix.max(axis=0) > 0]
        if (reachable == 0).any():
            return math.inf
        return float(np.log(reachable.max(axis=0) / reachable.min(axis=0)).max())

    def cell_probabilities(self) -> dict[str, tuple[float, float]]:
        """Return P(keep a value) and P(change it to one particular other value) of each column.

        Columns that treat their values differently, or have one value only, are left out.

        Examples
        --------
        >>> Mechanism({"sex": np.array([[0.75, 0.25], [0.25, 0.75]])}).cell_probabilities()
        {'sex': (0.75, 0.25)}
        """
        probabilities = {}
        for name, matrix in self.transitions.items():
            if len(matrix) < 2:
                continue
            keep, change = float(matrix[0, 0]), float(matrix[0, 1])
            if np.allclose(matrix, change + np.eye(len(matrix)) * (keep - change)):
                probabilities[name] = keep, change
        return probabilities

    def epsilon(self, names: tuple[str, ...]) -> float:
        """Local differential privacy of a whole record of these columns (sequential composition)."""
        return math.fsum(self.column_epsilon(name) for name in names)


@dataclass(frozen=True, eq=False)
class Release:
    """What an anonymizer gives out.

    Attributes
    ----------
    tables : tuple of Table
        One table; ten where the contest releases ten overlapping files.
    mechanism : Mechanism or None
        How the cells were randomized, where that is known.
    claims : mapping of str to float
        Guarantees that hold by construction, under the questionnaire's names (``epsilon``, ``k``).
    rows : array of int64 or None
        Of a method that drops rows: the row of the input that each row of the release was, from 0. None where there is a row
        for each row of the input, or none of them comes from one.
    steps : tuple of (str, Mechanism or None)
        Of a pipeline: the name and the mechanism of each step.
    trace : tuple of tuple of float
        Of a method that iterates: the utility of each table before the first and after each iteration.
    """

    tables: tuple[Table, ...]
    mechanism: Mechanism | None = None
    claims: Mapping[str, float] = field(default_factory=dict)
    rows: NDArray[np.int64] | None = None
    steps: tuple[tuple[str, Mechanism | None], ...] = ()
    trace: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        mechanism: Mechanism | None = None,
        claims: Mapping[str, float] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Release:
        """Return a release of a single table."""
        return cls((table,), mechanism, dict(claims or {}), rows)

    @classmethod
    def keeping(
        cls, table: Table, kept: NDArray[np.bool_], claims: Mapping[str, float] | None = None
    ) -> Release:
        """Return the rows of a table for which ``kept`` says so, as they are."""
        return cls.of(table.take(kept), claims=claims, rows=np.flatnonzero(kept))

    def following(self, earlier: Release) -> Release:
        """Return this release of a later step, with its rows counted as the input of the ``earlier`` step has them."""
        if earlier.rows is None:
            return self
        return replace(self, rows=earlier.rows if self.rows is None else earlier.rows[self.rows])

    @property
    def table(self) -> Table:
        """The only table of the release."""
        (table,) = self.tables
        return table


class Anonymizer(Method, ABC):
    """A frozen dataclass of parameters; calling it makes a release. The same table and stream give the same bytes."""

    takes_release: ClassVar[bool] = False
    """Whether ``after`` repairs a release: brings it closer to the original, with which it compares it."""
    iterates: ClassVar[bool] = False
    """Whether releases have a ``trace``."""

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Return whether this method, with parameters of some kind, can run on tables of ``schema``.

        Unless a method says otherwise it takes every table whose columns are all categories or ranges of integers. The tables
        may have fewer levels in a category than ``schema`` has; names and kinds of columns are the same.
        """
        return all(isinstance(column, Category | Integer) for column in schema)

    def unfit(self, schema: Schema) -> str | Message:
        """Return why this method with these parameters does not fit tables of ``schema``; empty where it does."""
        return "" if self.accepts(schema) else Message("misfit.columns")

    def lacking(self) -> str | Message:
        """Return what must be installed before this method can run, in a sentence; empty where everything is there."""
        return ""

    @abstractmethod
    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        """Anonymize ``table`` with randomness from ``rng`` only."""

    def after(self, original: Table, release: Release, rng: np.random.Generator) -> Release:
        """Run this method as a later step, on what earlier steps made of ``original``, which a repair compares with."""
        return self(release.table, rng)

    def mechanism(self, table: Table) -> Mechanism | None:
        """Return the mechanism this method would use, with ``table`` in place of the original where it looks at data.

        Attackers are given this for a method that was declared in the questionnaire: they have only the release.
        """
        return None


class Attack(Method, ABC, Generic[Knowledge, Guess]):
    """A frozen dataclass of parameters; calling it makes a guess."""

    knowledge: ClassVar[type]
    """What it is given: it plays every rulebook that gives its attackers this type, or a subclass of it."""

    completes: ClassVar[bool] = False
    """Whether :meth:`completed` fills in what attackers are given."""

    @abstractmethod
    def __call__(self, knowledge: Knowledge, rng: np.random.Generator) -> Guess:
        """Guess the secret from what attackers are given, with randomness from ``rng`` only."""

    def completed(self, knowledge: Knowledge, guess: Guess) -> Table:  # type: ignore[misc]
        """Return the table that attackers are given, with the guess in place of what is hidden in it."""
        raise NotImplementedError


def has_columns(schema: Schema, wanted: Schema) -> bool:
    """Return whether ``schema`` has a column of the same name and kind for each of the ``wanted`` ones; it may have more."""
    return all(
        column.name in schema and isinstance(schema[column.name], type(column)) for column in wanted
    )


def unknown_column(schema: Schema, names: Iterable[str] | None) -> str | Message:
    """Return what to say of the first name that is no column of ``schema``; empty where all are.

    Examples
    --------
    >>> print(unknown_column(Schema([Integer("age", 0, 99)]), ["age", "foo"]))
    there is no column 'foo'; there are age
    """
    for name in names or ():
        if name not in schema:
            return Message("misfit.no_column", {"name": name, "names": schema.names})
    return ""
