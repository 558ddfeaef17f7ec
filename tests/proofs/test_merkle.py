"""RFC 6962: the known answers of its reference tree, and the promises of its proofs for any tree."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.proofs.merkle import EMPTY, Tree, leaf_hash, root_from_path, verify_consistency

ENTRIES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
PATHS = {
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
}
"""Known inclusion proofs: (index, size) to hashes from the leaf upwards."""
GROWTHS = {
    (1, 1): [],
    (1, 8): PATHS[0, 8],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
"""Known consistency proofs: (before, size) to hashes."""


def plain_root(leaves: list[bytes]) -> bytes:
    """MTH of section 2.1, as it is written there."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + plain_root(leaves[:k]) + plain_root(leaves[k:])).digest()


def split(count: int) -> int:
    k = 1
    while 2 * k < count:
        k *= 2
    return k


def plain_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of section 2.1.1, as it is written there."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return [*plain_path(index, leaves[:k]), plain_root(leaves[k:])]
    return [*plain_path(index - k, leaves[k:]), plain_root(leaves[:k])]


def plain_growth(before: int, leaves: list[bytes], whole: bool = True) -> list[bytes]:
    """SUBPROOF of section 2.1.2, as it is written there."""
    if before == len(leaves):
        return [] if whole else [plain_root(leaves)]
    k = split(len(leaves))
    if before <= k:
        return [*plain_growth(before, leaves[:k], whole), plain_root(leaves[k:])]
    return [*plain_growth(before - k, leaves[k:], False), plain_root(leaves[:k])]


@given(st.integers(1, 40), st.data())
def test_proofs_are_those_of_the_definition(size: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(size)]
    tree = Tree(leaves)
    index, before = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    assert tree.path(index) == plain_path(index, leaves)
    assert tree.consistency_proof(before) == plain_growth(before, leaves)


def test_the_proofs_of_the_reference_tree() -> None:
    tree = Tree(leaf_hash(bytes.fromhex(entry)) for entry in ENTRIES)
    assert {key: [step.hex() for step in tree.path(*key)] for key in PATHS} == PATHS
    assert {
        key: [step.hex() for step in tree.consistency_proof(*key)] for key in GROWTHS
    } == GROWTHS


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
def test_a_path_leads_from_its_own_leaf_to_the_root_and_from_no_other(
    size: int, data: st.DataObject
) -> None:
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
def test_growth_is_proven_for_a_log_that_grew_and_for_no_other(
    size: int, data: st.DataObject
) -> None:
    tree = Tree(leaf_hash(bytes([number])) for number in range(size))
    before = data.draw(st.integers(1, size))
    proof = tree.consistency_proof(before)
    assert verify_consistency(before, size, tree.root(before), tree.root(), proof)
    changed = Tree(
        leaf_hash(bytes([number + (number == data.draw(st.just(0)))])) for number in range(before)
    )
    assert not verify_consistency(before, size, changed.root(), tree.root(), proof)
    assert not verify_consistency(before, size, tree.root(before), leaf_hash(b"another"), proof)


def test_entries_that_are_not_there_have_no_proof() -> None:
    tree = Tree([leaf_hash(b"a")])
    for ask in (
        lambda: tree.path(1),
        lambda: tree.root(2),
        lambda: tree.consistency_proof(2),
        lambda: tree.consistency_proof(0),
    ):
        with pytest.raises(IndexError):
            ask()
