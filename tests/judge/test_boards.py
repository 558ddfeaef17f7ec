"""What a page shows of standings while they move."""

from __future__ import annotations

import pytest

from kakurenbo.judge.pages.boards import charts
from kakurenbo.judge.scoring.models import StandingSnapshot


@pytest.mark.django_db
def test_standings_that_are_made_anew_while_a_page_is_drawn_leave_it_without_pictures_not_without_an_answer() -> None:
    replaced = StandingSnapshot(pk=2**31, document={"standings": "of a moment ago"})
    assert charts(replaced) == []
