"""Files are looked at before they are read, and JSON is refused with a reason instead of an exception."""

from __future__ import annotations

import gzip
import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.core import Problems, Source, read_json


def code(found: object) -> str:
    assert isinstance(found, Problems)
    (problem,) = found
    assert problem.fix or problem.code.startswith("text.")
    return problem.code


def test_pipes_sockets_devices_and_folders_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            assert code(attempt(Source.of(path).read)) == "source.not_a_file"
    assert code(attempt(Source.of(tmp_path).read)) == "source.folder"


def test_a_link_is_read_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to(tmp_path / "gone")
    assert Source.of(tmp_path / "b").read() == b"x"
    assert code(attempt(Source.of(tmp_path / "c").read)) == "source.missing"


def test_a_dash_is_a_file_name_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert code(attempt(Source.of("-").read)) == "source.missing"


@pytest.mark.parametrize("name", ["huge.csv", "huge.csv.gz"])
def test_a_file_of_2_gb_is_refused_by_its_size(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(2_000_000_000)
    monkeypatch.setattr(
        "kakurenbo.core.files.os.open", lambda *_: pytest.fail("the file was opened")
    )
    assert code(attempt(Source.of(tmp_path / name).read)) == "source.too_large"


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert Source.of(tmp_path / "a").read(5) == b"12345"
    assert code(attempt(Source.of(tmp_path / "a").read, 4)) == "source.too_large"
    assert Source("a", b"12345").read(5) == b"12345"
    assert code(attempt(Source("a", b"12345").read, 4)) == "source.too_large"
    noise = os.urandom(5_000)  # what cannot be packed becomes larger
    assert Source("a.gz", gzip.compress(noise)).read(5_000) == noise


def test_a_packed_file_of_several_parts_is_read_whole() -> None:
    assert Source("a.gz", gzip.compress(b"one") + gzip.compress(b"two")).read() == b"onetwo"
    assert (
        code(attempt(Source("a.gz", gzip.compress(b"one") + b"rest").read)) == "source.unreadable"
    )


@pytest.mark.parametrize(
    "data",
    [
        b'{"candidate": 1, "candidate": 2}',
        b'[{"a": {"candidate": 1, "b": 0, "candidate": 1}}]',
        b'{"candidate": 1, "c\\u0061ndidate": 2}',
    ],
)
def test_a_json_object_that_gives_a_key_twice_is_refused(data: bytes) -> None:
    reading = attempt(read_json, Source("choice.json", data))
    assert isinstance(reading, Problems)
    assert [(problem.code, problem.value) for problem in reading] == [
        ("json.key_twice", "candidate")
    ]
    assert (
        str(reading[0])
        == 'choice.json: the key "candidate" is given twice in one object; give it once'
    )


def test_a_json_document_is_read_with_its_notices() -> None:
    reading = attempt(
        read_json,
        Source(
            "a.json", b'\xef\xbb\xbf{"a": [1, 2.5, null, "\xe3\x81\x82"], "c": {"b": true}}\r\n'
        ),
    )
    assert isinstance(reading, Read)
    assert reading.value == {"a": [1, 2.5, None, "あ"], "c": {"b": True}}
    assert [notice.code for notice in reading.notices] == ["text.bom"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "document.empty"),
        (b'{"a": 1,}', "json.syntax"),
        (b"{'a': 1}", "json.syntax"),
        (b"NaN", "json.not_finite"),
        (b"[1, -Infinity]", "json.not_finite"),
        (b"1e999", "json.not_finite"),
        (b"9" * 301, "json.number_too_long"),
        (b"0." + b"1" * 5_000, "json.number_too_long"),
        (b"9" * 10_000, "json.number_too_long"),
        (b"[" * 101 + b"]" * 101, "json.too_deep"),
        (b"[" * 100_000 + b"]" * 100_000, "json.too_deep"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "json.too_deep"),
        (rb'{"a": ["\ud800"]}', "json.surrogate"),
        (rb'{"\udc00": 1}', "json.surrogate"),
        (b'"\xed\xa0\x80"', "text.not_utf8"),
        (b'"a\0b"', "text.nul"),
        ("[1]".encode("utf-16"), "text.utf16"),
    ],
)
def test_json_that_is_not_fit_is_refused_with_a_reason(data: bytes, expected: str) -> None:
    assert code(attempt(read_json, Source("a.json", data))) == expected


def test_a_syntax_error_is_named_with_its_line() -> None:
    found = attempt(read_json, Source("a.json", b'{\n "a": 1\n "b": 2\n}'))
    assert isinstance(found, Problems)
    assert str(found[0]).startswith(
        "a.json:3: this is not JSON from character 2 of the line on; check commas"
    )


def test_json_beyond_the_limit_is_refused() -> None:
    assert code(attempt(read_json, Source("a.json", b"[1, 2]"), limit=5)) == "source.too_large"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner),
        max_leaves=8,
    )
)
def test_what_json_writes_is_read_back(content: object) -> None:
    assert attempt(
        read_json, Source("a", json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
    ) == Read(content) or ("\\u0000" in json.dumps(content))


@given(st.binary(max_size=60))
def test_no_bytes_raise_an_exception(data: bytes) -> None:
    assert isinstance(attempt(read_json, Source("a", data)), Read | Problems)
