"""Parameters of methods: frozen dataclass fields that know their meaning and their limits.

A method is a frozen dataclass; its constructor only stores. The same description serves validation, ``--help``, the
listing verbs and the conformance suite.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message, text

T = TypeVar("T")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_KEY = "kakurenbo.parameter"
_KINDS = {
    int: "expects.whole",
    float: "expects.number",
    bool: "expects.flag",
    tuple: "expects.list",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name, meaning : str
    kind : type
        ``int``, ``float``, ``str``, ``bool``, or ``tuple`` for a comma-separated list of names.
    default : object
        ``dataclasses.MISSING`` where the parameter must be given.
    optional : bool
        Whether ``None`` (``none`` on the command line) is a value of it.
    low, high : float or None
        Inclusive limits of a number.
    choices : tuple of str
        The permitted words of a text; empty for any.
    none : str
        What ``None``, or a default that is empty, stands for: ``all columns``, or the code of a message.
    words : tuple of str
        Words that a number may be instead, such as ``off``.
    """

    name: str
    meaning: str
    kind: type
    default: object
    optional: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    none: str = ""
    words: tuple[str, ...] = ()

    @property
    def expectation(self) -> Message:
        """What a value must be.

        Examples
        --------
        >>> print(Parameter("p", "", float, 0.9, low=0, high=1).expectation)
        a number from 0 to 1
        """
        expected = self.value_expectation
        if not self.optional:
            return expected
        if not self.none:
            return Message("expects.or_none", {"expectation": expected})
        meaning = Message(self.none)
        return Message("expects.or_none_for", {"expectation": expected, "none": meaning})

    @property
    def value_expectation(self) -> Message:
        """What a value must be where one is given."""
        expected = Message(_KINDS.get(self.kind, "expects.text"))
        low, high = (None if limit is None else f"{limit:g}" for limit in (self.low, self.high))
        if self.choices:
            expected = Message("expects.choices", {"choices": self.choices})
        elif low is not None and high is not None:
            expected = Message("expects.between", {"kind": expected, "low": low, "high": high})
        elif low is not None:
            expected = Message("expects.at_least", {"kind": expected, "low": low})
        elif high is not None:
            expected = Message("expects.at_most", {"kind": expected, "high": high})
        if not self.words:
            return expected
        return Message("expects.or_words", {"expectation": expected, "words": self.words})

    def parse(self, given: str) -> object:
        """Return the value that ``given`` of a command line or a file stands for."""
        if self.optional and given.lower() == "none":
            return None
        if given.lower() in self.words:
            return given.lower()
        try:
            if self.kind is tuple:
                return tuple(part.strip() for part in given.split(",") if part.strip())
            if self.kind is bool:
                return _FLAGS[given.lower()]
            return self.kind(given)
        except (ValueError, KeyError):
            raise ParameterError(self.name, self.expectation, given) from None

    def check(self, value: object) -> None:
        """Raise :class:`ParameterError` unless ``value`` is permitted."""
        if value not in self.words and not self._permits(value):
            raise ParameterError(self.name, self.expectation, value)

    def _permits(self, value: object) -> bool:
        if value is None:
            return self.optional
        if self.kind is tuple:
            return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
        kinds = (int, float) if self.kind is float else self.kind
        if not isinstance(value, kinds) or isinstance(value, bool) is not (self.kind is bool):
            return False
        if isinstance(value, int | float):
            low = -math.inf if self.low is None else self.low
            high = math.inf if self.high is None else self.high
            return math.isfinite(value) and low <= value <= high
        return not self.choices or value in self.choices


def parameter(
    default: Any = dataclasses.MISSING,
    meaning: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    none: str = "",
    words: tuple[str, ...] = (),
) -> Any:
    """Declare a dataclass field that describes itself; limits are inclusive, and ``none`` says what ``None`` stands for."""
    described = {
        "meaning": meaning,
        "low": low,
        "high": high,
        "choices": choices,
        "none": none,
        "words": words,
    }
    metadata = {_KEY: described}
    return dataclasses.field(default=default, metadata=metadata)


class Method:
    """Base of anonymizers, attacks and rulebooks: a frozen dataclass whose parameters are checked when it is made."""

    _given: frozenset[str]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        # Only the constructor's own arguments tell what was asked for; the fields look the same either way.
        made = super().__new__(cls)
        names: list[str] = (
            [field.name for field in dataclasses.fields(cls) if field.init]
            if dataclasses.is_dataclass(cls)
            else []
        )
        object.__setattr__(made, "_given", frozenset((*names[: len(args)], *kwargs)))
        return made

    def __post_init__(self) -> None:
        for described in parameters_of(type(self)):
            described.check(getattr(self, described.name))

    @property
    def given(self) -> frozenset[str]:
        """Names of the parameters that were given explicitly, be it with the value of their default; no part of equality."""
        return self._given

    def with_parameters(self, **changes: object) -> Self:
        """Return the same method with some parameters changed: given are those that were, and the changed ones.

        Raises
        ------
        ParameterError
            For an unknown name or a value outside its limits.
        """
        _check_names(type(self), changes)
        return self._changed(changes, self.given | changes.keys())

    def defaulting(self, values: Mapping[str, object]) -> Self:
        """Return the same method with other values for the parameters that were not given explicitly; other names are ignored.

        What was given stays as it is, and what is filled in does not count as given.

        Raises
        ------
        ParameterError
            For a value outside its limits.
        """
        open_names = {described.name for described in parameters_of(type(self))} - self.given
        return self._changed(
            {name: value for name, value in values.items() if name in open_names}, self.given
        )

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Group and registered name of every other method that this one is made of, theirs included."""
        return ()

    def _changed(self, changes: Mapping[str, object], given: frozenset[str]) -> Self:
        made: Self = dataclasses.replace(self, **changes)  # type: ignore[type-var]
        object.__setattr__(made, "_given", given)
        return made


def parameters_of(method: type) -> tuple[Parameter, ...]:
    """Return the parameters of a method in the order they are declared."""
    if method not in _DESCRIBED:  # type hints are evaluated, which takes a while
        _DESCRIBED[method] = _parameters_of(method)
    return _DESCRIBED[method]


_DESCRIBED: WeakKeyDictionary[type, tuple[Parameter, ...]] = WeakKeyDictionary()


def _parameters_of(method: type) -> tuple[Parameter, ...]:
    if not dataclasses.is_dataclass(method):
        return ()
    hints = typing.get_type_hints(method)
    found = []
    for field in dataclasses.fields(method):
        described = field.metadata.get(_KEY)
        if described is None:
            continue
        kind, optional = _kind(hints[field.name])
        found.append(
            Parameter(field.name, kind=kind, optional=optional, default=field.default, **described)
        )
    return tuple(found)


def make(method: type[T], given: Mapping[str, str]) -> T:
    """Make an instance of ``method`` from texts, as the command line and contest files give them.

    Raises
    ------
    ParameterError
        For an unknown name, a missing required one, or a value outside its limits.
    """
    _check_names(method, given)
    known = {described.name: described for described in parameters_of(method)}
    for name, described in known.items():
        if described.default is dataclasses.MISSING and name not in given:
            raise ParameterError(name, described.expectation, text("expects.nothing"))
    return method(**{name: known[name].parse(value) for name, value in given.items()})


def _check_names(method: type, given: Mapping[str, object]) -> None:
    known = [described.name for described in parameters_of(method)]
    for name, value in given.items():
        if name not in known:
            expected = (
                Message("expects.choices", {"choices": known})
                if known
                else Message("expects.no_parameters")
            )
            raise ParameterError(name, expected, value)


def _kind(hint: Any) -> tuple[type, bool]:
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        plain = [argument for argument in arguments if argument is not type(None)]
        kind, _ = _kind(plain[0])
        return kind, len(plain) < len(arguments)
    return typing.get_origin(hint) or hint, False
