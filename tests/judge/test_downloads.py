"""Downloads come whole, in the pieces in which they are made."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Iterable

import zipstream
from django.core.handlers.asgi import ASGIRequest
from django.test import AsyncRequestFactory

from kakurenbo.judge.contests.archive import zipped
from kakurenbo.judge.downloads import download


def received(chunks: Iterable[bytes]) -> bytes:
    """What a browser gets under ASGI."""
    request = AsyncRequestFactory().get("/")
    assert isinstance(request, ASGIRequest)

    async def read() -> bytes:
        return b"".join([chunk async for chunk in download(request, chunks, "file")])  # type: ignore[union-attr]

    return asyncio.run(read())


def test_an_empty_piece_is_not_the_end() -> None:
    assert received([b"a", b"", b"b"]) == b"ab"


def test_a_zip_that_is_made_while_it_is_sent_comes_whole() -> None:
    stream = zipstream.ZipStream()
    stream.add(iter([b"one"]), "1.txt")
    stream.add(iter([b"two"]), "2.txt")
    with zipfile.ZipFile(io.BytesIO(received(stream))) as made:
        assert {name: made.read(name) for name in made.namelist()} == {
            "1.txt": b"one",
            "2.txt": b"two",
        }


def test_everybody_may_read_what_is_unpacked_from_an_archive() -> None:
    content = b"".join(zipped([("a/1.txt", b"one"), ("a/2.txt", iter([b"two"]))]))
    with zipfile.ZipFile(io.BytesIO(content)) as made:
        assert made.testzip() is None
        assert [info.external_attr >> 16 for info in made.infolist()] == [0o100644, 0o100644]
