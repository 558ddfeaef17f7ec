"""The messages of a language, as its PO file has them."""

from __future__ import annotations

from pathlib import Path

from kakurenbo.core import messages
from kakurenbo.core.messages.po import Entry, parse_po


def po_entries(language: str) -> list[Entry]:
    """Return all entries of a language but the header."""
    path = Path(messages.__file__).with_name(f"{language}.po")
    return parse_po(path.read_text("utf-8"))[1:]


def entries(language: str) -> dict[str, str]:
    """Return messages and fixes by code; of a plural, the last form."""
    return {entry.id: entry.forms[-1] for entry in po_entries(language) if not entry.context}
