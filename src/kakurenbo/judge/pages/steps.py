"""What an organizer does next, what waits for a decision, and how many teams have handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.urls import reverse

from kakurenbo.contest import ANONYMIZE
from kakurenbo.core.messages import text
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState
from kakurenbo.judge.contests.rehearsal import rehearsals_of
from kakurenbo.judge.pages.shown import TeamRow
from kakurenbo.judge.scoring.models import Job, JobState, RejudgingState
from kakurenbo.judge.scoring.queries import judged_by_others
from kakurenbo.judge.submissions.models import State, Submission

_NAMED = 6


@dataclass(frozen=True)
class Step:
    """A step on the way to a contest that runs by itself."""

    title: str
    hint: str
    address: str
    done: bool


@dataclass(frozen=True)
class Waiting:
    """Something that waits for the organizer."""

    sentence: str
    address: str


@dataclass(frozen=True)
class HandedIn:
    """How many of the ranked teams in play have a valid entry in a phase, and which have none."""

    phase: Phase
    teams: int
    of: int
    without: str


def steps(contest: Contest, teams: Sequence[TeamRow], phases: Sequence[Phase]) -> list[Step]:
    """From the form to the end: made, teams, people, a rehearsal, and then the contest plays itself."""
    own = reverse("teams", args=[contest.slug])
    here = reverse("manage", args=[contest.slug])
    rehearsed = rehearsals_of(contest).exists()
    begun = any(phase.state != PhaseState.WAITING for phase in phases)
    over = all(phase.state == PhaseState.CLOSED for phase in phases)
    rehearse = Step(
        text("page.step_rehearse"),
        text("page.step_rehearse_hint"),
        f"{here}#rehearsal-title",
        rehearsed,
    )
    return [
        Step(text("page.step_teams"), text("page.step_teams_hint"), own, len(teams) > 1),
        Step(
            text("page.step_invite"),
            text("page.step_invite_hint"),
            own,
            bool(teams) and all(row.members for row in teams),
        ),
        *(
            [rehearse] if rehearsed or not begun else []
        ),  # once people play there is nothing to practise
        Step(text("page.step_open"), text("page.step_open_hint"), f"{here}#schedule", begun),
        Step(
            text("page.step_end"),
            text("page.step_end_hint"),
            f"{here}#end-title",
            over and contest.ended_at is not None,
        ),
    ]


def waiting(contest: Contest, teams: Sequence[TeamRow], phases: Sequence[Phase]) -> list[Waiting]:
    """What nobody but the organizer can settle."""
    here, own = reverse("manage", args=[contest.slug]), reverse("teams", args=[contest.slug])
    parked = Job.objects.filter(contest=contest, state=JobState.PARKED).count()
    empty = [row.number for row in teams if row.team is not None and not row.members]
    found = []
    for name, count in judged_by_others(contest).items():
        found.append(
            Waiting(
                text("page.rejudge_others", round=name, count=count),
                reverse("rejudgings", args=[contest.slug]),
            )
        )
    ready = contest.rejudgings.filter(state=RejudgingState.READY)
    found += [
        Waiting(text("page.rejudge_waits"), reverse("rejudging", args=[contest.slug, one.pk]))
        for one in ready
    ]
    if parked:
        found.append(Waiting(text("page.waits_parked", count=parked), f"{here}#queue-title"))
    if empty and not contest.rehearsal and contest.ended_at is None:
        found.append(Waiting(text("page.waits_empty", teams=_listed(empty)), own))
    if (
        phases
        and contest.ended_at is None
        and all(phase.state == PhaseState.CLOSED for phase in phases)
    ):
        found.append(Waiting(text("page.waits_end"), f"{here}#end-title"))
    return found


def handed_in(phase: Phase | None) -> HandedIn | None:
    """How a phase that has begun stands; None before that."""
    if phase is None or phase.state == PhaseState.WAITING:
        return None
    playing = (
        Entry.objects.filter(round=phase.round, disqualified="", team__unranked=False)
        .select_related("team")
        .order_by("team__number")
    )
    if phase.kind == ANONYMIZE:
        playing = playing.filter(excused="")
    valid = (
        Submission.objects.filter(phase=phase, state=State.SCORED)
        .values("entry")
        .annotate(count=Count("pk"))
    )
    have = {one["entry"] for one in valid}
    without = [entry.team.number for entry in playing if entry.pk not in have]
    return HandedIn(phase, len(playing) - len(without), len(playing), _listed(without))


def _listed(numbers: Sequence[str]) -> str:
    """Team numbers, the first few of them by name."""
    more = len(numbers) - _NAMED
    return ", ".join(numbers[:_NAMED]) + (text("page.and_more", count=more) if more > 0 else "")
