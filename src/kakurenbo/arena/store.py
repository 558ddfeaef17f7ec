"""Results of jobs on disk: a folder for each under its content hash, whole or not there at all.

A folder appears by a single rename: killing any process at any moment leaves either the whole result or nothing. What a job
gave (``result.json`` and ``files/``) depends on its key alone; how it went (``meta.json``) does not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import CONTEST_FILE, Files
from kakurenbo.contest.folders import ContestFacts
from kakurenbo.contest.records import take_messages
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.core import README_FILES, Message, json_bytes, json_object, read_file, read_folder
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import with_message
from kakurenbo.core.remembering import Memory

DONE, REFUSED, FAILED, SKIPPED = "done", "refused", "failed", "skipped"
_MAX_RESULT_BYTES = 200_000_000
_TREES_IN_MEMORY = 16


@dataclass(frozen=True)
class TreeDigests:
    """SHA-256 of a folder of files: ``whole``, and ``content`` without what it says of other teams and of dates."""

    whole: str
    content: str

    @classmethod
    def of(cls, files: Files) -> TreeDigests:
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        whole = _lines_hash(digests)
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
        for name in README_FILES:
            digests.pop(name, None)
        return cls(whole, _lines_hash(digests))


@dataclass(frozen=True)
class Outcome:
    """What a job gives back.

    Attributes
    ----------
    value : mapping
        Ready for JSON.
    trees : mapping of name to Files
        Folders of files.
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
    """What became of a job: an `Outcome` under its key, with digests in place of files; no key where it was skipped."""

    key: str
    state: str
    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, TreeDigests] = field(default_factory=dict)
    cause: str = ""
    messages: Mapping[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        take_messages(self, "cause")

    @property
    def reason(self) -> str:
        """The cause with its message."""
        return with_message(self.cause, self.messages)


class ResultStore:
    """The results of a run, in a folder for its owner alone; only the run itself reads and writes it."""

    def __init__(self, out: str | Path) -> None:
        self.path = Path(out) / "jobs"
        self._aside = self.path / "tmp"
        self._trees = Memory(_TREES_IN_MEMORY)

    def begin(self) -> None:
        """Make the folder, and remove what a killed run left unfinished."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.rmtree(self._aside, ignore_errors=True)
        self._aside.mkdir()

    def folder(self, key: str) -> Path:
        return self.path / key[:2] / key

    def get(self, key: str) -> Result | None:
        """Return a stored result; None where there is none, or where its files are not as they were written."""
        try:
            data = read_file(self.folder(key) / "result.json", _MAX_RESULT_BYTES)
            result = msgspec.json.decode(data, type=Result)
            for name in result.trees:
                self.read(result, name)
        except (KakurenboError, OSError, msgspec.MsgspecError, RecursionError):
            return None
        return result if result.key == key else None

    def meta(self, key: str) -> dict[str, Any]:
        """Return how the job went; empty where nothing was noted."""
        try:
            return json_object(self.folder(key) / "meta.json", "run")
        except UsageError:
            return {}

    def put(self, key: str, outcome: Outcome) -> Result:
        """Store an outcome."""
        digests = {name: TreeDigests.of(files) for name, files in outcome.trees.items()}
        result = Result(key, outcome.state, outcome.value, digests, outcome.cause)
        temporary = Path(tempfile.mkdtemp(dir=self._aside))
        for tree, files in outcome.trees.items():
            (temporary / "files" / tree).mkdir(parents=True)
            for name, data in files.items():
                path = temporary / "files" / tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        (temporary / "meta.json").write_bytes(json_bytes(dict(outcome.meta)))
        (temporary / "result.json").write_bytes(
            json_bytes(msgspec.to_builtins(result, enc_hook=str))
        )
        self.drop(key)
        self.folder(key).parent.mkdir(exist_ok=True)
        os.rename(temporary, self.folder(key))
        for name in outcome.trees:
            self._trees.remembered((key, name), partial(outcome.trees.__getitem__, name))
        return result

    def drop(self, key: str) -> None:
        """Forget a result, so that its job is played again."""
        if self.folder(key).exists():
            aside = Path(tempfile.mkdtemp(dir=self._aside))
            os.rename(self.folder(key), aside)  # out of sight at one moment, then deleted
            shutil.rmtree(aside, ignore_errors=True)

    def read(self, result: Result, name: str) -> Files:
        """Return a folder of files that a job gave; KakurenboError where it is not as it was written."""
        digest = result.trees[name].whole

        def read() -> Files:
            files = read_folder(self.folder(result.key) / "files" / name)
            if TreeDigests.of(files).whole != digest:
                raise KakurenboError("error.stored_changed")
            return files

        return self._trees.remembered((result.key, name), read)


def content_hash(content: object) -> str:
    """Return SHA-256 of JSON content, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _lines_hash(digests: Mapping[str, str]) -> str:
    lines = [f"{digest} {name}\n" for name, digest in sorted(digests.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
