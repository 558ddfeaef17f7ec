"""Clues: what the single attacks say of every row, side by side, for attacks that learn from shadows what each is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.calibration import Calibration
from kakurenbo.attacks.membership.evidence import FITTING, Ground, members, plain_evidence
from kakurenbo.attacks.membership.kernel import Kernel
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.likelihood import HISTOGRAM_WEIGHT, Likelihood
from kakurenbo.attacks.membership.neighbours import nearest_rows
from kakurenbo.attacks.membership.tracing import trace_weights, traced
from kakurenbo.attacks.membership.weights import tilt, weighed

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clues:
    """What is known of every row of B by one release.

    Attributes
    ----------
    whole : mapping of attack to array, shape (n,)
        The scores of attacks that can be named by themselves.
    parts : array of float32, shape (n, p)
        What each column and pair adds to `tracing`, and the log of how much oftener a value is in D than in a sample of B.
    """

    whole: dict[str, Values]
    parts: NDArray[np.float32]

    def matrix(self, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float32]:
        """Everything side by side for some rows, shape (rows, clues)."""
        whole = np.stack([scores[rows] for scores in self.whole.values()], axis=1).astype(
            np.float32
        )
        return np.hstack([whole, self.parts[rows]])


def clues(
    ground: Ground, knowledge: MembershipKnowledge, calibration: Calibration | None = None
) -> Clues:
    """All clues of one release."""
    rate = members(knowledge) / len(knowledge.population)
    plain = plain_evidence(ground, knowledge, FITTING, rounding=1.0)
    weights = trace_weights(ground, plain)
    tilted = ground.population.dot(tilt(ground, plain, rate))
    odds = Likelihood().odds(knowledge)
    by_rows = np.log1p(odds / rate)
    whole = {
        "likelihood": -1 / (1 + odds),
        "combined": by_rows + HISTOGRAM_WEIGHT * tilted,
        "tilted": tilted,
        "tracing": ground.population.dot(weights),
        "subset": weighed(ground, plain, rate),
        "nearest": _nearness(knowledge),
        "kernel": np.log1p(Kernel().odds(knowledge) / rate),
        "by_rows": by_rows,
    }
    if calibration is not None:
        evidence = calibration.evidence(ground, knowledge)
        calibrated = ground.population.dot(tilt(ground, evidence, rate))
        whole |= {
            "calibrated": calibrated,
            "calibrated_combined": by_rows + HISTOGRAM_WEIGHT * calibrated,
            "calibrated_tracing": traced(ground, evidence),
        }
    parts = np.hstack([ground.population.parts(weights), _log_ratios(ground, knowledge)])
    return Clues(whole, parts.astype(np.float32))


def _nearness(knowledge: MembershipKnowledge) -> Values:
    """1 / (1 + squared distance) of the records of D whose nearest row this is; 0 without one."""
    neighbours = nearest_rows(knowledge.population, knowledge.release)
    nearness = np.zeros(len(knowledge.population))
    np.maximum.at(nearness, neighbours.rows, 1 / (1 + neighbours.squares))
    return nearness


def _log_ratios(ground: Ground, knowledge: MembershipKnowledge) -> Values:
    """log((n_D + 1) / (n_B n / N + 1)) of the value or pair of values in each slot of categories, shape (n, slots)."""
    release = ground.features.rows(knowledge.release)
    counted = (ground.population.values == 1).all(axis=0)
    length = ground.features.count + 1
    columns = []
    for slot in np.flatnonzero(counted):
        of_release = np.bincount(release.places[:, slot], minlength=length)
        of_population = np.bincount(ground.population.places[:, slot], minlength=length)
        ratio = np.log(
            (of_release + 1) / (of_population * len(release) / len(ground.population) + 1)
        )
        columns.append(ratio[ground.population.places[:, slot]])
    return np.stack(columns, axis=1)
