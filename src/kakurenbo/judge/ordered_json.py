"""JSON in the database as it was written: keys in their order, in which rulebooks declare and people read them."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class OrderedJSONField(models.JSONField):
    """A column of PostgreSQL's type ``json``; ``jsonb``, which Django takes, sorts keys by their length.

    Values of a key are looked up as text (``KT``): the type knows no equality.
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
