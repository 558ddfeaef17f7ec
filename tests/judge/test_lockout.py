"""Who guesses passwords is locked out for a while, from one address at one account; others are not."""

from __future__ import annotations

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.test import Client
from django.utils import timezone

from kakurenbo.judge.accounts.guessing import MOST_FROM_AN_ADDRESS
from kakurenbo.judge.accounts.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "hide and seek 7"


def log_in(
    client: Client,
    email: str = "aoi@example.org",
    password: str = PASSWORD,
    address: str = "192.0.2.1",
) -> int:
    return client.post(
        "/login", {"email": email, "password": password}, REMOTE_ADDR=address
    ).status_code


@pytest.fixture(autouse=True)
def people() -> None:
    for name in ("aoi", "ren"):
        User.objects.create_user(f"{name}@example.org", PASSWORD, name=name)


def test_while_an_account_is_locked_the_right_password_is_refused_too() -> None:
    guesser = Client()
    assert {log_in(guesser, password="wrong") for _ in range(settings.AXES_FAILURE_LIMIT - 1)} == {
        200
    }
    assert log_in(guesser, password="wrong") == 429
    assert log_in(guesser) == 429
    assert "_auth_user_id" not in guesser.session
    assert log_in(Client(), "AOI@example.org ") == 429, "in whatever case it is written"


def test_a_lock_is_for_one_account_from_one_address() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        log_in(Client(), password="wrong")
    assert log_in(Client(), "ren@example.org", "wrong") == 200, (
        "another account from the same address"
    )
    assert log_in(Client(), "ren@example.org") == 302
    assert log_in(Client(), address="192.0.2.2") == 302, "the account's owner from elsewhere"


def test_who_logs_in_elsewhere_does_not_open_the_lock_of_who_guesses() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        log_in(Client(), password="wrong")
    assert log_in(Client(), address="192.0.2.2") == 302
    assert log_in(Client()) == 429


@pytest.mark.parametrize(("language", "words"), [("en", "a quarter of an hour"), ("ja", "15 分間")])
def test_who_is_locked_out_sees_a_page_like_the_others_in_their_language(
    language: str, words: str
) -> None:
    guesser = Client(headers={"accept-language": language})
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = guesser.post("/login", {"email": "aoi@example.org", "password": "wrong"})
    html = answer.content.decode()
    assert answer.status_code == 429
    assert words in html
    assert f'lang="{language}"' in html
    assert "judge.css" in html


def spray(address: str = "192.0.2.1", times: int = MOST_FROM_AN_ADDRESS) -> None:
    """One wrong password at each of so many accounts, as the log-in leaves it behind."""
    AccessAttempt.objects.bulk_create(
        AccessAttempt(
            username=f"{number}@example.org",
            ip_address=address,
            failures_since_start=1,
            attempt_time=timezone.now(),
        )
        for number in range(times)
    )


def test_who_tries_a_few_passwords_at_each_of_many_accounts_is_slowed_down() -> None:
    spray(times=MOST_FROM_AN_ADDRESS - 1)
    assert log_in(Client(), password="wrong") == 200
    assert log_in(Client(), "ren@example.org") == 429, "an account at which nobody failed"
    assert log_in(Client(), "nobody@example.org") == 429, (
        "an account that is not there: nothing is learnt of which are"
    )
    assert log_in(Client(), "ren@example.org", address="192.0.2.2") == 302, "from elsewhere"


def test_accounts_that_logged_in_from_an_address_before_come_in_though_others_guess_there() -> None:
    assert log_in(Client()) == 302
    spray()
    assert log_in(Client()) == 302
    assert log_in(Client(), "ren@example.org") == 429


def test_who_mistyped_and_came_in_is_counted_no_more() -> None:
    spray(times=MOST_FROM_AN_ADDRESS - 2)
    assert log_in(Client(), password="wrong") == 200
    assert log_in(Client()) == 302
    assert log_in(Client(), "ren@example.org", "wrong") == 200
    assert log_in(Client(), "ren@example.org") == 302


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Accounts that logged in from here"), ("ja", "別のネットワークから")],
)
def test_who_is_kept_out_because_others_guess_is_told_so_and_when_to_come_again(
    language: str, words: str
) -> None:
    spray()
    sent = {"email": "ren@example.org", "password": PASSWORD}
    answer = Client(headers={"accept-language": language}).post(
        "/login", sent, REMOTE_ADDR="192.0.2.1"
    )
    assert answer.status_code == 429
    assert words in answer.content.decode()
    assert 890 <= int(answer.headers["Retry-After"]) <= 900


def test_a_lock_says_when_it_is_over() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = Client().post("/login", {"email": "aoi@example.org", "password": "wrong"})
    assert answer.status_code == 429
    assert 890 <= int(answer.headers["Retry-After"]) <= 900


def test_behind_a_proxy_people_are_told_apart_by_what_it_says_of_them(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    spray("192.0.2.1")
    sent = {"email": "ren@example.org", "password": PASSWORD}
    statuses = [
        Client()
        .post("/login", sent, REMOTE_ADDR="127.0.0.1", headers={"x-forwarded-for": given})
        .status_code
        for given in ("198.51.100.1, 192.0.2.1", "192.0.2.1, 198.51.100.1")
    ]
    assert statuses == [429, 302], (
        "the last address is the proxy's word, those before it are anybody's"
    )


def test_all_addresses_that_one_customer_has_are_one() -> None:
    spray("2001:db8:1:2::")
    assert log_in(Client(), address="2001:db8:1:2::99") == 429
    assert log_in(Client(), address="2001:db8:1:3::99") == 302
