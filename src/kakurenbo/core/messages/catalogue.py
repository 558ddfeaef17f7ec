"""Messages by code: what people read, in the language that they read.

Each language has a PO file whose message ids are codes. ``code.fix`` holds what to do about the problem ``code``. Messages
of click, which are ids in English, have the context ``click``.

A placeholder ``{name}`` shows a parameter: whole numbers with thousands separators (``{name:d}`` without), lists joined,
messages in the language asked for, texts with control characters escaped. ``{name:q}`` puts a text that is not a number
into quotation marks, ``{name!r}`` quotes it as Python does, and ``{file:+commas}`` names a file to make of that one.
"""

from __future__ import annotations

import errno
import gettext
import io
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from kakurenbo.core.messages.po import compiled

LANGUAGES = ("en", "ja")
_FALLBACK = "en"
_VARIABLE = "KAKURENBO_LANG"
_MAX_SHOWN_LENGTH = 60
_language: ContextVar[str] = ContextVar("language", default="")
P = ParamSpec("P")
T = TypeVar("T")


class Wording(NamedTuple):
    """What is wrong, and what to do about it (empty where the message says it)."""

    message: str
    fix: str = ""


@dataclass(frozen=True)
class Message:
    """A code with its parameters: text in a language only when a person reads it.

    Parameters
    ----------
    code : str
    params : mapping of str to object
        Texts, numbers, messages, or lists of them.

    Examples
    --------
    >>> Message("domain.integer", {"low": 17, "high": 90}).text("en")
    'an integer from 17 to 90'
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def text(self, language: str = "") -> str:
        """Return message and fix in a language, by default the current one."""
        spoken = language or current_language()
        wording = render(self.code, self.params, spoken)
        if not wording.fix:
            return wording.message
        return render("problem.sentence", wording._asdict(), spoken).message

    def stored(self) -> StoredText:
        """Return the English text, as files hold it, with this message."""
        return StoredText(self.text("en"), Message(self.code, _plain(self.params)))

    def as_json(self) -> dict[str, Any]:
        """Return the message as documents and databases store it."""
        return {"code": self.code, "params": _plain(self.params)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Message:
        """Return a stored message."""
        return cls(stored["code"], stored["params"])

    def __str__(self) -> str:
        return self.text()


def _plain(value: Any) -> Any:
    """Return a parameter as JSON has it."""
    if isinstance(value, Message):
        return value.as_json()
    if isinstance(value, StoredText):
        return value.message.as_json()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    return value if isinstance(value, int | float | None) else str(value)


class StoredText(str):
    """English text of a message, as files hold it, that still has its message.

    Files keep the text under the key that readers know, and code and parameters beside it (:func:`messages_of`).

    Examples
    --------
    >>> text = Message("problem.input").stored()
    >>> text, text.message
    ('input', Message(code='problem.input', params={}))
    """

    message: Message

    def __new__(cls, english: str, message: Message) -> StoredText:
        text = super().__new__(cls, english)
        text.message = message
        return text

    def __getnewargs__(self) -> tuple[str, Message]:  # type: ignore[override]
        return str(self), self.message


def messages_of(*values: Any) -> dict[str, Message]:
    """Return the messages of stored texts, in mappings and sequences too, by their English.

    Examples
    --------
    >>> messages_of("a name", [Message("problem.input").stored()])
    {'input': Message(code='problem.input', params={})}
    """
    found: dict[str, Message] = {}
    for value in values:
        if isinstance(value, StoredText):
            found[str(value)] = value.message
        elif isinstance(value, Mapping):
            found |= messages_of(*value.values())
        elif isinstance(value, list | tuple):
            found |= messages_of(*value)
    return found


def with_message(english: str, messages: Mapping[str, Any]) -> str:
    """Return a text that was read from a file with its message, if the file has one."""
    message = messages.get(english)
    if message is None:
        return english
    known = message if isinstance(message, Message) else Message.from_json(message)
    return StoredText(english, known)


def join_stored(texts: Iterable[str], separator: str = ", ") -> str:
    """Join the texts that are not empty; the messages of stored ones are kept.

    Examples
    --------
    >>> joined = join_stored([Message("problem.input").stored(), "a name"])
    >>> joined, translated(joined, "ja")
    ('input, a name', '入力, a name')
    """
    joined = ""
    for text in filter(None, texts):
        if not joined:
            joined = text
        elif isinstance(joined, StoredText) or isinstance(text, StoredText):
            pair = Message("text.pair", {"first": joined, "by": separator, "then": text})
            joined = pair.stored()
        else:
            joined = f"{joined}{separator}{text}"
    return joined


def translated(text: str, language: str = "") -> str:
    """Return a stored text in a language; one without its message stays as it is.

    Examples
    --------
    >>> translated(Message("problem.input").stored(), "ja")
    '入力'
    """
    return text.message.text(language) if isinstance(text, StoredText) else text


def language() -> str:
    """Return the current language.

    That of a server's user; ``$KAKURENBO_LANG``; that of the locale, if it is supported; else English.
    """
    if chosen := _language.get():
        return chosen
    # The order in which POSIX consults the locale's variables for messages.
    for name in (_VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            wanted = value[:2].lower()
            return wanted if wanted in LANGUAGES else _FALLBACK
    return _FALLBACK


current_language = language


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use a language within, in this process and in those that it starts."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = language
    try:
        with speaking_to(language):
            yield
    finally:
        if before is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = before


@contextmanager
def speaking_to(language: str) -> Iterator[None]:
    """Use a language within, in this thread alone: for servers.

    Examples
    --------
    >>> with speaking_to("ja"):
    ...     text("problem.input")
    '入力'
    """
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def text(code: str, default: str | None = None, /, **params: Any) -> str:
    """Return the message of a code in the current language, or ``default`` if there is none.

    Examples
    --------
    >>> text("problem.input"), text("anonymizers.of_a_plugin", "Its docstring.")
    ('input', 'Its docstring.')
    """
    if default is not None and not (is_known(code, language()) or is_known(code, _FALLBACK)):
        return default
    return render(code, params, language()).message


def is_known(code: str, language: str) -> bool:
    """Return whether a language has a message of this code."""
    return _template(code, language) is not None


def of_click(sentence: str, language: str) -> str:
    """Return a sentence of click in a language; one without translation stays English."""
    return _translations(language).pgettext("click", sentence)


def render(code: str, params: Mapping[str, Any], language: str) -> Wording:
    """Return message and fix of a code.

    Parameters
    ----------
    code : str
    params : mapping of str to object
        The values of the placeholders. ``count`` also chooses the plural form.
    language : str
        One of ``LANGUAGES``. A code of a plugin without a message in it is shown in English.

    Returns
    -------
    Wording
        An unknown code (of a plugin that is not loaded) is shown as it is, with its parameters.

    Examples
    --------
    >>> render("source.too_large", {"limit": 100_000_000}, "en").message
    'the file is larger than 100,000,000 bytes'
    """
    count = params.get("count")
    known = language if is_known(code, language) else _FALLBACK
    template = _template(code, known, count if isinstance(count, int) else None)
    if template is None:
        shown = ", ".join(f"{name}={value}" for name, value in params.items() if value is not None)
        return Wording(escaped(f"{code} ({shown})") if shown else code)
    values = {name: _shown(value, language) for name, value in params.items()}
    fix = _template(f"{code}.fix", known) or ""
    return Wording(template.format_map(values), fix.format_map(values))


def system_error(error: OSError) -> Message:
    """Return what the operating system says."""
    code = f"errno.{errno.errorcode.get(error.errno or 0, '')}"
    return Message(code if is_known(code, _FALLBACK) else str(error.strerror))


def add(messages: Mapping[str, Mapping[str, str | tuple[str, str]]]) -> None:
    """Add the messages of a plugin: ``{"en": {code: (message, fix)}, "ja": {...}}``.

    A message without fix is a single text. English is needed, Japanese optional. A code that has another message is an
    error: begin codes with the name of the plugin.
    """
    unknown = set(messages) - set(LANGUAGES)
    if unknown or set(messages.get("ja", {})) - set(messages.get("en", {})):
        raise ValueError(
            f"sentences are given in English, and in Japanese too if there are any; got {sorted(messages)}"
        )
    for name, entries in messages.items():
        for code, entry in entries.items():
            message, fix = (entry, "") if isinstance(entry, str) else entry
            for key, words in ((code, message), (f"{code}.fix", fix)):
                if words and (_template(key, name) or words) != words:
                    raise ValueError(f"the catalogue has other words for {code!r} already")
                if words:
                    _ADDED[name][key] = words


_ADDED: dict[str, dict[str, str]] = {name: {} for name in LANGUAGES}
"""Messages of plugins."""


@cache
def _translations(language: str) -> gettext.GNUTranslations:
    return gettext.GNUTranslations(io.BytesIO(compiled(Path(__file__).parent, language)))


def _template(code: str, language: str, count: int | None = None) -> str | None:
    if not code:  # the header of the catalogue
        return None
    translations = _translations(language)
    found = code if count is None else translations.ngettext(code, code, count)
    if found == code:
        found = translations.gettext(code)
    return found if found != code else _ADDED[language].get(code)


def shorten(value: str, length: int = _MAX_SHOWN_LENGTH) -> str:
    r"""Return at most ``length`` characters of a hostile value, safe to print.

    Examples
    --------
    >>> shorten("a\x1b[31m")
    'a\\x1b[31m'
    """
    safe = escaped(value[:length])
    return safe if len(value) <= length else safe + "…"


def escaped(text: str) -> str:
    """Return a text without characters that act on a terminal or end a line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def _shown(value: Any, language: str) -> Any:
    if isinstance(value, Mapping):  # a message that was stored within another
        value = Message.from_json(value)
    if isinstance(value, StoredText):
        value = value.message
    if isinstance(value, Message):
        return _Text(value.text(language))
    if isinstance(value, str):
        return _Text(escaped(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _Whole(value)
    if isinstance(value, list | tuple):
        separator = render("list.separator", {}, language).message
        return _Text(separator.join(format(_shown(part, language)) for part in value))
    return value


def derived_name(file: str, suffix: str) -> str:
    """Return the name of a file made from another one.

    Examples
    --------
    >>> derived_name("original.csv", "commas"), derived_name("original.csv.gz", "utf8"), derived_name("table", "points")
    ('original-commas.csv', 'original-utf8.csv', 'table-points.csv')
    """
    stem, dot, ending = file.removesuffix(".gz").rpartition(".")
    return f"{stem}-{suffix}.{ending}" if stem and dot else f"{ending}-{suffix}.csv"


class _Text(str):
    """A text parameter; ``:q`` quotes it unless it is a number, ``:+suffix`` derives a file name for a shell."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec.startswith("+"):
            return shlex.quote(derived_name(str(self), spec[1:]))
        if spec != "q":
            return super().__format__(spec)
        return str(self) if re.fullmatch(r"[-+.\d]+", self) else f'"{self}"'


class _Whole(int):
    """A whole number; shown with thousands separators."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return super().__format__(spec or ",")
