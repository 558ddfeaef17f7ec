"""Shadows: samples of B that the attacker draws and anonymizes itself, so that it knows who is in them.

They are anonymized by the declared method or, where none is declared, by a surrogate that is like what the release shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.evidence import members
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.retention import estimate_mechanism, retention
from kakurenbo.core import Coarsening, Moments, Table
from kakurenbo.data.generators import GENERATORS

_LARGEST_DOMAIN = 512  # wider columns are handled in groups of values
Remake = Callable[[Table, np.random.Generator], Table]


@dataclass(frozen=True, eq=False)
class Shadow:
    """What an attacker would know of a release of its own, and who its members are.

    Attributes
    ----------
    knowledge : MembershipKnowledge
    members : array of int64, shape (m,)
        Row numbers of B.
    """

    knowledge: MembershipKnowledge
    members: NDArray[np.int64]


def shadows(knowledge: MembershipKnowledge, count: int, rng: np.random.Generator) -> list[Shadow]:
    """So many shadows of a release; the same ones for the same stream."""
    remake = _declared(knowledge) or surrogate(knowledge, rng)
    made = []
    for own in rng.spawn(count):
        chosen = own.permutation(len(knowledge.population))[: members(knowledge)]
        release = remake(knowledge.population.take(chosen), own)
        mechanism = knowledge.mechanism
        if knowledge.declared is not None and mechanism is not None:
            mechanism = knowledge.declared.mechanism(release)
        made.append(Shadow(replace(knowledge, release=release, mechanism=mechanism), chosen))
    return made


def _declared(knowledge: MembershipKnowledge) -> Remake | None:
    method = knowledge.declared
    if method is None or method.unfit(knowledge.population.schema):
        return None
    return lambda sample, rng: method(sample, rng).table


def surrogate(knowledge: MembershipKnowledge, rng: np.random.Generator) -> Remake:
    """Of some methods the one whose release of a sample is most like the given release.

    They are: rows as they are; cells swapped as often as the estimated mechanism says, or drawn from the column, or redrawn by
    that mechanism; and rows generated from the moments of the sample.
    """
    coarsening = Coarsening.of((knowledge.population, knowledge.release), _LARGEST_DOMAIN)
    population, release = (
        coarsening.apply(knowledge.population),
        coarsening.apply(knowledge.release),
    )
    transitions = estimate_mechanism(population, release).transitions
    shares = dict(zip(population.schema.names, 1 - retention(population, release), strict=True))
    candidates: list[Remake] = [
        lambda sample, rng: sample.take(rng.permutation(len(sample))),
        lambda sample, rng: _exchanged(sample, shares, rng, again=False),
        lambda sample, rng: _exchanged(sample, shares, rng, again=True),
        _coarsely(coarsening, lambda sample, rng: _redrawn(sample, transitions, rng)),
        _coarsely(
            coarsening,
            lambda sample, rng: GENERATORS["moments"](Moments.of(sample), len(release), rng),
        ),
    ]
    shown = _looks(population, release, members(knowledge))
    sample = knowledge.population.take(rng.permutation(len(population))[: members(knowledge)])
    unlike = []
    for remake in candidates:
        looks = _looks(population, coarsening.apply(remake(sample, rng)), members(knowledge))
        unlike.append(float(np.abs(looks - shown).sum()))
    return candidates[int(np.argmin(unlike))]


def _looks(population: Table, release: Table, count: int) -> NDArray[np.float64]:
    """What tells methods apart: the share of rows that stand in B, how much of each column's dependence is kept, histograms."""
    keys = Table.stack([release, population]).keys()
    same = float(np.isin(keys[: len(release)], keys[len(release) :]).mean())
    kept = retention(population, release)
    return np.array([same, np.log(_excess(population, release, count)), *(kept / len(kept))])


def _coarsely(coarsening: Coarsening, remake: Remake) -> Remake:
    """A method on tables whose wide columns are in groups, with values of the sample in place of the groups at the end."""
    return lambda sample, rng: coarsening.undo(remake(coarsening.apply(sample), rng), sample, rng)


def _excess(population: Table, release: Table, count: int) -> float:
    """Mean square deviation of the release's histograms from B's, in units of that of a sample of so many rows."""
    squares, degrees = 0.0, 0
    for name in population.schema.names:
        expected = population.frequencies(name) / len(population)
        often = expected * count >= 5
        deviation = release.frequencies(name)[often] / len(release) - expected[often]
        variance = expected[often] * (1 - expected[often]) / count * (1 - count / len(population))
        squares += float((deviation**2 / np.maximum(variance, 1e-12)).sum())
        degrees += int(often.sum())
    return max(squares, 1e-9) / max(1, degrees)


def _redrawn(
    sample: Table, transitions: Mapping[str, NDArray[np.float64]], rng: np.random.Generator
) -> Table:
    """Each cell drawn by the transitions of its value."""
    changed = {}
    for name, matrix in transitions.items():
        chances = np.cumsum(matrix, axis=1)
        codes, drawn = sample.codes[name], np.empty(len(sample), dtype=np.int64)
        for value in np.unique(codes):
            here = np.flatnonzero(codes == value)
            drawn[here] = np.searchsorted(
                chances[value], rng.random(len(here)) * chances[value, -1], side="right"
            )
        changed[name] = np.minimum(drawn, len(matrix) - 1)
    return sample.with_codes(changed)


def _exchanged(
    sample: Table, shares: Mapping[str, float], rng: np.random.Generator, *, again: bool
) -> Table:
    """A share of the cells of each column in random order, or drawn from the column, where a value may come again."""
    changed = {}
    for name, share in shares.items():
        codes = sample.codes[name].copy()
        moved = np.flatnonzero(rng.random(len(codes)) < share)
        codes[moved] = (
            rng.choice(sample.codes[name], len(moved)) if again else codes[rng.permutation(moved)]
        )
        changed[name] = codes
    return sample.with_codes(changed)
