"""Receipts: one entry of a log, its salt, the way from it to the root, and the judge's signature under that root."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kakurenbo.trust import checkpoints
from kakurenbo.trust.checkpoints import Checkpoint, NotWhatItSays, unhexed, whole_number
from kakurenbo.trust.entries import SALT_BYTES, leaf_of
from kakurenbo.trust.tree import root_from_path

FORMAT = "kakurenbo receipt 1"
_HASH_BYTES = 32


@dataclass(frozen=True)
class Receipt:
    """Proves, to anybody and without the judge, that an entry was in the log when its checkpoint was signed.

    Attributes
    ----------
    number : int
        The entry's place in the log, from 0.
    entry : str
        As it is written in the log: JSON.
    salt : bytes
    path : tuple of bytes
        The inclusion proof of RFC 6962, section 2.1.1, from the leaf upwards.
    checkpoint : Checkpoint
    """

    number: int
    entry: str
    salt: bytes
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    @property
    def leaf(self) -> bytes:
        return leaf_of(self.salt, self.entry.encode())

    def told(self) -> dict[str, Any]:
        """What the entry says."""
        try:
            told = json.loads(self.entry)
        except ValueError:
            told = None
        if (
            not isinstance(told, dict)
            or not isinstance(told.get("body"), dict)
            or told.get("number") != self.number
        ):
            raise NotWhatItSays("entry", "verification.bad_entry")
        return told

    def check(self) -> None:
        """Raise :class:`NotWhatItSays` for the first thing that does not hold: signature, entry, path."""
        self.checkpoint.check()
        self.told()
        if (
            root_from_path(self.number, self.checkpoint.size, self.leaf, self.path)
            != self.checkpoint.root
        ):
            raise NotWhatItSays("path", "verification.bad_path")

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "format": FORMAT,
            "number": self.number,
            "entry": self.entry,
            "salt": self.salt.hex(),
            "path": [step.hex() for step in self.path],
            "checkpoint": self.checkpoint.as_json(),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Receipt:
        """From what was kept; raises :class:`NotWhatItSays` where a part is missing or no such part."""
        path, entry, checkpoint = kept.get("path"), kept.get("entry"), kept.get("checkpoint")
        if not isinstance(path, list):
            raise NotWhatItSays("path", "verification.not_a_list")
        if not isinstance(entry, str):
            raise NotWhatItSays("entry", "verification.not_a_text")
        if not isinstance(checkpoint, dict):
            raise NotWhatItSays("checkpoint", "verification.not_an_object")
        return cls(
            whole_number(kept, "number"),
            entry,
            unhexed(kept, "salt", SALT_BYTES),
            tuple(unhexed({"path": step}, "path", _HASH_BYTES) for step in path),
            Checkpoint.from_json(checkpoint),
        )


def read_kept(content: object) -> Receipt | Checkpoint:
    """A receipt or a checkpoint that somebody kept, by the format that it tells."""
    if isinstance(content, dict) and content.get("format") == FORMAT:
        return Receipt.from_json(content)
    if isinstance(content, dict) and content.get("format") == checkpoints.FORMAT:
        return Checkpoint.from_json(content)
    raise NotWhatItSays("format", "verification.unknown_format")
