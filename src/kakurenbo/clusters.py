"""A Dask cluster by the address of its scheduler; needs the extra ``kakurenbo[cluster]``."""

from __future__ import annotations

import hashlib
from typing import Any

from kakurenbo.core.errors import UsageError


def connected(address: str) -> Any:
    """Return a client of the scheduler at an address, to be closed by the caller.

    Raises
    ------
    UsageError
        If Dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("error.cluster") from None
    if "://" not in address:  # Dask would say so in a traceback of its own
        raise UsageError("error.cluster_address", address=address)
    try:
        return Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(
            "error.no_scheduler", address=address, reason=type(error).__name__
        ) from None


def parcel_key(digest: str) -> str:
    """Return the name of files in the cluster: they travel to each worker once, however many jobs need them."""
    return f"kakurenbo-parcel-{digest}"


def digest_of(data: bytes) -> str:
    """Return SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()
