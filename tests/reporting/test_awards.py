"""What is said beside an award."""

from __future__ import annotations

from kakurenbo.contracts import Credit, RoundResults
from kakurenbo.reporting import award_notices

PLAYED = {"main": [RoundResults({"01": {"02": Credit(3, 10)}, "02": {}, "03": {}}, ("01", "02", "03"), ("01", "02", "03"))]}


def test_beside_an_attack_award_stands_who_attacked_nobody() -> None:
    notices = award_notices({"attack": ("02", "01", "03"), "anonymization": ("01",)}, PLAYED)
    assert list(notices) == ["attack"]
    assert notices["attack"]["en"].startswith("01, 03 attacked nobody: ")
    assert notices["attack"]["ja"].startswith("01, 03は誰も攻撃していない。")


def test_where_all_who_are_awarded_attacked_nothing_is_said() -> None:
    assert award_notices({"attack": ("02",), "anonymization": ("01",)}, PLAYED) == {}
