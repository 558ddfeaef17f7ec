"""darc2019 on the joint: the checks that every rulebook passes, in both modes."""

from __future__ import annotations

import pytest

from kakurenbo import testing
from kakurenbo.rulebooks.darc2019 import Darc2019

CHECKS = [
    pytest.param(check, id=f"{mode}-{check}")
    for mode in ("rules", "aicrowd")
    for check in testing.rulebook_checks(Darc2019(scale="small", data="embedded", mode=mode))
]


@pytest.mark.parametrize("check", CHECKS)
def test_darc2019_passes_the_checks_of_rulebooks(check: testing.Check) -> None:
    check()
