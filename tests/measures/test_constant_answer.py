"""What the same answer to every question earns."""

from __future__ import annotations

from tests.pwscup2024 import BOOK, small_original, under_attack

from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.methods import registry


def test_always_0_earns_what_the_attack_all0_reconstructs() -> None:
    knowledge, answer = under_attack(small_original(), ratings.split(small_original()))
    guess = registry.build("attacks", "collaborative_filtering:variant=all0")(
        knowledge, stream(1, "a")
    )
    assert (
        int((answer.values == ratings.NOT_SEEN).sum())
        == BOOK.score_guess(answer, guess).details["reconstruction"]
    )
