"""The store: bytes are there whole under their digest, or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import InMemoryStorage, storages
from django.utils import timezone
from tests.judge import making

from kakurenbo.judge import halves
from kakurenbo.judge.scoring.models import SecretFile
from kakurenbo.judge.submissions import rules, store
from kakurenbo.judge.submissions.models import Blob, Submission

pytestmark = pytest.mark.django_db


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_bytes_are_kept_once_under_their_digest(judge_home: Path) -> None:
    first = store.put(b"hidden")
    second = store.put(part for part in (b"hid", b"den"))
    assert first == second
    assert (first.digest, first.size) == (hashlib.sha256(b"hidden").hexdigest(), 6)
    assert files_in(judge_home / "files") == [
        judge_home / "files" / first.digest[:2] / first.digest
    ]
    with store.open_blob(first.digest) as file:
        assert file.read() == b"hidden"


def test_a_body_that_breaks_off_leaves_nothing(judge_home: Path) -> None:
    def half_sent() -> Iterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        store.put(half_sent())
    assert files_in(judge_home) == []
    assert not Blob.objects.exists()


def test_what_a_process_left_half_that_is_gone_is_removed_and_what_is_being_written_stays(
    judge_home: Path,
) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        of_another = halves.prefix().replace(str(os.getpid()), str(process.pid))
        for folder, name in (
            ("files", halves.prefix()),
            ("files", of_another),
            ("secret", of_another),
            ("files", "other:1:"),
        ):
            (judge_home / folder / "incoming").mkdir(parents=True, exist_ok=True)
            (judge_home / folder / "incoming" / f"{name}x").touch()
        assert store.forget_halves() == 0
        process.kill()
    assert store.forget_halves() == 2
    assert sorted(file.name for file in files_in(judge_home)) == sorted(
        [f"{halves.prefix()}x", "other:1:x"]
    )


def test_a_file_that_the_intake_wrote_is_taken_over_by_a_rename(judge_home: Path) -> None:
    path = store.incoming() / "upload"
    path.write_bytes(b"sent")
    inode = path.stat().st_ino
    blob = store.adopt(path, hashlib.sha256(b"sent").hexdigest(), 4)
    assert not path.exists()
    (kept,) = files_in(judge_home / "files")
    assert (kept.name, kept.stat().st_ino) == (blob.digest, inode)
    path.write_bytes(b"sent")
    assert store.adopt(path, blob.digest, 4) == blob
    assert not path.exists()


def test_secrets_lie_apart_and_are_open_to_nobody_else(judge_home: Path) -> None:
    digest, size = store.put_secret(b"answer")
    assert size == 6
    assert store.read_secret(digest) == b"answer"
    with pytest.raises(FileNotFoundError):
        store.open_blob(digest)
    assert not Blob.objects.exists()
    for path in (judge_home / "secret").rglob("*"):
        assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


@pytest.mark.usefixtures("judge_home")
def test_a_name_that_is_no_digest_opens_nothing() -> None:
    for name in ("../../secret/x", "e3" * 31, "G" * 64):
        with pytest.raises(ValueError, match="no SHA-256"):
            store.open_blob(name)


def test_a_remote_store_is_used_through_the_same_functions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    remote = InMemoryStorage()
    monkeypatch.setitem(storages._storages, "default", remote)  # type: ignore[attr-defined]
    blob = store.put(b"far away")
    path = tmp_path / "upload"
    path.write_bytes(b"far away")
    assert store.adopt(path, blob.digest, 8) == blob
    assert not path.exists()
    with store.open_blob(blob.digest) as file:
        assert file.read() == b"far away"
    assert remote.listdir(blob.digest[:2]) == ([], [blob.digest])


def test_what_nothing_refers_to_is_forgotten_and_nothing_else(judge_home: Path) -> None:
    contest = making.contest(rulebook="amic2020", options={})
    hanako = making.user("hanako")
    entry = making.entry(making.team(contest, "foxes", hanako))
    phase, name = making.opened(contest), "pre_anonymizeddata_01.csv"
    now = making.START + timedelta(hours=1)

    def handed_in(content: bytes, *, finished: bool) -> Submission:
        begun = rules.begin(hanako, entry, phase, now)
        rules.add_file(begun, name, store.put(content))
        return rules.finish(begun, now) if finished else begun

    handed_in(b"received", finished=True)
    rules.withdraw(hanako, handed_in(b"taken back, but logged", finished=True), now)
    handed_in(b"still coming", finished=False)
    for content in (b"never handed in", b"received"):
        rules.withdraw(hanako, handed_in(content, finished=False), now)
    secret, size = store.put_secret(b"secret")
    SecretFile.objects.create(
        round_id=phase.round_id, path="secret/seed.json", digest=secret, size=size
    )
    store.reveal(secret)
    for content in (b"replaced", b"secret"):
        store.put(content)
    assert store.forget_unused(timezone.now()) == 0, "they may be about to be referred to"
    later = timezone.now() + timedelta(hours=1)
    assert store.forget_unused(later) == 2
    assert store.forget_unused(later) == 0
    left = {path.read_bytes() for path in files_in(judge_home / "files")}
    assert left == {b"received", b"taken back, but logged", b"still coming", b"secret"}
    assert store.put(b"replaced").size == 8
    with store.open_blob(hashlib.sha256(b"replaced").hexdigest()) as file:
        assert file.read() == b"replaced"
