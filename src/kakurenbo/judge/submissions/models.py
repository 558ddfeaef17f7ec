"""Submission: immutable bytes and a state that goes one way; the judgings of it are in ``scoring``."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from kakurenbo.judge.contests.models import Entry, Phase


class Blob(models.Model):
    """Bytes in the open store, under their SHA-256; the same bytes are kept once."""

    digest = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.digest


class State(models.TextChoices):
    """Where a submission is. ``rules.py`` has one function per transition, each a conditional UPDATE."""

    RECEIVING = "receiving"
    """Its files are being sent."""
    RECEIVED = "received"
    """It is complete, stored, and waits for a worker."""
    CHECKING = "checking"
    SCORING = "scoring"
    SCORED = "scored"
    INVALID = "invalid"
    """Refused, with every problem; costs no try."""
    FAILED = "failed"
    """A step of the rulebook failed on it; costs no try."""
    PARKED = "parked"
    """The scoring process died of it three times; an organizer looks."""
    WITHDRAWN = "withdrawn"
    """Taken back by its team, or never sent to the end."""


UNDER_WAY = (State.RECEIVED, State.CHECKING, State.SCORING)
TAKES_A_TRY = (*UNDER_WAY, State.SCORED, State.PARKED)


class Submission(models.Model):
    """One entry of a team in a phase.

    Attributes
    ----------
    number : int or None
        From 1 for each team and phase, given when it is received.
    user : User or None
        Who handed it in; None for bots.
    chosen_at : datetime or None
        When the team last chose it, where teams choose which of their entries counts.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="submissions")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    number = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVING)
    began_at = models.DateTimeField(auto_now_add=True)
    received_at = models.DateTimeField(null=True)
    chosen_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-received_at", "-began_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["entry", "phase", "number"], name="one_submission_of_a_number"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["receiving", "withdrawn"])
                | Q(number__isnull=False, received_at__isnull=False),
                name="what_is_received_has_number_and_time",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["entry", "phase", "state"])]

    def __str__(self) -> str:
        return f"{self.entry} no. {self.number} ({self.state})"


class SubmittedFile(models.Model):
    """A file of a submission.

    Attributes
    ----------
    target : str
        Which release its name says it is a guess at; empty elsewhere.
    """

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    target = models.CharField(max_length=16, blank=True)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["submission", "name"], name="one_file_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name
