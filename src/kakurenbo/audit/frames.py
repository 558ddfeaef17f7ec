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
from kakurenbo.errors import ParameterError
from kakurenbo.messages import Phrase, text
from kakurenbo.tables import Problems, Read, Source, refused, sources_of
from kakurenbo.tables.containers import has_gzip_notes, hidden_in_parquet
from kakurenbo.tables.lines import cells_of, count_byte, split
from kakurenbo.tables.problems import ProblemCollector, Severity
from kakurenbo.tables.texts import note_line_ends, plain_text, unix_lines

MOST_BYTES = 250 * 1000 * 1000  # after unpacking
MOST_CELLS = 20 * 1000 * 1000
MOST_COLUMNS = 256
_PARQUET = b"PAR1"
_OF_SYSTEMS = {".DS_Store", ".directory", ".gitignore", ".gitkeep", ".gitattributes"}  # hidden files that hold no tables
_PLAIN_METADATA = {"ARROW:schema"}  # what writers of Parquet say of the columns alone
_SEPARATORS = {";": Phrase("audit.semicolons"), "\t": Phrase("audit.tabs"), "|": Phrase("audit.bars")}


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
        told: dict[str, Any] = {"name": self.name, "rows": len(self), "columns": list(self.columns), "sha256": self.digest}
        files = {"files": [part.facts() for part in self.parts]} if self.parts else {}
        return told | ({"cells": _digest_of(self.cells)} if cells else {}) | files


def read_frame(path: str | Path, *, several: bool = False) -> Read[Frame] | Problems:
    """One table from a file, or from all files of a folder that have the same columns, one below the other.

    Parameters
    ----------
    several : bool
        Whether the files of a folder may be about the same people: of different columns, or of the same in one order.

    Returns
    -------
    Read of Frame, or Problems
        Everything that is wrong, file by file.
    """
    if links := _links(Path(path)):
        return links
    sources = sources_of(path)
    if not sources:
        return refused("audit.empty_folder", Path(path).name, severity=Severity.MALFORMED)
    readings = [_read_source(source) for source in sources]
    if problems := Problems.of(*readings):
        return problems
    frames = [reading.value for reading in readings if isinstance(reading, Read)]
    notices = tuple(notice for reading in readings if isinstance(reading, Read) for notice in reading.notices)
    joined = _joined(Path(path).name, frames, several=several)
    if isinstance(joined, Problems):
        return joined
    beside = [name for frame in frames for name in frame.beside]
    return Read(replace(joined, beside=(*beside, *_not_read(Path(path)))), notices)


def _links(path: Path) -> Problems:
    """Refusals of the links in a folder: what they lead to need not be of whoever made the folder, and is not in it."""
    links = [file.name for file in sorted(path.iterdir()) if file.is_symlink()] if path.is_dir() else []
    return Problems.of(*(refused("audit.link", name, severity=Severity.MALFORMED) for name in links))


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
    if isinstance(data, pl.DataFrame):
        table = data
    elif hasattr(data, "columns") and hasattr(data, "to_dict"):
        table = _from_pandas(data)
    else:
        raise ParameterError(name, text("expects.frame"), type(data).__name__)
    if not table.height:
        raise ParameterError(name, text("expects.frame_with_records"), text("expects.no_records"))
    found = ProblemCollector(name)
    cells = _texts(table, found)
    if found:
        raise ParameterError(name, text("expects.frame_of_values"), found.problems()[0].column)
    return Frame(name, cells, _digest_of(cells))


def _from_pandas(data: Any) -> pl.DataFrame:
    """Column by column, so that pandas needs no further library to hand its values over."""
    columns = {}
    for label in data.columns:
        series = data[label]
        # What pandas writes for a whole number among missing ones is a float; a person would write the whole number.
        values = [None if missing else value for value, missing in zip(series.tolist(), series.isna().tolist(), strict=True)]
        if values and all(value is None or (isinstance(value, float) and value.is_integer()) for value in values):
            values = [None if value is None else int(value) for value in values]
        columns[str(label)] = pl.Series(
            str(label), [None if value is None else str(value) for value in values], dtype=pl.String
        )
    return pl.DataFrame(columns)


def _digest_of(cells: pl.DataFrame) -> str:
    return hashlib.sha256(cells.write_csv().encode()).hexdigest()


def _read_source(source: Source) -> Read[Frame] | Problems:
    data = source.read(MOST_BYTES)
    if isinstance(data, Problems):
        return data
    found = ProblemCollector(source.name)
    cells = _parquet(data, found) if data.startswith(_PARQUET) else _csv(data, found)
    if cells is not None and not found and not cells.height:
        found.add("audit.no_records", severity=Severity.MALFORMED)
    if cells is None or found:
        return found.problems()
    note_comma_numbers(cells, found)
    beside = (*_parquet_notes(found), *_packed_notes(source))
    return Read(Frame(source.name, cells, hashlib.sha256(data).hexdigest(), beside=beside), found.notices)


def _parquet_notes(found: ProblemCollector) -> Iterator[str]:
    """What a Parquet file holds beside its cells, by what was told of it."""
    for notice in found.notices:
        if notice.code == "audit.parquet_notes":
            yield from notice.parameters["keys"]
        elif notice.code == "audit.parquet_levels":
            yield f"Enum {notice.column}"
        elif notice.code == "audit.parquet_hidden":
            yield "Parquet"


def _packed_notes(source: Source) -> Iterator[str]:
    """What a packed file says beside what is packed."""
    packed = source.read_packed(MOST_BYTES) if source.name.endswith(".gz") else b""
    if isinstance(packed, bytes) and has_gzip_notes(packed):
        yield "gzip"


def _csv(data: bytes, found: ProblemCollector) -> pl.DataFrame | None:
    text = plain_text(data, found)
    if text is None:
        return None
    note_line_ends(text, found)
    text = joined_cells(unix_lines(text), found)
    head = text[: text.find(b"\n")] if b"\n" in text else text
    names = cells_of(head[: MOST_COLUMNS * 1000].decode("utf-8", "replace"))
    if names is None:
        found.add("line.open_quote", row=1, value=head[:200].decode("utf-8", "replace"), severity=Severity.MALFORMED)
        return None
    if len(names) == 1 and (sign := next((sign for sign in _SEPARATORS if sign in names[0]), None)):
        told: dict[str, Any] = {"sign": _SEPARATORS[sign], "delimiter": repr(sign), "path": shlex.quote(found.file)}
        found.add("audit.separator", row=1, value=names[0], severity=Severity.MALFORMED, **told)
        return None
    if not _names_are_fit(names, found) or not _size_is_fit(count_byte(text, b"\n") - 1, len(names), found):
        return None
    lines = split(text, len(names), found)
    cells = lines.without_first().cells
    cells.columns = names
    return cells


def _parquet(data: bytes, found: ProblemCollector) -> pl.DataFrame | None:
    try:
        names = list(pl.read_parquet_schema(io.BytesIO(data)))
        rows = int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())
        if not _names_are_fit(names, found) or not _size_is_fit(rows, len(names), found):
            return None
        if notes := sorted(set(pl.read_parquet_metadata(io.BytesIO(data))) - _PLAIN_METADATA):
            found.add("audit.parquet_notes", severity=Severity.NOTICE, keys=notes)
        if hidden := hidden_in_parquet(data):
            found.add("audit.parquet_hidden", severity=Severity.NOTICE, bytes=hidden)
        table = pl.read_parquet(io.BytesIO(data))
        _note_unused_levels(table, found)
        return _texts(table, found)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError):
        found.add("audit.not_parquet", severity=Severity.MALFORMED)
        return None


def _note_unused_levels(table: pl.DataFrame, found: ProblemCollector) -> None:
    """A notice for each column whose type lists values that no row has: they stand in the file all the same."""
    for series in table:
        if isinstance(series.dtype, pl.Enum) and (unused := len(series.dtype.categories) - series.drop_nulls().n_unique()):
            found.add("audit.parquet_levels", column=series.name, severity=Severity.NOTICE, count=unused)


def _names_are_fit(names: Sequence[str], found: ProblemCollector) -> bool:
    if len(names) > MOST_COLUMNS:
        found.add("audit.too_many_columns", row=1, severity=Severity.MALFORMED, count=len(names), limit=MOST_COLUMNS)
        return False
    for place, name in enumerate(names):
        if not name.strip():
            found.add("audit.unnamed_column", row=1, severity=Severity.MALFORMED, place=place + 1)
        elif name in names[:place]:
            found.add("audit.column_twice", row=1, column=name, value=name, severity=Severity.MALFORMED)
    return not found


def _size_is_fit(rows: int, columns: int, found: ProblemCollector) -> bool:
    if rows * columns > MOST_CELLS:
        found.add("audit.too_many_cells", severity=Severity.MALFORMED, count=rows * columns, limit=MOST_CELLS)
    return not found


def _texts(table: pl.DataFrame, found: ProblemCollector) -> pl.DataFrame:
    """Every column as texts; whole numbers that a format stores as floats are written without the point."""
    columns = []
    for series in table:
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            found.add("audit.nested_column", column=series.name, value=str(series.dtype), severity=Severity.MALFORMED)
            continue
        own = series
        if own.dtype.is_float() and (own.is_null() | own.is_infinite() | own.is_nan() | (own == own.round())).all():
            whole = own.fill_nan(None)
            small = (whole.abs() < 2**53).fill_null(True).all()
            own = whole.cast(pl.Int64) if small else whole
        columns.append(own.cast(pl.String).fill_null("").alias(series.name))
    return pl.DataFrame(columns)


def _joined(name: str, frames: Sequence[Frame], *, several: bool) -> Frame | Problems:
    first = frames[0]
    if len(frames) == 1:
        return first
    if several and _about_the_same_people(frames):
        if (count := sum(len(frame) * len(frame.columns) for frame in frames)) > MOST_CELLS:
            return refused("audit.too_many_cells", name, severity=Severity.MALFORMED, count=count, limit=MOST_CELLS)
        digest = hashlib.sha256("".join(frame.digest for frame in frames).encode()).hexdigest()
        return Frame(name, first.cells, digest, tuple(frames))
    for frame in frames[1:]:
        if set(frame.columns) != set(first.columns):
            other = sorted(set(frame.columns) ^ set(first.columns))
            return refused("audit.other_columns", frame.name, severity=Severity.MALFORMED, first=first.name, columns=other)
    if sum(len(frame) for frame in frames) * len(first.columns) > MOST_CELLS:
        count = sum(len(frame) for frame in frames) * len(first.columns)
        return refused("audit.too_many_cells", name, severity=Severity.MALFORMED, count=count, limit=MOST_CELLS)
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
    from kakurenbo.attacks.reconstruction.alignment import SIGNIFICANT, column_agreement

    return any(
        column_agreement(*codes_of_one_kind(first.cells[name], frame.cells[name])) > SIGNIFICANT
        for frame in frames[1:]
        for name in first.columns
    )


def codes_of_one_kind(one: pl.Series, other: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two columns of texts as whole numbers, equal for equal texts."""
    known = pl.Enum(pl.concat([one, other]).unique())
    codes = [texts.cast(known).to_physical().to_numpy().astype(np.int64) for texts in (one, other)]
    return codes[0], codes[1]
