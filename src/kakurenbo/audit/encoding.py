"""Original, holdout and release as integer codes of one kind, and which original codes each released value may stand for.

Wide numbers are coded by quantiles. Whatever a code depends on treats original and holdout alike, so that an attack on codes
cannot tell the one from the other by how they were coded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.frames import Frame
from kakurenbo.audit.reading import Reader
from kakurenbo.audit.schema import MISSING, ColumnSchema, TableSchema
from kakurenbo.audit.values import SUPPRESSED, are_prefixes, covered_texts

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
MOST_CODES = 512  # of a column of numbers; more different values are grouped by quantiles
MOST_TEXTS = 4096  # levels of a column of texts; rarer ones share a code
_FEWEST_TEXTS = 64  # levels that each of many columns of texts keeps, however many there are
_MOST_COVERED = 100_000_000  # original times released codes of all columns of texts, which attacks keep numbers of
_HUGE, _FAR = (
    1e100,
    1e9,
)  # what numbers are cut to, and standardized ones: a learner takes them as short floats
_ROUNDED = 0.5  # a release of so few of the original's numbers may have rounded them
_SURELY = 2.0  # standard deviations
_NEW, _ALWAYS_NEW = (
    1.5,
    0.05,
)  # times as many new values as are expected, and cells that are new in any release
_NO_BETTER = (
    0.5  # share of the histograms' distance that must go for numbers to be taken as rounded
)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column that original and release share.

    Attributes
    ----------
    name : str
    numeric : bool
    positions : array, shape (size,)
        Where each original code stands among the numbers, from 0 to 1; not a number for texts and for missing values.
    numbers : array, shape (size,)
        The numbers themselves, standardized over original and holdout, 0 where missing; of texts nothing but 0.
    covers : array of bool, shape (size, released)
        Which original codes a released code may stand for.
    shown : tuple of str
        A released text of each released code.
    exact : array of int32, shape (released,)
        The original code that a released code is, or -1 where it stands for several or none.
    not_understood : int
        Released cells that are neither read as a value or a set of values nor suppressed or missing. Attacks take them for
        something that tells nothing (numbers) or for a word of the release's own (texts), so no finding of theirs clears them.
    example : str
        The commonest text of such cells, empty where there is none.
    """

    name: str
    numeric: bool
    positions: Floats
    numbers: Floats
    covers: NDArray[np.bool_]
    shown: tuple[str, ...]
    exact: NDArray[np.int32]
    not_understood: int = 0
    example: str = ""

    @property
    def size(self) -> int:
        return len(self.covers)

    @property
    def released(self) -> int:
        return int(self.covers.shape[1])


@dataclass(frozen=True, eq=False)
class Coded:
    """The tables of an audit as codes.

    Attributes
    ----------
    columns : tuple of CodedColumn
    original, holdout : array of int32, shape (n, columns), (h, columns)
        Original codes; a holdout of no rows where there is none.
    release : array of int32, shape (m, columns)
        Released codes.
    """

    columns: tuple[CodedColumn, ...]
    original: Codes
    holdout: Codes
    release: Codes

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def select(self, places: Sequence[int]) -> Coded:
        """Some columns alone."""
        own = list(places)
        columns = tuple(self.columns[place] for place in own)
        return Coded(columns, self.original[:, own], self.holdout[:, own], self.release[:, own])

    def with_release(self, release: Codes) -> Coded:
        """The same with other released rows."""
        return replace(self, release=release)


def encode(
    schema: TableSchema,
    names: Sequence[str],
    original: Frame,
    release: Frame,
    holdout: Frame | None,
) -> Coded:
    """The columns ``names``, which original and release both have, as codes."""
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    held = none if holdout is None else holdout.cells
    texts = {name: (original.cells[name], release.cells[name], held[name]) for name in names}
    most = _most_texts([texts[name] for name in names if not schema[name].numeric])
    columns, parts = [], []
    for name in names:
        own = schema[name]
        column, codes = (
            _encode_numbers(own, *texts[name])
            if own.numeric
            else _encode_texts(own, *texts[name], most)
        )
        columns.append(column)
        parts.append(codes)
    tables = [
        np.column_stack([part[place] for part in parts]).astype(np.int32) for place in range(3)
    ]
    return Coded(tuple(columns), tables[0], tables[2], tables[1])


def _most_texts(columns: Sequence[tuple[pl.Series, pl.Series, pl.Series]]) -> int:
    """Levels that each column of texts keeps, so that those of many columns fit into memory; few columns keep all."""
    counts = [
        (pl.concat([ours, held]).n_unique(), shown.n_unique()) for ours, shown, held in columns
    ]
    most = MOST_TEXTS
    while most > _FEWEST_TEXTS and _covered(counts, most) > _MOST_COVERED:
        most //= 2
    return most


def _covered(counts: Sequence[tuple[int, int]], most: int) -> int:
    """Original times released codes, given how many different texts the columns have and how many each may keep."""
    return sum(
        (min(own, most) + 1) * min(shown, min(own, most) + most + 1) for own, shown in counts
    )


_Encoded = tuple[CodedColumn, tuple[Codes, Codes, Codes]]


def _encode_numbers(
    schema: ColumnSchema, original: pl.Series, release: pl.Series, holdout: pl.Series
) -> _Encoded:
    """Codes 0 .. groups - 1 in the order of the numbers, then one for a missing value.

    Where numbers are grouped, released ones of a group share a code, too: what tells them apart is not known of anybody.
    """
    ours, held = (schema.numbers(texts).to_numpy() for texts in (original, holdout))
    shown = release.unique().sort()
    pooled = np.concatenate([ours, held])
    reader = Reader(schema, shown, pooled)
    released, everything = reader.released, reader.everything
    firsts = everything
    if len(everything) > MOST_CODES:
        told = np.sort(pooled[~np.isnan(pooled)])
        firsts = np.unique(told[np.linspace(0, len(told) - 1, MOST_CODES).astype(np.int64)])
    missing = len(firsts)
    exact = np.where(np.isnan(released), -1, _grouped(released, firsts)).astype(np.int32)
    own = np.arange(len(shown), dtype=np.int32)  # the released code of every text
    if len(everything) > MOST_CODES:
        first, own = _together(exact)
        shown_codes, exact = shown.gather(first), exact[first]
    else:
        shown_codes = shown
    covers = np.zeros((missing + 1, len(exact)), dtype=bool)
    told_places = np.flatnonzero(exact >= 0)
    covers[exact[told_places], told_places] = True
    strange = []
    for place in np.flatnonzero(exact < 0).tolist():
        text = str(shown_codes[place])
        if (band := reader.covered(text)) is not None:
            covers[_grouped(everything[band], firsts), place] = True
        elif text.strip() in MISSING and bool(np.isnan(ours).any() or np.isnan(held).any()):
            exact[place], covers[missing, place] = missing, True
        else:
            covers[:, place] = True
            if not tells_nothing(text):
                strange.append(text)
    codes = _grouped(ours, firsts), own[_positions(release, shown)], _grouped(held, firsts)
    position = np.append(np.arange(missing) / max(missing - 1, 1), np.nan)
    standard = _standardized(firsts, np.concatenate([codes[0], codes[2]]))
    column = CodedColumn(
        schema.name,
        True,
        position,
        standard,
        covers,
        tuple(shown_codes.to_list()),
        exact,
        *_counted(strange, release),
    )
    return _unrounded(column, np.concatenate([codes[0], codes[2]]), codes[1]), codes


def tells_nothing(text: str) -> bool:
    """Whether a released text is missing or suppressed."""
    return text.strip() in MISSING or SUPPRESSED.fullmatch(text.strip()) is not None


def _counted(strange: Sequence[str], release: pl.Series) -> tuple[int, str]:
    """How many released cells hold one of the texts, and the commonest of these texts."""
    if not strange:
        return 0, ""
    found = release.filter(release.is_in(list(strange))).alias("text")
    counts = found.value_counts().sort("count", "text", descending=[True, False])
    return len(found), str(counts["text"][0])


def _together(exact: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Texts that are the same code as one: the first text of each released code, and the released code of every text."""
    unlike = np.where(
        exact >= 0, exact.astype(np.int64), exact.max(initial=0) + 1 + np.arange(len(exact))
    )
    _, first, own = np.unique(unlike, return_index=True, return_inverse=True)
    return first, own.astype(np.int32)


def _grouped(numbers: Floats, firsts: Floats) -> Codes:
    """The group of each number, given the least number of every group; the code after them where there is none."""
    group = np.clip(np.searchsorted(firsts, numbers, side="right") - 1, 0, max(len(firsts) - 1, 0))
    return np.where(np.isnan(numbers), len(firsts), group).astype(np.int32)


def _standardized(numbers: Floats, pool: Codes) -> Floats:
    """Numbers of the codes with mean 0 and variance 1 over the pool; the code after them is a missing value, and 0."""
    within = np.clip(numbers, -_HUGE, _HUGE)  # whose squares are still numbers
    told = within[pool[pool < len(numbers)]]
    if not len(told) or told.std() == 0:
        return np.zeros(len(numbers) + 1)
    return np.append(np.clip((within - told.mean()) / told.std(), -_FAR, _FAR), 0.0)


def _positions(texts: pl.Series, vocabulary: pl.Series) -> Codes:
    """Where each text stands in a sorted vocabulary."""
    return texts.cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.int32)


def _unrounded(column: CodedColumn, pool: Codes, release: Codes) -> CodedColumn:
    """The same column; where the release has few of the numbers and they fit as rounded ones, they cover what they round."""
    told = np.unique(column.exact[column.exact >= 0])
    told = told[told < column.size - 1]
    occurring = np.unique(pool)
    if (
        (column.exact < 0).any()
        or not len(told)
        or len(told) > _ROUNDED * len(occurring)
        or column.size - 1 > MOST_CODES
    ):
        return column
    numbers = np.arange(column.size - 1)
    lower = np.clip(np.searchsorted(told, numbers, side="right") - 1, 0, len(told) - 1)
    upper = np.clip(np.searchsorted(told, numbers), 0, len(told) - 1)
    nearer = np.where(numbers - told[lower] <= told[upper] - numbers, lower, upper)
    share = np.bincount(pool, minlength=column.size) / len(pool)
    seen = np.bincount(release, minlength=column.released) / len(release)
    place_of = {code: place for place, code in enumerate(column.exact.tolist())}
    best, least = column, _NO_BETTER * _distance(share, column, seen)
    for rounding in (nearer, lower, upper):
        covers = np.zeros_like(column.covers)
        covers[numbers, [place_of[code] for code in told[rounding].tolist()]] = True
        covers[-1] = column.covers[-1]
        tried = replace(column, covers=covers, exact=np.full_like(column.exact, -1))
        if (distance := _distance(share, tried, seen)) < least:
            best, least = tried, distance
    return best


def _distance(share: Floats, column: CodedColumn, seen: Floats) -> float:
    """Total variation between what is released and what the pool would give, each code to all that cover it alike."""
    weights = column.covers / np.maximum(column.covers.sum(axis=1, keepdims=True), 1)
    return float(np.abs(share @ weights - seen).sum() / 2)


def _encode_texts(
    schema: ColumnSchema, original: pl.Series, release: pl.Series, holdout: pl.Series, most: int
) -> _Encoded:
    """Codes by the sorted levels of original and holdout, the ``most`` common; all missing values are one level."""
    ours, held = (_one_missing(texts) for texts in (original, holdout))
    # Of levels that are as common as each other those are kept that a hash says: the first ones would be the original's.
    by_lot = pl.col("level").hash(0)
    counts = (
        pl.concat([ours, held])
        .alias("level")
        .value_counts()
        .sort("count", by_lot, descending=[True, False])
    )
    levels = counts["level"].head(most).sort()
    known = {level: code for code, level in enumerate(levels.to_list())}
    rest = len(known)  # what is too rare to have a code, or occurs in the release alone
    shown, own = _commonest(release, known, most)
    released = max(len(shown), int(own.max()) + 1)
    covers = np.zeros((rest + 1, released), dtype=bool)
    covers[rest, len(shown) :] = True
    exact = np.full(released, -1, dtype=np.int32)
    ordered, strange = list(known), []
    foreign = [
        text
        for text in shown
        if text not in known and not tells_nothing(text) and not text.endswith("*")
    ]
    cut = are_prefixes(foreign, ordered)
    for place, text in enumerate(shown):
        plain = "" if text.strip() in MISSING else text
        if plain in known:
            exact[place], covers[known[plain], place] = known[plain], True
        elif (
            band := covered_texts(text, ordered, cut=cut and not tells_nothing(text))
        ) is not None:
            covers[:rest, place] = band
        elif tells_nothing(text):
            covers[:, place] = True
        else:
            strange.append(text)
            covers[rest, place] = (
                True  # a word that nobody else has: a recoded value, or one of the release's own
            )
    coded = [
        texts.replace_strict(known, default=rest, return_dtype=pl.Int32).to_numpy()
        for texts in (ours, held)
    ]
    none, zero = np.full(rest + 1, np.nan), np.zeros(rest + 1)
    told = set(counts["level"].to_list())  # also the levels that are too rare to have a code
    if len(own) and len(shown) < released:
        strange += release.filter(own == len(shown)).unique().to_list()
    unknown = _counted(
        _not_merely_new([text for text in strange if text not in told], counts, release), release
    )
    column = CodedColumn(schema.name, False, none, zero, covers, tuple(shown), exact, *unknown)
    return column, (coded[0], own, coded[1])


def _not_merely_new(strange: list[str], counts: pl.DataFrame, release: pl.Series) -> list[str]:
    """Texts that are no values, without those that look like values and are no more than new people have new values.

    Of the values of further people about as many are new as there are people now whose value nobody else has (Good 1953).
    """
    if not strange:
        return []
    alone = counts.filter(pl.col("count") == 1).height
    expected = max(0.0, alone - _SURELY * math.sqrt(alone)) / max(1, int(counts["count"].sum()))
    if int(release.is_in(strange).sum()) > (_NEW * expected + _ALWAYS_NEW) * len(release):
        return strange
    shapes = {_shape(level) for level in counts["level"].to_list()}
    return [text for text in strange if _shape(text) not in shapes]


def _shape(text: str) -> tuple[int, str]:
    """How a text looks: its length, as near as a tenth, and in which order letters, digits and signs stand in it."""
    kinds = "".join("a" if one.isalpha() else "0" if one.isdigit() else one for one in text)
    return round(10 * math.log10(len(text) + 1)), re.sub(r"(.)\1+", r"\1", kinds)


def _commonest(release: pl.Series, known: Mapping[str, int], most: int) -> tuple[list[str], Codes]:
    """The released texts that have a code of their own, and every row's: all that are known, and the commonest others.

    Rarer ones share the code after them.
    """
    every = release.unique().sort()
    if len(every) <= len(known) + most:
        return every.to_list(), _positions(release, every)
    counts = release.alias("text").value_counts().sort("count", "text", descending=[True, False])
    kept = counts["text"].filter(counts["text"].is_in(list(known)))
    others = counts["text"].filter(~counts["text"].is_in(list(known))).head(most)
    shown = pl.concat([kept, others]).sort()
    codes = {text: code for code, text in enumerate(shown.to_list())}
    return shown.to_list(), release.replace_strict(
        codes, default=len(shown), return_dtype=pl.Int32
    ).to_numpy()


def _one_missing(texts: pl.Series) -> pl.Series:
    return texts.set(texts.str.strip_chars().is_in(MISSING), "")
