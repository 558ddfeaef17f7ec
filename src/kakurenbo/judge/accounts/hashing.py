"""Argon2, sized for a server on which many people log in at once."""

from __future__ import annotations

import threading

from django.contrib.auth.hashers import Argon2PasswordHasher

_AT_ONCE = threading.BoundedSemaphore(2)
"""On two cores, more at once would take memory, and no less time."""


class SizedArgon2(Argon2PasswordHasher):
    """19 MiB and two passes for a log-in (OWASP's second choice), where Django's default takes 100 MiB."""

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _AT_ONCE:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _AT_ONCE:
            return super().verify(password, encoded)
