"""Typed tables, and files in and out: the one vocabulary that every other part of kakurenbo speaks."""

from kakurenbo.messages import Phrase
from kakurenbo.tables.archives import archive_bytes, is_archive, open_archive
from kakurenbo.tables.cells import Row, read_cells
from kakurenbo.tables.coarsening import Coarsening
from kakurenbo.tables.documents import json_object, read_json, read_toml
from kakurenbo.tables.moments import Moments
from kakurenbo.tables.problems import LISTED_PER_FILE, Problem, ProblemCollector, Problems, Severity, refused, summed_up
from kakurenbo.tables.reading import Layout, read_table
from kakurenbo.tables.readings import Read, Reading, notices_of
from kakurenbo.tables.schema import Category, Codes, Column, Date, Decimal, Integer, Schema, Text
from kakurenbo.tables.sources import STANDARD_INPUT, Folder, Source, read_file, read_folder, sources_of
from kakurenbo.tables.table import Table, dummy_names
from kakurenbo.tables.writing import (
    STANDARD_OUTPUT,
    check_file,
    check_free,
    check_place,
    json_bytes,
    table_bytes,
    write_file,
    write_folder,
)

__all__ = [
    "LISTED_PER_FILE",
    "STANDARD_INPUT",
    "STANDARD_OUTPUT",
    "Category",
    "Coarsening",
    "Codes",
    "Column",
    "Date",
    "Decimal",
    "Folder",
    "Integer",
    "Layout",
    "Moments",
    "Phrase",
    "Problem",
    "ProblemCollector",
    "Problems",
    "Read",
    "Reading",
    "Row",
    "Schema",
    "Severity",
    "Source",
    "Table",
    "Text",
    "archive_bytes",
    "check_file",
    "check_free",
    "check_place",
    "dummy_names",
    "is_archive",
    "json_bytes",
    "json_object",
    "notices_of",
    "open_archive",
    "read_cells",
    "read_file",
    "read_folder",
    "read_json",
    "read_table",
    "read_toml",
    "refused",
    "sources_of",
    "summed_up",
    "table_bytes",
    "write_file",
    "write_folder",
]
