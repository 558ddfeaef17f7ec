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

from kakurenbo.datasets.transaction_files import read_transactions
from kakurenbo.datasets.transactions import ANY_MONTHS, MAX_MONTHS, SCHEMA, month_span, narrowed
from kakurenbo.errors import UsageError
from kakurenbo.messages import Phrase
from kakurenbo.tables import Problem, ProblemCollector, Problems, Read, Reading, Severity, Source, Table, notices_of, refused

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


def read_online_retail(source: Source) -> Reading[Table]:
    """T from a file, plain or .gz.

    Parameters
    ----------
    source : Source
        ``Online Retail.xlsx`` as UCI gives it, the same table as CSV with its header, or a CSV with T's own header. Another
        shop's may have other dates.

    Returns
    -------
    Read of Table, or Problems
        T in the order of the file. Of UCI's file: customers with 5 to 500 rows, then only positive quantities and prices.
    """
    data = source.read(MAX_FILE_BYTES)
    if isinstance(data, Problems):
        return data
    if data[:4] == b"PK\x03\x04":
        texts = _read_workbook(data, source)
        return texts if isinstance(texts, Problems) else _of_uci(texts, source)
    ended = _check_last_line(data, source)
    if isinstance(ended, Problems):
        return ended
    read = _read_text(data, source)
    return read if isinstance(read, Problems) else Read(read.value, notices_of(ended, read))


def _read_text(data: bytes, source: Source) -> Reading[Table]:
    """A CSV of either kind."""
    if _has_columns_of_t(data):
        read = read_transactions(Source(source.name.removesuffix(".gz"), data), MAX_FILE_BYTES)
        return read.in_file(source.name) if isinstance(read, Problems) else read
    texts = _read_csv(data, source)
    return texts if isinstance(texts, Problems) else _of_uci(texts, source)


def _of_uci(texts: pl.DataFrame, source: Source) -> Reading[Table]:
    """T of the cells of UCI's file."""
    missing = [name for name in NEEDED if name not in texts.columns]
    if missing:
        return _refused(source, "retail.columns_missing", missing=missing, expected=COLUMNS, own=",".join(SCHEMA.names))
    typed = _typed(texts.select(NEEDED), source)
    if isinstance(typed, Problems):
        return typed
    kept = _filtered(typed)
    if not len(kept):
        return _refused(source, "retail.nobody", low=MIN_ROWS, high=MAX_ROWS)
    table = _transactions(kept)
    if (span := month_span(table)) > MAX_MONTHS:
        return _refused(source, "transactions.many_months", column="InvoiceDate", span=span, limit=MAX_MONTHS)
    return Read(narrowed(table))


def compared_with_contest(table: Table) -> dict[str, Any]:
    """Customers and rows of an imported T, and whether they are those of the contest's."""
    customers, rows = len(table.vocabularies["id_user"]), len(table)
    expected = {"customers": CUSTOMERS, "rows": ROWS}
    found = {"customers": customers, "rows": rows}
    return {**found, "contest": expected, "equals_contest": found == expected}


def _has_columns_of_t(data: bytes) -> bool:
    """Whether the first line names T's columns, in whatever order, rather than those of UCI's file."""
    return set(SCHEMA.names) <= set(_cells(data.removeprefix(_BOM).partition(b"\n")[0]) or ())


def _check_last_line(data: bytes, source: Source) -> Reading[None]:
    """A last line without an end passes with a notice where it is complete; else the file is cut short."""
    if data[-1:] in (b"\n", b"\r") or not data.strip():
        return Read(None)
    header, last = _cells(data.removeprefix(_BOM).partition(b"\n")[0]), _cells(data.rpartition(b"\n")[2])
    row = data.count(b"\n") + 1
    if row == 1 or header is None or last is None or len(last) < len(header) or not last[-1].strip():
        return _cut_short(source, Phrase("retail.no_line_end"), row=row)
    return Read(None, (Problem("retail.last_line_open", {}, source.name, row, value=last[-1], severity=Severity.NOTICE),))


def _cells(line: bytes) -> list[str] | None:
    """The cells of a line; None where a quotation mark is not closed."""
    try:
        return next(csv.reader([line.decode("latin-1").rstrip("\r")], strict=True), [])
    except csv.Error:
        return None


# -- the two kinds of file --------------------------------------------------------------------------------------------


def _read_csv(data: bytes, source: Source) -> pl.DataFrame | Problems:
    short = _first_short_row(data)
    if short is not None:
        return _cut_short(source, Phrase("retail.short_line"), row=short)
    try:
        # The file of UCI is Latin-1 in its descriptions, which we do not read.
        return pl.read_csv(io.BytesIO(data), infer_schema=False, encoding="utf8-lossy", glob=False)
    except pl.exceptions.PolarsError as error:
        return _refused(source, "retail.not_csv", reason=type(error).__name__)


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
                return _refused(source, "retail.workbook_too_large", limit=MAX_UNPACKED_BYTES)
            damaged = archive.testzip()
        if damaged is not None:
            return _cut_short(source, Phrase("retail.part_damaged"))
        rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return _cut_short(source, Phrase("retail.not_unpacked", {"reason": type(error).__name__}))
    except (CalamineError, NotImplementedError, RuntimeError, IndexError) as error:
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
    days = ANY_MONTHS["date"].encode(typed["InvoiceDate"].dt.strftime("%Y/%m/%d"))
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
    return Table.from_encoded(ANY_MONTHS, {column.name: column.encode(texts[column.name]) for column in ANY_MONTHS})


def _cut_short(source: Source, sign: Phrase, row: int | None = None) -> Problems:
    return refused("retail.cut_short", source.name, row=row, severity=Severity.MALFORMED, sign=sign)


def _refused(source: Source, code: str, **parameters: Any) -> Problems:
    return refused(code, source.name, severity=Severity.MALFORMED, **parameters)
