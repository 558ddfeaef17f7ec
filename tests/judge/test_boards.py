"""What a page shows of standings while they move."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.judge import making

from kakurenbo.core.messages import speaking
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.pages.boards import beside, boards, charts, found_rows, parts
from kakurenbo.judge.pages.shown import ranking_title
from kakurenbo.judge.scoring.models import StandingSnapshot


@pytest.mark.django_db
def test_standings_that_are_made_anew_while_a_page_is_drawn_leave_it_without_pictures_not_without_an_answer() -> (
    None
):
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
    told = StandingSnapshot(
        standings={"anonymization": lines}, document={"rounds": [{"releases": releases}]}
    )
    shown = next(
        board for board in boards(making.contest(), told, None) if board.name == "anonymization"
    )
    assert [line.note for line in shown.lines] == ["", f"disqualified: {cause}", "not ranked"]
    told.document = {}
    shown = next(
        board
        for board in boards(making.contest(slug="other"), told, None)
        if board.name == "anonymization"
    )
    assert shown.lines[1].note == "disqualified"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("mode", "sample", "told"), [("rules", "50.0 %", True), ("aicrowd", "75.0 %", False)]
)
def test_a_baseline_that_the_mode_does_not_count_is_shown_apart_and_never_as_the_sample_attack(
    new_contest: Callable[..., Contest], mode: str, sample: str, told: bool
) -> None:
    contest = new_contest(rulebook="darc2019", options={"mode": mode})
    credits = {
        "01": {
            name: {"hits": share, "of": 1}
            for name, share in (("02", 0.25), ("S1", 0.5), ("S7", 0.75))
        }
    }
    results = {
        "credits": credits,
        "targets": ["01"],
        "attackers": ["02", "S1", "S7"],
        "unranked": ["S1", "S7"],
    }
    both = {"round": {"chance": 0.1, "samples": {"S1": 0.5, "S7": 0.75}}}
    snapshot = StandingSnapshot(contest=contest, results=results, standings={"beside": both})
    (row,) = found_rows(contest, snapshot, None)
    assert row.sample.startswith(sample)
    titles = [one.title for one in beside(contest, snapshot)]
    assert ["only shown" in title for title in titles] == [False, False, told]


@pytest.mark.django_db
def test_what_the_scores_of_tables_are_made_of_is_shown_as_the_verb_standings_prints_it(
    new_contest: Callable[..., Contest],
) -> None:
    contest = new_contest(rulebook="darc2019", options={"mode": "rules"})
    tables = {
        "01-1": {"U": 0.25, "reid": 0.5, "score": 0.375},
        "02-1": {"U": 0.5, "reid": 0.25, "score": 0.375},
    }
    shown = parts(contest, StandingSnapshot(contest=contest, standings={"tables": tables}))
    assert shown is not None
    assert shown.headings == ["U", "reid", "score"]
    assert shown.rows == [
        ("01-1", "", ["0.250", "50.0 %", "0.375"]),
        ("02-1", "", ["0.500", "25.0 %", "0.375"]),
    ]
    assert parts(contest, StandingSnapshot(contest=contest, standings={})) is None, (
        "while the attack goes on, say"
    )


def test_an_award_that_only_the_rulebook_knows_has_its_name_in_the_viewers_language() -> None:
    with speaking("ja"):
        assert ranking_title("re-identification") == "再識別"
