"""Bytes as text: what every text file of a contest must be, and what is put right with a notice."""

from __future__ import annotations

import re
import shlex
from typing import Any

from kakurenbo.core.messages import Message
from kakurenbo.core.problems import InputError, Severity, notice

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a cell begins that a spreadsheet takes for a formula."""
ZIP = b"PK\x03\x04"
"""With these bytes a zip archive begins."""
_GZIP = b"\x1f\x8b\x08"
_UTF16, _UTF32 = (b"\xff\xfe", b"\xfe\xff"), b"\xff\xfe\0\0"  # what such texts begin with
_BOM = b"\xef\xbb\xbf"
_OWN_CHARACTERS = re.compile("[\ue000-\uf8ff]")


def plain_text(data: bytes, file: str) -> bytes:
    """Return UTF-8 text without byte-order mark; raise InputError where the file is no text at all."""
    if data.startswith(_BOM):
        notice("text.bom", file=file, row=1)
        while data.startswith(_BOM):  # some tools put one before another's
            data = data[len(_BOM) :]
    if not data or data.isspace():
        raise _malformed("text.empty", file)
    if data.startswith(ZIP):
        raise _malformed("text.zip", file)
    if data.startswith(_GZIP):
        raise _malformed("text.gzip", file)
    if data.startswith(_UTF16) and not data.startswith(_UTF32):
        raise _malformed("text.utf16", file, row=1, how=_how_to_convert(file, "UTF-16"))
    if b"\0" in data:
        raise _malformed("text.nul", file, row=_line(data, data.index(b"\0")))
    if not data.isascii():
        _check_utf8(data, file)
    return data


def _malformed(code: str, file: str, **parameters: Any) -> InputError:
    return InputError.of(code, file, severity=Severity.MALFORMED, **parameters)


def note_line_ends(data: bytes, file: str) -> None:
    """A notice where line ends are not ``\\n``."""
    if b"\r" in data:
        notice("text.line_ends", file=file, row=_line(data, data.index(b"\r")))


def unix_lines(data: bytes) -> bytes:
    """The same text with ``\\n`` line ends."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _check_utf8(data: bytes, file: str) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{data[error.start]:02x}"
        guess, charset = _likely_encoding(data)
        how = _how_to_convert(file, charset)
        row = _line(data, error.start)
        raise _malformed(
            "text.not_utf8", file, row=row, value=byte, guess=guess, how=how
        ) from error


def _how_to_convert(file: str, charset: str) -> Message | str:
    return (
        Message("encoding.convert", {"path": shlex.quote(file), "file": file, "charset": charset})
        if file
        else ""
    )


def _likely_encoding(data: bytes) -> tuple[Message | str, str]:
    """What it looks like, in words, and as iconv calls it; by default what Windows writes in Western Europe."""
    try:
        read = data.decode("cp932")
    except UnicodeDecodeError:
        return "", "WINDOWS-1252"
    # Characters of nobody's own making are what umlauts of other encodings look like there.
    return (
        ("", "WINDOWS-1252")
        if _OWN_CHARACTERS.search(read)
        else (Message("encoding.shift_jis"), "CP932")
    )


def _line(data: bytes, position: int) -> int:
    """Line of a byte, from 1."""
    return data.count(b"\n", 0, position) + 1
