"""The local store: real data sets, imported once, under ``$KAKURENBO_HOME`` or the platform's data folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs

from kakurenbo.core import (
    InputError,
    Layout,
    Schema,
    Source,
    Table,
    json_bytes,
    json_object,
    read_file,
    read_table,
    table_bytes,
    write_file,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.files import FOLDER_FILE_LIMIT
from kakurenbo.data import adult, health, online_retail, ratings

_MANIFEST = "manifest.json"

Importer = Callable[[Sequence[Source]], Mapping[str, Table]]
"""Reads original files; returns the tables to store by the name of their part."""

IMPORTERS: Mapping[str, Importer] = {
    "adult": adult.import_files,
    "nhanes": health.import_files,
    "online_retail": online_retail.import_files,
    "ratings": ratings.import_files,
}
"""Every data set that ``data import`` knows."""


def store_folder() -> Path:
    """Return the folder of imported data sets."""
    home = os.environ.get("KAKURENBO_HOME")
    return Path(home) if home else platformdirs.user_data_path("kakurenbo", appauthor=False)


def imported_names() -> tuple[str, ...]:
    """Return the data sets that have been imported."""
    return tuple(name for name in sorted(IMPORTERS) if (store_folder() / name / _MANIFEST).exists())


def import_dataset(name: str, paths: Sequence[Path]) -> dict[str, Any]:
    """Import a data set from its original files; the manifest is written last, so a broken import does not count.

    Returns
    -------
    dict
        Rows and SHA-256 of each part and where it was put.
    """
    if name not in IMPORTERS:
        raise UsageError("error.no_dataset", name=repr(name), names=sorted(IMPORTERS))
    tables = IMPORTERS[name]([Source.of(path) for path in paths])
    folder = store_folder() / name
    manifest = {}
    for part, table in tables.items():
        data = table_bytes(table, header=True)
        write_file(folder / f"{part}.csv", data)
        manifest[part] = {"rows": len(table), "sha256": hashlib.sha256(data).hexdigest()}
    write_file(folder / _MANIFEST, json_bytes(manifest))
    for path in folder.glob("*.csv"):  # of an import before this one
        if path.stem not in manifest:
            path.unlink()
    is_shop = name == "online_retail"
    facts = online_retail.compare_with_contest(tables["T"]) if is_shop else {}
    return {"dataset": name, "folder": str(folder), **manifest, **facts}


def load_part(name: str, part: str, schema: Schema) -> Table | None:
    """Load one table of an imported data set; None where it was not imported, an error where it was damaged since."""
    manifest = _manifest(name)
    if manifest is None:
        return None
    try:
        expected = manifest[part]["sha256"]
        data = read_file(store_folder() / name / f"{part}.csv", FOLDER_FILE_LIMIT)
    except (UsageError, KeyError, TypeError) as error:
        raise _unreadable(name, error) from error
    if hashlib.sha256(data).hexdigest() != expected:
        raise UsageError("error.dataset_changed", name=name)
    try:
        return read_table(Source(f"{part}.csv", data), schema, Layout(header=True))
    except InputError as error:
        raise UsageError("error.dataset_version", name=name) from error


def load_adult() -> adult.Adult | None:
    """Load the imported Census Income rows, or None."""
    train, test = (load_part("adult", part, adult.SCHEMA) for part in ("train", "test"))
    return None if train is None or test is None else adult.Adult(train, test)


def load_ratings() -> tuple[Table, ...] | None:
    """Load the imported tables B in the order of their import, or None."""
    manifest = _manifest("ratings")
    if manifest is None:
        return None
    tables = (load_part("ratings", part, ratings.widest_schema()) for part in manifest)
    return tuple(ratings.narrowed(table) for table in tables if table is not None)


def _manifest(name: str) -> dict[str, Any] | None:
    path = store_folder() / name / _MANIFEST
    try:
        return json_object(path, "data import") if path.exists() else None
    except UsageError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> UsageError:
    return UsageError("error.dataset_unreadable", name=name, reason=type(error).__name__)
