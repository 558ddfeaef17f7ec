"""What a backup holds, told by itself: every part with its digest, and the logs as they were at that moment."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from kakurenbo.core.errors import UsageError

FORMAT = 1
DATABASE, SECRET_KEY = "database.dump", "secret-key"
OPEN_FOLDER, SECRET_FOLDER = "files", "secret"


class Tree(Struct, frozen=True):
    """The log of one contest: its name, how many entries it has, and the root over them."""

    contest: str
    size: int
    root: str


class Part(Struct, frozen=True):
    """A file of the backup, under its name in it."""

    name: str
    size: int
    sha256: str


class Manifest(Struct, frozen=True):
    """All that a backup holds.

    Attributes
    ----------
    format : int
    kakurenbo, postgres : str
        The versions that made it.
    made_at : str
        The moment that the database is of.
    demo : bool
        Whether the judge is one to look at.
    trees : tuple of Tree
    parts : tuple of Part
        In the order in which they lie in the backup.
    """

    format: int
    kakurenbo: str
    postgres: str
    made_at: str
    demo: bool
    trees: tuple[Tree, ...]
    parts: tuple[Part, ...]

    def as_bytes(self) -> bytes:
        """As it lies in the backup."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes, path: str) -> Manifest:
        """What a backup says of itself."""
        try:
            told = msgspec.json.decode(content)
            if isinstance(told, dict) and told.get("format") != FORMAT:
                raise UsageError(
                    "backup.other_format", path=path, version=str(told.get("kakurenbo", "?"))
                )
            return msgspec.convert(told, cls)
        except msgspec.MsgspecError:
            raise UsageError("backup.foreign", path=path, part="manifest") from None
