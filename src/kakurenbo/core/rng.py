"""Randomness by name: every draw comes from a stream keyed by the contest seed and what it is for.

The same seed gives the same bytes on any number of processes, because no stream depends on the order in which others
are used.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import numpy as np

SEED_BITS = 128


def fresh_seed() -> int:
    """A seed nobody can guess, for contests whose secrets hang on it."""
    return secrets.randbits(SEED_BITS)


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """The random generator of one purpose, e.g. ``stream(seed, "sample", "main", "07")``.

    Parameters
    ----------
    seed : int
        The contest seed, not negative.
    *names : str or int
        Role, round, team, job ...: the path to the stream. Different paths give independent streams.

    Examples
    --------
    >>> a, b = stream(1, "sample", "01"), stream(1, "sample", "02")
    >>> int(a.integers(1000)) == int(stream(1, "sample", "01").integers(1000))
    True
    >>> int(a.integers(10**9)) == int(b.integers(10**9))
    False
    """
    key = np.frombuffer(_path_digest(*names), dtype="<u4")
    return np.random.Generator(
        np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=tuple(map(int, key))))
    )


def salt(seed: int, *names: str | int) -> bytes:
    """32 bytes that only someone who knows the seed can compute; hides a committed file from guessing."""
    secret = str(seed).encode()
    return hmac.new(secret, _path_digest("salt", *names), hashlib.sha256).digest()


def _path_digest(*names: str | int) -> bytes:
    # Length-prefixed, so that ("ab", "c") and ("a", "bc") differ.
    parts = [str(name).encode() for name in names]
    return hashlib.sha256(
        b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    ).digest()
