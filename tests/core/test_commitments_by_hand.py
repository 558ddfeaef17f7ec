"""Commitments, read as an outsider reads them: the exact text of both documents, and every file judged by itself."""

from __future__ import annotations

import hashlib
import hmac

from kakurenbo.contest import commitments


def by_hand(seed: bytes, scope: bytes, name: bytes, data: bytes) -> str:
    path = hashlib.sha256(
        b"".join(len(part).to_bytes(8, "little") + part for part in (b"salt", scope, name))
    ).digest()
    return hashlib.sha256(hmac.new(seed, path, hashlib.sha256).digest() + data).hexdigest()


def test_both_documents_are_written_in_one_way_so_that_anybody_can_write_them_again() -> None:
    """Keys in order, one to a line, indented by as many blanks as they are deep, and a line end."""
    committed, opening = commitments.commit(7, {"b": b"2", "a": b"1"}, "s")
    assert opening == b'{\n "scope": "s",\n "seed": "7"\n}\n'
    bound = {
        name: by_hand(b"7", b"s", name, data)
        for name, data in ((b"a", b"1"), (b"b", b"2"), (b"seed", b"7"))
    }
    lines = ",\n".join(f'  "{name.decode()}": "{value}"' for name, value in bound.items())
    start = '{\n "commitments": {\n'
    assert (
        committed.decode()
        == f'{start}{lines}\n }},\n "scheme": "{commitments.SCHEME}",\n "scope": "s"\n}}\n'
    )


def test_a_file_that_is_not_revealed_hides_nothing_of_the_files_after_it() -> None:
    committed, opening = commitments.commit(7, {"a": b"1", "b": b"2", "c": b"3"}, "s")
    findings = commitments.check_commitments(committed, opening, {"b": b"2", "c": b"other"})
    assert [(finding.name, finding.state) for finding in findings] == [
        ("a", "not revealed"),
        ("b", "kept"),
        ("c", "broken"),
        ("seed", "kept"),
    ]


def test_a_seed_has_at_most_a_hundred_digits() -> None:
    """The longest one is read; one digit more is refused (see the damaged openings)."""
    longest = 10**99 + 7
    committed, opening = commitments.commit(longest, {}, "s")
    assert commitments.revealed_seed(opening) == longest
    assert [finding.state for finding in commitments.check_commitments(committed, opening, {})] == [
        "kept"
    ]
