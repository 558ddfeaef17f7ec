"""Differentially private synthesis with mbi's graphical models: `mst` (McKenna et al. 2021) and `aim` (McKenna et al. 2022).

Neighbours differ in one record; the number of records is public. Costs are rho of zero-concentrated privacy.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np

from kakurenbo.contest import Anonymizer, Release
from kakurenbo.core import Integer, Schema, Table
from kakurenbo.core.arrays import Floats, Rng
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import parameter

Clique = tuple[str, ...]
MAX_MODEL_SIZE = 80.0  # megabytes
ROUNDS_PER_COLUMN = 16
MEASURED_SHARE = 0.9  # of a round's budget; the rest is for choosing


@dataclass(frozen=True)
class _Private(Anonymizer):
    epsilon: float = parameter(1.0, "privacy budget", low=0.001, high=1000)
    delta: float = parameter(
        1e-6, "chance with which the budget may be exceeded", low=1e-12, high=0.1
    )
    bins: int = parameter(
        100,
        "groups of neighbouring values that a wider range of numbers is cut into",
        low=2,
        high=1000,
    )

    def unfit(self, schema: Schema) -> str | Message:
        return super().unfit(schema) or self.lacking()

    def lacking(self) -> str | Message:
        return "" if find_spec("mbi") else Message("error.dp_extra")

    def __call__(self, table: Table, rng: Rng) -> Release:
        if not len(table):
            return Release.of(table)
        before = np.random.get_state()  # noqa: NPY002 - the library draws from it, once it is loaded
        try:
            marginals = Marginals(table, self.bins, rng)
            root = math.log(1 / self.delta)  # epsilon = rho + 2 sqrt(rho ln(1 / delta))
            model = self._fit(marginals, (math.sqrt(root + self.epsilon) - math.sqrt(root)) ** 2)
            np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
            drawn = model.synthetic_data(rows=len(table)).to_dict()
        finally:
            np.random.set_state(before)  # noqa: NPY002
        claims = {"epsilon": self.epsilon, "delta": self.delta}
        return Release.of(undo_bins(table.schema, drawn, self.bins, rng), claims=claims)

    @abstractmethod
    def _fit(self, marginals: Marginals, rho: float) -> Any:
        """Return a graphical model, at the cost of ``rho``."""


@dataclass(frozen=True)
class MST(_Private):
    """Generate records with differential privacy from all histograms and a tree of pairs of columns that tell most.

    A third of the budget each goes to the histograms, the choice of the tree, and its two-way tables.
    """

    def _fit(self, marginals: Marginals, rho: float) -> Any:
        columns, edges = marginals.columns, len(marginals.columns) - 1
        for name in columns:
            marginals.measure((name,), noise_of(rho / 3 / len(columns)))
        model = marginals.fit()
        if not edges:
            return model
        errors = {pair: marginals.error(model, pair) for pair in combinations(columns, 2)}
        for pair in spanning_tree(columns, errors, math.sqrt(8 * rho / 3 / edges), marginals.rng):
            marginals.measure(pair, noise_of(rho / 3 / edges))
        return marginals.fit()


def spanning_tree(
    columns: Sequence[str], errors: Mapping[tuple[str, str], float], epsilon: float, rng: Rng
) -> list[tuple[str, str]]:
    """Draw pairs that connect all columns, each among those that connect two parts, the largest errors the likeliest."""
    part, tree = {name: name for name in columns}, list[tuple[str, str]]()
    while len(tree) < len(columns) - 1:
        pairs = [pair for pair in errors if part[pair[0]] != part[pair[1]]]
        first, second = pairs[choose(np.array([errors[pair] for pair in pairs]), epsilon, rng)]
        tree.append((first, second))
        part = {name: part[first] if p == part[second] else p for name, p in part.items()}
    return tree


@dataclass(frozen=True)
class AIM(_Private):
    """Generate records with differential privacy, measuring in each round the two-way table that the model tells worst.

    Noise starts large and is halved whenever a measurement tells nothing new, until the budget is spent.
    """

    def _fit(self, marginals: Marginals, rho: float) -> Any:
        rounds = ROUNDS_PER_COLUMN * len(marginals.columns)
        left, noise = rho, noise_of(MEASURED_SHARE * rho / rounds)
        choice = math.sqrt(8 * (1 - MEASURED_SHARE) * rho / rounds)
        for name in marginals.columns:
            marginals.measure((name,), noise)
            left -= 1 / noise**2
        model = marginals.fit()
        while left > 1e-9 * rho:
            if left < 2 * (1 / noise**2 + choice**2 / 8):
                noise = noise_of(MEASURED_SHARE * left)
                choice = math.sqrt(8 * (1 - MEASURED_SHARE) * left)
            left -= 1 / noise**2 + choice**2 / 8
            pairs = list(filter(marginals.stays_small, combinations(marginals.columns, 2)))
            if not pairs:
                break
            expected = [math.sqrt(2 / math.pi) * noise * marginals.domain.size(p) for p in pairs]
            scores = np.array([marginals.error(model, pair) for pair in pairs]) - expected
            worst = choose(scores, choice, marginals.rng)
            marginals.measure(pairs[worst], noise)
            before = vector(model, pairs[worst])
            model = marginals.fit(model)
            if np.abs(vector(model, pairs[worst]) - before).sum() <= expected[worst]:
                noise, choice = noise / 2, choice * 2
        return model


def noise_of(rho: float) -> float:
    """Return the deviation of a marginal's noise that costs rho = 1 / deviation^2: a record changes two cells by 1."""
    return math.sqrt(1 / rho)


def choose(scores: Floats, epsilon: float, rng: Rng) -> int:
    """Draw a sum of absolute differences by the exponential mechanism, which costs rho = epsilon^2 / 8."""
    return int((epsilon * scores / 4 + rng.gumbel(size=len(scores))).argmax())


def vector(source: Any, clique: Clique) -> Floats:
    """Return the marginal of a table or a model of mbi, shape (cells,)."""
    return np.asarray(source.project(clique).datavector(), dtype=np.float64)


class Marginals:
    """Noisy marginals of a table, and models of them."""

    def __init__(self, table: Table, bins: int, rng: Rng) -> None:
        try:
            import mbi
        except ImportError as error:
            raise UsageError("error.dp_extra") from error
        widths = bin_widths(table.schema, bins)
        sizes = {c.name: -(-int(c.size or 1) // widths[c.name]) for c in table.schema}
        codes = {name: table.codes[name].astype(np.int64) // w for name, w in widths.items()}
        self.mbi, self.rng, self.columns, self._measured = mbi, rng, tuple(sizes), list[Any]()
        self.domain = mbi.Domain.fromdict(sizes)
        self._table = mbi.Dataset(codes, self.domain)

    def measure(self, clique: Clique, noise: float) -> None:
        noisy = vector(self._table, clique) + self.rng.normal(0, noise, self.domain.size(clique))
        self._measured.append(self.mbi.LinearMeasurement(noisy, clique, stddev=noise))

    def fit(self, before: Any = None) -> Any:
        """Return the model of greatest entropy of what was measured; it goes on from an earlier one."""
        cliques = self.mbi.clique_utils.maximal_subset([m.clique for m in self._measured])
        start = {"iters": 500}
        if before is not None:
            start = {"iters": 150, "potentials": before.potentials.expand(cliques)}
        total = float(self._table.records)
        measured = self._measured
        return self.mbi.estimation.mirror_descent(self.domain, measured, known_total=total, **start)

    def error(self, model: Any, clique: Clique) -> float:
        """Return how far a model is from the table: not private, for the exponential mechanism alone."""
        return float(np.abs(vector(self._table, clique) - vector(model, clique)).sum())

    def stays_small(self, clique: Clique) -> bool:
        """Return whether a model with one more marginal still fits into memory."""
        cliques = [*(measurement.clique for measurement in self._measured), clique]
        size = self.mbi.junction_tree.hypothetical_model_size(self.domain, cliques)
        return bool(size <= MAX_MODEL_SIZE)


def bin_widths(schema: Schema, bins: int) -> dict[str, int]:
    """Return how many neighbouring values share a bin: the domain alone decides, no record does."""
    return {c.name: -(-c.size // bins) if isinstance(c, Integer) else 1 for c in schema}


def undo_bins(schema: Schema, drawn: Mapping[str, Any], bins: int, rng: Rng) -> Table:
    """Return a table with a value of each bin in its place, all equally likely."""
    codes = {}
    for name, width in bin_widths(schema, bins).items():
        begins = np.asarray(drawn[name]).astype(np.int64) * width
        codes[name] = rng.integers(begins, np.minimum(begins + width, schema[name].size or 1))
    return Table(schema, codes)
