"""The local store: real data sets, imported once, under ``$KAKURENBO_HOME`` or the platform's data folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import platformdirs

from kakurenbo.datasets import adult, nhanes, online_retail, ratings
from kakurenbo.datasets.xport import is_xport
from kakurenbo.errors import UsageError
from kakurenbo.messages import Phrase
from kakurenbo.tables import (
    Layout,
    Problems,
    Read,
    Schema,
    Severity,
    Source,
    Table,
    json_bytes,
    json_object,
    notices_of,
    read_file,
    read_table,
    refused,
    table_bytes,
    write_file,
)
from kakurenbo.tables.sources import FOLDER_FILE_LIMIT

_MANIFEST = "manifest.json"

Importer = Callable[[Sequence[Source]], Read[Mapping[str, Table]] | Problems]
"""Reads original files and gives the tables to keep, by the name of their part."""


def store_folder() -> Path:
    """Where imported data sets lie."""
    home = os.environ.get("KAKURENBO_HOME")
    return Path(home) if home else platformdirs.user_data_path("kakurenbo", appauthor=False)


def imported_names() -> tuple[str, ...]:
    """Data sets that have been imported."""
    return tuple(name for name in sorted(IMPORTERS) if (store_folder() / name / _MANIFEST).exists())


def import_dataset(name: str, paths: Sequence[Path]) -> Read[dict[str, Any]] | Problems:
    """Import a data set from its original files; the manifest is written last, so a broken import does not count.

    Returns
    -------
    Read of dict, or Problems
        Rows and SHA-256 of each part and where it was put; or what is wrong with the files.
    """
    if name not in IMPORTERS:
        raise UsageError(f"no data set is called {name!r}; there are: {', '.join(sorted(IMPORTERS))}")
    tables = IMPORTERS[name]([Source.of(path) for path in paths])
    if isinstance(tables, Problems):
        return tables
    folder = store_folder() / name
    manifest = {}
    for part, table in tables.value.items():
        data = table_bytes(table, header=True)
        write_file(folder / f"{part}.csv", data)
        manifest[part] = {"rows": len(table), "sha256": hashlib.sha256(data).hexdigest()}
    write_file(folder / _MANIFEST, json_bytes(manifest))
    for path in folder.glob("*.csv"):  # of an import before this one
        if path.stem not in manifest:
            path.unlink()
    facts = online_retail.compared_with_contest(tables.value["T"]) if name == "online_retail" else {}
    return Read({"dataset": name, "folder": str(folder), **manifest, **facts}, tables.notices)


def load_part(name: str, part: str, schema: Schema) -> Table | None:
    """One table of an imported data set; None where it was not imported, an error where it was damaged since."""
    folder = store_folder() / name
    if not (folder / _MANIFEST).exists():
        return None
    try:
        expected = json_object(folder / _MANIFEST, "data import")[part]["sha256"]
        data = read_file(folder / f"{part}.csv", FOLDER_FILE_LIMIT)
    except (UsageError, KeyError, TypeError) as error:
        raise _unreadable(name, error) from error
    if hashlib.sha256(data).hexdigest() != expected:
        raise UsageError(f"the imported data set {name} was changed since its import; import it again")
    table = read_table(Source(f"{part}.csv", data), schema, Layout(header=True))
    if isinstance(table, Problems):
        raise UsageError(f"the imported data set {name} is of another version; import it again")
    return table.value


def _unreadable(name: str, error: Exception) -> UsageError:
    return UsageError(f"the imported data set {name} cannot be read ({type(error).__name__}); import it again")


def load_adult() -> adult.Adult | None:
    """The imported Census Income rows, or None."""
    train, test = (load_part("adult", part, adult.SCHEMA) for part in ("train", "test"))
    return None if train is None or test is None else adult.Adult(train, test)


def load_ratings() -> tuple[Table, ...] | None:
    """The imported tables B in the order of their import, or None; see :func:`kakurenbo.datasets.ratings.read_ratings`."""
    folder = store_folder() / "ratings"
    if not (folder / _MANIFEST).exists():
        return None
    try:
        parts = list(json_object(folder / _MANIFEST, "data import"))
    except UsageError as error:
        raise _unreadable("ratings", error) from error
    tables = (load_part("ratings", part, ratings.widest_schema()) for part in parts)
    return tuple(ratings.narrowed(table) for table in tables if table is not None)


def _import_adult(sources: Sequence[Source]) -> Read[Mapping[str, Table]] | Problems:
    tables: dict[str, Table] = {}
    readings = [adult.read_part(source) for source in sources]
    found = [reading for reading in readings if isinstance(reading, Problems)]
    for source, reading in zip(sources, readings, strict=True):
        if isinstance(reading, Problems):
            continue
        part, table = reading.value
        expected = adult.COMPLETE_ROWS[part]
        if part in tables:
            found.append(refused("adult.part_twice", source.name, severity=Severity.MALFORMED, part=part))
        elif len(table) != expected:
            found.append(_wrong_rows(source, part, len(table), expected))
        tables[part] = table
    missing = [part for part in adult.COMPLETE_ROWS if part not in tables]
    if missing and not found:
        parts = Phrase("adult.both_parts") if len(missing) > 1 else missing[0]
        found.append(refused("adult.part_missing", "adult", severity=Severity.MALFORMED, parts=parts))
    return Problems.of(*found) or Read(tables, notices_of(*readings))


def _wrong_rows(source: Source, part: str, count: int, expected: int) -> Problems:
    return refused("adult.wrong_rows", source.name, severity=Severity.MALFORMED, part=part, count=count, expected=expected)


def _import_online_retail(sources: Sequence[Source]) -> Read[Mapping[str, Table]] | Problems:
    if len(sources) != 1:
        return refused("retail.one_file", "online_retail", count=len(sources))
    return online_retail.read_online_retail(sources[0]).map(lambda table: {"T": table})


def _import_ratings(sources: Sequence[Source]) -> Read[Mapping[str, Table]] | Problems:
    """One or several tables B, of 50 rows or more each."""
    tables: dict[str, Table] = {}
    digests: dict[str, str] = {}  # of a table: the file that held it first
    readings = [ratings.read_ratings(source) for source in sources]
    found = [reading for reading in readings if isinstance(reading, Problems)]
    for number, (source, reading) in enumerate(zip(sources, readings, strict=True), start=1):
        if isinstance(reading, Problems):
            continue
        first = digests.setdefault(reading.value.digest(), source.name)
        if len(digests) <= len(tables):
            found.append(refused("ratings.twice", source.name, first=first))
        tables[f"B{number:02d}"] = reading.value
    return Problems.of(*found) or Read(tables, notices_of(*readings))


def _import_nhanes(sources: Sequence[Source]) -> Read[Mapping[str, Table]] | Problems:
    """The files of a survey as they were published, or one table B that was made from them."""
    first = sources[0].read()
    if isinstance(first, Problems):
        return first
    made = nhanes.read_health(sources[0], 200) if len(sources) == 1 and not is_xport(first) else nhanes.read_survey(sources)
    return made.map(lambda table: {"B": table})


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {"adult": _import_adult, "nhanes": _import_nhanes, "online_retail": _import_online_retail, "ratings": _import_ratings}
)
"""Every data set that ``data import`` knows."""
