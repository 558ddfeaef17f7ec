"""Accounts: one first organizer, addresses once, tokens that end when they are revoked."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from tests.reading import attempt

from kakurenbo.core import InputError, Problems
from kakurenbo.judge.accounts import rules
from kakurenbo.judge.accounts.models import Token, User

PASSWORD = "correct horse battery"


def registered(
    email: str = "hanako@example.org", password: str = PASSWORD, name: str = "Hanako"
) -> User:
    return rules.register(email, password, name)


@pytest.mark.django_db(transaction=True)
def test_of_two_set_up_pages_at_once_one_makes_the_organizer() -> None:
    made: list[User | Problems] = []
    barrier = threading.Barrier(4)

    def set_up(number: int) -> None:
        barrier.wait()
        try:
            made.append(rules.make_first_organizer(f"o{number}@example.org", PASSWORD, "Organizer"))
        except InputError as refusal:
            made.append(refusal.problems)
        finally:
            connection.close()

    threads = [threading.Thread(target=set_up, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (organizer,) = [user for user in made if isinstance(user, User)]
    assert organizer.is_organizer
    assert User.objects.count() == 1
    assert {problems[0].code for problems in made if isinstance(problems, Problems)} == {
        "accounts.there_is_an_organizer"
    }


@pytest.mark.django_db
def test_somebody_who_registers_is_no_organizer_and_logs_in_by_any_spelling_of_the_address() -> (
    None
):
    user = registered(" Hanako@Example.org ")
    assert not user.is_organizer
    assert user.check_password(PASSWORD)
    assert User.objects.get_by_natural_key("HANAKO@example.ORG") == user


@pytest.mark.django_db
def test_an_address_has_one_account_whatever_its_case() -> None:
    registered("hanako@example.org")
    again = attempt(rules.register, "HANAKO@EXAMPLE.ORG", PASSWORD, "Hanako")
    assert isinstance(again, Problems)
    assert again[0].code == "accounts.address_taken"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("email", "password", "name", "codes"),
    [
        ("hanako", PASSWORD, "H", ["accounts.no_address"]),
        ("hanako@example.org", "too short", "H", ["accounts.password_length"]),
        ("hanako@example.org", "x" * 1001, "H", ["accounts.password_length"]),
        ("hanako@example.org", "hanako@example.org", "H", ["accounts.password_is_address"]),
        ("hanako@example.org", "1234567890", "H", ["accounts.password_common"]),
        ("hanako@example.org", PASSWORD, " ", ["accounts.no_name"]),
        ("hanako@example.org", PASSWORD, "x" * 101, ["accounts.no_name"]),
        ("hanako@example.org", PASSWORD, "a\nb", ["accounts.no_name"]),
        ("hanako@example.org", PASSWORD, "a\tb", ["accounts.no_name"]),
        ("hanako@example.org", PASSWORD, "a\x9bb", ["accounts.no_name"]),
        ("", "", "", ["accounts.no_address", "accounts.password_length", "accounts.no_name"]),
    ],
)
def test_everything_that_is_wrong_with_an_account_is_told_at_once(
    email: str, password: str, name: str, codes: list[str]
) -> None:
    made = attempt(rules.register, email, password, name)
    assert isinstance(made, Problems)
    assert [problem.code for problem in made] == codes
    assert all(problem.in_language(language) for problem in made for language in ("en", "ja"))
    assert password == "" or password not in str(list(made)) or password == email


@pytest.mark.django_db
def test_a_language_is_kept_where_we_speak_it() -> None:
    kept = rules.register("a@example.org", PASSWORD, "A", language="ja")
    other = rules.register("b@example.org", PASSWORD, "B", language="xx")
    assert (kept.language, other.language) == ("ja", "")


@pytest.mark.django_db
def test_a_token_stands_for_its_owner_until_it_is_revoked_and_its_text_is_kept_nowhere() -> None:
    user = registered()
    token, text = rules.new_token(user, "laptop")
    assert rules.user_of_token(text) == user
    assert text not in str(list(Token.objects.values()))
    rules.revoke(token)
    assert rules.user_of_token(text) is None
    assert rules.user_of_token("") is None
    assert rules.user_of_token("\ud800") is None


@pytest.mark.django_db
def test_a_token_of_somebody_who_may_not_come_in_is_worth_nothing() -> None:
    user = registered()
    _, text = rules.new_token(user, "laptop")
    User.objects.update(is_active=False)
    assert rules.user_of_token(text) is None


@pytest.mark.django_db
def test_when_a_token_was_last_used_is_noted_but_not_at_every_request() -> None:
    token, text = rules.new_token(registered(), "laptop")
    rules.user_of_token(text)
    first = Token.objects.get().last_used_at
    assert first is not None
    rules.user_of_token(text)
    assert Token.objects.get().last_used_at == first
    Token.objects.filter(pk=token.pk).update(last_used_at=timezone.now() - timedelta(minutes=2))
    rules.user_of_token(text)
    last = Token.objects.get().last_used_at
    assert last is not None
    assert last >= first


@pytest.mark.django_db
def test_a_japanese_name_may_have_a_space_of_its_own_width() -> None:
    assert (
        registered(name="\u5c71\u7530\u3000\u592a\u90ce").name == "\u5c71\u7530\u3000\u592a\u90ce"
    )


@pytest.mark.django_db
def test_names_and_labels_with_characters_that_nobody_sees_are_refused_later_too() -> None:
    user = registered()
    renamed = attempt(rules.change_profile, user, "a\rb", "ja")
    assert isinstance(renamed, Problems)
    assert [problem.code for problem in renamed] == ["accounts.no_name"]
    with pytest.raises(InputError) as refusal:
        rules.new_token(user, "a\nb")
    assert refusal.value.problems[0].code == "accounts.bad_label"
    user.refresh_from_db()
    assert (user.name, user.language, user.tokens.count()) == ("Hanako", "", 0)
