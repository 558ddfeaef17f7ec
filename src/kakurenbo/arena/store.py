"""The results of jobs on disk: a folder per job under its content hash, complete or not there at all.

A job's folder appears by a single rename, so that killing any process at any moment leaves either the whole result or none.
What a job gave (``result.json`` and ``files/``) is a function of its key; what it took (``meta.json``) is not.

A run has several stores, by who may see what is in them: nothing from which an answer follows lies where attacks read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.core import json_bytes, json_object, read_file, read_folder
from kakurenbo.core.errors import KakurenboError, UsageError

DONE, REFUSED, FAILED = "done", "refused", "failed"
OPEN, SECRET, TEAMS = "store", "secret", "teams"
"""Folders of a run: what attackers may see, what the judge keeps, and a folder for each team with what it alone was given."""
_STALE_SECONDS = 3600
_RESULT_LIMIT = 200_000_000  # bytes of what one job found


class Damaged(KakurenboError):
    """A stored file is not what was written; the job that wrote it has to be repeated."""


@dataclass(frozen=True)
class Result:
    """What became of one job.

    Attributes
    ----------
    key : str
        Content hash of the job.
    state : str
        ``done``; ``refused`` where the input broke the rules; ``failed`` where the method broke.
    value : mapping
        What the job found, ready for JSON.
    trees : mapping of folder name to digest
        The folders of files it wrote beside the result. The digest of a tree covers names and contents.
    handed_out : mapping of place to digest
        The folders of files it wrote for others, in their stores: ``store/target-01``, ``teams/01/handout``.
    cause : str
        Why it was refused or failed, in a sentence.
    """

    key: str
    state: str
    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, str] = field(default_factory=dict)
    handed_out: Mapping[str, str] = field(default_factory=dict)
    cause: str = ""


class Store:
    """A folder of results by key; any number of processes may write to it at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def folder(self, key: str) -> Path:
        return self.path / key[:2] / key

    def get(self, key: str) -> Result | None:
        """The stored result; None where there is none, or where it does not read as one."""
        try:
            result = msgspec.json.decode(
                read_file(self.folder(key) / "result.json", _RESULT_LIMIT), type=Result
            )
        except (UsageError, msgspec.MsgspecError, RecursionError):
            return None
        return result if result.key == key else None

    def meta(self, key: str) -> dict[str, Any]:
        """How the job went (seconds, traceback ...); empty where nothing was noted."""
        try:
            return json_object(self.folder(key) / "meta.json", "run")
        except UsageError:
            return {}

    def put(
        self,
        key: str,
        state: str,
        value: Mapping[str, Any],
        *,
        trees: Mapping[str, Mapping[str, bytes]] | None = None,
        handed_out: Mapping[str, str] | None = None,
        cause: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> Result:
        """Store a result whole; where another process was first, its result stands."""
        trees = trees or {}
        digests = {name: tree_digest(files) for name, files in trees.items()}
        result = Result(key, state, value, digests, handed_out or {}, cause)
        final = self.folder(key)
        final.parent.mkdir(parents=True, exist_ok=True)
        (self.path / "tmp").mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=self.path / "tmp", prefix=f"{key[:12]}-"))
        try:
            _write_trees(temporary / "files", trees)
            (temporary / "meta.json").write_bytes(json_bytes(dict(meta or {})))
            (temporary / "result.json").write_bytes(json_bytes(msgspec.to_builtins(result)))
            return self._place(temporary, final, result)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _place(self, temporary: Path, final: Path, result: Result) -> Result:
        try:
            os.rename(temporary, final)
        except OSError:  # a folder is there already
            first = self.get(result.key)
            if first is not None:
                return first
            shutil.rmtree(final, ignore_errors=True)  # half a folder: damaged from outside
            os.rename(temporary, final)
        return result

    def drop(self, key: str) -> None:
        """Forget a result, so that its job is played again."""
        aside = self.path / "tmp" / f"dropped-{key[:12]}-{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            aside.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.folder(key), aside)  # first out of sight, at one moment; then deleted
        shutil.rmtree(aside, ignore_errors=True)

    def tree(self, key: str, name: str) -> Path:
        """The folder of files that a job wrote under a name."""
        return self.folder(key) / "files" / name

    def sweep(self) -> None:
        """Remove what killed processes left behind unfinished."""
        for path in (self.path / "tmp").glob("*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)


class Stores:
    """The stores of a run: ``store``, ``secret`` and ``teams/NN`` below its folder."""

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out)

    def at(self, root: str) -> Store:
        """The store ``store``, ``secret`` or ``teams/NN``."""
        return Store(self.out / root)

    def begin(self) -> None:
        """Make the folders, those with secrets for their owner alone, and remove what killed processes left behind."""
        for root, mode in ((OPEN, 0o777), (SECRET, 0o700), (TEAMS, 0o700)):
            (self.out / root).mkdir(parents=True, exist_ok=True, mode=mode)
        for path in (self.out / OPEN, self.out / SECRET, *(self.out / TEAMS).iterdir()):
            Store(path).sweep()

    def handed_out(self, key: str, place: str) -> Path:
        """The folder of files that a job wrote for others."""
        root, _, name = place.rpartition("/")
        return self.at(root).tree(key, name)

    def drop(self, root: str, result: Result) -> None:
        """Forget a result and what it handed out."""
        for place in result.handed_out:
            self.at(place.rpartition("/")[0]).drop(result.key)
        self.at(root).drop(result.key)

    def is_whole(self, root: str, result: Result) -> bool:
        """Whether all files of a result are as they were written."""
        trees = {
            self.at(root).tree(result.key, name): digest for name, digest in result.trees.items()
        }
        trees |= {
            self.handed_out(result.key, place): digest
            for place, digest in result.handed_out.items()
        }
        try:
            for path, digest in trees.items():
                verified(path, digest)
        except Damaged:
            return False
        return True


def tree_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 over names and contents of a folder of files."""
    lines = [f"{hashlib.sha256(data).hexdigest()} {name}\n" for name, data in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def verified(path: Path, digest: str) -> Path:
    """The folder, after checking that it holds the bytes it should."""
    try:
        found = tree_digest(read_folder(path))
    except (OSError, UsageError) as error:
        raise Damaged("error.stored_unreadable", reason=error) from error
    if found != digest:
        raise Damaged("error.stored_changed")
    return path


def content_hash(content: object) -> str:
    """SHA-256 of JSON content, whatever the order of its keys."""
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def _write_trees(path: Path, trees: Mapping[str, Mapping[str, bytes]]) -> None:
    for tree, files in trees.items():
        (path / tree).mkdir(parents=True)
        for name, data in files.items():
            target = path / tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
