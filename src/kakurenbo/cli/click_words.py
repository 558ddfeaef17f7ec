"""What click says itself, in the language of the moment, and how it breaks lines of characters that are two columns wide."""

from __future__ import annotations

import re
import unicodedata

import click._textwrap
import click.core
import click.decorators
import click.exceptions
import click.formatting
import click.parser
import click.types

from kakurenbo.core.messages import language, of_click, text

_SPEAKING = (
    click.core,
    click.decorators,
    click.exceptions,
    click.formatting,
    click.parser,
    click.types,
)
_MEASURING = (click.formatting, click._textwrap)
_WIDE = "WF"  # the classes of East Asian width that take two columns
_NOT_FIRST = (
    "、。，．」』）】・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)"  # signs that do not begin a line
)


def translate_click() -> None:
    """Let click ask our catalogue, and measure texts as terminals show them.

    It calls gettext, which knows only compiled files and the locale of the process, by a name of its own in each module; and
    it takes every character for one column.
    """
    for module in _SPEAKING:
        vars(module).update(_=translated, ngettext=_translated_number)
    for module in _MEASURING:
        vars(module).update(term_len=columns)
    click.types.IntRange.name = click.types.IntParamType.name = text("cli.integer")
    click.types.FloatRange.name = click.types.FloatParamType.name = text("cli.number")
    click._textwrap.TextWrapper = _WideWrapper  # type: ignore[misc]


def translated(sentence: str) -> str:
    """A sentence of click's; one that the catalogue lacks stays English."""
    return of_click(sentence, language())


def columns(shown: str) -> int:
    """How many columns of a terminal a text takes.

    Examples
    --------
    >>> columns("仮名 ID")
    7
    """
    return sum(
        2 if unicodedata.east_asian_width(char) in _WIDE else 1 for char in click.unstyle(shown)
    )


class _WideWrapper(click._textwrap.TextWrapper):
    """May break a line after any wide character, but begins none with a sign that closes a phrase."""

    def _split(self, text: str) -> list[str]:
        chunks: list[str] = []
        for word in super()._split(text):
            for part in re.findall(r"[\x00-\u10ff]+|.", word):
                if chunks and part[0] in _NOT_FIRST and chunks[-1].strip():
                    chunks[-1] += part
                else:
                    chunks.append(part)
        return chunks


def _translated_number(singular: str, plural: str, count: int) -> str:
    return translated(singular if count == 1 else plural)
