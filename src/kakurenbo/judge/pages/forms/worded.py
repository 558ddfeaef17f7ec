"""Forms whose labels and hints come from the catalogue, and whose words are what they look like."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from kakurenbo.core.messages import text

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line end, and those that turn the direction of the words around them."""
_BREAKS = re.compile("[\t\n\r\u2028\u2029]")
"""What only a text of several lines has."""


class WordedForm(forms.Form):
    """Labels are ``page.field.NAME``, hints ``page.hint.NAME`` where there is one; words of the viewer's language."""

    def __init__(
        self, data: Any = None, *, initial: dict[str, Any] | None = None, prefix: str | None = None
    ) -> None:
        super().__init__(data, initial=initial, prefix=prefix, label_suffix="")
        for name, field in self.fields.items():
            field.label = field.label or text(f"page.field.{name}")
            field.help_text = field.help_text or text(f"page.hint.{name}", "")
            if isinstance(field, forms.CharField) and not isinstance(
                field.widget, forms.PasswordInput
            ):
                one_line = [] if isinstance(field.widget, forms.Textarea) else [_is_one_line]
                field.validators = [*field.validators, _is_seen, *one_line]


def choices_of(values: list[str] | tuple[str, ...], group: str) -> list[tuple[str, str]]:
    """Values with their words."""
    return [(value, text(f"page.{group}.{value}")) for value in values]


def _is_seen(value: Any) -> None:
    _without(_UNSEEN, value)


def _is_one_line(value: Any) -> None:
    _without(_BREAKS, value)


def _without(unseen: re.Pattern[str], value: Any) -> None:
    if isinstance(value, str) and (found := unseen.search(value)):
        raise forms.ValidationError(text("page.unseen_character", code=f"U+{ord(found[0]):04X}"))
