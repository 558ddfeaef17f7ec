"""The catalogue: the files in `en` and `ja` give each code its message and its fix, with placeholders for what varies.

`tables`, `rounds` and a file per contest hold problems of inputs; `usage` errors of a call; `cli` and `help` what the command
line says; `click` what the library that parses it says; `words` what documents of a contest hold, `errors` what the
library raises, `players` the names in default fields. `ja/methods` describes the
built-in methods, whose English is their code.

A placeholder ``{name}`` shows a parameter: whole numbers with thousands separators (``{name:d}`` without), lists joined,
phrases in the language asked for, texts with control characters escaped. ``{name:q}`` puts a text that is not a number
into quotation marks, ``{name!r}`` quotes it as Python does, and ``{file:+commas}`` names a file to make of that one.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, wraps
from importlib import resources
from typing import Any, NamedTuple, ParamSpec, TypeVar

LANGUAGES = ("en", "ja")
_FALLBACK = "en"
_OWN_VARIABLE = "KAKURENBO_LANG"
_SHOWN_VALUE_LENGTH = 60
_SPOKEN_TO = ContextVar("_SPOKEN_TO", default="")
Given = ParamSpec("Given")
Made = TypeVar("Made")


class Sentence(NamedTuple):
    """What is wrong, and what to do about it (empty where the message says it)."""

    message: str
    fix: str = ""


@dataclass(frozen=True)
class Phrase:
    """A part of a sentence that has words of its own: a parameter that is put into the language of the sentence.

    Examples
    --------
    >>> phrase(Phrase("domain.integer", {"low": 17, "high": 90}), "en")
    'an integer from 17 to 90'
    """

    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


def language() -> str:
    """The language of the moment.

    That of whom a server speaks to; ``$KAKURENBO_LANG``; that of the locale, where it is one of ours; else English.
    """
    if spoken_to := _SPOKEN_TO.get():
        return spoken_to
    own = os.environ.get(_OWN_VARIABLE)
    # The order in which POSIX consults the locale's variables for messages.
    locale = next(
        (found for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (found := os.environ.get(name))), ""
    )
    asked = (own or locale)[:2].lower()
    return asked if asked in LANGUAGES else _FALLBACK


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language for a while, in this process and in those that it starts meanwhile."""
    before = os.environ.get(_OWN_VARIABLE)
    os.environ[_OWN_VARIABLE] = language
    token = _SPOKEN_TO.set(language)  # before the language of whom a server speaks to
    try:
        yield
    finally:
        _SPOKEN_TO.reset(token)
        if before is None:
            os.environ.pop(_OWN_VARIABLE, None)
        else:
            os.environ[_OWN_VARIABLE] = before


@contextmanager
def speaking_to(language: str) -> Iterator[None]:
    """Speak a language to somebody, while other threads speak theirs to others: for servers.

    Examples
    --------
    >>> with speaking_to("ja"):
    ...     text("problem.input")
    '入力'
    """
    token = _SPOKEN_TO.set(language)
    try:
        yield
    finally:
        _SPOKEN_TO.reset(token)


def spoken_in(language: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """A function that speaks a language whatever that of the moment is: what it makes is stored, and alike for everybody."""

    def speaking_so(function: Callable[Given, Made]) -> Callable[Given, Made]:
        @wraps(function)
        def spoken(*given: Given.args, **named: Given.kwargs) -> Made:
            with speaking(language):
                return function(*given, **named)

        return spoken

    return speaking_so


def text(code: str, /, **parameters: Any) -> str:
    """The words of a code in the language of the moment.

    Examples
    --------
    >>> text("problem.input")
    'input'
    """
    return render(code, parameters, language()).message


def text_or(code: str, otherwise: str) -> str:
    """The words that the catalogue has for a code in the language of the moment; else what the code itself says in English.

    Examples
    --------
    >>> text_or("anonymizers.of_a_plugin", "Its docstring.")
    'Its docstring.'
    """
    known = catalogue_of(language()).get(code)
    return otherwise if known is None else known.message


def codes_by_english(file: str) -> dict[str, str]:
    """The codes of one file of the catalogue by their English words."""
    content = (
        resources.files("kakurenbo.core.messages")
        .joinpath(_FALLBACK, f"{file}.toml")
        .read_text(encoding="utf-8")
    )
    return {english: code for code, english in tomllib.loads(content).items()}


def render(code: str, parameters: Mapping[str, Any], language: str) -> Sentence:
    """Message and fix of a code.

    Parameters
    ----------
    code : str
    parameters : mapping of str to object
        What the placeholders stand for.
    language : str
        One of ``LANGUAGES``. A plugin that has no words in it is shown in English.

    Returns
    -------
    Sentence
        A code that nobody added (a problem of a plugin that is not loaded here) is shown as it is, with its parameters.

    Examples
    --------
    >>> render("source.too_large", {"limit": 100_000_000}, "en").message
    'the file is larger than 100,000,000 bytes'
    """
    known = catalogue_of(language).get(code) or catalogue_of(_FALLBACK).get(code)
    if known is None:
        shown = ", ".join(
            f"{name}={value}" for name, value in parameters.items() if value is not None
        )
        return Sentence(escaped(f"{code} ({shown})" if shown else code))
    shown_parameters = {name: _shown(value, language) for name, value in parameters.items()}
    return Sentence(*(template.format_map(shown_parameters) for template in known))


def phrase(phrase: Phrase, language: str) -> str:
    """The words of a phrase."""
    return render(phrase.code, phrase.parameters, language).message


def add(sentences: Mapping[str, Mapping[str, str | tuple[str, str]]]) -> None:
    """Add the sentences of a plugin: ``{"en": {code: (message, fix)}, "ja": {...}}``.

    A phrase is a single text. English is needed, Japanese optional. A code that the catalogue has with other words is an
    error: begin codes with the name of the plugin.
    """
    unknown = set(sentences) - set(LANGUAGES)
    if unknown or set(sentences.get("ja", {})) - set(sentences.get("en", {})):
        raise ValueError(
            f"sentences are given in English, and in Japanese too if there are any; got {sorted(sentences)}"
        )
    for name, entries in sentences.items():
        known = catalogue_of(name)
        for code, entry in entries.items():
            if known.setdefault(code, _sentence(entry)) != _sentence(entry):
                raise ValueError(f"the catalogue has other words for {code!r} already")


def shorten(value: str, length: int = _SHOWN_VALUE_LENGTH) -> str:
    r"""A hostile value made safe and short for messages: at most ``length`` of its characters.

    Examples
    --------
    >>> shorten("a\x1b[31m")
    'a\\x1b[31m'
    """
    safe = escaped(value[:length])
    return safe if len(value) <= length else safe + "…"


@cache
def catalogue_of(language: str) -> dict[str, Sentence]:
    """All sentences of a language by code."""
    folder = resources.files("kakurenbo.core.messages").joinpath(language)
    texts = [
        file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".toml")
    ]
    return {code: _sentence(entry) for text in texts for code, entry in tomllib.loads(text).items()}


def _sentence(entry: str | list[str] | tuple[str, str]) -> Sentence:
    return Sentence(entry) if isinstance(entry, str) else Sentence(*entry)


def escaped(text: str) -> str:
    """A text without signs that act on a terminal or end a line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def _shown(value: Any, language: str) -> Any:
    if isinstance(value, Phrase):
        return _Text(phrase(value, language))
    if isinstance(value, str):
        return _Text(escaped(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _Whole(value)
    if isinstance(value, list | tuple):
        separator = render("list.separator", {}, language).message
        return _Text(separator.join(format(_shown(part, language)) for part in value))
    return value


def made_name(file: str, made: str) -> str:
    """The name of a file that is made of another one: recipes for several files must not all write to one place.

    Examples
    --------
    >>> made_name("original.csv", "commas"), made_name("original.csv.gz", "utf8"), made_name("table", "points")
    ('original-commas.csv', 'original-utf8.csv', 'table-points.csv')
    """
    stem, dot, ending = file.removesuffix(".gz").rpartition(".")
    return f"{stem}-{made}.{ending}" if stem and dot else f"{ending}-{made}.csv"


class _Text(str):
    """A text parameter; ``:q`` quotes it unless it is a number, ``:+made`` names what is made of a file, as shells take it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec.startswith("+"):
            return shlex.quote(made_name(str(self), spec[1:]))
        if spec != "q":
            return super().__format__(spec)
        return str(self) if re.fullmatch(r"[-+.\d]+", self) else f'"{self}"'


class _Whole(int):
    """A whole number; shown with thousands separators."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return super().__format__(spec or ",")
