"""The log: numbered without gaps, hidden entry by entry behind salts, never changed."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from kakurenbo.judge.contests.models import Contest


class LogEntry(models.Model):
    """Something that happened.

    Attributes
    ----------
    number : int
        From 0 in each contest; the leaf's place in the tree.
    kind : str
        ``contest.made``, ``phase.opened``, ``submission.received``, ``submission.judged``, ``target.sealed``, ...
    body : dict
        What happened; what may be seen of it before the end is decided by ``queries``.
    salt : bytes
        32 of them: the tree is public at once, entries are not.
    leaf : bytes
        ``trust.leaf_of(salt, entry)``.
    """

    contest = models.ForeignKey(Contest, on_delete=models.PROTECT, related_name="log")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    body = models.JSONField()
    salt = models.BinaryField()
    leaf = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "log entries"
        ordering: ClassVar = ["contest", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "number"], name="one_log_entry_of_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"


class Checkpoint(models.Model):
    """The signed root of a contest's log at a size, and at a time."""

    contest = models.ForeignKey(Contest, on_delete=models.PROTECT, related_name="checkpoints")
    size = models.PositiveIntegerField()
    root = models.BinaryField()
    signature = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["contest", "size"]

    def __str__(self) -> str:
        return f"{self.contest_id} at {self.size}"


class SigningKey(models.Model):
    """The private key by which a contest signs its checkpoints."""

    contest_id = models.BigIntegerField(primary_key=True)
    private = models.BinaryField()

    class Meta:
        db_table = '"secret"."signing_key"'

    def __str__(self) -> str:
        return f"key of {self.contest_id}"
