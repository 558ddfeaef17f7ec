"""Results of jobs on disk: a folder for each under its content hash, whole or not there at all.

A folder appears by a single rename: killing any process at any moment leaves either the whole result or nothing. What a job
gave (``result.json`` and ``files/``) depends on its key alone; how it went (``meta.json``) does not.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import CONTEST_FILE, Files
from kakurenbo.contest.folders import ContestFacts
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.core import README_FILES, json_bytes, json_object, read_file, read_folder
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.remembering import Memory

DONE, REFUSED, FAILED = "done", "refused", "failed"
OPEN, SECRET, TEAMS = "store", "secret", "teams"
"""Stores of a run: what attackers may see, what the judge keeps, and one for each team with what it alone was given."""
_STALE_SECONDS = 3600
_RESULT_LIMIT = 200_000_000  # bytes of a result.json
_TREES_IN_MEMORY = 16


class DamagedTree(KakurenboError):
    """Stored files are not what was written: the job that wrote them has to be repeated."""


@dataclass(frozen=True)
class TreeDigests:
    """SHA-256 of a folder of files.

    Attributes
    ----------
    whole : str
        Over all names and contents.
    content : str
        Without what ``contest.json`` and READMEs say of other teams and of dates.
    """

    whole: str
    content: str

    @classmethod
    def of(cls, files: Files) -> TreeDigests:
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        whole = _lines_digest(digests)
        if CONTEST_FILE not in files:
            return cls(whole, whole)
        facts = msgspec.json.decode(files[CONTEST_FILE], type=ContestFacts)
        lasting = replace(
            facts,
            teams=(),
            unranked=(),
            judges=(),
            schedule=NO_SCHEDULE,
            commitments="",
            version="",
        )
        digests[CONTEST_FILE] = hashlib.sha256(lasting.as_bytes()).hexdigest()
        read_by_methods = {
            name: digest for name, digest in digests.items() if name not in README_FILES
        }
        return cls(whole, _lines_digest(read_by_methods))


@dataclass(frozen=True)
class Outcome:
    """What a job gives back.

    Attributes
    ----------
    value : mapping
        What it found, ready for JSON.
    trees : mapping of place to Files
        Folders of files: by a plain name for the job's own store, as ``store/target-01`` for another.
    state : str
        ``done``; ``refused`` where the input broke the rules; ``failed`` where the method broke.
    cause : str
        Why it was refused or failed, in a sentence.
    meta : mapping
        How it went: seconds, process, traceback.
    """

    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, Files] = field(default_factory=dict)
    state: str = DONE
    cause: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What became of a job, as it is stored: an `Outcome` under its key, with digests in place of files."""

    key: str
    state: str
    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, TreeDigests] = field(default_factory=dict)
    cause: str = ""


class RunStore:
    """The stores below the folder of a run; only the run itself writes."""

    def __init__(self, out: str | Path) -> None:
        self.out = Path(out)
        self._verified: set[Path] = set()
        self._trees = Memory(_TREES_IN_MEMORY)

    def begin(self) -> None:
        """Make the folders, secret ones for their owner alone, and remove what killed runs left unfinished."""
        for root, mode in ((OPEN, 0o777), (SECRET, 0o700), (TEAMS, 0o700)):
            (self.out / root).mkdir(parents=True, exist_ok=True, mode=mode)
        for root in (OPEN, SECRET, f"{TEAMS}/*"):
            for path in self.out.glob(f"{root}/tmp/*"):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                        shutil.rmtree(path, ignore_errors=True)

    def folder(self, root: str, key: str) -> Path:
        return self.out / root / key[:2] / key

    def tree(self, root: str, key: str, place: str) -> Path:
        """Return the folder of files that a job of a store wrote to a place."""
        other, _, name = place.rpartition("/")
        return self.folder(other or root, key) / "files" / name

    def get(self, root: str, key: str) -> Result | None:
        """Return the stored result; None where there is none or it cannot be read."""
        try:
            data = read_file(self.folder(root, key) / "result.json", _RESULT_LIMIT)
            result = msgspec.json.decode(data, type=Result)
        except (UsageError, msgspec.MsgspecError, RecursionError):
            return None
        return result if result.key == key else None

    def meta(self, root: str, key: str) -> dict[str, Any]:
        """Return how the job went; empty where nothing was noted."""
        try:
            return json_object(self.folder(root, key) / "meta.json", "run")
        except UsageError:
            return {}

    def put(self, root: str, key: str, outcome: Outcome) -> Result:
        """Store an outcome; what it has for other stores is there before the result that names it."""
        digests = {place: TreeDigests.of(files) for place, files in outcome.trees.items()}
        result = Result(key, outcome.state, outcome.value, digests, outcome.cause)
        places = {place: place.rpartition("/")[0] for place in outcome.trees}
        for other in sorted(set(places.values()) - {""}):
            handed_out = [place for place in places if places[place] == other]
            names = {place.rpartition("/")[2]: digests[place] for place in handed_out}
            files = {place.rpartition("/")[2]: outcome.trees[place] for place in handed_out}
            self._write(other, Result(key, DONE, trees=names), files, {})
        own = {place: outcome.trees[place] for place in places if not places[place]}
        self._write(root, result, own, outcome.meta)
        self._verified |= {self.tree(root, key, place) for place in outcome.trees}
        return result

    def _write(
        self, root: str, result: Result, trees: Mapping[str, Files], meta: Mapping[str, Any]
    ) -> None:
        if self.get(root, result.key) is not None:
            return  # a run that was killed between two stores
        final, aside = self.folder(root, result.key), self.out / root / "tmp"
        final.parent.mkdir(parents=True, exist_ok=True)
        aside.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=aside, prefix=f"{result.key[:12]}-"))
        try:
            for tree, files in trees.items():
                (temporary / "files" / tree).mkdir(parents=True)
                for name, data in files.items():
                    path = temporary / "files" / tree / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
            (temporary / "meta.json").write_bytes(json_bytes(dict(meta)))
            (temporary / "result.json").write_bytes(json_bytes(msgspec.to_builtins(result)))
            self._remove(root, result.key)
            os.rename(temporary, final)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def drop(self, root: str, result: Result) -> None:
        """Forget a result with what it has in other stores, so that its job is played again."""
        for other in {place.rpartition("/")[0] or root for place in result.trees} | {root}:
            self._remove(other, result.key)

    def _remove(self, root: str, key: str) -> None:
        aside = self.out / root / "tmp" / f"dropped-{key[:12]}-{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            aside.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.folder(root, key), aside)  # out of sight at one moment, then deleted
        shutil.rmtree(aside, ignore_errors=True)

    def read(self, path: Path, digest: str) -> Files:
        """Return the files of a folder; raise DamagedTree where they are not those of the digest.

        A folder is hashed once: when this run writes it, or when it first reads what an earlier one wrote.
        """
        return self._trees.remembered((path, digest), lambda: self._read(path, digest))

    def _read(self, path: Path, digest: str) -> Files:
        try:
            files = read_folder(path)
        except (OSError, UsageError) as error:
            raise DamagedTree("error.stored_unreadable", reason=error) from error
        if path not in self._verified and TreeDigests.of(files).whole != digest:
            raise DamagedTree("error.stored_changed")
        self._verified.add(path)
        return files

    def is_whole(self, root: str, result: Result) -> bool:
        """Return whether all files of a result are as they were written."""
        paths = {
            self.tree(root, result.key, place): digests.whole
            for place, digests in result.trees.items()
        }
        self._trees.forget()
        self._verified -= paths.keys()
        try:
            for path, digest in paths.items():
                self._read(path, digest)
        except DamagedTree:
            return False
        return True


def content_hash(content: object) -> str:
    """Return SHA-256 of JSON content, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _lines_digest(digests: Mapping[str, str]) -> str:
    lines = [f"{digest} {name}\n" for name, digest in sorted(digests.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
