"""English sentences that documents hold, told in the language of the moment.

Files of a contest are the same whoever makes them, so what they say of a release is English: people read it in their language.
A sentence is known by the English entry of the catalogue that it follows.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import NamedTuple

from kakurenbo.core.messages.catalogue import (
    Wording,
    _template,
    _translations,
    is_known,
    language,
    render,
)

_ONLY_SPOKEN = frozenset(
    {
        "argument",
        "claim",
        "cli",
        "click",
        "contests",
        "expects",
        "help",
        "knowledge",
        "option",
        "page",
        "usage",
        "verb",
    }
)
_LEAST_WORDS = 5  # characters that a form has of its own; with fewer it would fit sentences that it does not mean
_ANYTHING = r".+?"
_NAME, _STATE = r"[\w-]+", "disqualified|missing|refused|failed|withdrew"
_VALUES = {
    "team": _NAME,
    "attacker": _NAME,
    "round": _NAME,
    "state": _STATE,
    "score": _NAME,
    "number": r"[-+.\de]+|nan|inf",
    "bound": r"[^\w, ]+ ?[-+.\de]+",
}  # placeholders that do not stand for a phrase


def retold(english: str, spoken: str | None = None) -> str:
    """An English sentence of a document in a language, that of the moment by default; one without words there stays as it is.

    Examples
    --------
    >>> retold("handed in nothing")
    'handed in nothing'
    """
    told_in = spoken or language()
    return english if told_in == "en" or not english else _retold(english, told_in)


class _Told(NamedTuple):
    """A sentence told in a language, and how many of its English characters the catalogue knows: 0 where it stays English."""

    text: str
    known: int = 0


def _retold(english: str, spoken: str) -> str:
    return _told(english, spoken).text


@cache
def _told(english: str, spoken: str) -> _Told:
    """As one sentence, as a list, or as a place with a sentence: by the reading that knows most of it.

    A form with a comma or a colon of its own would be torn apart by the first reading that fits, and one that begins or ends
    with a placeholder would swallow what stands beside it.
    """
    readings = [_listed(english, spoken), _placed(english, spoken), _sentence(english, spoken)]
    best = max(readings, key=lambda told: told.known)
    return best if best.known else _after_known_place(english, spoken)


def _listed(english: str, spoken: str) -> _Told:
    """A list each entry of which is known; an entry may have commas of its own."""
    parts = english.split(", ")
    for size in range(1, len(parts)):
        head = _sentence(", ".join(parts[:size]), spoken)
        if head.known and (rest := _told(", ".join(parts[size:]), spoken)).known:
            separator = render("list.separator", {}, spoken).message
            return _Told(f"{head.text}{separator}{rest.text}", head.known + rest.known)
    return _Told(english)


def _sentence(english: str, spoken: str) -> _Told:
    """A fixed sentence, or one by its form."""
    code = _fixed().get(english)
    if code is not None and is_known(code, spoken):
        return _Told(_entry(code, spoken).message, len(english))
    return _formed(english, spoken)


def _placed(english: str, spoken: str) -> _Told:
    """A place, a colon and a sentence that is known."""
    place, colon, sentence = english.partition(": ")
    what = _told(sentence, spoken) if colon else _Told("")
    if not what.known:
        return _Told(english)
    where = _told(place, spoken)
    return _Told(f"{where.text}: {what.text}", where.known + what.known)


def _after_known_place(english: str, spoken: str) -> _Told:
    """A sentence that is not known, after words that are."""
    place, colon, sentence = english.partition(": ")
    where = _told(place, spoken) if colon else _Told("")
    return _Told(f"{where.text}: {sentence}", where.known) if where.known else _Told(english)


def _formed(english: str, spoken: str, least_words: int = _LEAST_WORDS) -> _Told:
    for known in _forms():
        matched = (
            known.form.fullmatch(english) if known.words >= least_words or known.strict else None
        )
        if matched is not None and is_known(known.code, spoken):
            parts = {name: _part(value, spoken) for name, value in matched.groupdict().items()}
            message, fix = _entry(known.code, spoken)
            told = _joined(message, fix, spoken) if fix and known.has_fix else message
            filled = _filled(told, {name: part.text for name, part in parts.items()})
            return _Told(filled, known.words + sum(part.known for part in parts.values()))
    return _Told(english)


def _joined(message: str, fix: str, spoken: str) -> str:
    return render("problem.sentence", {"message": message, "fix": fix}, spoken).message


def _part(english: str, spoken: str) -> _Told:
    """What stands for a placeholder may be a phrase with hardly a word of its own, such as "100 to 200"."""
    told = _told(english, spoken)
    return told if told.known else _formed(english, spoken, least_words=1)


class _Known(NamedTuple):
    """The form of an English sentence, the code of its words, and how long those are."""

    form: re.Pattern[str]
    code: str
    has_fix: bool
    words: int

    @classmethod
    def of(cls, template: str, code: str, *, has_fix: bool) -> _Known:
        return cls(re.compile(_form(template), re.DOTALL), code, has_fix, len(_words(template)))

    @property
    def strict(self) -> bool:
        """Whether no placeholder takes just anything."""
        return _ANYTHING not in self.form.pattern


@cache
def _fixed() -> dict[str, str]:
    """Codes of the sentences without placeholders by their English."""
    stored = reversed(_stored())
    return {message: code for code, (message, fix) in stored if "{" not in message and not fix}


@cache
def _forms() -> tuple[_Known, ...]:
    """Forms with most words of their own first, so that none that is nearly all placeholder takes another's sentence."""
    found = []
    for code, (message, fix) in _stored():
        if _words(message):
            found += [
                _Known.of(whole, code, has_fix=has_fix) for whole, has_fix in _wholes(message, fix)
            ]
    return tuple(sorted(found, key=lambda known: known.words, reverse=True))


def _entry(code: str, spoken: str) -> Wording:
    fix = _template(f"{code}.fix", spoken) or ""
    return Wording(_template(code, spoken) or "", fix)


def _stored() -> list[tuple[str, Wording]]:
    """The entries that documents can hold."""
    catalogue: dict[str | tuple[str, int], str] = _translations("en")._catalog  # type: ignore[attr-defined]
    entries = []
    for key, message in catalogue.items():
        code = key if isinstance(key, str) else key[0]
        if not code.endswith(".fix") and code.partition(".")[0] not in _ONLY_SPOKEN and code:
            entries.append((code, Wording(message, catalogue.get(f"{code}.fix", ""))))
    return sorted(entries, key=lambda entry: not entry[0].startswith(("word.", "error.")))


def _wholes(message: str, fix: str) -> list[tuple[str, bool]]:
    return [(f"{message}; {fix}", True), (message, False)] if fix else [(message, False)]


def _words(template: str) -> str:
    return "".join(literal for literal, *_ in string.Formatter().parse(template)).strip(" .,:;()")


def _form(template: str) -> str:
    """A regular expression for what a template can say; a placeholder that occurs again must say the same."""
    parts: list[str] = []
    seen: set[str] = set()
    for literal, name, spec, _ in string.Formatter().parse(template):
        parts.append(re.escape(literal))
        if name is not None:
            value = r"-?\d+" if spec == "d" else _VALUES.get(name, _ANYTHING)
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{value})")
            seen.add(name)
    return "".join(parts)


def _filled(template: str, given: dict[str, str]) -> str:
    """The values stand as the English sentence has them: quoted and punctuated already."""
    parts = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal + (given[name] if name is not None else ""))
    return "".join(parts)
