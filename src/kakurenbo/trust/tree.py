"""The Merkle tree of RFC 6962: one hash for a whole log, and short proofs that an entry is in it and that it only grew."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

EMPTY = hashlib.sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """Hash of one entry (section 2.1)."""
    return hashlib.sha256(b"\x00" + entry).digest()


class Tree:
    """A tree that grows at its end; every full subtree is hashed once, so that adding and proving take logarithmic time.

    Examples
    --------
    >>> tree = Tree(map(leaf_hash, [b"a", b"b", b"c"]))
    >>> tree.root() == root_from_path(1, 3, leaf_hash(b"b"), tree.path(1))
    True
    """

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[list[bytes]] = [
            []
        ]  # [k][i]: the full subtree of 2^k leaves from leaf i 2^k on
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
        """The hash of the first ``size`` entries; of all where it is not given."""
        size = len(self) if size is None else size
        self._check(size <= len(self))
        return self._hash(0, size) if size else EMPTY

    def path(self, index: int, size: int | None = None) -> list[bytes]:
        """The proof that entry ``index`` is among the first ``size`` (section 2.1.1), from the leaf upwards."""
        size = len(self) if size is None else size
        self._check(0 <= index < size <= len(self))
        return self._path(index, 0, size)

    def growth(self, before: int, size: int | None = None) -> list[bytes]:
        """The proof that the first ``before`` entries are the beginning of the first ``size`` (section 2.1.2)."""
        size = len(self) if size is None else size
        self._check(0 < before <= size <= len(self))
        return [] if before == size else self._growth(before, 0, size, whole=True)

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

    def _growth(self, before: int, start: int, end: int, *, whole: bool) -> list[bytes]:
        if before == end:
            return [] if whole else [self._hash(start, end)]
        middle = start + _split(end - start)
        if before <= middle:
            return [*self._growth(before, start, middle, whole=whole), self._hash(middle, end)]
        return [*self._growth(before, middle, end, whole=False), self._hash(start, middle)]

    @staticmethod
    def _check(within: bool) -> None:
        if not within:
            raise IndexError("the tree has no such entries")


def root_from_path(index: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes | None:
    """The root that a proof leads to (RFC 9162, section 2.1.3.2); None where the proof has not the length it must have."""
    if not 0 <= index < size:
        return None
    place, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if place & 1 or place == last:
            found = _node(sibling, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = _node(found, sibling)
        place, last = place >> 1, last >> 1
    return found if last == 0 else None


def grew(before: int, size: int, root_before: bytes, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that a log of ``before`` entries was only added to (RFC 9162, section 2.1.4.2)."""
    if before == size:
        return not proof and root_before == root
    if not 0 < before < size:
        return False
    steps = list(proof)
    if before & (before - 1) == 0:
        steps.insert(0, root_before)
    if not steps:
        return False
    place, last = before - 1, size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = _node(step, old), _node(step, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = _node(new, step)
        place, last = place >> 1, last >> 1
    return old == root_before and new == root and last == 0


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(count: int) -> int:
    """The largest power of two below ``count``."""
    return 1 << ((count - 1).bit_length() - 1)
