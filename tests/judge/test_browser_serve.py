"""A release goes by the page of a judge that really runs, through its streaming intake, and is scored by its own workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Response
from tests.judge.browsing import PASSWORD, Person
from tests.judge.test_serve import Served, served

pytestmark = pytest.mark.slow

__all__ = ["served"]


@pytest.fixture
def running(served: Served, plugins: Path) -> Served:
    assert plugins
    served.start()
    return served


def test_an_upload_by_the_page_streams_in_and_is_scored_by_the_judges_own_workers(
    running: Served, chromium: Browser
) -> None:
    organizer = Person(chromium, f"http://127.0.0.1:{running.port}")
    organizer.go("/")
    organizer.fill(name="Mori Aoi", email="organizer@example.org", new_password=PASSWORD)
    organizer.press("Make the account")
    organizer.go("/contests/new/hide-and-seek/")
    organizer.fill(
        **{
            "title": "Cup",
            "slug": "cup",
            "places": "2",
            "only-anonymize-opens_at": "2020-01-01T00:00",
        }
    )
    organizer.press("Make the contest")
    organizer.go("/contests/cup/manage/teams/")
    organizer.fill(team_name="Kitsune")
    organizer.page.click("main button.main")
    organizer.page.get_by_role("link", name="Open team Kitsune").click()
    organizer.page.get_by_role("button", name="Make a link").click()
    player = Person(chromium, f"http://127.0.0.1:{running.port}")
    player.join(organizer.page.inner_text("#link"), "Kitsu")
    player.go("/contests/cup/play/")
    running.wait_until(lambda: _is_open(player))
    handout = player.unpack("handout.zip").read("teams/01/sample.csv")
    streamed: list[int] = []
    player.page.on(
        "response", lambda answer: streamed.append(answer.status) if _is_upload(answer) else None
    )
    player.hand_in({"release_01.csv": handout})
    assert streamed == [201]
    player.page.locator("#judged .mark.good").first.wait_for()
    assert player.scores() == {"moved": "0.0"}
    assert not list((running.home / "files").rglob("upload-*")), (
        "the store has taken the body, and nothing is left of it"
    )
    for person in (organizer, player):
        person.close()


def _is_open(player: Person) -> bool:
    player.page.reload()
    return player.page.locator("#upload").count() == 1


def _is_upload(answer: Response) -> bool:
    return answer.request.method == "PUT" and "/api/v1/submissions/" in answer.url
