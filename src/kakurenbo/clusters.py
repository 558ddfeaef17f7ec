"""A Dask cluster by the address of its scheduler; needs the extra ``kakurenbo[cluster]``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kakurenbo.core.errors import UsageError


def connected(address: str) -> Any:
    """A client of the scheduler at an address, to be closed by whoever asked for it.

    Raises
    ------
    UsageError
        Where Dask is not installed, or nobody answers.
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


@dataclass(frozen=True)
class Parcel:
    """Files on their way to workers, by the digest of all of them."""

    digest: str
    files: Mapping[str, bytes]


def packed(digest: str, files: Mapping[str, bytes]) -> Parcel:
    """What a worker keeps of a digest: a task of its own, so that the scheduler has it made again where a worker is lost."""
    return Parcel(digest, files)


def parcel_key(digest: str) -> str:
    """The name of a parcel in the cluster: it travels to each worker once, however many jobs of it need it."""
    return f"kakurenbo-parcel-{digest}"


def digest_of(data: bytes) -> str:
    """SHA-256."""
    return hashlib.sha256(data).hexdigest()
