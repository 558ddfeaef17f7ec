"""Zip archives: what is normalised with a notice, and what is refused before anything is unpacked."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import attempt

from kakurenbo.core import Problem, Problems, Source, archives
from kakurenbo.core.archives import archive_bytes, open_archive


def zipped(
    files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] | None = None
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            if change:
                change(entry)
            archive.writestr(entry, content)
    return buffer.getvalue()


def opened(data: bytes) -> tuple[list[Source] | Problems, list[Problem]]:
    reading = attempt(open_archive, Source("C01.zip", data))
    return (
        (reading, []) if isinstance(reading, Problems) else (reading.value, list(reading.notices))
    )


def refusal(data: bytes, monkeypatch: pytest.MonkeyPatch) -> str:
    """Why an archive is refused; nothing may be unpacked on the way."""

    def unpack(*_: object) -> None:
        raise AssertionError("something was unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpack)
    found, _ = opened(data)
    assert isinstance(found, Problems)
    return found[0].message


FILES = {f"C01_{number}.csv": b"a,b\n1,2\n" for number in range(10)}


def test_a_flat_zip_gives_its_files_by_name() -> None:
    found, notices = opened(zipped(FILES))
    assert not isinstance(found, Problems)
    assert {source.name: source.read() for source in found} == FILES
    assert not notices


def test_one_enclosing_folder_and_what_macs_leave_behind_are_normalised_with_a_notice() -> None:
    files = {f"release/{name}": content for name, content in FILES.items()}
    files |= {"release/.DS_Store": b"x", **{f"__MACOSX/release/._{name}": b"x" for name in FILES}}
    found, notices = opened(zipped(files))
    assert not isinstance(found, Problems)
    assert [source.name for source in found] == sorted(FILES)
    assert "folder" in notices[0].message
    assert "__MACOSX" in notices[1].message


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../C01_0.csv", "leads out"),
        ("a/../../C01_0.csv", "leads out"),
        ("/etc/C01_0.csv", "absolute"),
        ("C:/C01_0.csv", "absolute"),
        ("..\\C01_0.csv", "leads out"),
        ("inner.zip", "archive itself"),
        ("C01_0.csv.gz", "archive itself"),
        ("__MACOSX/../../x", "leads out"),
    ],
)
def test_traversal_absolute_paths_and_nested_archives_are_refused(
    name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why in refusal(zipped({name: b"1\n"}), monkeypatch)


def test_links_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16

    assert "link" in refusal(zipped({"C01_0.csv": b"/etc/passwd"}, link), monkeypatch)


def test_encrypted_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(zipped({"C01_0.csv": b"1\n"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(signature) + offset, 1)
    assert "encrypted" in refusal(bytes(data), monkeypatch)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("C01_0.csv", "1\n")
        archive.writestr("C01_0.csv", "2\n")
    assert "twice" in refusal(buffer.getvalue(), monkeypatch)


def test_files_in_several_folders_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "several folders" in refusal(
        zipped({"a/C01_0.csv": b"1\n", "b/C01_1.csv": b"1\n"}), monkeypatch
    )


def test_more_than_20_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "21 files" in refusal(
        zipped({f"{number}.csv": b"1\n" for number in range(21)}), monkeypatch
    )


def test_a_ratio_above_200_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "200 times" in refusal(zipped({"C01_0.csv": b"0" * 1_000_000}), monkeypatch)


def test_more_than_100_mb_unpacked_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 15)
    assert "unpacks to" in refusal(
        zipped({"C01_0.csv": b"12345678\n", "C01_1.csv": b"12345678\n"}), monkeypatch
    )


def test_the_word_of_the_directory_on_a_size_is_not_trusted() -> None:
    data = bytearray(zipped({"C01_0.csv": b"1,2,3,4,5,6\n" * 50}))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 3)
    found, _ = opened(bytes(data))
    assert isinstance(found, Problems)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_no_bytes_break_the_reader(noise: bytes, cut: int) -> None:
    sound = zipped({"C01_0.csv": b"1\n"})
    for data in (
        noise,
        b"PK\x03\x04" + noise,
        sound[:cut],
        sound[:cut] + noise,
        sound[:cut] + noise + sound[cut + len(noise) :],
    ):
        assert isinstance(opened(data)[0], Problems | list)


def test_an_archive_that_we_write_is_read_again_and_has_the_same_bytes_whatever_the_order_and_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {"C01_1.csv": b"2\n", "C01_0.csv": b"*," * 100_000}
    written = archive_bytes(files)
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert archive_bytes(dict(reversed(files.items()))) == written
    found, notices = opened(written)
    assert {source.name: source.read() for source in found if isinstance(source, Source)} == files
    assert not notices
