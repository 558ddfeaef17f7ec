"""Shadows: samples of B that the attacker draws and anonymizes itself, so that it knows who is in
them.

They are anonymized by the declared method or, where none is declared, by a surrogate that is like
what the release shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import count_members, member_rate
from kakurenbo.attacks.membership.likelihood import estimate_mechanism, retention
from kakurenbo.attacks.membership.moments import MeanShift, PopulationModel
from kakurenbo.core import Coarsening, Moments, Table
from kakurenbo.data.generators import GENERATORS
from kakurenbo.methods.threats import MembershipKnowledge

_MAX_DOMAIN = 512  # wider columns are handled in groups of values
_MIN_WORTH = 0.05  # of a deviation that the release keeps, below which it is not used

Remake = Callable[[Table, np.random.Generator], Table]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shadow:
    """What an attacker would know of a release of its own, and the row numbers of its members,
    shape (m,).
    """

    knowledge: MembershipKnowledge
    members: NDArray[np.int64]


def draw_shadows(
    knowledge: MembershipKnowledge, count: int, rng: np.random.Generator
) -> list[Shadow]:
    """Make so many shadows of a release; the same ones for the same stream."""
    declared, population = knowledge.declared, knowledge.population
    remake = _remake(knowledge, rng)
    shadows = []
    for stream in rng.spawn(count):
        members = stream.permutation(len(population))[: count_members(knowledge)]
        release = remake(population.take(members), stream)
        mechanism = knowledge.mechanism
        if declared is not None and mechanism is not None:
            mechanism = declared.mechanism(release)
        shadows.append(Shadow(replace(knowledge, release=release, mechanism=mechanism), members))
    return shadows


def _remake(knowledge: MembershipKnowledge, rng: np.random.Generator) -> Remake:
    declared = knowledge.declared
    if declared is None or declared.unfit(knowledge.population.schema):
        return surrogate(knowledge, rng)
    return lambda sample, rng: declared(sample, rng).table


# -- surrogates of a method that is not declared -----------------------------------------------


def surrogate(knowledge: MembershipKnowledge, rng: np.random.Generator) -> Remake:
    """Choose the method whose release of a sample is most like the given release.

    They are: rows as they are; cells swapped as often as the estimated mechanism says, or drawn
    from the column, or redrawn by that mechanism; and rows generated from the moments of the
    sample.
    """
    coarsening = Coarsening.of((knowledge.population, knowledge.release), _MAX_DOMAIN)
    population = coarsening.apply(knowledge.population)
    release = coarsening.apply(knowledge.release)
    transitions = estimate_mechanism(population, release).transitions
    shares = dict(zip(population.schema.names, 1 - retention(population, release), strict=True))

    def coarsely(remake: Remake) -> Remake:
        # Wide columns in groups, with values of the sample in place of the groups at the end.
        return lambda sample, rng: coarsening.undo(
            remake(coarsening.apply(sample), rng), sample, rng
        )

    candidates: list[Remake] = [
        lambda sample, rng: sample.take(rng.permutation(len(sample))),
        lambda sample, rng: _exchange_cells(sample, shares, rng, is_redrawn=False),
        lambda sample, rng: _exchange_cells(sample, shares, rng, is_redrawn=True),
        coarsely(lambda sample, rng: _redraw_cells(sample, transitions, rng)),
        coarsely(lambda sample, rng: GENERATORS["moments"](Moments.of(sample), len(release), rng)),
    ]
    looks = _looks(population, release, count_members(knowledge))
    sample = knowledge.population.take(rng.permutation(len(population))[: count_members(knowledge)])
    distances = []
    for remake in candidates:
        candidate = coarsening.apply(remake(sample, rng))
        distances.append(
            float(np.abs(_looks(population, candidate, count_members(knowledge)) - looks).sum())
        )
    return candidates[int(np.argmin(distances))]


def _looks(population: Table, release: Table, count: int) -> Values:
    """Return what tells methods apart.

    These are the share of rows that stand in B, the log of the mean square deviation of the
    histograms from B's in units of that of a sample of so many rows, and how much of each column's
    dependence is kept.
    """
    keys = Table.stack([release, population]).keys()
    same = float(np.isin(keys[: len(release)], keys[len(release) :]).mean())
    squares, degrees = 0.0, 0
    for name in population.schema.names:
        expected = population.frequencies(name) / len(population)
        often = expected * count >= 5
        deviation = release.frequencies(name)[often] / len(release) - expected[often]
        variance = expected[often] * (1 - expected[often]) / count * (1 - count / len(population))
        squares += float((deviation**2 / np.maximum(variance, 1e-12)).sum())
        degrees += int(often.sum())
    excess = max(squares, 1e-9) / max(1, degrees)
    kept = retention(population, release)
    return np.array([same, np.log(excess), *(kept / len(kept))])


def _redraw_cells(
    sample: Table, transitions: Mapping[str, Values], rng: np.random.Generator
) -> Table:
    """Draw each cell by the transitions of its value."""
    changed = {}
    for name, matrix in transitions.items():
        chances = np.cumsum(matrix, axis=1)
        codes, drawn = sample.codes[name], np.empty(len(sample), dtype=np.int64)
        for value in np.unique(codes):
            cells = np.flatnonzero(codes == value)
            points = rng.random(len(cells)) * chances[value, -1]
            drawn[cells] = np.searchsorted(chances[value], points, side="right")
        changed[name] = np.minimum(drawn, len(matrix) - 1)
    return sample.with_codes(changed)


def _exchange_cells(
    sample: Table, shares: Mapping[str, float], rng: np.random.Generator, *, is_redrawn: bool
) -> Table:
    """Swap a share of the cells of each column, or redraw them from the column, where a value may
    come again.
    """
    changed = {}
    for name, share in shares.items():
        codes = sample.codes[name].copy()
        moved = np.flatnonzero(rng.random(len(codes)) < share)
        if is_redrawn:
            codes[moved] = rng.choice(sample.codes[name], len(moved))
        else:
            codes[moved] = codes[rng.permutation(moved)]
        changed[name] = codes
    return sample.with_codes(changed)


# -- what a method keeps -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Calibration:
    """How a method carries the members' mean features into those of its release: m_D = middle +
    worth o (m_C - m_B) + noise.

    A method that moves statistics back only in part, as repairs do, tells less of some columns and
    pairs than of others: what it tells of each is measured instead of assumed.

    Attributes
    ----------
    middle, worth, noise : arrays, shape (d,)
        ``worth`` is the same for all features of a column or pair; ``noise`` is a variance.
    """

    middle: Values
    worth: Values
    noise: Values

    @classmethod
    def of(cls, model: PopulationModel, shadows: Sequence[Shadow]) -> Calibration:
        """Measure it on shadows; a single one shows nothing."""
        released = np.stack(
            [model.features.rows(shadow.knowledge.release).mean() for shadow in shadows]
        )
        causes = (
            np.stack([model.rows.take(shadow.members).mean() for shadow in shadows]) - model.mean
        )
        moved, cause = released - released.mean(axis=0), causes - causes.mean(axis=0)
        owners, slots = model.features.owners, len(model.features.slots)
        variance = np.maximum(np.diag(model.covariance), 1e-6)
        along = np.bincount(owners, weights=(moved * cause).sum(axis=0) / variance, minlength=slots)
        across = np.bincount(owners, weights=(cause**2).sum(axis=0) / variance, minlength=slots)
        worth = np.clip(along / np.maximum(across, 1e-12), 0, 1)[owners]
        left = ((moved - worth * cause) ** 2).sum(axis=0) / max(1, len(shadows) - 1)
        # A variance from few shadows is shaky: it is drawn towards that of the whole column or
        # pair.
        of_slot = np.bincount(owners, weights=left / variance, minlength=slots)
        pooled = (of_slot / np.bincount(owners, minlength=slots))[owners]
        noise = (left + pooled * variance) / 2 * (1 + 1 / len(shadows))
        return cls(released.mean(axis=0) - worth * causes.mean(axis=0), worth, noise)

    def shift(
        self, model: PopulationModel, knowledge: MembershipKnowledge, rounding: float = 1.0
    ) -> MeanShift:
        """Return the members' deviation as this method's release shows it, counts known up to a
        standard error in records.

        With a for ``worth``, V for ``noise`` and f for the share of B that was released, tracing by
        it has the weights a o ((1 - f) a a^T o Sigma + n V)^-1 (m_D - middle), but for a factor.
        """
        used = np.flatnonzero(self.worth > _MIN_WORTH)
        worth = self.worth[used]
        moved = (model.features.rows(knowledge.release).mean() - self.middle)[used]
        noise = (
            count_members(knowledge) * self.noise[used] / worth**2 / (1 - member_rate(knowledge))
        )
        return MeanShift(used, moved / worth, noise + rounding**2 / count_members(knowledge))
