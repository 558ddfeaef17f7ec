"""Characters that the database cannot hold, wherever people may write: refused, and never an error of the judge."""

from __future__ import annotations

from urllib.parse import quote
from uuid import UUID

import pytest
from django.test import Client
from tests.judge import making

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests.models import Announcement, Team

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"
_SUBMISSION = UUID(int=7)


@pytest.fixture
def page() -> Client:
    """A browser of an organizer, on a judge with a contest."""
    making.contest()
    client = Client(raise_request_exception=False)
    client.force_login(making.organizer(), backend=BACKEND)
    return client


@pytest.mark.parametrize(
    "address",
    [
        "/join/{}",
        "/contests/cup/rounds/pre/files/public/{}",
        "/contests/cup/play/pre/anonymize/form/{}",
        f"/submissions/{_SUBMISSION}/files/{{}}",
        "/contests/{}/",
        "/static/{}",
        "/{}",
        "/api/v1/contests/{}",
        "/api/v1/contests/{}/queue",
        "/api/v1/contests/{}/archive.zip",
        "/api/v1/contests/cup/rounds/{}/files",
        "/api/v1/contests/cup/rounds/pre/files/{}",
        f"/api/v1/submissions/{_SUBMISSION}/files/{{}}",
    ],
)
@pytest.mark.parametrize("unstorable", ["\0", "a\0b", b"\xed\xa0\x80"])
def test_an_address_that_cannot_be_stored_is_that_of_nothing(
    page: Client, address: str, unstorable: str | bytes
) -> None:
    token = accounts.new_token(making.organizer(), "of a program")[1]
    headers = {"Authorization": f"Bearer {token}"} if address.startswith("/api") else {}
    assert page.get(address.format(quote(unstorable, safe="")), headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("address", "given"),
    [
        ("/login", {"email": "a\0@example.org", "password": "x\0"}),
        ("/login", {"email": "a@example.org", "password": "x", "next": "/\0"}),
        ("/contests/cup/manage/teams/add", {"team_name": "fox\0es"}),
        ("/contests/cup/manage/teams/add", {"team_name": "foxes", "number": "\0"}),
        (
            "/contests/cup/manage/announcements",
            {"announcement_title": "x", "announcement_text": "a\0b"},
        ),
        ("/contests/cup/manage/end", {"confirm": "\0"}),
        ("/profile", {"name": "\0", "language": "\0"}),
        ("/profile/tokens", {"label": "\0"}),
        ("/preferences", {"language": "\0", "theme": "\0", "next": "/\0"}),
    ],
)
def test_words_that_cannot_be_stored_are_refused_by_every_form(
    page: Client, address: str, given: dict[str, str]
) -> None:
    assert page.post(address, given).status_code < 500


def test_a_cookie_that_cannot_be_stored_is_nobodys() -> None:
    making.contest()
    for cookie in ('sessionid="a\\000b"', 'django_language="\\000"', 'theme="\\000"'):
        client = Client(raise_request_exception=False)
        assert client.get("/", headers={"Cookie": cookie}).status_code == 200


@pytest.mark.parametrize("unseen", ["\t", "\n", "\r\n", "\x9b", "\u2028"])
def test_names_that_people_give_have_no_character_that_nobody_sees(
    page: Client, unseen: str
) -> None:
    name = f"fox{unseen}es"
    assert page.post("/contests/cup/manage/teams/add", {"team_name": name}).status_code < 400
    for address, given in (
        ("/profile", {"name": name, "language": "en"}),
        ("/profile/tokens", {"label": name}),
    ):
        answer = page.post(address, given)
        assert answer.status_code == 200
        assert "a character in it that nobody sees (U+" in answer.content.decode()
    user = making.organizer()
    assert (user.name, user.tokens.count()) == ("organizer", 0)
    assert not Team.objects.exists()


def test_an_announcement_may_have_several_lines(page: Client) -> None:
    given = {"announcement_title": "x", "announcement_text": "a\r\n\tb"}
    assert page.post("/contests/cup/manage/announcements", given).status_code == 302
    assert Announcement.objects.get().text.splitlines() == ["a", "\tb"]
