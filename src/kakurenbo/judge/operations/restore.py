"""``restore``: a judge from a backup, in a folder of its own; everything is checked before anything is made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.container import Backup, Readable
from kakurenbo.judge.operations.database import check_empty, load, trees_of
from kakurenbo.judge.operations.manifest import DATABASE, SECRET_KEY, Manifest, Tree
from kakurenbo.judge.operations.stores import STORES, load_django, make_empty, store
from kakurenbo.judge.serve.postgres import EmbeddedPostgres, check_given

_WORK = "new"
_CHUNK = 1 << 20


def restore(path: Path, home: Path) -> Manifest:
    """Make a judge from a backup; it is not started.

    Raises
    ------
    UsageError
        Where the backup is damaged (the part is named), or the folder, the database or the bucket is not empty; nothing is
        left behind.
    """
    with closing(Backup(path)) as backup:
        manifest = backup.checked()
        given = os.environ.get("DATABASE_URL")
        if given:
            check_given(given)
            check_empty(given)
        with _made(home) as work:
            load_django(work)
            make_empty(work)
            with _kept_or_removed(backup) as keep:
                for name, content in backup.contents():
                    keep(work, name, content)
                _check_trees(_load_database(work, given or ""), manifest)
            if manifest.demo:
                (work / "demo").touch(mode=0o600)
    return manifest


@contextmanager
def _made(home: Path) -> Iterator[Path]:
    """A folder in the new home, whose content becomes that of the home when all went well, and is gone where it did not."""
    new = not home.exists()
    if not new and (not home.is_dir() or any(home.iterdir())):
        raise UsageError("restore.home_not_empty", home=str(home))
    home.mkdir(mode=0o711, parents=True, exist_ok=True)
    home.chmod(0o711)  # the database's account passes through, and sees nothing
    work = home / _WORK
    try:
        work.mkdir(mode=0o711)
        yield work
        for one in work.iterdir():
            one.rename(home / one.name)
        work.rmdir()
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        if new:
            home.rmdir()
        raise


@contextmanager
def _kept_or_removed(backup: Backup) -> Iterator[Callable[[Path, str, Readable], None]]:
    """Puts parts where they belong; what went to a bucket is taken out again where something fails later."""
    brought: list[tuple[str, str]] = []
    try:
        yield partial(_keep, backup, brought)
    except BaseException:
        for name, place in brought:
            store(name).delete(place)
        raise


def _keep(
    backup: Backup, brought: list[tuple[str, str]], work: Path, name: str, content: Readable
) -> None:
    from kakurenbo.judge.submissions.store import bring_back, name_of

    folder, _, place = name.partition("/")
    if folder in STORES:
        brought.append((folder, place))
        digest = bring_back(STORES[folder], iter(partial(content.read, _CHUNK), b""))
        if name_of(digest) != place:
            raise UsageError("backup.foreign", path=str(backup.path), part=name)
    elif name in (DATABASE, SECRET_KEY):
        with os.fdopen(
            os.open(work / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
        ) as file:
            shutil.copyfileobj(content, file, _CHUNK)
            file.flush()
            os.fsync(file.fileno())
    else:
        raise UsageError("backup.foreign", path=str(backup.path), part=name)


def _load_database(work: Path, given: str) -> tuple[Tree, ...]:
    dump = work / DATABASE
    if given:
        load(given, dump)
        dump.unlink()
        return trees_of(given)
    embedded = EmbeddedPostgres(work)
    embedded.start()
    try:
        load(embedded.dsn, dump)
        dump.unlink()
        return trees_of(embedded.dsn)
    finally:
        embedded.stop()


def _check_trees(here: tuple[Tree, ...], manifest: Manifest) -> None:
    for found, told in zip(here, manifest.trees, strict=True):
        if found != told:
            raise UsageError(
                "restore.other_tree", contest=told.contest, here=found.root, should_be=told.root
            )
