"""Any table in: CSV (also ``.gz``), Parquet, Polars and pandas frames, all as the texts that a person would write.

What cannot be a table is refused before it takes memory: by its bytes, its cells and its columns.
"""

from __future__ import annotations

import hashlib
import io
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.cells import joined_cells
from kakurenbo.audit.comma_numbers import note_comma_numbers
from kakurenbo.core import (
    InputError,
    Problem,
    Source,
    add_notices,
    collect_notices,
    gather,
    notice,
    sources_of,
)
from kakurenbo.core.csv import cells_of, count_byte, split_lines
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.frames import AnonymizedFrame
from kakurenbo.core.messages import Message, text
from kakurenbo.core.problems import ProblemCollector, Severity
from kakurenbo.core.texts import note_line_ends, plain_text, unix_lines

MOST_BYTES = 250 * 1000 * 1000  # after unpacking
MOST_CELLS = 20 * 1000 * 1000
MOST_COLUMNS = 256
_PARQUET = b"PAR1"
_OF_SYSTEMS = {
    ".DS_Store",
    ".directory",
    ".gitignore",
    ".gitkeep",
    ".gitattributes",
}  # hidden files that hold no tables
_PLAIN_METADATA = {"ARROW:schema"}  # what writers of Parquet say of the columns alone
_SEPARATORS = {
    ";": Message("audit.semicolons"),
    "\t": Message("audit.tabs"),
    "|": Message("audit.bars"),
}


@dataclass(frozen=True, eq=False)
class Frame:
    """A table as texts.

    Attributes
    ----------
    name : str
        Of the file, for messages and for the report.
    cells : DataFrame of String
        Missing cells are empty texts.
    digest : str
        sha256 of the bytes that were read; of the cells, where there was no file.
    parts : tuple of Frame
        The files that it is made of, where these have different columns of the same people; ``cells`` are then the first's
        until they are put side by side.
    beside : tuple of str
        What lies beside the table and is no part of it, by name: notes in a file, files that are not read.
    """

    name: str
    cells: pl.DataFrame
    digest: str
    parts: tuple[Frame, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.cells.columns)

    def __len__(self) -> int:
        return self.cells.height

    def facts(self, *, cells: bool = False) -> dict[str, Any]:
        """What a report says of it; with a digest of its ``cells``, the same for a file and a data frame of one content."""
        told: dict[str, Any] = {
            "name": self.name,
            "rows": len(self),
            "columns": list(self.columns),
            "sha256": self.digest,
        }
        files = {"files": [part.facts() for part in self.parts]} if self.parts else {}
        return told | ({"cells": _digest_of(self.cells)} if cells else {}) | files


def read_frame(path: str | Path, *, several: bool = False) -> Frame:
    """One table from a file, or from all files of a folder that have the same columns, one below the other.

    Parameters
    ----------
    several : bool
        Whether the files of a folder may be about the same people: of different columns, or of the same in one order.

    Raises
    ------
    InputError
        With everything that is wrong, file by file.
    """
    _check_links(Path(path))
    sources = sources_of(path)
    if not sources:
        raise InputError.of("audit.empty_folder", Path(path).name, severity=Severity.MALFORMED)
    with gather() as problems:
        frames = [problems.of(_read_source, source) for source in sources]
    joined = _joined(Path(path).name, frames, several=several)
    beside = [name for frame in frames for name in frame.beside]
    return replace(joined, beside=(*beside, *_not_read(Path(path))))


def _check_links(path: Path) -> None:
    """Refuse links in a folder: what they lead to need not be of whoever made the folder, and is not in it."""
    links = (
        [file.name for file in sorted(path.iterdir()) if file.is_symlink()] if path.is_dir() else []
    )
    if links:
        raise InputError(
            Problem("audit.link", file=name, severity=Severity.MALFORMED) for name in links
        )


def _not_read(path: Path) -> Iterator[str]:
    """Files of a folder that are no part of the table: hidden ones, and those of folders in it."""
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.is_dir() and any(file.iterdir()):
                yield f"{file.name}/"
            elif file.name.startswith(".") and file.name not in _OF_SYSTEMS:
                yield file.name


def frame_of(name: str, data: object) -> Frame:
    """The frame of a Polars or pandas data frame.

    Raises
    ------
    ParameterError
        Where it is neither, or has columns that are no plain values.
    """
    if isinstance(data, Frame):
        return data
    if isinstance(data, AnonymizedFrame):
        data = data.frame
    if isinstance(data, pl.DataFrame):
        table = data
    elif hasattr(data, "columns") and hasattr(data, "to_dict"):
        table = _from_pandas(data)
    else:
        raise ParameterError(name, Message("expects.frame"), type(data).__name__)
    if not table.height:
        raise ParameterError(
            name, Message("expects.frame_with_records"), text("expects.no_records")
        )
    found = ProblemCollector(name)
    cells = _texts(table, found)
    if found:
        raise ParameterError(name, Message("expects.frame_of_values"), found.problems()[0].column)
    return Frame(name, cells, _digest_of(cells))


def _from_pandas(data: Any) -> pl.DataFrame:
    """Column by column, so that pandas needs no further library to hand its values over."""
    columns = {}
    for label in data.columns:
        series = data[label]
        # What pandas writes for a whole number among missing ones is a float; a person would write the whole number.
        values = [
            None if missing else value
            for value, missing in zip(series.tolist(), series.isna().tolist(), strict=True)
        ]
        if values and all(
            value is None or (isinstance(value, float) and value.is_integer()) for value in values
        ):
            values = [None if value is None else int(value) for value in values]
        columns[str(label)] = pl.Series(
            str(label), [None if value is None else str(value) for value in values], dtype=pl.String
        )
    return pl.DataFrame(columns)


def _digest_of(cells: pl.DataFrame) -> str:
    return hashlib.sha256(cells.write_csv().encode()).hexdigest()


def _read_source(source: Source) -> Frame:
    data = source.read(MOST_BYTES)
    found = ProblemCollector(source.name)
    with collect_notices() as notices:
        cells = _parquet(data, found) if data.startswith(_PARQUET) else _csv(data, found)
        found.check()
        if not cells.height:
            raise InputError.of("audit.no_records", source.name, severity=Severity.MALFORMED)
        note_comma_numbers(cells, source.name)
    add_notices(notices)
    digest, beside = hashlib.sha256(data).hexdigest(), tuple(_parquet_notes(notices))
    return Frame(source.name, cells, digest, beside=beside)


def _parquet_notes(notices: Sequence[Problem]) -> Iterator[str]:
    """What a Parquet file holds beside its cells, by what was told of it."""
    for told in notices:
        if told.code == "audit.parquet_notes":
            yield from told.params["keys"]
        elif told.code == "audit.parquet_levels":
            yield f"Enum {told.column}"


def _csv(data: bytes, found: ProblemCollector) -> pl.DataFrame:
    text = plain_text(data, found.file)
    note_line_ends(text, found.file)
    text = joined_cells(unix_lines(text), found.file)
    head = text[: text.find(b"\n")] if b"\n" in text else text
    names = cells_of(head[: MOST_COLUMNS * 1000].decode("utf-8", "replace"))
    if names is None:
        found.add(
            "line.open_quote",
            row=1,
            value=head[:200].decode("utf-8", "replace"),
            severity=Severity.MALFORMED,
        )
        raise found.error()
    if len(names) == 1 and (sign := next((sign for sign in _SEPARATORS if sign in names[0]), None)):
        told: dict[str, Any] = {
            "sign": _SEPARATORS[sign],
            "delimiter": repr(sign),
            "path": shlex.quote(found.file),
        }
        found.add("audit.separator", row=1, value=names[0], severity=Severity.MALFORMED, **told)
        raise found.error()
    _check_names(names, found)
    _check_size(count_byte(text, b"\n") - 1, len(names), found.file)
    lines = split_lines(text, len(names), found)
    cells = lines.without_first().cells
    cells.columns = names
    return cells


def _parquet(data: bytes, found: ProblemCollector) -> pl.DataFrame:
    try:
        names = list(pl.read_parquet_schema(io.BytesIO(data)))
        rows = int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())
        _check_names(names, found)
        _check_size(rows, len(names), found.file)
        if notes := sorted(set(pl.read_parquet_metadata(io.BytesIO(data))) - _PLAIN_METADATA):
            notice("audit.parquet_notes", file=found.file, keys=notes)
        table = pl.read_parquet(io.BytesIO(data))
        _note_unused_levels(table, found.file)
        return _texts(table, found)
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:
        found.add("audit.not_parquet", severity=Severity.MALFORMED)
        raise found.error() from error


def _note_unused_levels(table: pl.DataFrame, file: str) -> None:
    """A notice for each column whose type lists values that no row has: they stand in the file all the same."""
    for series in table:
        if isinstance(series.dtype, pl.Enum) and (
            unused := len(series.dtype.categories) - series.drop_nulls().n_unique()
        ):
            notice("audit.parquet_levels", file=file, column=series.name, count=unused)


def _check_names(names: Sequence[str], found: ProblemCollector) -> None:
    if len(names) > MOST_COLUMNS:
        found.add(
            "audit.too_many_columns",
            row=1,
            severity=Severity.MALFORMED,
            count=len(names),
            limit=MOST_COLUMNS,
        )
        raise found.error()
    for place, name in enumerate(names):
        if not name.strip():
            found.add("audit.unnamed_column", row=1, severity=Severity.MALFORMED, place=place + 1)
        elif name in names[:place]:
            found.add(
                "audit.column_twice", row=1, column=name, value=name, severity=Severity.MALFORMED
            )
    found.check()


def _check_size(rows: int, columns: int, file: str) -> None:
    if (count := rows * columns) > MOST_CELLS:
        code, severity = "audit.too_many_cells", Severity.MALFORMED
        raise InputError.of(code, file, severity=severity, count=count, limit=MOST_CELLS)


def _texts(table: pl.DataFrame, found: ProblemCollector) -> pl.DataFrame:
    """Every column as texts; whole numbers that a format stores as floats are written without the point."""
    columns = []
    for series in table:
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            found.add(
                "audit.nested_column",
                column=series.name,
                value=str(series.dtype),
                severity=Severity.MALFORMED,
            )
            continue
        own = series
        if (
            own.dtype.is_float()
            and (own.is_null() | own.is_infinite() | own.is_nan() | (own == own.round())).all()
        ):
            whole = own.fill_nan(None)
            small = (whole.abs() < 2**53).fill_null(True).all()
            own = whole.cast(pl.Int64) if small else whole
        columns.append(own.cast(pl.String).fill_null("").alias(series.name))
    return pl.DataFrame(columns)


def _joined(name: str, frames: Sequence[Frame], *, several: bool) -> Frame:
    first = frames[0]
    if len(frames) == 1:
        return first
    if several and _about_the_same_people(frames):
        _check_size(1, sum(len(frame) * len(frame.columns) for frame in frames), name)
        digest = hashlib.sha256("".join(frame.digest for frame in frames).encode()).hexdigest()
        return Frame(name, first.cells, digest, tuple(frames))
    for frame in frames[1:]:
        if set(frame.columns) != set(first.columns):
            other = sorted(set(frame.columns) ^ set(first.columns))
            raise InputError.of(
                "audit.other_columns",
                frame.name,
                severity=Severity.MALFORMED,
                first=first.name,
                columns=other,
            )
    _check_size(sum(len(frame) for frame in frames), len(first.columns), name)
    cells = pl.concat([frame.cells.select(first.columns) for frame in frames])
    digest = hashlib.sha256("".join(frame.digest for frame in frames).encode()).hexdigest()
    return Frame(name, cells, digest)


def _about_the_same_people(frames: Sequence[Frame]) -> bool:
    """Whether files have different columns, or the same ones that agree row by row more than chance allows."""
    first = frames[0]
    if any(set(frame.columns) != set(first.columns) for frame in frames):
        return True
    if any(len(frame) != len(first) for frame in frames):
        return False
    from kakurenbo.attacks.records.alignment import SIGNIFICANT, column_agreement

    return any(
        column_agreement(*codes_of_one_kind(first.cells[name], frame.cells[name])) > SIGNIFICANT
        for frame in frames[1:]
        for name in first.columns
    )


def codes_of_one_kind(
    one: pl.Series, other: pl.Series
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two columns of texts as whole numbers, equal for equal texts."""
    known = pl.Enum(pl.concat([one, other]).unique())
    codes = [texts.cast(known).to_physical().to_numpy().astype(np.int64) for texts in (one, other)]
    return codes[0], codes[1]
