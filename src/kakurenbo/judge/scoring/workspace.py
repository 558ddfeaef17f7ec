"""The worker's folders: what a step may see of a round, made from the stores, and nothing beside it.

Trees of a round never change once they are stored, so that each is fetched once and kept under the digest of its content. The
judge's steps get links to them. A player's step gets copies, in a folder from which no path leads to anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path

from django.db.models import Q

from kakurenbo.judge.contests.models import Round
from kakurenbo.judge.scoring.child import HANDOUT
from kakurenbo.judge.scoring.models import RoundFile, SecretFile
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Submission

_MOST_TREES = 200
_CHUNK = 1 << 20


class Workspace:
    """Folders of one worker.

    Parameters
    ----------
    root : Path
        The worker's own; it is emptied when the worker begins and removed when it ends.
    """

    def __init__(self, root: Path) -> None:
        shutil.rmtree(root, ignore_errors=True)
        self._trees, self._jobs = root / "trees", root / "jobs"
        for folder in (root, self._trees, self._jobs):
            folder.mkdir(mode=0o700, parents=True)
        self._root = root

    def remove(self) -> None:
        """Leave nothing."""
        shutil.rmtree(self._root, ignore_errors=True)

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for one step, gone afterwards."""
        made = Path(tempfile.mkdtemp(dir=self._jobs))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    # -- what the judge's steps see --------------------------------------------------------------------------------

    def link_preparation(self, folder: Path, round: Round) -> None:
        """The organizer's whole folder of a round, under ``preparation``: handouts, what attackers get, secrets."""
        tree = self._tree(
            _open_files(round, ("public/", "teams/", "attackers/")), _secret_files(round, "secret/")
        )
        (folder / "preparation").symlink_to(tree, target_is_directory=True)

    def link_phase(
        self, folder: Path, round: Round, targets: Iterable[str], *, answers: bool
    ) -> None:
        """Published releases under ``phase``, and where credits are given their answers."""
        phase = folder / "phase"
        (phase / "targets").mkdir(parents=True)
        _link(
            phase / "attackers", self._tree(_open_files(round, ("attackers/",), strip="attackers/"))
        )
        if answers:
            (phase / "answers").mkdir()
        for name in targets:
            target = f"targets/{name}/"
            _link(phase / "targets" / name, self._tree(_open_files(round, (target,), strip=target)))
            if answers:
                answer = f"answers/{name}/"
                _link(
                    phase / "answers" / name,
                    self._tree({}, _secret_files(round, answer, strip=answer)),
                )

    # -- what players' steps see -----------------------------------------------------------------------------------

    @staticmethod
    def copy_handout(folder: Path, round: Round, team: str) -> None:
        """What one team was given, under ``handout``."""
        own = f"teams/{team}/"
        _write(folder / HANDOUT, _open_files(round, (own,), strip=own))

    @staticmethod
    def copy_phase(folder: Path, round: Round, targets: Iterable[str], attacker: str = "") -> None:
        """What an attacker gets, under ``phase``: published releases, and what is beside them; no part dealt to another."""
        prefixes = ("attackers/", *(f"targets/{name}/" for name in targets))
        files = _open_files(round, prefixes)
        own = {
            path: digest
            for path, digest in files.items()
            if "/for_" not in path or f"/for_{attacker}/" in path
        }
        _write(folder / "phase", own)

    # -- what was handed in ----------------------------------------------------------------------------------------

    @staticmethod
    def copy_submission(folder: Path, submission: Submission) -> None:
        """The files of a submission; their names lead nowhere else, whatever was let in."""
        names = [file.name for file in submission.files.all()]
        if any(Path(name).name != name for name in names):
            raise ValueError(f"{submission}: a file of it has a path for a name")
        _write(folder, {file.name: file.blob_id for file in submission.files.all()})

    def _tree(
        self, open_files: Mapping[str, str], secret_files: Mapping[str, str] | None = None
    ) -> Path:
        secrets = secret_files or {}
        key = hashlib.sha256(
            repr((sorted(open_files.items()), sorted(secrets.items()))).encode()
        ).hexdigest()
        tree = self._trees / key
        if not tree.is_dir():
            made = Path(tempfile.mkdtemp(dir=self._jobs))
            _write(made, open_files)
            for name, digest in secrets.items():
                _write_bytes(_within(made, name), [store.read_secret(digest)])
            made.rename(tree)
            self._forget()
        os.utime(tree)
        return tree

    def _forget(self) -> None:
        """Remove trees that were not used for longest."""
        by_use = sorted(self._trees.iterdir(), key=lambda tree: tree.stat().st_mtime, reverse=True)
        for tree in by_use[_MOST_TREES:]:
            shutil.rmtree(tree, ignore_errors=True)


def _open_files(round: Round, prefixes: Iterable[str], strip: str = "") -> dict[str, str]:
    wanted = reduce(or_, (Q(path__startswith=prefix) for prefix in prefixes))
    found = RoundFile.objects.filter(wanted, round=round).values_list("path", "blob_id")
    return {path.removeprefix(strip): digest for path, digest in found}


def _secret_files(round: Round, prefix: str, strip: str = "") -> dict[str, str]:
    found = SecretFile.objects.filter(round_id=round.pk, path__startswith=prefix).values_list(
        "path", "digest"
    )
    return {path.removeprefix(strip): digest for path, digest in found}


def _link(place: Path, tree: Path) -> None:
    place.symlink_to(tree, target_is_directory=True)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, digest in files.items():
        with store.open_blob(digest) as file:
            _write_bytes(_within(folder, name), iter(lambda: file.read(_CHUNK), b""))


def _within(folder: Path, name: str) -> Path:
    """Where a file of a tree lies; the database tells names, and none leads out of the folder, whoever wrote them."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(f"{name}: the path of a file leads out of its folder")
    return folder / name


def _write_bytes(place: Path, parts: Iterable[bytes]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as file:
        for part in parts:
            file.write(part)
