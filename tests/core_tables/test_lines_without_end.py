"""A line that does not end is refused as soon as it is too long, without work or memory for the rest of it."""

from __future__ import annotations

import tracemalloc

import pytest
from tests.reading import attempt

from kakurenbo.core import Integer, Layout, Problems, Schema, Source, read_table
from kakurenbo.core.csv import MAX_LINE_BYTES

SCHEMA = Schema([Integer("a", 0, 9), Integer("b", 0, 9)])
SIZE = 5_000_000


@pytest.mark.parametrize("piece", ["a", ",", '"', "あ", "1,"])
def test_a_line_without_end_is_too_long_whatever_it_is_made_of(piece: str) -> None:
    content = (piece * (SIZE // len(piece.encode()))).encode()
    tracemalloc.start()
    found = attempt(read_table, Source("D.csv", content), SCHEMA, Layout(min_rows=1, max_rows=1))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row) for problem in found] == [("line.too_long", 1)]
    assert most < 4 * SIZE


def test_lines_before_and_after_a_long_one_are_read_and_numbered_as_they_stand() -> None:
    content = b"1,2\n" + b"1," * MAX_LINE_BYTES + b"\n1,2\nx,2\n1,2"
    found = attempt(read_table, Source("D.csv", content), SCHEMA)
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row) for problem in found] == [
        ("line.too_long", 2),
        ("cell.not_in_domain", 4),
    ]


def test_a_line_of_just_the_longest_length_is_not_too_long() -> None:
    content = b"1," + b"1" * (MAX_LINE_BYTES - 2) + b"\n"
    found = attempt(read_table, Source("D.csv", content), SCHEMA)
    assert isinstance(found, Problems)
    assert "line.too_long" not in [problem.code for problem in found]
