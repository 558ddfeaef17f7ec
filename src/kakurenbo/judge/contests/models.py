"""Contest > Round > Phase; teams, who is in them, and their entries to rounds."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from kakurenbo.judge.ordered_json import OrderedJSONField


class Visibility(models.TextChoices):
    """What is shown of standings while a phase is open."""

    LIVE = "live"
    FROZEN = "frozen"
    HIDDEN = "hidden"


class Contest(models.Model):
    """One contest by one rulebook.

    Attributes
    ----------
    options : dict
        The rulebook's options that were given.
    zone : str
        Name of the time zone in which its times are announced.
    places : int
        Data is drawn for so many team numbers, so that a team can join after a round began; a place that nobody took plays
        no part.
    rehearsal : bool
        Played by bots, at a pace of its own.
    public_key : bytes
        Ed25519: checks the signatures under the log.
    erased_at : datetime or None
        When its files were given up, long after the end: nothing can be downloaded or checked any more, but the log.
    """

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    rulebook = models.CharField(max_length=100)
    options = OrderedJSONField(default=dict)
    zone = models.CharField(max_length=64, default="Asia/Tokyo")
    places = models.PositiveSmallIntegerField(default=10)
    rehearsal = models.BooleanField(default=False)
    public_key = models.BinaryField(default=bytes)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="contests"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.title


class Round(models.Model):
    """A round: its data, drawn from a committed seed.

    Attributes
    ----------
    facts : dict
        The ``contest.json`` that everybody may see; empty until the round is prepared.
    commitments : str
        The content of ``commitments.json``.
    fingerprint : str
        Of the code and the versions that score it.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="rounds")
    name = models.SlugField()
    position = models.PositiveSmallIntegerField()
    facts = OrderedJSONField(default=dict)
    commitments = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64, blank=True)
    prepared_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "name"], name="one_round_of_a_name"),
            models.UniqueConstraint(fields=["contest", "position"], name="one_round_at_a_place"),
        ]

    def __str__(self) -> str:
        return f"{self.contest_id}/{self.name}"


class PhaseState(models.TextChoices):
    """Where a phase is; it goes forward only."""

    WAITING = "waiting"
    OPEN = "open"
    SEALING = "sealing"
    CLOSED = "closed"


class Phase(models.Model):
    """A time in which entries of one kind are taken.

    Attributes
    ----------
    kind : str
        ``anonymize`` or ``attack``.
    tries_in_all, tries_per_day, tries_per_target : int or None
        What the organizer allows; None for no limit.
    reset_hour : int
        When a day begins, o'clock in the contest's zone.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="phases")
    kind = models.CharField(max_length=20)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=PhaseState, default=PhaseState.WAITING)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.LIVE)
    tries_in_all = models.PositiveIntegerField(null=True)
    tries_per_day = models.PositiveIntegerField(null=True)
    tries_per_target = models.PositiveIntegerField(null=True)
    reset_hour = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["opens_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "kind"], name="one_phase_of_a_kind"),
            models.CheckConstraint(
                condition=Q(opens_at__lt=F("closes_at")), name="a_phase_opens_before_it_closes"
            ),
            models.CheckConstraint(condition=Q(reset_hour__lt=24), name="a_reset_hour_is_an_hour"),
        ]

    def __str__(self) -> str:
        return f"{self.round} {self.kind}"

    @property
    def shown_state(self) -> str:
        """The state as people see it: at its closing time a phase is closed, though what arrived before may wait its turn."""
        over = self.state == PhaseState.OPEN and self.closes_at <= timezone.now()
        return PhaseState.SEALING.value if over else self.state


class Team(models.Model):
    """A team of a contest, under the number by which the rulebook knows it."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="teams")
    number = models.CharField(max_length=4)
    name = models.CharField(max_length=100)
    unranked = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "number"], name="one_team_of_a_number"),
            models.UniqueConstraint(fields=["contest", "name"], name="one_team_of_a_name"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


class Role(models.TextChoices):
    """What somebody may do in a team."""

    RESPONSIBLE = "responsible"
    MEMBER = "member"
    ADVISER = "adviser"  # sees everything of the team, hands in nothing


class Membership(models.Model):
    """Somebody in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=12, choices=Role, default=Role.MEMBER)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "user"], name="once_in_a_team")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team} ({self.role})"


class Invite(models.Model):
    """A link by which people join a team; only its hash is kept."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invites")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invite to {self.team}"


class Entry(models.Model):
    """A team's part in a round; the row whose lock decides races for the last try.

    Attributes
    ----------
    disqualified : str
        Why, in the organizer's words; empty where the team is in play.
    excused : str
        Why the attack phase does not wait for this team's release.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="entries")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="entries")
    disqualified = models.TextField(blank=True)
    excused = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "team"], name="one_entry_to_a_round")
        ]

    def __str__(self) -> str:
        return f"{self.team} in {self.round}"


class Announcement(models.Model):
    """Something the organizer tells everybody."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.title
