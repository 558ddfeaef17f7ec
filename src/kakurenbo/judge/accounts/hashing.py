"""Argon2, sized for a server on which many people log in at once."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class SizedArgon2(Argon2PasswordHasher):
    """19 MiB and two passes for a log-in (OWASP's second choice), where Django's default takes 100 MiB."""

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1
