"""Forms whose labels and hints come from the catalogue."""

from __future__ import annotations

from typing import Any

from django import forms

from kakurenbo.messages import text, text_or


class WordedForm(forms.Form):
    """Labels are ``page.field.NAME``, hints ``page.hint.NAME`` where there is one; words of the viewer's language."""

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None, prefix: str | None = None) -> None:
        super().__init__(data, initial=initial, prefix=prefix, label_suffix="")
        for name, field in self.fields.items():
            field.label = field.label or text(f"page.field.{name}")
            field.help_text = field.help_text or text_or(f"page.hint.{name}", "")


def choices_of(values: list[str] | tuple[str, ...], group: str) -> list[tuple[str, str]]:
    """Values with their words."""
    return [(value, text(f"page.{group}.{value}")) for value in values]
