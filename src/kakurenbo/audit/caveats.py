"""What an audit could not attack, or not honestly: told beside the verdict, which must not reassure where it cannot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.encoding import Coded
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.membership import nearest_to
from kakurenbo.audit.notations import notations
from kakurenbo.audit.people import as_if_released
from kakurenbo.audit.result import NAMES, Caveat, RecodedColumn, Risk
from kakurenbo.audit.schema import TableSchema
from kakurenbo.audit.spelling import digested
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message, text

_MOSTLY = 0.5  # share of all cells
_LONGER, _LONG = (
    3,
    20,
)  # times the original's longest cell, and bytes, beyond which a cell is no value, band or list
_SPACES = 2  # between the words of a free text, on average
_MORE_DIGITS = 3  # after the point than the original has
_GROUPS = 20  # of the values of a column, whose shares are compared
_UNLIKE = (
    0.1  # share of people by which a holdout may differ in a column, beyond what two samples do
)
_LOOKED_AT = 10_000  # people by whom it is told how common rows are, and near whom others may be
_COMPARED, _FEWEST_COMPARED = 500, 20  # people of each table
_NEARER = 0.7  # share of pairs in which somebody of the holdout is the nearer; a half where both are like people
_SURE = 4.0  # standard deviations beyond which an overlap is no accident
_SOME_OVERLAP, _ALL_OVERLAP = 0.05, 0.9  # shares of the holdout


def column_caveats(
    original: Frame,
    release: Frame,
    identifiers: Sequence[str],
    ignored: Sequence[str] = (),
    schema: Sequence[str] | None = None,
    digests: Set[str] = frozenset(),
) -> Iterator[Caveat]:
    """Columns of a release that no attack looks at: nobody may be reassured of those that nobody vouches for."""
    known = {name.casefold(): name for name in original.columns}
    tables = (release, *release.parts)
    for name in dict.fromkeys(column for frame in tables for column in frame.columns):
        like = known.get(name.casefold(), "")
        if name in digests:
            continue  # which is told already
        if name in identifiers:
            own = original.cells[name].unique().implode()
            cells = sum(
                int(table.cells[name].is_in(own).sum()) for table in tables if name in table.columns
            )
            yield Caveat(
                "identifier_released",
                {"column": name, "cells": cells},
                blocks=True,
                leaks=cells > 0,
            )
        elif like and name not in original.columns and like not in release.columns:
            yield Caveat("column_by_case", {"column": name, "like": like}, blocks=True)
        elif name not in original.columns:
            told = [_identified(original, one, name, tables) for one in identifiers]
            yield next(
                (caveat for caveat in told if caveat is not None),
                Caveat(
                    "ignored_column" if name in ignored else "foreign_column",
                    {"column": name},
                    name not in ignored,
                ),
            )
        elif schema is not None and name not in schema:
            yield Caveat(
                "ignored_column" if name in ignored else "not_in_schema",
                {"column": name},
                name not in ignored,
            )


def _identified(
    original: Frame, identifier: str, column: str, tables: Sequence[Frame]
) -> Caveat | None:
    """Whether a column of another name holds digests of people's identifiers; these themselves are known by their values."""
    cells = (
        pl.concat([table.cells[column] for table in tables if column in table.columns])
        .unique()
        .sort()
    )
    found = digested(
        identifier, cells.to_list(), original.cells[identifier].unique().sort().to_list()
    )
    told = {"column": column, "like": identifier, "rule": "" if found is None else found.rule}
    return None if found is None else Caveat("digests_elsewhere", told, blocks=True, leaks=True)


def digest_caveats(undone: Sequence[RecodedColumn], identifying: Sequence[str]) -> Iterator[Caveat]:
    """Columns of pseudonyms that are digests of people's names, which everybody can make who has the names."""
    for one in undone:
        if one.column in identifying:
            yield Caveat(
                "digests_of_names",
                {"column": one.column, "rule": one.rule},
                blocks=True,
                leaks=True,
            )


def form_caveats(
    schema: TableSchema, original: Frame, release: Frame, ignored: Sequence[str]
) -> Iterator[Caveat]:
    """Columns whose released cells can carry what no attack reads: free text of other words, digits beyond the original's."""
    for column in schema:
        if column.name not in release.columns or column.name not in original.columns:
            continue
        own, shown = original.cells[column.name], release.cells[column.name]
        blocks = column.name not in ignored
        longest = [int(texts.str.len_bytes().max() or 0) for texts in (own, shown)]  # type: ignore[arg-type]
        if longest[1] > _LONGER * longest[0] + _LONG:
            yield Caveat(
                "long_cells",
                {"column": column.name, "bytes": longest[1], "own": longest[0]},
                blocks,
            )
        if column.kind == "text" and (own.str.count_matches(r"\s+").mean() or 0) >= _SPACES:  # type: ignore[operator]
            new = int((~shown.is_in(own.unique().implode())).sum())
            if new > _MOSTLY * len(shown):
                yield Caveat("free_text", {"column": column.name, "cells": new}, blocks)
        elif column.kind in ("integer", "decimal"):
            digits = [_digits(texts) for texts in (own, shown)]
            if digits[1] >= digits[0] + _MORE_DIGITS:
                yield Caveat(
                    "more_digits",
                    {"column": column.name, "digits": digits[1], "own": digits[0]},
                    blocks,
                )


def notation_caveats(
    schema: TableSchema, original: Frame, release: Frame, ignored: Sequence[str]
) -> Iterator[Caveat]:
    """Columns in which one value is written in several ways, in cells as they were read."""
    tables = release.parts or (release,)
    for column in schema:
        shown = [table.cells[column.name] for table in tables if column.name in table.columns]
        cells = notations(column, original.cells[column.name], pl.concat(shown)) if shown else 0
        if cells:
            yield Caveat(
                "notations", {"column": column.name, "cells": cells}, column.name not in ignored
            )


def _digits(texts: pl.Series) -> int:
    """Digits after the point that most numbers have; missing cells are none."""
    numbers = texts.filter(texts.str.contains(r"^\s*[+-]?[0-9]*[.]?[0-9]+\s*$"))
    counts = numbers.str.extract(r"[.]([0-9]+)\s*$", 1).str.len_chars().fill_null(0)
    return int(counts.quantile(0.5, "nearest") or 0)


def unread_caveats(coded: Coded, recoded: Sequence[RecodedColumn]) -> Iterator[Caveat]:
    """Columns of which released values are neither understood, nor said to be suppressed, nor other names that were undone."""
    for column in coded.columns:
        if column.not_understood and column.name not in _by_other_names(recoded):
            told = {
                "column": column.name,
                "cells": column.not_understood,
                "example": column.example,
            }
            yield Caveat("not_understood", told, blocks=True)


def mostly_unread(coded: Coded, recoded: Sequence[RecodedColumn]) -> bool:
    """Whether more than half of the released cells are not understood, so that nothing that was not found is shown absent."""
    unread = sum(
        column.not_understood
        for column in coded.columns
        if column.name not in _by_other_names(recoded)
    )
    return unread > _MOSTLY * coded.release.size


def _by_other_names(recoded: Sequence[RecodedColumn]) -> Set[str]:
    """Columns whose values were told by how common they are: every one that is not understood has a name there."""
    return {one.column for one in recoded if one.rule == NAMES}


def near_caveats(coded: Coded, rng: np.random.Generator) -> Iterator[Caveat]:
    """A holdout of people who are nearer to those of the original than these are to each other: changed copies of them."""
    drawn = [people[rng.permutation(len(people))] for people in (coded.original, coded.holdout)]
    count = min(
        _COMPARED, len(drawn[0]) // 10, len(drawn[1])
    )  # most of the original must be there to be near to
    if count < _FEWEST_COMPARED:
        return
    base = as_if_released(coded, drawn[0][count : count + _LOOKED_AT])
    ours, theirs = (nearest_to(base, some[:count])[0] for some in drawn)
    nearer = float(
        (theirs[:, None] < ours[None, :]).mean() + (theirs[:, None] == ours[None, :]).mean() / 2
    )
    if nearer > _NEARER:
        yield Caveat("holdout_near", {}, blocks=True)


def unlike_caveats(coded: Coded) -> Iterator[Caveat]:
    """Columns in which the holdout is of other people than the original: what attacks tell of them is then no control."""
    if not len(coded.holdout):
        return
    rows = len(coded.original), len(coded.holdout)
    for place, column in enumerate(coded.columns):
        groups = _in_groups(coded.original[:, place], column.size)
        shares = [
            np.bincount(groups[table[:, place]]) / len(table)
            for table in (coded.original, coded.holdout)
        ]
        ours, theirs = (np.pad(share, (0, int(groups.max()) + 1 - len(share))) for share in shares)
        # Two samples of the same people differ, too: by about the mean of |N(0, p (1/n + 1/m))| in a group of share p.
        by_chance = (
            np.sqrt(2 / np.pi * (ours + theirs) / 2 * sum(1 / size for size in rows)).sum() / 2
        )
        apart = float(np.abs(ours - theirs).sum() / 2)
        if apart > by_chance * (1 + _SURE / math.sqrt(len(ours))) + _UNLIKE:
            yield Caveat("holdout_unlike", {"column": column.name, "apart": apart}, blocks=True)


def _in_groups(codes: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """The group of each code, shape (size,): about equally many people each, in the order of the codes."""
    seen = np.bincount(codes, minlength=size)
    return np.asarray(
        ((np.cumsum(seen) - seen / 2) / max(1, seen.sum()) * _GROUPS).astype(np.int64)
    )


def overlap_caveats(original: Frame, holdout: Frame) -> Iterator[Caveat]:
    """People of the original in the holdout, whom no attack must tell from others.

    Rows that two people share by accident are no overlap: a row of the holdout has an equal one in the original about as often
    as a row of the original has another one there.

    Raises
    ------
    ParameterError
        Where nearly the whole holdout is from the original.
    """
    names = [name for name in original.columns if name in holdout.columns]
    if not names:
        return  # which is refused where it is seen what the release has
    ours, theirs = (frame.cells.select(names).hash_rows() for frame in (original, holdout))
    shared = theirs.is_in(ours.unique().implode()).to_numpy()
    alike = float((~ours.is_unique()).to_numpy().mean())
    by_accident = max(alike, 1 / max(1, len(ours)))
    beyond = float(shared.mean()) - by_accident - _SURE * math.sqrt(by_accident / len(theirs))
    if beyond > 0 and shared.mean() > _ALL_OVERLAP:
        raise ParameterError(
            "holdout",
            Message("expects.strangers"),
            text("expects.rows_of_original", rows=int(shared.sum())),
        )
    if beyond > _SOME_OVERLAP:
        yield Caveat("holdout_overlap", {"rows": int(shared.sum()), "of": len(theirs)}, blocks=True)


def baseline_caveats(
    baseline: Mapping[str, Any], original: Mapping[str, Any], risks: Mapping[str, Risk]
) -> Iterator[Caveat]:
    """What a comparison with an earlier audit does not tell.

    An original of other columns is another table, and its risks say nothing of this one's: that blocks. One of the same
    columns is likely the same table at another time, which is what builds compare: that is told.

    Parameters
    ----------
    baseline : mapping
        The JSON of the earlier audit; empty where there is none.
    original : mapping
        The facts of the present original (:meth:`kakurenbo.audit.frames.Frame.facts`).
    risks : mapping of str to Risk
        Of the present audit.
    """
    if not baseline:
        return
    before = baseline["method"]["files"]["original"]
    # By content, since a data frame has another digest than the file that it was read from; older audits do not tell it.
    compared = "cells" if "cells" in before else "sha256"
    if others := set(before["columns"]) ^ set(original["columns"]):
        yield Caveat(
            "baseline_columns", {"file": before["name"], "columns": sorted(others)}, blocks=True
        )
    elif before[compared] != original[compared]:
        yield Caveat("baseline_original", {"file": before["name"]}, blocks=False)
    earlier = baseline["risks"]
    lost = [
        name
        for name, risk in risks.items()
        if not risk.assessed and earlier.get(name, {}).get("assessed") is True
    ]
    if lost:
        yield Caveat("baseline_not_assessed", {"risks": lost}, blocks=True)
