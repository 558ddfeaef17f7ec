"""All pairs of a released row and a person, in compiled loops: odds of membership, nearest rows, and likelihoods by blocks.

Columns are put together in few groups of small domains, so that a pair costs a look-up per group and not per column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit.encoding import Codes, Floats

_SMALLEST_GROUP, _LARGEST_GROUP = 128, 4096  # values of a group: their factors together stay in the fastest cache
_PER_PERSON = 0.25  # values of a group for each person: for few people it costs more to fill a group than to look it up
_LEAST_GROUPS = 3  # what the compiled loop takes; a group may be empty
_BLOCK = 256  # released rows whose factors are held at a time


def membership_odds(people: Codes, release: Codes, transitions: Sequence[Floats], strangers: Floats) -> Floats:
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
    from kakurenbo.attacks.membership.odds_sum import summed_odds

    groups = _groups([len(matrix) for matrix in transitions], len(people))
    slots = _slots(people, groups, transitions)
    # The strangers are one more person, whose factors stand behind all others: how many they are, then ones.
    last = sum(math.prod(len(transitions[place]) for place in group) for group in groups)
    slots = np.column_stack([slots, np.arange(last, last + len(groups), dtype=np.uint32)])
    blocks = _blocks(release, groups, transitions, np.ones((1, 1)), np.multiply)
    return summed_odds(slots, _with_strangers(blocks, strangers, len(groups)))[:-1]


def _with_strangers(blocks: Iterator[Floats], strangers: Floats, groups: int) -> Iterator[Floats]:
    """Blocks of factors, each with as many more as there are groups: the number of strangers, then ones."""
    first = 0
    for factors in blocks:
        theirs = np.ones((len(factors), groups))
        theirs[:, 0] = strangers[first : first + len(factors)]
        yield np.hstack([factors, theirs])
        first += len(factors)


def nearest_costs(people: Codes, release: Codes, costs: Sequence[Floats]) -> Floats:
    """The least cost at which any released row can be taken for each person's, shape (n,); costs add up over columns.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    costs : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import take_least

    groups = _groups([len(matrix) for matrix in costs], len(people))
    slots = _slots(people, groups, costs)
    least = np.full(len(people), np.inf)
    for added in _blocks(release, groups, costs, np.zeros((1, 1)), np.add):
        take_least(slots, added, least)
    return least


def likelihoods(people: Codes, release: Codes, transitions: Sequence[Floats]) -> Iterator[Floats]:
    """P(released row | person), shape (block, n), for one block of released rows after the other; each in the same memory.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    transitions : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import fill_products

    groups = _groups([len(matrix) for matrix in transitions], len(people))
    slots = _slots(people, groups, transitions)
    products = np.empty((_BLOCK, len(people)))
    for factors in _blocks(release, groups, transitions, np.ones((1, 1)), np.multiply):
        fill_products(slots, factors, products)
        yield products[: len(factors)]


def votes_for(people: Codes, release: Codes, transitions: Sequence[Floats], shown: Codes, values: int) -> Floats:
    """How likely the released rows that show each value are each person's, shape (values, n).

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
        What is known of people, and released in the same columns.
    transitions : sequence of arrays, shape (size, released)
    shown : array of int32, shape (m,)
        The value of another column in every released row, below ``values``.
    """
    from kakurenbo.audit.kernels import add_votes

    groups = _groups([len(matrix) for matrix in transitions], len(people))
    slots = _slots(people, groups, transitions)
    votes = np.zeros((values, len(people)))
    for number, factors in enumerate(_blocks(release, groups, transitions, np.ones((1, 1)), np.multiply)):
        add_votes(slots, factors, shown[number * _BLOCK : (number + 1) * _BLOCK], votes)
    return votes


def _groups(sizes: Sequence[int], people: int) -> list[list[int]]:
    """Columns in as few groups as have small products of sizes.

    Examples
    --------
    >>> _groups([74, 2, 99, 16], people=20_000)
    [[2], [0], [3, 1]]
    """
    most = min(max(int(_PER_PERSON * people), _SMALLEST_GROUP), _LARGEST_GROUP)
    by_size = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    for count in range(_LEAST_GROUPS, max(_LEAST_GROUPS, len(by_size)) + 1):
        groups: list[list[int]] = [[] for _ in range(count)]
        products = [1] * count
        for place in by_size:
            smallest = products.index(min(products))
            groups[smallest].append(place)
            products[smallest] *= sizes[place]
        if max(products) <= most:
            break
    return groups


def _slots(people: Codes, groups: list[list[int]], matrices: Sequence[Floats]) -> NDArray[np.uint32]:
    """Where the factors of each person stand, shape (groups, n): those of the first group first."""
    slots, first = [], 0
    for group in groups:
        key = np.zeros(len(people), dtype=np.int64)
        for place in group:
            key = key * len(matrices[place]) + people[:, place]
        slots.append(key + first)
        first += math.prod(len(matrices[place]) for place in group)
    return np.stack(slots).astype(np.uint32)


def _blocks(
    release: Codes,
    groups: list[list[int]],
    matrices: Sequence[Floats],
    start: Floats,
    combine: Callable[[Floats, Floats], Floats],
) -> Iterator[Floats]:
    """For blocks of released rows what they give each value of each group, shape (block, sum of group sizes)."""
    for begin in range(0, len(release), _BLOCK):
        rows = release[begin : begin + _BLOCK]
        parts = []
        for group in groups:
            part = np.repeat(start, len(rows), axis=0)
            for place in group:
                given = matrices[place].T[rows[:, place]]  # (block, size)
                part = combine(part[:, :, None], given[:, None, :]).reshape(len(rows), -1)
            parts.append(part)
        yield np.hstack(parts)
