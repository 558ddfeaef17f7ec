"""All pairs of a released row and a person, in compiled loops: odds of membership, nearest rows, likelihoods and votes.

The sum of odds is the contests' own. Everything else goes by tiles: what some released rows give each value of a column stands
side by side in memory, so that one look-up of a person's value serves all of these rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.records.pairwise import GROUP_SIZE, Pairs, summed_odds
from kakurenbo.audit.encoding import Codes, Floats

_SMALLEST_GROUP = 128  # values of a group of the contests' pairs
_PER_PERSON = 0.25  # values of such a group for each person
_FEW_GROUPS = 3
_OF_MANY = (
    1024  # values of each of more groups than that: the factors of all of them stay in a fast cache
)
_TOGETHER = 64  # values that small columns may have together to share a look-up
_AT_A_TIME = 262_144  # people who are looked up together, for the sake of memory
_MOST_VOTES = 32_000_000  # that are counted at a time, for the same reason
_NOTHING = 1e-3  # of a person's votes: what all rows that are passed over could add together
_IMPOSSIBLE = 1e-30  # in the place of 0, so that a column can be taken out of a product again
Places = NDArray[np.uint32]


def membership_odds(
    people: Codes, release: Codes, transitions: Sequence[Floats], strangers: Floats
) -> Floats:
    """The odds that each person made a released row, and nobody else did, summed over rows, shape (n,).

    Parameters
    ----------
    people : array of int32, shape (n, columns)
        Original codes of members and others.
    release : array of int32, shape (m, columns)
        Released codes.
    transitions : sequence of arrays, shape (size, released)
        P(released code | original code) of each column.
    strangers : array, shape (m,)
        How many people whom nobody asks about are expected to make each row: a common row needs no person of ours.
    """
    pairs = Pairs.of(_columns(people), transitions, _group_size(len(people), transitions))
    # The strangers are one more person, whose factors stand behind all others: how many they are, then ones.
    groups, last = len(pairs.slots), pairs.count
    slots = np.column_stack([pairs.slots, np.arange(last, last + groups, dtype=np.uint32)])
    return summed_odds(
        slots, _with_strangers(pairs.products(_columns(release)), strangers, groups)
    )[:-1]


def _group_size(count: int, transitions: Sequence[Floats]) -> int:
    """Values of a group: for few people it costs more to fill one than to look it up."""
    most = min(max(int(_PER_PERSON * count), _SMALLEST_GROUP), GROUP_SIZE)
    many = math.prod(len(matrix) for matrix in transitions) > most**_FEW_GROUPS
    return min(most, _OF_MANY) if many else most


def _with_strangers(blocks: Iterator[Floats], strangers: Floats, groups: int) -> Iterator[Floats]:
    """Blocks of factors, each with as many more as there are groups: the number of strangers, then ones."""
    first = 0
    for factors in blocks:
        theirs = np.ones((len(factors), groups))
        theirs[:, 0] = strangers[first : first + len(factors)]
        yield np.hstack([factors, theirs])
        first += len(factors)


def _columns(codes: Codes) -> list[Codes]:
    return [np.ascontiguousarray(codes[:, place]) for place in range(codes.shape[1])]


# -- tiles ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LookUps:
    """People as places in the tiles of released rows.

    Attributes
    ----------
    slots : array of uint32, shape (n, groups)
        Where each person's values stand in a tile.
    groups : tuple of (first place, columns, values), values of shape (k, columns of the group)
        What stands in a tile: the values that occur together in some columns.
    """

    slots: Places
    groups: tuple[tuple[int, list[int], Places], ...]

    @classmethod
    def of(cls, people: Codes, sizes: Sequence[int]) -> _LookUps:
        slots, groups, first = [], [], 0
        for columns, keys, values in _grouped(people, sizes):
            slots.append(first + keys)
            groups.append((first, columns, values))
            first += len(values)
        return cls(np.column_stack(slots).astype(np.uint32), tuple(groups))

    @property
    def count(self) -> int:
        first, _, values = self.groups[-1]
        return first + len(values)

    def products(
        self, release: Codes, matrices: Sequence[Floats]
    ) -> Iterator[tuple[slice, Floats]]:
        """The rows of each tile, and the product over a group's columns of what these rows give its values."""
        from kakurenbo.audit.kernels import multiply_tile

        return self._tiles(release, matrices, 1.0, multiply_tile)

    def sums(self, release: Codes, matrices: Sequence[Floats]) -> Iterator[tuple[slice, Floats]]:
        """The same with sums."""
        from kakurenbo.audit.kernels import add_tile

        return self._tiles(release, matrices, 0.0, add_tile)

    def _tiles(
        self, release: Codes, matrices: Sequence[Floats], start: float, combine: Callable[..., None]
    ) -> Iterator[tuple[slice, Floats]]:
        """Each tile in the same memory, shape (places, TILE)."""
        from kakurenbo.audit.kernels import TILE

        given = [np.ascontiguousarray(matrix, dtype=np.float64) for matrix in matrices]
        tile = np.empty((self.count, TILE))
        for rows, codes in tiles_of(release):
            tile[:] = start
            for first, columns, values in self.groups:
                for place, column in enumerate(columns):
                    combine(
                        tile[first : first + len(values)],
                        given[column],
                        values[:, place],
                        codes[column],
                    )
            yield rows, tile


def tiles_of(release: Codes) -> Iterator[tuple[slice, Places]]:
    """Released rows in tiles, and their codes column by column, shape (columns, TILE); the last row fills the last tile up."""
    from kakurenbo.audit.kernels import TILE

    for first in range(0, len(release), TILE):
        rows = slice(first, min(first + TILE, len(release)))
        whole = np.minimum(np.arange(first, first + TILE), len(release) - 1)
        yield rows, np.ascontiguousarray(release[whole].T, dtype=np.uint32)


def _grouped(
    people: Codes, sizes: Sequence[int]
) -> Iterator[tuple[list[int], NDArray[np.int64], Places]]:
    """Columns that are looked up together, the number of each person's values in them, and these values, shape (k, columns).

    Small columns share a look-up as long as few of their values occur together; what is large has one of its own.
    """
    numbered = [
        _numbered(people[:, place].astype(np.int64), size) for place, size in enumerate(sizes)
    ]
    order = sorted(range(len(sizes)), key=lambda place: len(numbered[place][1]))
    columns, (keys, own) = [order[0]], numbered[order[0]]
    values = own[:, None]
    for place in order[1:]:
        theirs, other = numbered[place]
        if len(values) * len(other) <= _TOGETHER**2:  # else too many to look
            together, pairs = _numbered(keys * len(other) + theirs, len(values) * len(other))
            if len(pairs) <= _TOGETHER:
                values = np.column_stack([values[pairs // len(other)], other[pairs % len(other)]])
                columns, keys = [*columns, place], together
                continue
        yield columns, keys, values.astype(np.uint32)
        columns, keys, values = [place], theirs, other[:, None]
    yield columns, keys, values.astype(np.uint32)


def _numbered(codes: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes numbered from 0 as they occur, and the codes that do."""
    occurs = np.zeros(size, dtype=bool)
    occurs[codes] = True
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def nearest_rows(
    people: Codes, release: Codes, costs: Sequence[Floats]
) -> tuple[Floats, NDArray[np.int64]]:
    """The least cost at which any released row can be taken for each person's, and the first such row, shapes (n,).

    Costs add up over columns.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    costs : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import take_least

    places = _LookUps.of(people, [len(matrix) for matrix in costs])
    least, nearest = np.full(len(people), np.inf), np.zeros(len(people), dtype=np.int64)
    for rows, tile in places.sums(release, costs):
        take_least(places.slots, tile, rows.start, least, nearest)
    return least, nearest


def likelihoods(people: Codes, release: Codes, transitions: Sequence[Floats]) -> Iterator[Floats]:
    """P(released row | person), shape (block, n), for one block of released rows after the other; each in the same memory.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    transitions : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import TILE, fill_products

    places = _LookUps.of(people, [len(matrix) for matrix in transitions])
    products = np.empty((len(people), TILE))
    for rows, tile in places.products(release, transitions):
        fill_products(places.slots, tile, products)
        yield products[:, : rows.stop - rows.start].T


def expected_makers(people: Codes, release: Codes, transitions: Sequence[Floats]) -> Floats:
    """How many of these people are expected to make each released row: their likelihoods, summed, shape (m,).

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    transitions : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import TILE, sum_products

    summed = np.zeros(len(release))
    for first in range(0, len(people), _AT_A_TIME):
        places = _LookUps.of(
            people[first : first + _AT_A_TIME], [len(matrix) for matrix in transitions]
        )
        for rows, tile in places.products(release, transitions):
            made = np.zeros(TILE)
            sum_products(places.slots, tile, made)
            summed[rows] += made[: rows.stop - rows.start]
    return summed


# -- votes ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sought:
    """A column that released rows vote on.

    Attributes
    ----------
    column : int
        Its number among the columns by which people are known, which it takes no part in; -1 where it is none of them.
    weights : array, shape (m,)
        Of every released row.
    shown : array of int, shape (m,)
        Its value in every released row, below ``values``.
    values : int
    """

    column: int
    weights: Floats
    shown: NDArray[np.integer]
    values: int


def votes_on(
    people: Codes, release: Codes, transitions: Sequence[Floats], sought: Sequence[Sought]
) -> Iterator[Floats]:
    """How likely the released rows that show each value are each person's, shape (n, values), for one column after the other.

    All columns are voted on in one pass over the pairs: of the product of everything a column is taken out again.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
        What is known of people, and released in the same columns.
    transitions : sequence of arrays, shape (size, released)
    sought : sequence of Sought
    """
    possible = [np.maximum(matrix, _IMPOSSIBLE) for matrix in transitions]
    places = _LookUps.of(people, [len(matrix) for matrix in possible])
    batch: list[Sought] = []
    for one in sought:
        if (
            batch
            and (sum(other.values for other in batch) + one.values) * len(people) > _MOST_VOTES
        ):
            yield from _voted_together(places, people, release, possible, batch)
            batch = []
        batch.append(one)
    if batch:
        yield from _voted_together(places, people, release, possible, batch)


def _voted_together(
    places: _LookUps,
    people: Codes,
    release: Codes,
    transitions: Sequence[Floats],
    sought: Sequence[Sought],
) -> list[Floats]:
    from kakurenbo.audit.kernels import TILE, add_votes, divide_tile

    ends = np.cumsum([one.values for one in sought])
    votes, total = np.zeros((len(people), int(ends[-1]))), np.zeros((len(people), len(sought)))
    # What turns the product of all columns into that of all but the one that is voted on, times the weight of the row.
    own, values = _ratio_places(sought, people)
    ratios = np.empty((sum(map(len, values)), TILE))
    weights, shown = np.zeros(TILE), np.zeros((len(sought), TILE), dtype=np.uint32)
    everything = zip(places.products(release, transitions), tiles_of(release), strict=True)
    for (rows, tile), (_, codes) in everything:
        size, first = rows.stop - rows.start, 0
        for number, (one, its) in enumerate(zip(sought, values, strict=True)):
            weights[:] = 0
            weights[:size] = one.weights[rows]
            shown[number, :size] = one.shown[rows] + (ends[number] - one.values)
            part = ratios[first : first + len(its)]
            part[:] = weights
            if one.column >= 0:
                divide_tile(part, transitions[one.column], its, codes[one.column])
            first += len(its)
        add_votes(places.slots, tile, own, ratios, shown, _NOTHING / len(release), votes, total)
    return np.split(votes, ends[:-1], axis=1)


def _ratio_places(sought: Sequence[Sought], people: Codes) -> tuple[Places, list[Places]]:
    """Where each person's ratio of each column stands, shape (n, sought), and the values that the ratios are of."""
    own, values, first = [], [], 0
    for one in sought:
        codes = (
            people[:, one.column].astype(np.int64)
            if one.column >= 0
            else np.zeros(len(people), dtype=np.int64)
        )
        keys, its = _numbered(codes, int(codes.max()) + 1)
        own.append(first + keys)
        values.append(its.astype(np.uint32))
        first += len(its)
    return np.column_stack(own).astype(np.uint32), values
