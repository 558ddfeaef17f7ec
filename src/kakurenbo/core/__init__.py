"""Tables, files, problems, messages.

Modules are loaded on first use: ``--help`` needs no NumPy.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kakurenbo.core.archives import archive_bytes, is_archive, open_archive
    from kakurenbo.core.csv import Layout, Row, read_cells, read_table, table_bytes
    from kakurenbo.core.documents import json_object, read_json, read_toml
    from kakurenbo.core.files import (
        README_FILES,
        STANDARD_INPUT,
        STANDARD_OUTPUT,
        Folder,
        Source,
        check_file,
        check_free,
        check_place,
        few_names,
        json_bytes,
        read_file,
        read_folder,
        sources_of,
        write_file,
        write_folder,
    )
    from kakurenbo.core.messages import Message
    from kakurenbo.core.problems import (
        LISTED_PER_FILE,
        InputError,
        Problem,
        ProblemCollector,
        Problems,
        Severity,
        add_notices,
        collect_notices,
        gather,
        group_notices,
        notice,
        report_in,
    )
    from kakurenbo.core.schema import Category, Codes, Column, Date, Decimal, Integer, Schema, Text
    from kakurenbo.core.statistics import Coarsening, Moments
    from kakurenbo.core.table import Table, dummy_names

_MODULES = {
    "kakurenbo.core.archives": ("archive_bytes", "is_archive", "open_archive"),
    "kakurenbo.core.documents": ("json_object", "read_json", "read_toml"),
    "kakurenbo.core.messages": ("Message",),
    "kakurenbo.core.statistics": ("Coarsening", "Moments"),
    "kakurenbo.core.problems": (
        "LISTED_PER_FILE",
        "InputError",
        "Problem",
        "ProblemCollector",
        "Problems",
        "Severity",
        "add_notices",
        "collect_notices",
        "gather",
        "notice",
        "report_in",
        "group_notices",
    ),
    "kakurenbo.core.csv": ("Layout", "Row", "read_cells", "read_table", "table_bytes"),
    "kakurenbo.core.schema": (
        "Category",
        "Codes",
        "Column",
        "Date",
        "Decimal",
        "Integer",
        "Schema",
        "Text",
    ),
    "kakurenbo.core.files": (
        "README_FILES",
        "STANDARD_INPUT",
        "STANDARD_OUTPUT",
        "Folder",
        "Source",
        "check_file",
        "check_free",
        "check_place",
        "few_names",
        "json_bytes",
        "read_file",
        "read_folder",
        "sources_of",
        "write_file",
        "write_folder",
    ),
    "kakurenbo.core.table": ("Table", "dummy_names"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "LISTED_PER_FILE",
    "README_FILES",
    "STANDARD_INPUT",
    "STANDARD_OUTPUT",
    "Category",
    "Coarsening",
    "Codes",
    "Column",
    "Date",
    "Decimal",
    "Folder",
    "InputError",
    "Integer",
    "Layout",
    "Message",
    "Moments",
    "Problem",
    "ProblemCollector",
    "Problems",
    "Row",
    "Schema",
    "Severity",
    "Source",
    "Table",
    "Text",
    "add_notices",
    "archive_bytes",
    "check_file",
    "check_free",
    "check_place",
    "collect_notices",
    "dummy_names",
    "few_names",
    "gather",
    "group_notices",
    "is_archive",
    "json_bytes",
    "json_object",
    "notice",
    "open_archive",
    "read_cells",
    "read_file",
    "read_folder",
    "read_json",
    "read_table",
    "read_toml",
    "report_in",
    "sources_of",
    "table_bytes",
    "write_file",
    "write_folder",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
