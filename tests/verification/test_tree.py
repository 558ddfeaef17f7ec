"""RFC 6962: the known answers of its reference tree, and the promises of its proofs for any tree."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.trust.tree import EMPTY, Tree, grew, leaf_hash, root_from_path

ENTRIES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def plain_root(leaves: list[bytes]) -> bytes:
    """MTH of section 2.1, as it is written there."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + plain_root(leaves[:k]) + plain_root(leaves[k:])).digest()


@pytest.mark.parametrize(("count", "root"), ROOTS.items())
def test_the_roots_of_the_reference_tree(count: int, root: str) -> None:
    assert Tree(leaf_hash(bytes.fromhex(entry)) for entry in ENTRIES[:count]).root().hex() == root


@given(st.lists(st.binary(max_size=4), max_size=70))
def test_the_root_of_every_beginning_is_that_of_the_definition(entries: list[bytes]) -> None:
    leaves = [leaf_hash(entry) for entry in entries]
    tree = Tree(leaves)
    assert tree.root(0) == EMPTY
    assert all(tree.root(size) == plain_root(leaves[:size]) for size in range(len(leaves) + 1))


@given(st.integers(1, 70), st.data())
def test_a_path_leads_from_its_own_leaf_to_the_root_and_from_no_other(size: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    tree, index = Tree(leaves), data.draw(st.integers(0, size - 1))
    path = tree.path(index)
    assert root_from_path(index, size, leaves[index], path) == tree.root()
    other = data.draw(st.integers(0, size - 1))
    assert (root_from_path(other, size, leaves[index], path) == tree.root()) == (other == index)
    assert root_from_path(index, size, leaf_hash(b"never"), path) != tree.root()
    assert root_from_path(index, size, leaves[index], [*path, b"x" * 32]) != tree.root()
    if path:
        assert root_from_path(index, size, leaves[index], path[:-1]) != tree.root()


@given(st.integers(1, 70), st.data())
def test_growth_is_proven_for_a_log_that_grew_and_for_no_other(size: int, data: st.DataObject) -> None:
    tree = Tree(leaf_hash(bytes([number])) for number in range(size))
    before = data.draw(st.integers(1, size))
    proof = tree.growth(before)
    assert grew(before, size, tree.root(before), tree.root(), proof)
    changed = Tree(leaf_hash(bytes([number + (number == data.draw(st.just(0)))])) for number in range(before))
    assert not grew(before, size, changed.root(), tree.root(), proof)
    assert not grew(before, size, tree.root(before), leaf_hash(b"another"), proof)


def test_entries_that_are_not_there_have_no_proof() -> None:
    tree = Tree([leaf_hash(b"a")])
    for ask in (lambda: tree.path(1), lambda: tree.root(2), lambda: tree.growth(2), lambda: tree.growth(0)):
        with pytest.raises(IndexError):
            ask()
