"""UCI "Online Retail" (D. Chen, 2015): the importer that makes T of darc2019 from the original file, xlsx or csv."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

import polars as pl

from kakurenbo.datasets.transactions import CONTEST, SCHEMA
from kakurenbo.errors import UsageError
from kakurenbo.tables import ProblemCollector, Problems, Read, Severity, Source, Table, refused

COLUMNS = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")
NEEDED = ("StockCode", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID")
MIN_ROWS, MAX_ROWS = 5, 500  # rows of a customer, counted before any other filter
CUSTOMERS, ROWS = 4_034, 307_054  # what the rules give for the real file
MAX_FILE_BYTES = 200 * 1000 * 1000
MAX_UNPACKED_BYTES = 1000 * 1000 * 1000
_DATE_PATTERNS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%m/%d/%Y %H:%M", "%m/%d/%y %H:%M", "%d-%m-%Y %H:%M")


def read_online_retail(source: Source) -> Read[Table] | Problems:
    """T from the original file.

    Parameters
    ----------
    source : Source
        ``Online Retail.xlsx`` as UCI gives it, or the same table as CSV with its header.

    Returns
    -------
    Read of Table, or Problems
        T in the order of the file: customers with 5 to 500 rows, then only positive quantities and prices.
    """
    data = source.read(MAX_FILE_BYTES)
    if isinstance(data, Problems):
        return data
    texts = _read_workbook(data, source) if data[:4] == b"PK\x03\x04" else _read_csv(data, source)
    if isinstance(texts, Problems):
        return texts
    missing = [name for name in NEEDED if name not in texts.columns]
    if missing:
        return _refused(source, "retail.columns_missing", missing=missing, expected=COLUMNS)
    typed = _typed(texts.select(NEEDED), source)
    return typed if isinstance(typed, Problems) else Read(_transactions(_filtered(typed)))


# -- the two kinds of file --------------------------------------------------------------------------------------------


def _read_csv(data: bytes, source: Source) -> pl.DataFrame | Problems:
    try:
        # The file of UCI is Latin-1 in its descriptions, which we do not read.
        return pl.read_csv(io.BytesIO(data), infer_schema=False, encoding="utf8-lossy", glob=False)
    except pl.exceptions.PolarsError as error:
        return _refused(source, "retail.not_csv", reason=type(error).__name__)


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
                return _refused(source, "retail.workbook_too_large", limit=MAX_UNPACKED_BYTES)
        rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    except (CalamineError, zipfile.BadZipFile, IndexError) as error:
        return _refused(source, "retail.workbook_unreadable", reason=type(error).__name__)
    if not rows:
        return _refused(source, "retail.sheet_empty")
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


def _typed(texts: pl.DataFrame, source: Source) -> pl.DataFrame | Problems:
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
    day = pl.col("InvoiceDate").dt.date()
    names = {"InvoiceDate": "InvoiceDate", "id_item": "StockCode", "price": "UnitPrice", "qty": "Quantity"}
    found = ProblemCollector(source.name)
    checks = {
        "InvoiceDate": ~day.is_between(CONTEST.first_day, CONTEST.last_day).fill_null(False),
        "id_item": pl.col("id_item").fill_null("") == "",
        "price": ~pl.col("price").is_finite().fill_null(False),
        "qty": pl.col("qty").is_null(),
    }
    for name, bad in checks.items():
        wrong = typed.select(bad.alias("bad"))["bad"]
        for line, text in zip(typed.filter(wrong)["line"].to_list(), texts.filter(wrong)[names[name]].to_list(), strict=True):
            found.add("retail.not_as_uci", row=line, column=names[name], value=text or "")
    return found.problems() if found else typed


def _filtered(typed: pl.DataFrame) -> pl.DataFrame:
    """5 to 500 rows per customer, cancellations and zero prices counted; then positive quantities and prices only."""
    rows = pl.len().over("id_user")
    return typed.filter(rows.is_between(MIN_ROWS, MAX_ROWS)).filter((pl.col("qty") > 0) & (pl.col("price") > 0))


def _transactions(frame: pl.DataFrame) -> Table:
    texts = frame.select(
        "id_user",
        pl.col("InvoiceDate").dt.strftime("%Y/%m/%d").alias("date"),
        pl.col("InvoiceDate").dt.strftime("%H:%M").alias("hours"),
        "id_item",
        pl.col("price").cast(pl.String),
        pl.col("qty").cast(pl.String),
    )
    return Table.from_encoded(SCHEMA, {column.name: column.encode(texts[column.name]) for column in SCHEMA})


def _refused(source: Source, code: str, **parameters: Any) -> Problems:
    return refused(code, source.name, severity=Severity.MALFORMED, **parameters)
