"""All pairs of a released row and a person, in compiled loops: odds of membership, nearest rows, and likelihoods by blocks.

The pairs, and the sum of odds, are the contests' own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.pairs import BLOCK, GROUP_SIZE, Pairs
from kakurenbo.audit.encoding import Codes, Floats

_SMALLEST_GROUP = 128  # values of a group
_PER_PERSON = 0.25  # values of a group for each person
_FEW_GROUPS = 3
_AT_A_TIME = 32_768  # people whose likelihoods are summed together
_OF_MANY = 1024  # values of each of more groups than that: the factors of all of them stay in a fast cache


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

    pairs = _pairs(people, transitions)
    # The strangers are one more person, whose factors stand behind all others: how many they are, then ones.
    groups, last = len(pairs.slots), pairs.count
    slots = np.column_stack([pairs.slots, np.arange(last, last + groups, dtype=np.uint32)])
    return summed_odds(slots, _with_strangers(pairs.products(_columns(release)), strangers, groups))[:-1]


def _with_strangers(blocks: Iterator[Floats], strangers: Floats, groups: int) -> Iterator[Floats]:
    """Blocks of factors, each with as many more as there are groups: the number of strangers, then ones."""
    first = 0
    for factors in blocks:
        theirs = np.ones((len(factors), groups))
        theirs[:, 0] = strangers[first : first + len(factors)]
        yield np.hstack([factors, theirs])
        first += len(factors)


def nearest_rows(people: Codes, release: Codes, costs: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64]]:
    """The least cost at which any released row can be taken for each person's, and the first such row, shapes (n,).

    Costs add up over columns.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    costs : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import take_least

    pairs = _pairs(people, costs)
    least, nearest = np.full(len(people), np.inf), np.zeros(len(people), dtype=np.int64)
    for number, added in enumerate(pairs.sums(_columns(release))):
        take_least(pairs.slots, added, number * BLOCK, least, nearest)
    return least, nearest


def likelihoods(people: Codes, release: Codes, transitions: Sequence[Floats]) -> Iterator[Floats]:
    """P(released row | person), shape (block, n), for one block of released rows after the other; each in the same memory.

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    transitions : sequence of arrays, shape (size, released)
    """
    from kakurenbo.audit.kernels import fill_products

    pairs = _pairs(people, transitions)
    products = np.empty((BLOCK, len(people)))
    for factors in pairs.products(_columns(release)):
        fill_products(pairs.slots, factors, products)
        yield products[: len(factors)]


def expected_makers(people: Codes, release: Codes, transitions: Sequence[Floats]) -> Floats:
    """How many of these people are expected to make each released row: their likelihoods, summed, shape (m,).

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
    transitions : sequence of arrays, shape (size, released)
    """
    summed = np.zeros(len(release))
    for first in range(0, len(people), _AT_A_TIME):
        part = people[first : first + _AT_A_TIME]
        summed += np.concatenate([made.sum(axis=1) for made in likelihoods(part, release, transitions)])
    return summed


def votes_for(
    people: Codes, release: Codes, transitions: Sequence[Floats], weights: Floats, shown: Codes, values: int
) -> Floats:
    """How likely the released rows that show each value are each person's, shape (values, n).

    Parameters
    ----------
    people, release : arrays of int32, shape (n, columns), (m, columns)
        What is known of people, and released in the same columns.
    transitions : sequence of arrays, shape (size, released)
    weights : array, shape (m,)
        Of every released row.
    shown : array of int32, shape (m,)
        The value of another column in every released row, below ``values``.
    """
    from kakurenbo.audit.kernels import add_votes

    pairs = _pairs(people, transitions)
    ends = int(pairs.slots[0].max()) + 1  # of the factors of the first group, which every person has one of
    votes = np.zeros((values, len(people)))
    for number, factors in enumerate(pairs.products(_columns(release))):
        rows = slice(number * BLOCK, (number + 1) * BLOCK)
        factors[:, :ends] *= weights[rows, None]
        add_votes(pairs.slots, factors, shown[rows], votes)
    return votes


def _pairs(people: Codes, matrices: Sequence[Floats]) -> Pairs:
    """The pairs of these people with released rows: for few people it costs more to fill a group than to look it up."""
    most = min(max(int(_PER_PERSON * len(people)), _SMALLEST_GROUP), GROUP_SIZE)
    if math.prod(len(matrix) for matrix in matrices) > most**_FEW_GROUPS:
        most = min(most, _OF_MANY)
    return Pairs.of(_columns(people), matrices, most)


def _columns(codes: Codes) -> list[Codes]:
    return [np.ascontiguousarray(codes[:, place]) for place in range(codes.shape[1])]
