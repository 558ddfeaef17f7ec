"""Writing: whole or not at all, and the same bytes every time."""

from __future__ import annotations

import gzip
import os
import socket
import stat
from pathlib import Path

import pytest

from kakurenbo.core import (
    STANDARD_OUTPUT,
    check_file,
    check_free,
    check_place,
    json_bytes,
    write_file,
    write_folder,
)
from kakurenbo.core.errors import UsageError


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.csv"
    write_file(target, b"one")
    write_file(target, b"two")
    assert target.read_bytes() == b"two"
    assert [path.name for path in target.parent.iterdir()] == ["file.csv"], (
        "no temporary file is left"
    )


def test_a_packed_file_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write_file(tmp_path / name, b"39,Male\n")
    first, second = ((tmp_path / name).read_bytes() for name in ("a.csv.gz", "b.csv.gz"))
    assert first == second
    assert gzip.decompress(first) == b"39,Male\n"


def test_a_folder_appears_whole_with_its_secrets_closed(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {"public/a": b"1", "secret/b": b"2"}, private=("secret",))
    assert (tmp_path / "out" / "public" / "a").read_bytes() == b"1"
    assert stat.S_IMODE((tmp_path / "out" / "secret").stat().st_mode) == 0o700


def test_files_of_a_folder_are_written_as_they_are_be_their_names_packed_or_not(
    tmp_path: Path,
) -> None:
    packed = gzip.compress(b"39,Male\n", mtime=0)
    write_folder(tmp_path / "out", {"D.csv.gz": packed})
    assert (tmp_path / "out" / "D.csv.gz").read_bytes() == packed, (
        "it was packed already when a team handed it in"
    )


def test_nothing_is_left_when_writing_a_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_folder(tmp_path / "out", {"a": b"1", "a/b": b"2"})
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_ever_overwritten_by_a_folder(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {"a": b"1"})
    with pytest.raises(UsageError, match="something already"):
        write_folder(tmp_path / "out", {"a": b"2"})
    assert (tmp_path / "out" / "a").read_bytes() == b"1"
    check_free(tmp_path / "other")


def test_a_folder_in_the_way_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder"):
        write_file(tmp_path, b"")


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "real.csv").write_bytes(b"old")
    link, dangling = tmp_path / "link.csv", tmp_path / "dangling.csv"
    link.symlink_to(tmp_path / "kept" / "real.csv")
    dangling.symlink_to(tmp_path / "new" / "file.csv")
    for path in (link, dangling):
        write_file(path, b"new")
        assert path.is_symlink()
        assert path.read_bytes() == b"new"
    assert (tmp_path / "kept" / "real.csv").read_bytes() == b"new"


def test_what_is_no_file_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    Path("null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for name in ("pipe", "loop", "socket"):
            with pytest.raises(UsageError, match=name):
                write_file(name, b"text")
    for name in ("null", "/dev/null"):
        write_file(name, b"text")
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop", "null", "pipe", "socket"]


def test_a_pipe_that_somebody_reads_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file(tmp_path / "pipe", b"text")
    assert os.read(reading, 100) == b"text"
    os.close(reading)


def test_a_full_disk_is_told() -> None:
    with pytest.raises(
        UsageError, match=r"/dev/full: cannot be written \(No space left on device\)"
    ):
        write_file("/dev/full", b"text")


def test_a_link_to_an_empty_folder_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    write_folder(tmp_path / "link", {"a": b"1"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "empty" / "a").read_bytes() == b"1"


def test_a_place_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    for check in (check_place, check_file, check_free):
        check(tmp_path / "new" / "deeper")
        with pytest.raises(UsageError, match="file is a file, not a folder"):
            check(tmp_path / "file" / "deeper" / "still")
    with pytest.raises(UsageError, match="this is a folder"):
        check_file(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    for check in (check_place, check_file, check_free):
        with pytest.raises(UsageError, match="nothing may be written in"):
            check(tmp_path / "new")


def test_several_files_do_not_go_to_standard_output() -> None:
    with pytest.raises(UsageError, match="standard output"):
        write_folder(STANDARD_OUTPUT, {"a": b"1"})


def test_json_is_readable_and_the_same_every_time() -> None:
    assert (
        json_bytes({"b": "あ", "a": [1, None]})
        == '{\n "b": "あ",\n "a": [\n  1,\n  null\n ]\n}\n'.encode()
    )
    with pytest.raises(ValueError, match="JSON"):
        json_bytes(float("nan"))
