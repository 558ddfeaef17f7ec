"""English sentences that documents hold, told in the language of the moment.

Files of a contest are the same whoever makes them, so what they say of a release is English: people read it in their language.
A sentence is known by the English entry of the catalogue that it follows.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import NamedTuple

from kakurenbo.messages.catalogue import catalogue_of, language, text

_PLACE = re.compile(r"(?P<place>\S+(?::\d+)?: (?:[^\s:]+: )??)(?P<sentence>.+)")


def retold(english: str) -> str:
    """An English sentence of a document in the language of the moment; one that nobody has words for stays as it is.

    Examples
    --------
    >>> retold("handed in nothing")
    'handed in nothing'
    """
    if language() == "en" or not english:
        return english
    return _retold(english, language())


@cache
def _retold(english: str, spoken: str) -> str:
    whole = _entry(english, spoken)
    if whole is not None:
        return whole
    parts = english.split("; ") if "; " in english else english.split(", ")
    if len(parts) > 1:
        told = [_entry(part, spoken) for part in parts]
        if all(part is not None for part in told):
            return text("list.separator").join(part for part in told if part is not None)
    placed = _PLACE.fullmatch(english)
    if placed is not None:
        sentence = _entry(placed["sentence"], spoken)
        return english if sentence is None else placed["place"] + sentence
    return english


def _entry(english: str, spoken: str) -> str | None:
    """The sentence in the other language, where an entry of the catalogue has its form."""
    for known in _known():
        matched = known.form.fullmatch(english)
        if matched is not None and known.code in catalogue_of(spoken):
            given = {name: _retold(value, spoken) for name, value in matched.groupdict().items()}
            message, fix = catalogue_of(spoken)[known.code]
            told = text("problem.sentence", message=message, fix=fix) if fix and known.has_fix else message
            return _filled(told, given)
    return None


class _Known(NamedTuple):
    """The form of an English sentence, and the code of its words."""

    form: re.Pattern[str]
    code: str
    has_fix: bool


@cache
def _known() -> tuple[_Known, ...]:
    """Forms with most words of their own first, so that none that is nearly all placeholder takes another's sentence."""
    found = []
    for code, (message, fix) in catalogue_of("en").items():
        if _words(message):
            found += [_Known(re.compile(_form(whole), re.DOTALL), code, has_fix) for whole, has_fix in _wholes(message, fix)]
    return tuple(sorted(found, key=lambda known: len(known.form.pattern), reverse=True))


def _wholes(message: str, fix: str) -> list[tuple[str, bool]]:
    return [(f"{message}; {fix}", True), (message, False)] if fix else [(message, False)]


def _words(template: str) -> str:
    return "".join(literal for literal, *_ in string.Formatter().parse(template)).strip(" .,:;()")


def _form(template: str) -> str:
    """A regular expression for what a template can say; a placeholder that occurs again must say the same."""
    parts: list[str] = []
    seen: set[str] = set()
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(re.escape(literal))
        if name is not None:
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
            seen.add(name)
    return "".join(parts)


def _filled(template: str, given: dict[str, str]) -> str:
    """The values stand as the English sentence has them: quoted and punctuated already."""
    parts = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal + (given[name] if name is not None else ""))
    return "".join(parts)
