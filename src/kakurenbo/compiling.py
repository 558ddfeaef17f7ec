"""How hot loops are compiled: by Numba, once per machine, kept on disk where a folder can be written."""

from __future__ import annotations

from typing import Any

import numba


def compiled(function: Any) -> Any:
    """Compile on first use, without the interpreter's lock; a compiled loop is kept for the next process.

    Numba keeps it beside the module, else in the user's cache folder; where neither can be written, not at all.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)


def inlined(function: Any) -> Any:
    """A part of a compiled loop that is written out wherever it is called: a call would cost more than what it does."""
    return numba.njit(nogil=True, inline="always")(function)
