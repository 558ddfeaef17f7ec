"""Blocks of rows for draws that are steered: each block makes up for what the ones before it miss."""

from __future__ import annotations

from collections.abc import Iterator

LARGEST_BLOCK = 16_384


def shrinking_blocks(rows: int, smallest: int) -> Iterator[slice]:
    """Blocks that shrink towards the end, down to ``smallest``: what the last block misses, nothing can make up for.

    Examples
    --------
    >>> [block.stop - block.start for block in shrinking_blocks(10, 2)]
    [2, 2, 2, 2, 2]
    """
    start = 0
    while start < rows:
        left = rows - start
        size = min(left, max(smallest, min(LARGEST_BLOCK, left // 4)))
        yield slice(start, start + size)
        start += size
