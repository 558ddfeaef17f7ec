"""What the attacks find in the real T, and what the combined anonymizer holds against all of them."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.transactions.baskets import Crowds, SwapBaskets
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.attacks.reidentification.pairwise import FellegiSunter, Profile, Rhythm, TfIdf
from kakurenbo.attacks.reidentification.two_owners import SecondOwner
from kakurenbo.core import Problems, Source, Table
from kakurenbo.core.rng import stream
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid
from kakurenbo.rulebooks.darc2019.utility import buyer_share, errors_of, measure

pytestmark = pytest.mark.slow


@cache
def handout(folder: Path) -> Handout:
    found = attempt(Darc2019().read_handout, folder / "darc" / "ground_truth.csv.gz")
    assert not isinstance(found, Problems)
    return found.value


def published(folder: Path, released: Table) -> tuple[object, ReidentificationKnowledge]:
    original = handout(folder).original
    answer, rows = answer_of(original, released)
    return answer, ReidentificationKnowledge(
        original, rows.take(stream(1, "order").permutation(len(rows)))
    )


def rate(
    folder: Path, released: Table, attack: FellegiSunter | TfIdf | SecondOwner, mode: str = "rules"
) -> float:
    answer, known = published(folder, released)
    return reid(answer, attack(known, np.random.default_rng(0)), mode)  # type: ignore[arg-type]


def test_the_best_attack_finds_nearly_everybody_behind_monthly_pseudonyms(
    reference_data: Path,
) -> None:
    source = Source.of(reference_data / "darc" / "reference" / "i_monthly_pseudonyms_full.csv.gz")
    submission = attempt(Darc2019().read_release, handout(reference_data), [source])
    assert not isinstance(submission, Problems)
    begun = time.perf_counter()
    assert rate(reference_data, submission.value, FellegiSunter()) >= 0.99
    assert time.perf_counter() - begun < 60  # 2 s on an idle machine


@pytest.mark.parametrize(
    ("steps", "least"),
    [
        ("swap_items:share=0.2", 0.99),
        ("swap_items:share=0.5|dates|values", 0.95),
        ("swap_items:share=0.8|dates|values", 0.99),
        ("swap_items:share=0.9|dates|values", 0.99),
    ],
)
def test_the_best_attack_withstands_swapped_items_shuffled_dates_and_noise(
    reference_data: Path, steps: str, least: float
) -> None:
    release = Darc2019().anonymize(handout(reference_data), Pipeline(steps), stream(1, steps))
    assert rate(reference_data, release.table, FellegiSunter()) >= least


def test_two_owners_finds_swapped_baskets_in_their_slots(reference_data: Path) -> None:
    release = Darc2019().anonymize(handout(reference_data), SwapBaskets(), stream(1, "swapped"))
    assert rate(reference_data, release.table, SecondOwner(), "aicrowd") >= 0.15


def test_crowds_hide_names_and_tell_every_purchase(reference_data: Path) -> None:
    released = crowds(reference_data)
    loss = min(1.0, max(errors_of(handout(reference_data).original, released, "aicrowd").values()))
    found = rate(reference_data, released, SecondOwner(), "aicrowd")
    assert (loss + found) / 2 == pytest.approx(0.11, abs=0.01)
    assert buyer_share(handout(reference_data).original, released) == pytest.approx(1, abs=0.001)


@cache
def crowds(folder: Path) -> Table:
    return Darc2019().anonymize(handout(folder), Crowds(), stream(1, "crowds")).table


@pytest.mark.parametrize("mode", ["rules", "aicrowd"])
def test_the_combined_anonymizer_scores_at_most_a_fifth_against_all_attacks(
    reference_data: Path, mode: str
) -> None:
    released = crowds(reference_data)
    measured = {
        name: score.value
        for name, score in measure(handout(reference_data).original, released, mode).scores.items()
    }
    attacks = (
        TfIdf(),
        FellegiSunter(),
        Profile(),
        Profile(fields=("price", "size")),
        Rhythm(),
        Rhythm(link_months=False),
        SecondOwner(),
    )
    found = [rate(reference_data, released, attack, mode) for attack in attacks]
    found += [measured[f"S{number}"] for number in range(1, 8)]
    assert (measured["U"] + max(found)) / 2 <= 0.2
