"""What the doctor asks of the machine: folders and their rights, room, stores that keep what they are given, the kernel."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, storages

from kakurenbo.core.messages import text
from kakurenbo.judge import confinement
from kakurenbo.judge.operations.doctor import Order
from kakurenbo.judge.scoring.models import SecretFile
from kakurenbo.judge.serve.health import LEAST_DISK
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Blob

Found = tuple[bool, str]
_FOLDERS, _FILES = (
    ("files", "secret", "web", "work", "postgres", "run"),
    ("secret-key", "postgres.password", "postgres.log", "lock", "demo"),
)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PASSAGE = stat.S_IXGRP | stat.S_IXOTH
_SAMPLE = 50
_MOST_NAMED = 5
_CHUNK = 1 << 20
_GIB = 2**30


def kernel(_order: Order) -> Found:
    version = confinement.version()
    return version > 0, text("doctor.kernel", version=version) if version else text(
        "doctor.no_kernel"
    )


def rights(order: Order) -> Found:
    """Nobody but the judge's own account has any right in its folder; passage through it the database may need."""
    home = Path(order.home)
    if not home.is_dir():
        return False, text("doctor.no_home", home=order.home)
    # What lies in folders is behind doors that are closed.
    looked_at = [home / name for name in (*_FOLDERS, *_FILES) if (home / name).exists()]
    opened = [str(path) for path in looked_at if _mode(path) & _OTHERS]
    if _mode(home) & _OTHERS & ~_PASSAGE:
        opened.insert(0, order.home)
    if opened:
        return False, text("doctor.rights_open", paths=opened[:_MOST_NAMED], home=order.home)
    return True, text("doctor.rights", count=len(looked_at))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError:  # it was deleted meanwhile
        return 0


def room(order: Order) -> Found:
    home = Path(order.home)
    usage = shutil.disk_usage(next(one for one in (home, *home.resolve().parents) if one.exists()))
    free = f"{usage.free / _GIB:.1f}"
    return usage.free > LEAST_DISK, text(
        "doctor.room", free=free
    ) if usage.free > LEAST_DISK else text("doctor.no_room", free=free)


def stores(_order: Order) -> Found:
    """Write, read and delete something in each store."""
    for name in (store.OPEN, store.SECRET):
        storage, content = storages[name], secrets.token_bytes(64)
        place = storage.save(f"doctor-{secrets.token_hex(8)}", ContentFile(content))
        try:
            with storage.open(place, "rb") as file:
                if file.read() != content:
                    return False, text("doctor.store_changes", store=name)
        finally:
            storage.delete(place)
        if storage.exists(place):
            return False, text("doctor.store_keeps", store=name)
    where = [_where(name) for name in (store.OPEN, store.SECRET)]
    return True, text("doctor.stores", places=where)


def _where(name: str) -> str:
    storage = storages[name]
    return str(storage.location) if isinstance(storage, FileSystemStorage) else "S3"


def files(order: Order) -> Found:
    """Files are what their names say: all of them, or some that are drawn anew each time."""
    looked_at, wrong = 0, []
    for digest, size, of in _drawn(order.every_file):
        looked_at += 1
        if not _is_whole(digest, size, of):
            wrong.append(f"{of}: {digest}")
    if wrong:
        return False, text("doctor.files_broken", count=len(wrong), files=wrong[:_MOST_NAMED])
    return True, text("doctor.files", count=looked_at)


def _drawn(everything: bool) -> Iterator[tuple[str, int, str]]:
    known = {
        store.OPEN: Blob.objects.order_by("digest"),
        store.SECRET: SecretFile.objects.order_by("digest"),
    }
    start = secrets.token_hex(hashlib.sha256().digest_size)
    for of, rows in known.items():
        told = rows.values_list("digest", "size")
        if everything:
            drawn = iter(told.iterator())
        else:  # from a random place on, and from the beginning where that is near the end
            later = list(told.filter(digest__gte=start)[:_SAMPLE])
            drawn = iter([*later, *told.filter(digest__lt=start)[: _SAMPLE - len(later)]])
        for digest, size in drawn:
            yield digest, size, of


def _is_whole(digest: str, size: int, of: str) -> bool:
    found, length = hashlib.sha256(), 0
    try:
        with storages[of].open(store.name_of(digest), "rb") as file:
            while piece := file.read(_CHUNK):
                found.update(piece)
                length += len(piece)
    except OSError:
        return False
    return (found.hexdigest(), length) == (digest, size)
