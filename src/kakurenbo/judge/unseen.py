"""Characters that nobody sees in a name: control characters, line ends, and those that turn the direction of words."""

from __future__ import annotations

import unicodedata


def is_seen(words: str) -> bool:
    """Whether people see every character of a name; spaces of every width are seen, tabs and line ends are not.

    Examples
    --------
    >>> is_seen("Foxes 1"), is_seen("\u5c71\u7530\u3000\u592a\u90ce"), is_seen("Foxes\\t1"), is_seen("Foxes\\u202e1")
    (True, True, False, False)
    """
    return all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in words)
