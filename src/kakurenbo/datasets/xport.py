"""SAS transport files (version 5, ``.XPT``), in which NHANES is published: the numbers of every variable."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.tables import Problems, Read, Severity, Source, refused

_CARD = 80  # bytes of a record
_FIRST = b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!"
_MEMBER = b"HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!"
_VARIABLES = b"HEADER RECORD*******NAMESTR HEADER RECORD!!!!!!!"
_ROWS = b"HEADER RECORD*******OBS     HEADER RECORD!!!!!!!"
_NUMERIC = 1
_MOST_VARIABLES = 5000


@dataclass(frozen=True)
class _Variable:
    name: str
    numeric: bool
    start: int
    length: int


def read_xport(source: Source) -> Read[dict[str, NDArray[np.float64]]] | Problems:
    """The numeric variables of the first data set of a file by their names; a missing value is NaN."""
    data = source.read()
    if isinstance(data, Problems):
        return data
    try:
        return Read(_variables(data))
    except (ValueError, struct.error, UnicodeDecodeError):
        return refused("nhanes.no_transport_file", source.name, severity=Severity.MALFORMED)


def is_xport(data: bytes) -> bool:
    """Whether these bytes begin like a transport file."""
    return data.startswith(_FIRST)


def _variables(data: bytes) -> dict[str, NDArray[np.float64]]:
    if not is_xport(data):
        raise ValueError("no transport file")
    member, listed = data.index(_MEMBER), data.index(_VARIABLES)
    size, count = int(data[member + 74 : member + 78]), int(data[listed + 54 : listed + 58])
    if not 0 < count <= _MOST_VARIABLES or size < 88:
        raise ValueError("no variables")
    begin = listed + _CARD
    described = [_described(data[begin + place * size : begin + (place + 1) * size]) for place in range(count)]
    rows = data.index(_ROWS, begin + count * size) + _CARD
    width = max(one.start + one.length for one in described)
    body = np.frombuffer(data[rows:], dtype=np.uint8)
    body = body[: len(body) // width * width].reshape(-1, width)
    # The last card is filled up with blanks, which a short row could be mistaken for.
    blank = (body == ord(" ")).all(axis=1)
    while len(body) and blank[len(body) - 1]:
        body = body[:-1]
    return {one.name: _numbers(body[:, one.start : one.start + one.length]) for one in described if one.numeric}


def _described(card: bytes) -> _Variable:
    kind, _, length = struct.unpack(">3h", card[:6])
    (start,) = struct.unpack(">l", card[84:88])
    if length < 1 or start < 0 or (kind == _NUMERIC and not 2 <= length <= 8):
        raise ValueError("no variable")
    return _Variable(card[8:16].decode("ascii").strip(), kind == _NUMERIC, start, length)


def _numbers(cells: NDArray[np.uint8]) -> NDArray[np.float64]:
    """IBM floating point, (-1)^s * 0.f * 16^(e - 64): a sign, 7 bits of exponent, up to 56 bits of fraction."""
    whole = np.zeros((len(cells), 8), dtype=np.uint8)
    whole[:, : cells.shape[1]] = cells
    fraction = np.zeros(len(cells))
    for place in range(7, 0, -1):
        fraction = (fraction + whole[:, place]) / 256
    exponent = (whole[:, 0] & 0x7F).astype(np.int64) - 64
    values = np.where(whole[:, 0] & 0x80, -1.0, 1.0) * np.ldexp(fraction, 4 * exponent)
    # A missing value is a letter, "_" or "." with nothing behind it.
    missing = (whole[:, 1:] == 0).all(axis=1) & (whole[:, 0] != 0)
    return np.where(missing, np.nan, values)
