"""Differentially private synthesis: `mst` (McKenna et al. 2021) and `aim` (McKenna et al. 2022), with `mbi`'s graphical models.

Marginals are measured with Gaussian noise, those worth measuring are chosen by the exponential mechanism, a model is fitted to
what was measured, and records are drawn from it. Two tables are neighbours where one record is another one; the number of
records is public. Costs add up as rho of zero-concentrated privacy, epsilon = rho + 2 sqrt(rho ln(1 / delta)). The noise is
that of floating-point numbers: proofs are about real ones.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Release
from kakurenbo.errors import UsageError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Codes, Integer, Schema, Table

Clique = tuple[str, ...]
Vector = NDArray[np.float64]

_SQUARED_SENSITIVITY = 2.0  # of a marginal: another record takes one off a cell and adds one to another
_SENSITIVITY = 2.0  # of a sum of absolute differences
_FIT_STEPS = 500
_FURTHER_STEPS = 150  # of a fit that goes on from the one before it
_LARGEST_MODEL = 80.0  # megabytes
_ROUNDS_PER_COLUMN = 16
_FOR_MEASURING = 0.9  # share of a round's budget, the rest is for choosing
_NEEDED = "differentially private synthesis needs mbi: pip install 'kakurenbo[dp]'"


@dataclass(frozen=True)
class _Private(Anonymizer):
    """Records drawn from a model that was fitted to noisy marginals."""

    epsilon: float = parameter(1.0, "privacy budget", low=0.001, high=1000)
    delta: float = parameter(1e-6, "chance with which the budget may be exceeded", low=1e-12, high=0.1)
    bins: int = parameter(100, "groups of neighbouring values that a wider range of numbers is cut into", low=2, high=1000)

    def unfit(self, schema: Schema) -> str:
        """Also where the library is not there: whoever plays every method that fits plays on without this one."""
        return super().unfit(schema) or self.lacking()

    def lacking(self) -> str:
        return "" if importlib.util.find_spec("mbi") else _NEEDED

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        if not len(table):
            return Release.of(table)
        binning = _Binning(table, self.bins)
        root = math.log(1 / self.delta)
        rho = (math.sqrt(root + self.epsilon) - math.sqrt(root)) ** 2
        measuring = _Measuring(binning, rng)
        model = self._model(measuring, rho)
        with _global_state(rng):  # the library draws from NumPy's own
            drawn = model.synthetic_data(rows=len(table)).to_dict()
        claims = {"epsilon": self.epsilon, "delta": self.delta}
        return Release.of(binning.undone({name: np.asarray(codes) for name, codes in drawn.items()}, rng), claims=claims)

    @abstractmethod
    def _model(self, measuring: _Measuring, rho: float) -> Any:
        """A graphical model fitted to what was measured at the cost of ``rho``."""


@dataclass(frozen=True)
class MST(_Private):
    """Generate records with differential privacy from all histograms and a tree of pairs of columns that tell most.

    A third of the budget each goes to the histograms, the choice of the tree, and its two-way tables.
    """

    def _model(self, measuring: _Measuring, rho: float) -> Any:
        names = measuring.names
        for name in names:
            measuring.measure((name,), _deviation(rho / 3 / len(names)))
        model = measuring.fitted()
        if len(names) < 2:
            return model
        off: dict[Clique, float] = {pair: measuring.difference(model, pair) for pair in combinations(names, 2)}
        tree = _spanning_tree(names, off, math.sqrt(8 * rho / 3 / (len(names) - 1)), measuring.rng)
        for pair in tree:
            measuring.measure(pair, _deviation(rho / 3 / len(tree)))
        return measuring.fitted()


@dataclass(frozen=True)
class AIM(_Private):
    """Generate records with differential privacy, measuring in each round the two-way table that the model tells worst.

    Noise starts large and is halved whenever a measurement tells nothing new, until the budget is spent.
    """

    def _model(self, measuring: _Measuring, rho: float) -> Any:
        names = measuring.names
        rounds = _ROUNDS_PER_COLUMN * len(names)
        left, deviation = rho, _deviation(_FOR_MEASURING * rho / rounds)
        choice = math.sqrt(8 * (1 - _FOR_MEASURING) * rho / rounds)
        for name in names:
            measuring.measure((name,), deviation)
            left -= _cost(deviation)
        model = measuring.fitted()
        while left > 1e-9 * rho and len(names) > 1:
            if left < 2 * (_cost(deviation) + choice**2 / 8):
                deviation, choice = _deviation(_FOR_MEASURING * left), math.sqrt(8 * (1 - _FOR_MEASURING) * left)
            left -= _cost(deviation) + choice**2 / 8
            candidates = [pair for pair in combinations(names, 2) if measuring.stays_small(pair)]
            if not candidates:
                break
            noise = {pair: math.sqrt(2 / math.pi) * deviation * measuring.cells(pair) for pair in candidates}
            scores = np.array([measuring.difference(model, pair) - noise[pair] for pair in candidates])
            chosen = candidates[_drawn(scores, choice, measuring.rng)]
            measuring.measure(chosen, deviation)
            before, model = measuring.told(model, chosen), measuring.fitted(model)
            if np.abs(measuring.told(model, chosen) - before).sum() <= noise[chosen]:
                deviation, choice = deviation / 2, choice * 2
        return model


def _deviation(rho: float) -> float:
    """Standard deviation of the noise of a marginal that costs ``rho``."""
    return math.sqrt(_SQUARED_SENSITIVITY / (2 * rho))


def _cost(deviation: float) -> float:
    return _SQUARED_SENSITIVITY / (2 * deviation**2)


def _drawn(scores: Vector, epsilon: float, rng: np.random.Generator) -> int:
    """The exponential mechanism, which costs rho = epsilon^2 / 8."""
    return int((epsilon * scores / (2 * _SENSITIVITY) + rng.gumbel(size=len(scores))).argmax())


def _spanning_tree(
    names: Sequence[str], off: dict[Clique, float], epsilon: float, rng: np.random.Generator
) -> tuple[Clique, ...]:
    """Pairs that tie all columns together, each drawn among those that tie two parts, the worst told the likeliest."""
    part = {name: name for name in names}
    tree: list[Clique] = []
    while len(tree) < len(names) - 1:
        candidates = [pair for pair in off if part[pair[0]] != part[pair[1]]]
        first, second = candidates[_drawn(np.array([off[pair] for pair in candidates]), epsilon, rng)]
        tree.append((first, second))
        joined = part[second]
        part = {name: part[first] if own == joined else own for name, own in part.items()}
    return tuple(tree)


class _Binning:
    """Columns as groups of neighbouring values, equally many in each: the domain alone decides, no record does."""

    def __init__(self, table: Table, most: int) -> None:
        self.table = table
        sizes = {column.name: int(column.size or 1) for column in table.schema}
        self._per_bin = {
            column.name: -(-sizes[column.name] // most) if isinstance(column, Integer) else 1 for column in table.schema
        }
        self.sizes = {name: -(-size // self._per_bin[name]) for name, size in sizes.items()}
        self._values = sizes
        self.codes = {name: table.codes[name].astype(np.int64) // self._per_bin[name] for name in sizes}

    def undone(self, drawn: dict[str, Codes], rng: np.random.Generator) -> Table:
        """A table with a value of each group in its place, all equally likely."""
        codes = {}
        for name in self.table.schema.names:
            begins = drawn[name].astype(np.int64) * self._per_bin[name]
            codes[name] = rng.integers(begins, np.minimum(begins + self._per_bin[name], self._values[name]))
        return Table(self.table.schema, codes)


@dataclass(eq=False)
class _Measuring:
    """Noisy marginals of a table, and the models fitted to them."""

    binning: _Binning
    rng: np.random.Generator
    _measured: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._library = _library()
        self._domain = self._library.Domain.fromdict(self.binning.sizes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.binning.sizes)

    def cells(self, clique: Clique) -> int:
        return math.prod(self.binning.sizes[name] for name in clique)

    def measure(self, clique: Clique, deviation: float) -> None:
        noisy = self._true(clique) + self.rng.normal(0, deviation, self.cells(clique))
        self._measured.append(self._library.LinearMeasurement(noisy, clique, stddev=deviation))

    def fitted(self, before: Any = None) -> Any:
        """The model of greatest entropy that tells what was measured; it goes on from an earlier one."""
        cliques = [measurement.clique for measurement in self._measured]
        potentials = None if before is None else before.potentials.expand(_maximal(cliques))
        steps = _FIT_STEPS if before is None else _FURTHER_STEPS
        return self._library.estimation.mirror_descent(
            self._domain, self._measured, known_total=float(len(self.binning.table)), potentials=potentials, iters=steps
        )

    def told(self, model: Any, clique: Clique) -> Vector:
        """What a model tells of a marginal, shape (cells,)."""
        return np.asarray(model.project(clique).datavector(), dtype=np.float64)

    def difference(self, model: Any, clique: Clique) -> float:
        """How far a model is from the table: not private, for the exponential mechanism alone."""
        return float(np.abs(self._true(clique) - self.told(model, clique)).sum())

    def stays_small(self, clique: Clique) -> bool:
        """Whether a model with one more marginal still fits into memory."""
        cliques = [*(measurement.clique for measurement in self._measured), clique]
        return bool(self._library.junction_tree.hypothetical_model_size(self._domain, cliques) <= _LARGEST_MODEL)

    def _true(self, clique: Clique) -> Vector:
        key = np.zeros(len(self.binning.table), dtype=np.int64)
        for name in clique:
            key = key * self.binning.sizes[name] + self.binning.codes[name]
        return np.bincount(key, minlength=self.cells(clique)).astype(np.float64)


def _maximal(cliques: Sequence[Clique]) -> list[Clique]:
    """The cliques that are part of no other, each once."""
    distinct = list(dict.fromkeys(cliques))
    return [one for one in distinct if not any(set(one) < set(other) for other in distinct)]


def _library() -> Any:
    try:
        import mbi
    except ImportError as error:
        raise UsageError(_NEEDED) from error
    return mbi


@contextlib.contextmanager
def _global_state(rng: np.random.Generator) -> Iterator[None]:
    """NumPy's own random state, set by ``rng`` for a while and put back."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
