"""Names that people cannot tell from each other."""

from __future__ import annotations

import unicodedata

_CAPITALS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХҮԌԚԜ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ABESIJKMHOPCTYXYGQW" + "ABEZHIKMNOPTYX",
)
_SMALL = str.maketrans(
    "аеіјорсухѕһԁԛԝүɡı" + "αικνορυ",
    "aeijopcyxshdqwygi" + "aikvopu",
)
"""Cyrillic and Greek letters to those of Latin that look the same; capitals apart, since small ones may look otherwise."""


def as_seen(name: str) -> str:
    """What people see of a name: the same for names that look the same, whatever letters they are written in.

    Examples
    --------
    >>> as_seen("Fo\\u0445es"), as_seen("\\uff26OXES"), as_seen("\\u0412ears  1")
    ('foxes', 'foxes', 'bears 1')
    """
    latin = unicodedata.normalize("NFKC", name).translate(_CAPITALS).casefold().translate(_SMALL)
    return " ".join(unicodedata.normalize("NFKC", latin).split())
