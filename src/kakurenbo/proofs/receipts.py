"""Receipts: an entry of a log with its salt, inclusion proof and checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kakurenbo.proofs import log
from kakurenbo.proofs.log import (
    HASH_BYTES,
    SALT_BYTES,
    Checkpoint,
    ProofError,
    count_field,
    hex_field,
    leaf_of,
)
from kakurenbo.proofs.merkle import root_from_path

FORMAT = "kakurenbo receipt 1"


@dataclass(frozen=True)
class Receipt:
    """Proof, without the judge, that an entry was in the log when its checkpoint was signed.

    Attributes
    ----------
    number : int
        Position of the entry in the log, from 0.
    entry : str
        The entry as JSON, as it stands in the log.
    salt : bytes
    path : tuple of bytes
        Inclusion proof of RFC 6962, section 2.1.1, from the leaf upwards.
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

    def content(self) -> dict[str, Any]:
        """Return the entry as an object."""
        try:
            entry = json.loads(self.entry)
        except ValueError:
            entry = None
        is_entry = isinstance(entry, dict) and isinstance(entry.get("body"), dict)
        if not is_entry or entry.get("number") != self.number:
            raise ProofError("entry", "verification.bad_entry")
        return dict(entry)

    def check(self) -> None:
        """Raise ProofError for the first part that does not hold: signature, entry, path."""
        self.checkpoint.check()
        self.content()
        root = root_from_path(self.number, self.checkpoint.size, self.leaf, self.path)
        if root != self.checkpoint.root:
            raise ProofError("path", "verification.bad_path")

    def as_json(self) -> dict[str, Any]:
        """Return the receipt as its JSON object."""
        return {
            "format": FORMAT,
            "number": self.number,
            "entry": self.entry,
            "salt": self.salt.hex(),
            "path": [step.hex() for step in self.path],
            "checkpoint": self.checkpoint.as_json(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Receipt:
        """Read a receipt; raise ProofError if a field is missing or malformed."""
        path, entry, checkpoint = stored.get("path"), stored.get("entry"), stored.get("checkpoint")
        if not isinstance(path, list):
            raise ProofError("path", "verification.not_a_list")
        if not isinstance(entry, str):
            raise ProofError("entry", "verification.not_a_text")
        if not isinstance(checkpoint, dict):
            raise ProofError("checkpoint", "verification.not_an_object")
        return cls(
            count_field(stored, "number"),
            entry,
            hex_field(stored, "salt", SALT_BYTES),
            tuple(hex_field({"path": step}, "path", HASH_BYTES) for step in path),
            Checkpoint.from_json(checkpoint),
        )


def read_proof(content: object) -> Receipt | Checkpoint:
    """Read a stored receipt or checkpoint, whichever its ``format`` names."""
    if isinstance(content, dict) and content.get("format") == FORMAT:
        return Receipt.from_json(content)
    if isinstance(content, dict) and content.get("format") == log.FORMAT:
        return Checkpoint.from_json(content)
    raise ProofError("format", "verification.unknown_format")
