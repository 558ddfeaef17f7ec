"""What a page shows of standings while they move."""

from __future__ import annotations

import pytest
from tests.judge import making

from kakurenbo.judge.pages.boards import boards, charts
from kakurenbo.judge.scoring.models import StandingSnapshot


@pytest.mark.django_db
def test_standings_that_are_made_anew_while_a_page_is_drawn_leave_it_without_pictures_not_without_an_answer() -> None:
    replaced = StandingSnapshot(pk=2**31, document={"standings": "of a moment ago"})
    assert charts(replaced) == []


@pytest.mark.django_db
def test_a_team_that_is_out_is_shown_with_the_threshold_that_its_release_misses() -> None:
    cause = "vcm is 0.1, must be ≥ 0.4"
    lines = [
        {"team": "01", "rank": 1, "score": 0.5},
        {"team": "02", "rank": None, "score": None, "note": "disqualified"},
        {"team": "03", "rank": None, "score": None, "note": "not ranked"},
    ]
    releases = {
        team: {"team": team, "state": state, "cause": cause}
        for team, state in (("01", "superseded"), ("02", "disqualified"), ("03", "disqualified"))
    }
    told = StandingSnapshot(standings={"anonymization": lines}, document={"rounds": [{"releases": releases}]})
    shown = next(board for board in boards(making.contest(), told, None) if board.name == "anonymization")
    assert [line.note for line in shown.lines] == ["", f"disqualified: {cause}", "not ranked"]
    told.document = {}
    shown = next(board for board in boards(making.contest(slug="other"), told, None) if board.name == "anonymization")
    assert shown.lines[1].note == "disqualified"
