"""Columns of a release under other names than the original's: paired by names that are the same but for how they are written,
and by values, where these leave no doubt.

A released column that could be two of the original's, or one that was never there, is not guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.audit.encoding import CodedColumn, Codes, encode
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.result import Caveat
from kakurenbo.audit.schema import ColumnSchema, TableSchema

Floats = NDArray[np.float64]
_POOL_ROWS, _RELEASED_ROWS = 10_000, 2_000  # rows that are looked at
_MOST_PAIRS = 2_500  # of columns whose values are compared; where there are more, names alone are
_GROUPS = 20  # of the values of a column, whose shares are compared
_MOST_UNREAD = 0.02  # share of the cells of a column that are no values of the original's
_ALIKE = 0.15  # most that shares may differ, beyond what two samples do
_WORDS_ALIKE = 0.3  # of words and dates, which by themselves tell what they are
_APART = 0.15  # by how much the next best must be worse
_SAME_WORD = 0.3  # what a word that both names have counts
_FEWEST_WORDS = 2  # values of a column that can be told by them at all
_FEWEST_NUMBERS = 4
_ANY_COLUMN = {"0", "1", "2", "y", "n", "yes", "no", "t", "f", "true", "false", "on", "off", "x"}
_ANY_COLUMN |= {"○", "×", "有", "無", "あり", "なし", "はい", "いいえ"}
"""Values that tell nothing of what they are about."""
_IMPOSSIBLE = 1e3
_LONGER, _LONG = (
    3,
    20,
)  # times the original's longest name, and characters, beyond which a name is more than one
_LOOKED_AT = 500  # cells


def renamed(
    schema: TableSchema, original: Frame, release: Frame, holdout: Frame | None
) -> tuple[Frame, tuple[Caveat, ...]]:
    """The release with its columns under the original's names, as far as these are told, and what was taken for what.

    Parameters
    ----------
    schema : TableSchema
        Of the original, inferred from all its columns or given.
    original, release : Frame
        Every file of a release that has several is looked at for itself.
    holdout : Frame or None
    """
    if release.parts:
        found = [_renamed_table(schema, original, part, holdout) for part in release.parts]
        parts = tuple(part for part, _ in found)
        caveats = {caveat.parameters["column"]: caveat for _, told in found for caveat in told}
        return replace(release, cells=parts[0].cells, parts=parts), tuple(caveats.values())
    return _renamed_table(schema, original, release, holdout)


def _renamed_table(
    schema: TableSchema, original: Frame, release: Frame, holdout: Frame | None
) -> tuple[Frame, tuple[Caveat, ...]]:
    foreign = [name for name in release.columns if name not in original.columns]
    absent = [name for name in original.columns if name not in release.columns]
    if not foreign or not absent:
        return release, ()
    pairs = _same_names(foreign, absent)
    foreign = [
        name for name in foreign if name not in pairs and not _numbers_rows(release.cells[name])
    ]
    absent = [name for name in absent if name not in pairs.values() and name in schema.names]
    if foreign and absent and len(foreign) * len(schema) <= _MOST_PAIRS:
        held = original if holdout is None else replace(original, cells=_pool(original, holdout))
        pairs |= _same_values(schema, held, release, foreign, absent)
    longest = max(map(len, original.columns))
    caveats = tuple(
        # A name can carry a table, too.
        Caveat(
            "column_renamed",
            {"column": new, "like": old},
            blocks=len(new) > _LONGER * longest + _LONG,
        )
        for new, old in pairs.items()
    )
    return replace(release, cells=release.cells.rename(pairs)), caveats


def _pool(original: Frame, holdout: Frame) -> pl.DataFrame:
    """Both, in the columns that both have: whom the release was made of must not matter to how it is read."""
    shared = [name for name in original.columns if name in holdout.columns]
    return pl.concat([original.cells, holdout.cells.select(shared)], how="diagonal").fill_null("")


# -- by names ---------------------------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    """A name without what writers change at will.

    Examples
    --------
    >>> _plain("Date of birth") == _plain("DATE_OF-BIRTH")
    True
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())


def _words(name: str) -> set[str]:
    """The words of a name.

    Examples
    --------
    >>> sorted(_words("AGE_years")), sorted(_words("hba1cValue"))
    (['age', 'years'], ['hba1c', 'value'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    return {word.casefold() for word in re.split(r"[\W_]+", spaced) if word}


def _same_names(foreign: Sequence[str], absent: Sequence[str]) -> dict[str, str]:
    """Names that are the same but for case, punctuation and blanks, where only one is."""
    plain = [_plain(name) for name in (*foreign, *absent)]
    pairs = {}
    for new in foreign:
        old = [name for name in absent if _plain(name) == _plain(new)]
        if len(old) == 1 and _plain(new) and plain.count(_plain(new)) == 2:
            pairs[new] = old[0]
    return pairs


# -- by values --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Likeness:
    """How a released column and one of the original's are alike.

    Attributes
    ----------
    distance : float
        Beside those of other pairs; a word that both names have makes it less.
    fits : bool
        Whether the values are so alike that they may be the same column's.
    """

    distance: float
    fits: bool


_UNLIKE = _Likeness(_IMPOSSIBLE, False)


def _same_values(
    schema: TableSchema, pool: Frame, release: Frame, foreign: Sequence[str], absent: Sequence[str]
) -> dict[str, str]:
    """Pairs that fit, and that nothing else comes near to: no other released column, and no other one of the original, not even
    one that is released under its own name."""
    names = [
        *absent,
        *(name for name in schema.names if name in pool.columns and name not in absent),
    ]
    ours = replace(pool, cells=_some(pool.cells.select(names), _POOL_ROWS))
    theirs = _some(release.cells.select(foreign), _RELEASED_ROWS)
    found = [
        [_likeness(schema[old], ours, theirs[new], _share_a_word(new, old)) for old in names]
        for new in foreign
    ]
    distances = np.array([[one.distance for one in row] for row in found])
    pairs = {}
    rows, places = linear_sum_assignment(distances[:, : len(absent)])
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        one = found[row][place]
        others = np.concatenate(
            [np.delete(distances[row], place), np.delete(distances[:, place], row)]
        )
        if one.fits and one.distance + _APART <= others.min(initial=_IMPOSSIBLE):
            pairs[foreign[row]] = absent[place]
    return pairs


def _numbers_rows(released: pl.Series) -> bool:
    """Whether a column does nothing but count: any table may have one, and it is nobody's."""
    numbers = released.cast(pl.Int64, strict=False)
    low, high = numbers.min(), numbers.max()
    if numbers.null_count() or not isinstance(low, int) or not isinstance(high, int):
        return False
    return numbers.n_unique() == len(numbers) and high - low < 2 * len(numbers)


def _some(cells: pl.DataFrame, most: int) -> pl.DataFrame:
    """Some rows from everywhere in the table."""
    return cells.gather_every(-(-cells.height // most))


def _share_a_word(new: str, old: str) -> bool:
    one, other = _words(new), _words(old)
    return bool(one and other) and (one <= other or other <= one)


def _likeness(schema: ColumnSchema, pool: Frame, released: pl.Series, same_word: bool) -> _Likeness:
    if _has_digits(pool.cells[schema.name]) != _has_digits(released):
        return _UNLIKE
    column = released.alias(schema.name)
    coded = encode(
        TableSchema((schema,)), [schema.name], pool, Frame("", pl.DataFrame([column]), ""), None
    )
    values, people, rows = coded.columns[0], coded.original[:, 0], coded.release[:, 0]
    if values.not_understood > _MOST_UNREAD * len(rows) or not (
        same_word or _tells(schema, pool.cells[schema.name], released)
    ):
        return _UNLIKE
    shares = _shares(values, people, rows)
    if shares is None:
        return _UNLIKE
    # Two samples of the same people differ, too: by about the mean of |N(0, p (1/n + 1/m))| in a group of share p.
    by_chance = (
        np.sqrt(2 / np.pi * shares.mean(axis=0) * (1 / len(people) + 1 / len(rows))).sum() / 2
    )
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    allowed = _WORDS_ALIKE if schema.kind in ("category", "text", "date") else _ALIKE
    return _Likeness(distance - _SAME_WORD * same_word, distance <= by_chance + allowed)


def _has_digits(texts: pl.Series) -> bool:
    """Whether most cells that say anything hold a digit: a quick look that spares most comparisons."""
    told = texts.filter(texts.str.contains(r"[\p{L}\p{N}]")).head(_LOOKED_AT)
    return bool(told.str.contains(r"\p{N}").sum() * 2 > len(told))


def _tells(schema: ColumnSchema, pool: pl.Series, released: pl.Series) -> bool:
    """Whether the values of a column say of themselves what they are: not such as yes and no, and not few numbers."""
    told = {text.strip().casefold() for text in pool.unique().to_list()} - {""}
    if schema.numeric:
        return len(told) >= _FEWEST_NUMBERS and released.n_unique() >= _FEWEST_NUMBERS
    return (
        len(told) >= _FEWEST_WORDS
        and released.n_unique() >= _FEWEST_WORDS
        and not told <= _ANY_COLUMN
    )


def _shares(column: CodedColumn, people: Codes, rows: Codes) -> Floats | None:
    """The shares of groups of values in the original and in the release, shape (2, groups); None where the release tells
    nothing of most cells.

    A released value that stands for several counts for each as often as it occurs. What the original has no value like is a
    group of its own.
    """
    pool = np.bincount(people, minlength=column.size) / len(people)
    seen = np.bincount(rows, minlength=column.released) / len(rows)
    telling = ~column.covers[pool > 0].all(axis=0) | (np.count_nonzero(pool) == 1)
    if seen[telling].sum() < 0.5:
        return None
    inside = (column.covers * pool[:, None]).sum(axis=0)
    exact = telling & (
        inside == 0
    )  # of no value that occurs: where it would stand among those that do
    spread = column.covers * pool[:, None] / np.where(inside > 0, inside, 1)
    spread[:, exact] = column.covers[:, exact] / np.maximum(column.covers[:, exact].sum(axis=0), 1)
    found = spread[:, telling] @ (seen[telling] / seen[telling].sum())
    groups = _groups(column, pool)
    return np.stack([np.bincount(groups, share, minlength=_GROUPS + 2) for share in (pool, found)])


def _groups(column: CodedColumn, pool: Floats) -> NDArray[np.int64]:
    """The group of each code, shape (size,): numbers by quantiles, the commonest texts each for itself."""
    if not column.numeric:
        order = np.argsort(-pool, kind="stable")
        groups = np.full(column.size, _GROUPS)
        groups[order[:_GROUPS]] = np.arange(min(_GROUPS, column.size))
        return np.where(pool > 0, groups, _GROUPS + 1)
    numbers = pool[:-1]  # the last code is a missing value
    below = np.cumsum(numbers) - numbers / 2
    groups = np.minimum((below / max(numbers.sum(), 1e-9) * _GROUPS).astype(np.int64), _GROUPS - 1)
    occurring = np.flatnonzero(numbers)
    if len(occurring):
        places = np.arange(len(numbers))
        groups[(places < occurring[0]) | (places > occurring[-1])] = _GROUPS + 1
    return np.append(groups, _GROUPS)
