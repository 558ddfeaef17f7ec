"""Commitments: an organizer binds themselves to every secret before the contest, and anybody can check it afterwards.

A commitment is SHA-256(salt || bytes). The salts come from the contest seed, so that they hide what could be guessed, and
the seed is committed too; ``opening.json`` reveals the seed and all salts at the end.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kakurenbo import rng
from kakurenbo.errors import UsageError

SEED = "seed"
COMMITMENTS_FILE = "public/commitments.json"
OPENING_FILE = "secret/opening.json"


@dataclass(frozen=True)
class Finding:
    """What became of one commitment: ``kept``, ``broken`` (other bytes) or ``not revealed`` (file or salt not there)."""

    name: str
    state: str


def commit(seed: int, files: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    """Commit to files and seed.

    Returns
    -------
    commitments : bytes
        Content of ``commitments.json``, to be published at once.
    opening : bytes
        Content of ``opening.json``, to be revealed at the end.
    """
    contents = {**files, SEED: str(seed).encode()}
    salts = {name: rng.salt(seed, name) for name in contents}
    commitments = {name: _bind(salts[name], data) for name, data in contents.items()}
    opening = {"seed": str(seed), "salts": {name: salt.hex() for name, salt in salts.items()}}
    return _json({"scheme": "sha256(salt || bytes)", "commitments": commitments}), _json(opening)


def verify(commitments: bytes, opening: bytes, files: Mapping[str, bytes]) -> list[Finding]:
    """Check revealed files and seed against the published commitments, one finding each."""
    published, revealed = _parse(commitments, "commitments"), _parse(opening, "salts")
    contents = {**files, SEED: str(_entry(revealed, "seed")).encode()}
    findings = []
    for name, bound in _entry(published, "commitments").items():
        salt = _entry(revealed, "salts").get(name)
        if salt is None or name not in contents:
            state = "not revealed"
        else:
            state = "kept" if hmac.compare_digest(_bind(_unhex(salt), contents[name]), str(bound)) else "broken"
        findings.append(Finding(name, state))
    return findings


def revealed_seed(opening: bytes) -> int:
    """The contest seed that an opening reveals."""
    try:
        return int(str(_entry(_parse(opening, "salts"), "seed")))
    except ValueError:
        raise UsageError("the revealed seed is not a number") from None


def _bind(salt: bytes, data: bytes) -> str:
    return hashlib.sha256(salt + data).hexdigest()


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _parse(data: bytes, key: str) -> dict[str, object]:
    try:
        content = json.loads(data)
    except ValueError:
        raise UsageError(f"the file of {key} is not JSON; it was damaged after it was written") from None
    if not isinstance(content, dict):
        raise UsageError(f"the file of {key} does not hold what prepare writes there")
    return content


def _entry(content: dict[str, object], key: str) -> Any:
    if key not in content:
        raise UsageError(f"the entry {key!r} is missing; give the file as prepare wrote it")
    return content[key]


def _unhex(text: object) -> bytes:
    try:
        return bytes.fromhex(str(text))
    except ValueError:
        return b""
