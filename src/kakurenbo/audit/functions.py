"""The user's own anonymizer as a function of a data frame, of the library and the types that the original has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kakurenbo.audit.frames import Frame, frame_of
from kakurenbo.audit.schema import TableSchema

_SEED = "seed"


@dataclass(frozen=True, eq=False)
class Calling:
    """A function that makes a release of a data frame.

    Attributes
    ----------
    function : callable
        ``function(frame)``, or ``function(frame, seed=number)`` where it has such a parameter.
    data : Polars or pandas data frame, or path
        The original as it was given: the function gets frames like it.
    original : Frame
        The same as texts.
    schema : TableSchema
        By which the columns of a file are numbers.
    """

    function: Callable[..., object]
    data: Any
    original: Frame
    schema: TableSchema

    def facts(self) -> dict[str, Any]:
        return {"run": getattr(self.function, "__qualname__", type(self.function).__qualname__)}

    def release_of(self, given: pl.DataFrame, seed: int) -> Frame:
        """What the function makes of a table; what it raises goes to its caller."""
        more = {_SEED: seed} if _SEED in inspect.signature(self.function).parameters else {}
        return frame_of("release", self.function(self._like_the_original(given), **more))

    def _like_the_original(self, given: pl.DataFrame) -> Any:
        """Texts as a data frame like the original's: every text occurs there, and is the value that stands there."""
        if isinstance(self.data, str | Path | Frame):
            return pl.DataFrame([self._typed(given[name]) for name in given.columns])
        places = {name: self._places(given[name]) for name in given.columns}
        if isinstance(self.data, pl.DataFrame):
            return pl.DataFrame([self.data[name].gather(rows) for name, rows in places.items()])
        labels = {str(label): label for label in self.data.columns}
        columns = {
            labels[name]: self.data[labels[name]].take(rows.to_list()).array
            for name, rows in places.items()
        }
        return type(self.data)(columns)

    def _places(self, texts: pl.Series) -> pl.Series:
        """A row of the original that has each of the texts."""
        own = self.original.cells[texts.name]
        first = own.to_frame().with_row_index("row").unique(texts.name, keep="first")
        return texts.replace_strict(first[texts.name], first["row"], return_dtype=pl.Int64)

    def _typed(self, texts: pl.Series) -> pl.Series:
        """A column of a file: numbers as numbers, and nothing where a cell is empty."""
        told = self.schema[texts.name] if texts.name in self.schema.names else None
        if told is None or told.kind not in ("integer", "decimal"):
            return texts.replace("", None)
        numbers = told.numbers(texts)
        return numbers.cast(pl.Int64) if told.kind == "integer" else numbers
