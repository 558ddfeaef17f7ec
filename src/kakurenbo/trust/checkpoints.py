"""Signed checkpoints: a contest's key says that its log has so many entries, with this root, at this time."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORMAT = "kakurenbo checkpoint 1"
_HASH_BYTES, _SIGNATURE_BYTES = 32, 64


class NotWhatItSays(Exception):
    """Something that was kept, or handed over, does not hold; ``field`` is the part that does not, ``why`` a message code."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(field, why)
        self.field, self.why = field, why


@dataclass(frozen=True)
class Checkpoint:
    """The signed root of a log.

    Attributes
    ----------
    contest : str
        The contest's short name on its judge.
    public_key, root, signature : bytes
    size : int
        How many entries the log had.
    at : str
        When it was signed: ISO 8601, in UTC.
    """

    contest: str
    public_key: bytes
    size: int
    root: bytes
    at: str
    signature: bytes

    @classmethod
    def signed(cls, contest: str, private: bytes, size: int, root: bytes, at: str) -> Checkpoint:
        """A checkpoint under a private key."""
        key = Ed25519PrivateKey.from_private_bytes(private)
        signature = key.sign(signed_text(contest, size, root, at))
        return cls(contest, key.public_key().public_bytes_raw(), size, root, at, signature)

    def check(self) -> None:
        """Raise :class:`NotWhatItSays` where the signature is not under this text by this key."""
        try:
            key = Ed25519PublicKey.from_public_bytes(self.public_key)
            key.verify(self.signature, signed_text(self.contest, self.size, self.root, self.at))
        except (InvalidSignature, ValueError):
            raise NotWhatItSays("signature", "verification.bad_signature") from None

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
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
    def from_json(cls, kept: Mapping[str, Any], **known: str) -> Checkpoint:
        """From what was kept; ``known`` is what stands beside it, such as the contest of a whole log.

        Raises
        ------
        NotWhatItSays
            Where a part is missing or no such part.
        """
        told = {**kept, **known}
        return cls(
            _text(told, "contest"),
            unhexed(told, "public_key", _HASH_BYTES),
            whole_number(told, "size"),
            unhexed(told, "root", _HASH_BYTES),
            _text(told, "at"),
            unhexed(told, "signature", _SIGNATURE_BYTES),
        )


def signed_text(contest: str, size: int, root: bytes, at: str) -> bytes:
    """What a checkpoint signs, a line each: contest, number of entries, root in Base64, time."""
    return f"kakurenbo/{contest}\n{size}\n{base64.b64encode(root).decode()}\n{at}\n".encode()


def unhexed(told: Mapping[str, Any], field: str, length: int) -> bytes:
    """Bytes of a known length that are written in small hexadecimal digits."""
    value = told.get(field)
    try:
        found = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        found = b""
    if len(found) != length or found.hex() != value:
        raise NotWhatItSays(field, "verification.not_hexadecimal")
    return found


def whole_number(told: Mapping[str, Any], field: str) -> int:
    """A whole number that is not negative."""
    value = told.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise NotWhatItSays(field, "verification.not_a_number")
    return value


def _text(told: Mapping[str, Any], field: str) -> str:
    value = told.get(field)
    if not isinstance(value, str) or "\n" in value:
        raise NotWhatItSays(field, "verification.not_a_text")
    return value
