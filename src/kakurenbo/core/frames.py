"""Anonymized data frames: values in the types that the original has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True, eq=False)
class AnonymizedFrame:
    """A release of a data frame.

    Attributes
    ----------
    frame : Polars or pandas data frame
        The released rows, in the library and as far as possible in the types of the original.
    claims : mapping of str to float
        Guarantees that hold by construction, such as ``epsilon`` and ``k``.
    seed : int
        With it the method makes the same release again.
    unchanged : tuple of str
        Columns that are released row by row as they were.
    """

    frame: Any
    claims: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    unchanged: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.frame)

    def _repr_html_(self) -> str:
        html: str = self.frame._repr_html_()
        return html


def frame_like(cells: pl.DataFrame, original: Any) -> Any:
    """Return texts as a data frame of the library and the types of another one.

    A column keeps its texts where a method made values that its type does not have.
    """
    if isinstance(original, pl.DataFrame):
        return pl.DataFrame([_typed(cells[name], original[name].dtype) for name in cells.columns])
    labels = {str(label): label for label in original.columns}
    columns = {labels[name]: cells[name].replace("", None).to_list() for name in cells.columns}
    frame = type(original)(columns)
    for label in frame.columns:
        kind = original[label].dtype
        values = frame[label]
        if kind.kind == "b":
            values = values.map({"True": True, "False": False})
        try:
            frame[label] = values.astype(kind)
        except (ValueError, TypeError):
            continue
    return frame


def _typed(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    values = texts if kind == pl.String else texts.replace("", None)
    if kind == pl.Boolean:
        return values.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
    try:
        if kind.is_temporal():
            return values.str.strptime(kind)  # type: ignore[arg-type]
        return values.cast(pl.Int64).cast(kind) if kind.is_integer() else values.cast(kind)
    except pl.exceptions.PolarsError:
        return values
