"""`moments`: our generator. Draw column after column, and steer every draw by what the rows so far are short of.

Each column is a multinomial logit of the columns before it, fitted to the source's cross products: at the optimum of the
likelihood the expected cross products equal the source's (the maximum-entropy dual), so fitting *is* matching the second
moments. Rows are drawn in blocks; before each block the conditionals are tilted by the moments still missing, so that the
errors of the blocks cancel instead of adding up: the histograms and the covariance of the finished table are far closer to
the source's than an independent sample's would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kakurenbo.core import Category, Codes, Column, Integer, Moments, Schema, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.data.statistics import (
    check_request,
    on_grid,
    one_blas_thread,
    quota_codes,
    shrinking_blocks,
)

# An integer that is drawn conditionally is drawn in this many groups of neighbouring values at most. Within a group the
# values follow the source's histogram; 32 groups leave less than 1% of the variance inside.
MAX_GROUPS = 32

_PILOT_ROWS = 16_384  # at most; a plan with many columns takes fewer
_LEAST_PILOT_ROWS = 4_096
_PILOT_WORK = 2**23  # rows of the pilot times effects per row
_STEPS = 40
_PENALTY = 0.1  # per feature and pilot row, on whitened weights: against overfitting the pilot
_LEAST_PENALTY = 1e-4  # keeps weights of levels that never occur together finite
_FLOOR = 1e-4  # variance below which a direction of the features is taken for rounding
_CHUNK = 2**19  # chances held at a time

_SMALLEST_BLOCK = 16
_FEATURES_PER_ROW = 4  # of the smallest block at most: fewer rows cannot be steered so many ways
_RIDGE = 1e-2  # steering ignores directions of the features with less variance than this
_SLACK = 4.0  # rows: a level expected less often than this in a block is steered gently
_LARGEST_CHANGE = 2.0  # root mean square change of a logit by steering
_LARGEST_WEIGHT = 1.0  # change of a single weight by steering
_LARGEST_RATIO = 4.0  # change of a group's chances by raking
_RAKINGS = 2
_TINY = 1e-12


def generate(moments: Moments, rows: int, rng: Rng) -> Table:
    """Draw a table whose histograms and covariance match those of a source.

    Parameters
    ----------
    moments : Moments
        Of the source; all that is known of it.
    rows : int
        Any number, whatever the source has.
    rng : numpy.random.Generator

    Returns
    -------
    Table
        Rows in random order. Values that do not occur in the source do not occur here.
    """
    return calibrated(moments, rng)(rows, rng)


def calibrated(moments: Moments, rng: Rng) -> Callable[[int, Rng], Table]:
    """Calibrate the generator of one source once; the result is called as ``draw(rows, rng)``."""
    check_request(moments, 1)
    with one_blas_thread():
        plan = Plan.of(moments)
        conditionals = _calibrate(plan, rng)

    def draw(rows: int, rng: Rng) -> Table:
        check_request(moments, rows)
        with one_blas_thread():
            groups = _draw(plan, conditionals, rows, rng)
        # The last rows of a draw make up for the first: their order must not tell.
        order = rng.permutation(rows)
        codes = {name: np.full(rows, code) for name, code in plan.constants.items()}
        for factor, drawn in zip(plan.factors, groups, strict=True):
            codes[factor.name] = _ungroup(factor, drawn[order], rng)
        return Table(plan.schema, codes)

    return draw


# -- columns as factors ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Factor:
    """The outcome of one conditional draw: a column that is not constant in the source.

    Attributes
    ----------
    name : str
    levels : array of int, shape (m,)
        The codes that occur in the source, ascending.
    counts : array of int, shape (m,)
        How often each occurs there.
    groups : array of int, shape (m,)
        The group 0..K-1 of each level. Each level of a category is its own group.
    scores : array, shape (K, s)
        The features of each group, which later factors are drawn from: one-hot for a category (s = K), the standardised
        mean value for an integer (s = 1).
    offset : int
        Position of the first feature among those of all factors.
    """

    name: str
    levels: Ints
    counts: Ints
    groups: Ints
    scores: Floats
    offset: int

    @property
    def size(self) -> int:
        """Number of groups, K."""
        return len(self.scores)

    @property
    def end(self) -> int:
        """Position after the last feature."""
        return self.offset + int(self.scores.shape[1])

    @cached_property
    def nominal(self) -> bool:
        """Whether the features are one-hot, so that scores need not be multiplied."""
        return self.end - self.offset == self.size

    @cached_property
    def group_counts(self) -> Ints:
        """How often each group occurs in the source, shape (K,)."""
        return np.bincount(self.groups, weights=self.counts).astype(np.int64)

    @cached_property
    def shares(self) -> Floats:
        """Relative frequency of each group in the source, shape (K,)."""
        shares: Floats = self.group_counts / self.counts.sum()
        return shares

    def spread(self, effects: Floats) -> Floats:
        """Turn effects on features into effects on groups: (n, s) -> (K, n), so that rows are contiguous."""
        if self.nominal:
            return np.array(effects.T, order="C")
        return self.scores * effects[:, 0]

    def gather(self, chances: Floats) -> Floats:
        """Turn chances of groups into expected features: (K, n) -> (n, s)."""
        return chances.T if self.nominal else chances.T @ self.scores


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything the generator needs to know of a source.

    Attributes
    ----------
    schema : Schema
    constants : mapping of str to int
        Columns with a single value in the source, and its code.
    factors : tuple of Factor
        In the order they are drawn.
    mean : array, shape (d,)
    covariance : array, shape (d, d)
        Of the features, with ddof 0.
    """

    schema: Schema
    constants: Mapping[str, int]
    factors: tuple[Factor, ...]
    mean: Floats
    covariance: Floats

    @classmethod
    def of(cls, moments: Moments) -> Plan:
        """Plan the draws for a source."""
        constants: dict[str, int] = {}
        varying: list[_Varying] = []
        start = 0
        for column, histogram in zip(moments.schema, moments.histograms, strict=True):
            levels = np.flatnonzero(histogram)
            nominal = isinstance(column, Category)
            if len(levels) == 1:
                constants[column.name] = int(levels[0])
            else:
                places = start + levels if nominal else np.array([start])
                varying.append(_Varying(column, levels, histogram[levels], places))
            start += column.size if isinstance(column, Category) else 1

        factors: list[Factor] = []
        scales = np.zeros(0)
        ordered = [varying[place] for place in _drawing_order(varying, moments)]
        for column, levels, counts, places in ordered:
            if isinstance(column, Integer):
                groups = neighbours(counts, MAX_GROUPS) if factors else np.arange(len(levels))
                values = column.values(levels).astype(np.float64)
                centred = values - values @ counts / counts.sum()
                scale = np.sqrt(centred**2 @ counts / counts.sum())
                sums = np.bincount(groups, weights=centred * counts)
                scores = (sums / np.bincount(groups, weights=counts) / scale)[:, None]
            else:
                groups, scores, scale = np.arange(len(levels)), np.eye(len(levels)), 1.0
            factors.append(Factor(column.name, levels, counts, groups, scores, len(scales)))
            scales = np.concatenate([scales, np.full(len(places), scale)])
        means = [factor.shares if factor.nominal else np.zeros(1) for factor in factors]
        index = np.concatenate([np.zeros(0, dtype=np.int64), *(item.places for item in ordered)])
        covariance = moments.covariance[np.ix_(index, index)] * (moments.count - 1) / moments.count
        return cls(
            moments.schema,
            constants,
            tuple(factors),
            np.concatenate([np.zeros(0), *means]),
            covariance / np.outer(scales, scales),
        )


class _Varying(NamedTuple):
    """A column with several values: those that occur, how often, and its places in the numeric view."""

    column: Column
    levels: Ints
    counts: Ints
    places: Ints


def _drawing_order(varying: Sequence[_Varying], moments: Moments) -> list[int]:
    """Order columns as a largest spanning tree of their pairwise dependences grows from the first.

    The column with the most values comes first, because the first factor is drawn exactly; then always the one that depends
    most on one already drawn, because a strong tie is kept best where it is drawn directly. The dependence of two columns
    is Pearson's phi^2 = sum over levels of cov^2 / (share share'); of integers r^2.
    """
    owners = np.zeros((len(varying), len(moments.products)))  # (columns, d) one-hot
    size = np.ones(len(moments.products))
    for place, item in enumerate(varying):
        owners[place, item.places] = 1
        shares = item.counts / moments.count
        nominal = isinstance(item.column, Category)
        size[item.places] = shares if nominal else np.diag(moments.covariance)[item.places]
    dependence = owners @ (moments.covariance**2 / np.outer(size, size)) @ owners.T
    left, tie = list(range(len(varying))), np.zeros(len(varying))
    order: list[int] = []
    while left:
        key = tie.__getitem__ if order else lambda place: len(varying[place].levels)
        order.append(max(left, key=key))
        left.remove(order[-1])
        # Rounded: the order must not depend on the last bits.
        tie = np.maximum(tie, dependence[order[-1]].round(9))
    return order


def neighbours(counts: Ints, limit: int) -> Ints:
    """Group neighbouring levels into at most ``limit`` groups with about equal counts, shape (m,)."""
    if len(counts) <= limit:
        return np.arange(len(counts))
    middle = np.cumsum(counts) - counts / 2
    return np.unique((middle / counts.sum() * limit).astype(np.int64), return_inverse=True)[1]


class _Design:
    """Features of the factors drawn so far, for one block of rows; grows by a factor at a time."""

    def __init__(self, plan: Plan, rows: int) -> None:
        self._factors, self._known = plan.factors, 0
        self._index = np.empty((rows, len(plan.factors)), dtype=np.int32)
        self._value = np.ones((rows, len(plan.factors)))

    def add(self, groups: Codes) -> Any:
        """Add the groups drawn of the next factor, shape (rows,); return the sparse features so far, shape (rows, d')."""
        from scipy import sparse  # takes a while to load, and only drawing needs it

        factor, column = self._factors[self._known], self._known
        self._known += 1
        self._index[:, column] = factor.offset + (groups if factor.nominal else 0)
        if not factor.nominal:
            self._value[:, column] = factor.scores[groups, 0]
        index, value = self._index[:, : self._known], self._value[:, : self._known]
        bounds = np.arange(0, index.size + 1, self._known, dtype=np.int32)
        return sparse.csr_array((value.ravel(), index.ravel(), bounds), (len(index), factor.end))


# -- calibration -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Conditional:
    """How one factor depends on those before it: logits = spread(X @ weights) + bias.

    Attributes
    ----------
    weights : array, shape (d', s)
    bias : array, shape (K,)
    mean : array, shape (d',)
        Of the features before it.
    cross : array, shape (d', s)
        E[(x - mean) features], which the draws are to reach.
    variances : array, shape (s,)
        Largest variances of the features.
    gain : array, shape (d', d')
        Newton's step as if the factor depended on nothing: its curvature is the largest, so the step is never too long.
    """

    factor: Factor
    weights: Floats
    bias: Floats
    mean: Floats
    cross: Floats
    variances: Floats
    gain: Floats


def _calibrate(plan: Plan, rng: Rng) -> tuple[_Conditional, ...]:
    """Fit the conditionals of all factors but the first, each on a pilot sample of the ones before it."""
    if not plan.factors:
        return ()
    effects = sum(
        place * (factor.end - factor.offset) + factor.size
        for place, factor in enumerate(plan.factors)
    )
    rows = int(np.clip(_PILOT_WORK // effects, _LEAST_PILOT_ROWS, _PILOT_ROWS))
    pilot, codes = _Design(plan, rows), quota_codes(plan.factors[0].group_counts, rows, rng)
    conditionals = []
    for factor in plan.factors[1:]:
        design, before = pilot.add(codes), factor.offset
        weights, bias = _fit(plan, factor, design)
        source = plan.covariance[:before, :before]
        gain = np.linalg.inv(source + _RIDGE * np.eye(before)).astype(np.float64)
        conditionals.append(
            _Conditional(
                factor,
                weights,
                bias,
                plan.mean[:before],
                plan.covariance[:before, before : factor.end],
                factor.shares if factor.nominal else factor.shares @ factor.scores**2,
                gain,
            )
        )
        codes = _pick(_odds(factor.spread(design @ weights), bias)[0], rng)
    return tuple(conditionals)


def _odds(effects: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """Compute exp(effects + bias), the largest of a row being 1, shape (K, n), and the logarithm of what was divided out.

    Overwrites ``effects``.
    """
    effects += bias[:, None]
    highest = effects.max(axis=0)
    effects -= highest
    return np.exp(effects, out=effects), highest


def _pick(odds: Floats, rng: Rng) -> Ints:
    """Draw one group per row with chances proportional to ``odds``, shape (K, n) -> (n,)."""
    level = rng.random(odds.shape[1]) * odds.sum(axis=0)
    codes: Ints = (np.cumsum(odds[:-1], axis=0) <= level).sum(axis=0)
    return codes


def _targets(plan: Plan, factor: Factor, design: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Carry the source's moments over to the pilot by linear regression, so that they can be reached there.

    A rare level may be missing from the pilot altogether; asking for its cross products would have no solution. Returns
    the mean of the pilot's features (d',), E[(x - mean) features] (d', s), shares (K,) and a whitener (d', d') with
    weights = whitener.T @ parameters.
    """
    rows, width = design.shape
    mean = design.sum(axis=0) / rows
    covariance = (design.T @ design).toarray() / rows - np.outer(mean, mean)
    cross = plan.covariance[:width, factor.offset : factor.end]
    slopes = np.linalg.solve(plan.covariance[:width, :width] + 1e-9 * np.eye(width), cross)
    shares = factor.shares
    if factor.nominal:
        moved = shares + (mean - plan.mean[:width]) @ slopes
        moved = np.maximum(moved, shares / 10)
        shares = moved / moved.sum()
    lower = np.linalg.cholesky(covariance + _FLOOR * np.eye(width))
    return mean, covariance @ slopes, shares, np.linalg.inv(lower)


def _fit(plan: Plan, factor: Factor, design: Any) -> tuple[Floats, Floats]:
    """Minimise log-partition - <parameters, targets> + penalty by L-BFGS in whitened coordinates."""
    from scipy.optimize import minimize  # loaded on use: most commands draw nothing

    mean, wanted_cross, wanted_shares, whitener = _targets(plan, factor, design)
    rows, width = design.shape
    step = max(1, _CHUNK // factor.size)
    parts = [design[start : start + step] for start in range(0, rows, step)]
    chunks = [(part, part.T.tocsr()) for part in parts]
    penalty = max(_LEAST_PENALTY, _PENALTY * width / rows)
    units = 1 / np.sqrt(wanted_shares)
    cut = wanted_cross.size

    def unpack(parameters: Floats) -> tuple[Floats, Floats]:
        weights = whitener.T @ parameters[:cut].reshape(wanted_cross.shape)
        return weights, np.log(wanted_shares) + parameters[cut:] * units

    def centre(weights: Floats, bias: Floats) -> Floats:
        return bias - factor.spread((mean @ weights)[None, :])[:, 0]

    def objective(parameters: Floats) -> tuple[float, Floats]:
        weights, bias = unpack(parameters)
        centred = centre(weights, bias)
        value, cross, shares = 0.0, np.zeros_like(weights), np.zeros(factor.size)
        for chunk, transposed in chunks:
            chances, highest = _odds(factor.spread(chunk @ weights), centred)
            total = chances.sum(axis=0)
            chances /= total
            value += (np.log(total) + highest).sum()
            shares += chances.sum(axis=1)
            cross += transposed @ factor.gather(chances)
        shares /= rows
        cross = cross / rows - np.outer(mean, factor.gather(shares[:, None])[0])
        value = value / rows - (weights * wanted_cross).sum() - bias @ wanted_shares
        slope = [(whitener @ (cross - wanted_cross)).ravel(), (shares - wanted_shares) * units]
        return (
            value + penalty / 2 * (parameters @ parameters),
            np.concatenate(slope) + penalty * parameters,
        )

    fitted = minimize(
        objective,
        np.zeros(cut + factor.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS, "maxcor": 20, "gtol": 1e-5},
    )
    weights, bias = unpack(fitted.x)
    weights = on_grid(weights)
    return weights, on_grid(centre(weights, bias))


# -- steered draws -----------------------------------------------------------------------------------------------------


def _draw(plan: Plan, conditionals: tuple[_Conditional, ...], rows: int, rng: Rng) -> list[Codes]:
    """Draw the group of every factor for every row, each of shape (rows,)."""
    if not plan.factors:
        return []
    groups: list[Codes] = [np.empty(rows, dtype=np.int32) for _ in plan.factors]
    groups[0][:] = quota_codes(plan.factors[0].group_counts, rows, rng)
    steered = [_Steered(conditional) for conditional in conditionals]
    smallest = max(_SMALLEST_BLOCK, len(plan.mean) // _FEATURES_PER_ROW)
    for block in shrinking_blocks(rows, smallest):
        design = _Design(plan, block.stop - block.start)
        for place, column in enumerate(steered):
            groups[place + 1][block] = column.draw(design.add(groups[place][block]), rng)
    return groups


class _Steered:
    """The draws of one factor, and the sums of the moments that they have reached so far."""

    def __init__(self, aim: _Conditional) -> None:
        self._aim, self._rows = aim, 0
        self._cross = np.zeros_like(aim.cross)  # (d', s) sum of (x - mean) features
        self._counts = np.zeros(aim.factor.size)

    def draw(self, design: Any, rng: Rng) -> Codes:
        """Draw groups of one block of rows, shape (n,), so as to make up for what is missing."""
        aim, factor, size = self._aim, self._aim.factor, design.shape[0]
        missing = (self._rows * aim.cross - self._cross) / size
        step = aim.gain @ missing
        slack = aim.variances + _SLACK / size
        weights = step / slack
        # (s,) root mean square change of a logit, since covariance @ step = missing - ridge * step; many small wishes
        # together must not drown the conditional.
        change = (weights * ((missing - _RIDGE * step) / slack)).sum(axis=0)
        weights *= _LARGEST_CHANGE / np.maximum(np.sqrt(np.maximum(change, 0)), _LARGEST_CHANGE)
        weights = on_grid(np.clip(weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT))
        bias = aim.bias - on_grid(factor.spread((aim.mean @ weights)[None, :])[:, 0])
        odds, _ = _odds(factor.spread(design @ (aim.weights + weights)), bias)
        for _ in range(_RAKINGS):  # towards the group counts that are missing
            expected = odds @ (1 / odds.sum(axis=0))
            wanted = (self._rows + size) * factor.shares - self._counts
            ratio = wanted / np.maximum(expected, _TINY)
            odds *= on_grid(np.clip(ratio, 1 / _LARGEST_RATIO, _LARGEST_RATIO))[:, None]
        codes = _pick(odds, rng)
        features = factor.scores[codes]
        self._cross += design.T @ features - np.outer(aim.mean, features.sum(axis=0))
        self._counts += np.bincount(codes, minlength=factor.size)
        self._rows += size
        return codes


def _ungroup(factor: Factor, groups: Codes, rng: Rng) -> Codes:
    """Return codes of the column for the groups drawn: within a group the source's own frequencies, exactly."""
    if factor.size == len(factor.levels):
        return factor.levels[groups]
    codes = np.empty(len(groups), dtype=np.int64)
    by_group = np.argsort(groups.astype(np.int16), kind="stable")  # 16 bits are sorted by counting
    ends = np.cumsum(np.bincount(groups, minlength=factor.size))
    for group, rows in enumerate(np.split(by_group, ends[:-1])):
        members = np.flatnonzero(factor.groups == group)
        codes[rows] = factor.levels[members[quota_codes(factor.counts[members], len(rows), rng)]]
    return codes
