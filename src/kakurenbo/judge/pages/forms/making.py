"""A contest in one form: its name, the rulebook's own options, and when each phase is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.validators import validate_slug
from django.utils.text import capfirst

from kakurenbo.contest import ATTACK
from kakurenbo.core import InputError
from kakurenbo.core.messages import Message, text
from kakurenbo.judge.contests.models import Contest, Visibility
from kakurenbo.judge.contests.rulebooks import chosen_options, contest_options, find_rulebook
from kakurenbo.judge.contests.rules import PhasePlan
from kakurenbo.judge.pages.forms.worded import WordedForm, choices_of
from kakurenbo.methods.parameters import Parameter

WALL = "%Y-%m-%dT%H:%M"
_MOST_PLACES = 99
_TIMES = ("opens_at", "closes_at")
_USUAL_ZONES = (
    *(
        "UTC",
        "Asia/Tokyo",
        "Asia/Seoul",
        "Asia/Shanghai",
        "Asia/Kolkata",
        "Australia/Sydney",
        "Europe/London",
        "Europe/Berlin",
    ),
    *(
        "Europe/Paris",
        "America/New_York",
        "America/Chicago",
        "America/Los_Angeles",
        "America/Sao_Paulo",
    ),
)
_REGIONS = (
    *(
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
    ),
)  # other names of the zone database are of files, offsets and earlier times


def zones() -> set[str]:
    """Names of time zones that people live in, and UTC."""
    return {
        "UTC",
        *(
            name
            for name in available_timezones()
            if name.partition("/")[0] in _REGIONS and "/" in name
        ),
    }


def zone_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Zones to choose from: the usual ones first, then all by region; a name of two words is shown as two."""
    known = zones()
    grouped = [
        (
            text("page.usual_zones"),
            [(name, _shown_zone(name)) for name in _USUAL_ZONES if name in known],
        )
    ]
    for region in _REGIONS:
        own = sorted(name for name in known if name.startswith(f"{region}/"))
        grouped.append((region, [(name, _shown_zone(name)) for name in own]))
    return grouped


def _shown_zone(name: str) -> str:
    return name.replace("_", " ")


class WallTimeField(forms.CharField):
    """Date and time as a clock in the contest's zone shows it; it becomes a moment when the zone is known."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=WALL)

    def to_python(self, value: Any) -> Any:
        """A naive datetime."""
        if not value:
            return None
        try:
            return datetime.strptime(str(value)[:16], WALL)
        except ValueError:
            raise forms.ValidationError(text("page.not_a_time")) from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the clock shows another minute; a field that is disabled never does."""
        return not self.disabled and str(initial or "")[:16] != str(data or "")[:16]


class ContestForm(WordedForm):
    """What every contest has."""

    title = forms.CharField(max_length=200)
    slug = forms.CharField(max_length=50, validators=[validate_slug])
    zone = forms.ChoiceField()
    places = forms.IntegerField(min_value=1, max_value=_MOST_PLACES, initial=10)
    played = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)

    def __init__(
        self, rounds: Sequence[str], data: Any = None, *, initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial={**(initial or {}), "played": rounds})
        played = self.fields["played"]
        if isinstance(played, forms.MultipleChoiceField):
            played.choices = [(name, name) for name in rounds]
        if len(rounds) == 1:
            del self.fields["played"]
        zone = self.fields["zone"]
        if isinstance(zone, forms.ChoiceField):
            zone.choices = zone_choices()
            if data is None:  # a script puts the viewer's own here
                zone.widget.attrs["data-own-zone"] = ""


class OptionsForm(forms.Form):
    """The options that the rulebook declares for making a contest, each with its own words and limits."""

    def __init__(self, rulebook: str, data: Any = None) -> None:
        super().__init__(data, label_suffix="", prefix="option")
        self._rulebook = rulebook
        known = find_rulebook(rulebook)
        several = known is not None and len(known.rounds) > 1
        for described in contest_options(rulebook):
            self.fields[described.name] = _option_field(rulebook, described, several_rounds=several)
        self.keys = {name: name for name in self.fields}  # shown beside the words

    def clean(self) -> dict[str, Any]:
        """Each value that is not as it is by default, as the contest keeps it; problems stand at their fields."""
        try:
            return chosen_options(self._rulebook, self._changed(super().clean() or {}))
        except InputError as error:
            for problem in error.problems:
                self.add_error(problem.column, problem.sentence)
        return {}

    def _changed(self, cleaned: dict[str, Any]) -> dict[str, str]:
        """What the organizer changed; a field that was emptied means none."""
        given = {name: str(value or "").strip() for name, value in cleaned.items()}
        return {
            name: value or "none"
            for name, value in given.items()
            if value != (self.fields[name].initial or "")
        }


class PhaseForm(WordedForm):
    """When a phase is, how often teams may hand in, and what is shown meanwhile."""

    opens_at = WallTimeField()
    closes_at = WallTimeField()
    visibility = forms.ChoiceField()
    tries_in_all = forms.IntegerField(min_value=1, required=False)
    tries_per_day = forms.IntegerField(min_value=1, required=False)
    tries_per_target = forms.IntegerField(min_value=1, required=False)
    reset_hour = forms.IntegerField(min_value=0, max_value=23, required=False)

    def __init__(self, plan: PhasePlan, zone: str, data: Any = None) -> None:
        fields = [field.name for field in dataclasses.fields(plan)]
        initial = {name: getattr(plan, name) for name in fields}
        for name in _TIMES:
            initial[name] = initial[name].astimezone(ZoneInfo(zone)).strftime(WALL)
        super().__init__(data, prefix=f"{plan.round}-{plan.kind}", initial=initial)
        self.plan = plan
        self.keys = dict.fromkeys(("opens_at", "closes_at"), zone)  # shown beside the words
        self.heading = f"{plan.round} · {text(f'page.kind.{plan.kind}')}"
        word_visibility(self, plan.kind)
        if plan.kind != ATTACK:
            del self.fields["tries_per_target"]

    def clean(self) -> dict[str, Any]:
        """A phase opens before it closes."""
        cleaned = super().clean() or {}
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", text("page.closes_before_it_opens"))
        return cleaned

    def planned(self, zone: str) -> PhasePlan:
        """The phase as it was filled in, its times in UTC."""
        given = {**self.cleaned_data, "reset_hour": self.cleaned_data.get("reset_hour") or 0}
        return dataclasses.replace(self.plan, **{**given, **self._moments(zone)})

    def timed(self, zone: str) -> PhasePlan | None:
        """The phase with its times as they were filled in, whatever else is wrong with the form; None where they are."""
        moments = self._moments(zone)
        return dataclasses.replace(self.plan, **moments) if len(moments) == len(_TIMES) else None

    def _moments(self, zone: str) -> dict[str, Any]:
        return {
            name: as_moment(self.cleaned_data[name], zone)
            for name in _TIMES
            if name in self.cleaned_data
        }


def word_visibility(form: forms.Form, kind: str) -> None:
    """Give the field its choices, and while teams attack what is to be known of the live one."""
    field = form.fields["visibility"]
    if isinstance(field, forms.ChoiceField):
        field.choices = choices_of(Visibility.values, "visibility")
    if kind == ATTACK:
        field.help_text = text("page.hint.attack_visibility")


def as_moment(wall: datetime, zone: str) -> datetime:
    """What a clock in a zone shows, as a moment."""
    return wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def phase_forms(plans: Sequence[PhasePlan], zone: str, data: Any = None) -> list[PhaseForm]:
    """One form for each phase."""
    return [PhaseForm(plan, zone, data) for plan in plans]


def changed_options(contest: Contest) -> list[tuple[str, str, Any]]:
    """What the organizer changed of the rulebook's options, in the order of its declaration: words, name, value."""
    declared = contest_options(contest.rulebook)
    known = [
        (_option_label(contest.rulebook, one), one.name)
        for one in declared
        if one.name in contest.options
    ]
    return [(label, name, contest.options[name]) for label, name in known]


def _option_label(rulebook: str, described: Parameter) -> str:
    return capfirst(text(f"rulebooks.{rulebook}.{described.name}", described.meaning))


def _option_field(rulebook: str, described: Parameter, *, several_rounds: bool) -> forms.Field:
    known: dict[str, Any] = {
        "label": _option_label(rulebook, described),
        "initial": _shown_default(described),
        "required": False,
    }
    if described.choices or described.kind is bool:
        values = described.choices or ("true", "false")
        return forms.ChoiceField(choices=[(value, value) for value in values], **known)
    help_text = capfirst(_expectation(described))
    if described.default is None and several_rounds:  # each round has its own, until one is set
        help_text = text("page.hint.for_all_rounds", expectation=help_text)
    return forms.CharField(help_text=help_text, max_length=200, **known)


def _expectation(described: Parameter) -> str:
    """What may be written into the field; what is ``none`` on a command line is an empty field here."""
    told = described.value_expectation
    if not described.optional:
        return told.text()
    return text(
        "page.or_empty_for" if described.none else "page.or_empty",
        expectation=told,
        none=Message(described.none),
    )


def _shown_default(described: Parameter) -> str:
    if described.default is None or described.default is dataclasses.MISSING:
        return ""
    if isinstance(described.default, tuple):
        return ",".join(described.default)
    return (
        str(described.default).lower()
        if isinstance(described.default, bool)
        else str(described.default)
    )
