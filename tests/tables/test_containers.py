"""What gzip and Parquet files carry beside their content."""

from __future__ import annotations

import gzip
import io

import polars as pl
import pytest

from kakurenbo.tables.containers import has_gzip_notes, hidden_in_parquet

TABLE = pl.DataFrame({"age": range(5000), "town": [f"town {place % 7}" for place in range(5000)], "wage": [0.5, None] * 2500})


def member(flags: int, note: bytes = b"", content: bytes = b"") -> bytes:
    packed = bytearray(gzip.compress(content, mtime=0))
    packed[3] = flags
    return bytes(packed[:10] + note + packed[10:])


@pytest.mark.parametrize(
    ("packed", "notes"),
    [
        (member(0, content=b"a\n1\n"), False),
        (member(8, b"a.csv\0", b"a\n1\n"), False),  # the name of the file, as every packer writes it
        (member(16, b"Anna\0", b"a\n1\n"), True),
        (member(0, content=b"a\n1\n") + member(0, content=b"2\n") + bytes(20), False),
        (member(0, content=b"a\n1\n") + member(16, b"Anna\0"), True),
        (member(0, content=b"a\n1\n") + member(8, b"Anna\0"), True),
        (member(0, content=b"a\n1\n") + member(4, b"\4\0Anna"), True),
        (member(0, content=bytes(range(256)) * 5000) + member(0) + member(16, b"Anna\0"), True),
        (b"age\n1\n", False),
    ],
)
def test_notes_of_every_member_of_a_gzip_file_are_found(packed: bytes, notes: bool) -> None:
    assert has_gzip_notes(packed) is notes


@pytest.mark.parametrize(
    "given", [{}, {"row_group_size": 700}, {"compression": "uncompressed"}, {"statistics": "full"}, {"data_page_size": 500}]
)
def test_every_byte_of_a_parquet_file_belongs_to_something_but_what_somebody_put_between(given: dict[str, object]) -> None:
    written = io.BytesIO()
    TABLE.write_parquet(written, **given)  # type: ignore[arg-type]
    data = written.getvalue()
    assert hidden_in_parquet(data) == 0
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert hidden_in_parquet(data[:footer] + b"Anna of Bremen" + data[footer:]) == 14
    assert hidden_in_parquet(data[:footer] + bytes(64) + data[footer:]) == 0  # a padding


def test_a_footer_that_nobody_can_read_claims_nothing() -> None:
    assert hidden_in_parquet(b"PAR1" + bytes(20) + b"\xff\xff\0\0PAR1") == 32
    assert hidden_in_parquet(b"PAR1" + b"\x1c" * 40 + b"\x28\0\0\0PAR1") == 52
