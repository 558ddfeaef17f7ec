"""Bytes as text: what every text file of a contest must be, and what is put right with a notice."""

from __future__ import annotations

import re
import shlex
from typing import Any

from kakurenbo.messages import Phrase
from kakurenbo.tables.problems import ProblemCollector, Severity

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a cell begins that a spreadsheet takes for a formula."""
ZIP = b"PK\x03\x04"
"""With these bytes a zip archive begins."""
_GZIP = b"\x1f\x8b\x08"
_UTF16, _UTF32 = (b"\xff\xfe", b"\xfe\xff"), b"\xff\xfe\0\0"  # what such texts begin with
_BOM = b"\xef\xbb\xbf"
_OWN_CHARACTERS = re.compile("[\ue000-\uf8ff]")


def plain_text(data: bytes, found: ProblemCollector) -> bytes | None:
    """UTF-8 text without byte-order mark, or None where the file cannot be read as text at all."""
    if data.startswith(_BOM):
        found.add("text.bom", row=1, severity=Severity.NOTICE)
        while data.startswith(_BOM):  # some tools put one before another's
            data = data[len(_BOM) :]
    if not data or data.isspace():
        found.add("text.empty", severity=Severity.MALFORMED)
        return None
    if data.startswith(ZIP):
        found.add("text.zip", severity=Severity.MALFORMED)
        return None
    if data.startswith(_GZIP):
        found.add("text.gzip", severity=Severity.MALFORMED)
        return None
    if data.startswith(_UTF16) and not data.startswith(_UTF32):
        found.add("text.utf16", row=1, severity=Severity.MALFORMED, how=_how_to_convert(found.file, "UTF-16"))
        return None
    if b"\0" in data:
        found.add("text.nul", row=_line(data, data.index(b"\0")), severity=Severity.MALFORMED)
        return None
    return data if data.isascii() or _is_utf8(data, found) else None


def note_line_ends(data: bytes, found: ProblemCollector) -> None:
    """A notice where line ends are not ``\\n``."""
    if b"\r" in data:
        found.add("text.line_ends", row=_line(data, data.index(b"\r")), severity=Severity.NOTICE)


def unix_lines(data: bytes) -> bytes:
    """The same text with ``\\n`` line ends."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _is_utf8(data: bytes, found: ProblemCollector) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{data[error.start]:02x}"
        guess, charset = _likely_encoding(data)
        parameters: dict[str, Any] = {"guess": guess, "how": _how_to_convert(found.file, charset)}
        found.add("text.not_utf8", row=_line(data, error.start), value=byte, severity=Severity.MALFORMED, **parameters)
        return False
    return True


def _how_to_convert(file: str, charset: str) -> Phrase | str:
    return Phrase("encoding.convert", {"path": shlex.quote(file), "file": file, "charset": charset}) if file else ""


def _likely_encoding(data: bytes) -> tuple[Phrase | str, str]:
    """What it looks like, in words, and as iconv calls it; by default what Windows writes in Western Europe."""
    try:
        read = data.decode("cp932")
    except UnicodeDecodeError:
        return "", "WINDOWS-1252"
    # Characters of nobody's own making are what umlauts of other encodings look like there.
    return ("", "WINDOWS-1252") if _OWN_CHARACTERS.search(read) else (Phrase("encoding.shift_jis"), "CP932")


def _line(data: bytes, position: int) -> int:
    """Line of a byte, from 1."""
    return data.count(b"\n", 0, position) + 1
