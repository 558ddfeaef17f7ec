"""The membership attacks at the contest's full size, each against a blocked matrix product of the same shapes in the same run.

All in CPU seconds of one thread: the product of 100,000 x 57 and 57 x 10,000 is what comparing every row of B with every row of
D costs at the least by linear algebra. `champion` works in one process: what it takes there, it takes of two workers at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.bench_nearest import tables
from benchmarks.common import Row, peak_memory, row
from kakurenbo.attacks.membership import (
    BestOfShadows,
    Kernel,
    Likelihood,
    MembershipAttack,
    MembershipKnowledge,
    Tracing,
)
from kakurenbo.core.rng import stream

_BLOCK = 512

_CHAMPION = """
from benchmarks.bench_nearest import tables
from kakurenbo.attacks.membership import BestOfShadows, MembershipKnowledge
from kakurenbo.core.rng import stream
BestOfShadows(shadows=16)(MembershipKnowledge(*tables()), stream(1, "bench"))
"""


def run() -> list[Row]:
    population, release = tables()
    knowledge = MembershipKnowledge(population, release)
    small = MembershipKnowledge(population.take(np.arange(500)), release.take(np.arange(50)), 10)
    base, queries = population.dummies(), release.dummies()

    def product() -> None:
        for start in range(0, len(queries), _BLOCK):
            np.abs(base @ queries[start : start + _BLOCK].T).sum()

    size = f"{len(population):,} x {len(release):,} rows"
    attacks: list[tuple[MembershipAttack, str, tuple[str, ...]]] = [
        (Tracing(), "tracing", ("≤ 3 s",)),
        (Likelihood(), "likelihood", ("ratio ≤ 1.5", "≤ 1.5 s")),
        (Kernel(), "kernel", ("≤ 3 s",)),
        (BestOfShadows(shadows=16), "champion of 16 shadows", ("≤ 180 s",)),
    ]
    with threadpool_limits(1):
        reference = _seconds(product)
        found = []
        for attack, name, targets in attacks:
            attack(small, stream(1, "bench"))  # compiled, or loaded, before the clock starts
            own = _seconds(lambda attack=attack: attack(knowledge, stream(1, "bench")))  # type: ignore[misc]
            what = f"{name} attack, {size}, CPU"
            found += [
                row(what, own, "blocked matrix product", reference, target) for target in targets
            ]
    peak = peak_memory(_CHAMPION)
    return [
        *found,
        row(
            "champion of 16 shadows, peak MB of the whole process",
            peak,
            "limit of 3,000 MB",
            3_000.0,
            "ratio ≤ 1",
        ),
    ]


def _seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call: on a busy machine the clock on the wall tells of others."""
    begun = time.process_time()
    call()
    return time.process_time() - begun
