"""T of darc2019 from a file: UCI "Online Retail" (D. Chen, 2015), xlsx or csv, or a table that has T's columns already.

The latter is the contest's own ``ground_truth.csv``, or that of another shop.
"""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
import zlib
from typing import Any

import polars as pl

from kakurenbo.datasets.transactions import SCHEMA
from kakurenbo.errors import UsageError
from kakurenbo.tables import Layout, Problem, ProblemCollector, Problems, Schema, Severity, Source, Table, read_table

COLUMNS = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")
NEEDED = ("StockCode", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID")
MIN_ROWS, MAX_ROWS = 5, 500  # rows of a customer, counted before any other filter
CUSTOMERS, ROWS = 4_034, 307_054  # what the rules give for the real file
MAX_FILE_BYTES = 200 * 1000 * 1000
MAX_UNPACKED_BYTES = 1000 * 1000 * 1000
_DATE_PATTERNS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%m/%d/%y %H:%M",  # before %Y, which takes 10 for the year 10
    "%m/%d/%Y %H:%M",
    "%d-%m-%Y %H:%M",
)
_BOM = b"\xef\xbb\xbf"


def read_online_retail(source: Source, schema: Schema = SCHEMA) -> Table | Problems:
    """T from a file, plain or .gz.

    Parameters
    ----------
    source : Source
        ``Online Retail.xlsx`` as UCI gives it, the same table as CSV with its header, or a CSV with T's own header.
    schema : Schema
        The columns of T; its ``date`` says which days are allowed.

    Returns
    -------
    Table or Problems
        T in the order of the file. Of UCI's file: customers with 5 to 500 rows, then only positive quantities and prices.
    """
    data = source.read(MAX_FILE_BYTES)
    if isinstance(data, Problems):
        return data
    workbook = data[:4] == b"PK\x03\x04"
    if not workbook and data.strip() and data[-1:] not in (b"\n", b"\r"):
        # The last cell may have lost a part that nobody misses: 12 pieces cut to 1.
        return _cut_short(source, "its last line has no end", row=data.count(b"\n") + 1)
    if not workbook and _has_columns_of(schema, data):
        layout = Layout(header=True, min_rows=1, accept_bom=True, accept_crlf=True, max_bytes=MAX_FILE_BYTES)
        return read_table(source, schema, layout)
    texts = _read_workbook(data, source) if workbook else _read_csv(data, source)
    if isinstance(texts, Problems):
        return texts
    missing = [name for name in NEEDED if name not in texts.columns]
    if missing:
        either = f"the header must hold {', '.join(COLUMNS)}, or be {','.join(schema.names)}"
        return _refused(source, f"the columns {', '.join(missing)} are missing", either)
    typed = _typed(texts.select(NEEDED), source, schema)
    if isinstance(typed, Problems):
        return typed
    kept = _filtered(typed)
    return (
        _transactions(kept, schema) if len(kept) else _refused(source, "no customer has 5 to 500 rows", "give the whole file")
    )


def compared_with_contest(table: Table) -> dict[str, Any]:
    """Customers and rows of an imported T, and whether they are those of the contest's."""
    customers, rows = len(table.vocabularies["id_user"]), len(table)
    expected = {"customers": CUSTOMERS, "rows": ROWS}
    found = {"customers": customers, "rows": rows}
    return {**found, "contest": expected, "equals_contest": found == expected}


def _has_columns_of(schema: Schema, data: bytes) -> bool:
    """Whether the first line names T's columns, in whatever order, rather than those of UCI's file."""
    header = data.removeprefix(_BOM).split(b"\n", 1)[0].replace(b'"', b"").strip().split(b",")
    return {name.encode() for name in schema.names} <= set(header)


# -- the two kinds of file --------------------------------------------------------------------------------------------


def _read_csv(data: bytes, source: Source) -> pl.DataFrame | Problems:
    short = _first_short_row(data)
    if short is not None:
        return _cut_short(source, "a line has fewer cells than the header, or a quotation mark is not closed", row=short)
    try:
        # The file of UCI is Latin-1 in its descriptions, which we do not read.
        return pl.read_csv(io.BytesIO(data), infer_schema=False, encoding="utf8-lossy", glob=False)
    except pl.exceptions.PolarsError as error:
        return _refused(source, f"the file is not a table of commas ({type(error).__name__})", "give the file as UCI has it")


def _first_short_row(data: bytes) -> int | None:
    """Line of the first record that has fewer cells than the header or does not end; Polars would fill it with nulls."""
    records = csv.reader(io.TextIOWrapper(io.BytesIO(data.removeprefix(_BOM)), encoding="latin-1", newline=""), strict=True)
    try:
        width = len(next(records, []))
        return next((records.line_num for record in records if 0 < len(record) < width), None)
    except csv.Error:
        return records.line_num


def _read_workbook(data: bytes, source: Source) -> pl.DataFrame | Problems:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise UsageError(
            "reading .xlsx needs python-calamine: pip install 'kakurenbo[xlsx]', or save the sheet as CSV"
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
                return _refused(
                    source, f"the workbook unpacks to more than {MAX_UNPACKED_BYTES:,} bytes", "give the file of UCI"
                )
            damaged = archive.testzip()
        if damaged is not None:
            return _cut_short(source, "a part of the workbook is damaged")
        rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return _cut_short(source, f"the workbook cannot be unpacked ({type(error).__name__})")
    except (CalamineError, NotImplementedError, RuntimeError, IndexError) as error:
        return _refused(source, f"the workbook cannot be read ({type(error).__name__})", "save it again")
    if not rows:
        return _refused(source, "the first sheet is empty", "give the file of UCI")
    header = [str(cell) for cell in rows[0]]
    wanted = [index for index, name in enumerate(header) if name in NEEDED]
    return pl.DataFrame(
        {header[index]: pl.Series([_cell_text(row[index]) for row in rows[1:]], dtype=pl.String) for index in wanted}
    )


def _cell_text(cell: Any) -> str | None:
    """A cell of a sheet as CSV would have it: whole numbers without a point."""
    if cell == "" or cell is None:
        return None
    if isinstance(cell, datetime.datetime):
        return cell.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


# -- types and filter -------------------------------------------------------------------------------------------------


def _typed(texts: pl.DataFrame, source: Source, schema: Schema) -> pl.DataFrame | Problems:
    """Numbers and times instead of texts; rows without a customer are dropped first, as the rules say."""
    texts = texts.with_row_index("line", offset=2).filter(pl.col("CustomerID").fill_null("").str.strip_chars() != "")
    moments = [pl.col("InvoiceDate").str.to_datetime(pattern, strict=False) for pattern in _DATE_PATTERNS]
    typed = texts.select(
        "line",
        pl.col("CustomerID").str.strip_suffix(".0").alias("id_user"),
        pl.coalesce(moments).alias("InvoiceDate"),
        pl.col("StockCode").str.strip_chars().alias("id_item"),
        pl.col("UnitPrice").cast(pl.Float64, strict=False).alias("price"),
        pl.col("Quantity").str.strip_suffix(".0").cast(pl.Int64, strict=False).alias("qty"),
    )
    days = schema["date"].encode(typed["InvoiceDate"].dt.strftime("%Y/%m/%d"))
    names = {"InvoiceDate": "InvoiceDate", "id_item": "StockCode", "price": "UnitPrice", "qty": "Quantity"}
    found = ProblemCollector(source.name)
    checks = {
        "InvoiceDate": pl.lit(days.is_null()),
        "id_item": pl.col("id_item").fill_null("") == "",
        "price": ~pl.col("price").is_finite().fill_null(False),
        "qty": pl.col("qty").is_null(),
    }
    for name, bad in checks.items():
        wrong = typed.select(bad.alias("bad"))["bad"]
        for line, text in zip(typed.filter(wrong)["line"].to_list(), texts.filter(wrong)[names[name]].to_list(), strict=True):
            message = f"{text!r} is not what stands in the file of UCI"
            found.add(message, "give the original file", row=line, column=names[name], value=text or "")
    return found.problems() if found else typed


def _filtered(typed: pl.DataFrame) -> pl.DataFrame:
    """5 to 500 rows per customer, cancellations and zero prices counted; then positive quantities and prices only."""
    rows = pl.len().over("id_user")
    return typed.filter(rows.is_between(MIN_ROWS, MAX_ROWS)).filter((pl.col("qty") > 0) & (pl.col("price") > 0))


def _transactions(frame: pl.DataFrame, schema: Schema) -> Table:
    texts = frame.select(
        "id_user",
        pl.col("InvoiceDate").dt.strftime("%Y/%m/%d").alias("date"),
        pl.col("InvoiceDate").dt.strftime("%H:%M").alias("hours"),
        "id_item",
        pl.col("price").cast(pl.String),
        pl.col("qty").cast(pl.String),
    )
    return Table.from_encoded(schema, {column.name: column.encode(texts[column.name]) for column in schema})


def _cut_short(source: Source, sign: str, row: int | None = None) -> Problems:
    message = f"the file is cut short: {sign}"
    return Problems([Problem(message, "download or copy it again", source.name, row=row, severity=Severity.MALFORMED)])


def _refused(source: Source, message: str, fix: str) -> Problems:
    return Problems([Problem(message, fix, source.name, severity=Severity.MALFORMED)])
