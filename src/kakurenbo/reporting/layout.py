"""What page and pictures agree on: the pair of axes that tells most of a round, and scores as texts."""

from __future__ import annotations

from collections.abc import Sequence

from kakurenbo.contracts import Unit
from kakurenbo.reporting.document import Document, FigureEntry, MeasureEntry, RankingLine, RoundEntry
from kakurenbo.reporting.numbers import apart, estimated
from kakurenbo.reporting.rounds import MEAN, SAMPLE, WORST

KINDS = (WORST, MEAN, SAMPLE)
_CELLS = 12  # a point is about as large as the twelfth part of an axis


def axes_of(document: Document) -> list[tuple[str, str]]:
    """The axes of each round: the measure that sets most releases apart, and one kind of privacy for the whole document.

    A document whose rounds tell privacy in different ways would invite to compare what cannot be compared.
    """
    score, rounds = document.rulebook.utility_score, document.rounds
    # Against the best attack there is a figure wherever there is any: a kind that leaves a round empty is none for all.
    known = [kind for kind in KINDS if all(_has(entry, kind) or not _has(entry, WORST) for entry in rounds)]
    kind = max(
        known, key=lambda kind: sum(_fields(entry, *_best_pair(entry, score, [kind])) for entry in rounds if entry.measures)
    )
    return [leading_axes(entry, score, [kind]) for entry in rounds]


def _has(entry: RoundEntry, kind: str) -> bool:
    return any(kind in release.privacy for release in entry.releases.values())


def leading_axes(entry: RoundEntry, utility_score: str, kinds: Sequence[str] = KINDS) -> tuple[str, str]:
    """The measure and the kind of privacy that set most releases apart.

    The measure that is a number in the score is what the contest is about and is always taken; else it is one of those that
    decide by a threshold, else any. Of these, the pair that fills most fields of a coarse grid over its plot; of equals, the
    first.

    Returns
    -------
    tuple of str
        Both are empty where nothing was measured.
    """
    if not entry.measures:
        return "", ""
    measure, kind = _best_pair(entry, utility_score, kinds)
    return measure.name, kind


def _best_pair(entry: RoundEntry, utility_score: str, kinds: Sequence[str]) -> tuple[MeasureEntry, str]:
    pairs = [(measure, kind) for kind in kinds for measure in _candidates(entry.measures, utility_score)]
    return max(pairs, key=lambda pair: _fields(entry, *pair))


def _candidates(measures: tuple[MeasureEntry, ...], utility_score: str) -> Sequence[MeasureEntry]:
    scored = [measure for measure in measures if measure.name == utility_score]
    decisive = [measure for measure in measures if threshold_of(measure) is not None]
    return scored or decisive or measures


def threshold_of(measure: MeasureEntry) -> float | None:
    """The value that decides."""
    return measure.maximum if measure.minimum is None else measure.minimum


def _fields(entry: RoundEntry, measure: MeasureEntry, kind: str) -> int:
    """How many fields of the grid hold a release; threshold and blind guessing have their place in the plot, too."""
    points = [
        (release.estimates[measure.name].mean, release.privacy[kind].mean)
        for release in entry.releases.values()
        if measure.name in release.estimates and kind in release.privacy
    ]
    across = _steps([x for x, _ in points], threshold_of(measure))
    return len(set(zip(across, _steps([y for _, y in points], entry.chance_privacy), strict=True)))


def _steps(values: Sequence[float], mark: float | None) -> list[int]:
    shown = [*values, *([] if mark is None else [mark])]
    low, high = min(shown, default=0), max(shown, default=0)
    return [min(_CELLS - 1, int(_CELLS * (value - low) / (high - low))) if high > low else 0 for value in values]


def score_texts(lines: Sequence[RankingLine], declared: FigureEntry, spoken: str | None = None) -> list[str]:
    """The scores of a ranking, one for each line: as the contest gives them, means of repeats with their intervals.

    Parameters
    ----------
    lines : sequence of RankingLine
    declared : FigureEntry
        What the score of this ranking is.
    spoken : str or None
        The language, that of the moment by default.
    """
    plain = apart([line.score for line in lines], declared.unit)
    return [_score(line, declared, spoken) or line.shown or text for line, text in zip(lines, plain, strict=True)]


def _score(line: RankingLine, declared: FigureEntry, spoken: str | None) -> str:
    """A mean with its interval; empty without repeats. Multiplied as the contest does it, a score is a number of points."""
    found = line.estimate
    if found is None or found.half is None:
        return ""
    unit = declared.unit if declared.shown_times == 1 else Unit.NUMBER
    return estimated(found.times(declared.shown_times), unit, spoken)
