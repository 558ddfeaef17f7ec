"""What the same answer to every question earns."""

from __future__ import annotations

import pytest
from tests.pwscup2024 import BOOK, small_original, under_attack

from kakurenbo import registry
from kakurenbo.datasets import ratings
from kakurenbo.measures.constant_answer import best_constant_answer, constant_answer
from kakurenbo.rng import stream


@pytest.mark.parametrize(
    ("answers", "best"), [([0, 0, 5], (0, 2)), ([5, 4, 5, 4], (4, 2)), ([3], (3, 1)), ([1, 2, 2, 0], (2, 2))]
)
def test_the_best_constant_answer_is_the_commonest_one_the_smallest_of_several(
    answers: list[int], best: tuple[int, int]
) -> None:
    assert best_constant_answer(answers) == best
    assert constant_answer(answers, best[0]).hits == best[1]
    assert constant_answer(answers, 6).hits == 0


def test_always_0_earns_what_the_attack_all0_reconstructs() -> None:
    knowledge, answer = under_attack(small_original(), ratings.split(small_original()))
    guess = registry.build("attacks", "collaborative_filtering:variant=all0")(knowledge, stream(1, "a"))
    assert constant_answer(answer.values, ratings.NOT_SEEN).hits == BOOK.credit(answer, guess).details["reconstruction"]
