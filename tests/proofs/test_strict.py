"""JSON as the judge writes it: what is read of a file of an archive, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kakurenbo.core import json_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.proofs import strict
from kakurenbo.proofs.archive import Archive, LogFile, RejudgingRow
from kakurenbo.proofs.differences import Difference

ROW = {
    "id": 1,
    "round": "",
    "submission": "",
    "reason": "a bug",
    "at": "2026-01-01T00:00:00+00:00",
    "changes": {"01": [1, 2.5]},
}
LOG = {
    "contest": "cup",
    "public_key": "00",
    "entries": [{"number": 0, "leaf": "00"}],
    "checkpoints": [],
}
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


@given(
    st.recursive(
        LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
    )
)
@settings(max_examples=40)
def test_whatever_the_judge_writes_is_read_as_it_is(content: object) -> None:
    data = json_bytes(content)
    read = strict.parsed(data, "file")
    strict.check_written(read, data, "file")
    strict.check_keys(read, content, "file")
    assert read == content


def archive_of(folder: Path, content: object) -> Archive:
    (folder / "file.json").write_bytes(
        content if isinstance(content, bytes) else json_bytes(content)
    )
    return Archive(folder)


def test_rows_of_rejudgings_have_the_keys_that_the_judge_writes(tmp_path: Path) -> None:
    assert (
        archive_of(tmp_path, [ROW]).read("file.json", list[RejudgingRow])[0].changes
        == ROW["changes"]
    )
    with pytest.raises(Difference) as found:
        archive_of(tmp_path, [ROW, {**ROW, "winner": "02"}]).read("file.json", list[RejudgingRow])
    assert (found.value.code, found.value.what, found.value.here) == (
        "verification.unknown_key",
        "[1].winner",
        "02",
    )


def test_salt_and_content_of_an_entry_are_left_out_while_they_are_secret(tmp_path: Path) -> None:
    assert archive_of(tmp_path, LOG).read("file.json", LogFile).entries[0].salt is None
    with pytest.raises(Difference, match=r"entries\[0\]\.salt"):
        archive_of(tmp_path, {**LOG, "entries": [{"number": 0, "leaf": "00", "salt": None}]}).read(
            "file.json", LogFile
        )


@pytest.mark.parametrize(
    "what", ["[" * 100_000, "[", '{"a": 1} {}', "\ufeff[]", "1" * 5000, "\udcff"], ids=range(6)
)
def test_what_is_no_json_cannot_be_read(what: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"file\.json"):
        archive_of(tmp_path, what.encode(errors="surrogateescape")).read(
            "file.json", list[RejudgingRow]
        )


@pytest.mark.parametrize(
    ("data", "what", "here"),
    [
        (b"[\n 1,\n  2\n]\n", "line 3, character 2", "' 2\\n]\\n'"),
        (b"[\n 1,\n 2\n]", "line 4, character 2", "''"),
    ],
    ids=["a space", "no line end"],
)
def test_the_place_from_which_on_a_file_is_otherwise_is_named(
    data: bytes, what: str, here: str
) -> None:
    with pytest.raises(Difference) as found:
        strict.check_written([1, 2], data, "file")
    assert (found.value.what, found.value.here) == (what, here)
