"""What gzip and Parquet files carry beside their content, where no reader of the content ever looks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

_GZIP = 16 + zlib.MAX_WBITS  # how zlib is told to expect gzip's frame
_GZIP_BEGINS, _GZIP_FLAGS = b"\x1f\x8b", 3
_GZIP_EXTRA, _GZIP_NAME, _GZIP_COMMENT = 4, 8, 16
_FED = 1 << 16  # bytes at a time, so that not much is unpacked at once
_PARQUET = b"PAR1"
_TAIL = 8  # bytes: the length of the footer, and how files begin and end
_DEEPEST = 16  # structures within structures of a footer
_Struct = dict[int, Any]


def has_gzip_notes(packed: bytes) -> bool:
    """Whether a gzip file says anything beside what is packed: in any of its members, also an empty one.

    The name of the file, which every packer writes, is a note from the second member on.
    """
    start, notes = 0, _GZIP_EXTRA | _GZIP_COMMENT
    while packed.startswith(_GZIP_BEGINS, start):
        if packed[start + _GZIP_FLAGS] & notes:
            return True
        start, notes = _end_of_member(packed, start), notes | _GZIP_NAME
    return False


def _end_of_member(packed: bytes, start: int) -> int:
    member, view = zlib.decompressobj(_GZIP), memoryview(packed)
    while not member.eof and start < len(packed):
        member.decompress(view[start : start + _FED])
        start = min(start + _FED, len(packed))
    return start - len(member.unused_data)


def hidden_in_parquet(data: bytes) -> int:
    """Bytes of a Parquet file that belong to no column, no index of one and not to the footer; paddings of zeros aside."""
    size = int.from_bytes(data[-_TAIL:-4], "little")
    footer = len(data) - _TAIL - size
    try:
        told = _Compact(data, footer).struct()
        spans = sorted([(0, len(_PARQUET)), (footer, len(data)), *_spans(data, told)])
    except (IndexError, ValueError, KeyError, TypeError, AttributeError):
        return len(data)  # nobody can tell what is whose
    hidden, end = 0, 0
    for first, last in spans:
        if first > end:
            hidden += sum(1 for byte in data[end:first] if byte)
        end = max(end, last)
    return hidden


def _spans(data: bytes, footer: Mapping[int, Any]) -> Iterator[tuple[int, int]]:
    """Where the columns' values, their indexes and filters stand; numbers are those of fields in parquet.thrift."""
    for column in (column for group in footer[4] for column in group[1]):
        about = column[3]
        start = min(about[9], about.get(11) or about[9], about.get(10) or about[9])
        end = start + about[7]
        yield start, end
        for offset, length in ((column.get(4), column.get(5)), (column.get(6), column.get(7)), (about.get(14), about.get(15))):
            if offset and length:
                yield offset, offset + length
        yield end, _end_of_copy(data, end, about)


def _end_of_copy(data: bytes, start: int, about: Mapping[int, Any]) -> int:
    """Where a repetition of what the footer says of a column ends, which some writers put after it; what says more is none."""
    copy = _Compact(data, start)
    try:
        told = copy.struct()
    except (IndexError, ValueError):
        return start
    return copy.place if all(about.get(field) == value for field, value in told.items()) else start


class _Compact:
    """Reads Thrift's compact protocol, in which footers are written."""

    def __init__(self, data: bytes, place: int) -> None:
        if not 0 <= place < len(data):
            raise ValueError
        self._data, self.place = data, place

    def struct(self, depth: int = 0) -> _Struct:
        """The fields by number."""
        if depth > _DEEPEST:
            raise ValueError
        fields: _Struct = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:  # a truth in a list, or a byte
                return self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._number())
            case 9 | 10:
                head = self._byte()
                count = head >> 4 if head >> 4 < 15 else self._number()
                return [self._value(head & 15, depth + 1) for _ in range(count)]
            case 12:
                return self.struct(depth + 1)
        raise ValueError

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self._data) - self.place:
            raise ValueError
        self.place += count
        return self._data[self.place - count : self.place]

    def _number(self) -> int:
        found, shift = 0, 0
        while shift < 64:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise ValueError

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)
