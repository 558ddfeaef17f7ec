"""What released values are read as, and that nobody takes for suppressed what was not understood."""

from __future__ import annotations

import polars as pl
import pytest

from kakurenbo.audit.encoding import MOST_TEXTS, CodedColumn, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.schema import infer_schema


def coded(original: list[str], release: list[str]) -> CodedColumn:
    tables = [frame_of(name, pl.DataFrame({"a": cells})) for name, cells in (("original", original), ("release", release))]
    return encode(infer_schema(tables[0]), ["a"], tables[0], tables[1], None).columns[0]


# -- what is not understood --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "original",
    [["18", "34", "52", "90"], ["1980-02-13", "1981-11-30", "1990-01-01"], ["Tokyo", "Osaka", "Kobe"]],
    ids=["numbers", "dates", "words"],
)
def test_cells_that_are_not_understood_are_counted_with_the_commonest_of_them(original: list[str]) -> None:
    release = [*original, "", "*", "NA", "suppressed", "gross", "klein", "gross"]
    column = coded(original, release)
    assert (column.not_understood, column.example) == (3, "gross")
    plain = coded(original, [*original, "", "*", "NA", "suppressed"])
    assert (plain.not_understood, plain.example) == (0, "")


def test_rare_words_of_the_original_are_understood_and_others_are_not() -> None:
    own = [f"w{place:05d}" for place in range(2 * MOST_TEXTS)]
    foreign = [f"v{place:05d}" for place in range(3 * MOST_TEXTS)]
    assert coded(own, own).not_understood == 0
    assert coded(own, [*own[-100:], *foreign]).not_understood == len(foreign)
