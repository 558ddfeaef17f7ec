"""The attacks of an audit, each on releases small enough to know the answer, and beside the contests' own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from tests.audit.census import parts, swapped

from kakurenbo.attacks.membership import membership_odds as contest_odds
from kakurenbo.audit import checking, engine, membership
from kakurenbo.audit.boosting import boosted_guesses, inputs
from kakurenbo.audit.checking import self_tests
from kakurenbo.audit.density import log_densities, mutual_information
from kakurenbo.audit.encoding import Coded, Codes, encode
from kakurenbo.audit.engine import expected_makers, membership_odds
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.inferring import attack_inference
from kakurenbo.audit.linking import linked
from kakurenbo.audit.mechanism import transitions
from kakurenbo.audit.membership import Others, attack_membership, likelihood_scores
from kakurenbo.audit.people import RowModel
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.tracing import released_form, steps_of, trace
from kakurenbo.contest import Mechanism
from kakurenbo.core import Category, Schema, Table


def coded_of(
    original: pl.DataFrame, release: pl.DataFrame, holdout: pl.DataFrame
) -> tuple[Coded, Codes]:
    """The tables as codes, and everybody who is asked about, members first."""
    frames = [
        frame_of(name, table) for name, table in (("o", original), ("r", release), ("h", holdout))
    ]
    coded = encode(infer_schema(frames[0], frames[2]), original.columns, *frames)
    return coded, np.concatenate([coded.original, coded.holdout])


@pytest.fixture(scope="module")
def swap() -> tuple[Coded, Codes]:
    original, holdout, _ = parts(1000)
    return coded_of(original, swapped(original, 0.2, np.random.default_rng(1)), holdout)


def test_the_odds_are_those_of_the_contests_attack() -> None:
    """On columns of the same values, and with no strangers, digit for digit but for the order of sums."""
    rng = np.random.default_rng(0)
    sizes = {"a": 7, "b": 4, "c": 12}
    schema = Schema(Category(name, tuple(map(str, range(size)))) for name, size in sizes.items())
    people, release = (
        rng.integers(0, list(sizes.values()), (rows, 3)).astype(np.int32) for rows in (200, 90)
    )
    matrices = [0.7 * np.eye(size) + 0.3 / size for size in sizes.values()]
    tables = [Table(schema, dict(zip(sizes, rows.T, strict=True))) for rows in (people, release)]
    theirs = contest_odds(*tables, Mechanism(dict(zip(sizes, matrices, strict=True))))
    np.testing.assert_allclose(
        membership_odds(people, release, matrices, np.zeros(90)), theirs, rtol=1e-12
    )


def test_the_figures_hold_for_people_who_chose_no_attack(swap: tuple[Coded, Codes]) -> None:
    """Labels that mean nothing: the best of seven attacks, chosen and told by the same people, would find more than chance."""
    coded, pool = swap
    tops, rates = [], []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(pool))
        members, controls = pool[order[:1000]], pool[order[1000:]]
        figures = attack_membership(
            coded, members, controls, np.random.default_rng(seed)
        ).risk.figures
        tops.append(figures["top100"])
        rates.append(figures["tpr_at_0.01"])
    assert 42 < np.mean(tops) < 58
    assert np.mean(rates) < 0.02


def test_whoever_may_err_more_often_finds_no_fewer_members() -> None:
    """For 1 % false alarms half of the people choose an attack that finds nobody of the others: the stricter one is left."""
    is_member, chooses = np.tile([True, False], 2000), np.arange(4000) < 2000
    lucky, sure, blind = np.zeros(4000), np.zeros(4000), np.zeros(4000)
    sure[np.flatnonzero(is_member)[::2]] = 1
    lucky[np.flatnonzero(is_member & chooses)[:600]] = 1
    lucky[np.flatnonzero(~is_member & chooses)[:3]] = 2
    scores = {"likelihood": sure, "nearest": lucky, "counts": blind, "non_members": blind}
    assert membership._best(scores, is_member, chooses, 0.01) == "nearest"
    figures = membership._figures(scores, scores, is_member, chooses)
    assert (figures["tpr_at_0.001"], figures["tpr_at_0.01"]) == (0.5, 0.5)


def test_members_among_the_likeliest_stand_beside_how_many_chance_would_put_there(
    swap: tuple[Coded, Codes],
) -> None:
    coded, pool = swap
    for members, controls, by_chance in ((1000, 250, 80.0), (300, 900, 25.0), (40, 40, 40.0)):
        asked = pool[:members], pool[len(pool) - controls :]
        figures = attack_membership(coded, *asked, np.random.default_rng(1)).risk.figures
        assert figures["top100_by_chance"] == by_chance


def test_people_who_are_not_asked_about_explain_their_rows_as_if_they_were(
    swap: tuple[Coded, Codes],
) -> None:
    coded, pool = swap
    whole = likelihood_scores(coded, pool)
    for asked in (np.arange(0, 2000, 7), np.arange(3)):
        rest = np.delete(np.arange(2000), asked)
        some = likelihood_scores(coded, pool[asked], pool[rest], pool)
        np.testing.assert_allclose(some, whole[asked], rtol=1e-6)


def test_expected_makers_are_the_same_in_any_number_of_parts(
    swap: tuple[Coded, Codes], monkeypatch: pytest.MonkeyPatch
) -> None:
    coded, pool = swap
    matrices = transitions(coded, pool)
    whole = expected_makers(pool, coded.release[:300], matrices)
    monkeypatch.setattr(engine, "_AT_A_TIME", 99)
    np.testing.assert_allclose(
        expected_makers(pool, coded.release[:300], matrices), whole, rtol=1e-9
    )


def gained(coded: Coded, people: tuple[Codes, Codes], targets: int, seed: int = 0) -> float:
    """How many more members than controls are found where so many of each are asked about."""
    orders = [np.random.default_rng(seed).permutation(len(table)) for table in people]
    members, controls = (
        table[order[:targets]] for table, order in zip(people, orders, strict=True)
    )
    others = Others(*(table[order[targets:]] for table, order in zip(people, orders, strict=True)))
    excess = attack_membership(
        coded, members, controls, np.random.default_rng(3), others
    ).risk.excess
    assert excess is not None
    return excess.value


@pytest.mark.parametrize(("pairs", "least"), [(membership._PAIRS, 0.9), (0, 0.8)])
def test_few_targets_are_attacked_as_strongly_as_all(
    pairs: int, least: float, swap: tuple[Coded, Codes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nearly so where only the likeliest row of each can be explained by everybody."""
    coded, _ = swap
    people = coded.original, coded.holdout
    whole = gained(coded, people, 1000)
    monkeypatch.setattr(membership, "_PAIRS", pairs)
    few = np.mean([gained(coded, people, 250, seed) for seed in range(6)])
    assert few > least * whole > 0.1


@pytest.mark.parametrize(
    ("pairs", "held"), [(membership._PAIRS, 1000), (membership._PAIRS, 300), (0, 300)]
)
def test_few_targets_find_nothing_where_labels_mean_nothing(
    pairs: int, held: int, swap: tuple[Coded, Codes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where there are as many people in the holdout as in the original nor where there are fewer."""
    coded, pool = swap
    monkeypatch.setattr(membership, "_PAIRS", pairs)
    found = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(pool))
        found.append(gained(coded, (pool[order[held:]], pool[order[:held]]), 200, seed))
    assert abs(np.mean(found)) < 0.02


def test_histograms_and_rows_together_find_more_than_either(swap: tuple[Coded, Codes]) -> None:
    found = attack_membership(swap[0], swap[0].original, swap[0].holdout, np.random.default_rng(3))
    at = {name: np.sort(score[1000:])[-11] for name, score in found.scores.items()}
    told = {name: int((score[:1000] > at[name]).sum()) for name, score in found.scores.items()}
    assert told["combined"] >= 0.95 * told["likelihood"] > told["tracing"]


def test_tracing_takes_numbers_words_bands_and_missing_values() -> None:
    rng = np.random.default_rng(2)
    ages = rng.integers(20, 60, 400)
    table = pl.DataFrame(
        {
            "age": [str(age) if place % 9 else "" for place, age in enumerate(ages)],
            "town": [f"t{town}" for town in rng.integers(0, 900, 400)],
            "wage": rng.normal(3000, 400, 400).round(2),
        }
    ).cast(pl.String)
    bands = pl.Series(
        "age",
        [f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}" if age else "" for age in table["age"]],
    )
    coded, pool = coded_of(table[:200], table[:200].with_columns(bands[:200]), table[200:])
    traced = trace(coded, pool)
    assert traced.by_column.shape == traced.ratios.shape == (400, 3)
    assert np.isfinite(traced.total).all()
    assert np.isfinite(traced.logit).all()
    steps = dict(zip(coded.columns[0].shown, steps_of(coded.columns[0]).tolist(), strict=True))
    assert steps == {"20-29": 0, "30-39": 1, "40-49": 2, "50-59": 3, "": 4}


def test_the_density_of_a_row_is_that_of_the_tree_of_pairs() -> None:
    rows = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 500)
    told = mutual_information(rows)
    assert told[0, 1] == pytest.approx(np.log(2))
    assert told[1, 2] == pytest.approx(0)
    asked = np.array([[0, 0, 0], [0, 1, 0]])
    common, never = np.exp(log_densities(rows, asked, (2, 2, 2)))
    assert common == pytest.approx(0.25, rel=0.01)
    assert never < 1e-3


def test_common_rows_speak_for_nobody_in_particular(swap: tuple[Coded, Codes]) -> None:
    coded, pool = swap
    model, split = RowModel.of(coded, pool), ((0, 1, 2, 3), (4, 5, 6, 7, 8))
    weighed = linked(model, coded.original[:300], split).mean()

    class Unweighed(RowModel):
        def evidence(self, places: Sequence[int]) -> np.ndarray:
            """What makes likelihoods of ratios again."""
            cells = self.release[:, list(places)]
            return 1 / self.ratios.select(places).relative(np.zeros(len(cells)), cells)

    assert (
        weighed > linked(Unweighed(model.release, model.ratios), coded.original[:300], split).mean()
    )
    assert weighed > 10 * linked(model, coded.holdout[:300], split).mean()


def test_boosting_guesses_a_secret_that_follows_from_the_rest_and_never_one_of_many_values() -> (
    None
):
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 6, (3, 700, 2))
    frames = [
        pl.DataFrame(
            {
                "a": side[:, 0],
                "b": side[:, 1],
                "sum": side.sum(axis=1) % 4,
                "id": rng.integers(0, 99, 700),
            }
        )
        for side in cells
    ]
    coded, _ = coded_of(*(frame.cast(pl.String) for frame in frames))
    risk, _ = attack_inference(coded, coded.holdout, np.random.default_rng(1), range(4), [2, 3])
    rates = {(row.attack, row.wants): row.rate.value for row in risk.rows}
    assert rates["boosting", ("sum",)] > 0.95
    assert ("boosting", ("id",)) not in rates
    assert ("row_model", ("id",)) in rates


def test_boosting_says_the_only_value_that_there_is() -> None:
    one = boosted_guesses(np.zeros((5, 2)), np.full(5, 3), [np.zeros((4, 2)), np.zeros((0, 2))])
    assert [guess.tolist() for guess in one] == [[3, 3, 3, 3], []]


def test_what_boosting_learns_from_has_numbers_in_their_order(swap: tuple[Coded, Codes]) -> None:
    coded, pool = swap
    ages = inputs(coded, released_form(coded, pool))[:, 0]
    numbers = coded.columns[0].numbers[pool[:, 0]]
    order = np.argsort(ages, kind="stable")
    assert (np.diff(numbers[order]) >= -1e-9).mean() > 0.99  # nobody is released at some ages


def test_transitions_are_distributions(swap: tuple[Coded, Codes]) -> None:
    for matrix in transitions(*swap):
        np.testing.assert_allclose(matrix.sum(axis=1), 1)


def test_planted_copies_are_found_at_the_rate_at_which_members_are_looked_for_and_strangers_are_not(
    swap: tuple[Coded, Codes], monkeypatch: pytest.MonkeyPatch
) -> None:
    coded, _ = swap
    fresh, planted = self_tests(coded, coded.holdout, np.random.default_rng(4))
    assert (fresh.name, planted.name, fresh.passed, planted.passed) == (
        "fresh",
        "planted",
        True,
        True,
    )
    assert abs(fresh.read) < 0.03
    assert planted.read > 0.9
    for attack in ("likelihood_scores", "nearest_scores", "copy_odds"):
        monkeypatch.setattr(
            checking, attack, lambda _, people, *__: np.random.default_rng(5).random(len(people))
        )
    assert not self_tests(coded, coded.holdout, np.random.default_rng(4))[
        1
    ].passed  # of attacks that know nothing
