"""One value in several notations: ``1`` and ``1.0``, ``Tokyo`` and ``tokyo``, ``NA`` and ``?``.

Attacks read what cells mean, so which of several notations stands in a cell can carry what none of them sees.
"""

from __future__ import annotations

import re
import unicodedata

import polars as pl

from kakurenbo.audit.encoding import tells_nothing
from kakurenbo.audit.schema import ColumnSchema
from kakurenbo.audit.values import parts_of_list

_MOST_DIFFERENT = 200_000  # texts, beyond which a column holds free text, which is told otherwise
_NOTHING = "nothing"
_UNSEEN = re.compile(r"[\s\"'`\u00ad\u200b-\u200f\u2060\ufeff]+")
_DASHES = re.compile(r"[‐-―−~〜]|\.\.+|…")  # as between the ends of a band


def notations(column: ColumnSchema, own: pl.Series, released: pl.Series) -> int:
    """How many released cells hold a notation that the original lacks, of a value that stands there in another one, too.

    A notation that a whole column keeps to is one: ages that all end in ``.0``, names that all are in capitals, stars where the
    original has empty cells.

    Parameters
    ----------
    column : ColumnSchema
    own, released : Series of str
        Cells of the original, and of the release as it was read.
    """
    different = released.alias("text").unique()
    if len(different) > _MOST_DIFFERENT and not column.numeric:
        return 0
    meaning = (
        column.numbers(different).cast(pl.String)
        if column.numeric
        else pl.Series([None] * len(different), dtype=pl.String)
    )
    words = different.filter(meaning.is_null())
    if len(words) > _MOST_DIFFERENT:
        return 0
    folded = words.map_elements(_meaning, return_dtype=pl.String) if len(words) else words
    texts = pl.DataFrame(
        [
            different.filter(meaning.is_not_null()).append(words),
            meaning.drop_nulls().append(folded).alias("value"),
        ]
    )
    texts = texts.with_columns(new=~pl.col("text").is_in(own.unique().implode()))
    # Beside the original's own signs for what is missing a release may have one for what it suppressed.
    count = (
        pl.when(pl.col("value") == _NOTHING)
        .then(pl.col("new").sum())
        .otherwise(pl.len())
        .over("value")
    )
    marked = texts.filter((count > 1) & pl.col("new"))
    return int(released.is_in(marked["text"].implode()).sum())


def _meaning(text: str) -> str:
    """What a text that is no number says, however it is written."""
    if tells_nothing(text):
        return _NOTHING
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", text).casefold())
    return "|".join(sorted(_UNSEEN.sub("", part) for part in parts_of_list(plain)))
