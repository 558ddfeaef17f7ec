"""Commitments: an organizer binds themselves to every file before the contest, and anybody can check it afterwards.

A commitment is SHA-256(salt || bytes). The salt of a file is an HMAC of its name under the contest seed: 32 bytes, never more,
so that bytes cannot move between salt and file. The seed is committed too; revealing it at the end opens everything at once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kakurenbo.core import InputError, Message, Source, read_json, rng
from kakurenbo.core.errors import UsageError

SEED = "seed"
COMMITMENTS_FILE = "commitments.json"
OPENING_FILE = "opening.json"
SCHEME = (
    "sha256(salt || bytes), salt = hmac-sha256(key, message), key = the seed in decimal digits, "
    "message = sha256 of the texts 'salt', scope and name, each after its length in 8 bytes, little-endian"
)

KEPT, BROKEN, NOT_REVEALED, NOT_COMMITTED, CHANGED = (
    "kept",
    "broken",
    "not revealed",
    "not committed",
    "changed",
)
CANNOT_REPEAT = "cannot be made again"
_DIGEST_LENGTH = 64


@dataclass(frozen=True)
class Finding:
    """What became of one file.

    Attributes
    ----------
    name : str
    state : str
        ``kept``; ``broken`` (other bytes than committed); ``not revealed`` (the file is not there); ``not committed`` (a file
        that no commitment speaks of); ``changed`` (a file that is not as this software wrote it); ``cannot be made again``.
    why : str
        What stands in the way, where something does.
    """

    name: str
    state: str
    why: str = ""


def commit(seed: int, files: Mapping[str, bytes], scope: str) -> tuple[bytes, bytes]:
    """Commit to files and seed.

    Parameters
    ----------
    seed : int
    files : mapping of name to bytes
    scope : str
        What the commitments are for, e.g. rulebook and round: the same file elsewhere has another salt.

    Returns
    -------
    commitments : bytes
        Content of ``commitments.json``, to be published at once.
    opening : bytes
        Content of ``opening.json``, to be revealed at the end.
    """
    contents = {**files, SEED: str(seed).encode()}
    bound = {name: _bind(seed, scope, name, data) for name, data in contents.items()}
    return (
        _canonical({"scheme": SCHEME, "scope": scope, "commitments": bound}),
        _canonical({"scope": scope, "seed": str(seed)}),
    )


def check_commitments(
    commitments: bytes, opening: bytes, files: Mapping[str, bytes]
) -> list[Finding]:
    """Check revealed files and seed against the published commitments, one finding per file.

    Parameters
    ----------
    commitments, opening : bytes
        As :func:`commit` made them; anything else is named as changed.
    files : mapping of name to bytes
        Every file that lies in the folders, but for these two.
    """
    published, revealed = _parsed(commitments, COMMITMENTS_FILE), _parsed(opening, OPENING_FILE)
    seed, bound = revealed_seed(opening), _bound(published)
    findings = []
    if _canonical(published) != commitments or published.get("scheme") != SCHEME:
        findings.append(Finding(COMMITMENTS_FILE, CHANGED))
    if _canonical(revealed) != opening or revealed.get("scope") != published.get("scope"):
        findings.append(Finding(OPENING_FILE, CHANGED))
    for name, expected in bound.items():
        if not _is_digest(expected):
            findings.append(Finding(name, BROKEN, Message("word.no_digest").stored()))
            continue
        data = str(seed).encode() if name == SEED else files.get(name)
        if data is None:
            findings.append(Finding(name, NOT_REVEALED))
            continue
        computed = _bind(seed, str(published.get("scope")), name, data)
        findings.append(Finding(name, KEPT if hmac.compare_digest(computed, expected) else BROKEN))
    # The seed is committed to as itself: a file that goes by its name is another thing.
    findings += [
        Finding(name, NOT_COMMITTED) for name in files if name not in bound or name == SEED
    ]
    return findings


def revealed_seed(opening: bytes) -> int:
    """Return the contest seed that an opening reveals."""
    # A whole number is the same seed as its text, which prepare wrote: the findings say that it differs.
    text = str(_parsed(opening, OPENING_FILE).get("seed"))
    if not text.isascii() or not text.isdecimal() or len(text) > 100:
        raise UsageError("error.seed_no_number", at=OPENING_FILE)
    return int(text)


def scope_of(commitments: bytes) -> str:
    """Return what commitments are for, e.g. ``amic2020 pre preparation``."""
    return str(_parsed(commitments, COMMITMENTS_FILE).get("scope", ""))


def digest(data: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _bind(seed: int, scope: str, name: str, data: bytes) -> str:
    return hashlib.sha256(rng.salt(seed, scope, name) + data).hexdigest()


def _canonical(content: object) -> bytes:
    """Write content in one way only, so that a changed byte anywhere shows."""
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    try:
        content = read_json(Source(name, data))
    except InputError as error:
        raise UsageError("error.damaged", problem=error) from error
    if not isinstance(content, dict):
        raise UsageError("error.not_what_was_written", at=name, writer="prepare")
    return content


def _bound(published: Mapping[str, Any]) -> Mapping[str, Any]:
    bound = published.get("commitments")
    if not isinstance(bound, dict) or SEED not in bound:
        raise UsageError("error.no_commitments", at=COMMITMENTS_FILE)
    return bound


def _is_digest(value: object) -> bool:
    return (
        isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{_DIGEST_LENGTH}}}", value) is not None
    )
