"""Words, times and figures in templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.forms import BaseForm, BoundField, CheckboxSelectMultiple
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, linebreaks, urlize
from django.utils.safestring import SafeString, mark_safe

from kakurenbo.contest import Unit
from kakurenbo.core.messages import text
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.pages.spans import UNITS, in_words
from kakurenbo.reports.numbers import figure

register = template.Library()
_MARKS = {
    "open": "busy", "sealing": "busy", "closed": "good", "scored": "good", "invalid": "bad", "failed": "bad", "parked": "bad",
    "received": "busy", "checking": "busy", "scoring": "busy", "running": "busy", "done": "good", "published": "good",
    "disqualified": "bad", "refused": "bad", "missing": "bad",
}  # fmt: skip


@register.simple_tag
def t(code: str, **parameters: Any) -> str:
    """The words of a code, in the viewer's language."""
    return text(f"page.{code}", **parameters)


@register.filter
def word(value: object, group: str) -> str:
    """The word for one of our own values: ``{{ phase.state|word:"state" }}``."""
    return text(f"page.{group}.{value}")


@register.filter
def state_mark(value: object, group: str = "state") -> SafeString:
    """A state as a coloured word."""
    return format_html(
        '<span class="mark {}">{}</span>', _MARKS.get(str(value), ""), text(f"page.{group}.{value}")
    )


@register.simple_tag
def when(moment: datetime | None, contest: Contest | None = None) -> SafeString:
    """A moment in the contest's zone; a script adds the viewer's own time where it is another."""
    if moment is None:
        return mark_safe("–")
    zone = ZoneInfo(contest.zone) if contest else timezone.get_current_timezone()
    local = moment.astimezone(zone)
    shown = f"{date_format(local, text('page.date_format'), use_l10n=False)} {local:%H:%M} {local.tzname()}"
    return format_html(
        '<time datetime="{}" data-yours="{}">{}</time>',
        moment.isoformat(),
        text("page.your_time"),
        shown,
    )


@register.simple_tag
def countdown(moment: datetime) -> SafeString:
    """How long it is until a moment; a script counts on."""
    words = "|".join(text(f"page.span.{unit}", count="#") for unit in UNITS)
    return format_html(
        '<span data-until="{}" data-words="{}">{}</span>',
        moment.isoformat(),
        words,
        in_words(moment - timezone.now()),
    )


@register.filter
def bytes_shown(size: int) -> str:
    """A size as people say it: decimal units, as disks and networks have them."""
    for limit, unit in ((1_000_000, "MB"), (1000, "kB")):
        if size >= limit:
            return f"{size / limit:,.1f} {unit}"
    return f"{size:,} B"


@register.filter
def shown_figure(value: float | str | None, unit: str = Unit.NUMBER) -> str:
    """A figure as the report shows it."""
    return "–" if value is None else figure(value, Unit(unit))


@register.filter
def paragraphs(content: str) -> SafeString:
    """What an organizer wrote, in paragraphs, its addresses as links; no markup of its own."""
    written = urlize(linebreaks(content, autoescape=True), nofollow=True)
    return mark_safe(written.replace("<p>", '<p dir="auto">'))


@register.filter
def at(mapping: Mapping[Any, Any], key: Any) -> Any:
    """An entry of a mapping."""
    return mapping.get(key)


@register.filter
def exact(value: object, shown: str) -> SafeString:
    """A figure as it is shown, with all its digits for who points at it or compares it."""
    return format_html('<span data-value="{}" title="{}">{}</span>', value, value, shown)


@dataclass(frozen=True)
class Mistake:
    """What is wrong with a form: at a field, to which a link leads, or with all of it."""

    sentence: str
    label: str = ""
    place: str = ""


@register.inclusion_tag("judge/part/problems.html")
def problems(*forms: BaseForm | list[BaseForm]) -> dict[str, Any]:
    """Everything that is wrong with some forms, as a list that leads to the fields."""
    flat = [one for given in forms for one in (given if isinstance(given, list) else [given])]
    return {
        "mistakes": [
            mistake
            for form in flat
            if form is not None and form.is_bound
            for mistake in _mistakes(form)
        ]
    }


def _mistakes(form: BaseForm) -> Iterator[Mistake]:
    heading = getattr(form, "heading", "")
    for sentence in form.non_field_errors():
        yield Mistake(str(sentence), heading)
    for bound in form:
        label = f"{heading} · {bound.label}" if heading else str(bound.label)
        yield from (Mistake(str(sentence), label, _place(bound)) for sentence in bound.errors)


def _place(bound: BoundField) -> str:
    """Where the focus goes: the control, or the first of several."""
    several = isinstance(bound.field.widget, CheckboxSelectMultiple)
    return f"{bound.auto_id}_0" if several else bound.id_for_label


@register.inclusion_tag("judge/part/field.html")
def field(bound: BoundField) -> dict[str, Any]:
    """A field with label, help and errors, tied together for screen readers."""
    place = bound.auto_id
    described = " ".join(
        [f"{place}-hint"] * bool(bound.help_text) + [f"{place}-errors"] * bool(bound.errors)
    )
    extra = {"aria-describedby": described} if described else {}
    if bound.errors:
        extra["aria-invalid"] = "true"
    several = isinstance(bound.field.widget, CheckboxSelectMultiple)
    checkbox = not several and getattr(bound.field.widget, "input_type", "") == "checkbox"
    return {
        "field": bound,
        "place": place,
        "described": described,
        "key": getattr(bound.form, "keys", {}).get(bound.name, ""),
        "control": bound.as_widget(attrs={**bound.field.widget.attrs, **extra}),
        "checkbox": checkbox,
        "several": several,
    }
