"""Who guesses passwords is locked out for a while, from one address at one account; others are not."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from kakurenbo.judge.accounts.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "hide and seek 7"


def log_in(client: Client, email: str = "aoi@example.org", password: str = PASSWORD, address: str = "192.0.2.1") -> int:
    return client.post("/login", {"email": email, "password": password}, REMOTE_ADDR=address).status_code


@pytest.fixture(autouse=True)
def people() -> None:
    for name in ("aoi", "ren"):
        User.objects.create_user(f"{name}@example.org", PASSWORD, name=name)


def test_while_an_account_is_locked_the_right_password_is_refused_too() -> None:
    guesser = Client()
    assert {log_in(guesser, password="wrong") for _ in range(settings.AXES_FAILURE_LIMIT - 1)} == {200}
    assert log_in(guesser, password="wrong") == 429
    assert log_in(guesser) == 429
    assert "_auth_user_id" not in guesser.session
    assert log_in(Client(), "AOI@example.org ") == 429, "in whatever case it is written"


def test_a_lock_is_for_one_account_from_one_address() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        log_in(Client(), password="wrong")
    assert log_in(Client(), "ren@example.org", "wrong") == 200, "another account from the same address"
    assert log_in(Client(), "ren@example.org") == 302
    assert log_in(Client(), address="192.0.2.2") == 302, "the account's owner from elsewhere"


def test_who_logs_in_elsewhere_does_not_open_the_lock_of_who_guesses() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        log_in(Client(), password="wrong")
    assert log_in(Client(), address="192.0.2.2") == 302
    assert log_in(Client()) == 429


@pytest.mark.parametrize(("language", "words"), [("en", "a quarter of an hour"), ("ja", "15 分間")])
def test_who_is_locked_out_sees_a_page_like_the_others_in_their_language(language: str, words: str) -> None:
    guesser = Client(headers={"accept-language": language})
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = guesser.post("/login", {"email": "aoi@example.org", "password": "wrong"})
    html = answer.content.decode()
    assert answer.status_code == 429
    assert words in html
    assert f'lang="{language}"' in html
    assert "judge.css" in html
