"""Merkle tree of RFC 6962: one hash for a log, proofs of inclusion and of consistency."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of one entry (section 2.1)."""
    return hashlib.sha256(b"\x00" + entry).digest()


class Tree:
    """Append-only Merkle tree that keeps the hash of every full subtree.

    Appending and proving take logarithmic time.

    Examples
    --------
    >>> tree = Tree(map(leaf_hash, [b"a", b"b", b"c"]))
    >>> tree.root() == root_from_path(1, 3, leaf_hash(b"b"), tree.path(1))
    True
    """

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        # _levels[k][i] is the full subtree of 2^k leaves from leaf i 2^k on
        self._levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    def __len__(self) -> int:
        return len(self._levels[0])

    def append(self, leaf: bytes) -> None:
        """Add the hash of one entry."""
        self._levels[0].append(leaf)
        level = 0
        while len(self._levels[level]) % 2 == 0:
            if level + 1 == len(self._levels):
                self._levels.append([])
            self._levels[level + 1].append(_node(*self._levels[level][-2:]))
            level += 1

    def root(self, size: int | None = None) -> bytes:
        """Return the hash of the first ``size`` entries (default: all)."""
        size = len(self) if size is None else size
        _check_range(size <= len(self))
        return self._hash(0, size) if size else EMPTY

    def path(self, index: int, size: int | None = None) -> list[bytes]:
        """Return the inclusion proof of entry ``index``, from the leaf upwards (section 2.1.1)."""
        size = len(self) if size is None else size
        _check_range(0 <= index < size <= len(self))
        return self._path(index, 0, size)

    def consistency_proof(self, before: int, size: int | None = None) -> list[bytes]:
        """Prove that the first ``before`` entries begin the first ``size`` (section 2.1.2)."""
        size = len(self) if size is None else size
        _check_range(0 < before <= size <= len(self))
        return [] if before == size else self._consistency(before, 0, size, whole=True)

    def _hash(self, start: int, end: int) -> bytes:
        count = end - start
        if count & (count - 1) == 0:  # a full subtree
            return self._levels[count.bit_length() - 1][start // count]
        middle = start + _split(count)
        return _node(self._hash(start, middle), self._hash(middle, end))

    def _path(self, index: int, start: int, end: int) -> list[bytes]:
        if end - start == 1:
            return []
        middle = start + _split(end - start)
        if index < middle:
            return [*self._path(index, start, middle), self._hash(middle, end)]
        return [*self._path(index, middle, end), self._hash(start, middle)]

    def _consistency(self, before: int, start: int, end: int, *, whole: bool) -> list[bytes]:
        if before == end:
            return [] if whole else [self._hash(start, end)]
        middle = start + _split(end - start)
        if before <= middle:
            return [*self._consistency(before, start, middle, whole=whole), self._hash(middle, end)]
        return [*self._consistency(before, middle, end, whole=False), self._hash(start, middle)]


def root_from_path(index: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes | None:
    """Return the root that an inclusion proof leads to (RFC 9162, section 2.1.3.2).

    None if the proof has a wrong length.
    """
    if not 0 <= index < size:
        return None
    node, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            root = _node(sibling, root)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            root = _node(root, sibling)
        node, last = node >> 1, last >> 1
    return root if last == 0 else None


def verify_consistency(
    before: int, size: int, root_before: bytes, root: bytes, proof: Sequence[bytes]
) -> bool:
    """Check that a log of ``before`` entries was only appended to (RFC 9162, section 2.1.4.2)."""
    if before == size:
        return not proof and root_before == root
    if not 0 < before < size:
        return False
    steps = list(proof)
    if before & (before - 1) == 0:
        steps.insert(0, root_before)
    if not steps:
        return False
    node, last = before - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old, new = _node(step, old), _node(step, new)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new = _node(new, step)
        node, last = node >> 1, last >> 1
    return old == root_before and new == root and last == 0


def _check_range(within: bool) -> None:
    if not within:
        raise IndexError("the tree has no such entries")


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(count: int) -> int:
    """Return the largest power of two below ``count``."""
    return 1 << ((count - 1).bit_length() - 1)
