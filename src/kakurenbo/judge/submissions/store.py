"""Bytes under their SHA-256, in the open store and in that of secrets; both are Django storages, so that they may be remote.

On a local disk content is complete before it has its name: written beside, synchronised, renamed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO

from django.apps import apps
from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.db import transaction
from django.db.models import Exists, ForeignObjectRel, OuterRef, QuerySet

from kakurenbo.judge import halves
from kakurenbo.judge.submissions.models import Blob, State, SubmittedFile
from kakurenbo.judge.unhurried import unhurried

OPEN, SECRET = "default", "secret"
_INCOMING = "incoming"
_CHUNK = 1 << 20
_PRIVATE_FOLDER = 0o700
_UNUSED_FOR = timedelta(minutes=15)
"""So long bytes are kept that nothing refers to: they may be about to be referred to."""
_FORGOTTEN_AT_ONCE = 1000
_REVEAL_SECONDS, _LOOK_SECONDS = 30.0, 0.2
_ASKED_AT_ONCE = 16
_KEPT_FREE = 128 << 20
"""Bytes of the disk that uploads leave to the database and to scoring, which stop without room."""


def put(content: bytes | Iterable[bytes]) -> Blob:
    """Keep bytes in the open store; the same bytes are kept once."""
    path, digest, size = _written(storages[OPEN], content)
    return adopt(path, digest, size)


def adopt(path: Path, digest: str, size: int) -> Blob:
    """Keep a temporary file whose digest and size are known; it is gone from its path afterwards.

    Parameters
    ----------
    path : Path
        Complete and synchronised, best in :func:`incoming`, from where it need only be renamed.
    digest : str
        SHA-256 in hexadecimal.
    size : int
    """
    try:
        blob = _blob(digest, size)  # first: from now on nobody forgets it
        _place(storages[OPEN], path, digest)
    finally:
        path.unlink(missing_ok=True)
    return blob


def forget_unused(now: datetime) -> int:
    """Remove what nothing refers to: files that came for a submission that was never handed in. Says how many.

    What was received stays, withdrawn or not: the log has its digest.
    """
    never_handed_in = SubmittedFile.objects.filter(
        submission__state=State.WITHDRAWN, submission__number=None
    )
    never_handed_in.delete()
    unused = _unused().filter(created_at__lt=now - _UNUSED_FOR)
    return sum(
        _forget(digest, unused)
        for digest in unused.values_list("digest", flat=True)[:_FORGOTTEN_AT_ONCE]
    )


def is_needed(digest: str) -> bool:
    """Whether something refers to bytes of the open store, so that they must be there."""
    return (
        Blob.objects.filter(digest=digest).exists() and not _unused().filter(digest=digest).exists()
    )


def _unused() -> QuerySet[Blob]:
    """What nothing refers to."""
    secret = apps.get_model("scoring", "SecretFile").objects.filter(
        digest=OuterRef("digest")
    )  # a revealed one has no row
    unused = Blob.objects.filter(~Exists(secret))
    for relation in Blob._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            referring = relation.related_model._default_manager.filter(
                **{relation.field.name: OuterRef("pk")}
            )
            unused = unused.filter(~Exists(referring))
    return unused


def forget_halves() -> int:
    """Remove what came in only half because its process was killed; says how many files that were."""
    return sum(halves.remove_orphans(_incoming(storages[name])) for name in (OPEN, SECRET))


def _forget(digest: str, unused: QuerySet[Blob]) -> bool:
    with transaction.atomic():
        # Who puts the same bytes again makes the row young, or waits here and makes it anew, and then looks for the file.
        locked = (
            unused.select_for_update(skip_locked=True, of=("self",)).filter(digest=digest).first()
        )
        if locked is None:
            return False
        locked.delete()
        storages[OPEN].delete(name_of(digest))
    return True


def has_room(size: int = 0) -> bool:
    """Whether so many bytes more may come."""
    return shutil.disk_usage(incoming()).free - size >= _KEPT_FREE


def is_full(error: BaseException | None) -> bool:
    """Whether something failed for want of room on a disk: no fault of who asked for it."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def incoming() -> Path:
    """The folder for files that are still being written, on the disk of the open store where that is a local one."""
    return _incoming(storages[OPEN])


def open_blob(digest: str) -> File[bytes]:
    """The content of a blob, to read.

    Raises
    ------
    FileNotFoundError
        When there is none.
    """
    return storages[OPEN].open(name_of(digest), "rb")


def missing(digests: Iterable[str]) -> set[str]:
    """Which contents the open store does not have."""
    storage = storages[OPEN]

    def is_gone(digest: str) -> bool:
        return not storage.exists(name_of(digest))

    if _folder_of(storage) is not None:
        return {digest for digest in digests if is_gone(digest)}
    asked = list(digests)
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as threads:  # a remote store takes its time for each
        return {
            digest for digest, gone in zip(asked, threads.map(is_gone, asked), strict=True) if gone
        }


def missing_secrets(digests: Iterable[str]) -> set[str]:
    """Which secrets can be read nowhere; those that this process may not see have half a minute to be revealed."""
    gone, closed = set(), set()
    for digest in missing(digests):
        try:
            storages[SECRET].open(name_of(digest), "rb").close()
        except PermissionError:
            closed.add(digest)
        except FileNotFoundError:
            gone.add(digest)
    until = time.monotonic() + _REVEAL_SECONDS
    while closed and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        closed = missing(closed)
    return gone | closed


def bring_back(store: str, content: Iterable[bytes]) -> str:
    """Keep bytes of a backup in one of the stores; what the database says of them is restored by itself. Gives the digest."""
    return _keep(storages[store], content)[0]


def put_secret(content: bytes | Iterable[bytes]) -> tuple[str, int]:
    """Keep bytes in the store of secrets; gives digest and size."""
    return _keep(storages[SECRET], content)


def read_secret(digest: str) -> bytes:
    """The content of a secret; where this process may not see secrets, of one that was revealed.

    Raises
    ------
    PermissionError
        When it is not revealed, nor within half a minute: secrets are when their contest ends.
    """
    try:
        with storages[SECRET].open(name_of(digest), "rb") as file:
            return bytes(file.read())
    except PermissionError:
        until = time.monotonic() + _REVEAL_SECONDS
        while not storages[OPEN].exists(name_of(digest)):
            if time.monotonic() > until:
                raise
            time.sleep(_LOOK_SECONDS)
        with open_blob(digest) as file:
            return bytes(file.read())


def forget_secret(digest: str) -> None:
    """Remove a secret, and what was revealed of it; whoever calls knows that nothing refers to it."""
    storages[SECRET].delete(name_of(digest))
    if not Blob.objects.filter(digest=digest).exists():
        storages[OPEN].delete(name_of(digest))


def reveal(digest: str) -> None:
    """Put a secret into the open store, too, for everybody who may know of it now."""
    if not storages[OPEN].exists(name_of(digest)):
        with storages[SECRET].open(name_of(digest), "rb") as file:
            _keep(storages[OPEN], iter(lambda: file.read(_CHUNK), b""))


def name_of(digest: str) -> str:
    """Where content lies in a store.

    Examples
    --------
    >>> name_of("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    'e3/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    if len(digest) != hashlib.sha256().digest_size * 2 or not set(digest) <= set(
        "0123456789abcdef"
    ):
        raise ValueError(f"{digest!r} is no SHA-256")
    return f"{digest[:2]}/{digest}"


def _keep(storage: Storage, content: bytes | Iterable[bytes]) -> tuple[str, int]:
    path, digest, size = _written(storage, content)
    try:
        _place(storage, path, digest)
    finally:
        path.unlink(missing_ok=True)
    return digest, size


def _written(storage: Storage, content: bytes | Iterable[bytes]) -> tuple[Path, str, int]:
    """Content in a file that has no name yet; where it breaks off, nothing is left."""
    file = tempfile.NamedTemporaryFile(dir=_incoming(storage), prefix=halves.prefix(), delete=False)  # noqa: SIM115 - it is renamed
    path = Path(file.name)
    try:
        with file:
            digest, size = _write(file, [content] if isinstance(content, bytes) else content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, digest, size


def _write(file: IO[bytes], parts: Iterable[bytes]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    for part in parts:
        digest.update(part)
        size += file.write(part)
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest(), size


def _place(storage: Storage, path: Path, digest: str) -> None:
    """Give a complete file its name in a store."""
    name, local = name_of(digest), _folder_of(storage)
    if local is None:
        with path.open("rb") as file:
            if not storage.exists(name):
                storage.save(name, File(file))
        path.unlink()
        return
    place = local / name
    place.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    if place.exists():
        path.unlink()
        return
    if path.stat().st_dev != place.parent.stat().st_dev:
        path = _moved_beside(path, _incoming(storage))
    os.replace(path, place)
    halves.keep_names(place.parent)


def _moved_beside(path: Path, folder: Path) -> Path:
    """A copy on the store's own disk, where a rename is one step."""
    with (
        tempfile.NamedTemporaryFile(dir=folder, prefix=halves.prefix(), delete=False) as copy,
        path.open("rb") as file,
    ):
        shutil.copyfileobj(file, copy, _CHUNK)
        copy.flush()
        os.fsync(copy.fileno())
    path.unlink()
    return Path(copy.name)


def _incoming(storage: Storage) -> Path:
    local = _folder_of(storage)
    if local is None:
        return Path(tempfile.gettempdir())
    folder = local / _INCOMING
    folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    return folder


def _folder_of(storage: Storage) -> Path | None:
    """The folder of a store on a local disk; None for a remote one."""
    return Path(storage.location) if isinstance(storage, FileSystemStorage) else None


def _blob(digest: str, size: int) -> Blob:
    """The row of a content, made or made young again in one step: whoever is about to forget it comes before or after."""
    blob = Blob(digest=digest, size=size)
    with unhurried():  # what refers to it is committed later
        Blob.objects.bulk_create(
            [blob], update_conflicts=True, unique_fields=["digest"], update_fields=["created_at"]
        )
    return blob
