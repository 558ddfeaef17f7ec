"""Splitting all lines at once and line by line gives the same table, or the same problems, for any file."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.core import (
    Category,
    Date,
    Decimal,
    Integer,
    Layout,
    Problems,
    Schema,
    Source,
    Table,
    Text,
    read_table,
)

DAYS = Date("day", datetime.date(2011, 1, 31), datetime.date(2011, 3, 1))
SCHEMAS = {
    "small": (
        Schema([Integer("age", 17, 90), Category("sex", ("F", "M"))]),
        ("39,M", "17,F", "90,M"),
    ),
    "wide": (
        Schema([Text("who"), DAYS, Decimal("price", low=0), Integer("quantity", -(10**9), 10**9)]),
        ("a,2011/02/01,2.55,6", "b c,2011/01/31,0,-1000", "あ,2011/03/01,1e3,100000"),
    ),
    "one": (Schema([Integer("row", 0, 999)]), ("0", "7", "999")),
    "text": (Schema([Text("only")]), ("a", "b c", "d")),
    "huge": (
        Schema([Integer("n", -(2**62), 2**62 - 1), Integer("m", -128, 127)]),
        ("5,-128", f"{-(2**62)},127", f"{2**62 - 1},0"),
    ),
}
FRAGMENTS = (
    '"',
    ",",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "+",
    "-",
    "0",
    ".0",
    "9",
    "\0",
    "男",
    "\ufeff",
    '""',
    ",,",
    "x",
    "e1",
    "\n\n",
)


def outcome(data: bytes, schema: Schema, layout: Layout) -> tuple[object, ...]:
    reading = attempt(read_table, Source("D.csv", data), schema, layout)
    if isinstance(reading, Problems):
        return reading.total, [str(problem) for problem in reading]
    table = reading.value
    types = [(codes.dtype, codes.flags.writeable) for codes in table.codes.values()]
    return table.rows(), dict(table.vocabularies), types, reading.notices


def line_by_line(monkeypatch: pytest.MonkeyPatch, read: Callable[[], object]) -> object:
    """What a reader gives where every line is taken apart on its own."""
    with monkeypatch.context() as patch:
        patch.setattr("kakurenbo.core.csv._split_at_once", lambda *_: None)
        return read()


@st.composite
def nearly_right_files(draw: st.DrawFn) -> tuple[str, bytes, Layout]:
    name = draw(st.sampled_from(sorted(SCHEMAS)))
    schema, good = SCHEMAS[name]
    header = draw(st.booleans())
    rows = [",".join(schema.names)] * header + draw(
        st.lists(st.sampled_from(good), min_size=1, max_size=5)
    )
    if draw(st.booleans()):
        rows = [",".join(f'"{cell}"' for cell in row.split(",")) for row in rows]
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = "\ufeff" * draw(st.booleans()) + end.join(rows) + end * draw(st.booleans())
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = (
            text[:place]
            + draw(st.sampled_from(FRAGMENTS))
            + text[place + draw(st.integers(0, 2)) :]
        )
    limits = draw(st.sampled_from([(None, None), (2, None), (None, 3), (3, 3)]))
    return name, text.encode(), Layout(header=header, min_rows=limits[0], max_rows=limits[1])


@settings(max_examples=600)
@given(nearly_right_files())
def test_any_file_gives_the_same_all_at_once_and_line_by_line(
    file: tuple[str, bytes, Layout],
) -> None:
    name, data, layout = file
    schema = SCHEMAS[name][0]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert outcome(data, schema, layout) == line_by_line(
            monkeypatch, lambda: outcome(data, schema, layout)
        )


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_quoted_crlf_and_bom_files_are_the_plain_table(
    name: str, ends: bytes, quoted: bool, mark: bytes
) -> None:
    schema, rows = SCHEMAS[name]
    lines = [
        ",".join(f'"{cell}"' if quoted else cell for cell in row.split(","))
        for row in (",".join(schema.names), *rows)
    ]
    data = mark + ends.join(line.encode() for line in lines) + ends
    plain = read_table(Source("D.csv", "\n".join(rows).encode()), schema)
    reading = attempt(read_table, Source("D.csv", data), schema, Layout(header=True))
    assert isinstance(reading, Read)
    assert reading.value == plain
    assert [notice.code for notice in reading.notices] == ["text.bom"] * bool(mark) + [
        "text.line_ends"
    ] * (ends == b"\r\n")


@pytest.mark.parametrize(
    "spelling", ["+39", "039", " 39", "\t39", "39 ", "-0", "3_9", "39.0", "３９"]
)
def test_a_number_in_another_spelling_is_refused(spelling: str) -> None:
    schema = Schema([Text("who"), Integer("n", 0, 99)])
    assert isinstance(
        attempt(read_table, Source("D.csv", f"a,1\nb,{spelling}\n".encode()), schema), Problems
    )


@pytest.mark.parametrize("last", ["b,", "b,\r", '"b",', "b\r,"])
def test_a_comma_too_many_in_the_last_line_is_seen(last: str) -> None:
    assert isinstance(
        attempt(read_table, Source("D.csv", f"a\n{last}".encode()), Schema([Text("only")])),
        Problems,
    )


def test_two_spellings_of_a_quoted_text_are_one_text() -> None:
    reading = attempt(
        read_table, Source("D.csv", b'"b"\na\nb\n"say ""b"""\n'), Schema([Text("only")])
    )
    assert isinstance(reading, Read)
    assert reading.value == Table.from_rows(
        Schema([Text("only")]), [("b",), ("a",), ("b",), ('say "b"',)]
    )
    assert reading.value.vocabularies["only"] == ("a", "b", 'say "b"')


def test_a_comma_or_an_open_quotation_mark_within_quotes_is_read_line_by_line() -> None:
    schema = Schema([Text("a"), Text("b")])
    reading = attempt(read_table, Source("D.csv", b'"x,y",z\nu,v\n'), schema)
    assert isinstance(reading, Read)
    assert reading.value.rows() == [("x,y", "z"), ("u", "v")]
    refused = attempt(read_table, Source("D.csv", b'u,v\n"x,y\nz"",w\n'), schema)
    assert isinstance(refused, Problems)
    assert [(problem.row, problem.code) for problem in refused] == [(2, "line.open_quote")]


def test_a_line_that_is_too_long_is_refused_though_every_cell_is_a_text() -> None:
    refused = attempt(
        read_table, Source("D.csv", b"a\n" + b"x" * 100_001 + b"\n"), Schema([Text("only")])
    )
    assert isinstance(refused, Problems)
    assert [(problem.row, problem.code) for problem in refused] == [(2, "line.too_long")]


def test_a_file_of_nothing_but_its_header_has_no_rows() -> None:
    schema = SCHEMAS["wide"][0]
    reading = attempt(
        read_table,
        Source("D.csv", f"{','.join(schema.names)}\n".encode()),
        schema,
        Layout(header=True),
    )
    assert isinstance(reading, Read)
    assert len(reading.value) == 0
    refused = attempt(
        read_table,
        Source("D.csv", f"{','.join(schema.names)}\n".encode()),
        schema,
        Layout(header=True, min_rows=1),
    )
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["table.row_count"]


def test_more_different_cells_than_a_first_table_holds_are_all_told_apart() -> None:
    schema = Schema([Text("long"), Integer("n", 0, 10**6)])
    rows = [(f"{'x' * (number % 40)}{number % 3_000}", str(number)) for number in range(9_000)]
    reading = attempt(read_table, Source("D.csv", "\n".join(map(",".join, rows)).encode()), schema)
    assert isinstance(reading, Read)
    assert reading.value == Table.from_rows(schema, rows)


def test_long_texts_that_differ_at_the_end_are_two_texts() -> None:
    texts = ["a" * 30 + "b", "a" * 30 + "c", "a" * 31 + "b"]
    reading = attempt(
        read_table, Source("D.csv", "\n".join(texts).encode()), Schema([Text("only")])
    )
    assert isinstance(reading, Read)
    assert [text for (text,) in reading.value.rows()] == texts
