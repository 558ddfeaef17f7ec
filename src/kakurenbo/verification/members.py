"""The members of a zip, before it is unpacked: whatever unpacks it must get the same files."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Iterable
from zipfile import ZipInfo

from kakurenbo.verification.differences import Difference

_HANDED_IN = re.compile(r"(?:[^/]+/)?rounds/[^/]+/(?:submissions|guesses)/")
"""Where names are those that teams gave: two of them may differ by case alone."""


def check_members(members: Iterable[ZipInfo]) -> None:
    """Refuse links, names that lead elsewhere, and names that stand for one file twice.

    Raises
    ------
    Difference
        Names the member.
    """
    seen: dict[str, str] = {}
    for member in members:
        name = member.orig_filename
        if not _is_plain(name) or stat.S_IFMT(member.external_attr >> 16) not in (
            0,
            stat.S_IFREG,
            stat.S_IFDIR,
        ):
            raise Difference("verification.no_file", name)
        key = name.rstrip("/")
        if not _HANDED_IN.match(name):
            key = unicodedata.normalize("NFC", key).casefold()
        if key in seen:
            raise Difference("verification.member_twice", name, "", seen[key])
        seen[key] = name


def _is_plain(name: str) -> bool:
    parts = name.removesuffix("/").split("/")
    return (
        not set(name) & {"\\", "\0"}
        and not re.match("[A-Za-z]:", name)
        and not {"", ".", ".."} & set(parts)
    )
