"""What is said beside an award."""

from __future__ import annotations

from kakurenbo.contracts import Credit, RoundResults
from kakurenbo.reporting import Ranking, RankingLine, award_notices

PLAYED = {
    "main": [
        RoundResults(
            {"01": {"02": Credit(3, 10), "04": Credit(0, 10)}, "02": {}, "03": {}}, ("01", "02", "03"), ("01", "02", "03", "04")
        )
    ]
}
RANKINGS = {"attack": Ranking(tuple(RankingLine(team, float(team == "02"), 1) for team in ("02", "01", "03", "04")))}


def test_beside_an_attack_award_stands_who_attacked_nobody() -> None:
    notices = award_notices({"attack": ("02", "01", "03"), "anonymization": ("01",)}, PLAYED, RANKINGS)
    assert list(notices) == ["attack"]
    assert notices["attack"]["en"].startswith("01, 03 attacked nobody: ")
    assert notices["attack"]["ja"].startswith("01, 03は誰も攻撃していない。")


def test_where_all_who_are_awarded_found_something_nothing_is_said() -> None:
    assert award_notices({"attack": ("02",), "anonymization": ("01",)}, PLAYED, RANKINGS) == {}


def test_beside_an_attack_award_stands_who_attacked_and_earned_nothing() -> None:
    notices = award_notices({"attack": ("02", "04")}, PLAYED, RANKINGS)
    assert notices["attack"]["en"].startswith("04 earned nothing: ")
    assert notices["attack"]["ja"].startswith("04の得点は 0。")


def test_an_award_for_re_identification_that_nobody_takes_says_why() -> None:
    notices = award_notices({"anonymization": ("01",), "re-identification": ()}, PLAYED, RANKINGS)
    assert notices == {
        "re-identification": {
            "en": "nobody re-identified anybody in the first-ranked table",
            "ja": "1 位の表の顧客を再識別したチームがない",
        }
    }
