"""What is said beside an award."""

from __future__ import annotations

from kakurenbo.contest import Credit, RoundResults
from kakurenbo.reports import Ranking, RankingLine
from kakurenbo.reports.rankings import award_notices, entitled_awards

PLAYED = {
    "main": [
        RoundResults(
            {"01": {"02": Credit(3, 10), "04": Credit(0, 10)}, "02": {}},
            ("01", "02", "03"),
            ("01", "02"),
        )
    ]
}
RANKINGS = {
    "attack": Ranking(
        tuple(RankingLine(team, float(team == "02"), 1) for team in ("02", "01", "03", "04"))
    )
}


def test_an_award_for_attack_needs_a_guess_and_one_for_anonymization_a_release_whatever_their_names() -> (
    None
):
    everybody = ("01", "02", "03", "04")
    names = ("anonymization", "hiding", "attack", "seeking", "overall", "beauty")
    award_for = {"hiding": "anonymization", "seeking": "attack"}
    named = entitled_awards(dict.fromkeys(names, (*everybody, "05")), award_for, PLAYED)
    assert named["anonymization"] == named["hiding"] == ("01", "02", "03")
    assert named["attack"] == named["seeking"] == ("02", "04")
    assert named["overall"] == named["beauty"] == everybody


def test_where_all_who_are_awarded_found_something_nothing_is_said() -> None:
    assert award_notices({"attack": ("02",), "anonymization": ("01",)}, RANKINGS) == {}


def test_beside_an_attack_award_stands_who_attacked_and_earned_nothing() -> None:
    notices = award_notices({"attack": ("02", "04")}, RANKINGS)
    assert notices["attack"]["en"].startswith("04 earned nothing: ")
    assert notices["attack"]["ja"].startswith("04の得点は 0。")


def test_an_award_for_re_identification_that_nobody_takes_says_why() -> None:
    notices = award_notices({"anonymization": ("01",), "re-identification": ()}, RANKINGS)
    assert notices == {
        "re-identification": {
            "en": "nobody re-identified anybody in the first-ranked table",
            "ja": "1 位の表の顧客を再識別したチームがない",
        }
    }
