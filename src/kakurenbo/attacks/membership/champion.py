"""`champion`: tries every attack on shadows of the release, and lets the one that does best there
make the guess.

After the shadow models of Shokri et al. (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack, member_rate, most_confident
from kakurenbo.attacks.membership.kernel import Kernel
from kakurenbo.attacks.membership.likelihood import DECIMALS, HISTOGRAM_WEIGHT, Likelihood
from kakurenbo.attacks.membership.moments import (
    FITTING,
    MeanShift,
    PopulationModel,
    subset_scores,
    tilt,
    trace_weights,
)
from kakurenbo.attacks.membership.shadows import Calibration, Shadow, draw_shadows
from kakurenbo.attacks.records.nearest_rows import nearest_rows
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import MembershipKnowledge

_STACK = "stack"
# Times as many rows as are guessed: what is among them tells attacks apart with fewer shadows.
_LONGER = 3

Values = NDArray[np.float64]


@dataclass(frozen=True)
class BestOfShadows(MembershipAttack):
    """Run every attack that applies on own releases of samples of B, and then the best of them on the release.

    The attacks are `likelihood`, `kernel`, `tracing`, `nearest`, weights of B's rows that have the
    statistics of the release, sums of these, the same calibrated by the shadows, and a classifier
    of all of them, which is trained with one half of the shadows and tried on the other.
    """

    shadows: int = parameter(4, "releases of samples of its own", low=2, high=1000)

    def scores(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> Values:
        model = PopulationModel.of(knowledge)
        shadows = draw_shadows(knowledge, self.shadows, rng)
        half = len(shadows) // 2
        first, rest = slice(None, half), slice(half, None)
        candidates = []
        for tried, others in ((first, rest), (rest, first)):
            calibration = Calibration.of(model, shadows[others])
            candidates += [
                candidate_scores(model, shadow.knowledge, calibration) for shadow in shadows[tried]
            ]
        lessons = [
            _training_set(candidate, shadow, rng)
            for candidate, shadow in zip(candidates, shadows, strict=True)
        ]
        stacked = []
        for tried, others in ((first, rest), (rest, first)):
            stack = _train_stack(lessons[others])
            stacked += [_stack_scores(stack, candidate) for candidate in candidates[tried]]
        hits = {
            name: np.mean(
                [_hits(c.whole[name], s) for c, s in zip(candidates, shadows, strict=True)]
            )
            for name in candidates[0].whole
        }
        hits[_STACK] = np.mean([_hits(x, s) for x, s in zip(stacked, shadows, strict=True)])
        best = max(hits, key=lambda name: float(hits[name]))
        final = candidate_scores(model, knowledge, Calibration.of(model, shadows))
        if best == _STACK:
            return _stack_scores(_train_stack(lessons), final)
        return final.whole[best].round(DECIMALS)


def _hits(scores: Values, shadow: Shadow) -> float:
    """Return the mean share of members in a guess and in a longer one."""
    guesses = shadow.knowledge.guesses
    ranked = most_confident(-scores, np.arange(len(scores)), _LONGER * guesses)
    is_member = np.isin(ranked, shadow.members)
    return float(is_member[:guesses].mean() + is_member.mean()) / 2


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """What the single attacks say of every row of B by one release.

    Attributes
    ----------
    whole : mapping of attack to array, shape (n,)
        The scores of attacks that can be chosen by themselves.
    parts : array of float32, shape (n, p)
        What each column and pair adds to `tracing`, and the log of how much oftener a value is in D
        than in a sample of B.
    """

    whole: dict[str, Values]
    parts: NDArray[np.float32]

    def matrix(self, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float32]:
        """Put everything side by side for some rows, shape (rows, scores)."""
        whole = np.stack([scores[rows] for scores in self.whole.values()], axis=1)
        return np.hstack([whole.astype(np.float32), self.parts[rows]])


def candidate_scores(
    model: PopulationModel, knowledge: MembershipKnowledge, calibration: Calibration
) -> CandidateScores:
    """Score the rows of B by every attack."""
    rate, rows = member_rate(knowledge), model.rows
    shift = MeanShift.released(model, knowledge, FITTING, rounding=1.0)
    calibrated_shift = calibration.shift(model, knowledge)
    weights = trace_weights(model, shift)
    odds = Likelihood().odds(knowledge)
    by_rows = np.log1p(odds / rate)
    tilted = rows.dot(tilt(model, shift, rate))
    calibrated = rows.dot(tilt(model, calibrated_shift, rate))
    neighbours = nearest_rows(knowledge.population, knowledge.release)
    nearness = np.zeros(len(rows))
    np.maximum.at(nearness, neighbours.rows, 1 / (1 + neighbours.squares))
    whole = {
        "likelihood": -1 / (1 + odds),
        "combined": by_rows + HISTOGRAM_WEIGHT * tilted,
        "tilted": tilted,
        "tracing": rows.dot(weights),
        "subset": subset_scores(model, shift, rate),
        "nearest": nearness,
        "kernel": np.log1p(Kernel().odds(knowledge) / rate),
        "by_rows": by_rows,
        "calibrated": calibrated,
        "calibrated_combined": by_rows + HISTOGRAM_WEIGHT * calibrated,
        "calibrated_tracing": rows.dot(trace_weights(model, calibrated_shift)),
    }
    parts = np.hstack([rows.parts(weights), _log_ratios(model, knowledge)])
    return CandidateScores(whole, parts.astype(np.float32))


def _log_ratios(model: PopulationModel, knowledge: MembershipKnowledge) -> Values:
    """Return log((n_D + 1) / (n_B n / N + 1)) of what each row has in each slot of categories,
    shape (n, slots).
    """
    rows, release = model.rows, model.features.rows(knowledge.release)
    columns = []
    for slot in np.flatnonzero((rows.values == 1).all(axis=0)):
        of_release, of_population = (
            np.bincount(side.places[:, slot], minlength=rows.count + 1) for side in (release, rows)
        )
        expected = of_population * len(release) / len(rows)
        columns.append(np.log((of_release + 1) / (expected + 1))[rows.places[:, slot]])
    return np.stack(columns, axis=1)


# -- the classifier of all scores --------------------------------------------------------------


def _training_set(
    candidate: CandidateScores, shadow: Shadow, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the scores of all members of a shadow and of as many others, and who is a member."""
    others = np.setdiff1d(np.arange(len(candidate.parts)), shadow.members)
    rows = np.concatenate([shadow.members, rng.permutation(others)[: len(shadow.members)]])
    return candidate.matrix(rows), np.arange(len(rows)) < len(shadow.members)


def _train_stack(lessons: list[tuple[NDArray[np.float32], NDArray[np.bool_]]]) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(C=0.1, solver="newton-cholesky", max_iter=50)
    stack = make_pipeline(StandardScaler(), regression)
    matrices, memberships = zip(*lessons, strict=True)
    # In single precision the fit would differ between processors by more than scores do.
    return stack.fit(np.vstack(matrices, dtype=np.float64), np.concatenate(memberships))


def _stack_scores(stack: Any, candidate: CandidateScores) -> Values:
    """Return the log odds of membership of every row, shape (n,)."""
    scores: Values = stack.decision_function(candidate.matrix().astype(np.float64))
    return scores.round(DECIMALS)
