"""Links and tokens that are shown once: a reload or another language shows them again, anybody and anything else does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import rules

pytestmark = pytest.mark.django_db


def _person(email: str) -> User:
    return User.objects.create_user(email, "hide and seek 7", name="Organizer", is_organizer=True)


def _browser(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def page() -> Client:
    """A browser of an organizer who has a contest with a team."""
    organizer = _person("organizer@example.org")
    plan = rules.default_plan("amic2020", timezone.now() + timedelta(days=1), "Asia/Tokyo")
    given = {
        "title": "Spring",
        "slug": "spring",
        "rulebook": "amic2020",
        "options": {"scale": "small"},
        "zone": "Asia/Tokyo",
    }
    rules.add_team(
        organizer, rules.make_contest(organizer, places=3, phases=plan, **given), "Kitsune"
    )
    return _browser(organizer)


def _invited(page: Client) -> tuple[str, str]:
    """The address that a new link is shown at, and the link."""
    answer = page.post(reverse("invite", args=["spring", "01"]), {"role": "member", "days": "7"})
    address = answer.headers["Location"]
    link = re.search(r"http://testserver/join/[^<\s]+", page.get(address).content.decode())
    assert link is not None
    return address, link[0]


def _with_token(page: Client) -> tuple[str, str]:
    address = page.post("/profile/tokens", {"label": "CI"}).headers["Location"]
    token = re.search(r"kakurenbo_[\w-]+", page.get(address).content.decode())
    assert token is not None
    return address, token[0]


def _next(html: str) -> str:
    """Where a switch of the language goes back to."""
    return re.findall(r'name="next" value="([^"]+)"', html)[0]


@pytest.mark.parametrize("made", [_invited, _with_token])
def test_a_secret_that_is_shown_once_outlives_a_switch_of_the_language_for_ten_minutes(
    page: Client, made: Callable[[Client], tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, secret = made(page)
    assert secret not in address
    shown = page.get(address)
    assert "no-store" in shown.headers["Cache-Control"]
    switched = page.post(
        "/preferences", {"language": "ja", "next": _next(shown.content.decode())}, follow=True
    )
    assert switched.status_code == 200
    assert secret in switched.content.decode()
    assert not any(secret in str(session.get_decoded()) for session in Session.objects.all())
    now = signing.time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + 601)
    assert secret not in page.get(address).content.decode()


def test_another_user_of_the_same_browser_does_not_see_the_token(page: Client) -> None:
    address, secret = _with_token(page)
    page.post(reverse("logout"))
    page.force_login(
        _person("other@example.org"), backend="django.contrib.auth.backends.ModelBackend"
    )
    assert secret not in page.get(address).content.decode()


@pytest.mark.parametrize(
    ("refused", "given"),
    [
        (reverse("invite", args=["spring", "01"]), {"role": "nobody"}),
        (reverse("add-team", args=["spring"]), {"team_name": ""}),
        ("/profile/tokens", {"label": ""}),
        ("/profile/password", {"password": "x", "new_password": "y"}),
    ],
    ids=["invite", "team", "token", "password"],
)
def test_a_page_with_a_refused_form_switches_to_a_page_that_opens(
    page: Client, refused: str, given: dict[str, str]
) -> None:
    html = page.post(refused, given).content.decode()
    assert page.get(_next(html)).status_code == 200
