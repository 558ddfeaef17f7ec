"""JSON in the database as it was written: keys in their order, in which rulebooks declare and people read them."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.fields.json import JSONExact
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """A column of PostgreSQL's type ``json``; ``jsonb``, which Django takes, sorts keys by their length.

    The type knows no equality: whole values are compared as ``jsonb``, those of a key are looked up as text (``KT``).
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """The column's type."""
        return "json"

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        """What psycopg sends as text of this type."""
        return value if isinstance(value, Json) else Json(value, dumps=json.dumps)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """What psycopg read already."""
        return value


@OrderedJSONField.register_lookup
class _Equal(JSONExact):
    """Whether two values are the same, whatever the order of their keys."""

    def process_lhs(self, compiler: Any, connection: BaseDatabaseWrapper, lhs: Any = None) -> tuple[str, Any]:
        """The column in a type that can be compared."""
        sql, parameters = super().process_lhs(compiler, connection, lhs)
        return f"({sql})::jsonb", parameters

    def process_rhs(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """What it is compared with in the same type."""
        sql, parameters = super().process_rhs(compiler, connection)
        return f"({sql})::jsonb", parameters
