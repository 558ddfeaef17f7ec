"""A backup is whole or not there, every byte of it counts, and it is restored into what is empty."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.storage import storages
from django.db import connection
from django.utils import timezone
from psycopg.conninfo import make_conninfo
from tests.calling import call
from tests.judge import making

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations import backup as backups
from kakurenbo.judge.operations.backup import write_backup
from kakurenbo.judge.operations.container import Backup
from kakurenbo.judge.operations.database import trees_of
from kakurenbo.judge.operations.restore import restore
from kakurenbo.judge.scoring.models import RoundFile, SecretFile, Visible
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Blob
from kakurenbo.judge.trust.models import SigningKey

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dsn(embedded_database: EmbeddedPostgres) -> str:
    """The database of the tests, as programs of PostgreSQL reach it."""
    return make_conninfo(embedded_database.dsn, dbname=connection.settings_dict["NAME"])


@pytest.fixture
def judge(judge_home: Path) -> Path:
    """A judge with a contest, a file of each store, and one that nothing refers to."""
    SecretFile.objects.all().delete()  # of which Django does not know that other tests left some
    contest = making.contest()
    making.team(contest, "foxes")
    round_ = contest.rounds.get()
    RoundFile.objects.create(
        round=round_,
        path="public/a.csv",
        visible=Visible.PUBLIC,
        blob=store.put(b"handed out\n" * 300),
    )
    digest, size = store.put_secret(b"an answer")
    SecretFile.objects.create(round_id=round_.pk, path="answers/01/a.csv", digest=digest, size=size)
    store.put(b"nobody's")
    (judge_home / "secret-key").write_text("the key of sessions")
    return judge_home


@pytest.fixture
def empty_database(
    embedded_database: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A database of one's own, by DATABASE_URL."""
    address = make_conninfo(embedded_database.dsn, dbname="elsewhere")
    with psycopg.connect(embedded_database.dsn, autocommit=True) as owner:
        owner.execute("CREATE DATABASE elsewhere")
        monkeypatch.setenv("DATABASE_URL", address)
        yield address
        owner.execute("DROP DATABASE elsewhere WITH (FORCE)")


def stores_in(home: Path, settings: Any) -> None:
    """Let the stores be those of a judge that is being restored here, as in a process of its own."""
    backend = "django.core.files.storage.FileSystemStorage"
    places = {"default": home / "new" / "files", "secret": home / "new" / "secret"}
    stores = {
        name: {"BACKEND": backend, "OPTIONS": {"location": place}} for name, place in places.items()
    }
    settings.STORAGES = {**settings.STORAGES, **stores}


def kept_in(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file())
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in files}


def test_what_is_restored_into_a_database_of_ones_own_is_what_was_backed_up_and_only_its_owner_reads_it(
    judge: Path, dsn: str, empty_database: str, tmp_path: Path, settings: Any
) -> None:
    made = write_backup(judge, dsn, tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
    stores_in(tmp_path / "again", settings)
    assert (
        restore(tmp_path / "out", tmp_path / "again").trees
        == made.trees
        == trees_of(empty_database)
    )
    before = {
        name: content
        for name, content in kept_in(judge).items()
        if name.startswith(("files/", "secret"))
    }
    assert kept_in(tmp_path / "again") == {
        name: content for name, content in before.items() if "incoming" not in name
    }
    assert not [path for path in (tmp_path / "again").rglob("*") if path.stat().st_mode & 0o066], (
        "nobody else looks in"
    )
    with psycopg.connect(empty_database) as there:
        keys = there.execute("SELECT private FROM secret.signing_key").fetchall()
        with pytest.raises(psycopg.errors.RaiseException, match="only ever added to"):
            there.execute("DELETE FROM trust_logentry")
    assert keys == [(bytes(key),) for key in SigningKey.objects.values_list("private", flat=True)]
    with pytest.raises(UsageError, match="empty database"):
        restore(tmp_path / "out", tmp_path / "third")
    assert not (tmp_path / "third").exists()


def test_every_byte_of_a_backup_counts_and_what_is_damaged_is_named_before_anything_is_made(
    judge: Path, dsn: str, tmp_path: Path
) -> None:
    write_backup(judge, dsn, out := tmp_path / "out")
    whole = out.read_bytes()
    with tarfile.open(out) as tar:
        members = tar.getmembers()
    assert [member.name.split("/")[0].partition("-")[0] for member in members] == [
        *("database.dump", "secret", "secret"),
        *("files", "files", "manifest"),
    ]
    before = ""
    for member in members:
        for place in (
            member.offset + 3,
            member.offset + 150,
            member.offset_data,
            member.offset_data + member.size - 1,
        ):
            flipped = bytearray(whole)
            flipped[place] ^= 1
            named = damaged(out, bytes(flipped))
            header = place < member.offset_data
            assert f"from byte {member.offset if header else member.offset_data} on" in named, (
                member.name,
                place,
                named,
            )
            if header and before:
                assert f"which follows {before}" in named
            assert member.name in named or place == member.offset + 3 or not before
        if member.size % 512:
            flipped = bytearray(whole)
            flipped[member.offset_data + member.size] = 1
            named = damaged(out, bytes(flipped))
            assert f"from byte {member.offset_data + member.size} on: {member.name}" in named
        before = member.name
    for cut in (len(whole) // 2, members[-1].offset, members[0].size, 700, 0):
        damaged(out, whole[:cut])
    assert "manifest" in damaged(out, whole[:-1] + b"1")
    first, last = members[-3], members[-2]
    damaged(out, whole[: first.offset] + whole[last.offset :])
    out.write_bytes(whole)
    opened = Backup(out)
    assert len(opened.checked().parts) == len(members) - 1
    opened.close()


def damaged(out: Path, content: bytes) -> str:
    """What ``restore`` says of a damaged backup; nothing is left behind."""
    out.write_bytes(content)
    home = out.parent / "again"
    found = call("restore", out, "--home", home)
    assert (found.code, "damaged" in found.json["error"], home.exists()) == (2, True, False), found
    return str(found.json["error"])


def test_a_file_that_the_sweep_forgets_between_snapshot_and_copy_is_no_failure_and_one_that_is_needed_is_named(
    judge: Path, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "_ON_ITS_WAY_SECONDS", 0.2)
    dumped = backups.Moment.dump

    def dump_and_forget(moment: backups.Moment, place: Path) -> None:
        dumped(moment, place)
        assert store.forget_unused(timezone.now() + timedelta(hours=1)) == 1

    monkeypatch.setattr(backups.Moment, "dump", dump_and_forget)
    made = write_backup(judge, dsn, tmp_path / "out")
    monkeypatch.setattr(backups.Moment, "dump", dumped)
    assert [part.name.split("/")[0] for part in made.parts] == [
        "database.dump",
        "secret-key",
        "secret",
        "files",
    ]
    for name, digest in (
        ("default", Blob.objects.get().digest),
        ("secret", SecretFile.objects.get().digest),
    ):
        place = Path(storages[name].path(store.name_of(digest)))
        content = place.read_bytes()
        place.write_bytes(content[:-1] + b"x")
        with pytest.raises(UsageError, match=f"{digest}.*not what was stored"):
            write_backup(judge, dsn, tmp_path / "other")
        place.unlink()
        with pytest.raises(UsageError, match=f"{digest}.*does not have it"):
            write_backup(judge, dsn, tmp_path / "other")
        place.write_bytes(content)
    assert sorted(path.name for path in tmp_path.iterdir() if "o" in path.name) == ["out"], (
        "whole, or not at all"
    )


def test_a_backup_replaces_nothing_and_is_restored_into_nothing_that_holds_something(
    tmp_path: Path,
) -> None:
    (tmp_path / "out").write_text("mine")
    found = call("backup", "--home", tmp_path / "home", tmp_path / "out")
    assert (found.code, "replaces nothing" in found.json["error"]) == (2, True)
    assert (tmp_path / "out").read_text() == "mine"
    found = call("backup", "--home", tmp_path / "home", tmp_path / "other")
    assert (found.code, "no judge in this folder" in found.json["error"]) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (
        "no backup of a judge"
        in call("restore", tmp_path / "out", "--home", tmp_path / "home").json["error"]
    )
    assert call("restore", tmp_path / "nothing", "--home", tmp_path / "home").code == 2


def test_a_home_that_holds_something_is_refused(judge: Path, dsn: str, tmp_path: Path) -> None:
    write_backup(judge, dsn, tmp_path / "out")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note").write_text("mine")
    found = call("restore", tmp_path / "out", "--home", tmp_path / "taken")
    assert (found.code, "empty folder" in found.json["error"]) == (2, True)
    assert kept_in(tmp_path / "taken") == {"note": b"mine"}
    shutil.rmtree(tmp_path / "taken")
