"""A file that only has its keys in another order says the same; one that is written otherwise was touched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kakurenbo.tables import json_bytes
from kakurenbo.verification.rounds import Difference, Round

MADE = json_bytes([{"state": "published", "limit": {"attribute": "age", "records": 2}}])
SAME_SOFTWARE: Any = SimpleNamespace(_same_software=lambda: True)


def compared(here: bytes) -> None:
    Round._name_difference(SAME_SOFTWARE, "releases.json", here, MADE)


def test_the_order_of_keys_is_no_difference() -> None:
    compared(json_bytes([{"limit": {"records": 2, "attribute": "age"}, "state": "published"}]))


@pytest.mark.parametrize("touched", [(b"2", b"3"), (b": 2", b":  2"), (b"2", b"2.0"), (b"age", b"\\u0061ge"), (b"]\n", b"]")])
def test_any_other_byte_is(touched: tuple[bytes, bytes]) -> None:
    with pytest.raises(Difference):
        compared(MADE.replace(*touched))
