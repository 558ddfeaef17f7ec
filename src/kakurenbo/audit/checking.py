"""What else a report says: does the attack itself work, which columns drive the risk, what the release is still good for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from kakurenbo.audit import statistics
from kakurenbo.audit.copying import copy_odds
from kakurenbo.audit.encoding import Coded, CodedColumn, Codes, Floats
from kakurenbo.audit.mechanism import joint_shares
from kakurenbo.audit.membership import (
    FALSE_POSITIVES,
    Noise,
    Others,
    likelihood_scores,
    nearest_scores,
    nearest_to,
)
from kakurenbo.audit.people import as_if_released
from kakurenbo.audit.result import DrivingColumn, SelfTest, TrainedModel, Utility
from kakurenbo.audit.rows import row_keys
from kakurenbo.audit.tracing import released_form

_TESTED = 2000  # people of each kind in a self-test, and where columns are left out
_PLANTED = 100
_MOST_COMPARED = 20_000  # released rows where columns are left out
_MOST_CELLS = 400_000  # of these rows, where there are very many columns
_MOST_RELEASED = (
    50_000  # released rows of a self-test, and that models are trained on and judged by
)
_FEWEST_PLANTED = 20
_SURE = 1e-3  # p-value below which a control that must read nothing reads something
_MEMBERS = 10_000
_FOUND = 0.9  # share of planted copies that an attack must find to be believed, by the upper end of its interval
_MOST_SIMILAR = 2000  # pairs of columns that are compared, an even share where there are more
_MOST_MODELS = 3
_MODEL_LEVELS = (2, 12)


def self_tests(coded: Coded, holdout: Codes, rng: np.random.Generator) -> tuple[SelfTest, ...]:
    """Attacks on two releases whose answers are known; none where the holdout is too small for it."""
    if len(holdout) < 8 * _FEWEST_PLANTED:
        return ()
    drawn = holdout[rng.permutation(len(holdout))]
    tests = [_fresh(coded, drawn)]
    planted = _planted(coded, drawn)
    return tuple(tests if planted is None else [*tests, planted])


def _fresh(coded: Coded, drawn: Codes) -> SelfTest:
    """A release of people whom nobody asks about: members and controls must look alike."""
    part = min(len(drawn) // 4, _TESTED)
    ours, theirs = drawn[:part], drawn[part : 2 * part]
    scores = likelihood_scores(
        as_if_released(coded, drawn[2 * part : 4 * part]), np.concatenate([ours, theirs])
    )
    half = part // 2
    line = statistics.threshold(scores[part : part + half], FALSE_POSITIVES)
    rate = statistics.rate(int((scores[:part] > line).sum()), part)
    control = statistics.rate(int((scores[part + half :] > line).sum()), part - half)
    passed = statistics.fisher(rate, control) > _SURE
    return SelfTest("fresh", "likelihood", statistics.excess(rate, control).value, 0.0, passed)


def _planted(coded: Coded, drawn: Codes) -> SelfTest | None:
    """Some of the people of the holdout whom nobody resembles, copied into the release: they must stand out from the others,
    at the same rate of false alarms at which members are looked for.

    None where the release can tell too few people apart.
    """
    people = drawn[: _TESTED + _PLANTED]
    shown = released_form(coded, people)
    # Among so many released rows copies must be found; more of them take time and tell nothing else.
    coded = coded.with_release(coded.release[:_MOST_RELEASED])
    ours, theirs = row_keys(shown, coded.release)
    counts = np.bincount(np.concatenate([ours, theirs]))
    single = np.flatnonzero(counts[ours] == 1)
    count = min(_PLANTED, len(coded.release) // 20, len(single) // 2)
    if count < _FEWEST_PLANTED:
        return None
    release = coded.release.copy()
    release[:count] = shown[single[:count]]
    # Whoever made the other rows must be there to explain them, as where members are looked for.
    known = np.concatenate([people, coded.original[:_MEMBERS]])
    planted = coded.with_release(release)
    # As the risk itself is that of the best attack, so is this; a copy of a lone person in a noisy release is the nearest's.
    scores = {
        "likelihood": likelihood_scores(planted, people, coded.original, known),
        "nearest": nearest_scores(planted, people),
        "copies": copy_odds(planted, people, known),
    }
    found = {}
    for name, score in scores.items():
        line = statistics.threshold(score[single[count:]], FALSE_POSITIVES)
        found[name] = statistics.rate(int((score[single[:count]] > line).sum()), count)
    best = max(found, key=lambda name: found[name].hits)
    return SelfTest("planted", best, found[best].value, 1.0, found[best].high >= _FOUND)


def driving_columns(
    coded: Coded, members: Codes, controls: Codes, others: Others
) -> tuple[DrivingColumn, ...]:
    """How much of what the likelihood attack finds goes where a column is left out, the most important first."""
    ours, theirs = members[:_TESTED], controls[:_TESTED]
    rest = others.filling(len(ours), len(theirs), _TESTED)
    coded = coded.with_release(_telling_rows(coded, np.concatenate([ours, theirs])))
    places, people = list(range(len(coded.columns))), (ours, theirs, rest)
    noise = Noise.of(coded, np.concatenate(people))
    whole = _found(coded, people, noise, places)
    if whole <= 0 or len(places) < 2:
        return ()
    driving = []
    for left_out in places:
        without = _found(coded, people, noise, [place for place in places if place != left_out])
        driving.append(DrivingColumn("membership", coded.names[left_out], whole, without))
    return tuple(sorted(driving, key=lambda column: column.without))


def _telling_rows(coded: Coded, people: Codes) -> Codes:
    """Released rows by which columns are compared: of very many an even share, and the one nearest to each of the people."""
    most = min(_MOST_COMPARED, _MOST_CELLS // len(coded.columns))
    if len(coded.release) <= most:
        return coded.release
    _, nearest = nearest_to(coded, people)
    even = np.arange(0, len(coded.release), len(coded.release) // most)
    return coded.release[np.union1d(nearest, even)]


def _found(
    coded: Coded, people: tuple[Codes, Codes, Codes], noise: Noise, places: Sequence[int]
) -> float:
    """Members found at one in a hundred controls, over that; of members, controls, and others who are not asked about."""
    ours, theirs, rest = (some[:, list(places)] for some in people)
    pool = np.concatenate([ours, theirs])
    scores = likelihood_scores(
        coded.select(places), pool, rest, np.concatenate([pool, rest]), noise.select(places)
    )
    return (
        statistics.found_beyond(scores[: len(ours)], scores[len(ours) :], FALSE_POSITIVES)
        - FALSE_POSITIVES
    )


def measure_utility(coded: Coded, holdout: Codes, kept: int) -> Utility:
    """Similarity of columns and pairs to the original, and models trained on the release.

    Parameters
    ----------
    kept : int
        Columns of the original that the release still has.
    """
    people, release = released_form(coded, coded.original), coded.release
    readings = [_reading(column) for column in coded.columns]
    by_column = {}
    for place, column in enumerate(coded.columns):
        share = np.bincount(coded.original[:, place], minlength=column.size) / len(coded.original)
        seen = np.bincount(release[:, place], minlength=column.released) / len(release)
        by_column[column.name] = 1 - float(np.abs(share - seen @ readings[place]).sum() / 2)
    every = list(itertools.combinations(range(len(readings)), 2))
    some = every[:: -(-len(every) // _MOST_SIMILAR)] if every else []
    pairs = [_pair_similarity(coded, readings, *pair) for pair in some]
    marginals = float(np.mean(list(by_column.values())))
    models = _models(coded, people, release, holdout)
    return Utility(
        marginals,
        float(np.mean(pairs)) if pairs else marginals,
        by_column,
        models,
        len(release),
        kept,
    )


def _reading(column: CodedColumn) -> csr_array:
    """What a reader makes of each released code, shape (released, size): any of the values that it covers, all as likely."""
    covers = csr_array(column.covers.T, dtype=np.float64)
    return csr_array(covers.multiply(1 / np.maximum(covers.sum(axis=1), 1)[:, None]))


def _pair_similarity(coded: Coded, readings: Sequence[csr_array], i: int, j: int) -> float:
    one, other = coded.columns[i], coded.columns[j]
    ours = joint_shares(coded.original[:, i], one.size, coded.original[:, j], other.size)
    shown = joint_shares(coded.release[:, i], one.released, coded.release[:, j], other.released)
    theirs = readings[i].T @ (shown @ readings[j])
    return 1 - float(np.abs(ours - theirs).sum() / 2)


def _models(
    coded: Coded, people: Codes, release: Codes, holdout: Codes
) -> tuple[TrainedModel, ...]:
    """Trees that predict columns of few values, judged by people who are in neither table."""
    if not len(holdout):
        return ()
    from sklearn.tree import DecisionTreeClassifier

    # An even share of the rows, whatever order they have.
    people, release = (
        table[:: max(1, len(table) // _MOST_RELEASED)] for table in (people, release)
    )
    judges = released_form(coded, holdout[:: max(1, len(holdout) // _MOST_RELEASED)])
    found = []
    for place, column in enumerate(coded.columns):
        levels = len(np.unique(people[:, place]))
        if (
            column.numeric
            or not _MODEL_LEVELS[0] <= levels <= _MODEL_LEVELS[1]
            or len(coded.columns) < 2
        ):
            continue
        accuracies: list[float] = []
        for table in (release, people):
            tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=5, random_state=0)
            tree.fit(_inputs(coded, table, place), table[:, place])
            accuracies.append(
                float((tree.predict(_inputs(coded, judges, place)) == judges[:, place]).mean())
            )
        majority = float((judges[:, place] == np.bincount(people[:, place]).argmax()).mean())
        found.append(TrainedModel(column.name, accuracies[0], accuracies[1], majority))
    # Those that can be predicted at all say most.
    return tuple(sorted(found, key=lambda model: model.majority - model.on_original)[:_MOST_MODELS])


def _inputs(coded: Coded, table: Codes, target: int) -> Floats:
    """The other columns as a tree takes them: numbers by their value, words by how common they are."""
    inputs = []
    for place, column in enumerate(coded.columns):
        if place == target:
            continue
        if column.numeric:
            weights = column.covers / np.maximum(column.covers.sum(axis=0), 1)
            inputs.append((column.numbers @ weights)[table[:, place]])
        else:
            inputs.append(
                np.bincount(coded.release[:, place], minlength=column.released).astype(np.float64)[
                    table[:, place]
                ]
            )
    return np.column_stack(inputs)
