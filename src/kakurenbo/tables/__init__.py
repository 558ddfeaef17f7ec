"""Typed tables, and files in and out: the one vocabulary that every other part of kakurenbo speaks."""

from kakurenbo.tables.coarsening import Coarsening
from kakurenbo.tables.moments import Moments
from kakurenbo.tables.problems import Problem, ProblemCollector, Problems, Severity
from kakurenbo.tables.reading import Layout, read_table
from kakurenbo.tables.schema import Category, Codes, Column, Date, Decimal, Integer, Schema, Text
from kakurenbo.tables.sources import Source, sources_of
from kakurenbo.tables.table import Table, dummy_names
from kakurenbo.tables.writing import check_free, table_bytes, write_file, write_folder

__all__ = [
    "Category",
    "Coarsening",
    "Codes",
    "Column",
    "Date",
    "Decimal",
    "Integer",
    "Layout",
    "Moments",
    "Problem",
    "ProblemCollector",
    "Problems",
    "Schema",
    "Severity",
    "Source",
    "Table",
    "Text",
    "check_free",
    "dummy_names",
    "read_table",
    "sources_of",
    "table_bytes",
    "write_file",
    "write_folder",
]
