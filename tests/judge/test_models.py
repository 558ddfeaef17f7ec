"""The database keeps the domain's promises itself, whatever a program does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db import connection

from kakurenbo.judge.contests.models import Contest

pytestmark = pytest.mark.django_db


def test_the_migrations_make_what_the_models_say() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_secrets_are_in_a_schema_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select table_name from information_schema.tables where table_schema = 'secret'")
        assert {name for (name,) in cursor.fetchall()} == {"file", "earned", "signing_key"}


def test_json_keeps_the_order_of_its_keys_and_is_compared_without_it(new_contest: Callable[..., Contest]) -> None:
    new_contest(options={"longest": 1, "b": [2], "a": {}})
    assert list(Contest.objects.get().options) == ["longest", "b", "a"]
    assert Contest.objects.filter(options={"a": {}, "b": [2], "longest": 1}).exclude(options={}).exists()
    assert not Contest.objects.exclude(options={"a": {}, "b": [2], "longest": 1}).exists()
