"""Texts of the database with their messages, put into words for whoever looks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db import models

from kakurenbo.core import Problem
from kakurenbo.core.messages import StoredText, Wording, language, messages_of, with_message


class StoredTextField(models.TextField):  # type: ignore[type-arg]
    """A text that is stored with its message; one that an earlier version stored is English."""

    def get_prep_value(self, value: Any) -> Any:
        if not isinstance(value, StoredText):
            return super().get_prep_value(value)
        messages = {text: message.as_json() for text, message in messages_of(value).items()}
        return json.dumps({"text": str(value), "messages": messages}, ensure_ascii=False)

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        if value is None or not value.startswith('{"text": '):
            return value
        stored = json.loads(value)
        return with_message(stored["text"], stored["messages"])


def problem_words(stored: Mapping[str, Any]) -> Wording:
    """Return message and fix of a stored problem in the current language."""
    if "params" not in stored:  # an earlier version stored its words in every language
        return Wording(**(stored.get(language()) or stored["en"]))
    place = {name: stored[name] for name in ("file", "row", "record", "column", "value")}
    rows = {"rows": tuple(stored.get("rows", ())), "count": stored.get("count", 1)}
    return Problem(stored["code"], stored["params"], **place, **rows).wording(language())
