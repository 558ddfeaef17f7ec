"""Makers of hostile files: each takes the table that a team was given and makes of it what no judge should swallow."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable

PICKLE_MARK = "/tmp/kakurenbo-was-unpickled"
Maker = Callable[[bytes], bytes]
RELEASE_IN_ZIP = "C01_0.csv"
_CENTRAL, _LOCAL, _END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"
FLAGS, METHOD, CRC, SIZE = 8, 10, 16, 24  # where they stand in an entry of a zip's directory
_EARLIER = 2  # bytes that a local header is shorter by before them

# -- tables ----------------------------------------------------------------------------------------------------------------


def cell(value: bytes) -> Maker:
    """One cell of the first row holds this instead."""

    def make(table: bytes) -> bytes:
        first, _, rest = table.partition(b"\n")
        return value + b"," + first.partition(b",")[2] + b"\n" + rest

    return make


def instead(content: bytes) -> Maker:
    """Something else altogether."""
    return lambda _: content


def repeated(piece: bytes, times: int) -> Maker:
    return lambda _: piece * times


def rows_repeated(times: int) -> Maker:
    """Many more rows than were asked for."""
    return lambda table: table * times


def encoded(name: str) -> Maker:
    """The same text in another encoding, with a letter that tells it."""
    return lambda table: ("é" + table.decode()).encode(name)


def packed(layers: int, size: int = 0) -> Maker:
    """A table, or so many zeros, in gzip in gzip."""

    def make(table: bytes) -> bytes:
        content = b"0" * size or table
        for _ in range(layers):
            content = gzip.compress(content, compresslevel=1, mtime=0)
        return content

    return make


def of_numpy(_: bytes) -> bytes:
    import numpy as np

    content = io.BytesIO()
    np.savez(content, a=np.arange(5))
    return content.getvalue()


def of_parquet(_: bytes) -> bytes:
    import polars as pl

    content = io.BytesIO()
    pl.DataFrame({"a": [1, 2]}).write_parquet(content)
    return content.getvalue()


class _Calls:
    """Whoever unpickles it runs a command."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {PICKLE_MARK}",)


def of_pickle(_: bytes) -> bytes:
    return pickle.dumps(_Calls())


PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"
HTML = b"<!doctype html><html><body><script>alert(document.cookie)</script></body></html>\n"
ELF = b"\x7fELF\x02\x01\x01" + bytes(57)


# -- zips ------------------------------------------------------------------------------------------------------------------


def zipped(
    entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data, None if isinstance(name, zipfile.ZipInfo) else method)
    return content.getvalue()


def zip_of(*names: str, content: bytes = b"1,2\n", method: int = zipfile.ZIP_DEFLATED) -> Maker:
    """A zip whose entries have these names."""
    return lambda _: zipped([(name, content) for name in names], method)


def zip_with(*contents: bytes) -> Maker:
    """A zip that holds these contents under names that are asked for."""
    return lambda _: zipped(
        [(f"C01_{number}.csv", content) for number, content in enumerate(contents)]
    )


def zip_of_kind(kind: int, content: bytes = b"/etc/passwd") -> Maker:
    """A zip with a link, a device or a pipe in it."""

    def make(_: bytes) -> bytes:
        entry = zipfile.ZipInfo(RELEASE_IN_ZIP)
        entry.create_system, entry.external_attr = 3, (kind | 0o644) << 16
        return zipped([(entry, content)])

    return make


def zip_lying(
    at: int, form: str, value: int, *, local: bool = True, content: bytes = b"1,2\n" * 10
) -> Maker:
    """A zip whose directory, and mostly also the entry itself, says something else than what is there."""

    def make(_: bytes) -> bytes:
        made = bytearray(zipped([(RELEASE_IN_ZIP, content)], zipfile.ZIP_STORED))
        struct.pack_into(form, made, made.rindex(_CENTRAL) + at, value)
        if local:
            struct.pack_into(form, made, made.index(_LOCAL) + at - _EARLIER, value)
        return bytes(made)

    return make


def zip_of_overlaps(_: bytes) -> bytes:
    """Hundred entries that share one local header: a hundred times the same bytes, with no byte of their own."""
    made = zipped([(RELEASE_IN_ZIP, os.urandom(1000))], zipfile.ZIP_STORED)
    start, end = made.rindex(_CENTRAL), made.rindex(_END)
    entry = made[start:end]
    entries = b"".join(
        entry.replace(RELEASE_IN_ZIP.encode(), f"C01_{number}.csv".encode()) for number in range(10)
    )
    tail = struct.pack("<4s4H2LH", _END, 0, 0, 10, 10, len(entries), start, 0)
    return made[:start] + entries + tail


def zip_of_giant(extra: bytes) -> Maker:
    """A zip whose entry says in its extra field, as zip64 has it, that it is larger than any disk."""

    def make(_: bytes) -> bytes:
        made = zipped([(RELEASE_IN_ZIP, b"1,2\n")], zipfile.ZIP_STORED)
        start, end = made.rindex(_CENTRAL), made.rindex(_END)
        entry = bytearray(made[start:end] + extra)
        struct.pack_into("<LL", entry, 20, 0xFFFFFFFF, 0xFFFFFFFF)
        struct.pack_into("<H", entry, 30, len(extra))
        return (
            made[:start]
            + bytes(entry)
            + struct.pack("<4s4H2LH", _END, 0, 0, 1, 1, len(entry), start, 0)
        )

    return make


def zip_with_nul(_: bytes) -> bytes:
    return zipped([(RELEASE_IN_ZIP, b"1,2\n")]).replace(b"C01_0.csv", b"C01\x000.csv")


def zip_cut(_: bytes) -> bytes:
    return zipped([(RELEASE_IN_ZIP, os.urandom(500))])[:300]


def zip_bomb(size: int) -> Maker:
    """So many zeros, packed a thousandfold."""

    def make(_: bytes) -> bytes:
        packer = zlib.compressobj(1, zlib.DEFLATED, -15)
        piece, crc, parts = bytes(1 << 20), 0, []
        for _number in range(size >> 20):
            crc = zlib.crc32(piece, crc)
            parts.append(packer.compress(piece))
        body = b"".join(parts) + packer.flush()
        name = RELEASE_IN_ZIP.encode()
        sizes = (crc, len(body), size)
        local = struct.pack("<4s5H3L2H", _LOCAL, 20, 0, 8, 0, 33, *sizes, len(name), 0) + name
        entry = (
            struct.pack(
                "<4s6H3L5H2L", _CENTRAL, 20, 20, 0, 8, 0, 33, *sizes, len(name), 0, 0, 0, 0, 0, 0
            )
            + name
        )
        end = struct.pack("<4s4H2LH", _END, 0, 0, 1, 1, len(entry), len(local) + len(body), 0)
        return local + body + entry + end

    return make


LINK, DEVICE, BLOCK, PIPE, SOCKET = (
    stat.S_IFLNK,
    stat.S_IFCHR,
    stat.S_IFBLK,
    stat.S_IFIFO,
    stat.S_IFSOCK,
)
ZIP64_GIANT = struct.pack("<HHQQ", 1, 16, 1 << 60, 1 << 60)
ZIP64_BROKEN = struct.pack("<HH", 1, 60) + b"\1\2"
QUINE_LIKE = zipped([("a/a.zip", zipped([("a.zip", b"PK\5\6" + bytes(18))]))])


# -- large ones ------------------------------------------------------------------------------------------------------------


def zeros_in_gzip(size: int) -> Maker:
    """So many zeros, packed a thousandfold without ever being there."""

    def make(_: bytes) -> bytes:
        packer, piece = zlib.compressobj(1, zlib.DEFLATED, 31), bytes(10**6)
        return b"".join(packer.compress(piece) for _ in range(size // len(piece))) + packer.flush()

    return make


def noise(size: int) -> Maker:
    return lambda _: os.urandom(size)


def zip_of_noise(size: int) -> Maker:
    """Nearly as large as may come, and as large again when it is unpacked."""
    return lambda _: zipped([(RELEASE_IN_ZIP, os.urandom(size))], zipfile.ZIP_STORED)
