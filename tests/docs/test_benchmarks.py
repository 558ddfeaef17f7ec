"""The table of benchmarks says of every row whether it holds its target; the most telling stand in README."""

from __future__ import annotations

import pytest
from benchmarks.common import TABLE_HEAD, in_readme, met, row, table_line
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
def test_a_row_that_misses_its_target_is_marked(
    ours: float, reference: float, target: str, holds: bool
) -> None:
    found = row("something", ours, "another", reference, target)
    assert met(found) is holds
    assert table_line(found).endswith("| yes |" if holds else "| **no** |")


def test_a_target_that_cannot_be_compared_is_no_target() -> None:
    with pytest.raises(ValueError, match="is no target"):
        met(row("something", 1.0, "another", 1.0, "fast"))


def test_readme_shows_few_rows_of_the_table_that_was_measured_and_all_that_miss_their_target() -> (
    None
):
    measured = [line for line in _lines("benchmarks/RESULTS.md") if line.startswith("|")]
    assert tuple(measured[:2]) == TABLE_HEAD
    lines = _lines("README.md")
    begin, end = lines.index("<!-- benchmarks -->"), lines.index("<!-- end of benchmarks -->")
    shown = lines[begin + 1 : end]
    assert shown == in_readme(measured)
    assert [line for line in measured if "**no**" in line] == [
        line for line in shown if "**no**" in line
    ]
    assert len(shown) <= 2 + len([line for line in shown if "**no**" in line]) + 5


def test_a_telling_row_whose_words_were_changed_is_missed() -> None:
    with pytest.raises(ValueError, match="the table has no row"):
        in_readme([*TABLE_HEAD, "| something | 1 s | another | 1 s | 1 | ratio ≤ 1 | yes |"])


def _lines(name: str) -> list[str]:
    return (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
