"""T of darc2019 from a file: UCI "Online Retail" (D. Chen, 2015), xlsx or csv, or a table that has T's columns already.

The latter is the contest's own ``ground_truth.csv``, or that of another shop.
"""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from kakurenbo.core import (
    InputError,
    Layout,
    ProblemCollector,
    Severity,
    Source,
    Table,
    notice,
    read_table,
    report_in,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data.transactions import (
    ANY_MONTHS,
    MAX_MONTHS,
    RULES_NAMES,
    SCHEMA,
    headed,
    kept,
    month_span,
    narrowed,
    with_headings,
)

COLUMNS = (
    *("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice"),
    *("CustomerID", "Country"),
)
NEEDED = ("StockCode", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID")
MIN_ROWS, MAX_ROWS = 5, 500  # rows of a customer, counted before any other filter
CUSTOMERS, ROWS = 4_034, 307_054  # what the rules give for the real file
MAX_BYTES = 200 * 1000 * 1000
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
_FIRST_LINE = 2  # the header is line 1


def read_transactions(source: Source, max_bytes: int = MAX_BYTES) -> Table:
    """Read every row of a table with T's columns, none of them deleted, in the calendar of its own dates."""
    data = source.read(max_bytes)
    layout = Layout(header=True, min_rows=1, max_bytes=max_bytes)
    try:
        table = read_table(source, headed(SCHEMA, data), layout)
    except InputError as error:
        if all(problem.column != "date" for problem in error.problems):
            raise
        table = read_table(source, headed(ANY_MONTHS, data), layout)  # another shop's, perhaps
    not_deleted = kept(table)

    def refusal(code: str, record: int, column: str, **parameters: Any) -> InputError:
        value = table.texts(column)[record]
        place = {"row": record + _FIRST_LINE, "record": record, "column": column, "value": value}
        return InputError.of(code, source.name, **place, **parameters)

    if not not_deleted.all():
        raise refusal("transactions.deleted", int(not_deleted.argmin()), "id_user")
    if (span := month_span(table)) > MAX_MONTHS:
        record = int(table.codes["date"].argmax())
        raise refusal("transactions.many_months", record, "date", span=span, limit=MAX_MONTHS)
    return narrowed(table)


def read_online_retail(source: Source) -> Table:
    """Read T from a file, plain or .gz.

    Parameters
    ----------
    source : Source
        ``Online Retail.xlsx`` as UCI gives it, the same table as CSV with its header, or a CSV with T's own header. Another
        shop's may have other dates.

    Returns
    -------
    Table
        T in the order of the file. Of UCI's file: customers with 5 to 500 rows, then only positive quantities and prices.
    """
    data = source.read(MAX_BYTES)
    if data[:4] == b"PK\x03\x04":
        return _from_uci(_read_workbook(data, source), source)
    header, last = (
        _cells(line)
        for line in (data.removeprefix(_BOM).partition(b"\n")[0], data.rpartition(b"\n")[2])
    )
    if data.strip() and data[-1:] not in (b"\n", b"\r"):
        row = data.count(b"\n") + 1
        complete = header and last and len(last) >= len(header) and last[-1].strip()
        if row == 1 or not last or not complete:
            raise _cut_short(source, Message("retail.no_line_end"), row=row)
        notice("retail.last_line_open", file=source.name, row=row, value=last[-1])
    if all({name, RULES_NAMES.get(name)} & {*(header or ())} for name in SCHEMA.names):
        with report_in(source.name):
            plain = Source(source.name.removesuffix(".gz"), data)
            return with_headings(read_transactions(plain))
    return _from_uci(_read_csv(data, source), source)


def import_files(sources: Sequence[Source]) -> Mapping[str, Table]:
    """Read one file."""
    if len(sources) != 1:
        raise InputError.of("retail.one_file", "online_retail", count=len(sources))
    return {"T": read_online_retail(sources[0])}


def compare_with_contest(table: Table) -> dict[str, Any]:
    """Return customers and rows of an imported T, and whether they are those of the contest's."""
    counts = {"customers": len(table.vocabularies["id_user"]), "rows": len(table)}
    expected = {"customers": CUSTOMERS, "rows": ROWS}
    return {**counts, "contest": expected, "equals_contest": counts == expected}


def _cells(line: bytes) -> list[str] | None:
    """Return the cells of a line; None where a quotation mark is not closed."""
    try:
        return next(csv.reader([line.decode("latin-1").rstrip("\r")], strict=True), [])
    except csv.Error:
        return None


def _read_csv(data: bytes, source: Source) -> pl.DataFrame:
    # Polars would fill a short row with nulls.
    text = io.TextIOWrapper(io.BytesIO(data.removeprefix(_BOM)), encoding="latin-1", newline="")
    records = csv.reader(text, strict=True)
    try:
        width = len(next(records, []))
        short = next((records.line_num for cells in records if 0 < len(cells) < width), None)
    except csv.Error:
        short = records.line_num
    if short is not None:
        raise _cut_short(source, Message("retail.short_line"), row=short)
    try:
        # The file of UCI is Latin-1 in its descriptions, which we do not read.
        return pl.read_csv(io.BytesIO(data), infer_schema=False, encoding="utf8-lossy", glob=False)
    except pl.exceptions.PolarsError as error:
        raise _refusal(source, "retail.not_csv", reason=type(error).__name__) from error


def _read_workbook(data: bytes, source: Source) -> pl.DataFrame:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise UsageError("error.xlsx") from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
                raise _refusal(source, "retail.workbook_too_large", limit=MAX_UNPACKED_BYTES)
            if archive.testzip() is not None:
                raise _cut_short(source, Message("retail.part_damaged"))
        rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        sign = Message("retail.not_unpacked", {"reason": type(error).__name__})
        raise _cut_short(source, sign) from error
    except (CalamineError, NotImplementedError, RuntimeError, IndexError) as error:
        reason = type(error).__name__
        raise _refusal(source, "retail.workbook_unreadable", reason=reason) from error
    if not rows:
        raise _refusal(source, "retail.sheet_empty")
    header = list(map(str, rows[0]))
    columns = {name: header.index(name) for name in NEEDED if name in header}
    return pl.DataFrame(
        {
            name: pl.Series([_cell_text(row[place]) for row in rows[1:]], dtype=pl.String)
            for name, place in columns.items()
        }
    )


def _cell_text(cell: Any) -> str | None:
    """Write a cell of a sheet as CSV would have it: whole numbers without a point."""
    if isinstance(cell, datetime.datetime):
        return cell.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return None if cell in ("", None) else str(cell)


def _from_uci(texts: pl.DataFrame, source: Source) -> Table:
    """Turn the cells of UCI's file into T; rows without a customer are dropped first, as the rules say."""
    if missing := [name for name in NEEDED if name not in texts.columns]:
        expected = {"expected": COLUMNS, "own": ",".join(SCHEMA.names)}
        raise _refusal(source, "retail.columns_missing", missing=missing, **expected)
    texts = texts.with_row_index("line", offset=_FIRST_LINE)
    texts = texts.filter(pl.col("CustomerID").fill_null("").str.strip_chars() != "")
    invoiced = pl.col("InvoiceDate")
    moments = [invoiced.str.to_datetime(pattern, strict=False) for pattern in _DATE_PATTERNS]
    typed = texts.select(
        id_user=pl.col("CustomerID").str.strip_suffix(".0"),
        date=pl.coalesce(moments).dt.strftime("%Y/%m/%d"),
        hours=pl.coalesce(moments).dt.strftime("%H:%M"),
        id_item=pl.col("StockCode").str.strip_chars(),
        price=pl.col("UnitPrice").cast(pl.Float64, strict=False),
        qty=pl.col("Quantity").str.strip_suffix(".0").cast(pl.Int64, strict=False),
    )
    checks = {
        "InvoiceDate": ANY_MONTHS["date"].encode(typed["date"]).is_null(),
        "StockCode": typed["id_item"].fill_null("") == "",
        "UnitPrice": ~typed["price"].is_finite().fill_null(False),
        "Quantity": typed["qty"].is_null(),
    }
    collector = ProblemCollector(source.name)
    for name, bad in checks.items():
        for line, text in texts.filter(bad).select("line", name).iter_rows():
            collector.add("retail.not_as_uci", row=line, column=name, value=text or "")
    collector.check()
    # Cancellations and zero prices count as rows of a customer.
    sold = typed.filter(pl.len().over("id_user").is_between(MIN_ROWS, MAX_ROWS))
    sold = sold.filter((pl.col("qty") > 0) & (pl.col("price") > 0)).cast(pl.String)
    if not len(sold):
        raise _refusal(source, "retail.nobody", low=MIN_ROWS, high=MAX_ROWS)
    encoded = {column.name: column.encode(sold[column.name]) for column in ANY_MONTHS}
    table = Table.from_encoded(ANY_MONTHS, encoded)
    if (span := month_span(table)) > MAX_MONTHS:
        limits = {"column": "InvoiceDate", "span": span, "limit": MAX_MONTHS}
        raise _refusal(source, "transactions.many_months", **limits)
    return narrowed(table)


def _cut_short(source: Source, sign: Message, row: int | None = None) -> InputError:
    return _refusal(source, "retail.cut_short", row=row, sign=sign)


def _refusal(source: Source, code: str, **parameters: Any) -> InputError:
    return InputError.of(code, source.name, severity=Severity.MALFORMED, **parameters)
