"""Attacks of pwscup2024: worked examples by hand, and what each must find in releases that hide little."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, Handout, hits, small_original, under_attack

from kakurenbo.anonymizers.ratings.olh import PseudoOLH
from kakurenbo.attacks.reconstruction.bayes import learn_weights
from kakurenbo.attacks.reconstruction.hamming import side_by_side
from kakurenbo.attacks.reconstruction.row_model import fit_row_model
from kakurenbo.attacks.records.alignment import aligned_groups, shared_noise
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.methods import registry

ALL = ("sample", "euclidean", "all_pairs", "collaborative_filtering", "bayes", "posterior")


def tables(text: str, seed: int = 1) -> tuple:
    handout = Handout("01", (small_original(),))
    return BOOK.anonymize(handout, registry.build("anonymizers", text), stream(seed, "test")).tables


def outcome(attack: str, release: str, declared: str | None = None) -> tuple[int, int]:
    mechanism = (
        registry.build("anonymizers", declared).mechanism(small_original()) if declared else None
    )
    knowledge, answer = under_attack(small_original(), tables(release), mechanism=mechanism)
    return hits(answer, registry.build("attacks", attack)(knowledge, stream(2, "attack")))


@pytest.mark.parametrize("attack", ["sample", "all_pairs", "bayes", "posterior"])
def test_files_that_hide_nothing_give_everybody_away(attack: str) -> None:
    identified, reconstructed = outcome(attack, "swap_cells:swaps=0")
    assert identified == 50
    assert reconstructed == 50


def test_the_sample_attack_takes_the_first_a_row_then_the_first_table_row_on_ties() -> None:
    knowledge, _ = under_attack(small_original(), tables("permute_columns"))
    guess = registry.build("attacks", "sample")(knowledge, stream(1, "a"))
    codes = side_by_side(knowledge.files)
    table_a = np.stack([codes[name] for name in ratings.ATTRIBUTES], axis=1)
    table_b = np.stack([codes[name] for name in ratings.MOVIES], axis=1)
    for row in range(5):  # row by row, as the rule is written
        best = (99, -1, -1)
        for person, attributes in enumerate(knowledge.attribute_codes):
            distances = (table_a != attributes).sum(axis=1) + (
                table_b != knowledge.rating_codes[row]
            ).sum(axis=1)
            nearest = int(distances.argmin())
            if distances[nearest] < best[0]:
                best = (int(distances[nearest]), person, nearest)
        assert guess.people[row] == best[1]
        assert guess.values[row] == table_b[best[2], knowledge.hidden[row]]


def test_euclidean_finds_people_whose_rows_are_close() -> None:
    identified, reconstructed = outcome("euclidean", "swap_cells:swaps=50")
    assert identified >= 45
    assert reconstructed >= 40


def test_a_star_is_filled_with_the_columns_mode() -> None:
    knowledge, _ = under_attack(small_original(), tables("swap_cells:swaps=0"))
    filled = knowledge.filled_with_mode()
    for row, movie in enumerate(knowledge.hidden):
        assert filled[row, movie] == small_original().frequencies(ratings.MOVIES[movie]).argmax()


def test_all0_answers_0() -> None:
    knowledge, _ = under_attack(small_original(), tables("swap_cells:swaps=0"))
    guess = registry.build("attacks", "collaborative_filtering:variant=all0")(
        knowledge, stream(1, "a")
    )
    assert not guess.values.any()


@pytest.mark.parametrize("variant", ["user", "w", "w50"])
def test_collaborative_filtering_finds_the_same_people_in_a_release_that_hides_little(
    variant: str,
) -> None:
    _, reconstructed = outcome(
        f"collaborative_filtering:variant={variant},neighbours=1", "swap_cells:swaps=0"
    )
    assert reconstructed >= 15


def test_collaborative_filtering_by_items_votes_with_bs_own_ratings() -> None:
    knowledge, _ = under_attack(small_original(), tables("swap_cells:swaps=0"))
    guess = registry.build("attacks", "collaborative_filtering:variant=item")(
        knowledge, stream(1, "a")
    )
    given = [set(row.tolist()) for row in knowledge.rating_codes]
    assert all(value in row for value, row in zip(guess.values.tolist(), given, strict=True))


def poster_filtering(told: np.ndarray, hidden: np.ndarray, variant: str) -> list[int]:
    """The poster's collaborative filtering on b alone, one row after the other, as its drawing has it."""
    filled = told.astype(float)
    for row, movie in enumerate(hidden):
        filled[row, movie] = np.bincount(told[told[:, movie] >= 0, movie], minlength=6).argmax()
    scaled = np.where(filled > 0, filled + (50 if variant == "w50" else 0), 0)

    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        lengths = np.linalg.norm(x) * np.linalg.norm(y)
        return float(x @ y / lengths) if lengths else 0.0

    answers = []
    for row, movie in enumerate(hidden):
        users = [
            (cosine(scaled[row], scaled[other]), int(filled[other, movie]))
            for other in range(len(told))
            if other != row
        ]
        items = [
            (cosine(scaled[:, movie], scaled[:, other]), int(filled[row, other]))
            for other in range(told.shape[1])
            if other != movie
        ]
        asked = {"user": [users], "item": [items]}.get(variant, [users, items])
        votes = [vote for voters in asked for vote in sorted(voters, key=lambda vote: -vote[0])[:5]]
        weights = {
            value: sum(s if variant.startswith("w") else 1 for s, v in votes if v == value)
            for value in range(6)
        }
        nearest = {
            value: max((s for s, v in votes if v == value), default=0.0) for value in range(6)
        }
        answers.append(
            max(range(6), key=lambda value: (round(weights[value], 9), round(nearest[value], 9)))
        )
    return answers


@pytest.mark.parametrize("variant", ["user", "item", "w", "w50"])
def test_the_posters_collaborative_filtering_asks_b_alone(variant: str) -> None:
    for seed in range(3):
        knowledge, _ = under_attack(small_original(), tables("permute_columns"), seed)
        guess = registry.build("attacks", f"collaborative_filtering:on=b,variant={variant}")(
            knowledge, stream(1, "a")
        )
        assert guess.values.tolist() == poster_filtering(
            knowledge.rating_codes, knowledge.hidden, variant
        )


def test_bayes_finds_the_same_people_with_the_mechanism_declared_and_with_the_noise_fitted() -> (
    None
):
    fitted = outcome("bayes", "pseudo_olh:epsilon=3")
    declared = outcome("bayes", "pseudo_olh:epsilon=3", declared="pseudo_olh:epsilon=3")
    assert min(fitted[0], declared[0]) >= 40
    assert min(fitted[1], declared[1]) >= 30


def test_em_finds_how_often_cells_were_kept() -> None:
    knowledge, _ = under_attack(small_original(), tables("pseudo_olh:epsilon=3"))
    model = fit_row_model(knowledge)
    true = PseudoOLH()._transition(6, 3.0)[0, 0]
    assert np.mean(
        [model.transitions[name].diagonal().mean() for name in ratings.MOVIES]
    ) == pytest.approx(true, abs=0.05)


def test_shuffled_files_are_marginalised() -> None:
    identified, reconstructed = outcome("bayes", "pipeline:steps=pseudo_olh:epsilon=5|shuffle_rows")
    assert identified >= 40
    assert reconstructed >= 30


def test_files_in_the_same_order_are_found_and_shuffled_ones_stand_alone() -> None:
    assert aligned_groups(tables("pseudo_olh:epsilon=3")) == [tuple(range(10))]
    assert aligned_groups(tables("shuffle_rows")) == [(number,) for number in range(10)]


def test_noise_that_copies_share_is_told_from_noise_of_their_own() -> None:
    once, each = tables("pseudo_olh:epsilon=1,per_file=false"), tables("pseudo_olh:epsilon=1")
    keep = PseudoOLH()._transition(6, 1.0)[0, 0] - PseudoOLH()._transition(6, 1.0)[0, 1]
    shared, own = (
        shared_noise([files[number].codes["260"] for number in ratings.files_with("260")], 6, keep)
        for files in (once, each)
    )
    assert shared == pytest.approx(1)
    assert own < 0.1


def test_two_way_tables_give_people_away_where_no_row_is_a_person() -> None:
    identified, _ = outcome(
        "bayes", "pipeline:steps=permute_columns|crosstab_repair_fast:utility=95"
    )
    assert identified >= 25


def test_posterior_beats_all0_where_only_two_way_tables_are_left() -> None:
    release = "pipeline:steps=permute_columns|crosstab_repair_fast:utility=90"
    assert (
        outcome("posterior", release)[1]
        > outcome("collaborative_filtering:variant=all0", release)[1]
    )


def test_gradient_boosting_can_stand_beside_naive_bayes() -> None:
    assert outcome("posterior:fallback=boosting,identification=sample", "shuffle_rows")[1] >= 30


def test_methods_combine_by_name_and_a_partner_of_the_wrong_kind_is_refused() -> None:
    release = "pseudo_olh:epsilon=4"
    assert outcome("bayes:reconstruction=collaborative_filtering:variant=all0", release)[0] >= 40
    assert outcome("sample:reconstruction=posterior", release)[0] == outcome("sample", release)[0]
    with pytest.raises(ParameterError, match="identification"):
        outcome("posterior:identification=collaborative_filtering", release)
    with pytest.raises(ParameterError, match="reconstruction"):
        outcome("bayes:reconstruction=sample", release)


def test_a_match_is_one_to_one() -> None:
    pairs = balanced(np.random.default_rng(1).normal(size=(6, 6)) * 3, 30)
    assert pairs.sum(axis=1) == pytest.approx(1)
    assert pairs.sum(axis=0) == pytest.approx(1, abs=0.02)


def test_evidence_that_tells_nothing_gets_little_weight() -> None:
    rng = np.random.default_rng(4)
    useful, useless = rng.normal(size=(50, 50)), 3 * rng.normal(size=(50, 50))
    useful += 4 * np.eye(50)
    crowd = np.stack((rng.normal(size=(50, 300)), 3 * rng.normal(size=(50, 300))))
    weights = learn_weights(np.stack((useful, useless)), crowd)
    assert weights[0] > 1
    assert weights[1] < 0.2
