"""Rows of the release as noisy images of people: how well each pair (a, b) is explained by some row
of each group of files.

The noise is known (a declared mechanism) or fitted by EM: a cell is kept with some probability,
else drawn evenly from all values or as often as the release has them, in a proportion that is
fitted too. Files that list the same people add their evidence row by row; shuffled ones are
marginalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.types import (
    UNKNOWN,
    RatingsKnowledge,
    indicators,
)
from kakurenbo.attacks.records.alignment import aligned_groups, shared_noise
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES

Floats = NDArray[np.float64]
Sparse = Any  # scipy.sparse.csr_array

MATCH_ROUNDS = 30  # of balancing a match of one to one
_COLUMNS = ATTRIBUTES + MOVIES
_ITERATIONS = 12
_SETTLED = 5e-3  # largest change of a probability at which the fit ends
_POOLING = 20.0  # observations at which a column's own probability weighs as much as the pooled one
_MIN_KEPT, _MAX_KEPT = 1e-3, 0.995
_START_EPSILON = 2.0
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Group:
    """The files of one group, stacked by column.

    Attributes
    ----------
    copies : mapping of column to list of arrays, shape (n,)
        The codes of the column in each file of the group that has it.
    indicators : array of float32, shape (n, copies of all movies * 6)
        One-hot ratings, copy after copy in the order of ``copies``.
    attribute_indicators : sparse array, shape (n, copies of all attributes * levels)
        The same of the attributes.
    """

    files: tuple[int, ...]
    copies: dict[str, list[NDArray[np.int64]]]
    indicators: NDArray[np.float32]
    attribute_indicators: Sparse

    @classmethod
    def of(cls, knowledge: RatingsKnowledge, numbers: tuple[int, ...]) -> Group:
        from scipy.sparse import csr_array, hstack

        copies = {}
        for name in _COLUMNS:
            having = [knowledge.files[n] for n in numbers if name in knowledge.files[n].schema]
            if having:
                copies[name] = [file.codes[name].astype(np.int64) for file in having]
        ratings = [codes for name in MOVIES for codes in copies.get(name, ())]
        blocks = [
            one_hot(codes, knowledge.level_count(name))
            for name in ATTRIBUTES
            for codes in copies[name]
        ]
        one_hot_ratings = indicators(np.stack(ratings, axis=1))
        return cls(numbers, copies, one_hot_ratings, csr_array(hstack(blocks)))

    @property
    def movies(self) -> list[str]:
        return [name for name in MOVIES if name in self.copies]


def one_hot(codes: NDArray[np.int64], size: int) -> Sparse:
    """Return indicators of codes, shape (n, size)."""
    from scipy.sparse import csr_array

    rows = len(codes)
    entries = (np.ones(rows, dtype=np.float32), codes, np.arange(rows + 1))
    return csr_array(entries, shape=(rows, size))


@dataclass(frozen=True, eq=False)
class RowModel:
    """A fitted model.

    Attributes
    ----------
    groups : tuple of Group
    transitions : mapping of column to array, shape (size, size)
        P(released | original).
    people_likelihoods, rating_likelihoods : lists of arrays, shape (k, n), one per group
        Likelihood of each row given the attributes of a, the ratings of b; largest of each row 1.
    copy_weights : list of mappings, one per group
        What each of several copies of a column counts; below 1 where they share their noise.
    """

    groups: Sequence[Group]
    transitions: dict[str, Floats]
    copy_weights: Sequence[dict[str, float]]
    people_likelihoods: Sequence[Floats]
    rating_likelihoods: Sequence[Floats]

    @property
    def pair_scores(self) -> Floats:
        """Evidence of each pair of a row of b and a row of a, shape (k, k)."""
        return self._sum_evidence(self.people_likelihoods)

    def scores_of(self, attribute_codes: NDArray[np.int64]) -> Floats:
        """Return the same for any people, given by their attributes of shape (m, 4): shape (k,
        m).
        """
        parts = zip(self.groups, self.copy_weights, strict=True)
        return self._sum_evidence(
            [_people_likelihood(attribute_codes, g, self.transitions, w) for g, w in parts]
        )

    def _sum_evidence(self, people_likelihoods: Sequence[Floats]) -> Floats:
        """Sum over groups log of mean_r P(row | a) P(row | b) over the product of the means:
        evidence over chance.
        """
        total = np.zeros(())
        for of_people, of_ratings in zip(people_likelihoods, self.rating_likelihoods, strict=True):
            together = of_ratings @ of_people.T / of_people.shape[1]
            apart = np.outer(of_ratings.mean(axis=1), of_people.mean(axis=1))
            total = total + np.log(np.maximum(together, _LEAST)) - np.log(np.maximum(apart, _LEAST))
        return total

    def row_weights(self, group: int, pairs: Floats) -> tuple[Floats, Floats]:
        """Return P(row | row of b), averaged over who it is, and P(row | row of a); ``pairs`` is
        P(a | b), shapes (k, n).
        """
        of_people, of_ratings = self.people_likelihoods[group], self.rating_likelihoods[group]
        shares = pairs / np.maximum(of_ratings @ of_people.T, _LEAST)
        return of_ratings * (shares @ of_people), of_people * (shares.T @ of_ratings)

    def people_mixture(self, group: int, pairs: Floats) -> Floats:
        """Return how likely each row is one of the people that b may be, over chance: shape (k,
        n).
        """
        of_people = self.people_likelihoods[group]
        means = np.maximum(of_people.mean(axis=1, keepdims=True), _LEAST)
        return np.asarray(pairs @ (of_people / means))

    def kept_shares(self) -> dict[str, float]:
        """Return for each column how much of the original its released cells tell, 0 to 1."""
        return {
            name: _kept_share(matrix, np.full(len(matrix), 1 / len(matrix)))
            for name, matrix in self.transitions.items()
        }


def fit_row_model(
    knowledge: RatingsKnowledge, *, use_declared: bool = True, alignment: str = "found"
) -> RowModel:
    """Fit by EM what the declared mechanism does not tell.

    Parameters
    ----------
    knowledge : RatingsKnowledge
    use_declared : bool
        Whether a declared mechanism is believed.
    alignment : str
        ``found`` looks which files list people in the same order; ``aligned`` and ``shuffled`` take
        it for granted.
    """
    numbers = tuple(range(len(knowledge.files)))
    if alignment == "aligned":
        grouping = [numbers]
    elif alignment == "shuffled":
        grouping = [(number,) for number in numbers]
    else:
        grouping = aligned_groups(knowledge.files)
    groups = [Group.of(knowledge, together) for together in grouping]
    known = {}
    if use_declared and knowledge.mechanism is not None:
        # A declared method speaks of the original's values; where the release shows fewer of them,
        # the noise is fitted instead.
        known = {
            name: matrix
            for name, matrix in knowledge.mechanism.transitions.items()
            if len(matrix) == knowledge.level_count(name)
        }
    shares, keep = {}, {}
    for name in _COLUMNS:
        size = knowledge.level_count(name)
        copies = np.concatenate([codes for group in groups for codes in group.copies.get(name, ())])
        counts = np.bincount(copies, minlength=size) + 0.5
        shares[name] = counts / counts.sum()
        keep[name] = float((np.exp(_START_EPSILON) - 1) / (np.exp(_START_EPSILON) + size - 1))
    noise = _Noise(keep, 0.5, shares)
    for _ in range(0 if len(known) == len(shares) else _ITERATIONS):
        model = _expect(knowledge, groups, noise, known)
        before, noise = noise, _maximize(knowledge, model, noise)
        changes = [abs(noise.keep_probability[n] - before.keep_probability[n]) for n in keep]
        if max(*changes, abs(noise.even - before.even)) < _SETTLED:
            break
    return _expect(knowledge, groups, noise, known)


@dataclass(frozen=True, eq=False)
class _Noise:
    """What EM fits.

    Attributes
    ----------
    keep_probability : mapping of column to float
    even : float
        Of the cells that are not kept, the share drawn evenly from all values; the others follow
        ``shares``.
    shares : mapping of column to array, shape (size,)
        How often each value occurs in the release.
    """

    keep_probability: dict[str, float]
    even: float
    shares: dict[str, Floats]

    def replacement(self, name: str) -> Floats:
        """Return the distribution of the cells that are not kept."""
        return self.even / len(self.shares[name]) + (1 - self.even) * self.shares[name]


# -- expectation -------------------------------------------------------------------------------


def _expect(
    knowledge: RatingsKnowledge, groups: Sequence[Group], noise: _Noise, known: dict[str, Floats]
) -> RowModel:
    transitions, keep = dict(known), {}
    for name, probability in noise.keep_probability.items():
        if name in known:
            keep[name] = _kept_share(known[name], noise.shares[name])
        else:
            keep[name], replacement = probability, noise.replacement(name)[None, :]
            identity = np.eye(len(noise.shares[name]))
            transitions[name] = probability * identity + (1 - probability) * replacement
    weights, of_people, of_ratings = [], [], []
    for group in groups:
        weight = {}
        for name, copies in group.copies.items():
            in_common = shared_noise(copies, len(noise.shares[name]), keep[name])
            weight[name] = 1 / (1 + (len(copies) - 1) * in_common)
        weights.append(weight)
        people = _people_likelihood(knowledge.attribute_codes, group, transitions, weight)
        of_people.append(people)
        blocks = rating_blocks(knowledge, group, transitions, weight)
        logs = np.concatenate([*blocks.values()], axis=1).astype(np.float32)
        scores = np.asarray(logs @ group.indicators.T, dtype=np.float64)
        of_ratings.append(_likelihood(scores))
    return RowModel(groups, transitions, weights, of_people, of_ratings)


def _kept_share(transition: Floats, shares: Floats) -> float:
    """Return how much more likely a value is to stay than chance would have it."""
    chance = float(shares @ shares)
    return max(0.0, (float(shares @ np.diag(transition)) - chance) / max(1 - chance, 1e-9))


def _likelihood(scores: Floats) -> Floats:
    """Return exp of each row of scores, scaled so that its largest entry is 1."""
    return np.asarray(np.exp(scores - scores.max(axis=1, keepdims=True)))


def _people_likelihood(
    attribute_codes: NDArray[np.int64],
    group: Group,
    transitions: dict[str, Floats],
    weight: dict[str, float],
) -> Floats:
    """Return P(attributes of a row | a) of any people, shape (k, n)."""
    blocks: list[Floats] = []
    for name, codes in zip(ATTRIBUTES, attribute_codes.T, strict=True):
        logs = weight[name] * np.log(np.maximum(transitions[name], _LEAST))[codes]
        blocks += [logs] * len(group.copies[name])
    # (k, copies * levels) logarithms @ sparse indicators
    scores = group.attribute_indicators @ np.concatenate(blocks, axis=1).T
    return _likelihood(np.asarray(scores.T))


def rating_blocks(
    knowledge: RatingsKnowledge,
    group: Group,
    transitions: dict[str, Floats],
    weight: dict[str, float],
) -> dict[str, Floats]:
    """Return for each movie the logarithms that its copies' indicators are multiplied with, shape
    (k, copies * 6).
    """
    blocks = {}
    for name in group.movies:
        codes = knowledge.rating_codes[:, MOVIES.index(name)]
        logs = weight[name] * np.log(np.maximum(transitions[name], _LEAST))[codes]
        logs[codes == UNKNOWN] = 0
        blocks[name] = np.tile(logs, len(group.copies[name]))
    return blocks


# -- maximization ------------------------------------------------------------------------------


def _maximize(knowledge: RatingsKnowledge, model: RowModel, noise: _Noise) -> _Noise:
    """Fit probabilities to how often the rows that explain b and a agree with them; ``even`` to
    what disagrees.
    """
    pairs = balanced(model.pair_scores, MATCH_ROUNDS)
    agreed, expected, observed = (dict.fromkeys(noise.shares, 0.0) for _ in range(3))
    replaced = replaced_evenly = 0.0
    for number, group in enumerate(model.groups):
        rows_of_b, rows_of_a = model.row_weights(number, pairs)
        # (k, copies * values) expected indicators of the rows that stand for each row of b, of a
        of_b = np.asarray(rows_of_b.astype(np.float32) @ group.indicators, dtype=np.float64)
        of_a = np.asarray((group.attribute_indicators.T @ rows_of_a.T).T)
        for counts, names, codes in (
            (of_b, MOVIES, knowledge.rating_codes),
            (of_a, ATTRIBUTES, knowledge.attribute_codes),
        ):
            begin = 0
            for name, column in zip(names, codes.T, strict=True):
                replacement = noise.replacement(name)
                size = len(replacement)
                # Of a replaced cell with this value, how likely it was drawn evenly.
                evenly = noise.even / size / replacement
                known_rows = np.flatnonzero(column != UNKNOWN)
                values = column[known_rows]
                for _ in group.copies.get(name, ()):
                    block = counts[known_rows, begin : begin + size]
                    agreeing = block[np.arange(len(known_rows)), values]
                    agreed[name] += float(agreeing.sum())
                    expected[name] += float(replacement[values].sum())
                    observed[name] += len(known_rows)
                    replaced += float(block.sum() - agreeing.sum())
                    replaced_evenly += float((block @ evenly).sum() - agreeing @ evenly[values])
                    begin += size
    pooled = _keep_probability(
        *(sum(part[m] for m in MOVIES) for part in (agreed, expected, observed))
    )
    keep = {}
    for name, observations in observed.items():
        of_column = _keep_probability(agreed[name], expected[name], observations)
        trust = observations / (observations + _POOLING) if name in MOVIES else 1.0
        keep[name] = float(np.clip(trust * of_column + (1 - trust) * pooled, _MIN_KEPT, _MAX_KEPT))
    even = float(np.clip(replaced_evenly / max(replaced, 1e-9), 0.01, 0.99))
    return _Noise(keep, even, noise.shares)


def _keep_probability(agreed: float, expected: float, observed: float) -> float:
    return (agreed - expected) / max(observed - expected, 1e-9)
