"""Tables that are read from the same bytes again and again."""

from __future__ import annotations

from tests.reading import attempt

from kakurenbo.core import Integer, Layout, Problems, Schema, Source, Table, read_table
from kakurenbo.core.remembering import Memory, remembering_tables

SCHEMA = Schema([Integer("age", 0, 99)])


def read(data: bytes, name: str = "a.csv", layout: Layout | None = None) -> Table:
    found = attempt(read_table, Source(name, data), SCHEMA, layout)
    assert not isinstance(found, Problems)
    return found.value


def test_the_same_bytes_under_the_same_rules_are_the_same_table_where_somebody_asked_for_that() -> (
    None
):
    assert read(b"1\n2\n") is not read(b"1\n2\n")
    with remembering_tables(Memory(2)):
        first = read(b"1\n2\n")
        assert read(b"1\n2\n") is first
        assert read(b"1\n3\n") is not first
        assert read(b"1\n2\n", layout=Layout(max_rows=5)) is not first
    assert read(b"1\n2\n") is not first


def test_only_the_last_few_are_remembered() -> None:
    memory = Memory(2)
    with remembering_tables(memory):
        first = read(b"1\n")
        read(b"2\n")
        assert read(b"1\n") is first, "used again, it is the last"
        read(b"3\n")
        assert read(b"1\n") is first
        read(b"2\n")
        read(b"3\n")
        assert read(b"1\n") is not first


def test_problems_are_told_every_time() -> None:
    with remembering_tables(Memory(2)):
        for _ in range(2):
            found = attempt(read_table, Source("a.csv", b"x\n"), SCHEMA)
            assert isinstance(found, Problems)
            assert found.total == 1
