"""The store of secrets as the web has it: there is nothing to be opened."""

from __future__ import annotations

from typing import NoReturn

from django.core.files.storage import Storage


class ClosedStore(Storage):
    """Refuses everything, wherever secrets lie: what a contest revealed at its end is in the open store."""

    def _open(self, name: str, _mode: str = "rb") -> NoReturn:
        raise PermissionError(name)

    def _save(self, name: str, _content: object) -> NoReturn:
        raise PermissionError(name)

    def exists(self, name: str) -> NoReturn:
        """Whether there is such a secret is not to be known either."""
        raise PermissionError(name)
