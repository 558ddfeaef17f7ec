"""Judgings, jobs with leases, what is published of a round, what guesses earned, and the standings made of it."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from kakurenbo.judge.contests.models import Contest, Entry, Round
from kakurenbo.judge.ordered_json import OrderedJSONField
from kakurenbo.judge.scoring.texts import StoredTextField
from kakurenbo.judge.submissions.models import Blob, Submission


class RejudgingState(models.TextChoices):
    """Where a rejudging is."""

    WORKING = "working"
    """Workers judge again, or make the preview."""
    READY = "ready"
    """The preview is there; an organizer decides."""
    APPLYING = "applying"
    """A worker puts it into effect."""
    APPLIED = "applied"
    CANCELLED = "cancelled"


class Rejudging(models.Model):
    """Everything, a round or one submission judged again, beside what counts, until an organizer has seen what would change.

    Attributes
    ----------
    round : Round or None
        The one that is judged again; None for the whole contest.
    submission : Submission or None
        Where it is about one alone.
    reason : str
        In the organizer's words; teams are told it when it is applied.
    preview : dict
        What would change, or did (``comparing.changes``): old and new of every entry, rank and award; no part that stays with
        the answers.
    decided_at : datetime or None
        When it was applied or cancelled.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="rejudgings")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, null=True, related_name="rejudgings")
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="rejudgings"
    )
    reason = models.TextField()
    state = models.CharField(max_length=10, choices=RejudgingState, default=RejudgingState.WORKING)
    preview = OrderedJSONField(default=dict)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-asked_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["contest"],
                condition=Q(state__in=["working", "ready", "applying"]),
                name="one_rejudging_of_a_contest_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.contest_id} rejudging {self.pk} ({self.state})"


class Judging(models.Model):
    """What one version of the scorer found of a submission; the bytes stay, so that another version can judge again.

    Attributes
    ----------
    fingerprint : str
        Of rulebook, scorer and versions.
    verdict : str
        ``scored``, ``invalid`` or ``failed``.
    result : dict
        Of a release ``record`` (the ``ReleaseRecord``), ``problems`` (with their words under ``en`` and ``ja``) and their
        ``total``; of guesses ``targets`` (of each valid file), ``refused`` (file, problems, total) and ``notices``. Never what
        a guess earned.
    in_effect : bool
        The one that counts.
    rejudging : Rejudging or None
        Which it is part of; it counts from when that is applied.
    """

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="judgings")
    fingerprint = models.CharField(max_length=64)
    verdict = models.CharField(max_length=10)
    result = OrderedJSONField(default=dict)
    in_effect = models.BooleanField(default=True)
    rejudging = models.ForeignKey(
        Rejudging, on_delete=models.PROTECT, null=True, related_name="judgings"
    )
    seconds = models.FloatField(default=0)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["submission"], condition=Q(in_effect=True), name="one_judging_in_effect"
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}: {self.verdict}"


class JobKind(models.TextChoices):
    """What a worker does."""

    PREPARE = "prepare"
    """Draw the data of a round."""
    JUDGE = "judge"
    """Check and score one submission."""
    SEAL = "seal"
    """Publish the release of one team."""
    SAMPLE = "sample"
    """Play an organizers' attack on one target."""
    STANDINGS = "standings"
    """Rank a round."""
    BOT = "bot"
    """Play a team of a rehearsal in one phase."""
    REJUDGE = "rejudge"
    """Judge one submission again, beside what counts."""
    RESAMPLE = "resample"
    """Play an organizers' attack on one target again, beside what counts."""
    PREVIEW = "preview"
    """See what a rejudging would change."""
    SETTLE = "settle"
    """Put a rejudging into effect, or remove what it left."""


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    PARKED = "parked"


class Job(models.Model):
    """One piece of work: the truth about it, while the queue only wakes workers.

    Attributes
    ----------
    subject : str
        Team or target it is about, where that is not a submission.
    lease : UUID or None
        Of the worker that has it; a worker whose lease was taken over can change nothing.
    attempts : int
        How often its process died of it; a worker that was lost does not count.
    cause : str
        Why it is parked, or waits again.
    again : bool
        It was asked for once more while it ran, so that it may have missed something: when it ends, it waits again.
    """

    kind = models.CharField(max_length=10, choices=JobKind)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="jobs")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, null=True, related_name="jobs")
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="jobs"
    )
    subject = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    worker = models.CharField(max_length=100, blank=True)
    cause = StoredTextField(blank=True)
    again = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["kind", "contest", "round", "submission", "subject"],
                condition=Q(state__in=["waiting", "running"]),
                nulls_distinct=False,
                name="one_job_of_a_kind_at_a_time",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.submission_id or self.subject or self.round_id}"


class Visible(models.TextChoices):
    """Who may see a folder of a round, as the architecture's table says."""

    PUBLIC = "public"
    TEAM = "team"
    ATTACKERS = "attackers"
    TARGET = "target"


class RoundFile(models.Model):
    """A file of a round that somebody may see some time.

    Attributes
    ----------
    path : str
        As ``prepare`` and ``publish`` write it: ``teams/07/...``, ``targets/07-2/...``.
    subject : str
        The team or target whose folder it is in; empty elsewhere.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=300)
    visible = models.CharField(max_length=10, choices=Visible)
    subject = models.CharField(max_length=16, blank=True)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "path"], name="one_file_at_a_path")
        ]

    def __str__(self) -> str:
        return self.path


class SecretFile(models.Model):
    """A file of ``secret/`` or ``answers/``, in a schema and a store of which the web process sees nothing."""

    round_id = models.BigIntegerField()
    path = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    class Meta:
        db_table = '"secret"."file"'
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round_id", "path"], name="one_secret_file_at_a_path")
        ]

    def __str__(self) -> str:
        return self.path


class Target(models.Model):
    """A release under attack, or why there is none.

    Attributes
    ----------
    name : str
        ``07``, or ``07-2`` for the second table of team 07.
    record : dict
        The ``ReleaseRecord``: state, scores, cause.
    published : bool
        Whether attackers got it; that stays so, whatever a later scorer finds of it.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="targets")
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, related_name="targets")
    name = models.CharField(max_length=16)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, null=True, related_name="targets"
    )
    record = OrderedJSONField(default=dict)
    published = models.BooleanField(default=False)
    sealed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "name"], name="one_target_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name


class Earned(models.Model):
    """What one guess file earned on one target; before the end only where the rulebook's feedback allows.

    Attributes
    ----------
    attacker : Entry or None
        None for an organizers' attack, which ``sample`` names.
    credit : dict
        The ``Credit``, with what stays with the answers.
    """

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="earned")
    attacker = models.ForeignKey(Entry, on_delete=models.PROTECT, null=True, related_name="earned")
    sample = models.CharField(max_length=64, blank=True)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, null=True, related_name="earned"
    )
    file = models.CharField(max_length=200, blank=True)
    credit = OrderedJSONField()

    class Meta:
        db_table = '"secret"."earned"'
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["target", "attacker", "sample", "submission", "file"],
                nulls_distinct=False,
                name="one_credit_of_a_file",
            )
        ]

    def __str__(self) -> str:
        return f"{self.attacker_id or self.sample} on {self.target_id}"


class RejudgedCredit(models.Model):
    """What one guess file earned when it was judged again, as in :class:`Earned`; it becomes such when that is applied."""

    rejudging = models.ForeignKey(Rejudging, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="+")
    attacker = models.ForeignKey(Entry, on_delete=models.PROTECT, null=True, related_name="+")
    sample = models.CharField(max_length=64, blank=True)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, null=True, related_name="+"
    )
    file = models.CharField(max_length=200, blank=True)
    credit = OrderedJSONField()

    class Meta:
        db_table = '"secret"."rejudged_credit"'
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["rejudging", "target", "attacker", "sample", "submission", "file"],
                nulls_distinct=False,
                name="one_rejudged_credit_of_a_file",
            )
        ]

    def __str__(self) -> str:
        return f"{self.attacker_id or self.sample} on {self.target_id} in {self.rejudging_id}"


class StandingSnapshot(models.Model):
    """The standings of a round, or of the whole contest where ``round`` is None, at a moment.

    Attributes
    ----------
    shown : bool
        Whether players may see it: a frozen or hidden board keeps the last that they may.
    results : dict
        The ``RoundResults``, from which anybody can rank again; empty for the whole contest.
    standings : dict
        ``Standings.as_json``, and under ``beside``, for each round, what blind guessing and each of the organizers' attacks
        earn on the releases in play, as a share of what can be earned.
    document : dict
        The results document (``reports.Document.as_builtins``), from which the report's figures are drawn; it tells what
        every attacker found in every release.
    format : int
        Of the document and the results (``reports.document.FORMAT``); what has another one is made anew when it is asked for.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="snapshots")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, null=True, related_name="snapshots")
    taken_at = models.DateTimeField(auto_now_add=True)
    shown = models.BooleanField(default=False)
    results = OrderedJSONField(default=dict)
    standings = OrderedJSONField(default=dict)
    document = OrderedJSONField(default=dict)
    format = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-taken_at", "-id"]

    def __str__(self) -> str:
        return f"{self.contest_id} {self.round_id} at {self.taken_at}"
