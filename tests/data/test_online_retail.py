"""The importer of Online Retail: the filter of the rules in its order, from CSV and from a workbook; and T as it is."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import polars as pl
import pytest
from tests.reading import attempt

from kakurenbo.core import Layout, Problems, Source, Table, read_table
from kakurenbo.data.online_retail import CUSTOMERS, ROWS, read_online_retail
from kakurenbo.data.store import import_dataset, load_part
from kakurenbo.data.transactions import ANY_MONTHS, SCHEMA, Calendar, narrowed

HEADER = "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country"


def line(
    customer: str,
    quantity: int = 6,
    price: str = "2.55",
    item: str = "85123A",
    when: str = "12/1/2010 8:26",
) -> str:
    return (
        f'536365,{item},"WHITE, HANGING HEART",{quantity},{when},{price},{customer},United Kingdom'
    )


def csv_of(lines: list[str], header: str = HEADER) -> bytes:
    return "".join(f"{line}\n" for line in [header, *lines]).encode("latin-1")


def read(lines: list[str]) -> Table:
    table = attempt(read_online_retail, Source("Online Retail.csv", csv_of(lines)))
    assert not isinstance(table, Problems), table
    assert not table.notices
    return table.value


def test_a_row_becomes_user_date_time_item_price_and_quantity() -> None:
    assert read([line("17850.0")] * 5).rows()[0][2:] == ("08:26", "85123A", 2.55, 6)


@pytest.mark.parametrize(
    "when",
    [
        "12/1/10 8:26",
        "12/1/2010 8:26",
        "12/01/2010 08:26",
        "2010-12-01 08:26:00",
        "2010-12-01T08:26:00",
        "2010-12-01 08:26",
    ],
)
def test_dates_are_american_with_two_or_four_digits_of_the_year_or_iso(when: str) -> None:
    table = read([line("17850", when=when)] * 5)
    assert (table.texts("date")[0], table.texts("hours")[0]) == ("2010/12/01", "08:26")


def test_customers_with_5_to_500_rows_stay_and_cancellations_count() -> None:
    lines = (
        [line("1")] * 4
        + [line("2")] * 3
        + [line("2", -1)] * 2
        + [line("3")] * 500
        + [line("4")] * 500
        + [line("4", -1)]
    )
    assert sorted(set(read(lines).values("id_user"))) == ["2", "3"]


def test_rows_without_a_customer_and_without_a_positive_quantity_or_price_are_dropped() -> None:
    table = read(
        [line("1")] * 3
        + [line(""), line("1", 0), line("1", -2), line("1", 1, "0.0"), line("1", 1, "0.001")]
    )
    assert table.values("qty").tolist() == [6, 6, 6, 1]


def test_what_is_not_the_file_is_refused_with_row_and_column() -> None:
    bad = [*[line("1")] * 5, line("1", when="sometime"), line("1", price="cheap")]
    refused = attempt(read_online_retail, Source("x.csv", csv_of(bad)))
    assert isinstance(refused, Problems)
    assert [(problem.row, problem.column) for problem in refused] == [
        (7, "InvoiceDate"),
        (8, "UnitPrice"),
    ]
    refused = attempt(read_online_retail, Source("x.csv", b"a,b\n1,2\n"))
    assert isinstance(refused, Problems)
    assert "StockCode" in refused[0].message
    assert "id_user,date,hours,id_item,price,qty" in refused[0].fix
    early = attempt(
        read_online_retail, Source("x.csv", csv_of([line("1", when="1850-12-01 08:26")] * 5))
    )
    assert isinstance(early, Problems)
    assert early[0].column == "InvoiceDate"
    assert isinstance(
        attempt(read_online_retail, Source("x.xlsx", b"PK\x03\x04 not a workbook")), Problems
    )


def workbook(rows: list[list[str | float]]) -> bytes:
    """The smallest workbook that holds one sheet; dates as day numbers in a date format."""
    cells = []
    for number, row in enumerate(rows, start=1):
        parts = []
        for column, value in zip("ABCDEFGH", row, strict=True):
            place = f'r="{column}{number}"'
            if isinstance(value, str):
                parts.append(
                    f'<c {place} t="inlineStr"><is><t>{value}</t></is></c>'
                    if value
                    else f"<c {place}/>"
                )
            else:
                style = ' s="1"' if column == "E" else ""
                parts.append(f"<c {place}{style}><v>{value}</v></c>")
        cells.append(f'<row r="{number}">{"".join(parts)}</row>')
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kinds}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{kinds}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="{kinds}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
        f'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Online Retail" sheetId="1" '
        f'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{office}/styles" '
        f'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
        f"</styleSheet>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{"".join(cells)}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def test_a_workbook_gives_what_its_csv_gives() -> None:
    moment = 40513 + (8 * 60 + 26) / 1440  # 2010-12-01 08:26
    row: list[str | float] = [
        536365.0,
        22752.0,
        "BOX",
        6.0,
        moment,
        7.65,
        17850.0,
        "United Kingdom",
    ]
    anonymous: list[str | float] = [*row[:6], "", "France"]
    table = attempt(
        read_online_retail,
        Source("Online Retail.xlsx", workbook([list(HEADER.split(",")), *[row] * 5, anonymous])),
    )
    assert not isinstance(table, Problems), table
    assert table.value == read([line("17850", 6, "7.65", "22752")] * 5)


def test_t_written_as_the_file_of_uci_is_imported_as_t(
    reference_data: Path, tmp_path: Path
) -> None:
    """With rows that the filter must drop, T comes out again: 4,034 customers and 307,054 rows."""
    known = attempt(
        read_table,
        Source.of(reference_data / "darc" / "ground_truth.csv.gz"),
        SCHEMA,
        Layout(header=True),
    )
    assert not isinstance(known, Problems)
    original = known.value
    names = {
        "id_item": "StockCode",
        "qty": "Quantity",
        "price": "UnitPrice",
        "id_user": "CustomerID",
    }
    frame = pl.DataFrame({new: original.texts(old) for old, new in names.items()}).with_columns(
        InvoiceDate=pl.select(
            original.texts("date").str.replace_all("/", "-") + " " + original.texts("hours") + ":00"
        ).to_series()
    )
    few = frame.group_by("CustomerID").len().filter(pl.col("len") < 5)["CustomerID"]
    # Customers whom cancellations lifted to five rows get those cancellations back.
    cancelled = pl.concat(
        [frame.filter(pl.col("CustomerID").is_in(few.implode()))] * 5
    ).with_columns(Quantity=pl.lit("-1"))
    nobody = frame.head(1000).with_columns(CustomerID=pl.lit(""))
    unwanted = frame.head(3).with_columns(CustomerID=pl.lit("99999"))
    path = tmp_path / "Online Retail.csv"
    pl.concat([frame, cancelled, nobody, unwanted]).write_csv(path)
    report = attempt(import_dataset, "online_retail", [path])
    assert not isinstance(report, Problems), report
    assert report.value["T"]["rows"] == ROWS
    assert report.value["equals_contest"] is True
    imported = load_part("online_retail", "T", SCHEMA)
    assert imported is not None
    assert len(imported.vocabularies["id_user"]) == CUSTOMERS
    assert imported == original


# -- T as it is -------------------------------------------------------------------------------------------------------

T_HEADER = "id_user,date,hours,id_item,price,qty"
T_LINES = ["12346,2010/12/01,08:26,85123A,2.55,6", "12346,2011/12/09,12:50,POST,18.0,1"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_contests_own_table_is_imported_row_by_row(ends: str, packed: bool) -> None:
    data = csv_of(T_LINES, T_HEADER).replace(b"\n", ends.encode())
    source = (
        Source("ground_truth.csv.gz", gzip.compress(data))
        if packed
        else Source("ground_truth.csv", data)
    )
    table = attempt(read_online_retail, source)
    assert not isinstance(table, Problems), table
    assert [
        ",".join(str(table.value.texts(name)[row]) for name in SCHEMA.names) for row in range(2)
    ] == T_LINES
    assert [notice.code for notice in table.notices] == (
        ["text.line_ends"] if ends == "\r\n" else []
    )


OTHER_DATES = [text.replace("2010/12", "2019/12").replace("2011/12", "2020/02") for text in T_LINES]


@pytest.mark.parametrize(
    "data",
    [
        csv_of(OTHER_DATES, T_HEADER),
        csv_of([line("1", when="2019-12-01 08:26"), *[line("1", when="2020-02-09 12:50")] * 4]),
    ],
)
def test_the_months_of_another_shop_are_those_of_its_dates(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_bytes(data)
    report = attempt(import_dataset, "online_retail", [tmp_path / "shop.csv"])
    assert not isinstance(report, Problems), report
    assert report.value["equals_contest"] is False
    imported = load_part("online_retail", "T", ANY_MONTHS)
    assert imported is not None
    assert Calendar.of(narrowed(imported)).names == ("2019/12", "2020/01", "2020/02")
    read = attempt(read_online_retail, Source("shop.csv", data))
    assert not isinstance(read, Problems)
    assert read.value == narrowed(imported)


@pytest.mark.parametrize(
    "data",
    [
        csv_of([*OTHER_DATES, OTHER_DATES[0].replace("2019", "1999")], T_HEADER),
        csv_of([*[line("1")] * 4, line("1", when="1999-12-01 08:26")]),
    ],
)
def test_dates_of_more_than_ten_years_are_refused(data: bytes) -> None:
    refused = attempt(read_online_retail, Source("shop.csv", data))
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["transactions.many_months"]


def test_what_is_wrong_with_such_a_table_is_told_by_row_and_column() -> None:
    refused = attempt(
        read_online_retail,
        Source("T.csv", csv_of([*T_LINES, "12346,2010-12-01,8:26,,x,1.5"], T_HEADER)),
    )
    assert isinstance(refused, Problems)
    assert {(problem.row, problem.column) for problem in refused} == {
        (4, name) for name in SCHEMA.names[1:]
    }
    assert isinstance(attempt(read_online_retail, Source("T.csv", csv_of([], T_HEADER))), Problems)


def test_ground_truth_is_imported_as_t_and_the_report_says_so(reference_data: Path) -> None:
    path = reference_data / "darc" / "ground_truth.csv.gz"
    original = attempt(read_table, Source.of(path), SCHEMA, Layout(header=True))
    assert not isinstance(original, Problems)
    report = attempt(import_dataset, "online_retail", [path])
    assert not isinstance(report, Problems), report
    assert load_part("online_retail", "T", SCHEMA) == original.value
    told = report.value
    assert (told["customers"], told["rows"], told["equals_contest"]) == (4034, 307_054, True)


def test_the_report_says_where_customers_and_rows_are_not_the_contests(tmp_path: Path) -> None:
    (tmp_path / "T.csv").write_bytes(csv_of(T_LINES, T_HEADER))
    report = attempt(import_dataset, "online_retail", [tmp_path / "T.csv"])
    assert not isinstance(report, Problems), report
    assert report.value["customers"] == 1
    assert report.value["rows"] == 2
    assert report.value["contest"] == {"customers": 4034, "rows": 307_054}
    assert report.value["equals_contest"] is False


# -- files that were cut short ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [csv_of([line("17850")] * 6), csv_of(T_LINES, T_HEADER)])
def test_a_file_that_is_cut_in_the_middle_of_a_row_is_refused_and_told_so(data: bytes) -> None:
    first = data.index(b"\n") + 2
    last = data.rindex(b"\n", 0, -1) + 1
    for place in (
        *range(first, data.index(b"\n", first) - 14),
        *range(last + 1, data.rindex(b",") + 2),
    ):
        cut = attempt(read_online_retail, Source("cut.csv", data[:place]))
        assert isinstance(cut, Problems)
        assert "cut short" in cut[0].message
        assert cut[0].row == data.count(b"\n", 0, place) + 1


@pytest.mark.parametrize("data", [csv_of([line("17850")] * 6), csv_of(T_LINES, T_HEADER)])
def test_a_complete_last_row_needs_no_line_end_and_gets_a_notice(data: bytes) -> None:
    whole, bare = (
        attempt(read_online_retail, Source("bare.csv", part)) for part in (data, data[:-1])
    )
    assert not isinstance(whole, Problems)
    assert not isinstance(bare, Problems), bare
    assert bare.value == whole.value
    assert [(notice.code, notice.row) for notice in bare.notices] == [
        ("retail.last_line_open", data.count(b"\n"))
    ]


def test_a_row_with_too_few_cells_inside_the_file_is_not_taken_for_one_without_a_customer() -> None:
    for broken in (
        "536365,85123A,WHITE",
        '536365,85123A,"WHITE,6,12/1/2010 8:26,2.55,17850,United Kingdom',
    ):
        refused = attempt(
            read_online_retail, Source("x.csv", csv_of([*[line("17850")] * 5, broken]))
        )
        assert isinstance(refused, Problems)
        assert "cut short" in refused[0].message
        assert refused[0].row == 7


def test_a_file_of_nothing_but_its_header_is_refused() -> None:
    assert isinstance(attempt(read_online_retail, Source("x.csv", csv_of([]))), Problems)


def test_a_packed_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(csv_of(T_LINES * 100, T_HEADER))
    for place in (len(packed) // 2, len(packed) - 1):
        (tmp_path / "T.csv.gz").write_bytes(packed[:place])
        refused = attempt(import_dataset, "online_retail", [tmp_path / "T.csv.gz"])
        assert isinstance(refused, Problems)
        assert "ended before the end" in refused[0].message


def test_a_workbook_that_is_cut_short_or_damaged_is_refused_and_told_so() -> None:
    row: list[str | float] = [
        536365.0,
        22752.0,
        "BOX",
        6.0,
        40513.35,
        7.65,
        17850.0,
        "United Kingdom",
    ]
    whole = workbook([list(HEADER.split(",")), *[row] * 5])
    damaged = bytearray(whole)
    damaged[whole.index(b"xl/worksheets/sheet1.xml") + 60] ^= 0xFF
    for data in (whole[: len(whole) // 2], whole[:-1], bytes(damaged)):
        refused = attempt(read_online_retail, Source("Online Retail.xlsx", data))
        assert isinstance(refused, Problems)
        assert "cut short" in refused[0].message


def test_the_importer_takes_one_file(tmp_path: Path) -> None:
    assert isinstance(
        attempt(import_dataset, "online_retail", [tmp_path / "a", tmp_path / "b"]), Problems
    )
    assert isinstance(attempt(import_dataset, "online_retail", [tmp_path / "missing"]), Problems)


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"PK\x03\x04"])
def test_any_bytes_are_refused_with_a_problem(data: bytes) -> None:
    assert isinstance(attempt(read_online_retail, Source("x.csv", data)), Problems)
