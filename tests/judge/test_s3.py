"""The stores in a bucket of an S3-compatible service: the same functions, and a whole hand-in scored from it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.core.files.storage import Storage, storages
from django.db import connection
from django.utils.module_loading import import_string
from psycopg.conninfo import make_conninfo
from tests.judge.scoring_helpers import anonymized, hand_in, new_round, prepare

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.backup import write_backup
from kakurenbo.judge.operations.restore import restore
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import SecretFile
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.judge.serve.settings import _store
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Blob, State

pytest.importorskip(
    "boto3", reason="what speaks to S3 is not installed: pip install 'kakurenbo[s3]'"
)
moto_server = pytest.importorskip(
    "moto.server", reason="moto is not installed: pip install 'moto[s3]' flask flask-cors"
)

pytestmark = pytest.mark.django_db
_BUCKET = "contest"


@pytest.fixture(scope="module")
def service() -> Iterator[Mapping[str, Storage]]:
    """An S3 service in this process, and the stores that the judge's settings make of it."""
    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = {
        "AWS_ENDPOINT_URL_S3": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "KAKURENBO_JUDGE_S3_BUCKET": _BUCKET,
    }
    with mock.patch.dict(os.environ, found):
        described = {"default": _store("files"), "secret": _store("secret")}
        yield {
            name: import_string(one["BACKEND"])(**one["OPTIONS"]) for name, one in described.items()
        }
    server.stop()


@pytest.fixture
def bucket(service: Mapping[str, Storage], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty bucket that the judge keeps its files in."""
    for name, made in service.items():
        monkeypatch.setitem(storages._storages, name, made)  # type: ignore[attr-defined]
    bucket = service["default"].bucket  # type: ignore[attr-defined]
    bucket.create()
    yield bucket
    bucket.objects.all().delete()


def names_in(bucket: Any) -> list[str]:
    return sorted(one.key for one in bucket.objects.all())


def test_bytes_are_kept_once_under_their_digest_and_nothing_is_left_on_this_machine(
    bucket: Any, tmp_path: Path
) -> None:
    with mock.patch("tempfile.tempdir", str(tmp_path)):
        first, second = store.put(b"hidden"), store.put(part for part in (b"hid", b"den"))
        upload = store.incoming() / "upload"
        upload.write_bytes(b"sent")
        adopted = store.adopt(upload, hashlib.sha256(b"sent").hexdigest(), 4)
    assert first == second
    assert names_in(bucket) == sorted(
        f"files/{store.name_of(blob.digest)}" for blob in (first, adopted)
    )
    assert list(tmp_path.iterdir()) == []
    with store.open_blob(adopted.digest) as file:
        assert file.read() == b"sent"
    with pytest.raises(FileNotFoundError), store.open_blob("0" * 64) as file:
        file.read()


def test_secrets_lie_apart_and_are_revealed_by_a_copy(bucket: Any) -> None:
    digest, size = store.put_secret(b"answer")
    assert (size, store.read_secret(digest)) == (6, b"answer")
    assert names_in(bucket) == [f"secret/{store.name_of(digest)}"]
    assert not Blob.objects.exists()
    store.reveal(digest)
    with store.open_blob(digest) as file:
        assert file.read() == b"answer"


def test_a_large_file_goes_through_piece_by_piece(bucket: Any) -> None:
    piece = hashlib.sha256(b"seed").digest() * 32768
    blob = store.put(piece for _ in range(12))
    whole = hashlib.sha256()
    with store.open_blob(blob.digest) as file:
        while part := file.read(1 << 20):
            whole.update(part)
    assert (blob.size, whole.hexdigest()) == (12 * len(piece), blob.digest)
    assert bucket.Object(f"files/{store.name_of(blob.digest)}").content_length == blob.size


@pytest.mark.usefixtures("plugins")
def test_a_hand_in_is_scored_with_the_bucket_as_the_only_store(
    bucket: Any, fork_server: ForkServer, tmp_path: Path
) -> None:
    worker = Worker(tmp_path / "work", server=fork_server)
    round_ = new_round("hide-and-seek", {"size": 20}, "only")
    prepare(round_, worker)
    submission = hand_in(round_, "01", anonymized(round_, "01", tmp_path / "handed-out"))
    worker.drain()
    submission.refresh_from_db()
    assert submission.state == State.SCORED
    assert {name.split("/")[0] for name in names_in(bucket)} == {"files", "secret"}
    assert all(
        storages["secret"].exists(store.name_of(one.digest)) for one in SecretFile.objects.all()
    )


@pytest.mark.django_db(transaction=True)
def test_a_judge_whose_files_are_in_a_bucket_is_backed_up_and_restored_into_an_empty_one(
    bucket: Any,
    embedded_database: EmbeddedPostgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    SecretFile.objects.all().delete()  # of which Django does not know that other tests left some
    blob = store.put(b"open")
    digest, size = store.put_secret(b"an answer")
    SecretFile.objects.create(round_id=1, path="answers/a", digest=digest, size=size)
    dsn = make_conninfo(embedded_database.dsn, dbname=connection.settings_dict["NAME"])
    made = write_backup(tmp_path, dsn, tmp_path / "out")
    assert [part.name.split("/")[0] for part in made.parts] == ["database.dump", "secret", "files"]
    with psycopg.connect(embedded_database.dsn, autocommit=True) as owner:
        owner.execute("CREATE DATABASE of_a_bucket")
        monkeypatch.setenv(
            "DATABASE_URL", make_conninfo(embedded_database.dsn, dbname="of_a_bucket")
        )
        with pytest.raises(UsageError, match="empty bucket"):
            restore(tmp_path / "out", tmp_path / "again")
        kept = sorted(one.key for one in bucket.objects.all())
        bucket.objects.all().delete()
        restore(tmp_path / "out", tmp_path / "again")
        owner.execute("DROP DATABASE of_a_bucket WITH (FORCE)")
    assert sorted(one.key for one in bucket.objects.all()) == kept
    with store.open_blob(blob.digest) as file:
        assert (store.read_secret(digest), file.read()) == (b"an answer", b"open")
    SecretFile.objects.all().delete()
