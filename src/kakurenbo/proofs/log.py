"""Log of a judge: entries as bytes, and checkpoints, which are signed roots of the log."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kakurenbo.proofs.merkle import leaf_hash

FORMAT = "kakurenbo checkpoint 1"
HASH_BYTES, SALT_BYTES, SIGNATURE_BYTES = 32, 32, 64


class ProofError(Exception):
    """A stored proof does not hold; ``field`` is the wrong part, ``why`` a message code."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(field, why)
        self.field, self.why = field, why


# -- entries ---------------------------------------------------------------------------------


def entry_bytes(number: int, kind: str, body: Mapping[str, Any], at: datetime) -> bytes:
    """Return an entry as it is hashed: JSON without spaces, sorted keys, UTC microseconds."""
    _check_exact(body)
    time = at.astimezone(UTC).isoformat(timespec="microseconds")
    return _canonical_json({"number": number, "kind": kind, "body": body, "at": time})


def leaf_of(salt: bytes, entry: bytes) -> bytes:
    """Return the leaf that hides an entry: SHA-256 of a zero byte, the salt and the entry."""
    return leaf_hash(salt + entry)


def content_digest(content: object) -> str:
    """Return the SHA-256 of JSON content; 1.0 counts as 1, because databases may return either.

    Examples
    --------
    >>> content_digest({"a": 1.0, "b": -0.0}) == content_digest({"b": 0, "a": 1})
    True
    """
    return hashlib.sha256(_canonical_json(_integers(content))).hexdigest()


def _canonical_json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _integers(content: object) -> object:
    if isinstance(content, Mapping):
        return {key: _integers(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_integers(value) for value in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content


def _check_exact(value: object) -> None:
    """Refuse values that a database could return in another form."""
    if isinstance(value, Mapping):
        for part in value.values():
            _check_exact(part)
    elif isinstance(value, list | tuple):
        for part in value:
            _check_exact(part)
    elif value is not None and not isinstance(value, str | int):
        raise TypeError(
            f"a log entry holds texts and whole numbers, not {type(value).__name__}: give it as text"
        )


# -- checkpoints -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Checkpoint:
    """The root of a log, signed with the contest's key.

    Attributes
    ----------
    contest : str
        Short name of the contest on its judge.
    public_key, root, signature : bytes
    size : int
        Number of entries in the log.
    at : str
        Time of the signature: ISO 8601, in UTC.
    """

    contest: str
    public_key: bytes
    size: int
    root: bytes
    at: str
    signature: bytes

    @classmethod
    def signed(cls, contest: str, private: bytes, size: int, root: bytes, at: str) -> Checkpoint:
        """Sign a root with a private key."""
        key = Ed25519PrivateKey.from_private_bytes(private)
        signature = key.sign(signed_text(contest, size, root, at))
        return cls(contest, key.public_key().public_bytes_raw(), size, root, at, signature)

    def check(self) -> None:
        """Raise ProofError if the signature is not that of the key."""
        try:
            key = Ed25519PublicKey.from_public_bytes(self.public_key)
            key.verify(self.signature, signed_text(self.contest, self.size, self.root, self.at))
        except (InvalidSignature, ValueError):
            raise ProofError("signature", "verification.bad_signature") from None

    def as_json(self) -> dict[str, Any]:
        """Return the checkpoint as its JSON object."""
        return {
            "format": FORMAT,
            "contest": self.contest,
            "public_key": self.public_key.hex(),
            "size": self.size,
            "root": self.root.hex(),
            "at": self.at,
            "signature": self.signature.hex(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], **known: str) -> Checkpoint:
        """Read a checkpoint; ``known`` replaces fields that are stored elsewhere.

        Raises
        ------
        ProofError
            If a field is missing or malformed.
        """
        fields = {**stored, **known}
        return cls(
            line_field(fields, "contest"),
            hex_field(fields, "public_key", HASH_BYTES),
            count_field(fields, "size"),
            hex_field(fields, "root", HASH_BYTES),
            line_field(fields, "at"),
            hex_field(fields, "signature", SIGNATURE_BYTES),
        )


def signed_text(contest: str, size: int, root: bytes, at: str) -> bytes:
    """Return the text that a checkpoint signs: contest, size, root in Base64, time."""
    return f"kakurenbo/{contest}\n{size}\n{base64.b64encode(root).decode()}\n{at}\n".encode()


def hex_field(fields: Mapping[str, Any], name: str, length: int) -> bytes:
    """Return ``length`` bytes from a field of lower-case hexadecimal digits."""
    value = fields.get(name)
    try:
        data = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        data = b""
    if len(data) != length or data.hex() != value:
        raise ProofError(name, "verification.not_hexadecimal")
    return data


def count_field(fields: Mapping[str, Any], name: str) -> int:
    """Return a field that is an integer from 0."""
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ProofError(name, "verification.not_a_number")
    return value


def line_field(fields: Mapping[str, Any], name: str) -> str:
    """Return a field that is a text of one line."""
    value = fields.get(name)
    if not isinstance(value, str) or "\n" in value:
        raise ProofError(name, "verification.not_a_text")
    return value
