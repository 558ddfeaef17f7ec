"""Whole rows of people in a release, told together where they are too few to be told one by one from accidents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.density import log_densities
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.result import Caveat, Rate
from kakurenbo.audit.rows import row_keys
from kakurenbo.audit.tracing import released_form
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message, text

_RARELY = 0.01  # p-value, or number of copies, below which chance made none
_RARELY_NEAR = (
    0.005  # the same of copies with one or two cells changed, each of which is a test of its own
)
_SELDOM = 0.05  # p-value below which rows that stand as they are are told
_FAR_MORE = 2.0  # times as many people as of the holdout
_MOST_CHANGED = 2  # cells of a row
_FEWEST_LEFT = 3  # columns that must be left to know somebody by
_MOST_LOOKED_AT = 20_000_000  # rows times sets of columns
_LOOKED_AT = 10_000  # people by whom it is told how common rows are
_BEYOND = 10  # times as many copies as are expected, where there is no holdout to compare with
_RELEASED, _ALL_RELEASED = (
    0.25,
    0.9,
)  # shares of a holdout, beyond accidents, whose rows are released
COPIED = ("copies", "near_copies", "copies_anyway")
"""Codes of what tells that more people were copied than one by one can be told."""
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def whole_rows(frame: Frame, names: Sequence[str]) -> Keys:
    """A number for each row by its texts in these columns: numbers that are coded by groups are told apart here."""
    return frame.cells.select(names).hash_rows().to_numpy()


def copy_caveats(
    coded: Coded, tables: Tables, allowed: float = 0, rows: Sequence[Keys] = ()
) -> Iterator[Caveat]:
    """Released rows that are one person's of the original, in every column or in all but one or two, more than chance makes.

    People are given away where at the least more than ``allowed`` were copied. Where a holdout has none and hardly any are
    expected, a single one is told.

    Parameters
    ----------
    coded : Coded
    tables : Tables
        Of the same.
    allowed : float
        Records that may be copied.
    rows : sequence of arrays of uint64, shapes (n,), (m,), (h,)
        From :func:`whole_rows`, of original, release and holdout.
    """
    if len(coded.columns) < 2:
        return
    if not len(coded.holdout):
        yield from _copies_anyway(coded, tables, allowed, rows)
        return
    sizes = len(coded.original), len(coded.holdout)
    whole = _rates(tables.found([()]), sizes)
    if statistics.fisher(*whole) < _RARELY:
        yield _copied("copies", whole, allowed)
        return
    for changed in range(1, _MOST_CHANGED + 1):
        left_out = list(itertools.combinations(range(len(coded.columns)), changed))
        if (
            len(coded.columns) - changed < _FEWEST_LEFT
            or len(left_out) * sum(sizes) > _MOST_LOOKED_AT
        ):
            break
        near = _rates(tables.found(left_out), sizes)
        # A generator that follows its table closely makes rows a little nearer to everybody's; copies make far more of them.
        if statistics.fisher(*near) < _RARELY_NEAR and near[0].value > _FAR_MORE * near[1].value:
            yield _copied("near_copies", near, allowed, changed=changed)
            return
    if (few := _few_copies(rows, allowed)) is not None:
        yield few
    elif whole[0].hits and not whole[1].hits and _expected_copies(coded, coded.holdout) < _RARELY:
        yield Caveat("few_copies", {"rows": whole[0].hits}, blocks=True)


def _copied(code: str, rates: tuple[Rate, Rate], allowed: float, **told: int) -> Caveat:
    ours, theirs = rates
    least = _at_least(ours, theirs)
    return Caveat(
        code,
        {"rows": ours.hits, "control": theirs.hits, "least": least, **told},
        blocks=True,
        leaks=least > allowed,
    )


def _rates(found: tuple[Flags, Flags], sizes: tuple[int, int]) -> tuple[Rate, Rate]:
    ours, theirs = (
        statistics.rate(int(one.sum()), size) for one, size in zip(found, sizes, strict=True)
    )
    return ours, theirs


def _few_copies(rows: Sequence[Keys], allowed: float) -> Caveat | None:
    found = _verbatim(*rows) if rows else None
    if found is None:
        return None
    copies, p_value = found
    return Caveat(
        "few_copies", {"rows": copies}, blocks=True, leaks=p_value < _RARELY_NEAR and not allowed
    )


def _verbatim(ours: Keys, released: Keys, theirs: Keys | None = None) -> tuple[int, float] | None:
    """How many people's rows stand in the release as they are, and the p-value that chance made so many equal pairs of rows.

    Any two rows of different people are equal as seldom as any other two: of all pairs that are equal, those of the original
    with the release should be as large a part as they are of all pairs (binomial test). None where equal rows are common, so
    that pairs hang together, or are no more than chance makes.
    """
    there, held = np.unique(released), released[:0] if theirs is None else theirs
    copies, control = (int(np.isin(np.unique(keys), there).sum()) for keys in (ours, held))
    people = np.concatenate([ours, held])
    # Doubles in the release, too: of a table from which doubles were taken out people have none, but strangers may be theirs.
    twins = len(people) - len(np.unique(people)) + len(released) - len(there)
    if not copies or control + twins > copies / 2:
        return None
    within = (len(table) * (len(table) - 1) / 2 for table in (people, released))
    pairs = len(ours) * len(released), len(held) * len(released) + sum(within)
    p_value = statistics.binomial(
        statistics.rate(copies, copies + control + twins), pairs[0] / sum(pairs)
    )
    return (copies, p_value) if p_value < _SELDOM else None


class Tables:
    """Original, holdout and release as the release shows people, whose rows are compared by sums of a number per cell.

    The numbers are of 64 bits, so that rows of equal sums are equal but for one pair in many millions; without a column the
    sum is less by its number.
    """

    def __init__(self, coded: Coded) -> None:
        numbers = np.random.default_rng(
            0
        )  # any will do; the same ones every time, so that results are
        self._numbers = [
            numbers.integers(0, 2**64, column.released, dtype=np.uint64) for column in coded.columns
        ]
        self._rows = (
            released_form(coded, coded.original),
            released_form(coded, coded.holdout),
            coded.release,
        )
        self._sums: list[Keys] = [
            self._summed(rows, range(len(self._numbers))) for rows in self._rows
        ]

    def _summed(self, rows: Codes, places: Iterable[int]) -> Keys:
        total = np.zeros(len(rows), dtype=np.uint64)
        for place in places:
            total += self._numbers[place][rows[:, place]]
        return total

    def keys(self, left_out: Sequence[int] = ()) -> list[Keys]:
        """A number for every row of each table by the other columns."""
        return [
            whole - self._summed(rows, left_out)
            for rows, whole in zip(self._rows, self._sums, strict=True)
        ]

    def found(self, left_outs: Sequence[Sequence[int]]) -> tuple[Flags, Flags]:
        """Who of original and holdout is released, and alone in both, without some set of columns; shapes (n,), (h,)."""
        ours, theirs = (np.zeros(len(keys), dtype=bool) for keys in self._sums[:2])
        for left_out in left_outs:
            own, held, released = self.keys(left_out)
            _, inverse, counts = np.unique(
                np.concatenate([own, held]), return_inverse=True, return_counts=True
            )
            alone = counts[inverse] == 1
            there = np.unique(released)
            ours |= alone[: len(own)] & np.isin(own, there)
            theirs |= alone[len(own) :] & np.isin(held, there)
        return ours, theirs


def _copies_anyway(
    coded: Coded, tables: Tables, allowed: float, rows: Sequence[Keys]
) -> Iterator[Caveat]:
    """The same without a holdout: beside how many of the original's own people have one other there who is their like."""
    copies = int(tables.found([()])[0].sum())
    _, inverse, counts = np.unique(tables.keys()[0], return_inverse=True, return_counts=True)
    ours = statistics.rate(min(copies, len(coded.release)), len(coded.release))
    theirs = statistics.rate(int((counts[inverse] == 2).sum()), len(coded.original))
    # A table from which twins were taken has none, although people like these have: the density knows better then.
    if statistics.fisher(ours, theirs) < _RARELY and copies > _BEYOND * (
        1 + _expected_copies(coded, coded.original)
    ):
        least = _at_least(ours, theirs)
        yield Caveat(
            "copies_anyway", {"rows": copies, "least": least}, blocks=True, leaks=least > allowed
        )
    elif (few := _few_copies(rows, allowed)) is not None:
        yield few


def _at_least(ours: Rate, theirs: Rate) -> int:
    """How many people must have been copied, where more were than chance makes: one at the least."""
    return max(1, math.floor(statistics.excess(ours, theirs).low * ours.of))


def _expected_copies(coded: Coded, others: Codes) -> float:
    """How many rows of the original a release of strangers would have, by how common rows are among people."""
    some, known = (
        released_form(coded, people[:: max(1, len(people) // _LOOKED_AT)])
        for people in (coded.original, others)
    )
    common = log_densities(known, some, [column.released for column in coded.columns])
    return len(coded.original) * len(coded.release) * float(np.exp(common).mean())


def row_caveats(coded: Coded) -> Iterator[Caveat]:
    """Released rows that stand in the original as they are, where people have several and rows are no people."""
    ours, released = row_keys(released_form(coded, coded.original), coded.release)
    same = int(np.isin(released, ours).sum())
    if same:
        yield Caveat("rows_as_they_are", {"rows": same, "of": len(released)}, blocks=False)


def released_caveats(coded: Coded, tables: Tables) -> Iterator[Caveat]:
    """A holdout whose rows are released: people who are no control, for the release is made of them.

    By accident a row of the holdout is released about as often as it stands in the original, which was drawn apart from it;
    oftener from a longer release.

    Raises
    ------
    ParameterError
        Where nearly all of them are, and of the original hardly any.
    """
    if not len(coded.holdout) or len(coded.columns) < 2:
        return
    ours, theirs, released = tables.keys()
    held, own, alike = (
        float(np.isin(*pair).mean())
        for pair in ((theirs, released), (ours, released), (theirs, ours))
    )
    by_accident = 1 - (1 - alike) ** max(1.0, len(released) / len(ours))
    rows = round(held * len(theirs))
    if held > own + _ALL_RELEASED:
        raise ParameterError(
            "holdout", Message("expects.not_released"), text("expects.released_rows", rows=rows)
        )
    if held > by_accident + _RELEASED:
        yield Caveat("holdout_released", {"rows": rows, "of": len(theirs)}, blocks=True)
