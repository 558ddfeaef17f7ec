"""JSON in the database as it was written: keys in their order, in which rulebooks declare and people read them."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.lookups import Exact
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """A column of PostgreSQL's type ``json``; ``jsonb``, which Django takes, sorts keys by their length.

    It is compared as a whole; values of a key are looked up as text (``KT``).
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """The column's type."""
        return "json"

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        """What psycopg sends as text of this type."""
        return value if isinstance(value, Json) else Json(value, dumps=json.dumps)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """What psycopg read already."""
        return value


@OrderedJSONField.register_lookup
class SameContent(Exact):
    """Equal whatever the order of keys: the type itself knows no equality."""

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """Both sides as ``jsonb``."""
        column, own = self.process_lhs(compiler, connection)
        given, values = self.process_rhs(compiler, connection)
        return f"({column})::jsonb = ({given})::jsonb", (*own, *values)
