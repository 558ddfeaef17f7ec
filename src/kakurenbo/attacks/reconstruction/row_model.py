"""Rows of the release as noisy images of people: how well each pair (a, b) is explained by some row of each group of files.

The noise is known (a declared mechanism) or fitted by EM: a cell is kept with probability kappa, else drawn evenly from all
values or as often as the release has them, in a proportion that is fitted too.
Files that list the same people add their evidence row by row; shuffled ones are marginalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, UNKNOWN, RatingsKnowledge
from kakurenbo.attacks.records.alignment import aligned_groups, shared_noise
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES

Floats = NDArray[np.float64]

MATCH_ROUNDS = 30  # of balancing a match of one to one
_ITERATIONS = 12
_SETTLED = 5e-3  # largest change of a kappa at which the fit ends
_POOLING = (
    20.0  # a column's own kappa weighs as much as the pooled one after this many observations
)
_KAPPA_RANGE = (1e-3, 0.995)
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
    attribute_indicators: sparse.csr_array

    @classmethod
    def of(cls, knowledge: RatingsKnowledge, files: tuple[int, ...]) -> Group:
        copies: dict[str, list[NDArray[np.int64]]] = {}
        for name in ATTRIBUTES + MOVIES:
            found = [
                knowledge.files[number].codes[name]
                for number in files
                if name in knowledge.files[number].schema
            ]
            if found:
                copies[name] = [codes.astype(np.int64) for codes in found]
        movies = [codes for name in MOVIES for codes in copies.get(name, ())]
        levels = np.arange(RATING_VALUES)
        indicators = np.concatenate(
            [(codes[:, None] == levels).astype(np.float32) for codes in movies], axis=1
        )
        blocks = [
            one_hot(codes, knowledge.level_count(name))
            for name in ATTRIBUTES
            for codes in copies[name]
        ]
        return cls(files, copies, indicators, sparse.csr_array(sparse.hstack(blocks)))

    @property
    def movies(self) -> list[str]:
        return [name for name in MOVIES if name in self.copies]


def one_hot(codes: NDArray[np.int64], size: int) -> sparse.csr_array:
    """Indicators of codes, shape (n, size)."""
    rows = len(codes)
    return sparse.csr_array(
        (np.ones(rows, dtype=np.float32), codes, np.arange(rows + 1)), shape=(rows, size)
    )


@dataclass(frozen=True, eq=False)
class RowModel:
    """A fitted model.

    Attributes
    ----------
    groups : tuple of Group
    transitions : mapping of column to array, shape (size, size)
        P(released | original).
    people_likelihoods, rating_likelihoods : tuple of arrays, shape (k, n), one per group
        Likelihood of each row given the attributes of a, the ratings of b; largest of each row 1.
    copy_weights : tuple of mappings, one per group
        What each of several copies of a column counts; below 1 where they share their noise.
    """

    groups: tuple[Group, ...]
    transitions: dict[str, Floats]
    copy_weights: tuple[dict[str, float], ...]
    people_likelihoods: tuple[Floats, ...]
    rating_likelihoods: tuple[Floats, ...]

    @property
    def pair_scores(self) -> Floats:
        return self._summed(self.people_likelihoods)

    def scores_of(self, attribute_codes: NDArray[np.int64]) -> Floats:
        """The same for any people, given by their attributes of shape (m, 4): shape (k, m)."""
        parts = zip(self.groups, self.copy_weights, strict=True)
        return self._summed(
            [
                likelihood(people_scores(attribute_codes, group, self.transitions, weight))
                for group, weight in parts
            ]
        )

    def _summed(self, people_likelihoods: Sequence[Floats]) -> Floats:
        """log of mean_r P(row | a) P(row | b) over the product of the means: evidence over chance, summed over groups."""
        total = np.zeros(())
        for of_people, of_ratings in zip(people_likelihoods, self.rating_likelihoods, strict=True):
            together = of_ratings @ of_people.T / of_people.shape[1]
            apart = np.outer(of_ratings.mean(axis=1), of_people.mean(axis=1))
            total = total + np.log(np.maximum(together, _LEAST)) - np.log(np.maximum(apart, _LEAST))
        return total

    def row_weights(self, group: int, pairs: Floats) -> Floats:
        """P(row | row of b), averaged over who it is: ``pairs`` is P(a | b), shape (k, k). Shape (k, n)."""
        of_people, of_ratings = self.people_likelihoods[group], self.rating_likelihoods[group]
        evidence = np.maximum(of_ratings @ of_people.T, _LEAST)
        return of_ratings * ((pairs / evidence) @ of_people)


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
        ``found`` looks which files list people in the same order; ``aligned`` and ``shuffled`` take it for granted.
    """
    numbers = tuple(range(len(knowledge.files)))
    grouping: dict[str, list[tuple[int, ...]]] = {
        "aligned": [numbers],
        "shuffled": [(number,) for number in numbers],
    }
    files = grouping.get(alignment) or aligned_groups(knowledge.files)
    groups = tuple(Group.of(knowledge, together) for together in files)
    known = _known_transitions(knowledge) if use_declared else {}
    shares = {name: _released_shares(knowledge, groups, name) for name in ATTRIBUTES + MOVIES}
    noise = Noise({name: _start(len(shares[name])) for name in ATTRIBUTES + MOVIES}, 0.5, shares)
    for _ in range(0 if len(known) == len(shares) else _ITERATIONS):
        model = _expect(knowledge, groups, noise, known)
        before, noise = (
            noise,
            _maximize(knowledge, model, balanced(model.pair_scores, MATCH_ROUNDS), noise),
        )
        if noise.distance(before) < _SETTLED:
            break
    return _expect(knowledge, groups, noise, known)


# -- noise --------------------------------------------------------------------------------------------------------------


def _known_transitions(knowledge: RatingsKnowledge) -> dict[str, Floats]:
    declared = knowledge.mechanism.transitions if knowledge.mechanism is not None else {}
    # A declared method speaks of the original's values; where the release shows fewer of them, the noise is fitted instead.
    return {
        name: matrix
        for name, matrix in declared.items()
        if len(matrix) == knowledge.level_count(name)
    }


def _released_shares(knowledge: RatingsKnowledge, groups: Sequence[Group], name: str) -> Floats:
    size = knowledge.level_count(name)
    copies = [codes for group in groups for codes in group.copies.get(name, ())]
    counts = np.bincount(np.concatenate(copies), minlength=size) + 0.5
    return np.asarray(counts / counts.sum())


def _start(size: int) -> float:
    return float((np.exp(_START_EPSILON) - 1) / (np.exp(_START_EPSILON) + size - 1))


@dataclass(frozen=True, eq=False)
class Noise:
    """What EM fits.

    Attributes
    ----------
    kappa : mapping of column to float
        Probability that a cell is kept.
    even : float
        Of the cells that are not kept, the share drawn evenly from all values; the others follow ``shares``.
    shares : mapping of column to array, shape (size,)
        How often each value occurs in the release.
    """

    kappa: dict[str, float]
    even: float
    shares: dict[str, Floats]

    def replacement(self, name: str) -> Floats:
        """Distribution of the cells that are not kept."""
        return self.even / len(self.shares[name]) + (1 - self.even) * self.shares[name]

    def transition(self, name: str) -> Floats:
        return (
            self.kappa[name] * np.eye(len(self.shares[name]))
            + (1 - self.kappa[name]) * self.replacement(name)[None, :]
        )

    def distance(self, other: Noise) -> float:
        changes = [abs(self.kappa[name] - other.kappa[name]) for name in self.kappa]
        return max(*changes, abs(self.even - other.even))


# -- expectation --------------------------------------------------------------------------------------------------------


def _expect(
    knowledge: RatingsKnowledge,
    groups: tuple[Group, ...],
    noise: Noise,
    known: dict[str, Floats],
) -> RowModel:
    transitions = {name: known.get(name, noise.transition(name)) for name in noise.kappa}
    keep = {
        name: _keep(known[name], noise.shares[name]) if name in known else kappa
        for name, kappa in noise.kappa.items()
    }
    weights, of_people, of_ratings = [], [], []
    for group in groups:
        weight = {}
        for name, copies in group.copies.items():
            in_common = shared_noise(copies, len(noise.shares[name]), keep[name])
            weight[name] = 1 / (1 + (len(copies) - 1) * in_common)
        weights.append(weight)
        of_people.append(
            likelihood(people_scores(knowledge.attribute_codes, group, transitions, weight))
        )
        of_ratings.append(likelihood(_rating_scores(knowledge, group, transitions, weight)))
    return RowModel(groups, transitions, tuple(weights), tuple(of_people), tuple(of_ratings))


def _keep(transition: Floats, shares: Floats) -> float:
    """kappa of any transition: how much more likely a value is to stay than chance would have it."""
    chance = float(shares @ shares)
    return max(0.0, (float(shares @ np.diag(transition)) - chance) / max(1 - chance, 1e-9))


def likelihood(scores: Floats) -> Floats:
    """exp of each row of scores, scaled so that its largest entry is 1."""
    return np.asarray(np.exp(scores - scores.max(axis=1, keepdims=True)))


def people_scores(
    attribute_codes: NDArray[np.int64],
    group: Group,
    transitions: dict[str, Floats],
    weight: dict[str, float],
) -> Floats:
    """log P(attributes of a row | a) of any people, shape (k, n): (k, copies * levels) logarithms @ sparse indicators."""
    blocks: list[Floats] = []
    for position, name in enumerate(ATTRIBUTES):
        logs = (
            weight[name]
            * np.log(np.maximum(transitions[name], _LEAST))[attribute_codes[:, position]]
        )
        blocks += [logs] * len(group.copies[name])
    return np.asarray((group.attribute_indicators @ np.concatenate(blocks, axis=1).T).T)


def _rating_scores(
    knowledge: RatingsKnowledge,
    group: Group,
    transitions: dict[str, Floats],
    weight: dict[str, float],
) -> Floats:
    """log P(ratings of a row | b), shape (k, n): (k, copies * 6) logarithms @ (copies * 6, n) indicators."""
    logs = np.concatenate([*rating_blocks(knowledge, group, transitions, weight).values()], axis=1)
    return np.asarray(logs.astype(np.float32) @ group.indicators.T, dtype=np.float64)


def rating_blocks(
    knowledge: RatingsKnowledge,
    group: Group,
    transitions: dict[str, Floats],
    weight: dict[str, float],
) -> dict[str, Floats]:
    """For each movie of a group the logarithms that its copies' indicators are multiplied with, shape (k, copies * 6)."""
    blocks = {}
    for name in group.movies:
        given = knowledge.rating_codes[:, MOVIES.index(name)]
        logs = weight[name] * np.log(np.maximum(transitions[name], _LEAST))[given]
        logs[given == UNKNOWN] = 0
        blocks[name] = np.tile(logs, len(group.copies[name]))
    return blocks


def people_mixture(model: RowModel, group: int, pairs: Floats) -> Floats:
    """How likely each row is one of the people that b may be, over chance: shape (k, n)."""
    of_people = model.people_likelihoods[group]
    return np.asarray(
        pairs @ (of_people / np.maximum(of_people.mean(axis=1, keepdims=True), _LEAST))
    )


def kept_shares(model: RowModel) -> dict[str, float]:
    """For each column how much of the original its released cells tell, 0 to 1."""
    return {
        name: _keep(matrix, np.full(len(matrix), 1 / len(matrix)))
        for name, matrix in model.transitions.items()
    }


# -- maximization -------------------------------------------------------------------------------------------------------


def _maximize(knowledge: RatingsKnowledge, model: RowModel, pairs: Floats, noise: Noise) -> Noise:
    """kappa of each column from how often the rows that explain b and a agree with them; ``even`` from what disagrees."""
    tally = _Tally(noise)
    for number, group in enumerate(model.groups):
        rows_of_b = model.row_weights(number, pairs)
        of_people, of_ratings = model.people_likelihoods[number], model.rating_likelihoods[number]
        evidence = np.maximum(of_ratings @ of_people.T, _LEAST)
        rows_of_a = of_people * ((pairs / evidence).T @ of_ratings)
        # (k, copies * values) expected indicators of the rows that stand for each row of b, of a
        counts = np.asarray(rows_of_b.astype(np.float32) @ group.indicators, dtype=np.float64)
        tally.add(counts, group, group.movies, knowledge.rating_codes, MOVIES)
        counts = np.asarray((group.attribute_indicators.T @ rows_of_a.T).T)
        tally.add(counts, group, ATTRIBUTES, knowledge.attribute_codes, ATTRIBUTES)
    return tally.noise()


class _Tally:
    """Expected agreements and disagreements of one E-step."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._agreed, self._expected, self._seen = (
            dict.fromkeys(noise.shares, 0.0) for _ in range(3)
        )
        self._replaced = self._replaced_evenly = 0.0

    def add(
        self,
        counts: Floats,
        group: Group,
        names: Sequence[str],
        codes: NDArray[np.int64],
        columns: Sequence[str],
    ) -> None:
        begin = 0
        for name in names:
            replacement = self._noise.replacement(name)
            size = len(replacement)
            evenly = (
                self._noise.even / size / replacement
            )  # of a replaced cell with this value, how likely it was drawn evenly
            given = codes[:, columns.index(name)]
            told = np.flatnonzero(given != UNKNOWN)
            for _ in group.copies[name]:
                block = counts[told, begin : begin + size]
                agreed = block[np.arange(len(told)), given[told]]
                self._agreed[name] += float(agreed.sum())
                self._expected[name] += float(replacement[given[told]].sum())
                self._seen[name] += len(told)
                self._replaced += float(block.sum() - agreed.sum())
                self._replaced_evenly += float(
                    (block @ evenly).sum() - agreed @ evenly[given[told]]
                )
                begin += size

    def noise(self) -> Noise:
        movies = [
            sum(part[name] for name in MOVIES)
            for part in (self._agreed, self._expected, self._seen)
        ]
        pooled = _kappa(*movies)
        kappa = {}
        for name, seen in self._seen.items():
            own = _kappa(self._agreed[name], self._expected[name], seen)
            trust = seen / (seen + _POOLING) if name in MOVIES else 1.0
            kappa[name] = float(np.clip(trust * own + (1 - trust) * pooled, *_KAPPA_RANGE))
        even = self._replaced_evenly / max(self._replaced, 1e-9)
        return Noise(kappa, float(np.clip(even, 0.01, 0.99)), self._noise.shares)


def _kappa(agreed: float, expected: float, seen: float) -> float:
    return (agreed - expected) / max(seen - expected, 1e-9)
