"""The two stores of a judge as whole ones, wherever they are: in its folder, or in a bucket."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.manifest import OPEN_FOLDER, SECRET_FOLDER

if TYPE_CHECKING:
    from django.core.files.storage import Storage

STORES = {OPEN_FOLDER: "default", SECRET_FOLDER: "secret"}
"""The name of each store in a backup, and that by which Django knows it."""
_PRIVATE = 0o700


def load_django(home: Path, dsn: str = "") -> None:
    """Let the stores and tables be those of a judge's folder, as its own processes find them."""
    import django
    from django.conf import settings

    if settings.configured:
        return
    os.environ.update(
        {
            "DJANGO_SETTINGS_MODULE": "kakurenbo.judge.serve.settings",
            "KAKURENBO_JUDGE_HOME": str(home.resolve()),
            "KAKURENBO_JUDGE_SECRET_KEY": "nothing is signed here",
            "KAKURENBO_JUDGE_DSN": dsn,
        }
    )
    django.setup()
    from kakurenbo.judge.serve.parts import use_secret_keys

    use_secret_keys(os.environ)


def store(name: str) -> Storage:
    """A store by its name in a backup."""
    from django.core.files.storage import storages

    return storages[STORES[name]]


def make_empty(home: Path) -> None:
    """The folders of new stores; refuses a bucket in which there is something."""
    from django.core.files.storage import FileSystemStorage

    for name in STORES:
        (home / name).mkdir(mode=_PRIVATE)
        found = store(name)
        if not isinstance(found, FileSystemStorage) and any(found.listdir("")):
            raise UsageError("restore.bucket_not_empty", folder=name)
