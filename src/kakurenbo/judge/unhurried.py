"""Changes of the database that nobody is told of: they need not be on disk before the next thing is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def unhurried() -> Iterator[None]:
    """A transaction whose end waits for no disk; what is committed after it is never there without it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO OFF")
        yield
