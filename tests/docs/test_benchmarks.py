"""The table of benchmarks says of every row whether it holds its target, and stands in README as it was measured."""

from __future__ import annotations

import pytest
from benchmarks.common import TABLE_HEAD, met, row, table_line
from tests.docs.pages import REPOSITORY


@pytest.mark.parametrize(
    ("ours", "reference", "target", "holds"),
    [
        (2.12, 1.0, "ratio ≤ 1.5", False),
        (1.5, 1.0, "ratio ≤ 1.5", True),
        (0.595, 1.0, "ratio ≤ 0.588 (1.7 times as fast)", False),
        (1.12, 3.2, "≤ 1 s", False),
        (0.048, 7.88, "≤ 100 ms", True),
        (0.101, 7.88, "≤ 100 ms", False),
    ],
)
def test_a_row_that_misses_its_target_is_marked(ours: float, reference: float, target: str, holds: bool) -> None:
    found = row("something", ours, "another", reference, target)
    assert met(found) is holds
    assert table_line(found).endswith("| yes |" if holds else "| **no** |")


def test_a_target_that_cannot_be_compared_is_no_target() -> None:
    with pytest.raises(ValueError, match="is no target"):
        met(row("something", 1.0, "another", 1.0, "fast"))


def test_readme_shows_the_table_that_was_measured() -> None:
    measured = [line for line in _lines("benchmarks/RESULTS.md") if line.startswith("|")]
    assert tuple(measured[:2]) == TABLE_HEAD
    lines = _lines("README.md")
    begin, end = lines.index("<!-- benchmarks -->"), lines.index("<!-- end of benchmarks -->")
    assert lines[begin + 1 : end] == measured


def _lines(name: str) -> list[str]:
    return (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
