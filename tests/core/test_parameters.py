"""Parameters, registry and commitments: the small mechanisms that everything hangs on."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from kakurenbo.core import rng
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Method, make, parameter, parameters_of


@dataclass(frozen=True)
class Example(Method):
    share: float = parameter(0.5, "a share", low=0, high=1)
    count: int | None = parameter(None, "a count", low=1)
    names: tuple[str, ...] = parameter((), "some names")
    flag: bool = parameter(False, "a switch")
    word: str = parameter("a", "a word", choices=("a", "b"))


@dataclass(frozen=True)
class Demanding(Method):
    must: int = parameter(meaning="has to be given")


def test_texts_become_values() -> None:
    made = make(
        Example, {"share": "0.25", "count": "3", "names": "x, y", "flag": "yes", "word": "b"}
    )
    assert made == Example(0.25, 3, ("x", "y"), True, "b")
    assert make(Example, {"count": "none"}).count is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": "2"}, "parameter 'share' must be a number from 0 to 1; got 2.0"),
        ({"share": "half"}, "parameter 'share' must be a number from 0 to 1; got 'half'"),
        ({"count": "0"}, "parameter 'count' must be a whole number of at least 1 or none; got 0"),
        (
            {"count": "1.5"},
            "parameter 'count' must be a whole number of at least 1 or none; got '1.5'",
        ),
        ({"flag": "maybe"}, "parameter 'flag' must be true or false; got 'maybe'"),
        ({"word": "c"}, "parameter 'word' must be one of a, b; got 'c'"),
        (
            {"other": "c"},
            "parameter 'other' must be one of share, count, names, flag, word; got 'c'",
        ),
    ],
)
def test_a_bad_value_is_told_with_parameter_expectation_and_value(
    given: dict[str, str], message: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        make(Example, given)
    assert str(refused.value) == message
    assert str(pickle.loads(pickle.dumps(refused.value))) == message


# -- given or default --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (Example(), set()),
        (Example(0.5), {"share"}),
        (Example(0.25, flag=False), {"share", "flag"}),
        (make(Example, {"word": "a", "count": "none"}), {"word", "count"}),
    ],
)
def test_a_method_knows_which_parameters_were_given_even_with_the_value_of_their_default(
    made: Example, names: set[str]
) -> None:
    assert made.given == names
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert again == made
        assert again.given == names


def test_what_was_given_is_no_part_of_equality() -> None:
    assert Example(share=0.5) == Example()
    assert hash(Example(share=0.5)) == hash(Example())
    assert repr(Example(share=0.5)) == repr(Example())


def test_with_parameters_counts_the_changed_ones_as_given_and_no_others() -> None:
    changed = Example(count=3).with_parameters(word="b")
    assert changed == Example(count=3, word="b")
    assert changed.given == {"count", "word"}
    with pytest.raises(ParameterError, match="'word' must be one of a, b; got 'c'"):
        Example().with_parameters(word="c")
    with pytest.raises(
        ParameterError, match="'other' must be one of share, count, names, flag, word"
    ):
        Example().with_parameters(other=1)


def test_defaulting_fills_in_what_was_not_given_and_leaves_what_was() -> None:
    filled = Example(share=0.5).defaulting({"share": 0.9, "word": "b", "no_parameter_of_it": 7})
    assert filled == Example(share=0.5, word="b")
    assert filled.given == {"share"}
    assert filled.defaulting({"word": "a"}).word == "a", (
        "what was filled in does not count as given"
    )
    with pytest.raises(ParameterError, match="'share' must be a number from 0 to 1; got 2"):
        Example().defaulting({"share": 2})
    assert Example(share=0.1).defaulting({"share": 2}).share == 0.1


def test_a_required_parameter_must_be_given() -> None:
    with pytest.raises(ParameterError, match="'must' must be a whole number"):
        make(Demanding, {})
    assert make(Demanding, {"must": "4"}).must == 4


def test_a_class_without_fields_has_no_parameters() -> None:
    assert parameters_of(int) == ()


def test_a_method_is_built_from_one_line_and_told_back() -> None:
    method = registry.build("anonymizers", "rr:p=0.8,columns=age,sex")
    assert (method.p, method.columns) == (0.8, ("age", "sex"))
    assert registry.describe(method) == "p=0.8,columns=age,sex"
    assert registry.build("anonymizers", "rr") == type(method)()
    with pytest.raises(UsageError, match="parameter=value"):
        registry.build("anonymizers", "rr:0.8")
    with pytest.raises(UsageError, match="did you mean 'nearest'"):
        registry.build("attacks", "neerest")


def test_a_name_declared_twice_is_an_error() -> None:
    points = [EntryPoint("x", value, "kakurenbo.attacks") for value in ("a:A", "b:B")]
    with pytest.raises(registry.DuplicateName, match="a:A and b:B"):
        registry.unique_by_name("attacks", points)
    assert len(registry.unique_by_name("attacks", [points[0], points[0]])) == 1


def test_streams_are_named_and_independent() -> None:
    first = rng.stream(1, "a", "bc").integers(2**62, size=4).tolist()
    assert rng.stream(1, "a", "bc").integers(2**62, size=4).tolist() == first
    for other in (rng.stream(1, "ab", "c"), rng.stream(2, "a", "bc"), rng.stream(1, "a", "bc", 0)):
        assert other.integers(2**62, size=4).tolist() != first
    assert rng.fresh_seed() != rng.fresh_seed()
