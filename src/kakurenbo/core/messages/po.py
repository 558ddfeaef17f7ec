"""Message catalogues as PO files, and compiled for gettext: used by the build and on first use."""

from __future__ import annotations

import ast
import contextlib
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_MAGIC = 0x950412DE  # with which compiled catalogues begin
_CONTEXT, _FORMS = "\x04", "\0"  # what separates a context from an id, and the forms of a plural


class Entry(NamedTuple):
    """One message: context, id, id of the plural (empty if there is none), and its forms."""

    context: str
    id: str
    plural: str
    forms: tuple[str, ...]


def parse_po(text: str) -> list[Entry]:
    """Return the entries of a PO file; the first, with the empty id, is its header."""
    entries = []
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if not line.startswith('"'):
                key, _, line = line.partition(" ")
            fields[key] = fields.get(key, "") + ast.literal_eval(line)
        if "msgid" in fields:
            forms = tuple(value for name, value in fields.items() if name.startswith("msgstr"))
            plural = fields.get("msgid_plural", "")
            entries.append(Entry(fields.get("msgctxt", ""), fields["msgid"], plural, forms))
    return entries


def format_po(header: str, entries: Iterable[Entry]) -> str:
    """Return a PO file with its entries in alphabetical order."""
    lines = ['msgid ""', 'msgstr ""', *(_quoted(f"{line}\n") for line in header.splitlines()), ""]
    for entry in sorted(entries):
        if entry.context:
            lines.append(f"msgctxt {_quoted(entry.context)}")
        lines.append(f"msgid {_quoted(entry.id)}")
        if entry.plural:
            lines.append(f"msgid_plural {_quoted(entry.plural)}")
            lines += [f"msgstr[{n}] {_quoted(form)}" for n, form in enumerate(entry.forms)]
        else:
            lines.append(f"msgstr {_quoted(entry.forms[0])}")
        lines.append("")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(character, escape)
    return f'"{text}"'


def compile_po(text: str) -> bytes:
    """Return the compiled form of a PO file, which ``gettext`` reads."""
    pairs = []
    for entry in parse_po(text):
        key = f"{entry.context}{_CONTEXT}{entry.id}" if entry.context else entry.id
        if entry.plural:
            key += _FORMS + entry.plural
        pairs.append((key.encode(), _FORMS.join(entry.forms).encode()))
    pairs.sort()
    count = len(pairs)
    start = 28 + 16 * count  # of the texts: after the header and two tables of length and offset
    tables, texts = [], bytearray()
    for column in (0, 1):
        for pair in pairs:
            tables += [len(pair[column]), start + len(texts)]
            texts += pair[column] + b"\0"
    head = struct.pack("<7I", _MAGIC, 0, count, 28, 28 + 8 * count, 0, start)
    return head + struct.pack(f"<{4 * count}I", *tables) + bytes(texts)


def compiled(folder: Path, language: str) -> bytes:
    """Return the compiled catalogue of a language; compile it if its PO file is newer."""
    source, target = folder / f"{language}.po", folder / f"{language}.mo"
    with contextlib.suppress(FileNotFoundError):
        if not source.exists() or target.stat().st_mtime_ns >= source.stat().st_mtime_ns:
            return target.read_bytes()
    data = compile_po(source.read_text(encoding="utf-8"))
    with contextlib.suppress(OSError):  # an installation that may not be written
        part = target.with_name(f"{target.name}.{os.getpid()}")
        part.write_bytes(data)
        part.replace(target)
    return data
