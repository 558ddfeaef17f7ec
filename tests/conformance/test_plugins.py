"""What every registered plugin must do, whoever wrote it: determinism, valid output, and refusal of bad parameters."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kakurenbo import registry
from kakurenbo.contracts import Credit, Preparation, Release, rulebooks_for
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import make, parameters_of
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, Source, table_bytes, write_folder

METHODS = [(group, name) for group in ("anonymizers", "attacks") for name in registry.names(group)]
PLAYS = [(rulebook, group, name) for group, name in METHODS for rulebook in rulebooks_for(registry.load(group, name))]


@cache
def small_rulebook(name: str) -> Any:
    return registry.load("rulebooks", name)(scale="small")


@cache
def preparation(name: str) -> Preparation[Any]:
    return small_rulebook(name).prepare(11, ["01", "02"])


@cache
def target(name: str) -> Any:
    """The first team's release by the first anonymizer that plays the rulebook, under attack."""
    rulebook, team = small_rulebook(name), "01"
    method = next(method for book, group, method in PLAYS if book == name and group == "anonymizers")
    handout = preparation(name).handouts[team]
    submission = checked(rulebook, handout, rulebook.anonymize(handout, registry.load("anonymizers", method)(), stream(1, "a")))
    return rulebook.publish(preparation(name), {team: submission}, 5)[team]


def checked(rulebook: Any, handout: Any, release: Release) -> Any:
    files = rulebook.release_files(handout, release)
    submission = rulebook.check_release(handout, [Source(name, data) for name, data in files.items()])
    assert not isinstance(submission, Problems), submission
    return submission


@pytest.mark.parametrize(("group", "name"), METHODS)
def test_a_method_is_a_frozen_dataclass_that_describes_itself(group: str, name: str) -> None:
    cls = registry.load(group, name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert cls.__doc__
    assert rulebooks_for(cls), "some installed rulebook is played"
    assert all(described.meaning for described in parameters_of(cls))
    assert len(parameters_of(cls)) == len(dataclasses.fields(cls)), "every field is a described parameter"


@pytest.mark.parametrize(("group", "name"), METHODS)
def test_bad_parameters_are_refused_with_parameter_expectation_and_value(group: str, name: str) -> None:
    cls = registry.load(group, name)
    for described in parameters_of(cls):
        if described.kind in (int, float):
            bad: list[Any] = ["much", float("nan")]
            bad += [described.low - 1] if described.low is not None else []
            bad += [described.high + 1] if described.high is not None else []
        elif described.choices:
            bad = ["no such choice"]
        else:
            bad = [3.5]
        for value in bad:
            with pytest.raises(ParameterError) as refused:
                cls(**{described.name: value})
            assert refused.value.parameter == described.name
            assert refused.value.expectation == described.expectation
            assert refused.value.value is value
    with pytest.raises(ParameterError, match="no_such_parameter"):
        make(cls, {"no_such_parameter": "1"})


@pytest.mark.parametrize(("rulebook", "name"), [(book, name) for book, group, name in PLAYS if group == "anonymizers"])
def test_an_anonymizer_gives_the_same_valid_release_for_the_same_stream(rulebook: str, name: str) -> None:
    book, method = small_rulebook(rulebook), registry.load("anonymizers", name)()
    handout = preparation(rulebook).handouts["02"]
    first, second = (book.anonymize(handout, method, stream(3, "same")) for _ in range(2))
    assert [table_bytes(table) for table in first.tables] == [table_bytes(table) for table in second.tables]
    assert first.claims == second.claims
    checked(book, handout, first)


@pytest.mark.parametrize(("rulebook", "name"), [(book, name) for book, group, name in PLAYS if group == "attacks"])
def test_an_attack_gives_the_same_valid_guess_for_the_same_stream(rulebook: str, name: str) -> None:
    book, method = small_rulebook(rulebook), registry.load("attacks", name)()
    under_attack = target(rulebook)
    first, second = (book.guess_bytes(method(under_attack.knowledge, stream(4, "same"))) for _ in range(2))
    assert first == second
    guess = book.read_guess(under_attack.answer, Source("guess", first))
    assert not isinstance(guess, Problems), guess
    credit = book.credit(under_attack.answer, guess)
    assert isinstance(credit, Credit)
    assert 0 <= credit.hits <= credit.of
    submitted = book.check_guesses(
        {"01": under_attack},
        [Source(file, data) for file, data in book.guess_files({"01": guess}, "02").items()],
        "02",
    )
    assert not isinstance(submitted, Problems), submitted
    assert book.credit(under_attack.answer, submitted["01"]) == credit


@pytest.mark.parametrize("name", registry.names("rulebooks"))
def test_a_preparation_is_the_same_for_the_same_seed_and_survives_its_folder(name: str, tmp_path: Path) -> None:
    book = small_rulebook(name)
    assert book.prepare(11, ["01", "02"]).files() == preparation(name).files()
    assert book.prepare(12, ["01", "02"]).files() != preparation(name).files()
    write_folder(tmp_path / "contest", preparation(name).files(), private=("secret",))
    again = book.read_preparation(tmp_path / "contest")
    assert not isinstance(again, Problems), again
    assert set(again.handouts) == {"01", "02"}


@pytest.mark.parametrize("name", registry.names("rulebooks"))
def test_a_team_is_handed_the_same_whoever_else_takes_part(name: str) -> None:
    """The streams are keyed by team, so one team more changes nobody's data."""
    few, more = preparation(name).folders, small_rulebook(name).prepare(11, ["01", "02", "03"]).folders
    for file, data in few["teams/01"].items():
        if file != "contest.json":
            assert more["teams/01"][file] == data
