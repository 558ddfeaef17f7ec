"""What an organizer fills in while a contest runs."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django import forms

from kakurenbo.core.messages import text
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Role, Round
from kakurenbo.judge.contests.rules import LONGEST_REASON
from kakurenbo.judge.pages.forms.making import WALL, WallTimeField, as_moment, word_visibility
from kakurenbo.judge.pages.forms.worded import WordedForm, choices_of
from kakurenbo.judge.submissions.models import Submission


class TeamForm(WordedForm):
    """A team; its number is the next free one unless one is given."""

    team_name = forms.CharField(max_length=100)
    number = forms.CharField(
        max_length=4, required=False, widget=forms.TextInput(attrs={"inputmode": "numeric"})
    )
    unranked = forms.BooleanField(required=False)


class InviteForm(WordedForm):
    """Whom a link is for."""

    role = forms.ChoiceField()
    days = forms.IntegerField(min_value=1, max_value=365, initial=14)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        role = self.fields["role"]
        if isinstance(role, forms.ChoiceField):
            role.choices = choices_of([Role.MEMBER, Role.RESPONSIBLE, Role.ADVISER], "role")


class ReasonForm(WordedForm):
    """Why something is decided about a team in a round: the team reads it."""

    reason = forms.CharField(
        max_length=LONGEST_REASON, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, entry: Entry, what: str, data: Any = None) -> None:
        super().__init__(data)
        self.auto_id = f"{what}{entry.pk}_%s"  # a page has one for every round and decision
        self.heading, self.about = entry.round.name, (entry.pk, what)


class RejudgingForm(WordedForm):
    """What is to be judged again, and why: all teams read it when it is applied."""

    what = forms.ChoiceField(required=False)
    reason = forms.CharField(max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 3}))
    submission_id = forms.UUIDField(required=False)

    def __init__(self, contest: Contest, data: Any = None, submission: str = "") -> None:
        super().__init__(data, initial={"submission_id": submission})
        self._contest = contest
        what = self.fields["what"]
        assert isinstance(what, forms.ChoiceField)
        what.choices = [
            ("", text("page.rejudge_all")),
            *((one.name, one.name) for one in contest.rounds.all()),
        ]

    def clean_submission_id(self) -> Submission | None:
        """One entry alone, where one is named."""
        pk = self.cleaned_data["submission_id"]
        found = (
            Submission.objects.filter(pk=pk, entry__team__contest=self._contest).first()
            if pk
            else None
        )
        if pk and found is None:
            raise forms.ValidationError(text("page.rejudge_no_entry"))
        return found

    @property
    def round(self) -> Round | None:
        """The round that was chosen; None for all."""
        return self._contest.rounds.filter(name=self.cleaned_data["what"]).first()


class AnnouncementForm(WordedForm):
    """Something for everybody."""

    announcement_title = forms.CharField(max_length=200)
    announcement_text = forms.CharField(max_length=20_000, widget=forms.Textarea(attrs={"rows": 4}))


class ScheduleForm(WordedForm):
    """A phase's times and visibility, changed while the contest is there already."""

    opens_at = WallTimeField()
    closes_at = WallTimeField()
    visibility = forms.ChoiceField()

    def __init__(self, contest: Contest, phase: Phase, data: Any = None) -> None:
        zone = ZoneInfo(contest.zone)
        times = {
            name: getattr(phase, name).astimezone(zone).strftime(WALL)
            for name in ("opens_at", "closes_at")
        }
        super().__init__(
            data, prefix=f"phase{phase.pk}", initial={**times, "visibility": phase.visibility}
        )
        self._zone, self._phase = contest.zone, phase
        word_visibility(self, phase.kind)
        for name in ("opens_at", "closes_at"):
            self.fields[name].label = f"{self.fields[name].label} ({contest.zone})"
        if phase.state == PhaseState.OPEN:
            self.fields["opens_at"].disabled = True
            self.fields["opens_at"].help_text = text("page.hint.is_open")

    def clean(self) -> dict[str, Any]:
        """Times as moments; one that was not touched keeps its seconds. A phase opens before it closes."""
        cleaned = super().clean() or {}
        for name in ("opens_at", "closes_at"):
            if name not in self.changed_data:
                cleaned[name] = getattr(self._phase, name)
            elif cleaned.get(name):
                cleaned[name] = as_moment(cleaned[name], self._zone)
        if (
            cleaned.get("opens_at")
            and cleaned.get("closes_at")
            and cleaned["closes_at"] <= cleaned["opens_at"]
        ):
            self.add_error("closes_at", text("page.closes_before_it_opens"))
        return cleaned


class RehearsalForm(WordedForm):
    """How long a rehearsal takes."""

    minutes = forms.IntegerField(min_value=1, max_value=120, initial=5)
