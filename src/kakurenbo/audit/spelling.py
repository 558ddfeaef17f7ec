"""Released texts that are the original's in another guise, by a rule that anybody can try: spelling, affixes, digests.

A digest of a value is a name for it that everybody can make who knows the value, so it hides no more than the value does.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

_LONGEST_AFFIX = 40  # characters
_KNOWN_WITHOUT = (
    0.5  # share of the texts that must be values of the original's once an affix is off
)
_TRIED_FIRST = 300  # of the commonest values of the original's, by which a digest is recognized
_SHORTEST_DIGEST = 4  # characters
_FEWEST_MATCHED = 0.3  # share of the texts that a rule must explain
_BY_ACCIDENT = 0.05  # share of the texts that digests so short may explain of themselves
_DIGESTS = (
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha3_256",
    "sha3_512",
    "blake2b",
    "blake2s",
)
_NOT_LETTERS = re.compile(r"[\W_]+")
_LABEL = re.compile(r".*[:$}=|/_-]")  # what stands before a digest, as in sha256:9f86d081
_HEXADECIMAL = re.compile(r"[0-9a-f]+")
Known = Callable[[str], bool]
Mask = Callable[[bytes], str]


@dataclass(frozen=True)
class Disguise:
    """What released texts stand for, and by which rule: ``spelling``, or the name of a digest or an encoding."""

    rule: str
    values: dict[str, str]


def plain_values(
    column: str,
    texts: Sequence[str],
    known: Known,
    values: Collection[str],
    others: Sequence[str] = (),
) -> Disguise | None:
    """What texts that nobody understands stand for; None where no rule explains them.

    Parameters
    ----------
    column : str
        Its name, which digests may be salted with.
    texts : sequence of str
        Released, different, none of them understood.
    known : callable
        Whether a text is a value of the column.
    values : collection of str
        Of the original and others, the commonest first.
    others : sequence of str
        Released texts that may be understood, but are no values of anybody: a digest may be all digits.
    """
    return (
        _without_affixes(texts, known)
        or _spelled(texts, known, values)
        or digested(column, [*texts, *others], values)
    )


# -- spelling ------------------------------------------------------------------------------------------------------------


def _without_affixes(texts: Sequence[str], known: Known) -> Disguise | None:
    """Where something was put before or behind every value."""
    before = len(_shared_beginning(texts)[:_LONGEST_AFFIX])
    behind = len(_shared_beginning([text[::-1] for text in texts])[:_LONGEST_AFFIX])
    some = texts[:: -(-len(texts) // _TRIED_FIRST)]
    best, cut = _KNOWN_WITHOUT, (0, 0)
    for first in range(before + 1):
        for last in range(behind + 1):
            if not first and not last:
                continue
            share = sum(known(_inner(text, first, last)) for text in some) / len(some)
            if share > best:
                best, cut = share, (first, last)
    found = {text: _inner(text, *cut) for text in texts if any(cut) and known(_inner(text, *cut))}
    return Disguise("spelling", found) if found else None


def _shared_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)  # whatever these two share all between them do
    length = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        len(first),
    )
    return first[:length]


def _inner(text: str, first: int, last: int) -> str:
    return text[first : len(text) - last].strip()


def _spelled(texts: Sequence[str], known: Known, values: Collection[str]) -> Disguise | None:
    """Where spaces, signs, letters' cases, widths or characters without width differ."""
    by_letters: dict[str, str | None] = {}
    for value in values:
        for letters in {_letters(value), _words(value)}:
            by_letters[letters] = (
                value if by_letters.get(letters, value) == value else None
            )  # of two nobody knows which
    found = {}
    for text in texts:
        letters = _letters(text)
        named = by_letters.get(letters) or by_letters.get(_words(text))
        if letters and named is not None:
            found[text] = named
        elif letters not in by_letters and known(letters):
            found[text] = letters
    return Disguise("spelling", found) if len(found) > _FEWEST_MATCHED * len(texts) else None


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def _words(text: str) -> str:
    """The words of a text whatever their order."""
    return " ".join(sorted(_letters(word) for word in text.split()))


# -- digests and encodings -----------------------------------------------------------------------------------------------


def digested(column: str, texts: Sequence[str], values: Collection[str]) -> Disguise | None:
    """Where texts are digests or encodings of values, whole or their beginnings."""
    if not texts:
        return None
    shared = _shared_beginning(texts)
    bare = {text: _bare(text, shared) for text in texts}
    shortest, longest = (size(map(len, bare.values())) for size in (min, max))
    if shortest < _SHORTEST_DIGEST:
        return None
    # Digests are as long as each other; a part of one is its beginning. Encodings are as long as what they encode.
    length = shortest if shortest == longest else None
    sought = set(bare.values())
    first = list(values)[:_TRIED_FIRST]
    best, most = None, 0
    for rule, mask in _masks():
        for form in _forms(column):
            found = sum(_cut(mask, form(value), length) in sought for value in first)
            if found > most:
                best, most = (rule, mask, form), found
    if best is None:
        return None
    rule, mask, form = best
    named = {_cut(mask, form(value), length): value for value in values}
    found_values = {text: named[inner] for text, inner in bare.items() if inner in named}
    by_accident = len(named) / (10 if all(map(str.isdecimal, sought)) else 16) ** (
        length or longest
    )
    enough = len(found_values) > _FEWEST_MATCHED * len(texts)
    return Disguise(rule, found_values) if enough and by_accident < _BY_ACCIDENT else None


def _bare(text: str, shared: str) -> str:
    """A text without the label that all of them begin with, in small letters; a number with dashes without these."""
    label = _LABEL.match(shared)
    inner = (text[label.end() :] if label else text).strip().lower()
    plain = inner.replace("-", "")
    return plain if _HEXADECIMAL.fullmatch(plain) else inner


def _cut(mask: Mask, value: str, length: int | None) -> str:
    return mask(value.encode())[:length]


def _base64_digest(name: str, value: bytes) -> str:
    return base64.b64encode(hashlib.new(name, value).digest()).decode().lower()


def _masks() -> Iterator[tuple[str, Mask]]:
    for name in _DIGESTS:
        yield name, lambda value, name=name: hashlib.new(name, value).hexdigest()  # type: ignore[misc]
        yield name, partial(_base64_digest, name)
    yield "crc32", lambda value: f"{zlib.crc32(value):08x}"
    yield "crc32", lambda value: str(zlib.crc32(value))
    yield "base64", lambda value: base64.b64encode(value).decode().lower()
    yield "hex", lambda value: value.hex()


def _forms(column: str) -> Iterator[Callable[[str], str]]:
    """How a value may be written before it is digested; salted with what everybody knows."""
    yield lambda value: value
    yield str.lower
    yield str.upper
    yield lambda value: f"{value}.0"
    yield lambda value: f"{value}\n"
    for between in ("", ":", "=", "_", "-", "|"):
        yield lambda value, between=between: f"{column}{between}{value}"  # type: ignore[misc]
    yield lambda value: f"{value}{column}"
