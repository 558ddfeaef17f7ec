"""The database keeps the domain's promises itself, whatever a program does."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection

pytestmark = pytest.mark.django_db


def test_the_migrations_make_what_the_models_say() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_secrets_are_in_a_schema_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select table_name from information_schema.tables where table_schema = 'secret'")
        assert {name for (name,) in cursor.fetchall()} == {"file", "earned", "signing_key"}
