"""The database keeps the domain's promises itself, whatever a program does."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.db import connection
from tests.judge import making

from kakurenbo.judge.contests.models import Contest

pytestmark = pytest.mark.django_db


def test_the_migrations_make_what_the_models_say() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_secrets_are_in_a_schema_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name from information_schema.tables where table_schema = 'secret'"
        )
        assert {name for (name,) in cursor.fetchall()} == {
            "file",
            "earned",
            "signing_key",
            "rejudged_credit",
        }


def test_json_keeps_the_order_of_its_keys_and_is_found_by_its_content() -> None:
    contest = making.contest()
    contest.options = {"vcm": 1, "p": {"longer": 2, "a": 3}}
    contest.save(update_fields=["options"])
    assert json.dumps(Contest.objects.get().options) == '{"vcm": 1, "p": {"longer": 2, "a": 3}}'
    assert Contest.objects.filter(options={"p": {"a": 3, "longer": 2}, "vcm": 1}).exists()
    assert not Contest.objects.filter(options={}).exists()
    assert Contest.objects.exclude(options={}).exists()
