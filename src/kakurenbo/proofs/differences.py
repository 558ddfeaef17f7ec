"""The first thing that is not as it should be: where it is, what stands there, and what should."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from kakurenbo.core.messages import shorten, text

_NOTHING = "–"
_MISSING = object()
"""In place of what is not there; no file can say it."""
_LONGEST = 200


class Difference(Exception):
    """Something in an archive does not hold.

    Attributes
    ----------
    file : str
        The file of the archive in which it stands.
    what : str
        Which part of it: ``entry 12``, ``results.utility.03``.
    here, should_be : Any
        What stands there, and what the log says or was computed; None where there is nothing to compare.
    code : str
        The message that says what kind of difference it is.
    """

    def __init__(
        self, code: str, file: str, what: str = "", here: Any = None, should_be: Any = None
    ) -> None:
        super().__init__(code, file, what)
        self.code, self.file, self.what, self.here, self.should_be = (
            code,
            file,
            what,
            here,
            should_be,
        )

    def __str__(self) -> str:
        place = f"{self.file}: {self.what}" if self.what else self.file
        return (
            f"{place}: {text(self.code, here=_shown(self.here), should_be=_shown(self.should_be))}"
        )

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        told = {
            "code": self.code,
            "file": self.file,
            "what": self.what,
            "here": self.here,
            "should_be": self.should_be,
        }
        return {**told, "message": str(self)}


class Comparison:
    """Compares what a file says with what it should say, and counts what it compared.

    Parameters
    ----------
    code : str
        What a difference is called: one from the log, or one from computing again.
    file : str
    """

    def __init__(self, code: str, file: str) -> None:
        self._code, self._file = code, file
        self.figures = 0
        self.ranks = 0

    def check(self, here: object, should_be: object, what: str = "") -> None:
        """Raise :class:`Difference` for the first part that differs."""
        if isinstance(here, Mapping) and isinstance(should_be, Mapping):
            for key in [*should_be, *(key for key in here if key not in should_be)]:
                part = f"{what}.{key}" if what else str(key)
                self.check(here.get(key, _MISSING), should_be.get(key, _MISSING), part)
        elif isinstance(here, list) and isinstance(should_be, list):
            for place, (one, other) in enumerate(zip_longest(here, should_be, fillvalue=_MISSING)):
                self.check(one, other, f"{what}[{place}]")
        else:
            self.figures += 1
            self.ranks += what.endswith(".rank")
            if here != should_be or isinstance(here, bool) != isinstance(should_be, bool):
                shown = (_NOTHING if one is _MISSING else one for one in (here, should_be))
                raise Difference(self._code, self._file, what, *shown)


def _shown(value: object) -> str:
    return shorten(_NOTHING if value is None else str(value), _LONGEST)
