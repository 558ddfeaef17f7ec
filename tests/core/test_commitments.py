"""Commitments bind to every byte of every file, hide what they bind to, and open all at once by the seed."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.contest import commitments
from kakurenbo.core.errors import UsageError

SCOPE = "contest main preparation"


def states(committed: bytes, opening: bytes, files: dict[str, bytes]) -> dict[str, str]:
    return {
        finding.name: finding.state
        for finding in commitments.check_commitments(committed, opening, files)
    }


@given(st.integers(0, 2**128), st.binary(max_size=50))
def test_commitments_are_kept_by_the_same_bytes_only(seed: int, data: bytes) -> None:
    committed, opening = commitments.commit(seed, {"secret/a": data}, SCOPE)
    assert states(committed, opening, {"secret/a": data}) == {"secret/a": "kept", "seed": "kept"}
    assert states(committed, opening, {"secret/a": data + b"x"}) == {
        "secret/a": "broken",
        "seed": "kept",
    }
    assert states(committed, opening, {})["secret/a"] == "not revealed"
    assert states(committed, opening, {"secret/a": data, "b": b""})["b"] == "not committed"
    assert commitments.revealed_seed(opening) == seed


def test_a_commitment_is_sha256_of_a_salt_of_32_bytes_and_the_file() -> None:
    """Anybody can check one by hand: the salt is an HMAC of the path (scope, name) under the seed."""
    committed, _ = commitments.commit(7, {"teams/01/C.csv": b"1,2"}, SCOPE)
    parts = [b"salt", SCOPE.encode(), b"teams/01/C.csv"]
    path = hashlib.sha256(
        b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    ).digest()
    salt = hmac.new(b"7", path, hashlib.sha256).digest()
    expected = hashlib.sha256(salt + b"1,2").hexdigest()
    assert json.loads(committed)["commitments"]["teams/01/C.csv"] == expected


def test_another_seed_breaks_its_commitment() -> None:
    committed, _ = commitments.commit(1, {}, SCOPE)
    _, opening = commitments.commit(2, {}, SCOPE)
    assert states(committed, opening, {}) == {"seed": "broken"}


def test_equal_files_have_different_commitments_so_that_equality_stays_hidden() -> None:
    first, _ = commitments.commit(1, {"a": b"same", "b": b"same"}, SCOPE)
    other, _ = commitments.commit(1, {"a": b"same"}, "contest pre preparation")
    bound = json.loads(first)["commitments"]
    assert len({bound["a"], bound["b"], json.loads(other)["commitments"]["a"]}) == 3


def test_a_changed_byte_of_either_document_is_named() -> None:
    committed, opening = commitments.commit(1, {"a": b"x"}, SCOPE)
    assert (
        states(committed.replace(b": ", b":  ", 1), opening, {"a": b"x"})["commitments.json"]
        == "changed"
    )
    assert (
        states(committed.replace(b"sha256(", b"sha512(", 1), opening, {"a": b"x"})[
            "commitments.json"
        ]
        == "changed"
    )
    assert states(committed, opening + b" ", {"a": b"x"})["opening.json"] == "changed"
    assert (
        states(committed, opening.replace(b"main", b"pre", 1), {"a": b"x"})["opening.json"]
        == "changed"
    )


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"[]", b"{}", b'{"seed": "x"}', b'{"seed": 5.0}', b'{"seed": "' + b"9" * 101 + b'"}'],
)
def test_a_damaged_opening_is_told(damaged: bytes) -> None:
    committed, _ = commitments.commit(1, {}, SCOPE)
    with pytest.raises(UsageError, match=r"opening\.json"):
        commitments.check_commitments(committed, damaged, {})
    with pytest.raises(UsageError, match=r"opening\.json"):
        commitments.revealed_seed(damaged)


@pytest.mark.parametrize(
    "damaged",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"commitments": {}}',
        b'{"commitments": {"a": "00"}}',
        b'{"commitments": ["seed"]}',
    ],
)
def test_a_file_without_commitments_is_never_kept(damaged: bytes) -> None:
    _, opening = commitments.commit(1, {}, SCOPE)
    with pytest.raises(UsageError, match=r"commitments\.json"):
        commitments.check_commitments(damaged, opening, {})


@pytest.mark.parametrize("entry", ["00", 5, None, ["x"], "g" * 64, "A" * 64, "é" * 64])
@pytest.mark.parametrize("name", ["a", "seed"])
def test_an_entry_that_is_no_digest_is_named_and_the_others_are_checked(
    name: str, entry: object
) -> None:
    committed, opening = commitments.commit(5, {"a": b"1", "b": b"2"}, SCOPE)
    content = json.loads(committed)
    content["commitments"][name] = entry
    found = {
        one.name: one
        for one in commitments.check_commitments(
            commitments._canonical(content), opening, {"a": b"1", "b": b"2"}
        )
    }
    assert (found[name].state, found[name].why) == (
        "broken",
        "its entry in commitments.json is no SHA-256 in hexadecimal",
    )
    assert {one.state for one in found.values() if one.name != name} == {"kept"}


def test_a_digest_is_sha256_in_hexadecimal() -> None:
    assert (
        commitments.digest(b"")
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


def test_a_dropped_entry_is_never_kept() -> None:
    committed, opening = commitments.commit(5, {"a": b"1", "b": b"2"}, "scope")
    content = json.loads(committed)
    del content["commitments"]["b"]
    found = commitments.check_commitments(
        commitments._canonical(content), opening, {"a": b"1", "b": b"2"}
    )
    assert {finding.name: finding.state for finding in found} == {
        "a": "kept",
        "seed": "kept",
        "b": "not committed",
    }


def test_a_file_that_goes_by_the_name_of_the_seed_is_not_committed_to() -> None:
    committed, opening = commitments.commit(5, {"a": b"1"}, "scope")
    found = commitments.check_commitments(committed, opening, {"a": b"1", "seed": b"5"})
    assert ("seed", "not committed") in {(finding.name, finding.state) for finding in found}
