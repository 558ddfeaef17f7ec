"""What attackers of pwscup2024 know beside the release: tables of other people, and the declared method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, Handout, hits, small_original, under_attack
from tests.reading import attempt

from kakurenbo.attacks.reconstruction.bayes import known_weights
from kakurenbo.attacks.reconstruction.evidence import shrinkage
from kakurenbo.attacks.reconstruction.posterior import RatingMoments
from kakurenbo.attacks.reconstruction.row_model import fit_row_model
from kakurenbo.attacks.reconstruction.shadow_ratings import Rehearsal, Shrinkage, rehearse
from kakurenbo.attacks.reconstruction.types import columns_of
from kakurenbo.contest import Release
from kakurenbo.core import Problems, Source, Table, table_bytes
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024.release import split_files
from kakurenbo.rulebooks.pwscup2024.targets import target_files

PERMUTED = "permute_columns:per_file=false"


def released(original: Table, text: str) -> Release:
    return BOOK.anonymize(
        Handout("01", (original,)), registry.build("anonymizers", text), stream(1, "test")
    )


def attacked(
    attack: str,
    release: str,
    *,
    siblings: tuple[Table, ...] = (),
    declared: str = "",
    seed: int = 3,
) -> tuple[int, int]:
    original = small_original()
    knowledge, answer = under_attack(original, released(original, release).tables, seed)
    method = registry.build("anonymizers", declared) if declared else None
    known = replace(knowledge, siblings=siblings, declared=method)
    return hits(answer, registry.build("attacks", attack)(known, stream(2, "attack")))


def test_siblings_tell_ratings_that_the_release_hides() -> None:
    siblings = (small_original(3000, seed=2),)
    without = sum(
        attacked("posterior:identification=sample", PERMUTED, seed=seed)[1] for seed in range(2)
    )
    told = sum(
        attacked("posterior:identification=sample", PERMUTED, siblings=siblings, seed=seed)[1]
        for seed in range(2)
    )
    assert told > without + 10


def test_the_discriminant_finds_the_value_that_the_other_ratings_go_with() -> None:
    moments = RatingMoments.of([small_original(3000, seed=2)])
    codes = columns_of(small_original(500, seed=5), ratings.MOVIES)
    indicators = (codes[:, :, None] == np.arange(6)).reshape(len(codes), -1).astype(float)
    right = (
        moments.discriminant(indicators - moments.means, 7).argmax(axis=1) == codes[:, 7]
    ).mean()
    commonest = np.bincount(codes[:, 7]).max() / len(codes)
    assert (
        right > commonest + 0.1
    )  # 0.42 could be right at most: 0.3 follow the taste, and a sixth of the others by chance


def test_a_rehearsal_has_the_values_of_the_release_and_a_known_truth() -> None:
    original = small_original()
    release = released(original, "shuffle_rows")
    knowledge, _ = under_attack(original, release.tables)
    method = registry.build("anonymizers", "pseudo_olh:epsilon=5")
    rehearsed = rehearse(knowledge, method, fit_row_model(knowledge), stream(1, "rehearsal"))
    for name in ratings.ATTRIBUTES + ratings.MOVIES:
        file = knowledge.files[ratings.files_with(name)[0]]
        assert (np.sort(rehearsed.original.codes[name]) == np.sort(file.codes[name])).all()
    told = rehearsed.knowledge.rating_codes
    people = rehearsed.knowledge.attribute_codes[rehearsed.people]
    everybody = np.stack(
        [rehearsed.original.codes[name] for name in ratings.ATTRIBUTES + ratings.MOVIES], axis=1
    )
    for row in range(5):
        wanted = np.concatenate((people[row], told[row]))
        assert ((everybody == wanted) | (wanted == -1)).all(axis=1).any()


def test_shrinkage_is_1_where_tables_are_the_originals_and_0_where_they_are_chance() -> None:
    original = small_original()
    exact, chance = (registry.build("anonymizers", text) for text in ("shuffle_rows", PERMUTED))
    knowledge, _ = under_attack(original, released(original, "shuffle_rows").tables)
    model = fit_row_model(knowledge)
    slopes = [
        Shrinkage.learned([rehearse(knowledge, method, model, stream(1, "r"))], "ZIP-code").slopes
        for method in (exact, chance)
    ]
    assert slopes[0][:, 1:].sum(axis=1) == pytest.approx(1, abs=0.01)
    assert np.abs(slopes[1][:, 1:].sum(axis=1)).mean() < 0.2


def test_copies_of_one_table_do_not_count_as_tables_without_noise() -> None:
    assert shrinkage(1.0, 1.0, tables=3) == pytest.approx(0.5)
    assert shrinkage(0.5, 1.0, tables=2) == pytest.approx(0.5 / 0.75)


def test_known_matches_give_weight_to_evidence_that_tells() -> None:
    rng = np.random.default_rng(4)
    people = rng.permutation(50)
    useful, useless = rng.normal(size=(50, 50)), 3 * rng.normal(size=(50, 50))
    useful[np.arange(50), people] += 4
    weights = known_weights(np.stack((useful, useless)), people, centre=np.ones(2))
    assert weights[0] > 1
    assert weights[1] < 0.3


def test_evidence_of_which_known_matches_tell_little_keeps_the_weight_that_it_is_given() -> None:
    faint = np.random.default_rng(4).normal(scale=0.01, size=(2, 50, 50))
    weights = known_weights(faint, np.arange(50), centre=np.array([1.0, 0.0]))
    assert weights == pytest.approx([1, 0], abs=0.05)


def test_movies_whose_tables_are_chance_are_told_nothing_of() -> None:
    original = small_original()
    hidden, rng = {"260", "2628"}, np.random.default_rng(5)
    released = original.with_codes({name: rng.permutation(original.codes[name]) for name in hidden})
    knowledge, _ = under_attack(original, ratings.split(released))
    told = Shrinkage.learned([Rehearsal(original, knowledge, np.arange(50))], "ZIP-code").factors
    assert all(
        (part < 0.3) == (name in hidden) for name, part in zip(ratings.MOVIES, told, strict=True)
    )


def test_a_declared_method_is_rehearsed_and_without_one_the_attack_is_bayes() -> None:
    release = "just_enough:utility=90"
    assert (
        attacked("shadow_ratings:reconstruction=row,shadows=2", release, declared=release)[0] >= 10
    )
    assert attacked("shadow_ratings:reconstruction=row", release) == attacked(
        "bayes:reconstruction=row", release
    )


@pytest.mark.parametrize("release", [PERMUTED, "pseudo_olh:epsilon=1"])
@pytest.mark.parametrize(
    "kind",
    [
        "few zeros",
        "half zeros",
        "most are zeros",
        "independent columns",
        "zeros only",
        "siblings of another source",
    ],
)
def test_posterior_is_never_much_worse_than_always_0(kind: str, release: str) -> None:
    original, siblings = data_of(kind)
    earned, constant = 0, 0
    for seed in range(3):
        knowledge, answer = under_attack(original, released(original, release).tables, seed)
        known = replace(knowledge, siblings=siblings)
        guess = registry.build("attacks", "posterior:identification=sample")(
            known, stream(2, "attack")
        )
        earned += hits(answer, guess)[1]
        constant += int((answer.values == 0).sum())
    assert earned >= constant - 12  # of 150; two standard deviations of the difference


def data_of(kind: str) -> tuple[Table, tuple[Table, ...]]:
    """A table B of some kind, and tables that an attacker takes for its siblings."""
    base, rng = small_original(), np.random.default_rng(5)
    zeros = {"few zeros": 0.05, "most are zeros": 0.9, "zeros only": 1.0}.get(kind, 0.5)
    codes = {
        name: np.where(rng.random(len(base)) < zeros, 0, base.codes[name])
        for name in ratings.MOVIES
    }
    if kind == "independent columns":
        codes = {name: rng.permutation(column) for name, column in codes.items()}
    others = base.with_codes({name: 5 - column for name, column in codes.items()})
    return base.with_codes(codes), ((others,) if kind == "siblings of another source" else ())


def test_tables_of_other_people_beside_a_target_are_read_by_their_names_and_the_attacked_teams_own_is_left_aside() -> (
    None
):
    original = small_original()
    knowledge, _ = under_attack(original, released(original, "shuffle_rows").tables)
    files = {**target_files("07", knowledge), **split_files("07", knowledge.files)}
    files |= {
        name: table_bytes(small_original(80, seed=2), header=True)
        for name in ("Bi03-1.csv", "Bi03-2.csv", "Bi07-1.csv")
    }
    public = small_original(60, seed=4).select(ratings.ATTRIBUTES + ratings.MOVIES)
    header, *rows = table_bytes(public, header=True).decode().splitlines()
    files["A.csv"] = (
        "\n".join(
            [f"{ratings.USER},{header}", *(f"{i},{row}" for i, row in enumerate(rows))]
        ).encode()
        + b"\n"
    )
    method = registry.build("anonymizers", "shuffle_rows")
    read = attempt(
        BOOK.read_knowledge, [Source(name, content) for name, content in files.items()], method
    )
    assert not isinstance(read, Problems), read
    assert [len(table) for table in read.value.siblings] == [80, 80]
    assert read.value.public is not None
    assert len(read.value.public) == 60
    assert read.value.declared is method


def test_without_files_of_others_nothing_is_known_of_them_and_a_bad_one_is_a_problem() -> None:
    original = small_original()
    knowledge, _ = under_attack(original, released(original, "shuffle_rows").tables)
    files = {**target_files("07", knowledge), **split_files("07", knowledge.files)}
    sources = [Source(name, content) for name, content in files.items()]
    read = attempt(BOOK.read_knowledge, sources)
    assert not isinstance(read, Problems)
    assert (read.value.siblings, read.value.public, read.value.declared) == ((), None, None)
    bad = attempt(BOOK.read_knowledge, [*sources, Source("Bi03-1.csv", b"Name,Gender\nx,F\n")])
    assert isinstance(bad, Problems)
    assert bad[0].file == "Bi03-1.csv"
