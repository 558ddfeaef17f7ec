"""The compiled loop of the fast lane: splits a CSV file into cells and numbers the different cells of each column.

Kept apart so that Numba is loaded only for files that are worth it. Every byte is hostile, so that whatever is not plain is
left to the careful lane, and so is a file whose cells take too long to tell apart or too much memory to keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.compiling import compiled, inlined

_COMMA, _NEWLINE, _RETURN, _QUOTE = np.uint8(44), np.uint8(10), np.uint8(13), np.uint8(34)
_NOTHING = np.uint8(0)  # in place of a delimiter: the file is not plain here
_ENTRIES = 1 << 10  # different cells kept at first
_MOST_ENTRIES = 1 << 20  # of all columns together: 72 bytes each
_MOST_STEPS = 64  # from a cell's slot to its entry; more means that somebody made them collide
# Unsigned, because Numba tests signed places for being negative.
_ONE, _WORD, _TWO_WORDS, _EIGHT, _HALF = np.uint64(1), np.uint64(8), np.uint64(16), np.uint64(8), np.uint64(32)
_SPREAD_0, _SPREAD_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@compiled
def number_cells(data: Any, start: int, longest_line: int, numbers: Any) -> Any:  # pragma: no cover - compiled
    """Number the different cells of each column in the order in which they first occur.

    Parameters
    ----------
    data : array of uint8
        Ends with a newline.
    start : int
        Where the first record begins.
    longest_line : int
        Bytes that a line may have.
    numbers : array of uint32, shape (columns, lines from ``start`` on)
        Filled in.

    Returns
    -------
    array of int64, shape (different cells, 3)
        Column, place and length in bytes of each different cell, without quotation marks. Empty where the file is not
        plainly one record of as many cells in every line.
    """
    width, lines = numbers.shape
    nothing = np.empty((0, 3), dtype=np.int64)
    entries = np.empty((_ENTRIES, 3), dtype=np.int64)
    words = np.empty((_ENTRIES, 4), dtype=np.uint64)
    slots = np.zeros(_ENTRIES * 4, dtype=np.uint32)  # 1 + the entry
    different = np.zeros(width, dtype=np.uint64)
    known, line, column = 0, 0, 0
    place = line_start = np.uint64(start)
    while place < len(data):
        first, length, key_0, key_1, place, delimiter = _cell(data, place)
        last = delimiter == _NEWLINE
        if delimiter == _NOTHING or last != (column == width - 1):
            return nothing
        tag = (length << _EIGHT) | np.uint64(column)
        slot = _slot(data, entries, words, slots, first, length, key_0, key_1, tag)
        if slot == len(slots):
            return nothing
        if slots[slot] == 0:
            entries[known, 0], entries[known, 1], entries[known, 2] = column, first, length
            words[known, 0], words[known, 1], words[known, 2], words[known, 3] = key_0, key_1, tag, different[column]
            different[column] += _ONE
            known += 1
            slots[slot] = known
        numbers[column, line] = words[slots[slot] - _ONE, 3]
        if known == len(entries):
            if known == _MOST_ENTRIES:
                return nothing
            entries, words, slots = _grown(entries, words)
        column += 1
        if last:
            # An empty line is no record.
            if place - line_start > longest_line or place - line_start <= 1 + (data[line_start] == _RETURN):
                return nothing
            column, line, line_start = 0, line + 1, place
    return entries[:known] if column == 0 and line == lines else nothing


@inlined
def _cell(data: Any, place: Any) -> Any:  # pragma: no cover - compiled
    """Where a cell begins, its length, two words that stand for it, where the next begins, and what ended it."""
    quoted = data[place] == _QUOTE
    if quoted:
        place += _ONE
    first, key_0, key_1 = place, np.uint64(0), np.uint64(0)
    byte = data[place]
    while byte > _COMMA or not (byte in (_QUOTE, _NEWLINE, _RETURN) or (byte == _COMMA and not quoted)):
        if place - first < _WORD:
            key_0 = (key_0 << _EIGHT) | np.uint64(byte)
        elif place - first < _TWO_WORDS:
            key_1 = (key_1 << _EIGHT) | np.uint64(byte)
        else:
            key_1 = key_1 * _SPREAD_1 + np.uint64(byte)
        place += _ONE
        byte = data[place]
    length = place - first
    if quoted != (byte == _QUOTE):  # never closed, or not at the cell's ends
        return first, length, key_0, key_1, place, _NOTHING
    if quoted:
        place += _ONE
        byte = data[place]
    if byte == _RETURN:
        place += _ONE
        byte = data[place] if data[place] == _NEWLINE else _NOTHING
    return first, length, key_0, key_1, place + _ONE, byte if byte in (_COMMA, _NEWLINE) else _NOTHING


@inlined
def _slot(
    data: Any, entries: Any, words: Any, slots: Any, first: Any, length: Any, key_0: Any, key_1: Any, tag: Any
) -> Any:  # pragma: no cover - compiled
    """The slot of this cell's entry, or the one that is free for it; as many as there are slots where it is not found soon."""
    mask = np.uint64(len(slots) - 1)
    slot = _spread(key_0, key_1, tag) & mask
    for _ in range(_MOST_STEPS):
        entry = np.uint64(slots[slot])
        if entry == 0:
            return slot
        entry -= _ONE
        alike = words[entry, 0] == key_0 and words[entry, 1] == key_1 and words[entry, 2] == tag
        if alike and (length <= _TWO_WORDS or _same(data, entries[entry, 1], first, length)):
            return slot
        slot = (slot + _ONE) & mask
    return mask + _ONE


@compiled
def _spread(key_0: Any, key_1: Any, tag: Any) -> Any:  # pragma: no cover - compiled
    """A number that differs widely for cells that differ little."""
    spread = (key_0 * _SPREAD_0) ^ ((key_1 + tag) * _SPREAD_1)
    return ((spread ^ (spread >> _HALF)) * _SPREAD_0) >> _HALF


@compiled
def _same(data: Any, before: Any, first: Any, length: Any) -> bool:  # pragma: no cover - compiled
    """Whether two cells that begin alike are alike to the end."""
    for place in range(_TWO_WORDS, length):  # noqa: SIM110 - compiled as a loop
        if data[np.uint64(before) + place] != data[first + place]:
            return False
    return True


@compiled
def _free_slot(slots: Any, spread: Any) -> Any:  # pragma: no cover - compiled
    mask = np.uint64(len(slots) - 1)
    slot = spread & mask
    while slots[slot] > 0:
        slot = (slot + _ONE) & mask
    return slot


@compiled
def _grown(entries: Any, words: Any) -> Any:  # pragma: no cover - compiled
    """Room for twice as many entries, and every entry in its slot."""
    known = len(entries)
    more_entries = np.empty((2 * known, 3), dtype=np.int64)
    more_words = np.empty((2 * known, 4), dtype=np.uint64)
    more_entries[:known], more_words[:known] = entries, words
    slots = np.zeros(8 * known, dtype=np.uint32)
    for entry in range(known):
        spread = _spread(words[entry, 0], words[entry, 1], words[entry, 2])
        slots[_free_slot(slots, spread)] = entry + 1
    return more_entries, more_words, slots
